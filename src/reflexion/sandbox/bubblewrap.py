"""The sandbox that is a boundary: bubblewrap, with namespaces of its own for everything.

Without root one bubblewrap does it all. Root needs two. The outer one has the mounts only, since just root may be able
to read the interpreter (in /root, say); then the user becomes nobody for good, because the kernel does not count
processes of the real root; then the inner one does what it does for everybody.
"""

import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from reflexion.errors import SandboxError
from reflexion.sandbox.capture import Capture, capturing, last_line
from reflexion.sandbox.gate import Gate, Leash, ready
from reflexion.sandbox.interpreter import Interpreter
from reflexion.sandbox.job import MIB, Completed, Job, Limits, laid_out
from reflexion.sandbox.launch import environment, launch_command, python_command
from reflexion.sandbox.seccomp import seccomp_program
from reflexion.sandbox.tree import COPIED, REPLACED, Tree, within

FILES = "/job"
PRIVATE = "/tmp/private"  # noqa: S108 (inside of the sandbox)
SHARED_MEMORY = 4 * MIB
NOBODY = ("--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--pdeathsig=KILL", "--")
# What the outer one leaves to the inner one, which builds its root on top of /tmp.
FOR_INNER = ("--perms", "0755", "--dir", "/tmp", "--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc")  # noqa: S108
BECOME_NOBODY = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--die-with-parent")
OWN_PROCESSES = 1  # bubblewrap's own, which the kernel counts with the job's
SYSTEM_FOLDERS = ("/bin", "/lib", "/lib32", "/lib64", "/libx32")
START_S = 30.0
END_S = 5.0
GOING_S = 0.5
INFO_BYTES = 4096
PAUSE_S = 0.0005


class InnerDescriptors(NamedTuple):
    """What the inner bubblewrap is given, and the job is not: where to say its first process, the leash, and where to
    read the filter for system calls from (None: no filter).
    """

    info: int
    leash: int
    calls: int | None

    def options(self) -> list[str]:
        """Return them as options."""
        # Without a filter, the kernel's own switch: another namespace, which costs time.
        watched = ["--unshare-user", "--disable-userns"] if self.calls is None else ["--seccomp", str(self.calls)]
        return ["--info-fd", str(self.info), "--sync-fd", str(self.leash), *watched]

    def all(self) -> list[int]:
        """Return the descriptors there are."""
        return [self.info, self.leash, *([] if self.calls is None else [self.calls])]


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Runs jobs under the program ``bwrap``; ``setpriv`` is there when the user is root, else None.

    A sandbox that does not stand after ``start_s`` seconds has failed.
    """

    interpreter: Interpreter
    bwrap: str
    setpriv: str | None
    start_s: float = START_S

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
            with laid_out({**job.files, **self._of_tree(job.tree)}) as folder, capturing() as capture:
                return self._run(job, folder / "files", capture)
        except OSError as error:
            raise SandboxError(f"sandbox bubblewrap: {error}") from error

    def _run(self, job: Job, files: Path, capture: Capture) -> Completed:
        begun = time.monotonic()
        timed_out = stopped = False
        with _started(self, job, files, capture) as running:
            begins = running.begin(begun + self.start_s)
            if begins:
                timed_out = not running.wait(job.limits.wall_s, job.until)
                stopped = timed_out or not running.wait(0)
            elif not running.wait(GOING_S):
                raise SandboxError(f"sandbox bubblewrap: did not start the job in {self.start_s:g} s")
            running.end()
            code = running.process.returncode
            stdout, stderr, cut = capture.output(job.limits)
            if begins and code < 0 and not stopped:
                raise SandboxError(f"sandbox bubblewrap: killed from outside by signal {-code}")
            if not begins:
                said = last_line(stderr).removeprefix("bwrap: ") or f"ended with {code} before the job"
                raise SandboxError(f"sandbox bubblewrap: {said}")
        exit_code = -signal.SIGKILL if stopped else exit_code_of(code)
        seconds = time.monotonic() - begun
        return Completed(exit_code, timed_out, stdout, stderr, capture.result_bytes(job.limits), cut, seconds)

    def command(self, job: Job, files: Path, result: int, inner: "InnerDescriptors") -> list[str]:
        """Return the whole chain of commands for a job; ``result`` is the job's own descriptor."""
        executable = self.interpreter.executable
        tree = None if job.tree is None else str(job.tree.root)
        variables = environment(executable, PRIVATE, FILES, result, job.channel, tree)
        python = python_command(executable, job, FILES)
        launch = launch_command(job.limits, job.limits.processes + OWN_PROCESSES, python)
        seen = _seen(self.interpreter.needs)
        if self.setpriv is None:
            chain, source = [self.bwrap], str(files)
        else:
            programs = _binds([self.bwrap, self.setpriv])
            outer = [*seen, *programs, "--ro-bind", str(files), FILES, *FOR_INNER, *BECOME_NOBODY]
            chain, source = [self.bwrap, *outer, self.setpriv, *NOBODY, self.bwrap], FILES
        shown = [*self._tree(job.tree, source), *seen]
        return [*chain, *inner.options(), *_inner(shown, source, job.limits, variables), *launch]

    def _of_tree(self, tree: Tree | None) -> dict[str, bytes]:
        """Return what of a tree is among the job's files. As root all of it: nobody may not be able to read it."""
        if tree is None:
            return {}
        if self.setpriv is None:
            return tree.replacements()
        points = [need for need in self.interpreter.needs if within(need, tree.root)]
        inside = {f"{COPIED}/{Path(one).relative_to(tree.root)}{'/.keep' * Path(one).is_dir()}": b"" for one in points}
        return inside | tree.copied()

    def _tree(self, tree: Tree | None, source: str) -> list[str]:
        """Return the options that show a tree under its own path; what of the interpreter is in it comes later."""
        if tree is None:
            return []
        root = str(tree.root)
        if self.setpriv is not None:
            return _bind(f"{source}/{COPIED}", root)
        replaced = [f"{root}/{path}" for path in tree.replaced]
        files = [["--ro-bind", f"{source}/{REPLACED}/{number}", path] for number, path in enumerate(replaced)]
        return [*_bind(root, root), *(word for one in files for word in one)]


def exit_code_of(code: int) -> int:
    """Return the job's exit code from bubblewrap's, which says 128 + n for a signal n."""
    return 128 - code if 128 < code <= 128 + signal.SIGRTMAX else code


@functools.cache
def _seen(needs: tuple[str, ...]) -> tuple[str, ...]:
    return (*system_mounts(), *_binds(needs))


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
        options += _bind(path, path, made)
    return options


def _bind(source: str, path: str, made: set[str] | None = None) -> list[str]:
    """Return the options for ``source`` at ``path``, with the folders above it that are not ``made`` yet."""
    above = [one for one in map(str, reversed(PurePosixPath(path).parents[:-1])) if one not in (made or ())]
    if made is not None:
        made.update(above)
    return [*(word for one in above for word in ("--perms", "0755", "--dir", one)), "--ro-bind", source, path]


def _inner(seen: Sequence[str], files: str, limits: Limits, variables: dict[str, str]) -> list[str]:
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "sandbox"]
    options += ["--size", str(limits.scratch_mib * MIB), "--perms", "0700", "--tmpfs", "/tmp"]  # noqa: S108
    options += ["--dir", PRIVATE, *seen, "--ro-bind", files, FILES, "--proc", "/proc", "--dev", "/dev"]
    options += ["--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm"]  # noqa: S108
    # Both are tmpfs without a size, and the user owns them.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", PRIVATE, "--clearenv"]
    for name, value in variables.items():
        options += ["--setenv", name, value]
    return [*options, "--"]


class _Init(NamedTuple):
    """The first process of the inner namespace, by its number and a descriptor."""

    pid: int
    descriptor: int
    filtered: bool

    def is_bound(self) -> bool:
        """Return whether it ends with its parent: it asks for that just before it takes the filter."""
        try:
            return not self.filtered or b"Seccomp:\t2" in Path(f"/proc/{self.pid}/status").read_bytes()
        except OSError:
            return True  # it has ended


@dataclass(slots=True)
class _Running:
    """A started chain: its first process, with a descriptor, and the inner namespace's, whose end is everybody's."""

    process: "subprocess.Popen[bytes]"
    gate: Gate
    leash: Leash
    first: int
    info: int
    filtered: bool
    init: _Init | None = None

    def begin(self, until: float) -> bool:
        """Let the job begin when the sandbox stands; return False when the chain ended before, or time is up."""
        if not self.gate.marked(until - time.monotonic()):
            return False
        self.find_init()
        while self.init is not None and not self.init.is_bound():
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE_S)
        # Not before: a namespace's first process does not heed this signal, and would wait for its parent for ever.
        self.leash.fasten(self.process.pid)
        self.gate.open()
        return True

    def find_init(self) -> None:
        """Look for the inner namespace's first process, which bubblewrap names before it lets it go on."""
        if self.init is None:
            with suppress(ValueError, KeyError, ProcessLookupError):
                pid = int(json.loads(os.pread(self.info, INFO_BYTES, 0))["child-pid"])
                self.init = _Init(pid, os.pidfd_open(pid), self.filtered)

    def wait(self, seconds: float, stop: int | None = None) -> bool:
        """Wait for the chain's end, or for ``stop``; return False when the time is up first."""
        return ready(seconds, self.first, *([] if stop is None else [stop]))

    def end(self) -> None:
        """Kill whatever is left, and see it gone. Raises SandboxError when it does not go."""
        self.find_init()
        # The inner namespace first: its own first process may have been taken over by the job.
        with suppress(ProcessLookupError):
            if self.init is not None:
                signal.pidfd_send_signal(self.init.descriptor, signal.SIGKILL)
        if self.process.poll() is None and not self.wait(END_S if self.init is not None else 0):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired as error:
            raise SandboxError("sandbox bubblewrap: a process of the job could not be ended") from error
        if self.init is not None and not ready(END_S, self.init.descriptor):
            raise SandboxError("sandbox bubblewrap: a process of the job could not be ended")


@contextmanager
def _started(sandbox: Bubblewrap, job: Job, files: Path, capture: Capture) -> Iterator[_Running]:
    with ExitStack() as stack:
        gate, leash = stack.enter_context(Gate()), stack.enter_context(Leash())
        # No pipe: writing to one whose reader was killed would end bubblewrap in the middle of its work.
        info = stack.enter_context(tempfile.TemporaryFile())
        inner = InnerDescriptors(info.fileno(), leash.inside.fileno(), _filter(stack))
        process = subprocess.Popen(  # noqa: S603
            sandbox.command(job, files, capture.result, inner),
            stdin=gate.inside.fileno(),
            stdout=capture.stdout,
            stderr=capture.stderr,
            pass_fds=[capture.result, *inner.all(), *([] if job.channel is None else [job.channel])],
            env={},  # the first process of the sandbox can be asked for its environment
            cwd="/",
            start_new_session=True,
        )
        first = os.pidfd_open(process.pid)
        running = _Running(process, gate, leash, first, info.fileno(), inner.calls is not None)
        try:
            gate.inside.close()
            yield running
        finally:
            running.end()
            os.close(first)
            if running.init is not None:
                os.close(running.init.descriptor)


def _filter(stack: ExitStack) -> int | None:
    """Return a descriptor to read the filter for system calls from, None where there is no filter."""
    program = seccomp_program()
    if program is None:
        return None
    reader, writer = os.pipe()
    stack.enter_context(FileIO(reader, "rb"))
    with FileIO(writer, "wb") as whole:
        whole.write(program)
    return reader


def find_programs() -> tuple[str | None, str | None]:
    """Return the full paths of bwrap and setpriv, None for what is not there."""
    return shutil.which("bwrap"), shutil.which("setpriv")
