"""Publish and subscribe inside one process."""

import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any

log = logging.getLogger(__name__)

Handler = Callable[[dict[str, Any]], None]
WILDCARD = "*"
MAX_HANDLERS = 32


class BusError(Exception):
    """Something is wrong with a subscription."""


class EventBus:
    """Delivers events to handlers."""

    def __init__(self, name: str = "default", *, strict: bool = False) -> None:
        self.name = name
        self._strict = strict
        self._handlers: dict[str, list[Handler]] = defaultdict(list)

    def subscribe(self, topic: str, handler: Handler, *, first: bool = False) -> int:
        """Add a handler and return how many the topic has."""
        if not topic:
            raise ValueError("topic must not be empty")
        handlers = self._handlers[topic]
        if len(handlers) >= MAX_HANDLERS:
            raise BusError(f"topic {topic} has {MAX_HANDLERS} handlers already")
        handlers.insert(0 if first else len(handlers), handler)
        return len(handlers)

    def unsubscribe(self, topic: str, handler: Handler) -> None:
        """Remove a handler."""
        try:
            self._handlers[topic].remove(handler)
        except ValueError:
            raise BusError("handler is not subscribed") from None

    def publish(self, topic: str, **payload: Any) -> int:
        """Call the handlers and return how many succeeded."""
        called = 0
        for handler in self._handlers[topic] + self._handlers[WILDCARD]:
            try:
                handler(payload)
                called += 1
            except Exception as error:
                if self._strict:
                    raise BusError(f"handler failed for {topic}") from error
                log.exception("handler failed")
        return called
