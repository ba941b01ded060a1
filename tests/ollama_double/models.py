"""The models that the double has, and which of them are loaded: the scheduler of a server with little memory."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MODIFIED_AT = "2026-01-01T00:00:00Z"
DEFAULT_NUM_CTX = 4096
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
                f"{self.family}.context_length": self.context_length,
            },
            "capabilities": list(self.capabilities),
            "modified_at": MODIFIED_AT,
        }

    def window(self, num_ctx: int | None) -> int:
        """The window that the server really uses for ``num_ctx``: never more than the model's own, never below 4."""
        return max(LEAST_NUM_CTX, min(num_ctx or DEFAULT_NUM_CTX, self.context_length))

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
class _Loaded:
    window: int
    users: int = 0


class Memory:
    """Which models are loaded. Like the real scheduler it serves its queue strictly in order of arrival: a call
    that needs another model waits for the running ones to end, and every later call waits behind it.
    """

    def __init__(self, max_loaded: int | None, load_s: float) -> None:
        self.loads: list[str] = []
        self._max_loaded = max_loaded
        self._load_s = load_s
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._changed = threading.Condition()
        self._next_ticket = 0
        self._serving = 0

    @contextmanager
    def hold(self, name: str, window: int) -> Iterator[float]:
        """The model in memory while the block runs; yields the seconds that queueing and loading took."""
        began = time.monotonic()
        with self._changed:
            ticket = self._next_ticket
            self._next_ticket += 1
            self._changed.wait_for(lambda: self._serving == ticket)
            try:
                model = self._bring_in(name, window)
                model.users += 1
            finally:
                self._serving += 1
                self._changed.notify_all()
        try:
            yield time.monotonic() - began
        finally:
            with self._changed:
                model.users -= 1
                self._changed.notify_all()

    def unload(self, name: str) -> None:
        """As ``keep_alive`` 0 does."""
        with self._changed:
            self._loaded.pop(name, None)
            self._changed.notify_all()

    def snapshot(self) -> dict[str, int]:
        """Loaded models and their windows."""
        with self._changed:
            return {name: model.window for name, model in self._loaded.items()}

    def _bring_in(self, name: str, window: int) -> _Loaded:
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
        model = self._loaded[name] = _Loaded(window)
        return model

    def _evict(self, name: str) -> None:
        victim = self._loaded[name]
        self._changed.wait_for(lambda: victim.users == 0)
        self._loaded.pop(name, None)
