"""Sources from disk: which files they are, what language, and their text in whatever encoding they declare.

langchain-community lives in this module and nowhere else.
"""

import codecs
import hashlib
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reflexion.errors import InputError
from reflexion.evidence.facts import Facts
from reflexion.evidence.source import facts_of_notebook, facts_of_python

if TYPE_CHECKING:
    from langchain_core.document_loaders import BaseLoader

STDIN = "-"
PYTHON_SUFFIXES = frozenset({".py", ".pyi", ".pyw"})
NOTEBOOK_SUFFIX = ".ipynb"
# What a folder walk takes besides Python; any text file can be named on the command line.
OTHER_SUFFIXES = frozenset(
    [
        ".c",
        ".cc",
        ".cpp",
        ".cs",
        ".cxx",
        ".dart",
        ".ex",
        ".exs",
        ".go",
        ".h",
        ".hpp",
        ".hs",
        ".java",
        ".jl",
        ".js",
        ".jsx",
        ".kt",
        ".lua",
        ".m",
        ".mjs",
        ".ml",
        ".php",
        ".pl",
        ".r",
        ".rb",
        ".rs",
        ".scala",
        ".sh",
        ".sql",
        ".swift",
        ".ts",
        ".tsx",
        ".vue",
        ".zig",
    ]
)
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
PRUNED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class Source:
    """One source as it was read. ``label`` is how the user named it; ``sha256`` is of its bytes, in hex.

    ``facts`` is what it says, or None where it is not Python and no claim about it can be checked. ``path`` is where
    it lies; None for standard input.
    """

    label: str
    name: str
    text: str
    sha256: str
    facts: Facts | None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class SourcePath:
    """A source to read: where it is, and its path below the folder that was asked for."""

    path: Path
    relative: Path


def is_blank(path: Path) -> bool:
    """Return whether a file holds nothing but white space, as many an ``__init__.py`` does."""
    return path.stat().st_size < 4096 and not _content(path.read_bytes())


def _content(data: bytes) -> bytes:
    """Return what a file holds besides white space and a byte order mark."""
    return data.removeprefix(codecs.BOM_UTF8).strip()


def printable(path: Path) -> str:
    """Return a path as one line of text that every encoding can hold.

    Bytes of a name that are no text are shown as escapes, and so is what would end the line or steer a terminal.
    """
    text = path.as_posix().encode("utf-8", errors="backslashreplace").decode()
    return _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def load_path(path: Path) -> Source:
    """Read a source file. Raises InputError with one line that says what is wrong with it."""
    if path.exists() and not path.is_file():
        raise InputError(f"{printable(path)}: is not a regular file")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{printable(path)}: no such file") from error
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    label = printable(path)
    _refuse_unusable(data, label)
    suffix = path.suffix.lower()
    facts = None
    if suffix == NOTEBOOK_SUFFIX:
        text = notebook_code(data, label)
        facts = facts_of_notebook(data.decode("utf-8-sig"), path.stem, label)
    elif suffix in PYTHON_SUFFIXES:
        text = _read_with(_python_loader, path)
        facts = facts_of_python(text, path.stem, label)
    else:
        text = _read_with(_text_loader, path)
    return Source(label, path.stem, text, hashlib.sha256(data).hexdigest(), facts, path)


def load_stdin(data: bytes) -> Source:
    """Make a source of what came on standard input; it is Python if it parses as Python."""
    _refuse_unusable(data, "standard input")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input: not UTF-8 text (byte {error.start})") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        facts = facts_of_python(text, "stdin", "standard input")
    except InputError:
        facts = None
    return Source("standard input", "stdin", text, hashlib.sha256(data).hexdigest(), facts)


def _refuse_unusable(data: bytes, label: str) -> None:
    if not _content(data):
        raise InputError(f"{label}: is empty, there is nothing to do")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{label}: is UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        raise InputError(f"{label}: is a binary file (NUL byte at {data.index(0)})")


def _read_with(make_loader: Callable[[Path], "BaseLoader"], path: Path) -> str:
    """Run a langchain-community loader and turn what it raises into one clear line."""
    try:
        return str(make_loader(path).load()[0].page_content)
    except (RuntimeError, UnicodeError, SyntaxError, LookupError) as error:
        cause = error.__cause__ or error
        detail = f"byte {cause.start} is not {cause.encoding}" if isinstance(cause, UnicodeDecodeError) else str(cause)
        raise InputError(f"{printable(path)}: cannot be decoded: {detail}; save it as UTF-8") from error


def _python_loader(path: Path) -> "BaseLoader":
    # Honours the encoding cookie and the byte order mark, as the interpreter does.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_community.document_loaders.python import PythonLoader

    return PythonLoader(str(path))


def _text_loader(path: Path) -> "BaseLoader":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_community.document_loaders.text import TextLoader

    return TextLoader(str(path), encoding="utf-8-sig")


def notebook_code(data: bytes, label: str) -> str:
    """Return a notebook as one Python text: code cells as they are, the words between them as comments.

    The community loader for notebooks needs pandas and runs cells together as prose, so the format (nbformat 3 and
    4, plain JSON) is read here. Raises InputError for what is no notebook, or has no code.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        cells = notebook.get("cells") or [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
        parts = [part for cell in cells if (part := _cell_text(cell))]
        code = any(cell.get("cell_type") == "code" for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{label}: is not a notebook: {error}") from error
    if not code:
        raise InputError(f"{label}: the notebook has no code cells, there is nothing to do")
    return "\n\n".join(parts) + "\n"


def _cell_text(cell: dict[str, Any]) -> str:
    raw = cell.get("source") or cell.get("input") or ""
    text = ("".join(raw) if isinstance(raw, list) else str(raw)).strip("\n")
    if cell.get("cell_type") == "code":
        # Magics and shell lines are not Python; commented out they keep their line.
        return "\n".join(f"# {line}" if line.lstrip().startswith(("%", "!")) else line for line in text.split("\n"))
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n")) if text else ""
