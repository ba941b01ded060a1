"""A page written from facts alone: plain, complete, and free of findings."""

import re
from collections.abc import Callable, Iterator

from reflexion.evidence.facts import Facts, Parameter, Raise, Signature, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.locate import code
from reflexion.evidence.rules.context import needs_page, required_symbols
from reflexion.evidence.rules.names import Source, every_signature, parameters_of
from reflexion.evidence.rules.parameters import VARIADIC, starred
from reflexion.evidence.rules.signatures import true_kind, written
from reflexion.evidence.values import default_text

DEEPEST_HEADING = 6


def render(facts: Facts) -> str:
    """A Markdown page with every fact that ``verify`` asks for, ending in a newline."""
    lines = [f"# `{facts.module}`", "", *_summary(facts.docstring)]
    constants = [symbol for symbol in facts.symbols if needs_page(symbol) and symbol.kind == "constant"]
    lines += _constants(constants)
    for symbol in required_symbols(Source(facts)):
        if symbol.kind not in {"constant", "enum member", "field"}:
            lines += section(symbol)
    return "\n".join(lines).rstrip("\n") + "\n"


def assemble_page(document: str, facts: Facts, check: "Callable[[str], list[Finding]]") -> str:
    """Facts alone, for now."""
    return render(facts)


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


def section(symbol: Symbol) -> list[str]:
    """The lines of one symbol's section, without those of its members that have sections of their own."""
    depth = min(DEEPEST_HEADING, 2 + symbol.qualname.count("."))
    lines = [f"{'#' * depth} {true_kind(symbol).capitalize()} `{symbol.qualname}`", "", *_summary(symbol.docstring)]
    lines += _signature(symbol)
    lines += _bases(symbol)
    lines += _parameters(symbol)
    lines += _members(symbol)
    lines += _returns(symbol)
    lines += _raises(symbol)
    return lines


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


def _parameters(symbol: Symbol) -> list[str]:
    parameters = parameters_of(symbol)
    if not parameters or not symbol.signatures:
        return []
    rows = [_row(symbol, parameter) for parameter in parameters.values()]
    return ["**Parameters:**", "", "| Name | Type | Default |", "| --- | --- | --- |", *rows, ""]


def _row(symbol: Symbol, parameter: Parameter) -> str:
    default = default_text(parameter)
    required = "-" if parameter.kind in VARIADIC or len(every_signature(symbol)) > 1 else "required"
    cells = (
        code(starred(parameter)),
        code(parameter.annotation) if parameter.annotation else "-",
        code(default) if default is not None else required,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _constants(constants: list[Symbol]) -> Iterator[str]:
    if not constants:
        return
    yield from ("## Constants", "", "| Name | Value |", "| --- | --- |")
    for symbol in constants:
        yield _value_row(symbol)
    yield ""


def _value_row(symbol: Symbol) -> str:
    value = code(symbol.value).replace("|", "\\|") if symbol.value else "-"
    return f"| `{symbol.name}` | {value} |"


def _type_row(symbol: Symbol) -> str:
    annotation = code(symbol.annotation).replace("|", "\\|") if symbol.annotation else "-"
    return f"| `{symbol.name}` | {annotation} |"


def _members(symbol: Symbol) -> list[str]:
    """Enum members as values, other fields that the constructor does not take as attributes."""
    members = [member for member in symbol.members if member.kind == "enum member"]
    taken = parameters_of(symbol)
    fields = [one for one in symbol.members if one.kind == "field" and needs_page(one) and one.name not in taken]
    lines: list[str] = []
    if members:
        lines += ["**Members:**", "", "| Name | Value |", "| --- | --- |", *map(_value_row, members), ""]
    if fields:
        lines += ["**Attributes:**", "", "| Name | Type |", "| --- | --- |", *map(_type_row, fields), ""]
    return lines


def _returns(symbol: Symbol) -> list[str]:
    if symbol.kind == "class":
        return []
    types = list(dict.fromkeys(signature.returns for signature in symbol.signatures if signature.returns))
    types = types or ([symbol.annotation] if symbol.annotation else [])
    if not types:
        return []
    lines = [f"**Returns:** {' or '.join(map(code, types))}", ""]
    if symbol.returned_keys:
        lines += ["Keys: " + ", ".join(f"`{key}`" for key in symbol.returned_keys), ""]
    return lines


def _raises(symbol: Symbol) -> list[str]:
    told = list(dict.fromkeys((one.type, one.message) for one in symbol.raises))
    if not told:
        return []
    first = {key: next(one for one in symbol.raises if (one.type, one.message) == key) for key in told}
    return ["**Raises:**", "", *(f"- {_raise(one)}" for one in first.values()), ""]


def _raise(one: Raise) -> str:
    """The type, with the exact message in quotes where there is one that fits on a line."""
    if not one.message or "\n" in one.message or not one.message.strip():
        return f"`{one.type}`"
    return f"`{one.type}` with the message {code(chr(34) + one.message + chr(34))}"
