"""Which document is checked against which source."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from reflexion.check.drift import find_source
from reflexion.errors import InputError
from reflexion.marker import read_marker

DOCUMENT_SUFFIXES = frozenset({".md", ".markdown"})
PYTHON_SUFFIXES = (".py", ".pyi", ".ipynb")
NOT_SOURCES = DOCUMENT_SUFFIXES | {".pyc", ".pyo", ".so", ".pyd"}


class Pair(NamedTuple):
    """A document and the source that it is about."""

    document: Path
    source: Path


def find_pairs(
    documents: Sequence[Path], sources: Sequence[Path] = (), *, known_only: bool = False
) -> tuple[list[Pair], list[str]]:
    """The pairs that the arguments mean, and a line for each document that has no source.

    Documents and sources pair up by position; two folders pair up their files by relative path without suffix.
    Without ``sources`` the comment at the end of each page names its source. Inside of folders, and with
    ``known_only`` everywhere, documents without a source are passed over.

    Raises InputError when the numbers differ, a file and a folder are paired, a path does not exist, or nothing is
    left to check.
    """
    if sources and len(sources) != len(documents):
        raise InputError(
            f"check: {len(documents)} documents but {len(sources)} sources; give one --source for each document"
        )
    pairs: list[Pair] = []
    problems: list[str] = []
    for place, document in enumerate(documents):
        found, missing = _pairs_of(document, sources[place] if sources else None, known_only)
        pairs += found
        problems += missing
    if not pairs and not problems and not known_only:
        names = ", ".join(map(str, documents)) or "nothing"
        raise InputError(f"check: no document with a source in {names}; name the sources with --source")
    return pairs, problems


def _pairs_of(document: Path, source: Path | None, known_only: bool) -> tuple[list[Pair], list[str]]:
    for path in (document, source):
        if path is not None and not path.exists():
            raise InputError(f"{path}: no such file or folder; check the path")
    if source is not None:
        return _given(document, source), []
    if document.is_dir():
        named = (_named(path) for path in _documents(document))
        return [pair for pair in named if pair is not None], []
    pair = _named(document)
    if pair is not None:
        return [pair], []
    return [], [] if known_only else [_no_source(document)]


def _given(document: Path, source: Path) -> list[Pair]:
    if document.is_dir() != source.is_dir():
        raise InputError(f"{document} and {source}: a folder and a file make no pair; give two files or two folders")
    return list(_mirror(document, source)) if document.is_dir() else [Pair(document, source)]


def _named(document: Path) -> Pair | None:
    try:
        _, marker = read_marker(document.read_text(encoding="utf-8", errors="replace"), anywhere=True)
    except OSError:
        return None
    source = find_source(marker, document) if marker else None
    return Pair(document, _shortened(source)) if source else None


def _shortened(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _no_source(document: Path) -> str:
    try:
        _, marker = read_marker(document.read_text(encoding="utf-8", errors="replace"), anywhere=True)
    except OSError as error:
        return f"{document}: cannot be read ({error.strerror}); check the path and its permissions"
    if marker is None or not marker.source:
        return f"{document}: its source is not known; name it with --source"
    return f"{document}: its source {marker.source} is gone; name where it is now with --source"


def _mirror(documents: Path, sources: Path) -> Iterable[Pair]:
    for document in _documents(documents):
        source = _counterpart(sources / document.relative_to(documents).with_suffix(""))
        if source is not None:
            yield Pair(document, source)


def _documents(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.suffix.lower() in DOCUMENT_SUFFIXES)
    return sorted(path for path in found if not _is_hidden(path.relative_to(folder)) and path.is_file())


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part in {"node_modules", "__pycache__"} for part in path.parts)


def _counterpart(stem: Path) -> Path | None:
    """The file that differs only in its suffix, Python first; also for ``x.py.md``."""
    for suffix in PYTHON_SUFFIXES:
        if (candidate := stem.with_name(stem.name + suffix)).is_file():
            return candidate
    if stem.suffix and stem.is_file():
        return stem
    others = sorted(stem.parent.glob(f"{_literal(stem.name)}.*")) if stem.parent.is_dir() else []
    usable = [path for path in others if path.is_file() and path.suffix not in NOT_SOURCES and path.stem == stem.name]
    return usable[0] if len(usable) == 1 else None


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
