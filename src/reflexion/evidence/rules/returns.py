"""R4xx: what a document says of returned values."""

import re
from collections.abc import Iterator

from reflexion.evidence.claims import ReturnClaim
from reflexion.evidence.facts import Symbol
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import Page, nearest, report, spoken
from reflexion.evidence.rules.names import every_signature
from reflexion.evidence.rules.parameters import level_of
from reflexion.evidence.types import GRAVITY, Verdict, compare_types, read_type
from reflexion.patterns import regex

PRODUCERS = frozenset({"Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"})
WRAPPERS = PRODUCERS | {"Awaitable", "Coroutine", "ContextManager", "AbstractContextManager", "AsyncContextManager"}
_MAY_BE_TRUE = regex(r"[Bb]ool|TypeGuard|TypeIs|\bint\b|\bAny\b|Literal")
MANAGED = regex(r"contextmanager|fixture|overload")


def check_returns(page: Page) -> Iterator[Finding]:
    """Every R4xx finding about a statement of what is returned."""
    for claim in page.claims.returns:
        symbol = page.about(claim.subject)
        if symbol is None or symbol.kind == "class":
            continue
        wrong_type = _wrong_type(page, claim, symbol)
        if wrong_type:
            yield wrong_type
        yield from _wrong_keys(page, claim, symbol)


def return_types(symbol: Symbol) -> list[str]:
    """The return annotations of a symbol, one a signature; a property's own annotation."""
    if symbol.signatures:
        return [signature.returns for signature in every_signature(symbol) if signature.returns]
    return [symbol.annotation] if symbol.annotation else []


def _wrong_type(page: Page, claim: ReturnClaim, symbol: Symbol) -> Finding | None:
    actual = return_types(symbol)
    stated = "None" if claim.none and not claim.type else claim.type
    if not actual or not stated or any(MANAGED.search(decorator) for decorator in symbol.decorators):
        return None
    level = level_of(_verdict(page, claim, stated, actual))
    level = None if _is_one_value(claim) and (level != "error" or any(map(_MAY_BE_TRUE.search, actual))) else level
    verb = "yields" if claim.yields else "returns"
    return level and return_finding(page, symbol, claim.line, (stated, actual), level, verb)


def return_finding(
    page: Page, symbol: Symbol, line: int, types: tuple[str, list[str]], level: Level, verb: str = "returns"
) -> Finding:
    """The finding that the first is said to be returned, where the source's signatures have the others."""
    stated, actual = types
    true = " or ".join(f"`{one}`" for one in actual)
    return report(
        catalogue.WRONG_RETURN,
        line,
        f"the document says that `{symbol.qualname}` {verb} `{stated}`, the source {true}",
        page.source.quote_name(symbol, symbol.name) if symbol.decorators else page.source.quote(symbol.line),
        f"Write {true} as the return type of `{symbol.qualname}`, not `{stated}`.",
        level,
        symbol=symbol,
        stated=stated,
        actual=" | ".join(actual),
    )


def _verdict(page: Page, claim: ReturnClaim, stated: str, actual: list[str]) -> Verdict:
    """The best of all signatures; where several types are named for several signatures, the worst of those."""

    def best(said: str) -> Verdict:
        return min((_compare(page, claim, said, one) for one in actual), key=GRAVITY.index)

    named = stated.split(" or ")
    if len(named) == 1 or len(actual) == 1:
        return best(stated)
    return min(best(stated), max(map(best, named), key=GRAVITY.index), key=GRAVITY.index)


def _is_one_value(claim: ReturnClaim) -> bool:
    """Whether the type follows from a value in the words: "True on success"."""
    return claim.type == "bool" and "bool" not in claim.text.lower()


def _compare(page: Page, claim: ReturnClaim, stated: str, actual: str) -> Verdict:
    """An iterator's element type may be named for the iterator when the document says "yields"."""
    verdict = compare_types(stated, actual, page.source.types, none_matters=True)
    if GRAVITY.index(verdict) < GRAVITY.index("doubtful") or not is_producer(actual):
        return verdict
    element = re.sub(r"^[\w.]+\[", "", actual.strip().strip("'\"")).removesuffix("]")
    inner = compare_types(stated, element.partition(", None")[0], page.source.types)
    if claim.yields or GRAVITY.index(inner) < GRAVITY.index("doubtful"):
        return inner
    return verdict


def is_producer(actual: str) -> bool:
    """Whether what is returned hands out something else: an iterator, an awaitable, a context manager."""
    kinds = read_type(actual) or frozenset()
    return len(kinds) == 1 and next(iter(kinds)).name in WRAPPERS


def _wrong_keys(page: Page, claim: ReturnClaim, symbol: Symbol) -> Iterator[Finding]:
    true = symbol.returned_keys
    if true is None or not claim.keys:
        return
    for key in claim.keys:
        if key not in true:
            message = (
                f"the document says that the result of `{symbol.qualname}` has the key `{key}`, the source has none"
            )
            fix = f"Remove the key `{key}`{nearest(key, true)}; the keys are {spoken(true)}."
            where = page.source.quote_name(symbol, (*true, symbol.name)[0])
            unsaid = next((one for one in true if one not in (claim.keys or ())), "")
            yield report(
                catalogue.WRONG_KEYS, claim.line, message, where, fix, symbol=symbol, stated=key, actual=unsaid
            )
    for key in true:
        if key not in claim.keys:
            message = f"the keys of the result of `{symbol.qualname}` leave out `{key}`"
            fix = f"Add the key `{key}`; the keys are {spoken(true)}."
            where = page.source.quote_name(symbol, key)
            yield report(catalogue.WRONG_KEYS, claim.line, message, where, fix, symbol=symbol, actual=key)
