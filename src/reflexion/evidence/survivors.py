"""What a page says beyond the facts, piece by piece, each under the symbol that it is about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reflexion.evidence.claims import Block, ConstantClaim, ParameterClaim, RaiseClaim, ReturnClaim
from reflexion.evidence.facts import Symbol
from reflexion.evidence.listed import cells, columns, entry_lines, is_entry, is_lead
from reflexion.evidence.locate import bare, find, sentences
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.words import role_of

PieceKind = Literal["prose", "heading", "note", "parameter", "value", "returns", "raises", "example"]
_LIST_MARK = re.compile(r"^\s*(?:>\s?)*(?:[-*+]|\d{1,9}[.)])\s+")
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that a page says, as Markdown in ``text``.

    ``symbol`` is the qualified name it is under, or empty for the page as a whole. ``key`` is the parameter, member or
    constant that it is about, or an exception's type. Pieces of one paragraph have the same ``group``, the paragraph's
    line. ``late`` is True of what the page as a whole says behind its first symbol.
    """

    symbol: str
    kind: PieceKind
    key: str
    text: str
    group: int
    late: bool = False
    message: str = ""


def collect(sheet: Sheet) -> list[Piece]:
    """Every piece of the page, in its order; none from a page without facts."""
    reader = _Reader(sheet)
    return [piece for block in reader.outer_blocks() for piece in reader.pieces(block) if piece.text.strip()]


class _Reader:
    """Reads the blocks of one page."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.about = _owners(sheet)
        self.first = min(self.about, default=len(sheet.lines))
        claims = sheet.claims
        self.parameters: dict[int, list[ParameterClaim]] = {}
        for parameter in claims.parameters:
            if parameter.list_id >= 0:
                self.parameters.setdefault(parameter.line, []).append(parameter)
        self.raises: dict[int, RaiseClaim] = {claim.line: claim for claim in reversed(claims.raises)}
        self.returns: dict[int, ReturnClaim] = {claim.line: claim for claim in reversed(claims.returns)}
        self.constants: dict[int, ConstantClaim] = {claim.line: claim for claim in reversed(claims.constants)}
        self.signed = {claim.line for claim in claims.signatures}
        self.done = 0

    def outer_blocks(self) -> Iterator[Block]:
        """The blocks that lie in no other, and the rows of tables in their place."""
        last = 0
        for block in self.sheet.claims.blocks:
            if block.line > last and block.kind != "table":
                yield block
                last = block.end_line

    def pieces(self, block: Block) -> Iterator[Piece]:
        """The pieces of one block."""
        if block.end_line <= self.done:
            return
        if block.kind == "heading":
            yield from self._heading(block)
        elif block.kind == "fence":
            yield from self._fence(block)
        elif block.kind == "row":
            yield from self._row(block.line)
        elif block.kind in {"paragraph", "item"}:
            yield from self._words(block)

    def _piece(self, line: int, kind: PieceKind, text: str, key: str = "", message: str = "") -> Piece:
        symbol = self.about.get(line)
        return Piece(
            symbol.qualname if symbol else "",
            kind,
            key,
            text.strip(),
            line,
            symbol is None and line > self.first,
            message,
        )

    def _heading(self, block: Block) -> Iterator[Piece]:
        title = self.sheet.row(block.line).strip().strip("#").strip()
        is_top = bool(self.sheet.sections) and self.sheet.sections[0].line == block.line
        if is_top and self.sheet.sections[0].level == 1:
            yield Piece("", "heading", "title", title, block.line)
        elif block.line not in self.sheet.starts and role_of(title) is None:
            yield self._piece(block.line, "heading", title)

    def _fence(self, block: Block) -> Iterator[Piece]:
        """Code that is no signature, with the output block that belongs to it."""
        lines = range(block.line, block.end_line + 1)
        example = next((one for one in self.sheet.claims.examples if one.line == block.line), None)
        if example is None and any(line in self.signed for line in lines):
            return
        last = block.end_line
        if example is not None and example.output_line:
            last = max(last, self.sheet.block_at(example.output_line).end_line)
        self.done = last
        yield self._piece(block.line, "example", "\n".join(self.sheet.lines[block.line - 1 : last]))

    def _row(self, line: int) -> Iterator[Piece]:
        """The words of a row, under what its other cells name; a row that names nothing as it is."""
        if not any(block.line < line - 1 for block in self.sheet.blocks_at(line) if block.kind == "table"):
            return
        header, there = columns(self.sheet, line), cells(self.sheet.row(line))
        pairs = list(zip(header, there, strict=False))
        words = " ".join(cell for column, cell in pairs if column == "words" and cell.strip("- \u2013\u2014"))
        name = bare(there[0], 0, len(there[0]))[0].strip().lstrip("*") if there else ""
        if line in self.parameters:
            yield self._piece(line, "parameter", words, self.parameters[line][0].name)
        elif line in self.raises:
            yield self._piece(line, "raises", words, self.raises[line].type, self.raises[line].message or "")
        elif line in self.constants:
            yield self._piece(line, "value", words, self.constants[line].name.rpartition(".")[2])
        elif line in self.sheet.starts or not words:
            yield self._piece(line, "prose", words)
        else:
            yield self._piece(line, "note", f"- {name}: {words}" if name and name not in words else f"- {words}")

    def _words(self, block: Block) -> Iterator[Piece]:
        """An item or a paragraph: entries, and the sentences between them."""
        line = block.line
        rest: list[int] = []
        while line <= block.end_line:
            found = self._entry(line, block)
            if found is None and not (line in self.signed and line == block.line):
                rest.append(line)
            last = entry_lines(self.sheet, line)[1] if found else line
            yield from found or ()
            line = max(line, last) + 1
        yield from self._sentences(block, rest)

    def _entry(self, line: int, block: Block) -> list[Piece] | None:
        """The pieces of the entry that begins at a line; None where it is part of a sentence."""
        sheet = self.sheet
        starts = line == block.line and (block.kind == "item" or re.match(r"\s*[*`]", sheet.row(line)) is not None)
        listed = starts or is_entry(sheet, line) or sheet.row(line).startswith(":")
        if line in self.parameters:
            return [self._piece(line, "parameter", one.text, one.name) for one in self.parameters[line]]
        if line in self.raises and listed:
            claim = self.raises[line]
            return [self._piece(line, "raises", _after_message(claim), claim.type, claim.message or "")]
        if line in self.returns and (listed or _leads(sheet, line)):
            return [self._piece(line, "returns", _after_type(self.returns[line]))]
        if line in self.constants and starts:
            return [self._piece(line, "value", self._after_value(line), self.constants[line].name.rpartition(".")[2])]
        if line in sheet.starts and starts:
            return [] if block.kind == "paragraph" else [self._piece(line, "prose", self._after_name(line))]
        return [] if is_lead(sheet, line) and role_of(sheet.row(line).strip("*_: #-")) else None

    def _after_value(self, line: int) -> str:
        first, last = entry_lines(self.sheet, line)
        text = self.sheet.text[self.sheet.start(first) : self.sheet.end(last)]
        hits = find(text, 0, len(text), self.constants[line].value or "")
        return text[hits[0].end :].lstrip("`*)_,:;.- \n\u2013\u2014") if hits else ""

    def _after_name(self, line: int) -> str:
        first, last = entry_lines(self.sheet, line)
        text = self.sheet.text[self.sheet.start(first) : self.sheet.end(last)]
        found = re.match(r"\s*(?:[-*+]|\d+[.)])\s+[*_]*(?:`[^`]*`|\w+)[*_]*\s*[:\u2013\u2014-]\s*", text)
        return text[found.end() :] if found else ""

    def _sentences(self, block: Block, lines: list[int]) -> Iterator[Piece]:
        """The sentences of what is left of a block; of an item with more than words, the whole."""
        rows = [self.sheet.row(line) for line in lines]
        if not rows:
            return
        if block.kind == "item" or _QUOTE_MARK.match(rows[0]):
            yield self._piece(block.line, "note", "\n".join(rows))
            return
        text = "\n".join(row.strip().removeprefix(": ") for row in rows)
        for start, end in sentences(text, 0, len(text)):
            piece = self._piece(lines[0], "prose", text[start:end])
            yield Piece(piece.symbol, "prose", "", piece.text, block.line, piece.late)


def _owners(sheet: Sheet) -> dict[int, Symbol]:
    """For each line the symbol under which it stands; inner ones win."""
    owners: dict[int, Symbol] = {}
    symbols = sheet.source.symbols.values() if sheet.source else ()
    kinds = {"function", "method", "class", "property"}
    for symbol in sorted((one for one in symbols if one.kind in kinds), key=lambda one: one.qualname.count(".")):
        section = sheet.own_section(symbol)
        if section is not None:
            owners.update(dict.fromkeys(range(section.line, section.end_line + 1), symbol))
    return owners


def _leads(sheet: Sheet, line: int) -> bool:
    """Whether a line begins with a label such as "Returns:"."""
    label = re.match(r"[\s*_>]*([A-Za-z ]{2,20})[*_]*\s*(?::|`)", sheet.row(line))
    return label is not None and role_of(label[1].strip()) is not None


def _after_type(claim: ReturnClaim) -> str:
    text = re.sub(r"^\W*(?:[Rr]eturns?|[Yy]ields?)\b[\s:*]*(?=`)", "", claim.text)
    hits = find(text, 0, min(len(text), 200), claim.type) if claim.type else []
    if not hits or text[: hits[0].start].strip("`*_ (-"):
        return text
    return text[hits[0].end :].lstrip("`*_),:;- \u2013\u2014")


def _after_message(claim: RaiseClaim) -> str:
    text = re.sub(rf"^`?{re.escape(claim.type)}`?[\s:,\u2013\u2014-]*", "", claim.text)
    hits = find(text, 0, len(text), claim.message) if claim.message else []
    if not hits:
        return text
    before = re.sub(r"\b(?:with|the|a|message|error|exact|saying|says)\b|[`\"'(:,\s]", "", text[: hits[0].start])
    after = text[hits[0].end :].lstrip("`\"'\u201d)*_,:;. \u2013\u2014")
    return after if not before else text
