"""Whose turn it is: orders the calls of many files so that a batch loads each model as rarely as possible.

Files run side by side, a thread each, in windows: a fixed set, and the next starts when it is empty. Every call
waits for its turn. The loaded model's queue is served first; the model changes only when every file in flight waits
for another one, and then to the earliest role in the pipeline that anybody waits for. With R rounds a file that is at
most 2R + 1 loads a window: a model is left only when nobody needs it any more in this round, and the adjudicator comes
when nobody drafts or reviews. (Serving the longest queue first would break that bound.)

``Schedule`` decides and knows nothing of threads; ``Gate`` lets threads wait for what it decides.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple

from reflexion.ollama.names import full_name


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """One call that waits or runs. Two tickets are never equal."""

    role: str
    model: str


class Schedule:
    """Decides which calls run. ``order`` is the roles as the pipeline calls them; ``parallel`` calls share a model.

    Not thread-safe. After every change ``admit`` says which calls start now.
    """

    def __init__(self, order: Sequence[str], parallel: int = 1, *, fits_together: bool = False) -> None:
        self.parallel = parallel
        self.in_flight = 0
        self.loaded: str | None = None
        self.loads = 0
        self.waiting: list[Ticket] = []
        self.running: list[Ticket] = []
        self._rank = {str(role): rank for rank, role in enumerate(order)}
        self._fits_together = fits_together

    @property
    def fits_together(self) -> bool:
        """Whether all models stay loaded, so that no call has to wait for another model's queue."""
        return self._fits_together

    @fits_together.setter
    def fits_together(self, fits: bool) -> None:
        self._fits_together = fits
        self.loaded = None

    def enter(self, count: int = 1) -> None:
        """Count files in: each will ask, or leave; until then no model is taken away from it."""
        self.in_flight += count

    def leave(self) -> None:
        """Count one file out."""
        self.in_flight -= 1

    def ask(self, ticket: Ticket) -> None:
        """Put a call at the end of its model's queue."""
        self.waiting.append(ticket)

    def drop(self, ticket: Ticket) -> None:
        """Take a call out: it is done, or no longer wanted. One that is in no queue is not an error."""
        for tickets in (self.waiting, self.running):
            if ticket in tickets:
                tickets.remove(ticket)

    def admit(self) -> list[Ticket]:
        """Start every call that may start now, changing the model if that is due, and return those calls."""
        if self._is_change_due():
            self.loaded = min(self.waiting, key=self._rank_of).model
            self.loads += 1
        started = []
        for ticket in list(self.waiting):
            if self._has_room(ticket.model):
                self.waiting.remove(ticket)
                self.running.append(ticket)
                started.append(ticket)
        return started

    def _is_change_due(self) -> bool:
        elsewhere = self.in_flight - len(self.waiting) - len(self.running)
        if self._fits_together or not self.waiting or self.running or elsewhere > 0:
            return False
        return all(ticket.model != self.loaded for ticket in self.waiting)

    def _has_room(self, model: str) -> bool:
        if self._fits_together:
            return sum(ticket.model == model for ticket in self.running) < self.parallel
        return model == self.loaded and len(self.running) < self.parallel

    def _rank_of(self, ticket: Ticket) -> int:
        return self._rank.get(ticket.role, len(self._rank))


class GateState(NamedTuple):
    """A look at the gate. ``loads`` counts changes of the model; ``waited_s`` is summed over calls, in seconds."""

    in_flight: int
    waiting: int
    running: int
    loaded: str | None
    loads: int
    waited_s: float


class Seat:
    """The place of one file in flight. A context manager; leaving twice is leaving once."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._left = threading.Lock()

    def __enter__(self) -> "Seat":
        """Take the seat."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.leave()

    def leave(self) -> None:
        """Say that this file asks for nothing any more, whatever became of it."""
        if self._left.acquire(blocking=False):
            self._leave()


class Gate:
    """Lets threads wait for their turn to call a model.

    ``order`` is the roles as the pipeline calls them, ``parallel`` the calls that one model serves at once. With
    ``fits_together`` all models stay loaded: calls go straight through, and ``window_size`` keeps files one after
    another, since that keeps the server's prompt cache. A file makes one call at a time and never asks for a turn
    inside of a turn.
    """

    def __init__(
        self,
        order: Sequence[str],
        parallel: int = 1,
        *,
        fits_together: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._schedule = Schedule(order, parallel, fits_together=fits_together)
        self._changed = threading.Condition()
        self._clock = clock
        self._waited_s = 0.0
        self._closed: Callable[[], Exception] | None = None

    def window_size(self, jobs: int) -> int:
        """Return how many files the next window should hold when up to ``jobs`` are allowed."""
        with self._changed:
            return min(jobs, self._schedule.parallel) if self._schedule.fits_together else jobs

    def set_fits_together(self, fits: bool) -> None:
        """Say whether all models stay loaded together, as seen on the server. Best said between windows."""
        with self._changed:
            if fits != self._schedule.fits_together:
                self._schedule.fits_together = fits
                self._let_in()

    def window(self, count: int) -> contextlib.AbstractContextManager[list[Seat]]:
        """Count ``count`` files in at once, before the first of them asks for anything; yield a seat for each.

        Each needs a thread of its own: no model is loaded before every file in flight has asked for one. A file
        gives its seat back as soon as it is done. Seats that are still taken at the end, such as those of files that
        were never started, are given back then.
        """
        return self._seats(count, count)

    def parts(self, count: int) -> contextlib.AbstractContextManager[list[Seat]]:
        """Count the parts of a file in, in place of the file, which asks for nothing meanwhile; yield a seat for each.

        Each needs a thread of its own, as a file does.
        """
        return self._seats(count, count - 1)

    @contextlib.contextmanager
    def _seats(self, count: int, more: int) -> Iterator[list[Seat]]:
        """Yield seats for ``count``, of whom ``more`` were not in flight before."""
        with self._changed:
            self._schedule.enter(more)
        seats = [Seat(self._leave) for _ in range(count)]
        try:
            yield seats
        finally:
            for seat in seats:
                seat.leave()
            with self._changed:
                self._schedule.enter(count - more)

    @contextlib.contextmanager
    def turn(self, role: str, model: str) -> Iterator[float]:
        """Wait for a turn on ``model``; yield the seconds waited. The turn ends with the block.

        Retries and repair rounds belong inside, deadlines too: waiting here costs nothing, waiting in the server's
        queue does. Raises what ``close`` was given.
        """
        ticket = Ticket(str(role), full_name(model))
        try:
            yield self._wait(ticket)
        finally:
            self._give_back(ticket)

    def close(self, error: Callable[[], Exception]) -> None:
        """Let nobody in any more: whoever waits, or asks later, gets a new ``error()``. Turns under way go on.

        The first call counts; later ones change nothing.
        """
        with self._changed:
            self._closed = self._closed or error
            self._changed.notify_all()

    def check_open(self) -> None:
        """Raise what ``close`` was given, so that a turn under way begins no further request."""
        with self._changed:
            if self._closed:
                raise self._closed()

    def state(self) -> GateState:
        """Return how things stand now."""
        with self._changed:
            now = self._schedule
            waiting, running = len(now.waiting), len(now.running)
            return GateState(now.in_flight, waiting, running, now.loaded, now.loads, self._waited_s)

    def _wait(self, ticket: Ticket) -> float:
        started = self._clock()
        with self._changed:
            self._schedule.ask(ticket)
            self._let_in()
            self._changed.wait_for(lambda: self._closed or ticket in self._schedule.running)
            if self._closed:
                raise self._closed()
            waited_s = self._clock() - started
            self._waited_s += waited_s
            return waited_s

    def _give_back(self, ticket: Ticket) -> None:
        with self._changed:
            self._schedule.drop(ticket)
            self._let_in()

    def _leave(self) -> None:
        with self._changed:
            self._schedule.leave()
            self._let_in()

    def _let_in(self) -> None:
        if not self._closed and self._schedule.admit():
            self._changed.notify_all()


def all_loaded(models: Iterable[str], loaded: Iterable[str]) -> bool:
    """Return whether models stay loaded together: all are in ``loaded`` (``/api/ps``), or there is only one."""
    wanted = {full_name(model) for model in models}
    return len(wanted) <= 1 or wanted <= {full_name(model) for model in loaded}
