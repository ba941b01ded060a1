"""The code of a notebook as one Python text, cell after cell, with line numbers that a person can find again."""

import ast
import json
import re
from collections.abc import Iterator

from reflexion.errors import InputError
from reflexion.patterns import regex

_PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun"})
_LINE_MAGIC = regex(
    r"^(?P<indent>\s*)(?:[%!].*|\?+[\w.]+.*|(?:[^#\"'?;]*;\s*)?[\w.]+(?:\[[^\]]*\]|\([^)]*\))*\?{1,2}\s*|(?:pip|conda|cd|mkdir|ls|cat)\s+[^=(]*)$"
)
_ASSIGNED_MAGIC = regex(r"^(?P<target>\s*[A-Za-z_](?:[\w.,\s]|\[[^\]]*\])*(?::[^=]+)?=\s*)[%!].*$")


def notebook_source(text: str, path: str) -> str:
    """Return the code cells of a notebook (formats 3 and 4), joined by one line end each.

    Lines of the notebook's own language (``%magic``, ``!command``, ``name?``) are replaced by ``pass``, whole cells
    in another language by empty lines, so that every other line keeps its place.

    :raises InputError: not JSON, not a notebook, or a notebook in another language than Python
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a notebook (not JSON: {error}); give a file in Jupyter's format") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not a notebook (no cells in it); give a file in Jupyter's format")
    language = _language(content)
    if not language.lower().startswith(("python", "ipython")):
        raise InputError(f"{path}: a notebook in {language[:40]!r}, not in Python; document it as text")
    return "\n".join(_code(cell) for cell in _cells(content, path))


def _cells(content: dict[str, object], path: str) -> Iterator[str]:
    holders: list[object] = [content]
    worksheets = content.get("worksheets")
    if isinstance(worksheets, list):
        holders = worksheets
    elif not isinstance(content.get("cells"), list):
        raise InputError(f"{path}: not a notebook (no cells in it); give a file in Jupyter's format")
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        for cell in cells if isinstance(cells, list) else ():
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                yield _source(cell.get("source", cell.get("input", "")))


def _source(source: object) -> str:
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str)).removesuffix("\n")


def _language(content: dict[str, object]) -> str:
    metadata = content.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        described = metadata.get(part) if isinstance(metadata, dict) else None
        named = described.get(key) if isinstance(described, dict) else None
        if isinstance(named, str) and named:
            return named
    return "python"


def _code(cell: str) -> str:
    if cell.lstrip().startswith("%%"):
        first, _, rest = cell.lstrip().partition("\n")
        leading = cell[: len(cell) - len(cell.lstrip())]
        magic = re.match(r"%%(\w*)", first)
        if magic is None or magic[1] not in _PYTHON_CELL_MAGICS:
            return "\n" * cell.count("\n")
        return "\n" * leading.count("\n") + "\n" + _code(rest)
    if _parses(cell):
        return cell
    return "\n".join(_neutral_lines(cell.split("\n")))


def _neutral_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines; one that goes on a command after a backslash at its end is empty."""
    command = False
    for line in lines:
        if command:
            command = line.endswith("\\")
            yield ""
            continue
        neutral = _neutral(line)
        command = neutral != line and line.endswith("\\")
        yield neutral


def _neutral(line: str) -> str:
    magic = _LINE_MAGIC.match(line)
    if magic:
        return f"{magic['indent']}pass"
    assigned = _ASSIGNED_MAGIC.match(line)
    return f"{assigned['target']}None" if assigned else line


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError):
        return False
    return True
