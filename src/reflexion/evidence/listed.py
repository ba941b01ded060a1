"""Which lines are one entry of a list, whatever its style, and how a new one is written like its siblings."""

import re
from collections.abc import Callable

from reflexion.evidence.locate import bare, code
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.tables import Column, column_of
from reflexion.evidence.words import role_of

_FIELD = re.compile(r"^\s*:\w+(?:\s+[^:]*)?:")
_NAMED = re.compile(r"\s*(?:\*\*|`)[\w*\\]+(?:\*\*|`)\s*(?:\(|:|=|[\u2013\u2014-]\s)")
_LEAD_IN = re.compile(r"^[^.!?|`]{1,80}:[*_]*$")
_CELL = re.compile(r"(?<!\\)\|")


def entry_lines(sheet: Sheet, line: int) -> tuple[int, int]:
    """First and last line of the entry at a line: a row, an item, a field, or what is indented below the line."""
    block = next((one for one in sheet.blocks_at(line) if one.kind in {"row", "item", "fence", "paragraph"}), None)
    if block is None or block.kind == "row":
        return line, line
    if block.kind == "item" and block.line == line:
        return block.line, block.end_line
    last = _last(sheet, line, block.end_line)
    return line, last


def is_entry(sheet: Sheet, line: int) -> bool:
    """Whether a line of a paragraph begins an entry of its own: a field, an indented name, a name above its words."""
    block, row = sheet.block_at(line), sheet.row(line)
    if block.kind != "paragraph":
        return False
    beside = [sheet.row(other) for other in (line - 1, line + 1) if block.line <= other <= block.end_line]
    named = _NAMED.match(row) is not None and any(_NAMED.match(other) for other in beside)
    return named or _FIELD.match(row) is not None or indent(row) > 3 or sheet.row(line + 1).lstrip().startswith(": ")


def _last(sheet: Sheet, line: int, end: int) -> int:
    first = sheet.row(line)
    last = line
    while last < end and _continues(first, sheet.row(last + 1)):
        last += 1
    while last > line and sheet.is_blank(last):
        last -= 1
    return last


def _continues(first: str, row: str) -> bool:
    """Whether a line goes on with the entry that begins with ``first``."""
    if _FIELD.match(first):
        parameter = re.match(r"\s*:param\s+(?:[^:]*\s)?(\w+):", first)
        typed = parameter is not None and re.match(rf"\s*:type\s+{parameter[1]}:", row) is not None
        return typed or (bool(row.strip()) and not _FIELD.match(row))
    if _NAMED.match(first) and _NAMED.match(row):
        return False
    if row.lstrip().startswith(": ") and not first.lstrip().startswith(":"):
        return True
    return not row.strip() or indent(row) > indent(first)


def indent(row: str) -> int:
    """How many columns of white space begin a line."""
    return len(row) - len(row.lstrip())


def cells(row: str) -> list[str]:
    """The cells of a table's row, as they are written."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip() for cell in _CELL.split(inner)]


def columns(sheet: Sheet, line: int) -> list[Column]:
    """What the columns of the table around a line give, by its header."""
    table = next((block for block in sheet.blocks_at(line) if block.kind == "table"), None)
    header = sheet.row(table.line) if table else ""
    return [column_of(bare(cell, 0, len(cell))[0].strip()) for cell in cells(header)]


def row_like(sheet: Sheet, line: int, write: Callable[[Column, str], str]) -> str:
    """A row below the header of the row at ``line``; ``write`` gives a cell for a column and the sibling's cell."""
    there = cells(sheet.row(line))
    header = columns(sheet, line)
    there += [""] * (len(header) - len(there))
    made = [write(column, cell) for column, cell in zip(header, there, strict=False)]
    escaped = [_CELL.sub(r"\\|", cell) for cell in made]
    margin = sheet.row(line)[: indent(sheet.row(line))]
    framed = sheet.row(line).strip().startswith("|")
    joined = " | ".join(escaped)
    return f"{margin}| {joined} |" if framed else f"{margin}{joined}"


def filler(sheet: Sheet, line: int, place: int) -> str:
    """What the table's rows say where there is no default: "required", a dash; "required" where none does."""
    table = next((block for block in sheet.blocks_at(line) if block.kind == "table"), None)
    rows = range(table.line + 2, table.end_line + 1) if table else range(0)
    said = [there[place] for row in rows if place < len(there := cells(sheet.row(row)))]
    return next((one for one in said if one and "`" not in one and not re.search(r"\d", one)), "required")


def renamed(text: str, old: str, new: str) -> str:
    """``text`` with the first whole word ``old`` as ``new``, stars before it left out; code where it is not there."""
    found = re.search(rf"(?:\\?\*)*(?<!\w){re.escape(old)}(?!\w)", text)
    if found is None:
        return code(new)
    outer = re.match(r"\*\*(?=\w)", found[0])
    kept = "**" if outer and text.endswith("**") else ""
    return f"{text[: found.start()]}{kept}{new}{text[found.end() :]}"


def is_lead(sheet: Sheet, line: int) -> bool:
    """Whether a line only announces what comes below: ``**Raises:**``, ``Args:``, "It raises the following:"."""
    words = sheet.row(line).strip().strip("*_").strip()
    if line in sheet.in_fence or sheet.kind_at(line) not in {"paragraph", "item"}:
        return False
    return role_of(words.rstrip(":").strip("*_ ")) is not None or _LEAD_IN.match(sheet.row(line).strip()) is not None
