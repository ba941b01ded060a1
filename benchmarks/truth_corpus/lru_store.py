"""A small least-recently-used store with optional expiry."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["CacheFull", "LruStore", "memoize"]

T = TypeVar("T")


class CacheFull(RuntimeError):
    """A pinned entry would have to go."""


class LruStore:
    """Keeps the most recently used entries."""

    def __init__(self, capacity: int = 128, ttl: float | None = None) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be positive, got {capacity}")
        self._capacity = capacity
        self._ttl = ttl
        self._pinned: set[Hashable] = set()
        self._items: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    def get(self, key: Hashable, default: Any = None) -> Any:
        """Return a live value, or the default."""
        found = self._items.get(key)
        if found is None or self._expired(found[0]):
            return default
        self._items.move_to_end(key)
        return found[1]

    def put(self, key: Hashable, value: Any, pin: bool = False) -> None:
        """Store a value, evicting the oldest unpinned one when full."""
        if key not in self._items and len(self._items) >= self._capacity:
            self._evict()
        self._items[key] = (time.monotonic(), value)
        if pin:
            self._pinned.add(key)

    def clear(self) -> int:
        """Forget everything and return how many entries were dropped."""
        dropped = len(self._items)
        self._items.clear()
        self._pinned.clear()
        return dropped

    def _expired(self, stored: float) -> bool:
        return self._ttl is not None and time.monotonic() - stored > self._ttl

    def _evict(self) -> None:
        for key in self._items:
            if key not in self._pinned:
                del self._items[key]
                return
        raise CacheFull("every entry is pinned")


def memoize(store: LruStore, *, prefix: str = "") -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache a function's results in a store."""

    def wrap(function: Callable[..., T]) -> Callable[..., T]:
        def call(*args: Any) -> T:
            key = (prefix, function.__name__, args)
            missing = object()
            found = store.get(key, missing)
            if found is missing:
                found = function(*args)
                store.put(key, found)
            return found

        return call

    return wrap
