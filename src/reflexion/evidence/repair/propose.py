"""Which edits may mend a finding, the most conservative first. Whether one does is for ``verify`` to say."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches

from reflexion.evidence.claims import ConstantClaim, ParameterClaim
from reflexion.evidence.facts import Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.locate import find
from reflexion.evidence.messages import compare_message
from reflexion.evidence.repair.add import missing_exception, missing_key, missing_member, missing_parameter
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.examples import example_edits
from reflexion.evidence.repair.fences import closings, fenced, unwrapped
from reflexion.evidence.repair.remove import (
    block_removals,
    cut,
    removals,
    section_removal,
    sentence_removals,
)
from reflexion.evidence.repair.repeats import repeated_rows, repeats
from reflexion.evidence.repair.sections import missing_symbol, replaced_section
from reflexion.evidence.repair.signature import rewritten
from reflexion.evidence.repair.swap import became, quoted, swaps
from reflexion.evidence.repair.words import entry_head, kind_words, optionality, without_default, without_message
from reflexion.evidence.rules.names import Source, parameters_of
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.syntax import parse_module, source_of
from reflexion.text.data import DELIMITER

Proposer = Callable[[Sheet, Finding, Symbol | None], Iterator[Edit]]
_SIMILAR = 0.6
_MOST_NAMES = 40


def proposals(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """The edits for a finding; those that may take true words along (``rough``) come last."""
    symbol = sheet.source.symbols.get(finding.symbol) if sheet.source else None
    proposer = _PROPOSERS.get(finding.rule) or _PROPOSERS.get(finding.rule[0], _anything)
    yield from proposer(sheet, finding, symbol)
    yield from (replace(edit, rough=True) for edit in _rough(sheet, finding, symbol))


def _rough(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    """Whole pieces: the section from the facts, the smallest block taken out, the section taken out."""
    line = min(finding.line, sheet.last_line)
    if symbol is not None and sheet.source is not None:
        called = symbol if symbol.kind in {"function", "method", "class", "property"} else sheet.source.owner(symbol)
        yield from replaced_section(sheet, called, line) if called else missing_symbol(sheet, symbol)
    yield from block_removals(sheet, line)
    yield cut(sheet, line, line)
    section = sheet.section_at(line)
    if section is not None and section.level > 1:
        yield cut(sheet, section.line, section.end_line)


def _anything(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from swaps(sheet, finding)
    yield from removals(sheet, finding)


def _missing_symbol(sheet: Sheet, _: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    yield from missing_symbol(sheet, symbol) if symbol else ()


def _phantom_symbol(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    """The name of a symbol that the page lacks, if it is alike; else the section, the lead and more, the piece."""
    if sheet.page is not None:
        last = finding.stated.removesuffix("()").rpartition(".")[2]
        for symbol in sheet.meant_by(last):
            yield from _renamed(sheet, finding.line, last, symbol.name)
    yield from section_removal(sheet, finding.line)
    if sheet.headed(finding.line) is None:
        yield from _led_removal(sheet, finding)
    yield from removals(sheet, finding)


def _renamed(sheet: Sheet, line: int, old: str, new: str) -> Iterator[Edit]:
    """A name in its section, then everywhere, as another one."""
    section = sheet.section_at(line)
    areas = [(sheet.start(section.line), sheet.end(section.end_line))] if section else []
    for start, end in (*areas, (0, len(sheet.text))):
        hits = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", sheet.text[start:end]))[:_MOST_NAMES]
        changes = tuple(Change(start + hit.start(), start + hit.end(), new) for hit in hits)
        if changes:
            yield Edit(changes, became(old, new), uncovers=True)


def _led_removal(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """A bold lead such as ``**name(x)**`` with all up to the next lead or heading."""
    block = sheet.blocks_at(finding.line)[-1:]
    section = sheet.section_at(finding.line)
    if not block or block[0].kind != "paragraph" or not re.match(r"\s*(?:\*\*|`)", sheet.row(block[0].line)):
        return
    last = section.end_line if section else sheet.last_line
    leads = [
        one.line for one in sheet.claims.symbols if one.where in {"bold", "heading"} and one.line > block[0].end_line
    ]
    leads += [one.line for one in sheet.claims.signatures if one.where == "bold" and one.line > block[0].end_line]
    yield cut(sheet, block[0].line, min([*(line - 1 for line in leads), last]))


def _value(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    if symbol is not None and sheet.source is not None:
        yield from swaps(sheet, finding, actual=_as_written(sheet.source, symbol, finding.actual))
    yield from swaps(sheet, finding)
    yield from removals(sheet, finding)


def _as_written(source: Source, symbol: Symbol, value: str) -> str:
    """A value as the line of the source has it: ``10_000`` rather than ``10000``; empty where that is not certain."""
    line = source.lines[symbol.line - 1].strip() if 0 < symbol.line <= len(source.lines) else ""
    tree = parse_module(line)
    node = tree.body[0] if tree is not None and tree.body else None
    given = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if given is None or source_of(given) != value:
        return ""
    return ast.get_source_segment(line, given) or ""


def _member(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    if not finding.stated:
        yield from missing_member(sheet, symbol) if symbol else ()
        return
    claims: tuple[ConstantClaim | ParameterClaim, ...] = (*sheet.claims.constants, *sheet.claims.parameters)
    said = {one.name.rpartition(".")[2] for one in claims}
    names = [one.name for one in symbol.members if one.name not in said] if symbol else []
    for name in get_close_matches(finding.stated, names, n=1, cutoff=_SIMILAR):
        yield from swaps(sheet, finding, actual=name)
    yield from removals(sheet, finding)


def _base(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from swaps(sheet, finding)
    end = sheet.end(sheet.block_at(finding.line).end_line)
    for hit in find(sheet.text, sheet.start(finding.line), end, finding.stated):
        around = re.compile(rf"\(\s*{re.escape(finding.stated)}\s*\)|,?\s*`?{re.escape(finding.stated)}`?")
        found = around.search(sheet.text, max(0, hit.start - 4), end)
        if found:
            yield Edit((Change(found.start(), found.end(), ""),), became(found[0], "nothing"))
    yield from removals(sheet, finding)


def _missing_parameter(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    yield from missing_parameter(sheet, finding, symbol) if symbol else ()


def _phantom_parameter(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    """The name of a parameter that the list lacks, if it is alike; else the entry taken out."""
    if symbol is not None and sheet.page is not None:
        listed = {entry.name for entry in sheet.page.entries.get(symbol.qualname, [])}
        names = [name for name in parameters_of(symbol) if name not in listed]
        for name in get_close_matches(finding.stated, names, n=1, cutoff=_SIMILAR):
            yield from swaps(sheet, finding, actual=name)
    yield from removals(sheet, finding)


def _wrong_detail(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    """A default, a type or what is returned: in the signature, in the list, in the words."""
    if symbol is not None:
        yield from rewritten(sheet, finding, symbol)
        yield from optionality(sheet, finding, symbol)
    yield from without_default(sheet, finding)
    yield from swaps(sheet, finding)
    if symbol is not None:
        yield from entry_head(sheet, finding, symbol)
    yield from removals(sheet, finding)


def _kind(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    if symbol is not None:
        yield from rewritten(sheet, finding, symbol)
    yield from kind_words(sheet, finding)
    yield from removals(sheet, finding)


def _signature(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    if symbol is not None:
        yield from rewritten(sheet, finding, symbol)
    yield from removals(sheet, finding)


def _missing_exception(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    yield from missing_exception(sheet, finding, symbol) if symbol else ()


def _wrong_exception(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    yield from swaps(sheet, finding)
    yield from sentence_removals(sheet, finding.line, finding.stated)
    yield from removals(sheet, finding)


def _message(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    """A message of the same type that the section does not quote yet, the real one, or none."""
    for message in _unsaid_messages(sheet, finding, symbol) if symbol else ():
        yield from swaps(sheet, finding, actual=message)
    yield from swaps(sheet, finding)
    yield from without_message(sheet, finding)
    yield from removals(sheet, finding)


def _unsaid_messages(sheet: Sheet, finding: Finding, symbol: Symbol) -> list[str]:
    """Messages of exactly the type that is quoted wrongly and not told yet, those most like the quote first."""
    claims = sheet.page.raises.get(symbol.qualname, []) if sheet.page else []
    quoting = {claim.type.rpartition(".")[2] for claim in claims if claim.message == finding.stated}
    quoted = [one for one in symbol.raises if one.type.rpartition(".")[2] in quoting and one.message]
    told = [claim.message or "" for claim in claims]
    unsaid = [one for one in quoted if all(compare_message(words, one) != "same" for words in told if words)]
    messages = list(dict.fromkeys(one.message or "" for one in unsaid))
    return sorted(messages, key=lambda text: -SequenceMatcher(None, finding.stated, text).ratio())


def _denial(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    """The denial taken out; where nothing else tells of the exception, with the exception in its place."""
    taken = list(sentence_removals(sheet, finding.line, finding.stated))
    yield from taken
    for one in dict.fromkeys(raised.type for raised in symbol.raises) if symbol else ():
        for added in missing_exception(sheet, replace(finding, actual=one), symbol) if symbol else ():
            for edit in taken[:1]:
                yield Edit((*edit.changes, *added.changes), f"{edit.what}; {added.what}")
    yield from removals(sheet, finding)


def _keys(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from swaps(sheet, finding)
    yield from missing_key(sheet, finding) if not finding.stated else ()
    if finding.stated:
        end = sheet.end(sheet.block_at(finding.line).end_line)
        for found in re.finditer(rf",?\s*`[\"']?{re.escape(finding.stated)}[\"']?`", sheet.text[:end]):
            if found.end() > sheet.start(finding.line):
                yield Edit((Change(found.start(), found.end(), ""),), became(found[0], "nothing"))
        yield from removals(sheet, finding)


def _history(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from _own_line(sheet, finding)
    yield from section_removal(sheet, finding.line)
    yield from removals(sheet, finding)


def _own_line(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """A line such as ``**Version:** 1.0``, which has no full stop to end its sentence."""
    if re.match(r"\W*\w[\w ]{0,30}\W*:", sheet.row(finding.line)) and sheet.kind_at(finding.line) == "paragraph":
        yield cut(sheet, finding.line, finding.line)


def _text(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from removals(sheet, finding, finding.evidence)
    yield from block_removals(sheet, finding.line, rough=False)


def _leak(sheet: Sheet, finding: Finding, symbol: Symbol | None) -> Iterator[Edit]:
    """A delimiter of the prompt goes alone where other words stand on its line, else with the line."""
    row, start = sheet.row(finding.line), sheet.start(finding.line)
    echoes = list(DELIMITER.finditer(row))
    if echoes and re.search(r"\w", DELIMITER.sub("", row)) is None:
        yield cut(sheet, finding.line, finding.line)
    elif echoes:
        changes = tuple(_without(row, start, echo) for echo in echoes)
        yield Edit(changes, f"{quoted(echoes[0][0])} is gone")
    yield from _text(sheet, finding, symbol)


def _without(row: str, start: int, echo: re.Match[str]) -> Change:
    """Take an echo out with the blanks before it; at the front of a line, with those after it."""
    before = len(row[: echo.start()].rstrip(" "))
    if before:
        return Change(start + before, start + echo.end(), "")
    after = len(row) - len(row[echo.end() :].lstrip(" "))
    return Change(start + echo.start(), start + after, "")


def _repetition(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from repeats(sheet, finding)
    yield from removals(sheet, finding)
    yield from repeated_rows(sheet)


def _fence(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from closings(sheet, finding)


def _ending(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    if sheet.row(finding.line).lstrip().startswith("<!--"):
        yield cut(sheet, finding.line, sheet.last_line)
    yield from removals(sheet, finding)


def _bare_code(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from fenced(sheet, finding)


def _wrapper(sheet: Sheet, _: Finding, __: Symbol | None) -> Iterator[Edit]:
    yield from unwrapped(sheet)


def _example(sheet: Sheet, finding: Finding, _: Symbol | None) -> Iterator[Edit]:
    yield from example_edits(sheet, finding)
    yield from swaps(sheet, finding)
    yield from removals(sheet, finding)


_PROPOSERS: dict[str, Proposer] = {
    "S101": _missing_symbol,
    "S102": _phantom_symbol,
    "S103": _value,
    "S104": _member,
    "S105": _base,
    "P201": _missing_parameter,
    "P203": _phantom_parameter,
    "P204": _wrong_detail,
    "P205": _wrong_detail,
    "P206": _kind,
    "P207": _signature,
    "E301": _missing_exception,
    "E303": _wrong_exception,
    "E304": _message,
    "E306": _denial,
    "R401": _wrong_detail,
    "R402": _keys,
    "H": _history,
    "T": _text,
    "T003": _repetition,
    "T004": _fence,
    "T005": _ending,
    "T007": _leak,
    "T008": _wrapper,
    "T009": _bare_code,
    "X": _example,
}
