"""A page as repair sees it: lines and offsets, blocks, sections, and its claims beside the source."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from reflexion.evidence.claims import Block, Claims, SignatureClaim, SymbolClaim
from reflexion.evidence.document import read_claims
from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.rules.context import Page
from reflexion.evidence.rules.names import Source

_RULE = re.compile(r"\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$")
_KEPT = re.compile(r"^\s*<!--\s*reflexion\b.*-->\s*$", re.IGNORECASE)
_SIMILAR = 0.6
_SECTIONED = frozenset({"function", "method", "class", "property"})
_OPENERS = frozenset({"function", "method", "class", "property", "constant"})


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's lines, ``line`` to ``end_line``, both included, with all sections below it."""

    line: int
    end_line: int
    level: int


class Sheet:
    """``text`` (LF line ends, one at its end) read once. Lines count from 1. Nothing in it changes."""

    def __init__(self, text: str, facts: Facts | None) -> None:
        self.text = text
        self.facts = facts
        self.lines = text.split("\n")
        self.claims: Claims = read_claims(text)
        self.page = Page(self.claims, Source(facts)) if facts is not None else None

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for row in self.lines:
            starts.append(starts[-1] + len(row) + 1)
        return starts

    @property
    def source(self) -> Source | None:
        """The facts with look-ups, where there are any."""
        return self.page.source if self.page else None

    def start(self, line: int) -> int:
        """Offset of a line's first character; of the text's end for a line beyond it."""
        return min(self._starts[min(max(line, 1), len(self._starts)) - 1], len(self.text))

    def end(self, line: int) -> int:
        """Offset behind a line's last character, its line end left out."""
        return min(self.start(line) + len(self.row(line)), len(self.text))

    def row(self, line: int) -> str:
        """The text of a line; empty beyond the last."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def is_blank(self, line: int) -> bool:
        """Whether a line has nothing, or nothing but the marks of a quote."""
        return not self.row(line).strip(" \t>")

    def is_kept(self, line: int) -> bool:
        """Whether a line is a comment of ours, which no edit takes away."""
        return _KEPT.match(self.row(line)) is not None

    @cached_property
    def last_line(self) -> int:
        """The last line with content, comments of ours at the end left out."""
        last = len(self.lines)
        while last > 1 and (self.is_blank(last) or self.is_kept(last)):
            last -= 1
        return last

    def blocks_at(self, line: int) -> list[Block]:
        """The blocks that hold a line, the smallest first; an item before the paragraph that is all of it."""
        found = [block for block in self.claims.blocks if block.line <= line <= block.end_line]
        return sorted(found, key=lambda block: (block.end_line - block.line, block.kind == "paragraph"))

    def block_at(self, line: int) -> Block:
        """The smallest block that holds a line; the line itself where none does."""
        return next(iter(self.blocks_at(line)), Block(line, line, "paragraph"))

    def below(self, line: int) -> tuple[int, int] | None:
        """First and last line of what comes below the block around a line: a paragraph, a table, a list as a whole."""
        first = self.block_at(line).end_line + 1
        while first <= self.last_line and self.is_blank(first):
            first += 1
        if first > self.last_line or self.kind_at(first) in {"heading", "fence", "html"}:
            return None
        last = max(block.end_line for block in self.blocks_at(first)) if self.blocks_at(first) else first
        in_list = any(block.kind == "item" for block in self.blocks_at(first))
        while in_list and last < self.last_line and (self.is_blank(last + 1) or self._is_item(last + 1)):
            last += 1
        return first, last

    def _is_item(self, line: int) -> bool:
        return any(block.kind == "item" for block in self.blocks_at(line))

    def kind_at(self, line: int) -> str:
        """The kind of the smallest block around a line."""
        return self.block_at(line).kind

    @cached_property
    def in_fence(self) -> frozenset[int]:
        """Lines of code blocks, their marks included."""
        fences = (block for block in self.claims.blocks if block.kind == "fence")
        return frozenset(line for block in fences for line in range(block.line, block.end_line + 1))

    @cached_property
    def sections(self) -> list[Section]:
        """The sections of all headings outside of items and quotes, in order."""
        heads = [
            (block.line, _level(self.row(block.line), self.row(block.end_line)))
            for block in self.claims.blocks
            if block.kind == "heading" and not self.row(block.line).lstrip().startswith((">", "- ", "* "))
        ]
        found = []
        for place, (line, level) in enumerate(heads):
            following = (start for start, depth in heads[place + 1 :] if depth <= level)
            found.append(Section(line, next(following, self.last_line + 1) - 1, level))
        return found

    def section_at(self, line: int) -> Section | None:
        """The innermost section that holds a line."""
        return next((one for one in reversed(self.sections) if one.line <= line <= one.end_line), None)

    def headed(self, line: int) -> Section | None:
        """The section whose heading stands at a line."""
        return next((one for one in self.sections if one.line == line), None)

    @cached_property
    def starts(self) -> dict[int, Symbol]:
        """Lines at which the page begins to speak of a symbol, outside of code and tables."""
        if self.page is None:
            return {}
        found: dict[int, Symbol] = {}
        claims: tuple[SymbolClaim | SignatureClaim, ...] = (*self.claims.symbols, *self.claims.signatures)
        for claim in claims:
            symbol = self.page.source.resolve(claim.name, claim.subject)
            if symbol is not None and symbol.kind in _OPENERS and claim.where in {"heading", "bold", "list"}:
                found.setdefault(claim.line, symbol)
        return found

    def whole_section(self, symbol: Symbol) -> Section | None:
        """Where the page speaks of a symbol and its members: under its heading, or from its lead to the next one."""
        headed = [one for one in self.sections if self._opens(one.line, symbol)]
        if headed:
            return headed[0]
        line = self.page.documented.get(symbol.qualname) if self.page else None
        return self._led_section(line) if line else None

    def meant_by(self, name: str) -> list[Symbol]:
        """Symbols without a section of their own that an unknown name may mean, as it is like theirs: at most two."""
        known = self.page.source.symbols.values() if self.page else ()
        open_ = {one.name: one for one in known if one.kind in _SECTIONED and one.public and not self._has_heading(one)}
        begun = [one for one in sorted(open_) if len(one) > 2 and (name.startswith(one) or name.endswith(one))]
        alike = get_close_matches(name, sorted(open_), n=2, cutoff=_SIMILAR)
        return [open_[one] for one in dict.fromkeys([*begun, *alike])][:2]

    def _has_heading(self, symbol: Symbol) -> bool:
        whole = self.whole_section(symbol)
        return whole is not None and whole.level > 0

    def _opens(self, line: int, symbol: Symbol) -> bool:
        found = self.starts.get(line)
        return found is not None and found.qualname == symbol.qualname

    def _led_section(self, line: int) -> Section:
        block = next((one for one in reversed(self.blocks_at(line)) if one.kind != "heading"), self.block_at(line))
        around = self.section_at(line)
        last = around.end_line if around else self.last_line
        stops = [start for start in self.starts if start > block.line]
        stops += [one.line for one in self.sections if one.line > block.line]
        if block.kind in {"item", "row", "table"}:
            return Section(block.line, block.end_line, 0)
        return Section(block.line, self._trimmed(block.line, min([*(s - 1 for s in stops), last])), 0)

    def own_section(self, symbol: Symbol) -> Section | None:
        """The part of a symbol's section before the sections of its members."""
        whole = self.whole_section(symbol)
        if whole is None:
            return None
        inner = [
            one.line for one in self.sections if whole.line < one.line <= whole.end_line and one.line in self.starts
        ]
        last = min(inner) - 1 if inner else whole.end_line
        return Section(whole.line, self._trimmed(whole.line, last), whole.level)

    def _trimmed(self, first: int, last: int) -> int:
        """``last`` without blank lines, rulers and comments of ours at the end."""
        while last > first and (self.is_blank(last) or self.is_kept(last) or _RULE.match(self.row(last))):
            last -= 1
        return last


def _level(first: str, last: str) -> int:
    marks = re.match(r"\s{0,3}(#{1,6})(?:\s|$)", first)
    if marks:
        return len(marks[1])
    return 1 if last.strip().startswith("=") else 2
