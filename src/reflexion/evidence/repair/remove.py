"""Removals: the smallest piece that says what is wrong, and what would be left empty around it."""

import re
from collections.abc import Iterator

from reflexion.evidence.finding import Finding
from reflexion.evidence.listed import entry_lines, indent, is_entry, is_lead
from reflexion.evidence.locate import find, sentences
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.swap import quoted
from reflexion.evidence.sheet import Sheet

_MARKER = re.compile(r"\s*(?:>\s?)*\s*(?:(?:[-*+]|\d{1,9}[.)])\s+|:\s+)?")
_DEFINES = re.compile(r"\s*(?:async\s+def|def|class|@)\b|\s*@")


def removals(sheet: Sheet, finding: Finding, words: str = "") -> Iterator[Edit]:
    """What can be taken out for a finding, the smallest first: its sentence, its entry, then the blocks around."""
    line = min(finding.line, sheet.last_line)
    yield from sentence_removals(sheet, line, words or finding.stated)
    yield cut(sheet, *entry_lines(sheet, line))
    if line in sheet.in_fence:
        yield cut(sheet, *definition_lines(sheet, line))
    yield from block_removals(sheet, line)


def block_removals(sheet: Sheet, line: int, *, rough: bool = True) -> Iterator[Edit]:
    """The blocks that hold a line, the smallest first; of what spans the whole page only the line."""
    for block in sheet.blocks_at(line):
        yield cut(sheet, block.line, block.end_line, rough=rough)


def section_removal(sheet: Sheet, line: int, *, rough: bool = False) -> Iterator[Edit]:
    """The section whose heading stands at the line."""
    section = sheet.headed(line)
    if section is not None and (section.level > 1 or section.line != sheet.sections[0].line):
        yield cut(sheet, section.line, section.end_line, rough=rough)


def sentence_removals(sheet: Sheet, line: int, words: str) -> Iterator[Edit]:
    """The sentences of the line's paragraph that hold the words, or that begin on the line."""
    block = next((one for one in sheet.blocks_at(line) if one.kind in {"paragraph", "item"}), None)
    if block is None or line in sheet.in_fence:
        return
    lines = entry_lines(sheet, line) if is_entry(sheet, line) else (block.line, block.end_line)
    first = sheet.start(lines[0])
    marker = _MARKER.match(sheet.text, first, sheet.end(lines[0]))
    first = marker.end() if marker else first
    parts = sentences(sheet.text, first, sheet.end(lines[1]))
    spots = [hit.start for hit in find(sheet.text, first, sheet.end(lines[1]), words)] if words else []
    hit = [one for one in parts if any(one[0] <= spot < one[1] for spot in spots)]
    hit = hit or [one for one in parts if sheet.start(line) <= one[1] - 1 and one[0] <= sheet.end(line)]
    for start, end in hit:
        yield from _without_sentence(sheet, lines, (first, parts[-1][1]), (start, end))
    ending = parts[-1:]
    if ending and ending[0] not in hit:
        yield from _without_sentence(sheet, lines, (first, parts[-1][1]), ending[0])


def _without_sentence(
    sheet: Sheet, lines: tuple[int, int], content: tuple[int, int], sentence: tuple[int, int]
) -> Iterator[Edit]:
    start, end = sentence
    said = f"{quoted(sheet.text[start:end])} is gone"
    if start <= content[0] and end >= content[1]:
        yield cut(sheet, *lines)
        return
    if end >= content[1]:
        start = len(sheet.text[:start].rstrip(" \t\n>"))
    yield Edit((Change(start, end, ""),), said)


def definition_lines(sheet: Sheet, line: int) -> tuple[int, int]:
    """A definition in a fence: its decorators, its signature and the body below it."""
    fence = next(block for block in sheet.blocks_at(line) if block.kind == "fence")
    first, last = line, line
    inner = fence.end_line - 1 if sheet.row(fence.end_line).strip().startswith(("```", "~~~")) else fence.end_line
    while first > fence.line + 1 and sheet.row(first - 1).lstrip().startswith("@"):
        first -= 1
    margin = indent(sheet.row(line))
    while last < inner and not _begins(sheet.row(last + 1), margin):
        last += 1
    return first, last


def _begins(row: str, margin: int) -> bool:
    """Whether a row of code begins something beside a definition at this margin."""
    closes = re.match(r"\s*[)\]}]", row)
    return bool(row.strip()) and indent(row) <= margin and not closes


def cut(sheet: Sheet, first: int, last: int, *, rough: bool = False) -> Edit:
    """The lines taken out, with the lead-in, table head, fence or heading that would be left with nothing below."""
    said = f"{quoted(sheet.text[sheet.start(first) : sheet.end(last)])} is gone"
    first, last = _grown(sheet, first, last)
    while (first == 1 or sheet.is_blank(first - 1)) and last < len(sheet.lines) - 1 and sheet.is_blank(last + 1):
        last += 1
    changes = [
        Change(sheet.start(line), min(sheet.end(line) + 1, len(sheet.text)), "")
        for line in range(first, last + 1)
        if not sheet.is_kept(line)
    ]
    return Edit(tuple(_joined(changes)) or (Change(sheet.start(first), sheet.start(first), ""),), said, rough)


def _joined(changes: list[Change]) -> list[Change]:
    joined: list[Change] = []
    for change in changes:
        if joined and joined[-1].end == change.start:
            joined[-1] = Change(joined[-1].start, change.end, "")
        else:
            joined.append(change)
    return joined


def _grown(sheet: Sheet, first: int, last: int) -> tuple[int, int]:
    """The lines and all that they leave empty around them."""
    while True:
        wider = _emptied_block(sheet, first, last) or _emptied_lead(sheet, first, last)
        if wider is None:
            return first, last
        first, last = wider


def _emptied_block(sheet: Sheet, first: int, last: int) -> tuple[int, int] | None:
    """The table or fence around, when nothing but its head or its marks would be left."""
    for block in sheet.blocks_at(first):
        bounds = min(first, block.line), max(last, block.end_line)
        if bounds == (first, last):
            continue
        if block.kind == "table" and first <= block.line + 2 and last >= block.end_line:
            return bounds
        if block.kind == "fence":
            inner = [line for line in range(block.line, block.end_line + 1) if not first <= line <= last]
            if all(sheet.is_blank(line) or re.match(r"\s*(?:`{3,}|~{3,})", sheet.row(line)) for line in inner):
                return bounds
    return None


def _emptied_lead(sheet: Sheet, first: int, last: int) -> tuple[int, int] | None:
    """The lead-in or heading above, when nothing follows that belongs to it."""
    before, after = first - 1, last + 1
    while before > 1 and sheet.is_blank(before):
        before -= 1
    while after <= sheet.last_line and sheet.is_blank(after):
        after += 1
    if before < 1 or sheet.is_blank(before):
        return None
    ended = after > sheet.last_line
    section = sheet.headed(before)
    if section is not None:
        return (before, last) if section.end_line < after and (section.level > 1 or ended) and before > 1 else None
    below = None if ended else after
    return (before, last) if is_lead(sheet, before) and _ends_list(sheet, first, below) else None


def _ends_list(sheet: Sheet, first: int, after: int | None) -> bool:
    """Whether what stands at ``after`` is no sibling of the piece that begins at ``first``."""
    if after is None or sheet.headed(after) is not None or is_lead(sheet, after):
        return True
    kind, following = sheet.kind_at(first), sheet.kind_at(after)
    if {kind, following} <= {"paragraph", "item"} or kind == following:
        kinds = [{block.kind for block in sheet.blocks_at(line)} & {"item", "row"} for line in (first, after)]
        return kinds[0] != kinds[1] or (indent(sheet.row(first)) > 0 and indent(sheet.row(after)) == 0)
    return True
