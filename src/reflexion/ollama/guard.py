"""What a streamed reply must survive: deadlines, runaway text, and a stream that ends too early.

One call is one ``Watchdog``. The HTTP client reports its socket to it, every record that arrives is a ``beat``,
and a thread shuts the socket down when a deadline passes. That works where a client's own timeouts do not: a slow
drip resets a read timer for ever, and a blocked read cannot be ended from within its own thread.
"""

import contextlib
import socket
import threading
import time
from collections import deque
from types import TracebackType
from typing import NamedTuple

from reflexion.errors import DeadlineExceeded, ReplyRunaway

LONGEST_UNIT = 256
LONGEST_REPEATED = 3_000


class Deadlines(NamedTuple):
    """Limits of one call, in seconds. ``first_token_s`` includes loading the model and reading the prompt."""

    first_token_s: float = 600
    idle_s: float = 120
    total_s: float = 1800


class Watchdog:
    """Ends one call when it overruns a deadline. A context manager; ``beat`` on every record that arrives.

    ``what`` is who is asked, for the message.
    """

    def __init__(self, limits: Deadlines, what: str = "the model") -> None:
        self._what = what
        self._limits = limits
        self._started = time.monotonic()
        self._last_beat: float | None = None
        self._socket: socket.socket | None = None
        self._expired = ""
        self._wake = threading.Condition()
        self._finished = False
        self._thread = threading.Thread(target=self._watch, name="reflexion-watchdog", daemon=True)

    def __enter__(self) -> "Watchdog":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with self._wake:
            self._finished = True
            self._wake.notify()
        self._thread.join()

    def attach(self, sock: socket.socket) -> None:
        """Take the socket that this call runs over; called by the HTTP client once it is connected."""
        with self._wake:
            self._socket = sock
            if self._expired:
                self._shut_down()

    def beat(self) -> None:
        """Note that something arrived: the first-token deadline is met and the idle clock starts anew."""
        first = self._last_beat is None
        self._last_beat = time.monotonic()
        if first:  # The idle deadline may be nearer than the one that the thread sleeps towards.
            with self._wake:
                self._wake.notify()

    def check(self) -> None:
        """Raise DeadlineExceeded if this call was ended by its deadline."""
        if self._expired:
            raise DeadlineExceeded(f"{self._what}: {self._expired}")

    def _watch(self) -> None:
        with self._wake:
            while not self._finished:
                remaining, reason = self._next_deadline()
                if remaining <= 0:
                    self._expired = reason
                    self._shut_down()
                    return
                self._wake.wait(remaining)

    def _next_deadline(self) -> tuple[float, str]:
        now = time.monotonic()
        limits = self._limits
        said = f"not finished after {limits.total_s:g} s; lower num_predict or raise server.total_s"
        total = (self._started + limits.total_s - now, said)
        if self._last_beat is None:
            first = self._started + limits.first_token_s - now
            said = f"no token within {limits.first_token_s:g} s, loading included"
            return min((first, f"{said}; see the server's log, or raise server.first_token_s"), total)
        idle = self._last_beat + limits.idle_s - now
        return min((idle, f"no token for {limits.idle_s:g} s; see the server's log, or raise server.idle_s"), total)

    def _shut_down(self) -> None:
        if self._socket is not None:
            # The other side may have closed it in the same moment.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class RunawayDetector:
    """Tells when a text repeats itself without end.

    Either one unit fills its end over and over, or its last lines are a handful of lines in any order. ``what`` is
    whose text it is, for the message.
    """

    check_every = 200
    lines_watched = 60
    most_distinct_lines = 4

    def __init__(self, what: str = "the model") -> None:
        self._what = what
        self._tail = ""
        self._unchecked = 0
        self._line = ""
        self._lines: deque[str] = deque(maxlen=self.lines_watched)

    def feed(self, piece: str) -> None:
        """Take the next piece; raise ReplyRunaway as soon as the repetition is certain."""
        self._tail = (self._tail + piece)[-LONGEST_REPEATED:]
        self._keep_lines(piece)
        self._unchecked += len(piece)
        if self._unchecked < self.check_every:
            return
        self._unchecked = 0
        unit = repeated_unit(self._tail) or self._repeated_line()
        if unit:
            raise ReplyRunaway(
                f"{self._what}: the reply repeats {_shown(unit)} without end and was cut; another model may do better"
            )

    def _keep_lines(self, piece: str) -> None:
        first, *rest = piece.split("\n")
        self._line += first
        for following in rest:
            if self._line.strip():
                self._lines.append(self._line.strip())
            self._line = following

    def _repeated_line(self) -> str:
        full = len(self._lines) == self.lines_watched
        return self._lines[-1] if full and len(set(self._lines)) <= self.most_distinct_lines else ""


def repeated_unit(tail: str) -> str:
    """Return the shortest unit that surely fills the end of ``tail`` without end, or "" where there is none."""
    for period in range(1, LONGEST_UNIT + 1):
        if tail[-period:] != tail[-2 * period : -period]:  # Cheap, and true of nearly every period of a fair text.
            continue
        if _repeats(tail[-max(400, period * 8) :], period):
            # Whatever its multiples do, the shortest unit decides how much is certain.
            unit = tail[-period:]
            length = _certain_length(unit)
            return unit if length <= len(tail) and _repeats(tail[-length:], period) else ""
    return ""


def _repeats(text: str, period: int) -> bool:
    return len(text) >= 8 * period and text[period:] == text[:-period]


def _certain_length(unit: str) -> int:
    """Return how many characters a unit must fill before its repetition is certain.

    Rules of dashes, padded tables and a critic's garbled fix stay below: they end by themselves.
    """
    if unit.isspace():
        return 400
    return 3_000 if len(unit) < 16 else max(1_200, len(unit) * 8)


def _shown(unit: str) -> str:
    return repr(unit if len(unit) <= 40 else f"{unit[:37]}...")
