"""Which models are loaded, whose turn it is, and who has to go.

Calls enter through one door, first come, first served: the first in line either finds its model loaded in the window it
asks for, or waits until there is room and loads it. Behind the door each model serves its calls one by one, in order.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from reflexion.embedded.catalog import Model
from reflexion.embedded.runner import Call, Runner
from reflexion.embedded.wire import DEFAULT_KEEP_S

# "For ever" as Ollama shows it: the largest duration that it knows.
FOREVER = timedelta(days=106_751)

Line = deque[object]


@dataclass
class Loaded:
    """A model in memory. ``line`` holds its calls, the running one first; ``keep_s`` counts from its last use."""

    model: Model
    window: int
    runner: Runner
    keep_s: float
    used_at: float = field(default_factory=time.monotonic)
    line: Line = field(default_factory=deque)

    @property
    def expires_in_s(self) -> float:
        """Seconds until it may be unloaded, if no call comes."""
        return self.used_at + self.keep_s - time.monotonic()

    def expires_at(self) -> datetime:
        """The moment of that, in UTC."""
        seconds = self.expires_in_s
        return datetime.now(UTC) + (FOREVER if seconds > FOREVER.total_seconds() else timedelta(seconds=seconds))

    def size(self) -> int:
        """Bytes of memory: the weights, and the cache for the whole window."""
        return self.model.size + self.window * self.model.header.cache_bytes_per_token


class Pool:
    """The loaded models, at most ``max_loaded`` of them. Safe to use from many threads."""

    def __init__(self, max_loaded: int, load: Callable[[Model, int, Call], Runner] = Runner) -> None:
        self._max_loaded = max(1, max_loaded)
        self._load = load
        self._changed = threading.Condition()
        self._door: Line = deque()
        self._loaded: dict[str, Loaded] = {}
        threading.Thread(target=self._expire_for_ever, daemon=True).start()

    @contextmanager
    def use(self, model: Model, window: int, keep_s: float | None, call: Call) -> Iterator[Loaded]:
        """Wait for a turn on the model, loaded with that window, and hold it. Without ``keep_s`` it stays as long as it
        was to stay before, or for the usual time where it is loaded now.

        Raises:
            ApiError: 500 when it cannot be loaded.
            ClientGone: the call was cancelled while it waited.
        """
        served = False
        while not served:
            with self._turn(self._door, self._join(self._door), call):
                loaded, ticket = self._admit(model, window, keep_s, call)
            try:
                with self._turn(loaded.line, ticket, call):
                    # One whose worker died under the call before it has the model loaded again.
                    served = loaded.runner.alive()
                    if served:
                        yield loaded
            finally:
                self._settle(loaded)

    def unload(self, model: Model) -> None:
        """Free the model now, or as soon as the calls for it are done."""
        with self._changed:
            loaded = self._loaded.get(model.name)
            if loaded is None:
                return
            loaded.keep_s = 0.0
        self._settle(loaded)

    def loaded(self) -> list[Loaded]:
        """The models in memory, the one used last first."""
        with self._changed:
            return sorted(self._loaded.values(), key=lambda loaded: -loaded.used_at)

    def wake(self) -> None:
        """Let every waiting call look again whether it still waits."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Stop every worker."""
        with self._changed:
            doomed = list(self._loaded.values())
            self._loaded.clear()
        for loaded in doomed:
            loaded.runner.stop()

    def _join(self, line: Line) -> object:
        ticket = object()
        with self._changed:
            line.append(ticket)
        return ticket

    @contextmanager
    def _turn(self, line: Line, ticket: object, call: Call) -> Iterator[None]:
        try:
            self._wait(lambda: line[0] is ticket, call)
            yield
        finally:
            with self._changed:
                line.remove(ticket)
                self._changed.notify_all()

    def _wait(self, ready: Callable[[], bool], call: Call) -> None:
        with self._changed:
            self._changed.wait_for(lambda: call.cancelled or ready())
        call.check()

    def _admit(self, model: Model, window: int, keep_s: float | None, call: Call) -> tuple[Loaded, object]:
        with self._changed:
            loaded = self._loaded.get(model.name)
            if loaded is not None and loaded.window == window and loaded.runner.alive():
                loaded.keep_s = loaded.keep_s if keep_s is None else keep_s
                return loaded, self._join(loaded.line)
        self._make_room(model, call)
        fresh = Loaded(model, window, self._load(model, window, call), DEFAULT_KEEP_S if keep_s is None else keep_s)
        with self._changed:
            self._loaded[model.name] = fresh
            return fresh, self._join(fresh.line)

    def _make_room(self, model: Model, call: Call) -> None:
        self._wait(lambda: not self._in_the_way(model) or bool(self._idle(model)), call)
        with self._changed:
            if not self._in_the_way(model):
                return
            victim = min(self._idle(model), key=lambda loaded: loaded.used_at)
            del self._loaded[victim.model.name]
        victim.runner.stop()

    def _in_the_way(self, model: Model) -> list[Loaded]:
        if model.name in self._loaded:
            return [self._loaded[model.name]]
        return list(self._loaded.values()) if len(self._loaded) >= self._max_loaded else []

    def _idle(self, model: Model) -> list[Loaded]:
        return [loaded for loaded in self._in_the_way(model) if not loaded.line]

    def _settle(self, loaded: Loaded) -> None:
        with self._changed:
            if not loaded.line:
                loaded.used_at = time.monotonic()
            self._changed.notify_all()
        self._expire()

    def _expire(self) -> None:
        with self._changed:
            doomed = [loaded for loaded in self._loaded.values() if self._is_over(loaded)]
            for loaded in doomed:
                del self._loaded[loaded.model.name]
            self._changed.notify_all()
        for loaded in doomed:
            loaded.runner.stop()

    def _is_over(self, loaded: Loaded) -> bool:
        return not loaded.line and (loaded.expires_in_s <= 0 or not loaded.runner.alive())

    def _expire_for_ever(self) -> None:
        while True:
            with self._changed:
                times = [loaded.expires_in_s for loaded in self._loaded.values() if not loaded.line]
                soonest = min(times, default=math.inf)
                self._changed.wait(None if soonest == math.inf else min(max(soonest, 0.01), 3600))
            self._expire()
