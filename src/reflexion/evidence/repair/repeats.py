"""Text that repeats itself: what was said before is taken out, what is said for the first time stays."""

from collections.abc import Iterator

from reflexion.evidence.finding import Finding
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.remove import cut
from reflexion.evidence.sheet import Sheet

_LONG = 20


def repeats(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """Removals of repeated lines, sections and paragraphs."""
    yield from _run(sheet, finding.line)
    yield from _sections(sheet)


def _run(sheet: Sheet, line: int) -> Iterator[Edit]:
    """A run of equal lines, all of it where the words stand elsewhere too, else all but the first."""
    key = sheet.row(line).strip()
    if not key:
        return
    last = line
    while last < sheet.last_line and sheet.row(last + 1).strip() in {"", key}:
        last += 1
    while last > line and sheet.is_blank(last):
        last -= 1
    if last == line:
        return
    elsewhere = any(
        sheet.row(other).strip() == key for other in range(1, len(sheet.lines) + 1) if other < line or other > last
    )
    if elsewhere:
        yield cut(sheet, line, last)
    yield Edit((Change(sheet.start(line + 1), sheet.start(last + 1), ""),), f"{last - line} repeated lines are gone")


def _sections(sheet: Sheet) -> Iterator[Edit]:
    """Later sections whose text an earlier one has already, all at once."""
    seen: set[str] = set()
    changes: list[Change] = []
    for section in sheet.sections:
        text = "\n".join(row.strip() for row in sheet.lines[section.line - 1 : section.end_line] if row.strip())
        inside = changes and sheet.start(section.line) < changes[-1].end
        if text in seen and not inside:
            changes.append(Change(sheet.start(section.line), sheet.start(section.end_line + 1), ""))
        seen.add(text)
    if changes:
        yield Edit(tuple(changes), f"{len(changes)} repeated sections are gone")


def repeated_rows(sheet: Sheet) -> Iterator[Edit]:
    """Every later copy of a long line outside of code, all at once."""
    seen: set[str] = set()
    changes: list[Change] = []
    for line in range(1, sheet.last_line + 1):
        row = sheet.row(line).strip()
        if len(row) < _LONG or sheet.is_kept(line) or sheet.kind_at(line) in {"fence", "row", "table", "heading"}:
            continue
        if row in seen:
            changes.append(Change(sheet.start(line), sheet.start(line + 1), ""))
        seen.add(row)
    if changes:
        yield Edit(tuple(changes), f"{len(changes)} repeated lines are gone")
