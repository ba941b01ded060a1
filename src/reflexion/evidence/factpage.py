"""A page written from facts alone: plain, complete, and free of findings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from reflexion.evidence.facts import Facts, Parameter, Raise, Signature, Symbol
from reflexion.evidence.locate import code
from reflexion.evidence.rules.context import needs_page, required_symbols
from reflexion.evidence.rules.names import Source, every_signature, parameters_of
from reflexion.evidence.rules.parameters import VARIADIC, starred
from reflexion.evidence.rules.signatures import true_kind, written
from reflexion.evidence.values import default_text

DEEPEST_HEADING = 6

# What words are about: "parameter" and its name, "value" and a constant's or member's name, "returns" and "", or
# "raises" and the exception's type and message with a space between.
Words = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a symbol, or of the whole page, beyond the facts: lines of Markdown, and words by subject."""

    title: str = ""
    opening: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    words: Words = field(default_factory=dict)


NOTHING_TOLD = Told()
NO_NAMES_OF_ITS_OWN = "This module defines no public names of its own."


def render(facts: Facts) -> str:
    """A Markdown page with every fact that ``verify`` asks for, ending in a newline."""
    return page_of(facts, {})


def page_of(facts: Facts, told: Mapping[str, Told]) -> str:
    """The page of all facts with what is ``told`` of each symbol, by qualified name; "" is the page as a whole."""
    whole = told.get("", NOTHING_TOLD)
    lines = [f"# {whole.title or code(facts.module)}", "", *(whole.opening or _summary(facts.docstring))]
    constants = [symbol for symbol in facts.symbols if needs_page(symbol) and symbol.kind == "constant"]
    lines += _constants(constants, whole.words)
    required = required_symbols(Source(facts))
    if not required:
        lines += [NO_NAMES_OF_ITS_OWN, ""]
    for symbol in required:
        if symbol.kind not in {"constant", "enum member", "field"}:
            lines += section(symbol, told.get(symbol.qualname, NOTHING_TOLD))
    return "\n".join([*lines, *whole.closing]).rstrip("\n") + "\n"


def outline(facts: Facts | None) -> str:
    """The facts as one short line a symbol, for a prompt.

    Types are left out: the source stands beside it, and every token of a prompt is evaluated. What models get wrong
    stays: which names there are, their parameters and defaults, their exceptions and messages.
    """
    if facts is None:
        return "(nothing: code reads facts from Python only)"
    lines = [_outline(symbol) for symbol in required_symbols(Source(facts))]
    return "\n".join(lines) or "(no public symbols)"


def _outline(symbol: Symbol) -> str:
    if not symbol.signatures:
        value = f" = {symbol.value}" if symbol.value and len(symbol.value) <= 80 else ""
        return f"- {symbol.kind} {symbol.qualname}{value}"
    parameters = [_short(parameter) for parameter in parameters_of(symbol).values()]
    kind = "" if symbol.kind in ("function", "method") else f"{symbol.kind} "
    raised = dict.fromkeys((one.type, one.message) for one in symbol.raises if not one.through_public)
    told = [f'{type_} "{" ".join(message.split())}"' if message else type_ for type_, message in raised]
    raises = f" raises {', '.join(told)}" if told else ""
    return f"- {'async ' if symbol.is_async else ''}{kind}{symbol.qualname}({', '.join(parameters)}){raises}"


def _short(parameter: Parameter) -> str:
    default = default_text(parameter)
    return starred(parameter) + (f"={default}" if default is not None else "")


def section(symbol: Symbol, told: Told = NOTHING_TOLD) -> list[str]:
    """The lines of one symbol's section, without those of its members that have sections of their own.

    What is ``told`` of the symbol stands where it belongs: paragraphs below the heading (else the docstring's first
    sentence), words beside the parameter, result or exception that they are about, the rest at the end.
    """
    depth = min(DEEPEST_HEADING, 2 + symbol.qualname.count("."))
    lines = [f"{'#' * depth} {true_kind(symbol).capitalize()} `{symbol.qualname}`", ""]
    lines += told.opening or _summary(symbol.docstring)
    lines += _signature(symbol)
    lines += _bases(symbol)
    lines += _parameters(symbol, told.words)
    lines += _members(symbol, told.words)
    lines += _returns(symbol, told.words)
    lines += _raises(symbol, told.words)
    return [*lines, *(told.closing or _nothing_else(symbol, lines))]


def _nothing_else(symbol: Symbol, lines: list[str]) -> list[str]:
    """What there is to say of a symbol about which nothing is said: a heading and a bare signature tell a reader less
    than that this is all.
    """
    called = symbol.kind in ("function", "method") and not parameters_of(symbol)
    return ["Takes no parameters.", ""] if called and not any(line.startswith("**") for line in lines) else []


def _summary(docstring: str | None) -> list[str]:
    """The first sentence of a docstring as a paragraph, unless Markdown would read something else into it."""
    first = re.split(r"\n\s*\n", (docstring or "").strip())[0].replace("\n", " ").strip()
    plain = re.fullmatch(r"[A-Z][\w ,;'-]*\.", first)
    return [first, ""] if plain else []


def _signature(symbol: Symbol) -> list[str]:
    if symbol.kind == "property" or not symbol.signatures:
        return []
    forms = [_form(symbol, signature) for signature in symbol.signatures]
    return ["```python", *forms, "```", ""]


def _form(symbol: Symbol, signature: Signature) -> str:
    prefix = "" if symbol.kind == "class" else "async def " if symbol.is_async else "def "
    return prefix + written(symbol, signature)


def _bases(symbol: Symbol) -> list[str]:
    if symbol.kind != "class" or not symbol.bases:
        return []
    return ["Bases: " + ", ".join(f"`{base}`" for base in symbol.bases), ""]


def _parameters(symbol: Symbol, words: Words) -> list[str]:
    parameters = parameters_of(symbol)
    if not parameters or not symbol.signatures:
        return []
    rows = [_row(symbol, parameter) for parameter in parameters.values()]
    table = _table(("Name", "Type", "Default"), rows, [words.get(("parameter", name), "") for name in parameters])
    return ["**Parameters:**", "", *table, ""]


def _table(header: tuple[str, ...], rows: list[str], words: list[str]) -> list[str]:
    """A table, with a column for the words about each row where there are any."""
    if any(words):
        header = (*header, "Description")
        rows = [f"{row} {_cell(text) or '-'} |" for row, text in zip(rows, words, strict=True)]
    return [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}", *rows]


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def _row(symbol: Symbol, parameter: Parameter) -> str:
    default = default_text(parameter)
    required = "-" if parameter.kind in VARIADIC or len(every_signature(symbol)) > 1 else "required"
    cells = (
        code(starred(parameter)),
        code(parameter.annotation) if parameter.annotation else "-",
        code(default) if default is not None else required,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _constants(constants: list[Symbol], words: Words) -> list[str]:
    if not constants:
        return []
    texts = [words.get(("value", symbol.name), "") for symbol in constants]
    return ["## Constants", "", *_table(("Name", "Value"), [_value_row(one) for one in constants], texts), ""]


def _value_row(symbol: Symbol) -> str:
    value = code(symbol.value).replace("|", "\\|") if symbol.value else "-"
    return f"| `{symbol.name}` | {value} |"


def _type_row(symbol: Symbol) -> str:
    annotation = code(symbol.annotation).replace("|", "\\|") if symbol.annotation else "-"
    return f"| `{symbol.name}` | {annotation} |"


def _members(symbol: Symbol, words: Words) -> list[str]:
    """Enum members as values, other fields that the constructor does not take as attributes."""
    members = [member for member in symbol.members if member.kind == "enum member"]
    taken = parameters_of(symbol)
    fields = [one for one in symbol.members if one.kind == "field" and needs_page(one) and one.name not in taken]
    lines: list[str] = []
    if members:
        texts = [words.get(("value", one.name), "") for one in members]
        lines += ["**Members:**", "", *_table(("Name", "Value"), [_value_row(one) for one in members], texts), ""]
    if fields:
        texts = [words.get(("parameter", one.name), "") for one in fields]
        lines += ["**Attributes:**", "", *_table(("Name", "Type"), [_type_row(one) for one in fields], texts), ""]
    return lines


def _returns(symbol: Symbol, words: Words) -> list[str]:
    if symbol.kind == "class":
        return []
    types = list(dict.fromkeys(signature.returns for signature in symbol.signatures if signature.returns))
    types = types or ([symbol.annotation] if symbol.annotation else [])
    told = words.get(("returns", ""), "")
    if not types:
        return [f"**Returns:** {told}", ""] if told and symbol.kind != "property" else []
    shown = " or ".join(map(code, types))
    lines = [f"**Returns:** {told if told.startswith(shown) else f'{shown}: {told}' if told else shown}", ""]
    if symbol.returned_keys:
        lines += ["Keys: " + ", ".join(f"`{key}`" for key in symbol.returned_keys), ""]
    return lines


def _raises(symbol: Symbol, words: Words) -> list[str]:
    told = list(dict.fromkeys((one.type, one.message) for one in symbol.raises))
    if not told:
        return []
    first = {key: next(one for one in symbol.raises if (one.type, one.message) == key) for key in told}
    # Messages that do not fit on a line are left out, and leave equal lines behind.
    return ["**Raises:**", "", *dict.fromkeys(f"- {_raise(one)}{_when(one, words)}" for one in first.values()), ""]


def _when(one: Raise, words: Words) -> str:
    told = words.get(("raises", f"{one.type} {one.message or ''}"), "")
    return f": {told}" if told else ""


def _raise(one: Raise) -> str:
    """The type, with the exact message in quotes where there is one that fits on a line."""
    if not one.message or "\n" in one.message or not one.message.strip():
        return f"`{one.type}`"
    return f"`{one.type}` with the message {code(chr(34) + one.message + chr(34))}"
