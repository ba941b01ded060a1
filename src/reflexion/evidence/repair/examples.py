"""Examples that fail, taken out with their output block and the line that only announces them."""

from collections.abc import Iterator

from reflexion.evidence.repair.edits import Edit
from reflexion.evidence.repair.remove import cut
from reflexion.evidence.sheet import Sheet


def example_removal(sheet: Sheet, line: int) -> Iterator[Edit]:
    """The code block around a line, with its output block."""
    for example in sheet.claims.examples:
        outputs = [block for block in sheet.claims.blocks if block.line == example.output_line]
        last = max([example.end_line, *(block.end_line for block in outputs)])
        if example.line <= line <= last:
            yield cut(sheet, example.line, last)
            return
