"""Small edits in the words around what is wrong: kinds, defaults that do not exist, messages that nobody raises."""

import re
from collections.abc import Iterator

from reflexion.evidence.facts import Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.listed import cells, columns, entry_lines, filler
from reflexion.evidence.locate import code, find
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.swap import became, quoted
from reflexion.evidence.rules.names import parameters_of
from reflexion.evidence.rules.parameters import starred
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.values import default_text

_DEFAULT_BEFORE = re.compile(
    r"(?:\s*[,;]?\s*(?:and\s+)?(?:which\s+|it\s+|that\s+)?\(?(?:by\s+default|default(?:s|ing|ed)?(?:\s+value)?(?:\s+(?:to|is|of))?)"
    r"\s*[:=]?|\s*=)\s*[`\"'*]*$",
    re.IGNORECASE,
)
_MESSAGE_BEFORE = re.compile(
    r"[\s,:(\u2013\u2014-]*(?:(?:with|and|has|carries)\s+)?(?:the\s+)?(?:exact\s+)?(?:error\s+)?"
    r"(?:messages?|text|saying|says|reading)?[\s:]*[`\"'\u201c*(]*$",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[`\"'\u201d*]*")
_ASYNC = r"(?:async(?:hronous)?(?:\s+(?:function|method|generator))?|coroutine(?:\s+function)?)"
_MOST_PLACES = 6


def kind_words(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """The word for a kind, near the finding's line, as the word for the true one."""
    said = _ASYNC if "async" in finding.stated else rf"{re.escape(finding.stated)}(?:\s+that\s+is\s+called)?"
    said = said.replace(r"static\ method", r"(?:static\s*method)").replace(r"class\ method", r"(?:class\s*method)")
    below = sheet.below(finding.line)
    end = sheet.end(below[1] if below else sheet.block_at(finding.line).end_line)
    pattern = re.compile(rf"(?P<article>\b[Aa]n?\s+)?(?P<said>(?<![\w@]){said})(?![\w(])", re.IGNORECASE)
    for found in list(pattern.finditer(sheet.text, sheet.start(finding.line), end))[:_MOST_PLACES]:
        new = finding.actual.capitalize() if found["said"][0].isupper() else finding.actual
        article = found["article"] or ""
        if article:
            article = article[0] + ("n " if new[0].lower() in "aeiou" else " ")
        yield Edit((Change(found.start(), found.end(), f"{article}{new}"),), became(found[0], f"{article}{new}"))
    yield from _without_async(sheet, finding)


def _without_async(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """The word ``async`` before a name or a noun taken out."""
    if "async" not in finding.stated:
        return
    end = sheet.end(sheet.block_at(finding.line).end_line)
    for found in list(re.finditer(r"\b[Aa]sync(?:hronous)?\s+", sheet.text[sheet.start(finding.line) : end]))[:3]:
        start = sheet.start(finding.line) + found.start()
        yield Edit((Change(start, start + len(found[0]), ""),), '"async" is gone')


def without_default(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """The words that give a default to what has none taken out; in a table the cell says what others say there."""
    if finding.actual:
        return
    line = finding.line
    first, last = entry_lines(sheet, line)
    block = sheet.block_at(line)
    for hit in find(sheet.text, sheet.start(first), sheet.end(max(last, block.end_line)), finding.stated):
        start, end = _ticks(sheet.text, hit.start, hit.end)
        if block.kind == "row":
            new = _filler_at(sheet, line, start)
            yield Edit((Change(start, end, new),), became(sheet.text[start:end], new))
            continue
        before = _DEFAULT_BEFORE.search(sheet.text[:start][-80:])
        if before is not None:
            start -= len(before[0])
            opened = "(" in before[0] and sheet.text[end : end + 1] == ")"
            start += 0 if opened or "(" not in before[0] else before[0].index("(") + 1
            end += 1 if opened else 0
            yield Edit((Change(start, end, ""),), f"{quoted(sheet.text[start:end])} is gone")


def _ticks(text: str, start: int, end: int) -> tuple[int, int]:
    """A hit with the ticks around it."""
    while start > 0 and end < len(text) and text[start - 1] == "`" == text[end]:
        start, end = start - 1, end + 1
    return start, end


def _filler_at(sheet: Sheet, line: int, at: int) -> str:
    place = len(re.findall(r"(?<!\\)\|", sheet.text[sheet.start(line) : at])) - 1
    return filler(sheet, line, max(0, place))


def optionality(sheet: Sheet, finding: Finding, symbol: Symbol) -> Iterator[Edit]:
    """What a list says of whether a parameter must be given, as the source has it."""
    if finding.stated not in {"required", "optional"}:
        return
    needed = finding.actual == "required"
    first, last = entry_lines(sheet, finding.line)
    start, end = sheet.start(first), sheet.end(last)
    if sheet.kind_at(finding.line) == "row":
        yield from _optional_cell(sheet, finding, symbol)
    default = finding.actual.removeprefix("optional, ")
    word = re.compile(rf"(?P<comma>,?\s*)(?P<marks>[*_]*)\b{finding.stated}\b[*_]*", re.IGNORECASE)
    for found in list(word.finditer(sheet.text, start, end))[:3]:
        for new in (
            (f"{found['comma']}required", "")
            if needed
            else (f"{found['comma']}{default}", f"{found['comma']}optional", "")
        ):
            yield Edit((Change(found.start(), found.end(), new),), became(found[0], new or "nothing"))


def _optional_cell(sheet: Sheet, finding: Finding, symbol: Symbol) -> Iterator[Edit]:
    header, there = columns(sheet, finding.line), cells(sheet.row(finding.line))
    needed = finding.actual == "required"
    named = next((one for one in parameters_of(symbol).values() if re.search(rf"\b{one.name}\b", there[0])), None)
    default = default_text(named) if named else None
    for place, (column, cell) in enumerate(zip(header, there, strict=False)):
        if column == "default":
            new = code(default) if default is not None else filler(sheet, finding.line, place)
        elif column in {"required", "optional"}:
            new = "Yes" if needed == (column == "required") else "No"
        else:
            continue
        row = sheet.row(finding.line)
        joined = " | ".join([*there[:place], re.sub(r"(?<!\\)\|", r"\\|", new), *there[place + 1 :]])
        edge = "| " if row.strip().startswith("|") else ""
        change = Change(sheet.start(finding.line), sheet.end(finding.line), f"{edge}{joined}{edge[::-1]}")
        yield Edit((change,), became(cell, new))


def entry_head(sheet: Sheet, finding: Finding, symbol: Symbol) -> Iterator[Edit]:
    """Type and default in the brackets behind a parameter's name, as the source has them."""
    if sheet.kind_at(finding.line) == "row":
        return
    first, last = entry_lines(sheet, finding.line)
    text = sheet.text[sheet.start(first) : sheet.end(last)]
    for parameter in parameters_of(symbol).values():
        found = re.match(
            rf"[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?[*_`\\]*{re.escape(parameter.name)}[*_`]*\s*(?P<old>\([^\n]*?\))(?=\s*(?::|$|\n|\s[\u2013\u2014-]\s))",
            text,
        )
        if found is None:
            continue
        default = default_text(parameter)
        ticked = "`" in found["old"]
        parts = [parameter.annotation] if parameter.annotation else []
        shown = [code(part) if ticked else part for part in parts]
        shown += [f"default {code(default) if ticked else default}"] if default is not None else []
        new = f"({', '.join(shown)})" if shown else f"({starred(parameter)})"
        start = sheet.start(first) + found.start("old")
        yield Edit((Change(start, start + len(found["old"]), new),), became(found["old"], new))


def without_message(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """An invented message taken out, with the words that announce it."""
    block = sheet.block_at(finding.line)
    for hit in find(sheet.text, sheet.start(finding.line), sheet.end(block.end_line), finding.stated):
        if block.kind == "row":
            start, end = _ticks(sheet.text, hit.start, hit.end)
            yield Edit((Change(start, end, "-"),), became(sheet.text[start:end], "-"))
            continue
        window = sheet.text[sheet.start(block.line) : hit.start]
        before = _MESSAGE_BEFORE.search(window[-120:])
        closing = _CLOSING.match(sheet.text, hit.end)
        start = hit.start - (len(before[0]) if before else 0)
        end = closing.end() if closing else hit.end
        yield Edit((Change(start, end, ""),), f"{quoted(sheet.text[start:end])} is gone")
