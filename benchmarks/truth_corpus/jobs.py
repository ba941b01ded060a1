"""A queue of jobs with priorities."""

import heapq
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class Priority(IntEnum):
    """Lower runs first."""

    HIGH = 1
    NORMAL = 5
    LOW = 9


class QueueEmpty(LookupError):
    """There is no job."""


class QueueClosed(RuntimeError):
    """The queue takes no more jobs."""


@dataclass(order=True)
class Job:
    """One piece of work."""

    priority: Priority
    name: str = field(compare=False)
    payload: dict[str, Any] = field(default_factory=dict, compare=False)


class JobQueue:
    """Hands jobs out by priority."""

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit
        self._heap: list[Job] = []
        self._closed = False

    def push(self, job: Job) -> int:
        """Add a job and return the length."""
        if self._closed:
            raise QueueClosed("queue is closed")
        if len(self._heap) >= self.limit:
            raise OverflowError(f"queue holds {self.limit} jobs already")
        heapq.heappush(self._heap, job)
        return len(self._heap)

    def pop(self) -> Job:
        """Take the most urgent job."""
        if not self._heap:
            raise QueueEmpty("no jobs left")
        return heapq.heappop(self._heap)

    def close(self) -> None:
        """Take no more jobs."""
        self._closed = True

    def stats(self) -> dict[str, int | bool]:
        """Return figures."""
        return {"pending": len(self._heap), "limit": self.limit, "closed": self._closed}
