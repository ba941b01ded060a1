"""P205 and R401 for types in sentences: an error where the source plainly has another type, else nothing."""

import builtins
import re
from collections.abc import Iterator

from reflexion.evidence.claims import TypeClaim
from reflexion.evidence.facts import Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.context import Page
from reflexion.evidence.rules.names import BARE_BASES, every_signature, parameters_of
from reflexion.evidence.rules.parameters import VARIADIC, type_finding
from reflexion.evidence.rules.returns import MANAGED, is_producer, return_finding, return_types
from reflexion.evidence.syntax import is_literal
from reflexion.evidence.typenames import is_known_type
from reflexion.evidence.types import compare_types
from reflexion.patterns import regex

# Sentences are looser than tables: what PEP 484 lets stand for each other, and sets of both kinds, pass.
_PROMOTED = (
    (regex(r"\b(?:bool|boolean|int|integer|complex)\b"), "float"),
    (regex(r"\b(?:bytearray|memoryview)\b"), "bytes"),
    (regex(r"\b(?:frozenset|FrozenSet|AbstractSet|MutableSet|Set)\b"), "set"),
)
_CODE = regex(r"`([^`]+)`")
_CALLED = frozenset({"function", "method", "class"})


def check_told_types(page: Page) -> Iterator[Finding]:
    """Every finding about a type that a sentence gives to a parameter, or to what is returned."""
    for claim in page.claims.types:
        symbol = page.about(claim.subject)
        if symbol is None or symbol.kind not in _CALLED or not _is_about(page, symbol, claim):
            continue
        finding = _result(page, symbol, claim) if claim.name is None else _parameter(page, symbol, claim, claim.name)
        if finding:
            yield finding


def _is_about(page: Page, symbol: Symbol, claim: TypeClaim) -> bool:
    """Whether the sentence is about this symbol alone: it has no code but names and values of its own, and types."""
    own = {*parameters_of(symbol), symbol.name, symbol.qualname}
    for code in _CODE.findall(claim.text):
        name = code.strip().lstrip("*").removesuffix("()")
        known = name in own or is_known_type(code) or is_literal(code)
        stands = page.source.resolve(name)
        if not known and (stands is None or stands.kind not in {"class", "constant"}):
            return False
    return True


def _parameter(page: Page, symbol: Symbol, claim: TypeClaim, name: str) -> Finding | None:
    options = [one for signature in every_signature(symbol) for one in signature.parameters if one.name == name]
    annotations = [one.annotation for one in options if one.annotation]
    named_otherwise = name in (symbol.returned_keys or ()) or _is_attribute(page, symbol, name)
    if not options or len(annotations) < len(options) or named_otherwise or options[-1].kind in VARIADIC:
        return None
    if not all(_is_another(page, claim.type, one) for one in annotations):
        return None
    return type_finding(page, symbol, claim.line, name, (claim.type, annotations[-1]), "error")


def _is_attribute(page: Page, symbol: Symbol, name: str) -> bool:
    """Whether a name in a class's section may be that of an attribute, which is set to something else."""
    made_of_fields = symbol.flavour in {"dataclass", "namedtuple"}
    return symbol.kind == "class" and name in page.source.names.attributes and not made_of_fields


def _result(page: Page, symbol: Symbol, claim: TypeClaim) -> Finding | None:
    actual = return_types(symbol)
    read_already = any(
        one.line == claim.line and one.subject == claim.subject and one.type == claim.type
        for one in page.claims.returns
    )
    unsure = symbol.is_generator or any(map(MANAGED.search, symbol.decorators)) or any(map(is_producer, actual))
    if not actual or symbol.kind == "class" or read_already or unsure:
        return None
    if not all(_is_another(page, claim.type, one) for one in actual):
        return None
    return return_finding(page, symbol, claim.line, (claim.type, actual), "error")


def _is_another(page: Page, stated: str, actual: str) -> bool:
    """Whether two types have no value in common, by all that is known."""
    if any(_has_foreign_base(page, name) for name in re.findall(r"[A-Za-z_][\w.]*", actual)):
        return False
    pairs = ((stated, actual), (_promoted(stated), _promoted(actual)))
    return all(compare_types(*pair, page.source.types) == "different" for pair in pairs)


def _has_foreign_base(page: Page, name: str) -> bool:
    """Whether a class of the module comes from one that is neither known nor the module's own."""
    symbol = page.source.resolve(name)
    above = page.source.ancestors(symbol.qualname) if symbol is not None and symbol.kind == "class" else ()
    known = BARE_BASES | page.source.symbols.keys()
    return any(one not in known and not hasattr(builtins, one) for one in above)


def _promoted(text: str) -> str:
    for pattern, name in _PROMOTED:
        text = pattern.sub(name, text)
    return text
