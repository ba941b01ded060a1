"""What a sandbox is asked to run, and what comes back."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from reflexion.sandbox.tree import Tree

if TYPE_CHECKING:
    from reflexion.config import SandboxSettings

MIB = 1024 * 1024
TEMPORARY_PREFIX = "reflexion-sandbox-"
OLD_S = 3600.0


class Limits(NamedTuple):
    """What one job may use. Names end in their unit: seconds, MiB, KiB."""

    wall_s: float = 20.0
    """The whole job; then everything of it is killed."""
    cpu_s: int = 20
    """Processor time of each process."""
    memory_mib: int = 512
    """Address space of each process."""
    processes: int = 64
    """Processes and threads at once."""
    file_mib: int = 8
    """The largest file that can be written, captured output included."""
    scratch_mib: int = 64
    """The private folder as a whole; only bubblewrap enforces it."""
    output_kib: int = 256
    """What is read back of stdout, and of stderr: head and tail, with a note in between."""

    @classmethod
    def of(cls, settings: "SandboxSettings") -> "Limits":
        """Return the limits that the configuration asks for."""
        return cls(wall_s=settings.wall_s, memory_mib=settings.memory_mib)


@dataclass(frozen=True, slots=True)
class Job:
    """Files, and what follows ``python -I``.

    ``files`` maps relative POSIX paths to contents. They lie read-only in one folder, which REFLEXION_FILES names in
    the child's environment; an argument that is one of these paths becomes the file's full path. The child's working
    folder, HOME and TMPDIR are a private folder that is gone afterwards.
    """

    files: Mapping[str, bytes]
    arguments: tuple[str, ...]
    limits: Limits = Limits()  # noqa: RUF009 (a named tuple is immutable)
    channel: int | None = None
    """A descriptor that the child inherits as well; REFLEXION_CHANNEL_FD names it there. It stays open here."""
    until: int | None = None
    """A descriptor of which the child gets nothing: as soon as it is readable, or its other end closed, the job is
    killed."""
    tree: Tree | None = None
    """A folder that the child sees besides."""

    def __post_init__(self) -> None:
        for path in self.files:
            _check_path(path)


def _check_path(path: str) -> None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in path or "\\" in path:
        raise ValueError(f"{path!r} is no relative path inside the job's folder")


class Completed(NamedTuple):
    """How a job ended.

    Nothing here is proof: the code that ran can exit with 0, print and write to the result's file what it likes.
    """

    exit_code: int
    """Of the Python child; negative when a signal killed it. An exit code of 128 + n reads as signal n."""
    timed_out: bool
    stdout: bytes
    stderr: bytes
    result: bytes
    """What was written to the file descriptor that REFLEXION_RESULT_FD names."""
    output_cut: bool
    """Something of stdout or stderr is missing: it was more than ``output_kib``, or reached ``file_mib``."""
    wall_s: float


class Sandbox(Protocol):
    """A place to run jobs in. Jobs can run side by side, in threads."""

    @property
    def name(self) -> str:
        """Return "bubblewrap" or "process"."""

    @property
    def is_boundary(self) -> bool:
        """Return whether it keeps hostile code from this machine's files, processes and network."""

    def run(self, job: Job) -> Completed:
        """Run the job to its end, or to its time limit; nothing of it is left running.

        Raises SandboxError when the sandbox failed, rather than what runs in it.
        """


@contextlib.contextmanager
def laid_out(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A temporary folder with ``files`` in its folder "files" and an empty folder "home"; removed at the end.

    Raises OSError when it cannot be written, ValueError when a path is both a file and a folder.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY_PREFIX}{os.getpid()}-"))
    try:
        (folder / "home").mkdir(mode=0o700)
        top = folder / "files"
        top.mkdir(mode=0o755)
        for path, content in files.items():
            _write(top / path, content)
        yield folder
    finally:
        _remove(folder)


def remove_leftovers() -> None:
    """Remove the folders of processes that were killed: ours, an hour old, and of no process that runs now."""
    for folder in Path(tempfile.gettempdir()).glob(f"{TEMPORARY_PREFIX}*-*"):
        pid = folder.name.removeprefix(TEMPORARY_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError, ValueError):
            found = folder.lstat()
            if found.st_uid == os.geteuid() and found.st_mtime < time.time() - OLD_S and not _runs(int(pid)):
                _remove(folder)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        target.write_bytes(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise ValueError(f"{target.name!r} is both a file and a folder of the job") from error
    target.chmod(0o444)


def _remove(folder: Path) -> None:
    """Remove a folder; what the job had closed in it is opened up. What still cannot be removed stays."""

    def make_removable(function: object, path: str, _: object) -> None:
        target = Path(path)
        if target == folder and not target.exists():
            return  # somebody else was faster, and what is around it is not ours
        with contextlib.suppress(OSError):
            if target != folder:
                target.parent.chmod(0o700)
            if target.is_dir() and not target.is_symlink():
                target.chmod(0o700)
                shutil.rmtree(target, ignore_errors=True)
            else:
                target.unlink()

    shutil.rmtree(folder, onerror=make_removable)
