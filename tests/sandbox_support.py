"""Sandboxes for the tests: the real one, the same one as an ordinary user has it, and what must hold after a job."""

import contextlib
import os
import pickle
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest

from reflexion.config import SandboxSettings
from reflexion.errors import SandboxUnavailable
from reflexion.sandbox import Completed, Job, Limits, Sandbox, open_sandbox
from reflexion.sandbox.bubblewrap import Bubblewrap, find_programs
from reflexion.sandbox.interpreter import find_interpreter

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
GONE_S = 2.0


def missing(reason: str) -> NoReturn:
    """End the test: failed where CI is "true" or REFLEXION_DEMAND_SANDBOX is 1, skipped elsewhere."""
    if os.environ.get("CI") == "true" or os.environ.get("REFLEXION_DEMAND_SANDBOX") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def bubblewrap() -> Sandbox:
    """The sandbox that a user gets by default."""
    try:
        return open_sandbox(SandboxSettings())
    except SandboxUnavailable as error:
        missing(str(error))


@dataclass(frozen=True)
class AsNobody:
    """Bubblewrap as an ordinary user runs it, from a test process that is root: each job in a forked process."""

    inner: Bubblewrap
    name: str = "bubblewrap"
    is_boundary: bool = True

    def run(self, job: Job) -> Completed:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self._child(job, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            answer = answers.read()
        os.waitpid(child, 0)
        done = pickle.loads(answer)
        if isinstance(done, BaseException):
            raise done
        assert isinstance(done, Completed)
        return done

    def _child(self, job: Job, writer: int) -> None:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            done: Completed | BaseException = self.inner.run(job)
        except BaseException as error:  # noqa: BLE001 (it belongs to the parent)
            done = error
        with os.fdopen(writer, "wb") as out:
            pickle.dump(done, out)
        os._exit(0)


def as_nobody() -> Sandbox:
    """Bubblewrap without root: as it is when the tests do not run as root."""
    if os.geteuid() != 0:
        return bubblewrap()
    bwrap, _ = find_programs()
    python = sys.executable if _open_to_all(Path(sys.executable)) else SYSTEM_PYTHON
    if bwrap is None or not Path(python).exists():
        missing(f"no bubblewrap, or no interpreter that an ordinary user may read ({python})")
    return AsNobody(Bubblewrap(find_interpreter(python), str(bwrap), None))


def _open_to_all(path: Path) -> bool:
    real = path.resolve()
    return all(stat.S_IMODE(part.stat().st_mode) & 0o005 == 0o005 for part in (real, *real.parents, *path.parents))


@dataclass
class Watch:
    """What a job must not leave behind or reach. ``marker`` goes into the job's command line."""

    temporary: Path
    marker: str = field(default_factory=lambda: f"marker-{os.urandom(8).hex()}")

    def running(self) -> list[int]:
        """The processes of this machine with the marker in their command line, in the order of their numbers."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and self.marker.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))  # a zombie has no command line
        return sorted(found)

    def check(self) -> None:
        """Nothing runs any more, and the temporary folder is as empty as before."""
        assert self.running() == []
        assert list(self.temporary.iterdir()) == []


@contextlib.contextmanager
def watched() -> Iterator[Watch]:
    """A temporary folder of this test's own for the sandbox, open to every user, and checks at the end."""
    before = tempfile.tempdir
    folder = Path(tempfile.mkdtemp(prefix="reflexion-test-"))
    folder.chmod(0o777)
    tempfile.tempdir = str(folder)
    descriptors = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
    watch = Watch(folder)
    try:
        yield watch
        watch.check()
        if descriptors:
            assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    finally:
        tempfile.tempdir = before
        for item in folder.iterdir():
            item.unlink()
        folder.rmdir()


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for a condition; False when it did not come true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.0005)
    return True


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """The time that something may take."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


@pytest.fixture(params=["bubblewrap", "nobody", "process"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "process":
        return open_sandbox(SandboxSettings(mode="process"))
    return bubblewrap() if request.param == "bubblewrap" else as_nobody()


def job(code: str, *arguments: str, **limits: float) -> Job:
    return Job({"driver.py": code.encode()}, ("driver.py", *arguments), Limits()._replace(**limits))  # type: ignore[arg-type]
