"""Where a job's output goes: temporary files without a name, read back as bytes, with a cap."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from reflexion.sandbox.job import MIB, Limits

ROOM = 4096


class Capture(NamedTuple):
    """Descriptors of the files for stdout, stderr and the result."""

    stdout: int
    stderr: int
    result: int

    def output(self, limits: Limits) -> tuple[bytes, bytes, bool]:
        """Return stdout and stderr, and whether anything of them is missing.

        Raises OSError when the disk is full: what the job made of that would not be its own trouble.
        """
        disk = os.fstatvfs(self.stdout)
        if disk.f_bavail * disk.f_frsize < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), tempfile.gettempdir())
        stdout, cut_out = _head_and_tail(self.stdout, limits)
        stderr, cut_err = _head_and_tail(self.stderr, limits)
        return stdout, stderr, cut_out or cut_err

    def result_bytes(self, limits: Limits) -> bytes:
        """Return what was written as the result, as far as ``file_mib``."""
        return _read(self.result, 0, limits.file_mib * MIB)


@contextlib.contextmanager
def capturing() -> Iterator[Capture]:
    """Open the three files; they are gone when it ends. Raises OSError when the temporary folder takes no files."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in range(3)]
        yield Capture(*(file.fileno() for file in files))


def _head_and_tail(descriptor: int, limits: Limits) -> tuple[bytes, bool]:
    size = os.fstat(descriptor).st_size
    cap = limits.output_kib * 1024
    full = size >= limits.file_mib * MIB
    if size <= cap:
        return _read(descriptor, 0, cap), full
    head = _read(descriptor, 0, cap // 2)
    tail = _read(descriptor, size - cap // 2, cap // 2)
    return head + f"\n[... {size - 2 * (cap // 2)} bytes left out ...]\n".encode() + tail, True


def _read(descriptor: int, start: int, length: int) -> bytes:
    # pread: the job shares the file's position and can move it.
    return os.pread(descriptor, length, start)


def last_line(text: bytes) -> str:
    """Return the last line of an output, where programs say why they ended; empty when there is none."""
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
