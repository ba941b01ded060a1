"""A small queue of jobs for one asyncio event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum


class Priority(Enum):
    """How urgent a job is; a smaller value runs earlier."""

    HIGH = 0
    NORMAL = 5
    LOW = 9


@dataclass(order=True)
class Job:
    """One piece of work. Jobs compare by priority alone."""

    rank: int
    name: str = field(compare=False)
    action: Callable[[], Awaitable[object]] = field(compare=False)
    attempts: int = field(default=3, compare=False)


class JobQueue:
    """Runs jobs one after another, the most urgent first."""

    def __init__(self, max_size: int = 100) -> None:
        if max_size < 1:
            raise ValueError("max_size must be at least 1")
        self._queue: asyncio.PriorityQueue[Job] = asyncio.PriorityQueue(max_size)
        self.finished = 0

    def __len__(self) -> int:
        return self._queue.qsize()

    async def put(self, name: str, action: Callable[[], Awaitable[object]], priority: Priority = Priority.NORMAL) -> None:
        """Add a job; waits while the queue is full."""
        if not name:
            raise ValueError("a job needs a name")
        await self._queue.put(Job(priority.value, name, action))

    async def run_all(self) -> dict[str, object]:
        """Run every job and return its result, or the exception of its last attempt, by name."""
        results: dict[str, object] = {}
        while not self._queue.empty():
            job = await self._queue.get()
            results[job.name] = await self._run(job)
            self.finished += 1
        return results

    async def _run(self, job: Job) -> object:
        for attempt in range(job.attempts):
            try:
                return await job.action()
            except Exception as error:
                if attempt + 1 == job.attempts:
                    return error
        return None
