"""Runs the candidate in a sandbox of its own while pytest runs the suite in another."""

import socket
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reflexion.sandbox import Completed, Job, Limits, Sandbox
from reflexion.suite.isolation.proxy import TARGET

PACKAGE = "reflexion_isolated"
BOTH_SIDES = ("frames.py", "plain.py")
PROXY = f"""\
from {PACKAGE}.proxy import connect

globals().update(connect([{{names}}]))
del connect
"""
SERVE = f"""\
import os
import sys

sys.path.insert(0, os.environ["REFLEXION_FILES"])
from {PACKAGE}.server import main

del sys.path[0]
main()
"""
# It starts before pytest's job and is ended after it, so its own limit must not come first.
LONGER_S = 60.0
TAIL = 2000


@dataclass(slots=True)
class _Candidate:
    """How the candidate's job ended: one of the two, when it has."""

    done: Completed | None = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Isolated:
    """What the job of pytest needs: ``files`` where the candidate's module would lie, ``channel`` as Job.channel."""

    files: Mapping[str, bytes]
    channel: int
    _candidate: _Candidate = field(default_factory=_Candidate)

    def tail(self) -> str:
        """Return the last of what the candidate printed, stdout then stderr; "" before its job has ended."""
        done = self._candidate.done
        if done is None:
            return ""
        return "\n".join(text for text in map(_text, (done.stdout, done.stderr)) if text)


@contextmanager
def isolated(candidate: str, names: Collection[str], sandbox: Sandbox, limits: Limits) -> Iterator[Isolated]:
    """Run the candidate's module in a job of its own as long as the block lasts; nothing of it is left afterwards.

    ``names`` are what the suite uses of it. With a sandbox that is no boundary, the candidate can reach the other job
    like everything else of the user. Raises SandboxError at the end when the candidate's sandbox failed.
    """
    trusted, untrusted = socket.socketpair()
    stay, go = socket.socketpair()
    job = replace(_job(candidate, limits), channel=untrusted.fileno(), until=go.fileno())
    pytest_side = Isolated(_files(names), trusted.fileno())
    thread = threading.Thread(target=_run, args=(sandbox, job, untrusted, pytest_side._candidate))
    with trusted, untrusted, stay, go:
        thread.start()
        try:
            yield pytest_side
        finally:
            stay.close()
            thread.join()
    if pytest_side._candidate.error is not None:
        raise pytest_side._candidate.error


def _run(sandbox: Sandbox, job: Job, channel: socket.socket, candidate: _Candidate) -> None:
    try:
        candidate.done = sandbox.run(job)
    except BaseException as error:  # noqa: BLE001 (it belongs to the thread that waits)
        candidate.error = error
    finally:
        channel.close()  # the last copy: the other side reads the end


def _job(candidate: str, limits: Limits) -> Job:
    files = {"serve.py": SERVE.encode(), f"{TARGET}.py": candidate.encode("utf-8", "surrogatepass")}
    return Job({**files, **_package("server.py")}, ("serve.py",), limits._replace(wall_s=limits.wall_s + LONGER_S))


def _files(names: Collection[str]) -> dict[str, bytes]:
    wanted = ", ".join(repr(name) for name in sorted(names))
    return {f"{TARGET}.py": PROXY.format(names=wanted).encode(), **_package("proxy.py")}


def _package(side: str) -> dict[str, bytes]:
    """Return our own modules for one of the sides, as a package for its job."""
    here = Path(__file__).parent
    files = {f"{PACKAGE}/{name}": (here / name).read_bytes() for name in (*BOTH_SIDES, side)}
    return {f"{PACKAGE}/__init__.py": b"", **files}


def _text(output: bytes) -> str:
    return output[-TAIL:].decode("utf-8", "replace").strip()
