"""E3xx: what a document says of exceptions, against every ``raise`` that a caller can meet."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reflexion.evidence.claims import RaiseClaim
from reflexion.evidence.facts import Raise, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.messages import best_match, compare_message, normalise
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import Page, report, required_symbols
from reflexion.evidence.rules.names import Source, parameters_of
from reflexion.evidence.rules.plausible import is_own_message, is_written_there, may_raise
from reflexion.evidence.rules.wording import left_open, tells_of
from reflexion.patterns import regex

_BARE_RAISE = regex(r"\braise\s+[\w.]+\s*(?:\(\s*\))?\s*(?:from\s+\w+\s*)?(?:#.*)?$")
CALLABLE = frozenset({"function", "method", "class", "property"})


@dataclass(slots=True)
class Account:
    """One symbol's raises and the document's claims about them, and what answers what."""

    symbol: Symbol
    raises: tuple[Raise, ...]
    claims: list[RaiseClaim]
    covered: set[Raise] = field(default_factory=set)
    swapped: set[int] = field(default_factory=set)


def check_exceptions(page: Page) -> Iterator[Finding]:
    """Every E3xx finding about stated and unstated exceptions; denials are in ``denials.py``."""
    for symbol in page.source.symbols.values():
        if symbol.kind in CALLABLE and (symbol.qualname in page.documented or symbol.qualname in page.raises):
            yield from _check_symbol(page, symbol)
    for claim in page.raises.get("", []):
        yield from _module_claim(page, claim)


def is_public_route(one: Raise) -> bool:
    """Whether the raise is reached through another public function, whose own page speaks of it."""
    return one.through_public


def covers(source: Source, claimed: str, one: Raise) -> bool:
    """Whether naming ``claimed`` documents ``one``: the same class, or one above it."""
    last = claimed.rpartition(".")[2]
    return last in {base.rpartition(".")[2] for base in one.bases} or last in set(source.ancestors(one.type))


def show(one: Raise) -> str:
    """A raise for a person: type and message."""
    return f"`{one.type}`" + (f' with the message "{one.message}"' if one.message is not None else "")


def evidence(source: Source, one: Raise) -> str:
    """The line of the ``raise``, and the way to it."""
    return source.quote(one.line) + (f" (via {' -> '.join(one.via)})" if one.via else "")


def _check_symbol(page: Page, symbol: Symbol) -> Iterator[Finding]:
    account = Account(symbol, _reachable(page, symbol), page.raises.get(symbol.qualname, []))
    for claim in account.claims:
        account.covered |= {one for one in account.raises if covers(page.source, claim.type, one)}
    section = page.section_text(symbol)
    account.covered |= {one for one in account.raises if left_open(section, one.type)}
    yield from _claims(page, account)
    yield from _gaps(page, account)
    yield from _without_message(page, account)


def _reachable(page: Page, symbol: Symbol) -> tuple[Raise, ...]:
    """For a class, its constructor's raises, and its methods' where the page speaks of them at the class."""
    own = symbol.raises
    claimed = page.raises.get(symbol.qualname, [])
    if symbol.kind != "class" or all(any(covers(page.source, c.type, one) for one in own) for c in claimed):
        return own
    return own + tuple(one for member in symbol.members for one in member.raises if one not in own)


def _claims(page: Page, account: Account) -> Iterator[Finding]:
    possible = (*account.raises, *account.symbol.possible_raises)
    for place, claim in enumerate(account.claims):
        same_type = [one for one in possible if _same_kind(page.source, claim.type, one)]
        if not same_type:
            yield from _unraised(page, account, place, claim)
        elif claim.message is not None:
            finding = _misquoted(page, account.symbol, claim, same_type, possible)
            if finding:
                yield finding


def _same_kind(source: Source, claimed: str, one: Raise) -> bool:
    return covers(source, claimed, one) or one.type.rpartition(".")[2] in set(source.ancestors(claimed))


def _unraised(page: Page, account: Account, place: int, claim: RaiseClaim) -> Iterator[Finding]:
    """A type that no ``raise`` gives: wrong where it stands for one that does, else perhaps implicit."""
    real = _stands_for(page, account, claim)
    if real is not None:
        account.covered |= {one for one in account.raises if one.type == real.type}
        account.swapped.add(place)
        yield report(
            catalogue.WRONG_EXCEPTION,
            claim.line,
            f"the document says that `{account.symbol.qualname}` raises `{claim.type}`, the source raises {show(real)}",
            evidence(page.source, real),
            f"Write that `{account.symbol.qualname}` raises {show(real)}, not `{claim.type}`.",
            symbol=account.symbol,
            stated=claim.type,
            actual=real.type,
        )
    elif not may_raise(page.source, account.symbol, claim.type) or _quotes_nothing_known(page, claim):
        yield report(
            catalogue.IMPOSSIBLE_EXCEPTION,
            claim.line,
            f"nothing in the source of `{account.symbol.qualname}` raises `{claim.type}`",
            page.source.quote(account.symbol.line),
            f"Remove `{claim.type}` from what `{account.symbol.qualname}` raises, or say what raises it.",
            symbol=account.symbol,
            stated=claim.type,
        )


def _quotes_nothing_known(page: Page, claim: RaiseClaim) -> bool:
    if claim.message is None or is_own_message(claim.type, claim.message):
        return False
    return claim.message not in page.source.facts.text


def _stands_for(page: Page, account: Account, claim: RaiseClaim) -> Raise | None:
    """The uncovered ``raise`` that the claim must mean: the one with its message, or the only one that is left."""
    open_raises = [one for one in account.symbol.raises if not is_public_route(one)]
    if claim.message is not None:
        quoted = [one for one in open_raises if compare_message(claim.message, one) in {"same", "partial"}]
        if quoted:
            return quoted[0]
    left = [one for one in open_raises if one not in account.covered]
    spoken_of = [one for one in left if one.message and normalise(one.message) in normalise(claim.text)]
    if spoken_of:
        return spoken_of[0]
    if len({one.type for one in left}) == 1 and (claim.message is not None or _unlikely(page, account, claim)):
        return left[0]
    return None


def _unlikely(page: Page, account: Account, claim: RaiseClaim) -> bool:
    """Whether the type does not come about by itself here; TypeError and its like always may."""
    others = [one for one in account.claims if any(covers(page.source, one.type, r) for r in account.raises)]
    return not may_raise(page.source, account.symbol, claim.type) or not others


def _misquoted(
    page: Page, symbol: Symbol, claim: RaiseClaim, same_type: Sequence[Raise], raises: Sequence[Raise]
) -> Finding | None:
    message = claim.message or ""
    verdict, real = best_match(message, same_type)
    if verdict == "same" or real is None or is_own_message(claim.type, message):
        return None
    if is_written_there(page.source, same_type, message) or _is_a_parameter(symbol, message):
        return None
    if verdict == "unknown" and not _gives_no_message(page.source, real):
        return None
    elsewhere = [one for one in raises if one not in same_type and compare_message(message, one) == "same"]
    if elsewhere:
        return _other_type(page, symbol, claim, elsewhere[0])
    closest = _most_alike(message, same_type)
    return report(
        catalogue.MISQUOTED_MESSAGE,
        claim.line,
        f'the document quotes `{claim.type}` with "{message}", the source raises {_shown_message(closest)}',
        evidence(page.source, closest),
        f"{_quote_fix(symbol, claim, closest)}",
        symbol=symbol,
        stated=message,
        actual=closest.message or "",
    )


def _gives_no_message(source: Source, one: Raise) -> bool:
    """Whether the ``raise`` line itself shows that there is no message, so that any quote is invented."""
    text = source.lines[one.line - 1] if 0 < one.line <= len(source.lines) else ""
    return (
        re.search(r"\braise\s+[\w.]+\s*(?:\(\s*\))?\s*(?:from\s+\w+\s*)?(?:#.*)?$", text) is not None
        and "raise" in text
    )


def _is_a_parameter(symbol: Symbol, message: str) -> bool:
    """Whether the quoted word only names a parameter: saying that "values" must not be empty."""
    return message.isidentifier() and message in parameters_of(symbol)


def _shown_message(one: Raise) -> str:
    return "it without a message" if one.message is None else f'"{one.message}"'


def _quote_fix(symbol: Symbol, claim: RaiseClaim, real: Raise) -> str:
    if real.message is None:
        return f'Remove the message "{claim.message}": `{symbol.qualname}` raises `{real.type}` without one.'
    return f'Quote the message of `{real.type}` as "{real.message}", not "{claim.message}".'


def _most_alike(message: str, options: Sequence[Raise]) -> Raise:
    from difflib import SequenceMatcher  # only needed once something is wrong

    return max(options, key=lambda one: SequenceMatcher(None, message, one.message or "").ratio())


def _other_type(page: Page, symbol: Symbol, claim: RaiseClaim, real: Raise) -> Finding:
    return report(
        catalogue.WRONG_EXCEPTION,
        claim.line,
        f'the document gives "{claim.message}" to `{claim.type}`, the source raises {show(real)}',
        evidence(page.source, real),
        f"Write that `{symbol.qualname}` raises {show(real)}, not `{claim.type}`.",
        symbol=symbol,
        stated=claim.type,
        actual=real.type,
    )


def _gaps(page: Page, account: Account) -> Iterator[Finding]:
    """Raises that no claim names, once a type."""
    symbol = account.symbol
    if not symbol.public or symbol.qualname not in page.documented or page.source.inherits_constructor(symbol):
        return
    for one in _one_a_type(account.raises, account.covered):
        if one in symbol.raises and not _is_abstract(one):
            yield _gap(page, account, one)


def _is_abstract(one: Raise) -> bool:
    return one.type == "NotImplementedError" and not one.message


def _one_a_type(raises: Sequence[Raise], covered: set[Raise]) -> list[Raise]:
    """The first uncovered raise of each type, direct ones before those of called functions."""
    found: dict[str, Raise] = {}
    for one in sorted(raises, key=lambda candidate: (len(candidate.via), candidate.line)):
        if one not in covered:
            found.setdefault(one.type, one)
    return list(found.values())


def _gap(page: Page, account: Account, one: Raise) -> Finding:
    public = is_public_route(one)
    rule = catalogue.UNDOCUMENTED_INDIRECT if public else catalogue.UNDOCUMENTED_EXCEPTION
    way = f" (through `{one.via[-1]}`)" if one.via else ""
    return report(
        rule,
        _line_of_gap(page, account),
        f"the document does not say that `{account.symbol.qualname}` raises {show(one)}{way}",
        evidence(page.source, one),
        f"Say that `{account.symbol.qualname}` raises {show(one)}.",
        "warning" if _is_said_otherwise(page, account.symbol, one) else None,
        symbol=account.symbol,
        actual=one.type,
    )


def _line_of_gap(page: Page, account: Account) -> int:
    return account.claims[0].line if account.claims else page.line_of(account.symbol)


def _is_said_otherwise(page: Page, symbol: Symbol, one: Raise) -> bool:
    """Whether class, module or an example's comment are said to raise it, or the section names it in other words."""
    if tells_of(page.section_text(symbol), one.type):
        return True
    general = [*page.raises.get("", []), *_of_the_class(page, symbol)]
    return any(covers(page.source, claim.type, one) for claim in general) or _is_in_an_example(page, symbol, one)


def _is_in_an_example(page: Page, symbol: Symbol, one: Raise) -> bool:
    """Whether code of the symbol's own section names the type, in a comment or an ``except``."""
    name = re.compile(rf"\b{re.escape(one.type.rpartition('.')[2])}\b")
    return any(page.about(example.subject) is symbol and name.search(example.code) for example in page.claims.examples)


def _of_the_class(page: Page, symbol: Symbol) -> list[RaiseClaim]:
    """What the page says of the class around a method, as far as it does not speak of the constructor."""
    owner = page.source.owner(symbol)
    claims = page.raises.get(owner.qualname, []) if owner else []
    made = owner.raises if owner else ()
    return [claim for claim in claims if not any(covers(page.source, claim.type, each) for each in made)]


def _without_message(page: Page, account: Account) -> Iterator[Finding]:
    """Documented types whose message no claim gives, in quotes or in passing."""
    for one in account.raises:
        claims = [claim for claim in account.claims if covers(page.source, claim.type, one)]
        if not claims or not one.message or one.message.strip().startswith("{") or is_public_route(one):
            continue
        if any(_gives_message(claim, one) for claim in claims) or _is_misquote_of(account, claims, one):
            continue
        if account.symbol.kind == "class" and one not in account.symbol.raises:
            continue
        yield report(
            catalogue.MESSAGE_LEFT_OUT,
            claims[0].line,
            f"`{one.type}` of `{account.symbol.qualname}` is documented without its message",
            evidence(page.source, one),
            f'Quote the message of `{one.type}`: "{one.message}".',
            symbol=account.symbol,
            actual=one.message,
        )


def _gives_message(claim: RaiseClaim, one: Raise) -> bool:
    if claim.message is not None and compare_message(claim.message, one) == "same":
        return True
    return not one.template and normalise(one.message or "").rstrip(".") in normalise(claim.text)


def _is_misquote_of(account: Account, claims: list[RaiseClaim], one: Raise) -> bool:
    """Whether a claim quotes a wrong message in this one's place, which is reported as that."""
    same_type = [other for other in account.raises if other.type == one.type]
    wrong = [
        claim
        for claim in claims
        if claim.message and best_match(claim.message, same_type)[0] not in {"same", "unknown"}
    ]
    return any(_most_alike(claim.message or "", same_type) == one for claim in wrong)


def _module_claim(page: Page, claim: RaiseClaim) -> Iterator[Finding]:
    """A claim without a subject: only its message can be wrong, and only for a type that the module raises."""
    everything = [one for symbol in page.source.symbols.values() for one in symbol.raises]
    same_type = [one for one in everything if _same_kind(page.source, claim.type, one)]
    if not same_type or claim.message is None:
        return
    anything = required_symbols(page.source) or list(page.source.symbols.values())
    finding = _misquoted(page, anything[0], claim, same_type, everything)
    if finding:
        yield finding
