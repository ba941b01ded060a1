"""The calls under way: hang-ups end them one by one, the end of the engine all of them."""

import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reflexion.embedded.runner import Call
from reflexion.embedded.wire import ApiError

ENDING = "the engine is ending"
HANG_UP_CHECK_S = 0.1
# How long answers may take to be written once their calls were ended.
LAST_WORDS_S = 1.0
HURRY_CHECK_S = 0.05


class Calls:
    """Every call from its beginning to the last byte of its answer. Safe to use from many threads."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._changed = threading.Condition()
        self._active: set[Call] = set()
        self._ending = False

    @contextmanager
    def begin(self, connection: socket.socket) -> Iterator[Call]:
        """A new call, which is cancelled when its client hangs up.

        Raises:
            ApiError: 503 when the engine takes no more.
        """
        call = Call(self._wake)
        with self._changed:
            if self._ending:
                raise ApiError(503, ENDING)
            self._active.add(call)
        try:
            with _watched(connection, call):
                yield call
        finally:
            with self._changed:
                self._active.discard(call)
                self._changed.notify_all()

    def end(self, grace_s: float, hurry: Callable[[], bool]) -> None:
        """Take no more calls, end those that wait, give those that run ``grace_s`` seconds or until ``hurry``."""
        with self._changed:
            self._ending = True
        self._cancel(lambda call: not call.running)
        self._wait(grace_s, hurry)
        self._cancel(lambda _: True)
        self._wait(LAST_WORDS_S, lambda: False)

    def _cancel(self, which: Callable[[Call], bool]) -> None:
        with self._changed:
            chosen = [call for call in self._active if which(call)]
        for call in chosen:
            call.cancel(ApiError(503, ENDING))

    def _wait(self, seconds: float, hurry: Callable[[], bool]) -> None:
        until = time.monotonic() + seconds
        with self._changed:
            while self._active and time.monotonic() < until and not hurry():
                self._changed.wait(HURRY_CHECK_S)


@contextmanager
def _watched(connection: socket.socket, call: Call) -> Iterator[None]:
    """Cancel the call when its client hangs up; only a thread sees that while the call waits for something else."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(HANG_UP_CHECK_S):
            if _hung_up(connection):
                call.cancel()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _hung_up(connection: socket.socket) -> bool:
    if hasattr(select, "POLLRDHUP"):
        # Also seen behind bytes that nobody has read yet, such as the next request.
        poll = select.poll()
        poll.register(connection, select.POLLRDHUP)
        return bool(poll.poll(0))
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
