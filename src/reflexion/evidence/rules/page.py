"""Page: a document read once for all text rules, with the line numbers of everything."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules.rule import Rule
from reflexion.patterns import regex
from reflexion.text.blocks import Fence, Line, scan
from reflexion.text.thinking import code_spans

_ITEM = regex(r"[\s>]*(?:[-+*]|\d{1,9}[.)])(?:\s+|$)")
_MOST_EVIDENCE = 300


class Paragraph(NamedTuple):
    """A paragraph outside of lists and quotes; lines count from 1, both ends included."""

    line: int
    rows: tuple[str, ...]

    @property
    def end_line(self) -> int:
        """Line of its last row."""
        return self.line + len(self.rows) - 1

    @property
    def text(self) -> str:
        """Its rows as they stand."""
        return "\n".join(self.rows)

    def line_of(self, part: str) -> int:
        """Line on which ``part`` of the text begins."""
        return self.line + self.text.count("\n", 0, max(0, self.text.rfind(part)))


@dataclass(frozen=True, slots=True)
class Page:
    """A scanned document.

    ``lines`` are its lines, ``kinds`` what they are, ``prose`` the lines with inline code blanked out. ``items`` are
    list items with their line, without the marker. ``first`` and ``last`` are the first and last line with content;
    an HTML comment at the end does not count as content.
    """

    text: str
    lines: list[str]
    layout: list[Line]
    prose: list[str]
    fences: list[Fence]
    first: int
    last: int
    paragraphs: list[Paragraph] = field(default_factory=list)
    items: list[tuple[int, str]] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """The kind of each line."""
        return [line.kind for line in self.layout]

    def kind_at(self, number: int) -> str:
        """The kind of line ``number``."""
        return self.layout[number - 1].kind

    def line_with(self, row: str) -> int:
        """The first line that is ``row``, but for white space round it."""
        return next((number for number, line in enumerate(self.lines, start=1) if line.strip() == row), self.first)


def read_page(document: str) -> Page:
    """Scan ``document``; line numbers are those of its own lines, whatever ends them."""
    text = document.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    blocks = scan(text)
    filled = [number for number, line in enumerate(blocks.source, start=1) if line.strip()]
    content = [number for number in filled if blocks.lines[number - 1].kind != "html"] or filled
    prose = _without_inline_code(text).removesuffix("\n").split("\n") if text else []
    first, last = (content[0], content[-1]) if content else (1, 1)
    page = Page(text, blocks.source, blocks.lines, prose, blocks.fences, first, last)
    page.paragraphs.extend(_paragraphs(page))
    page.items.extend(
        (number, source[marker.end() :] if (marker := _ITEM.match(source)) else source)
        for number, (source, line) in enumerate(zip(page.lines, page.layout, strict=True), start=1)
        if line.opens and line.kind in ("text", "blank")
    )
    return page


def found(rule: Rule, level: Level, line: int, message: str, evidence: str, fix: str) -> Finding:
    """Make a finding of ``rule``; evidence is cut to a length that fits a report and a prompt."""
    return Finding(rule.code, level, line, message, evidence.strip()[:_MOST_EVIDENCE], fix)


def _paragraphs(page: Page) -> list[Paragraph]:
    paragraphs: list[Paragraph] = []
    rows: list[str] = []
    for index, line in enumerate([*page.layout, Line("blank", 0, opens=False)]):
        if line.kind == "text" and not line.depth:
            rows.append(page.lines[index])
        elif rows:
            paragraphs.append(Paragraph(index - len(rows) + 1, tuple(rows)))
            rows = []
    return paragraphs


def _without_inline_code(text: str) -> str:
    """Blank out code, keeping every line end where it is."""
    pieces: list[str] = []
    position = 0
    for start, end in code_spans(text):
        pieces.append(text[position:start])
        pieces.append(re.sub(r"[^\n]", " ", text[start:end]))
        position = max(position, min(end, len(text)))
    pieces.append(text[position:])
    return "".join(pieces)
