"""E306: statements that nothing, or not a certain exception, is raised, which a ``raise`` contradicts."""

from collections.abc import Iterator

from reflexion.evidence.claims import DenialClaim
from reflexion.evidence.facts import Raise, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import Page, report, required_symbols
from reflexion.evidence.rules.exceptions import CALLABLE, covers, evidence, is_public_route, show
from reflexion.evidence.rules.wording import leaves_open


def check_denials(page: Page) -> Iterator[Finding]:
    """Every denial that the source contradicts."""
    for claim in page.claims.denials:
        if leaves_open(claim.text):
            continue
        symbol = page.about(claim.subject)
        finding = _module_denial(page, claim) if symbol is None else _denial(page, claim, symbol)
        if finding:
            yield finding


def _denial(page: Page, claim: DenialClaim, symbol: Symbol) -> Finding | None:
    refuting = _refuting(page, claim, symbol.raises)
    if refuting is not None:
        return _finding(page, claim, symbol, refuting, warning=is_public_route(refuting))
    inside = _refuting(page, claim, tuple(one for member in symbol.members if member.public for one in member.raises))
    return _finding(page, claim, symbol, inside, warning=True) if inside is not None else None


def _refuting(page: Page, claim: DenialClaim, raises: tuple[Raise, ...]) -> Raise | None:
    found = [one for one in raises if claim.type is None or covers(page.source, claim.type, one)]
    return min(found, key=lambda one: (is_public_route(one), len(one.via), one.line), default=None)


def _module_denial(page: Page, claim: DenialClaim) -> Finding | None:
    """A denial without a subject: sure where everything that can be called raises, else a doubt."""
    if claim.subject is not None and page.source.is_ambiguous(claim.subject):
        return None
    called = [symbol for symbol in required_symbols(page.source) if symbol.kind in CALLABLE and symbol.kind != "class"]
    refuted = [(symbol, one) for symbol in called if (one := _refuting(page, claim, symbol.raises)) is not None]
    if not refuted:
        return None
    return _finding(page, claim, *refuted[0], warning=len(refuted) < len(called))


def _finding(page: Page, claim: DenialClaim, symbol: Symbol, one: Raise, *, warning: bool) -> Finding:
    said = f"does not raise `{claim.type}`" if claim.type else "raises no exception"
    return report(
        catalogue.DENIED_EXCEPTION,
        claim.line,
        f"the document says that `{symbol.qualname}` {said}, the source raises {show(one)}",
        evidence(page.source, one),
        f"Remove that statement and say that `{symbol.qualname}` raises {show(one)}.",
        "warning" if warning else None,
        symbol=symbol,
        stated=claim.text,
    )
