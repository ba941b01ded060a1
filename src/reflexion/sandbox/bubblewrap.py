"""The sandbox that is a boundary: bubblewrap, with namespaces of its own for everything.

Without root one bubblewrap does it all. Root needs two. The outer one has the mounts only, since just root may be able
to read the interpreter (in /root, say); then the user becomes nobody for good, because the kernel does not count
processes of the real root; then the inner one does what it does for everybody.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path, PurePosixPath

from reflexion.errors import SandboxError
from reflexion.sandbox.capture import Capture, capturing
from reflexion.sandbox.interpreter import Interpreter
from reflexion.sandbox.job import MIB, Completed, Job, Limits, laid_out
from reflexion.sandbox.launch import MARK, environment, launch_command, python_command

FILES = "/job"
PRIVATE = "/tmp/private"  # noqa: S108 (inside of the sandbox)
SHARED_MEMORY = 4 * MIB
NOBODY = ("--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--pdeathsig=KILL", "--")
# What the outer one leaves to the inner one, which builds its root on top of /tmp.
FOR_INNER = ("--perms", "0755", "--dir", "/tmp", "--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc")  # noqa: S108
BECOME_NOBODY = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--die-with-parent")
OWN_PROCESSES = 1  # bubblewrap's own, which the kernel counts with the job's
SYSTEM_FOLDERS = ("/bin", "/lib", "/lib32", "/lib64", "/libx32")
START_S = 10.0
END_S = 5.0


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Runs jobs under the program ``bwrap``; ``setpriv`` is there when the user is root, else None."""

    interpreter: Interpreter
    bwrap: str
    setpriv: str | None

    @property
    def name(self) -> str:
        """Return the word that the configuration has for it."""
        return "bubblewrap"

    @property
    def is_boundary(self) -> bool:
        """Return True: nothing of the machine can be written, and only system and interpreter be read."""
        return True

    def run(self, job: Job) -> Completed:
        """Run a job; see Sandbox.run."""
        try:
            with laid_out(job.files) as folder, capturing() as capture:
                return self._run(job, folder / "files", capture)
        except OSError as error:
            raise SandboxError(f"sandbox bubblewrap: {error}") from error

    def _run(self, job: Job, files: Path, capture: Capture) -> Completed:
        begun = time.monotonic()
        with _started(self, job, files, capture) as running:
            timed_out = not running.wait(time.monotonic() + job.limits.wall_s)
            running.end()
            code = running.process.returncode
            stdout, stderr, cut = capture.output(job.limits)
            if running.mark() != MARK or (code < 0 and not timed_out):
                raise SandboxError(f"sandbox bubblewrap: {_reason(stderr, code, timed_out)}")
        exit_code = -signal.SIGKILL if timed_out else exit_code_of(code)
        seconds = time.monotonic() - begun
        return Completed(exit_code, timed_out, stdout, stderr, capture.result_bytes(job.limits), cut, seconds)

    def command(self, job: Job, files: Path, capture: Capture, info: int) -> list[str]:
        """Return the whole chain of commands for a job."""
        executable = self.interpreter.executable
        variables = environment(executable, PRIVATE, FILES, capture.result)
        python = python_command(executable, job, FILES)
        launch = launch_command(job.limits, job.limits.processes + OWN_PROCESSES, python)
        seen = [*system_mounts(), *_binds(self.interpreter.needs)]
        if self.setpriv is None:
            return [self.bwrap, *_inner(seen, str(files), job.limits, variables, info), *launch]
        programs = _binds([self.bwrap, self.setpriv])
        outer = [self.bwrap, *seen, *programs, "--ro-bind", str(files), FILES, *FOR_INNER, *BECOME_NOBODY]
        return [*outer, self.setpriv, *NOBODY, self.bwrap, *_inner(seen, FILES, job.limits, variables, info), *launch]


def exit_code_of(code: int) -> int:
    """Return the job's exit code from bubblewrap's, which says 128 + n for a signal n."""
    return 128 - code if 128 < code <= 128 + signal.SIGRTMAX else code


def _reason(stderr: bytes, code: int, timed_out: bool) -> str:
    if timed_out:
        return "did not start the job within its time limit"
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    said = lines[-1].removeprefix("bwrap: ") if lines else ""
    return said or f"ended with {code} before the job"


def system_mounts() -> list[str]:
    """Return the options that show the system's programs and libraries, read-only."""
    options = [
        "--ro-bind",
        "/usr",
        "/usr",
        "--perms",
        "0755",
        "--dir",
        "/etc",
        "--ro-bind-try",
        "/etc/ld.so.cache",
        "/etc/ld.so.cache",
    ]
    for folder in map(Path, SYSTEM_FOLDERS):
        if folder.is_symlink():
            options += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            options += ["--ro-bind", str(folder), str(folder)]
    return options


def _binds(paths: Sequence[str]) -> list[str]:
    options: list[str] = []
    made: set[str] = set()
    for path in paths:
        if any(PurePosixPath(path).is_relative_to(folder) for folder in ("/usr", *SYSTEM_FOLDERS)):
            continue
        for parent in map(str, reversed(PurePosixPath(path).parents[:-1])):
            if parent not in made:
                options += ["--perms", "0755", "--dir", parent]
                made.add(parent)
        options += ["--ro-bind", path, path]
    return options


def _inner(seen: Sequence[str], files: str, limits: Limits, variables: dict[str, str], info: int) -> list[str]:
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--info-fd", str(info), "--hostname", "sandbox"]
    options += ["--size", str(limits.scratch_mib * MIB), "--perms", "0700", "--tmpfs", "/tmp"]  # noqa: S108
    options += ["--dir", PRIVATE, *seen, "--ro-bind", files, FILES, "--proc", "/proc", "--dev", "/dev"]
    options += ["--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm"]  # noqa: S108
    # Both are tmpfs without a size, and the user owns them.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", PRIVATE, "--clearenv"]
    for name, value in variables.items():
        options += ["--setenv", name, value]
    return [*options, "--"]


@dataclass(slots=True)
class _Running:
    """A started chain: its first process, and the first process of the inner namespace (its end is everybody's)."""

    process: "subprocess.Popen[bytes]"
    init: int | None
    mark_end: int

    def wait(self, until: float) -> bool:
        """Wait for the chain's end; return False when the time is up first."""
        try:
            descriptor = os.pidfd_open(self.process.pid)
        except ProcessLookupError:
            return True
        try:
            return _ready(descriptor, until - time.monotonic())
        finally:
            os.close(descriptor)

    def end(self) -> None:
        """Kill whatever is left, and see it gone. Raises SandboxError when it does not go."""
        if self.process.poll() is None:
            self._kill()
        gone = self.init is None or _ready(self.init, END_S)
        if not gone:
            self._kill()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired as error:
            raise SandboxError("sandbox bubblewrap: a process of the job could not be ended") from error
        if not gone and self.init is not None and not _ready(self.init, END_S):
            raise SandboxError("sandbox bubblewrap: a process of the job could not be ended")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            if self.init is not None:
                signal.pidfd_send_signal(self.init, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def mark(self) -> bytes:
        """Return what came through the mark's pipe; everybody who could write has ended."""
        return os.read(self.mark_end, len(MARK)) if _ready(self.mark_end, 0) else b""


@contextmanager
def _started(sandbox: Bubblewrap, job: Job, files: Path, capture: Capture) -> Iterator[_Running]:
    with ExitStack() as stack:
        mark_end, mark = (stack.enter_context(end) for end in _pipe())
        info_end, info = (stack.enter_context(end) for end in _pipe())
        process = subprocess.Popen(  # noqa: S603
            sandbox.command(job, files, capture, info.fileno()),
            stdin=mark,
            stdout=capture.stdout,
            stderr=capture.stderr,
            pass_fds=(capture.result, info.fileno()),
            env={},  # the first process of the sandbox can be asked for its environment
            cwd="/",
            start_new_session=True,
        )
        running = _Running(process, None, mark_end.fileno())
        try:
            mark.close()
            info.close()
            running.init = _first_process(info_end.fileno())
            yield running
        finally:
            running.end()
            if running.init is not None:
                os.close(running.init)


def _pipe() -> tuple[FileIO, FileIO]:
    reader, writer = os.pipe()
    return FileIO(reader, "rb"), FileIO(writer, "wb")


def _first_process(info: int) -> int | None:
    """Return a descriptor of the inner namespace's first process, None when it never was or is gone."""
    text = b""
    until = time.monotonic() + START_S
    while b"}" not in text and _ready(info, until - time.monotonic()):
        read = os.read(info, 4096)
        if not read:
            return None
        text += read
    try:
        return os.pidfd_open(int(json.loads(text)["child-pid"]))
    except (ValueError, KeyError, ProcessLookupError):
        return None


def _ready(descriptor: int, seconds: float) -> bool:
    """Return whether the descriptor becomes readable within the time; a process's does when it ends."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def find_programs() -> tuple[str | None, str | None]:
    """Return the full paths of bwrap and setpriv, None for what is not there."""
    return shutil.which("bwrap"), shutil.which("setpriv")
