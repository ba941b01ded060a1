"""Code that wants out, or wants the machine down. Each snippet runs for real, as root and as an ordinary user.

After each: in bounded time, nothing runs, nothing was written, no secret was read, no listener was reached.
"""

import os
import selectors
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from reflexion.config import SandboxSettings
from reflexion.sandbox import Completed, Job, Limits, Sandbox, open_sandbox
from tests.sandbox_snippets import ENDING, PRELUDE
from tests.sandbox_support import Watch, as_nobody, at_most, bubblewrap, until, watched

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")

LIMITS = Limits(wall_s=15, cpu_s=2, memory_mib=256, processes=32, file_mib=4, scratch_mib=16, output_kib=64)
SHORT_S = 1.0  # for what only the time limit ends
OVERHEAD_S = 6.0


@dataclass(frozen=True)
class Wild:
    """Code that ends as it likes, or not at all."""

    code: str
    exit_code: int | None = 0
    """None: any."""
    timed_out: bool = False


WILD = {
    "fork-bomb": Wild(
        """
        while True:
            try:
                os.fork()
            except OSError:
                pass""",
        -9,
        timed_out=True,
    ),
    "thread-bomb": Wild(
        """
        import threading, time
        while True:
            try:
                threading.Thread(target=time.sleep, args=(60,)).start()
            except (RuntimeError, MemoryError):
                time.sleep(0.01)""",
        -9,
        timed_out=True,
    ),
    "daemon": Wild("""
        import time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.chdir("/")
                for number in (0, 1, 2):
                    os.close(number)
                time.sleep(60)
            os._exit(0)
        os.wait()
        finish()"""),
    "daemon-holds-output": Wild("""
        import time
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
        finish()"""),
    "child-by-exec": Wild("""
        import subprocess
        for _ in range(3):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", MARKER], start_new_session=True)
        finish()"""),
    "exit-0": Wild("os._exit(0)"),
    "sys-exit": Wild("sys.exit(0)"),
    "endless-print": Wild(
        """
        while True:
            print("x" * 1000)""",
        None,
    ),
    "endless-stderr-at-the-descriptor": Wild(
        """
        while True:
            try:
                os.write(2, b"y" * 65536)
            except OSError:
                pass""",
        None,
    ),
    "endless-recursion": Wild(
        """
        sys.setrecursionlimit(2**30)
        def again():
            again()
        again()""",
        None,
    ),
    "kill-all": Wild(
        """
        import signal
        finish()
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError as error:
            say(repr(error))
        sys.exit(6)""",
        6,
    ),
    "kill-parent": Wild(
        """
        import signal, time
        finish()
        for pid in (os.getppid(), 1):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError as error:
                say(repr(error))
        sys.exit(5)""",
        5,
    ),
    "kill-itself": Wild(
        """
        import signal
        os.kill(os.getpid(), signal.SIGKILL)""",
        -9,
    ),
    "stop-itself": Wild(
        """
        import signal
        os.kill(os.getpid(), signal.SIGSTOP)""",
        -9,
        timed_out=True,
    ),
    "not-utf-8": Wild(r"""
        os.write(1, bytes(range(256)))
        os.write(2, b"\xff\xfe\x00")
        finish()"""),
    "standard-input": Wild("input()", 1),
    "closed-descriptors": Wild(
        """
        finish()
        os.closerange(0, 256)""",
        None,
    ),
    "garbage-result": Wild("""
        os.write(int(os.environ["REFLEXION_RESULT_FD"]), bytes(range(256)) * 100)
        os.lseek(int(os.environ["REFLEXION_RESULT_FD"]), 2**40, 0)"""),
    "endless-result": Wild(
        """
        while True:
            os.write(int(os.environ["REFLEXION_RESULT_FD"]), bytes(1 << 16))""",
        1,
    ),
    "zombies": Wild("""
        for _ in range(20):
            if os.fork() == 0:
                os._exit(0)
        finish()"""),
    "deaf-loop": Wild(
        """
        import signal
        for number in set(range(1, 65)) - {9, 19, 32, 33}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            pass""",
        -9,
        timed_out=True,
    ),
    "many-sleepers": Wild(
        """
        import time
        for _ in range(20):
            if os.fork() == 0:
                os.setsid()
                time.sleep(60)
        time.sleep(60)""",
        -9,
        timed_out=True,
    ),
    "crash": Wild(
        """
        import ctypes
        ctypes.string_at(0)""",
        -11,
    ),
    "frozen-parent": Wild("""
        import signal
        for pid in (os.getppid(), 1):
            try:
                os.kill(pid, signal.SIGSTOP)
            except OSError:
                pass
        finish()"""),
}


@dataclass
class Host:
    """What a job could find on this machine, if it could."""

    canary: Path
    secret: str
    listeners: dict[str, socket.socket]
    names: list[str]

    def check(self, done: Completed) -> None:
        said = done.stdout + done.stderr + done.result
        assert self.secret.encode() not in said
        assert self.canary.read_text() == self.secret
        assert not Path("/usr/x").exists()
        with selectors.DefaultSelector() as selector:
            for name, listener in self.listeners.items():
                selector.register(listener, selectors.EVENT_READ, name)
            assert [key.data for key, _ in selector.select(0)] == []


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    secret = uuid.uuid4().hex
    monkeypatch.setenv("REFLEXION_TEST_SECRET", secret)
    canary = Path(os.environ["HOME"]) / f"canary-{uuid.uuid4().hex}"
    canary.write_text(secret)
    with ExitStack() as stack:
        tcp, udp, unix, abstract = (
            stack.enter_context(socket.socket(family, kind))
            for family, kind in (
                (socket.AF_INET, socket.SOCK_STREAM),
                (socket.AF_INET, socket.SOCK_DGRAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
            )
        )
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        name = f"reflexion-{uuid.uuid4().hex}"
        unix.bind(str(tmp_path / "s"))
        abstract.bind(f"\0{name}")
        for listener in (tcp, unix, abstract):
            listener.listen()
        ports = [str(listener.getsockname()[1]) for listener in (tcp, udp)]
        listeners = {"tcp": tcp, "udp": udp, "unix": unix, "abstract": abstract}
        yield Host(canary, secret, listeners, [str(canary), *ports, str(tmp_path / "s"), name, str(os.getpid())])
    canary.unlink()


@pytest.fixture(params=["here", "nobody"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return bubblewrap() if request.param == "here" else as_nobody()


def run(sandbox: Sandbox, code: str, host: Host, watch: Watch, limits: Limits = LIMITS) -> Completed:
    files = {"prelude.py": PRELUDE.encode(), "hostile.py": program(code)}
    with at_most(limits.wall_s + OVERHEAD_S):
        done = sandbox.run(Job(files, ("hostile.py", watch.marker, *host.names), limits))
    host.check(done)
    watch.check()
    return done


def program(code: str) -> bytes:
    lines = code.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    body = "\n".join(line[indent:] for line in lines)
    start = 'import os, sys\nsys.path.insert(0, os.environ["REFLEXION_FILES"])\nfrom prelude import *\n'
    return (start + body + "\n").encode()


@pytest.mark.parametrize("name", ENDING)
def test_what_must_not_work_does_not(name: str, sandbox: Sandbox, host: Host) -> None:
    with watched() as watch:
        done = run(sandbox, ENDING[name], host, watch)
    said = done.stdout.decode("utf-8", "replace")
    assert "BREACH" not in said, [line for line in said.splitlines() if "BREACH" in line]
    assert (done.exit_code, done.timed_out, done.result) == (0, False, b"DONE"), done.stderr.decode()
    assert said or name == "udp"


@pytest.mark.parametrize("name", WILD)
def test_what_runs_wild_ends(name: str, sandbox: Sandbox, host: Host) -> None:
    wild = WILD[name]
    limits = LIMITS._replace(wall_s=SHORT_S if wild.timed_out else LIMITS.wall_s, cpu_s=1)
    with watched() as watch:
        done = run(sandbox, wild.code, host, watch, limits)
    assert wild.exit_code is None or done.exit_code == wild.exit_code, done
    assert done.timed_out == wild.timed_out, done
    assert max(len(done.stdout), len(done.stderr)) <= LIMITS.output_kib * 1024 + 100
    assert len(done.result) <= LIMITS.file_mib * 1024 * 1024
    assert done.result.startswith(b"DONE") == ("finish()" in wild.code)


def test_the_checks_can_fail(host: Host) -> None:
    """In a place that is no boundary the same snippets do get through, and it shows."""
    process = open_sandbox(SandboxSettings(mode="process"))
    with watched() as watch, pytest.raises(AssertionError):
        run(process, "say(open(CANARY).read())", host, watch)
    with watched() as watch, pytest.raises(AssertionError):
        run(process, "import socket; socket.create_connection(('127.0.0.1', int(PORT)))", host, watch)
    with (
        watched() as watch,
        subprocess.Popen([sys.executable, "-c", "input()", watch.marker], stdin=subprocess.PIPE) as p,
    ):
        assert until(lambda: watch.running() != [])
        p.communicate(b"\n")
