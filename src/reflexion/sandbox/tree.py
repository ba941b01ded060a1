"""A folder of the user's that a job sees read-only, with some of its files replaced."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reflexion.errors import InputError

# Where a copied folder, and what replaces a file, lies among a job's files.
COPIED, REPLACED = "tree", "replaced"
# What no test reads, and what is too large to be copied. Where the folder itself is shown, they are there.
PASSED_OVER = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache"}
    | {".ruff_cache", ".pytest_cache", ".hypothesis", ".reflexion", "site-packages"}
)
MOST_FILES = 20_000
MOST_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder by its full path, and what stands in the place of some of its files: relative POSIX path to content.

    A sandbox shows it under its own path where it can; REFLEXION_TREE names where it is.
    """

    root: Path
    replaced: Mapping[str, bytes]

    def replacements(self) -> dict[str, bytes]:
        """Return what replaces a file as files of a job, in the order of ``replaced``."""
        return {f"{REPLACED}/{number}": content for number, content in enumerate(self.replaced.values())}

    def copied(self, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
        """Return the whole folder as files of a job. Raises InputError when it is too large, OSError."""
        files: dict[str, bytes] = {}
        size = 0
        for path in files_below(self.root):
            relative = path.relative_to(self.root).as_posix()
            content = self.replaced.get(relative)
            files[f"{COPIED}/{relative}"] = path.read_bytes() if content is None else content
            size += len(files[f"{COPIED}/{relative}"])
            if len(files) > most_files or size > most_bytes:
                most = f"{most_files} files or {most_bytes // 1024**2} MiB"
                raise InputError(f"{self.root}: more than {most} to copy into the sandbox; run it as an ordinary user")
        return files


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files of a folder but for what is passed over; a link that leads to no file is none."""
    for here, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not is_passed_over(Path(here, name)))
        for name in sorted(names):
            path = Path(here, name)
            if path.is_file() and "\\" not in name:
                yield path


def is_passed_over(folder: Path) -> bool:
    """Return whether a folder is one that nobody wrote by hand, such as a virtual environment."""
    return folder.name in PASSED_OVER or (folder / "pyvenv.cfg").is_file()


def within(path: str, folder: Path) -> bool:
    """Return whether a path is in a folder, or is it."""
    return PurePosixPath(path).is_relative_to(folder)
