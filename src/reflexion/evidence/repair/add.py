"""Additions to lists: a parameter, an exception or a member that is missing, written like the entries beside it."""

import re
from collections.abc import Iterator

from reflexion.evidence.claims import ConstantClaim, ParameterClaim, RaiseClaim
from reflexion.evidence.facts import Facts, Parameter, Raise, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.listed import columns, entry_lines, filler, indent, renamed, row_like
from reflexion.evidence.locate import code, find
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.swap import in_style
from reflexion.evidence.rules.names import parameters_of
from reflexion.evidence.rules.parameters import VARIADIC, starred
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.tables import Column
from reflexion.evidence.values import default_text

_MARKER = re.compile(r"^(?P<margin>\s*(?:>\s?)*)(?P<marker>(?:[-*+]|\d{1,9}[.)])\s+)")
_RAISE_LEAD = r"\s*(?:>\s?)*(?:(?:[-*+]|\d+[.)])\s+|:raises?\s+|:exception\s+)?[*`_]*"
_NAMES: tuple[Column, ...] = ("name", "parameter", "attribute", "member", "constant", "exception")


def missing_parameter(sheet: Sheet, finding: Finding, symbol: Symbol) -> Iterator[Edit]:
    """The parameter after the one that comes before it, in the style of the list; else in a list of its own."""
    known = parameters_of(symbol)
    parameter = known.get(finding.actual)
    if parameter is None or sheet.page is None:
        return
    parameter = _as_spelled(parameter, sheet.facts)
    order = list(known).index(parameter.name)
    entries = [one for one in sheet.page.entries.get(symbol.qualname, []) if one.list_id >= 0 and one.name in known]
    before = [one for one in entries if list(known).index(one.name) < order]
    if entries:
        sibling = max(before, key=lambda one: list(known).index(one.name)) if before else entries[0]
        first, last = entry_lines(sheet, sibling.line)
        at = last if before else first - 1
        for lines in _parameter_forms(sheet, sibling, parameter):
            yield insertion(sheet, at, lines, order)
    lines = ["", "**Parameters:**", "", f"- {_details(parameter)}"]
    yield from at_section_end(sheet, symbol, lines, order)


def _as_spelled(parameter: Parameter, facts: Facts | None) -> Parameter:
    """The parameter with type and default as the source spells them, not as ``ast`` prints them."""
    annotation = in_style(parameter.annotation, "", facts) if parameter.annotation else None
    plain = parameter.default is not None and not parameter.factory
    default = in_style(parameter.default or "", "", facts) if plain else parameter.default
    return parameter._replace(annotation=annotation, default=default)


def _parameter_forms(sheet: Sheet, sibling: ParameterClaim, parameter: Parameter) -> Iterator[list[str]]:
    row = sheet.row(sibling.line)
    margin = " " * indent(row)
    if sheet.kind_at(sibling.line) == "row":
        yield [_parameter_row(sheet, sibling, parameter)]
    elif marker := _MARKER.match(row):
        yield [f"{marker[0]}{_head(row[marker.end() :], sibling.name, parameter)}"]
    elif row.lstrip().startswith(":"):
        yield from _field_forms(parameter, margin)
    elif sheet.row(sibling.line + 1).lstrip().startswith(": "):
        head = f"{margin}{_head(row.strip(), sibling.name, parameter)}"
        gap = [""] if sheet.is_blank(sibling.line - 1) else []
        yield [*gap, head, f"{margin}: {_said(parameter)}"]
    elif re.match(rf"\s*\**{re.escape(sibling.name)}\s+:\s", row):
        yield [f"{margin}{starred(parameter)} : {parameter.annotation or 'object'}", f"{margin}    {_said(parameter)}"]
    elif indent(row):
        typed = f" ({parameter.annotation})" if parameter.annotation else ""
        yield [f"{margin}{starred(parameter)}{typed}: {_said(parameter)}"]
    else:
        yield [f"{margin}{_head(row.strip(), sibling.name, parameter)}: {_said(parameter)}"]


def _field_forms(parameter: Parameter, margin: str) -> Iterator[list[str]]:
    typed = [f"{margin}:type {parameter.name}: {parameter.annotation}"] if parameter.annotation else []
    yield [f"{margin}:param {parameter.name}: {_said(parameter)[:1].lower()}{_said(parameter)[1:-1]}", *typed]


def _said(parameter: Parameter) -> str:
    """A sentence about the parameter that is true of it whatever it means."""
    default = default_text(parameter)
    if default is not None:
        return f"Defaults to {code(default)}."
    return "Any number." if parameter.kind in VARIADIC else "Required."


def _details(parameter: Parameter) -> str:
    """``name`` (`type`, default `value`)."""
    return _head("", "", parameter)


def _head(sibling: str, name: str, parameter: Parameter) -> str:
    """The parameter's name in the marks that the sibling's has, with type and default in brackets."""
    marks = re.match(rf"[*_`\\]*{re.escape(name)}[*_`]*", sibling) if name else None
    shown = renamed(marks[0], name, starred(parameter)) if marks else code(starred(parameter))
    default = default_text(parameter)
    parts = [code(parameter.annotation)] if parameter.annotation else []
    parts += [f"default {code(default)}"] if default is not None else []
    return f"{shown} ({', '.join(parts)})" if parts else shown


def _parameter_row(sheet: Sheet, sibling: ParameterClaim, parameter: Parameter) -> str:
    default = default_text(parameter)
    header = columns(sheet, sibling.line)
    missing = filler(sheet, sibling.line, header.index("default")) if "default" in header else "required"
    missing = "-" if parameter.kind in VARIADIC else missing
    needed = default is None and parameter.kind not in VARIADIC

    def write(column: Column, cell: str) -> str:
        if column in _NAMES:
            return renamed(cell, sibling.name, starred(parameter))
        texts = {
            "type": code(parameter.annotation) if parameter.annotation else "-",
            "default": code(default) if default is not None else missing,
            "required": "Yes" if needed else "No",
            "optional": "No" if needed else "Yes",
        }
        return texts.get(column, "")

    return row_like(sheet, sibling.line, write)


def missing_exception(sheet: Sheet, finding: Finding, symbol: Symbol) -> Iterator[Edit]:
    """The exception behind the last one of the section, in its style; in a sentence; in a list of its own."""
    told = [one for one in symbol.raises if one.type == finding.actual]
    own = [one for one in told if not one.through_public] or told
    raises = list({(one.type, one.message): one for one in own}.values())
    if sheet.page is None or not raises:
        return
    claims = sheet.page.raises.get(symbol.qualname, [])
    for claim in reversed(claims):
        first, last = entry_lines(sheet, claim.line)
        lines = [line for one in raises for line in _raise_form(sheet, claim, one, (first, last))]
        if lines:
            yield insertion(sheet, last, lines, raises[0].line)
            break
    yield from _raise_sentences(sheet, symbol, claims, raises)
    items = [f"- {raise_words(one)}" for one in raises]
    yield from at_section_end(sheet, symbol, ["", "**Raises:**", "", *items], raises[0].line)


def raise_words(one: Raise) -> str:
    """The exception with its message, as a piece of a sentence."""
    message = message_of(one)
    return f"{code(one.type)} with the message {code(chr(34) + message + chr(34))}" if message else code(one.type)


def message_of(one: Raise) -> str:
    """The message, where there is one that fits on a line."""
    message = one.message or ""
    return "" if "\n" in message or not message.strip() else message


def _raise_form(sheet: Sheet, claim: RaiseClaim, one: Raise, lines: tuple[int, int]) -> list[str]:
    """The lines of a new entry, cut to the sibling's pattern; none where the sibling is a sentence."""
    if sheet.kind_at(claim.line) == "row":
        return [row_like(sheet, claim.line, lambda column, cell: _raise_cell(sheet, claim, one, column, cell))]
    text = sheet.text[sheet.start(lines[0]) : sheet.end(lines[1])]
    name = rf"{re.escape(claim.type)}(?P<off>[*`_]*(?:\([^)]*\))?[*`_]*)"
    head = re.match(rf"(?P<lead>{_RAISE_LEAD}){name}", text)
    row = sheet.row(claim.line)
    listed = indent(row) > 0 or _MARKER.match(row) or row.startswith((":", "**", "`"))
    if head is None or not listed:
        return []
    gap = [""] if sheet.is_blank(lines[0] - 1) and "\n:" in text else []
    shown = f"{head['lead']}{one.type}{head['off'].split('(')[0]}"
    message = message_of(one)
    between = _between(text[head.end() :], claim.message or "")
    if not message:
        return [*gap, *(shown + (":" if head["lead"].lstrip().startswith(":") else "")).split("\n")]
    opening, closing = between if between and '"' not in message and "`" not in message else (": ", "")
    words = message if closing else code(f'"{message}"')
    return [*gap, *f"{shown}{opening}{words}{closing}".split("\n")]


def _between(rest: str, message: str) -> tuple[str, str] | None:
    """What stands between an exception and its message, and the marks that close the message."""
    hits = find(rest, 0, len(rest), message) if message else []
    if not hits:
        return None
    closing = re.match(r"[`\"'\u201d*_]+", rest[hits[0].end :])
    return (rest[: hits[0].start], closing[0]) if closing else None


def _raise_cell(sheet: Sheet, claim: RaiseClaim, one: Raise, column: Column, cell: str) -> str:
    if column == "exception" or (column in _NAMES and "exception" not in columns(sheet, claim.line)):
        return renamed(cell, claim.type.rpartition(".")[2], one.type)
    if column == "message":
        return code(message_of(one)) if message_of(one) else "-"
    alone = "message" not in columns(sheet, claim.line)
    is_last = columns(sheet, claim.line)[-1:] == [column]
    return (
        f"with the message {code(chr(34) + message_of(one) + chr(34))}" if alone and is_last and message_of(one) else ""
    )


def _raise_sentences(sheet: Sheet, symbol: Symbol, claims: list[RaiseClaim], raises: list[Raise]) -> Iterator[Edit]:
    """A sentence behind the paragraph that tells of other exceptions, or at the end of a short entry."""
    words = " ".join(f"It raises {raise_words(one)}." for one in raises)
    own = sheet.own_section(symbol)
    lines = [claim.line for claim in claims] or ([own.line] if own and own.level == 0 else [])
    for line in lines[-1:]:
        block = sheet.block_at(line)
        end = sheet.end(block.end_line)
        if block.kind == "row":
            end = sheet.text.rfind("|", sheet.start(line), end)
            end = len(sheet.text[:end].rstrip())
        if block.kind not in {"fence", "heading", "table"}:
            stop = "" if sheet.text[:end].rstrip("`*_ ")[-1:] in ".:!?" else "."
            yield Edit((Change(end, end, f"{stop} {words}", raises[0].line),), f"{code(raises[0].type)} was added")


def missing_member(sheet: Sheet, symbol: Symbol) -> Iterator[Edit]:
    """A member of an enumeration behind the one before it, in its style; else in a list of its own."""
    source = sheet.source
    owner = source.owner(symbol) if source else None
    if source is None or owner is None:
        return
    order = {member.name: place for place, member in enumerate(owner.members)}
    place = order.get(symbol.name, 0)
    claims: tuple[ConstantClaim | ParameterClaim, ...] = (*sheet.claims.constants, *sheet.claims.parameters)
    named = [(claim.line, claim.name.rpartition(".")[2]) for claim in claims]
    stated = [(line, name) for line, name in named if name in order]
    near = sorted(stated, key=lambda one: (order[one[1]] > place, abs(order[one[1]] - place)))
    for line, name in near[:1]:
        old = next(member for member in owner.members if member.name == name)
        first, last = entry_lines(sheet, line)
        at = last if order[name] < place else first - 1
        for lines in _member_forms(sheet, line, old, symbol):
            yield insertion(sheet, at, lines, symbol.line)
    value = f" = {code(in_style(symbol.value, '', sheet.facts))}" if symbol.value else ""
    yield from at_section_end(sheet, owner, ["", "**Members:**", "", f"- {code(symbol.name)}{value}"], symbol.line)


def _member_forms(sheet: Sheet, line: int, old: Symbol, new: Symbol) -> Iterator[list[str]]:
    value = in_style(new.value or "", "", sheet.facts)
    if sheet.kind_at(line) == "row":

        def write(column: Column, cell: str) -> str:
            if column in _NAMES:
                return renamed(cell, old.name, new.name)
            return (code(value) if value else "-") if column == "value" else ""

        yield [row_like(sheet, line, write)]
        return
    first, last = entry_lines(sheet, line)
    text = sheet.text[sheet.start(first) : sheet.end(last)]
    hits = find(text, 0, len(text), old.value or "") or find(text, 0, len(text), (old.value or "").replace("'", '"'))
    marker = _MARKER.match(text)
    if hits:
        closing = re.match(r"[`*_)]*", text[hits[0].end :])
        cloned = text[: hits[0].start].replace(old.name, new.name) + value + (closing[0] if closing else "")
        gap = [""] if sheet.is_blank(first - 1) and not marker else []
        yield [*gap, *cloned.split("\n")]
    yield [f"{marker[0] if marker else '- '}{code(new.name)} = {code(value)}" if value else f"- {code(new.name)}"]


def missing_key(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """A key behind the others that the finding's block lists."""
    for claim in sheet.claims.returns:
        if claim.line != finding.line or not claim.keys:
            continue
        last = max(sheet.block_at(claim.line).end_line, claim.line)
        section = sheet.section_at(claim.line)
        for stop in (last, section.end_line if section else last):
            for key in reversed(claim.keys):
                hits = find(sheet.text, sheet.start(claim.line), sheet.end(stop), key)
                for hit in hits[:2]:
                    end = hit.end + (1 if sheet.text[hit.end : hit.end + 1] == "`" else 0)
                    yield Edit((Change(end, end, f", {code(finding.actual)}"),), f"{code(finding.actual)} was added")


def insertion(sheet: Sheet, after: int, lines: list[str], order: int = 0) -> Edit:
    """New lines behind the line ``after``; before all where it is 0."""
    at = sheet.start(after + 1)
    text = "".join(f"{line}\n" for line in lines)
    shown = next((line for line in lines if line.strip()), "")
    return Edit((Change(at, at, text, order),), f"{code(' '.join(shown.split()))} was added")


def at_section_end(sheet: Sheet, symbol: Symbol, lines: list[str], order: int = 0) -> Iterator[Edit]:
    """New lines at the end of the part of the page that is about the symbol alone."""
    own = sheet.own_section(symbol)
    if own is None:
        return
    gap = [] if sheet.is_blank(own.end_line + 1) else [""]
    shown = next((line for line in lines if line.startswith("-")), lines[-1])
    edit = insertion(sheet, own.end_line, [*lines, *gap], order)
    yield Edit(edit.changes, f"{code(shown.removeprefix('- '))} was added")
