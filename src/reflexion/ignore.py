"""Ignore files: ``.gitignore`` and ``.reflexionignore``, read by pathspec, and which of them says what of a path.

Patterns are relative to the folder that their file lies in. ``.reflexionignore`` goes before ``.gitignore``; of one
kind the deepest file decides, and in a file the last pattern that matches. Files above the walked folder count up to
the repository's root. As in git, nothing below an ignored folder can be taken back, a linked ignore file is not read,
and a pattern that is none matches nothing. Unlike git, letter case always counts, classes such as ``[[:digit:]]`` are
not known, and neither ``.git/info/exclude`` nor the user's own settings of git are read.
"""

import contextlib
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from reflexion.errors import InputError
from reflexion.loaders import printable

GIT_IGNORE = ".gitignore"
OWN_IGNORE = ".reflexionignore"


class Patterns:
    """The patterns of one ignore file or option, asked about one entry whose parents were all taken."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns: list[tuple[bool, re.Pattern[str]]] = []
        for line in lines:
            with contextlib.suppress(GitIgnorePatternError, re.error):  # To git they match nothing.
                self._patterns += _compiled(line)

    @classmethod
    def of_option(cls, option: str, lines: Sequence[str]) -> "Patterns":
        """Return the patterns given on the command line. Raises InputError for one that could never match."""
        for line in lines:
            if not cls([line])._patterns:
                raise InputError(f'{option} "{line}": is no pattern; write it as in {GIT_IGNORE}')
        return cls(lines)

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Return True for a match, False for one with ``!``, None where no pattern says anything."""
        for positive, regex in reversed(self._patterns):
            if _matches(regex, path, is_folder=is_folder):
                return positive
        return None


def _compiled(line: str) -> list[tuple[bool, re.Pattern[str]]]:
    # For pathspec "a/**/" matches a itself, for git only the folders in it.
    rule = line.rstrip()
    rule = f"{rule}*/" if rule.endswith("/**/") else line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # "[[" in a set.
        patterns = GitIgnoreSpec.from_lines([rule]).patterns
    return [(one.include, one.regex) for one in patterns if one.include is not None and one.regex is not None]


def _matches(regex: re.Pattern[str], path: str, *, is_folder: bool) -> bool:
    """Whether a pattern matches the entry itself, not only a folder above it.

    pathspec's one group stands for the slash after a folder. Asked about ``a/b``, a pattern that matched the folder
    ``a`` used it; but that folder was taken, by a later pattern, so in git this says nothing about ``a/b``.
    """
    found = regex.search(path)
    if found and found.lastindex is None:
        return True
    return is_folder and any(
        found.lastindex is not None and found.end() == len(path) + 1 for found in regex.finditer(f"{path}/")
    )


@dataclass(frozen=True, slots=True)
class _IgnoreFile:
    """One ignore file: its patterns, and what to put before or take from a path to make it relative to it."""

    label: str
    patterns: Patterns
    depth: int
    prefix: str = ""

    def decide(self, parts: Sequence[str], *, is_folder: bool) -> bool | None:
        return self.patterns.decide(self.prefix + "/".join(parts[self.depth :]), is_folder=is_folder)


@dataclass(frozen=True, slots=True)
class Ignores:
    """The ignore files in force in a folder, outermost first."""

    own: tuple[_IgnoreFile, ...] = ()
    git: tuple[_IgnoreFile, ...] = ()

    def inside(self, folder: Path, depth: int, prefix: str = "") -> "Ignores":
        """Return these with those that lie in ``folder``, ``depth`` folders below the walked one."""
        own, git = (_read_ignore_file(folder / name, depth, prefix) for name in (OWN_IGNORE, GIT_IGNORE))
        return Ignores(self.own + own, self.git + git) if own or git else self

    def decide(self, parts: Sequence[str], *, is_folder: bool) -> tuple[bool | None, str]:
        """Return what the first file that says anything says, and which one it is."""
        for files in (self.own, self.git):
            for file in reversed(files):
                decided = file.decide(parts, is_folder=is_folder)
                if decided is not None:
                    return decided, file.label
        return None, ""


def _read_ignore_file(path: Path, depth: int, prefix: str) -> tuple[_IgnoreFile, ...]:
    if path.is_symlink() or not path.is_file():
        return ()
    try:
        text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return (_IgnoreFile(printable(path), Patterns(lines), depth, prefix),)


def is_there(path: Path) -> bool:
    """Return whether there is such a file or folder; one in a folder that nobody may look into counts as none."""
    try:
        return path.exists()
    except OSError:
        return False


def ignores_above(folder: Path) -> Ignores:
    """Return the ignore files above the folder up to the repository that it lies in, none outside of one."""
    here = folder.resolve()
    root = next((parent for parent in (here, *here.parents) if is_there(parent / ".git")), here)
    ignores = Ignores()
    for parent in reversed(here.parents):
        if parent.is_relative_to(root):
            ignores = ignores.inside(parent, 0, f"{here.relative_to(parent).as_posix()}/")
    return ignores
