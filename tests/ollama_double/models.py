"""The models that the double has, and which of them are loaded: the scheduler of a server with little memory."""

import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

MODIFIED_AT = "2026-01-01T00:00:00Z"
DEFAULT_NUM_CTX = 4096
DEFAULT_KEEP_S = 300.0
FOR_EVER = timedelta(days=365 * 292)
LEAST_NUM_CTX = 4


@dataclass(frozen=True)
class ModelInfo:
    """What `/api/show` and `/api/tags` say of a model; ``context_length`` in tokens, sizes in bytes."""

    context_length: int = 8192
    capabilities: tuple[str, ...] = ("completion",)
    family: str = "llama"
    size: int = 270_000_000
    size_vram: int = 0
    parameter_size: str = "134.52M"
    quantization: str = "F16"
    details: dict[str, Any] = field(default_factory=dict)

    def tag(self, name: str) -> dict[str, Any]:
        """Its record in `/api/tags`."""
        return {
            "name": name,
            "model": name,
            "modified_at": MODIFIED_AT,
            "size": self.size,
            "digest": hashlib.sha256(name.encode()).hexdigest(),
            "details": self._details(),
        }

    def show(self) -> dict[str, Any]:
        """The answer of `/api/show`."""
        return {
            "modelfile": "",
            "template": "{{ .Prompt }}",
            "details": self._details(),
            "model_info": {
                "general.architecture": self.family,
                "general.parameter_count": 134_515_008,
                f"{self.family}.context_length": self.context_length,
            },
            "capabilities": list(self.capabilities),
            "modified_at": MODIFIED_AT,
        }

    def window(self, num_ctx: int | None) -> int:
        """The window that the server really uses for ``num_ctx``: never more than the model's own, never below 4."""
        wanted = DEFAULT_NUM_CTX if num_ctx is None else int(num_ctx)
        return max(LEAST_NUM_CTX, min(wanted, self.context_length))

    def process(self, held: "Loaded") -> dict[str, Any]:
        """Its record in `/api/ps`."""
        tag = self.tag(held.name)
        del tag["modified_at"]
        return tag | {"expires_at": held.expires_at(), "size_vram": self.size_vram, "context_length": held.window}

    def _details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": self.parameter_size,
            "quantization_level": self.quantization,
            **self.details,
        }


@dataclass
class Loaded:
    """A model in memory; ``keep_s`` seconds from its last use on."""

    name: str
    window: int
    users: int = 0
    keep_s: float = DEFAULT_KEEP_S
    used_at: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        """Whether its time has come."""
        return self.users == 0 and time.monotonic() - self.used_at >= self.keep_s

    def expires_at(self) -> str:
        """The moment of that, as the server writes it."""
        left = self.used_at + self.keep_s - time.monotonic()
        moment = datetime.now(UTC) + (FOR_EVER if left == math.inf else timedelta(seconds=left))
        return moment.isoformat().replace("+00:00", "Z")


class Memory:
    """Which models are loaded. Like the real scheduler it serves its queue strictly in order of arrival: a call
    that needs another model waits for the running ones to end, and every later call waits behind it.
    """

    def __init__(self, max_loaded: int | None, load_s: float) -> None:
        self.loads: list[str] = []
        self._max_loaded = max_loaded
        self._load_s = load_s
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._changed = threading.Condition()
        self._next_ticket = 0
        self._serving = 0

    @contextmanager
    def hold(self, name: str, window: int, keep_s: float | None = None) -> Iterator[float]:
        """The model in memory while the block runs, and ``keep_s`` seconds longer (None: as it was); yields the
        seconds that queueing and loading took.
        """
        began = time.monotonic()
        with self._changed:
            ticket = self._next_ticket
            self._next_ticket += 1
            self._changed.wait_for(lambda: self._serving == ticket)
            try:
                model = self._bring_in(name, window)
                model.users += 1
                model.keep_s = model.keep_s if keep_s is None else keep_s
            finally:
                self._serving += 1
                self._changed.notify_all()
        try:
            yield time.monotonic() - began
        finally:
            with self._changed:
                model.users -= 1
                model.used_at = time.monotonic()
                self._drop_expired()
                self._changed.notify_all()

    def unload(self, name: str) -> None:
        """As ``keep_alive`` 0 does."""
        with self._changed:
            self._loaded.pop(name, None)
            self._changed.notify_all()

    def snapshot(self) -> list[Loaded]:
        """The loaded models."""
        with self._changed:
            self._drop_expired()
            return list(self._loaded.values())

    def _drop_expired(self) -> None:
        for model in [model for model in self._loaded.values() if model.is_over()]:
            del self._loaded[model.name]

    def _bring_in(self, name: str, window: int) -> Loaded:
        self._drop_expired()
        present = self._loaded.get(name)
        if present is not None and present.window == window:
            self._loaded.move_to_end(name)
            return present
        if present is not None:
            self._evict(name)
        elif self._max_loaded is not None and len(self._loaded) >= self._max_loaded:
            self._evict(next(iter(self._loaded)))
        if self._load_s:
            # Not sleep(): that would keep the lock from calls that end meanwhile.
            self._changed.wait_for(lambda: False, timeout=self._load_s)
        self.loads.append(name)
        model = self._loaded[name] = Loaded(name, window)
        return model

    def _evict(self, name: str) -> None:
        victim = self._loaded[name]
        self._changed.wait_for(lambda: victim.users == 0)
        self._loaded.pop(name, None)
