"""Written signatures, mended in place: what is right in them stays as it is written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reflexion.evidence.facts import Facts, Parameter, Signature, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.swap import became, in_style
from reflexion.evidence.rules.names import every_signature
from reflexion.evidence.rules.parameters import starred
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.signatures import balanced
from reflexion.evidence.types import compare_types, type_context
from reflexion.evidence.values import compare_values, constant_values, default_text

_LEAD = r"(?P<lead>(?:(?:async|def|class)\s+)*)(?P<path>(?:\w+\\?\.)*)"
_ARROW = re.compile(r"\s*(?:->|\u2192)\s*(?P<type>[^`\n]+?)(?=\s*(?::?\s*(?:\.\.\.)?\s*(?:$|\n|`)|:\s))")
_NAME = re.compile(r"[\s*\\]*([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Written:
    """A signature as it stands at ``text[start:end]``: words before the name, arguments, return type or None."""

    start: int
    end: int
    lead: str
    path: str
    inside: str
    returns: str | None
    text: str


def rewritten(sheet: Sheet, finding: Finding, symbol: Symbol) -> Iterator[Edit]:
    """The signature at the finding's line as the source has it, one edit for each way to call the symbol."""
    found = _written_at(sheet, finding.line, symbol)
    if found is None or sheet.facts is None:
        return
    if symbol.kind == "property":
        yield from _as_property(sheet, found, symbol)
        return
    for signature in dict.fromkeys(every_signature(symbol)):
        new = _rewrite(sheet, found, symbol, signature)
        if new != found.text:
            yield Edit((Change(found.start, found.end, new),), became(found.text, new))
    yield from _without_decorator(sheet, found, symbol)


def _written_at(sheet: Sheet, line: int, symbol: Symbol) -> Written | None:
    start, end = sheet.start(line), sheet.end(sheet.block_at(line).end_line)
    names = symbol.name if symbol.kind != "class" else rf"(?:{symbol.name}|__init__|__new__)"
    found = re.compile(rf"(?<![\w.]){_LEAD}{names}\\?\(").search(sheet.text, start, end)
    if found is None or sheet.text.count("\n", start, found.start()) > 2:
        return None
    inside, rest = balanced(sheet.text[found.end() : end])
    if inside is None:
        return None
    stop = found.end() + len(inside) + 1
    inside = inside.removesuffix("\\")
    arrow = _ARROW.match(rest)
    last = stop + arrow.end("type") if arrow else stop
    returns = arrow.group("type") if arrow else None
    return Written(found.start(), last, found["lead"], found["path"], inside, returns, sheet.text[found.start() : last])


def _as_property(sheet: Sheet, found: Written, symbol: Symbol) -> Iterator[Edit]:
    """A property without brackets, or below the decorator that makes it one."""
    if "def" in found.lead:
        start = sheet.text.rfind("\n", 0, found.start) + 1
        margin = sheet.text[start : found.start]
        if not margin.strip():
            yield Edit((Change(start, start, f"{margin}@property\n"),), f"`{symbol.name}` became a property")
    change = Change(found.start, found.end, f"{found.path}{symbol.name}")
    word = _method_word(sheet, symbol)
    if word is not None and word.start >= change.end:
        yield Edit((change, word), became(found.text, change.new))
    yield Edit((change,), became(found.text, change.new))


def _method_word(sheet: Sheet, symbol: Symbol) -> Change | None:
    """The word "method" in the block below a property's name, where that block does not speak of a property."""
    own = sheet.own_section(symbol)
    below = sheet.below(own.line) if own else None
    prose = range(below[0], below[1] + 1) if below else range(0)
    if any("property" in sheet.row(line) for line in prose):
        return None
    for line in prose:
        found = re.search(r"(?<![\w`])[Mm]ethod(?![\w`])", sheet.row(line))
        if found:
            start = sheet.start(line)
            new = "Property" if found[0][0] == "M" else "property"
            return Change(start + found.start(), start + found.end(), new)
    return None


def _rewrite(sheet: Sheet, found: Written, symbol: Symbol, signature: Signature) -> str:
    name = re.search(r"(\w+)\\?\(", found.text[len(found.lead) + len(found.path) :])
    head = f"{_lead(found, symbol)}{found.path}{name[1] if name else symbol.name}"
    opening = "\\(" if f"{head[-1]}\\(" in found.text else "("
    arguments = _arguments(sheet, found, symbol, signature)
    returns = ""
    if found.returns is not None and signature.returns and symbol.kind != "class":
        keep = sheet.source and compare_types(found.returns, signature.returns, sheet.source.types, none_matters=True)
        kept = found.returns if keep not in {"different", "doubtful"} else signature.returns
        returns = f" -> {kept}"
    closing = "\\)" if opening == "\\(" else ")"
    return f"{head}{opening}{_laid_out(found, arguments)}{closing}{_escaped(sheet, found, returns)}"


def _lead(found: Written, symbol: Symbol) -> str:
    """The words before the name: ``async def``, ``class`` or none, as the symbol needs them."""
    words = found.lead.split()
    if symbol.kind == "class":
        is_method = "__init__(" in found.text or "__new__(" in found.text
        return found.lead if is_method else "class " if words else ""
    defines = bool({"def", "class"} & set(words))
    stays_async = symbol.is_async and (defines or "async" in words)
    return ("async " if stays_async else "") + ("def " if defines else "")


def _arguments(sheet: Sheet, found: Written, symbol: Symbol, signature: Signature) -> list[str]:
    """Every argument in the source's order; what is written of it stays, as far as it is right."""
    stated = {match[1]: part for part in split(found.inside) if (match := _NAME.match(part))}
    style = _Style(sheet, found, symbol)
    parts = [word for word in ("self", "cls") if word in stated and _is_bound(word, symbol, found)]
    kinds = [parameter.kind for parameter in signature.parameters]
    slashed = "/" in (part.strip("\\ ") for part in split(found.inside))
    for place, parameter in enumerate(signature.parameters):
        if parameter.kind == "keyword-only" and "var-positional" not in kinds and kinds.index("keyword-only") == place:
            parts.append(style.star)
        parts.append(style.argument(parameter, stated.get(parameter.name)))
        last_of_kind = parameter.kind == "positional-only" and kinds[place + 1 : place + 2] != ["positional-only"]
        if last_of_kind and (slashed or style.annotated):
            parts.append("/")
    return parts


def _is_bound(word: str, symbol: Symbol, found: Written) -> bool:
    if symbol.kind == "class":
        return "__init__" in found.text or "__new__" in found.text
    return {"instance": "self", "class": "cls"}.get(symbol.binding) == word


class _Style:
    """How a signature is written: with types, with defaults, with escaped stars."""

    def __init__(self, sheet: Sheet, found: Written, symbol: Symbol) -> None:
        self.sheet = sheet
        self.facts: Facts | None = sheet.facts
        arguments = [part for part in split(found.inside) if _NAME.match(part)]
        self.annotated = any(re.match(r"[\s*\\]*\w+\s*:", part) for part in arguments) or (
            bool({"def", "class"} & set(found.lead.split()))
            and all(part.strip() in {"self", "cls"} for part in arguments)
        )
        self.defaulted = self.annotated or "=" in found.inside or "def" in found.lead
        self.star = "\\*" if "\\*" in found.inside else "*"
        self.in_row = sheet.kind_at(sheet.text.count("\n", 0, found.start) + 1) == "row"

    def argument(self, parameter: Parameter, written: str | None) -> str:
        """One argument: as written where nothing in it is wrong, else as the source has it."""
        if written is not None and self._is_right(parameter, written):
            return written.strip()
        default = default_text(parameter)
        text = starred(parameter).replace("*", self.star)
        annotated = self.annotated or (written is not None and ":" in written.partition("=")[0])
        typed = bool(annotated and parameter.annotation)
        text += f": {in_style(parameter.annotation or '', written or '', self.facts)}" if typed else ""
        shows = default is not None and (self.defaulted or (written is not None and "=" in written))
        value = in_style(default or "", written or "", self.facts)
        text += f"{' = ' if typed else '='}{value}" if shows else ""
        return re.sub(r"(?<!\\)\|", r"\\|", text) if self.in_row else text

    def _is_right(self, parameter: Parameter, written: str) -> bool:
        found = re.fullmatch(
            r"(?P<stars>[\s*\\]*)\w+\s*(?::\s*(?P<type>[^=]*(?:=(?=[^=]*\])[^=]*)?))?(?:=\s*(?P<default>.*))?",
            written.strip().replace("\\|", "|"),
            re.DOTALL,
        )
        if found is None or self.facts is None:
            return False
        if found["stars"].count("*") != starred(parameter).count("*"):
            return False
        return self._has_right_type(parameter, found["type"]) and self._has_right_default(parameter, found["default"])

    def _has_right_type(self, parameter: Parameter, stated: str | None) -> bool:
        if not stated or not parameter.annotation or self.facts is None:
            return True
        annotation = parameter.annotation + (" | None" if parameter.default == "None" else "")
        return compare_types(stated.strip(), annotation, type_context(self.facts)) in {"same", "vague"}

    def _has_right_default(self, parameter: Parameter, stated: str | None) -> bool:
        true = default_text(parameter)
        if stated is None or true is None or self.facts is None:
            return (stated is None) == (true is None) or (stated is None and not self.defaulted)
        return compare_values(stated.strip(), true, constant_values(self.facts)) in {"same", "vague"}


def _laid_out(found: Written, arguments: list[str]) -> str:
    """The arguments on one line, or one a line where the signature is written so."""
    first = re.match(r"\s*\n(\s*)", found.inside)
    if first is None:
        return ", ".join(arguments)
    comma = "," if found.inside.rstrip().endswith(",") else ""
    last = re.search(r"\n[ \t]*$", found.inside)
    return f"\n{first[1]}" + f",\n{first[1]}".join(arguments) + comma + (last[0] if last else "\n")


def _escaped(sheet: Sheet, found: Written, text: str) -> str:
    in_row = sheet.kind_at(sheet.text.count("\n", 0, found.start) + 1) == "row"
    return re.sub(r"(?<!\\)\|", r"\\|", text) if in_row else text


def _without_decorator(sheet: Sheet, found: Written, symbol: Symbol) -> Iterator[Edit]:
    """Decorators around the signature that say another kind, each as the source has it or taken out."""
    right = {"static": "@staticmethod", "class": "@classmethod"}.get(symbol.binding, "")
    before = sheet.text.rfind("\n", 0, max(0, sheet.text.rfind("\n", 0, found.start)))
    pattern = re.compile(r"@(?:staticmethod|classmethod|property|cached_property)\b[ \t]*\n?[ \t]*")
    for mark in pattern.finditer(sheet.text, before + 1, found.start):
        word = mark[0].split()[0]
        if right and word != right:
            new = mark[0].replace(word, right)
            yield Edit((Change(mark.start(), mark.end(), new),), became(word, right))
        yield Edit((Change(mark.start(), mark.end(), ""),), f"`{word}` is gone")


def split(text: str) -> list[str]:
    """Arguments, split at the commas outside of brackets and strings; empty ones are left out."""
    parts: list[str] = []
    depth, last, quote = 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                parts.append(text[last:place])
                last = place + 1
    return [part for part in (*parts, text[last:]) if part.strip()]
