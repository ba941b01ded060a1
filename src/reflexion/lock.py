"""One run at a time on an output folder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from reflexion.errors import InputError
from reflexion.runs import RECORD_FOLDER


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold an output folder; the system frees it when the process ends, however that is.

    Raises InputError, with the process, when another run holds it, and when it cannot be locked.
    """
    kept = folder / RECORD_FOLDER
    holder = kept / "run.pid"
    lock = FileLock(kept / "run.lock", timeout=0, mode=0o600)
    try:
        kept.mkdir(parents=True, exist_ok=True)
        kept.chmod(0o700)
        lock.acquire()
    except Timeout:
        raise InputError(f"{folder}: another run is writing here (process {_holder(holder)}); wait for it") from None
    except FileExistsError as error:
        raise InputError(f"{kept}: is not a folder; move it away, or name another --output") from error
    except OSError as error:
        raise InputError(f"{kept}: cannot be used: {error.strerror}") from error
    try:
        _write_holder(holder)
        yield
    finally:
        with contextlib.suppress(OSError):  # Such as a folder in its place.
            holder.unlink(missing_ok=True)
        lock.release()


def _write_holder(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii") or "unknown"
    except (OSError, ValueError):
        return "unknown"
