"""P201 to P205: lists and tables of parameters against the source's parameters."""

import ast
import re
from collections.abc import Iterator

from reflexion.evidence.claims import ParameterClaim, ParameterList
from reflexion.evidence.defaults import may_be_put_in
from reflexion.evidence.facts import Parameter, Symbol
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import Page, nearest, report, required_symbols, spoken
from reflexion.evidence.rules.names import common_parameters, every_signature, parameters_of
from reflexion.evidence.types import GRAVITY, Verdict, compare_types
from reflexion.evidence.values import compare_values, default_text, says_nothing, says_required
from reflexion.evidence.words import BOUND_NAMES

VARIADIC = frozenset({"var-positional", "var-keyword"})
STARS = {"var-positional": "*", "var-keyword": "**"}


def check_parameters(page: Page) -> Iterator[Finding]:
    """Every finding about what a list or table says of parameters."""
    for symbol in required_symbols(page.source):
        if symbol.signatures and symbol.qualname in page.documented:
            yield from _completeness(page, symbol)
    for qualname, entries in page.entries.items():
        symbol = page.source.symbols[qualname]
        for entry in entries:
            yield from _entry(page, symbol, entry)


def starred(parameter: Parameter) -> str:
    """The parameter's name with its stars."""
    return STARS.get(parameter.kind, "") + parameter.name


def describe_parameter(parameter: Parameter) -> str:
    """A parameter with its type and default, for a person: ``rate`` (`float`, default `0.05`)."""
    parts = [f"`{parameter.annotation}`"] if parameter.annotation else []
    if parameter.default is not None:
        parts.append(f"default `{default_text(parameter)}`")
    elif parameter.kind not in VARIADIC:
        parts.append("required")
    return f"`{starred(parameter)}`" + (f" ({', '.join(parts)})" if parts else "")


def _completeness(page: Page, symbol: Symbol) -> Iterator[Finding]:
    known = parameters_of(symbol)
    required = [known[name] for name in common_parameters(symbol) if not name.startswith("_")]
    lists = page.lists.get(symbol.qualname, [])
    if symbol.kind != "class":
        lists = [entry for entry in lists if entry.role == "parameter"]
    if not required or (not lists and page.source.inherits_constructor(symbol)):
        return
    if not lists:
        missing = [parameter for parameter in required if not page.names_in_prose(parameter.name)]
        if missing or not _has_signature(page, symbol):
            yield _no_list(page, symbol, required)
        return
    yield from _left_out(page, symbol, required, lists)


def _has_signature(page: Page, symbol: Symbol) -> bool:
    return any(
        not claim.abridged and page.source.resolve(claim.name, claim.subject) is symbol
        for claim in page.claims.signatures
    )


def _no_list(page: Page, symbol: Symbol, required: list[Parameter]) -> Finding:
    return report(
        catalogue.NO_PARAMETER_LIST,
        page.line_of(symbol),
        f"the document does not list the parameters of `{symbol.qualname}`",
        page.source.quote(symbol.line),
        f"List the parameters of `{symbol.qualname}`: {'; '.join(map(describe_parameter, required))}.",
    )


def _left_out(page: Page, symbol: Symbol, required: list[Parameter], lists: list[ParameterList]) -> Iterator[Finding]:
    listed = {_bare(name) for entry in lists for name in entry.names}
    listed |= {_bare(entry.name) for entry in page.entries.get(symbol.qualname, [])}
    # A class may set out its attributes apart from its constructor's parameters: no proof that one was forgotten.
    only_attributes = all(entry.role == "attribute" for entry in lists)
    fields = {member.name for member in symbol.members if member.kind == "field"}
    for parameter in required:
        if parameter.name in listed:
            continue
        unsure = only_attributes and parameter.name not in fields
        yield report(
            catalogue.UNDOCUMENTED_PARAMETER,
            lists[0].line,
            f"the parameters of `{symbol.qualname}` leave out `{starred(parameter)}`",
            page.source.quote_name(symbol, parameter.name),
            f"Add {describe_parameter(parameter)} to the parameters of `{symbol.qualname}`.",
            "warning" if unsure else "error",
            symbol=symbol,
            actual=parameter.name,
        )


def _bare(name: str) -> str:
    return name.lstrip("*").strip("`")


def _entry(page: Page, symbol: Symbol, entry: ParameterClaim) -> Iterator[Finding]:
    parameter = parameters_of(symbol).get(_bare(entry.name))
    if parameter is None:
        finding = _attribute(page, symbol, entry) if _names_member(symbol, entry) else _phantom(page, symbol, entry)
    else:
        finding = _wrong_default(page, symbol, entry, parameter)
        wrong_type = _wrong_type(page, symbol, entry, parameter)
        if wrong_type:
            yield wrong_type
    if finding:
        yield finding


def _member(symbol: Symbol, entry: ParameterClaim) -> Symbol | None:
    return next((member for member in symbol.members if member.name == _bare(entry.name)), None)


def _names_member(symbol: Symbol, entry: ParameterClaim) -> bool:
    return entry.role == "attribute" and _member(symbol, entry) is not None


def _attribute(page: Page, symbol: Symbol, entry: ParameterClaim) -> Finding | None:
    """The type of an attribute, field or property that is no constructor parameter."""
    member = _member(symbol, entry)
    actual = member and (member.annotation or next((one.returns for one in member.signatures if one.returns), None))
    if member is None or not actual or entry.type is None:
        return None
    verdict = compare_types(entry.type, actual, page.source.types)
    return _type_finding(page, symbol, entry, actual, verdict)


def _phantom(page: Page, symbol: Symbol, entry: ParameterClaim) -> Finding | None:
    if symbol.kind not in {"function", "method", "class"}:
        return None
    level = _level_of_phantom(page, symbol, entry)
    known = parameters_of(symbol)
    has = spoken(known) if known else "no parameters"
    return level and report(
        catalogue.PHANTOM_PARAMETER,
        entry.line,
        f"`{symbol.qualname}` has no {entry.role} `{entry.name}`{nearest(_bare(entry.name), known)}",
        f"{page.source.quote(symbol.line)} has {has}",
        f"Remove `{entry.name}` from the {entry.role}s of `{symbol.qualname}`{nearest(_bare(entry.name), known)}.",
        level,
        symbol=symbol,
        stated=entry.name,
    )


def _level_of_phantom(page: Page, symbol: Symbol, entry: ParameterClaim) -> Level | None:
    """A warning where the name can come through ``**kwargs``, a base or an attribute that is set elsewhere."""
    name = _bare(entry.name)
    if name in BOUND_NAMES or not name.isidentifier():
        return None
    if any(parameter.kind == "var-keyword" for parameter in parameters_of(symbol).values()):
        return "warning" if name not in page.source.names.others else None
    if entry.role == "attribute" and name in page.source.names.attributes:
        return None
    own = symbol.signatures and not page.source.inherits_constructor(symbol)
    if symbol.kind == "class" and not (own and entry.role == "parameter"):
        inherited = page.source.resolve(name, symbol.qualname) is not None
        return None if inherited else "warning" if page.source.may_inherit(symbol, name) else "error"
    return "error"


def _wrong_default(page: Page, symbol: Symbol, entry: ParameterClaim, parameter: Parameter) -> Finding | None:
    if parameter.kind in VARIADIC:
        return None
    if entry.default is not None and not says_nothing(entry.default):
        return _stated_default(page, symbol, entry, parameter)
    if entry.optional is None or entry.optional == (parameter.default is not None):
        return None
    return _optionality(page, symbol, entry, parameter)


def _stated_default(page: Page, symbol: Symbol, entry: ParameterClaim, parameter: Parameter) -> Finding | None:
    stated = entry.default or ""
    if says_required(stated):
        level: Level | None = None if parameter.default is None else "error"
    elif parameter.default is None:
        level = _level_of_invented_default(stated)
    else:
        level = level_of(compare_values(stated, default_text(parameter) or "", page.source.values))
        level = None if _is_put_in(entry, parameter) else level
    if level is None or _overload_has(page, symbol, parameter.name, stated):
        return None
    return default_finding(page, symbol, entry.line, parameter, stated, level)


def _is_put_in(entry: ParameterClaim, parameter: Parameter) -> bool:
    """Whether the words may tell of what the code puts in for a default that stands for "nothing given"."""
    value = default_text(parameter) or ""
    plain = re.fullmatch(r"-?[\d_]*[1-9][\d_.]*|\d*\.\d*[1-9]\d*|True|False|[frb]?[\"'].+[\"']", value, re.DOTALL)
    return (plain is None or value.startswith("-")) and may_be_put_in(entry.text)


def _level_of_invented_default(stated: str) -> Level | None:
    """A table writes "None" in its column of defaults for what has no default: that is no proof."""
    if stated.strip().lower() in {"none", "no", "null"}:
        return "warning" if stated.strip() == "None" else None
    return "warning" if " " in stated.strip() else "error"


def level_of(verdict: Verdict) -> Level | None:
    """The level at which a comparison's verdict is reported."""
    return {"different": "error", "doubtful": "warning"}.get(verdict)  # type: ignore[return-value]


def _overload_has(page: Page, symbol: Symbol, name: str, stated: str) -> bool:
    options = [p for signature in every_signature(symbol) for p in signature.parameters if p.name == name]
    texts = [text for option in options if (text := default_text(option)) is not None]
    return len(options) > 1 and any(
        compare_values(stated, text, page.source.values) in {"same", "vague"} for text in texts
    )


def default_finding(page: Page, symbol: Symbol, line: int, parameter: Parameter, stated: str, level: Level) -> Finding:
    """The finding that a stated default is not the source's."""
    if parameter.default is None:
        true, fix = (
            "has no default",
            f"Say that `{parameter.name}` of `{symbol.qualname}` is required: it has no default.",
        )
    else:
        value = default_text(parameter)
        true = f"has the default `{value}`"
        fix = f"Write `{value}` as the default of `{parameter.name}` of `{symbol.qualname}`, not `{stated}`."
    return report(
        catalogue.WRONG_DEFAULT,
        line,
        f"the document gives `{parameter.name}` of `{symbol.qualname}` the default `{stated}`, but it {true}",
        page.source.quote_name(symbol, parameter.name),
        fix,
        level,
        symbol=symbol,
        stated=stated,
        actual=default_text(parameter) or "",
    )


def _optionality(page: Page, symbol: Symbol, entry: ParameterClaim, parameter: Parameter) -> Finding | None:
    nullable = "None" in (parameter.annotation or "") or "Optional" in (parameter.annotation or "")
    if symbol.kind == "class" and entry.role == "attribute":
        return None
    said = "optional" if entry.optional else "required"
    true = "it has no default" if parameter.default is None else f"it has the default `{default_text(parameter)}`"
    right = "required" if parameter.default is None else f"optional, with the default `{default_text(parameter)}`"
    several = len(symbol.signatures) > 1
    return report(
        catalogue.WRONG_DEFAULT,
        entry.line,
        f"the document calls `{parameter.name}` of `{symbol.qualname}` {said}, but {true}",
        page.source.quote_name(symbol, parameter.name),
        f"Say that `{parameter.name}` of `{symbol.qualname}` is {right}.",
        "warning" if nullable or several else "error",
        symbol=symbol,
        stated=said,
        actual="required" if parameter.default is None else f"optional, default `{default_text(parameter)}`",
    )


def _wrong_type(page: Page, symbol: Symbol, entry: ParameterClaim, parameter: Parameter) -> Finding | None:
    if not entry.type:
        return None
    if parameter.annotation is None:
        guessed = _type_of_literal(parameter.default)
        unlike = guessed is not None and compare_types(entry.type, guessed) == "different"
        return _type_finding(page, symbol, entry, guessed or "", "doubtful") if unlike else None
    options = [p for signature in every_signature(symbol) for p in signature.parameters if p.name == parameter.name]
    verdicts = [_compare(page, entry.type, option) for option in options]
    best: Verdict = min(verdicts, key=GRAVITY.index, default="vague")
    return _type_finding(page, symbol, entry, parameter.annotation, best)


def _compare(page: Page, stated: str, parameter: Parameter) -> Verdict:
    if parameter.annotation is None:
        return "vague"
    annotation = parameter.annotation + (" | None" if parameter.default == "None" else "")
    verdict = compare_types(stated, annotation, page.source.types)
    if parameter.kind in VARIADIC and verdict in {"different", "doubtful"}:
        outer = ("tuple", "list", "Sequence") if parameter.kind == "var-positional" else ("dict", "Mapping")
        return "vague" if any(name in stated for name in outer) else verdict
    return verdict


def _type_of_literal(default: str | None) -> str | None:
    """The type of a literal default; None for None, for numbers (ints stand for floats) and for all else."""
    if default is None:
        return None
    try:
        value = ast.literal_eval(default)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "int | float | Decimal"
    return None if value is None else type(value).__name__


def _type_finding(page: Page, symbol: Symbol, entry: ParameterClaim, actual: str, verdict: Verdict) -> Finding | None:
    level = level_of(verdict)
    return level and type_finding(page, symbol, entry.line, entry.name, (entry.type or "", actual), level)


def type_finding(page: Page, symbol: Symbol, line: int, name: str, types: tuple[str, str], level: Level) -> Finding:
    """The finding that the first of two types is stated, where the source has the second."""
    stated, actual = types
    return report(
        catalogue.WRONG_TYPE,
        line,
        f"the document gives `{name}` of `{symbol.qualname}` the type `{stated}`, the source `{actual}`",
        page.source.quote_name(symbol, _bare(name)),
        f"Write `{actual}` as the type of `{name}` of `{symbol.qualname}`, not `{stated}`.",
        level,
        symbol=symbol,
        stated=stated,
        actual=actual,
    )
