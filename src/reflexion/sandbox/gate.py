"""The door before a job, and the end of the job when the process that asked for it was killed."""

import fcntl
import select
import signal
import socket
import sys
from contextlib import suppress
from os import O_ASYNC
from types import TracebackType

MARK = b"started\n"
WORD = b"go\n"


class Gate:
    """One job's gate: a socket that is the chain's standard input until the job begins.

    The launch script writes MARK to it when all is set, and waits for a word. Should this process have been killed
    by then, the script reads the end instead, and no job begins.
    """

    def __init__(self) -> None:
        self._here, self.inside = socket.socketpair()
        """``inside`` goes to the chain; here it must be closed as soon as the chain has it."""

    def __enter__(self) -> "Gate":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._here.close()
        self.inside.close()

    def marked(self, seconds: float) -> bool:
        """Wait for the mark; return False when none comes."""
        try:
            return ready(seconds, self._here.fileno()) and self._here.recv(len(MARK), socket.MSG_WAITALL) == MARK
        except ConnectionError:
            return False

    def open(self) -> None:
        """Let the job begin."""
        with suppress(ConnectionError):
            self._here.sendall(WORD)


class Leash:
    """Has the kernel kill a process group when this process ends, whatever ends it (Linux).

    Signals at a parent's death do not do: they are refused between different users. ``inside`` is a socket that the
    group keeps open, and that nobody ever writes to.
    """

    def __init__(self) -> None:
        self._here, self.inside = socket.socketpair()

    def __enter__(self) -> "Leash":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.inside.close()
        self._here.close()

    def fasten(self, group: int) -> None:
        """Bind the process group, which holds ``inside``."""
        if sys.platform == "linux":
            fcntl.fcntl(self.inside, fcntl.F_SETOWN, -group)
            fcntl.fcntl(self.inside, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(self.inside, fcntl.F_SETFL, fcntl.fcntl(self.inside, fcntl.F_GETFL) | O_ASYNC)
        self.inside.close()


def ready(seconds: float, *descriptors: int) -> bool:
    """Return whether one of the descriptors becomes readable within the time; a process's does when it ends."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))
