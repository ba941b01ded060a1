"""Temporary places that clean up after themselves."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "scratch-"
MAX_BYTES = 10 * 1024 * 1024


class ScratchFull(OSError):
    """No more may be written."""


class Scratch:
    """A temporary folder."""

    def __init__(self, prefix: str = PREFIX, max_bytes: int = MAX_BYTES) -> None:
        self.root = Path(tempfile.mkdtemp(prefix=prefix))
        self.max_bytes = max_bytes

    def __enter__(self) -> "Scratch":
        return self

    def __exit__(self, *details: object) -> None:
        self.remove()

    @property
    def used(self) -> int:
        """Bytes in use."""
        return sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())

    def write(self, name: str, data: bytes, *, overwrite: bool = True) -> Path:
        """Write a file."""
        target = self._inside(name)
        if target.exists() and not overwrite:
            raise FileExistsError(f"{name} exists")
        if self.used + len(data) > self.max_bytes:
            raise ScratchFull("scratch space is full")
        target.write_bytes(data)
        return target

    def remove(self) -> None:
        """Delete everything."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _inside(self, name: str) -> Path:
        target = (self.root / name).resolve()
        if self.root.resolve() not in target.parents:
            raise PermissionError(f"{name} leads outside")
        return target


@contextlib.contextmanager
def working_directory(path: Path, create: bool = False) -> Iterator[Path]:
    """Change the working directory for a while."""
    if create:
        path.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(path)
    try:
        yield path
    finally:
        os.chdir(before)


def free_bytes(path: Path = Path("/")) -> int:
    """Return the free space."""
    return shutil.disk_usage(path).free
