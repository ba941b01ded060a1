"""S1xx: the names a document has and the source has not, and the other way round."""

import builtins
from collections.abc import Iterator

from reflexion.evidence.claims import ConstantClaim, SymbolClaim
from reflexion.evidence.facts import Symbol
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import Page, nearest, report, required_symbols, spoken
from reflexion.evidence.rules.names import CONSTRUCTORS, is_dunder, parameters_of
from reflexion.evidence.types import GRAVITY, compare_types
from reflexion.evidence.values import compare_values, says_nothing


def check_symbols(page: Page) -> Iterator[Finding]:
    """Every S1xx finding of a page."""
    yield from _undocumented(page)
    yield from _phantoms(page)
    yield from _constants(page)
    yield from _members(page)
    yield from _bases(page)


def _undocumented(page: Page) -> Iterator[Finding]:
    missing: set[str] = set()
    for symbol in required_symbols(page.source):
        owner = page.source.owner(symbol)
        if owner is not None and owner.qualname in missing:
            missing.add(symbol.qualname)
        elif symbol.qualname not in page.documented and symbol.kind != "enum member":
            missing.add(symbol.qualname)
            level = _level_of_gap(page, symbol, owner)
            if level:
                yield _gap(page, symbol, level)


def _level_of_gap(page: Page, symbol: Symbol, owner: Symbol | None) -> Level | None:
    """None where the name stands in the text anyway; a warning where prose tells of it without a place of its own.

    To name a function is not to tell of it: its parameters must be named as well.
    """
    if symbol.kind == "field":
        listed = owner is not None and symbol.name in parameters_of(owner)
        return None if listed or page.names_in_text(symbol.name) else "warning"
    if symbol.kind == "constant" and page.names_in_text(symbol.name):
        return None
    if symbol.kind == "property" and page.names_in_text(symbol.name):
        return "warning"
    told = symbol.qualname in page.mentioned and all(map(page.names_in_prose, parameters_of(symbol)))
    return "warning" if told else "error"


def _gap(page: Page, symbol: Symbol, level: Level) -> Finding:
    return report(
        catalogue.UNDOCUMENTED_SYMBOL,
        page.line_of(symbol),
        f"the document has no place for the {symbol.kind} `{symbol.qualname}`",
        page.source.quote(symbol.line),
        f"Add a section for the {symbol.kind} `{describe(symbol)}`.",
        level,
        symbol=symbol,
    )


def describe(symbol: Symbol) -> str:
    """A symbol with its parameters or value, as one would write it."""
    if symbol.kind in {"function", "method"} and symbol.signatures:
        return f"{symbol.qualname}({', '.join(parameters_of(symbol))})"
    return f"{symbol.qualname} = {symbol.value}" if symbol.value is not None else symbol.qualname


def _phantoms(page: Page) -> Iterator[Finding]:
    seen: set[tuple[int, str]] = set()
    sure = [claim for claim in page.claims.symbols if claim.sure]
    stated = [(claim.line, claim.name, claim.subject, claim) for claim in sure]
    signed = [(claim.line, claim.name, claim.subject, None) for claim in page.claims.signatures]
    for line, name, subject, claim in (*stated, *signed):
        if (line, name) in seen or page.source.resolve(name, subject) is not None:
            continue
        seen.add((line, name))
        level = _level_of_phantom(page, name, subject, claim)
        if level:
            yield _phantom(page, line, name, level)


def _phantom(page: Page, line: int, name: str, level: Level) -> Finding:
    module = page.source.facts.module
    hint = nearest(name.rpartition(".")[2], (symbol.name for symbol in page.source.symbols.values()))
    return report(
        catalogue.PHANTOM_SYMBOL,
        line,
        f"`{name}` is documented, but `{module}` defines no such name{hint}",
        f"`{module}` defines {spoken(list(page.source.symbols)[:12])}",
        f"Remove everything that is said about `{name}`{hint}.",
        level,
        stated=name,
    )


def _level_of_phantom(page: Page, name: str, subject: str | None, claim: SymbolClaim | None) -> Level | None:
    """None where the name is known by other means; a warning where it may be inherited or defined out of sight."""
    parts = name.removesuffix("()").split(".")
    if _is_elsewhere(page, parts, subject):
        return None
    if page.source.facts.star_imports:
        return "warning"
    owner = page.source.resolve(".".join(parts[:-1])) if len(parts) > 1 else page.about(subject)
    if owner is not None and owner.kind == "class" and page.source.may_inherit(owner, parts[-1]):
        return "warning"
    if len(parts) > 1 and (owner is None or owner.kind != "class") and _is_on_an_object(page, parts):
        return "warning"
    if len(parts) > 1 and owner is None and page.source.resolve(parts[0]) is None:
        return None if parts[0] in page.source.names.others else "error"
    if claim is not None and claim.where in {"list", "text", "bold"} and claim.kind_word is None:
        return "warning" if parts[-1] in page.source.names.others else "error"
    return "error"


def _is_on_an_object(page: Page, parts: list[str]) -> bool:
    """Whether a method of the source is shown on some object of the reader's, such as ``spinner.stop()``."""
    return parts[0][:1].islower() and any(symbol.name == parts[-1] for symbol in page.source.symbols.values())


def _is_elsewhere(page: Page, parts: list[str], subject: str | None) -> bool:
    """Whether the name is the module, an import, a built-in, an attribute, a parameter or a special method."""
    names, last = page.source.names, parts[-1]
    about = page.about(subject)
    if about is not None and last in parameters_of(about):
        return True
    module = page.source.facts.module.split(".")
    if parts in (module, module[-1:], [*module, "py"], [module[-1], "py"]):
        return True
    return (
        parts[0] in names.imported
        or last in names.attributes
        or last in CONSTRUCTORS
        or is_dunder(last)
        or (len(parts) == 1 and hasattr(builtins, last))
        or page.source.is_ambiguous(last)
    )


def _constants(page: Page) -> Iterator[Finding]:
    for claim in page.claims.constants:
        symbol = page.source.resolve(claim.name, claim.subject)
        if symbol is None or symbol.kind not in {"constant", "enum member", "field"}:
            continue
        finding = _value_finding(page, claim, symbol) or _constant_type(page, claim, symbol)
        if finding:
            yield finding


def _value_finding(page: Page, claim: ConstantClaim, symbol: Symbol) -> Finding | None:
    options = symbol.alternatives or ((symbol.value,) if symbol.value is not None else ())
    if not options or claim.value is None or says_nothing(claim.value):
        return None
    stated = claim.value
    verdict = min((compare_values(stated, one, page.source.values) for one in options), key=GRAVITY.index)
    if verdict in {"same", "vague"}:
        return None
    true = " or ".join(map(_shown, options))
    return report(
        catalogue.WRONG_CONSTANT,
        claim.line,
        f"the document gives `{symbol.qualname}` the value `{claim.value}`, the source {true}",
        page.source.quote(symbol.line),
        f"Write {true} as the value of `{symbol.qualname}`, not `{claim.value}`.",
        "error" if verdict == "different" else "warning",
        symbol=symbol,
        stated=stated,
        actual=options[0],
    )


def _shown(value: str) -> str:
    return f"`{value}`" if len(value) <= 120 else f"`{value[:119]}…`"


def _constant_type(page: Page, claim: ConstantClaim, symbol: Symbol) -> Finding | None:
    if claim.type is None or symbol.annotation is None:
        return None
    verdict = compare_types(claim.type, symbol.annotation, page.source.types)
    if verdict in {"same", "vague"}:
        return None
    return report(
        catalogue.WRONG_CONSTANT,
        claim.line,
        f"the document gives `{symbol.qualname}` the type `{claim.type}`, the source `{symbol.annotation}`",
        page.source.quote(symbol.line),
        f"Write `{symbol.annotation}` as the type of `{symbol.qualname}`, not `{claim.type}`.",
        "error" if verdict == "different" else "warning",
        symbol=symbol,
        stated=claim.type,
        actual=symbol.annotation,
    )


def _members(page: Page) -> Iterator[Finding]:
    """Enum members: invented ones, and ones that a list of the others leaves out."""
    for symbol in required_symbols(page.source):
        members = [
            member for member in symbol.members if member.kind == "enum member" and not member.name.startswith("_")
        ]
        if members and symbol.qualname in page.documented:
            yield from _missing_members(page, symbol, members)
            yield from _invented_members(page, symbol, members)


def _missing_members(page: Page, symbol: Symbol, members: list[Symbol]) -> Iterator[Finding]:
    missing = [member for member in members if not _has_member(page, member)]
    some_listed = len(missing) < len(members)
    if not some_listed and len(missing) > 1:
        yield _no_members(page, symbol, members)
        return
    for member in missing:
        yield report(
            catalogue.WRONG_MEMBER,
            page.line_of(member),
            f"the members of `{symbol.qualname}` leave out `{member.name}`",
            page.source.quote(member.line),
            f"Add the member `{member.name}` with the value `{member.value}` to `{symbol.qualname}`.",
            "error" if some_listed else "warning",
            symbol=member,
            actual=member.name,
        )


def _has_member(page: Page, member: Symbol) -> bool:
    return member.qualname in page.documented or page.names_in_text(member.name)


def _no_members(page: Page, symbol: Symbol, members: list[Symbol]) -> Finding:
    return report(
        catalogue.WRONG_MEMBER,
        page.line_of(symbol),
        f"the document lists no members of the enumeration `{symbol.qualname}`",
        page.source.quote(symbol.line),
        f"List the members of `{symbol.qualname}`: {spoken(describe(member) for member in members)}.",
        "warning",
        symbol=symbol,
    )


def _invented_members(page: Page, symbol: Symbol, members: list[Symbol]) -> Iterator[Finding]:
    names = {member.name for member in symbol.members}
    constants = [(claim.line, claim.name, claim.subject) for claim in page.claims.constants]
    attributes = [
        (claim.line, claim.name, claim.subject) for claim in page.claims.parameters if claim.role == "attribute"
    ]
    for line, name, subject in (*constants, *attributes):
        last = name.rpartition(".")[2]
        known = (
            last in names
            or last in page.source.names.attributes
            or last in {"name", "value"}
            or last in parameters_of(symbol)
        )
        if page.about(subject) is symbol and not known and page.source.resolve(name, subject) is None:
            yield report(
                catalogue.WRONG_MEMBER,
                line,
                f"`{symbol.qualname}` has no member `{last}`",
                f"{page.source.quote(symbol.line)} has {spoken(member.name for member in members)}",
                f"Remove `{last}` from `{symbol.qualname}`{nearest(last, names)}.",
                symbol=symbol,
                stated=last,
            )


def _bases(page: Page) -> Iterator[Finding]:
    stated = [(claim.line, page.about(claim.subject), claim.bases) for claim in page.claims.bases]
    signed = [
        (claim.line, page.source.resolve(claim.name, claim.subject), claim.bases)
        for claim in page.claims.signatures
        if claim.bases
    ]
    for line, symbol, bases in dict.fromkeys((*stated, *signed)):
        if symbol is not None and symbol.kind == "class":
            yield from _wrong_bases(page, line, symbol, bases)


def _wrong_bases(page: Page, line: int, symbol: Symbol, bases: tuple[str, ...]) -> Iterator[Finding]:
    ancestors = {_bare(name) for name in page.source.ancestors(symbol.qualname)}
    direct = {_bare(base) for base in symbol.bases}
    for base in bases:
        if _bare(base) in ancestors | direct | {"object", ""}:
            continue
        true = spoken(symbol.bases) if symbol.bases else "none"
        yield report(
            catalogue.WRONG_BASE,
            line,
            f"the document gives `{symbol.qualname}` the base class `{base}`, the source has {true}",
            page.source.quote(symbol.line),
            f"Name the base classes of `{symbol.qualname}` as the source has them: {true}.",
            symbol=symbol,
            stated=base,
            actual=next((one for one in symbol.bases if one not in bases), ""),
        )


def _bare(base: str) -> str:
    return base.partition("[")[0].partition("(")[0].rpartition(".")[2].strip()
