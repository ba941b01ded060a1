"""Examples that fail: the stated output as it really is, else the statement or the whole example taken out."""

import re
from collections.abc import Iterator

from reflexion.evidence.finding import Finding
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.remove import cut
from reflexion.evidence.repair.swap import became, quoted
from reflexion.evidence.sheet import Sheet

_COMMENT = re.compile(r"[ \t]*#[^\n\"']*$")
_STATES = frozenset({"X603", "X604"})
_MOST_PLACES = 4


def example_edits(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """Edits of the example around the finding's line, the most conservative first."""
    yield from _swapped(sheet, finding)
    if finding.rule in _STATES and finding.line in sheet.in_fence:
        yield from _without_statement(sheet, finding.line)
    yield from example_removal(sheet, finding.line)


def _swapped(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """The stated text as the real one, to the letter, from the finding's line on; on that line the last first."""
    if not finding.stated or not finding.actual:
        return
    start, end = sheet.start(finding.line), sheet.end(sheet.block_at(finding.line).end_line)
    found = [start + hit.start() for hit in re.finditer(re.escape(finding.stated), sheet.text[start:end])]
    on_line = [at for at in found if at <= sheet.end(finding.line)]
    for at in (*reversed(on_line), *found[len(on_line) :][:_MOST_PLACES]):
        yield Edit((Change(at, at + len(finding.stated), finding.actual),), became(finding.stated, finding.actual))


def _without_statement(sheet: Sheet, line: int) -> Iterator[Edit]:
    """The comment that states what comes out, or the line that is nothing but that."""
    row = sheet.row(line)
    comment = _COMMENT.search(row)
    if comment is not None and row[: comment.start()].strip():
        start = sheet.start(line) + comment.start()
        yield Edit((Change(start, sheet.end(line), ""),), f"{quoted(comment[0].strip())} is gone")
    elif not row.lstrip().startswith((">>>", "...", "```", "~~~")):
        yield Edit((Change(sheet.start(line), sheet.start(line + 1), ""),), f"{quoted(row)} is gone")


def example_removal(sheet: Sheet, line: int) -> Iterator[Edit]:
    """The code block around a line, with its output block."""
    for example in sheet.claims.examples:
        outputs = [block for block in sheet.claims.blocks if block.line == example.output_line]
        last = max([example.end_line, *(block.end_line for block in outputs)])
        if example.line <= line <= last:
            yield cut(sheet, example.line, last)
            return
