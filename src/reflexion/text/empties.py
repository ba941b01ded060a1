"""Blocks with nothing in them: fences round nothing, and paragraphs of nothing but quotation marks or backticks."""

from reflexion.patterns import regex
from reflexion.text.blocks import Blocks, Fence, Line, scan

_OPENER = regex(r"(`{3,}|~{3,})([^`]*)$")
_MARKS = regex(r"[\s`\"'\u2018\u2019\u201c\u201d\u00b4]+")


def without_empty_blocks(text: str) -> str:
    """Take out what shows nothing; every other line stays, and stays in a block of its kind.

    Where fences do not pair up as they were meant, an empty one may be the end of one and the beginning of the next,
    so all of them stay. Those in lists and quotes stay as well.
    """
    blocks = scan(text)
    gone = {*_empty_fences(blocks), *_lone_marks(blocks)}
    if not gone:
        return text
    kept = [index for index in range(len(blocks.source)) if index not in gone]
    shorter = "\n".join(_spaced(blocks.source, kept))
    same = _shown(scan(shorter)) == _shown(blocks, gone)
    return shorter if same and not _joins_code(blocks, gone) else text


def _joins_code(blocks: Blocks, gone: set[int]) -> bool:
    """Whether indented code follows on something that goes, and could become one with the code above it."""
    after = gone
    while after := {line + 1 for line in after if line + 1 < len(blocks.source)} - gone:
        if any(blocks.lines[line].kind == "code" for line in after):
            return True
        after = {line for line in after if not blocks.source[line].strip()}
    return False


def _empty_fences(blocks: Blocks) -> list[int]:
    """The lines (from 0) of fences round nothing; that of a bare one which opens at the very end too."""
    if not all(_pairs_up(blocks, fence) for fence in blocks.fences):
        return []
    empty = [fence for fence in blocks.fences if not fence.depth and not fence.content.strip()]
    return [line for fence in empty for line in range(fence.start_line - 1, fence.end_line)]


def _pairs_up(blocks: Blocks, fence: Fence) -> bool:
    """Whether a fence is closed, or is nothing but a mark left over, and none begins inside that it would hide."""
    if not fence.closed:
        return not fence.info and not fence.depth and not fence.content.strip()
    opening = _OPENER.search(blocks.source[fence.start_line - 1])
    inner = (_OPENER.match(line.lstrip(" ")) for line in fence.content.split("\n"))
    return not any(one and one[2].strip() and opening and len(one[1]) >= len(opening[1]) for one in inner)


def _lone_marks(blocks: Blocks) -> list[int]:
    """The lines of paragraphs that are nothing but marks."""
    found: list[int] = []
    start = 0
    while start < len(blocks.lines):
        end = start
        while end < len(blocks.lines) and _is_paragraph(blocks.lines[end]):
            end += 1
        around = {line.kind for line in (*blocks.lines[max(0, start - 1) : start], *blocks.lines[end : end + 1])}
        alone = end > start and around <= {"blank", "fence", "heading", "rule"}
        if alone and _MARKS.fullmatch("\n".join(blocks.source[start:end])):
            found.extend(range(start, end))
        start = end + 1
    return found


def _is_paragraph(line: Line) -> bool:
    return line.kind == "text" and not line.depth


def _spaced(source: list[str], kept: list[int]) -> list[str]:
    """The lines that stay, with one blank line where something was taken out between two of them."""
    rows: list[str] = []
    last = -1
    for index in kept:
        is_gap = index > last + 1
        last = index
        if is_gap and rows and rows[-1].strip() and source[index].strip():
            rows.append("")
        if not (is_gap and not source[index].strip() and (not rows or not rows[-1].strip())):
            rows.append(source[index])
    return rows


def _shown(blocks: Blocks, gone: set[int] | frozenset[int] = frozenset()) -> list[tuple[str, Line]]:
    """The lines with text, each with its block."""
    rows = zip(blocks.source, blocks.lines, strict=True)
    return [(row, line) for index, (row, line) in enumerate(rows) if row.strip() and index not in gone]
