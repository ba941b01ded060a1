"""Whole sections from the facts: for a symbol that the page lacks, or in place of one that nothing smaller mends."""

import re
from collections.abc import Iterator

from reflexion.evidence.assemble import section, told_of
from reflexion.evidence.facts import Symbol
from reflexion.evidence.locate import code
from reflexion.evidence.repair.add import insertion
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.rules.context import needs_page
from reflexion.evidence.sheet import Section, Sheet
from reflexion.evidence.survivors import collect

_DEEPEST = 6


def missing_symbol(sheet: Sheet, symbol: Symbol) -> Iterator[Edit]:
    """The symbol's section behind those of its siblings, with its members; a constant beside other constants."""
    if symbol.kind in {"constant", "field", "enum member"}:
        yield from _missing_value(sheet, symbol)
        return
    for after, level in _places(sheet, symbol):
        lines = section_lines(symbol, level)
        gap = [] if after == 0 or sheet.is_blank(after) else [""]
        edit = insertion(sheet, after, [*gap, *lines], symbol.line)
        yield Edit(edit.changes, f"a section for {code(symbol.qualname)} was added")


def section_lines(symbol: Symbol, level: int) -> list[str]:
    """The section of a symbol and of its members that have one, its heading at ``level``."""
    lines = [line for one in _sectioned(symbol) for line in section(one)]
    shift = level - (2 + symbol.qualname.count("."))
    fenced = False
    shifted = []
    for line in lines:
        fenced = fenced != line.startswith("```")
        marks = re.match(r"#{1,6}(?= )", line) if not fenced else None
        depth = min(_DEEPEST, max(1, len(marks[0]) + shift)) if marks else 0
        shifted.append("#" * depth + line[len(marks[0]) :] if marks else line)
    return shifted


def _sectioned(symbol: Symbol) -> Iterator[Symbol]:
    yield symbol
    for member in symbol.members:
        if needs_page(member) and member.kind not in {"constant", "enum member", "field"}:
            yield from _sectioned(member)


def _places(sheet: Sheet, symbol: Symbol) -> Iterator[tuple[int, int]]:
    """Lines behind which the section may come, with the level of its heading: the likeliest first."""
    source = sheet.source
    if source is None:
        return
    owner = source.owner(symbol)
    around = sheet.whole_section(owner) if owner else None
    siblings = owner.members if owner else source.facts.symbols
    found = [(one, place) for one in siblings if one is not symbol and (place := _headed(sheet, one))]
    before = [place for one, place in found if one.line < symbol.line]
    after = [place for one, place in found if one.line > symbol.line]
    if before:
        yield before[-1].end_line, before[-1].level
    if after:
        yield after[0].line - 1, after[0].level
    if around is not None and around.level:
        yield around.end_line, min(_DEEPEST, around.level + 1)
    yield sheet.last_line, 2 + symbol.qualname.count(".")


def _headed(sheet: Sheet, symbol: Symbol) -> Section | None:
    """The section under a symbol's own heading."""
    whole = sheet.whole_section(symbol)
    return whole if whole is not None and whole.level > 1 else None


def _missing_value(sheet: Sheet, symbol: Symbol) -> Iterator[Edit]:
    """A sentence below the title: ``LIMIT`` is `10`."""
    value = f" is {code(symbol.value)}" if symbol.value and "\n" not in symbol.value else " is a constant"
    lines = [f"{code(symbol.qualname)}{value}.", ""]
    listed = [claim.line for claim in sheet.claims.constants if claim.subject is None]
    if listed:
        block = sheet.blocks_at(listed[-1])[-1]
        yield insertion(sheet, block.end_line, ["", *lines[:1]], symbol.line)
    first = sheet.sections[1].line - 1 if len(sheet.sections) > 1 else sheet.last_line
    gap = [] if first == 0 or sheet.is_blank(first) else [""]
    yield insertion(sheet, first, [*gap, *lines], symbol.line)


def replaced_section(sheet: Sheet, symbol: Symbol, line: int) -> Iterator[Edit]:
    """The symbol's own part of the page from the facts, with what else it says; else a new section beside it.

    What stands in the block around ``line``, or all of it, is left out where it cannot stay.
    """
    own = sheet.own_section(symbol)
    said = f"the section of {code(symbol.qualname)} was written from the source"
    if own is not None and own.level > 1:
        pieces = [piece for piece in collect(sheet) if piece.symbol == symbol.qualname]
        around = sheet.block_at(line)
        rows = [row for row in range(own.line, own.end_line + 1) if sheet.is_kept(row)]
        comments = [text for row in rows for text in (sheet.row(row), "")]
        others = [piece for piece in pieces if not around.line <= piece.group <= around.end_line]
        for kept in (pieces, others, []):
            lines = section(symbol, told_of(kept, symbol))
            text = "\n".join(["#" * own.level + lines[0].lstrip("#"), "", *comments, *lines[2:]]).rstrip("\n")
            yield Edit((Change(sheet.start(own.line), sheet.end(own.end_line), text),), said, rough=True)
    yield from (Edit(edit.changes, said, rough=True) for edit in missing_symbol(sheet, symbol))
