"""P206, P207 and what else a written signature gets wrong: kinds, names, order, defaults, types."""

from collections.abc import Iterator

from reflexion.evidence.claims import ClaimedParameter, SignatureClaim, SymbolClaim
from reflexion.evidence.facts import Parameter, Signature, Symbol
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import Page, report
from reflexion.evidence.rules.names import CONSTRUCTORS, Source, every_signature
from reflexion.evidence.rules.parameters import VARIADIC, default_finding, level_of, starred
from reflexion.evidence.rules.redefined import redefinitions
from reflexion.evidence.types import Verdict, compare_types
from reflexion.evidence.values import compare_values, default_text

PROPERTY_MARKS = ("property", "cached_property", "setter", "getter", "abstractproperty")
ASYNC_WORDS = ("async", "coroutine", "asynchronous")
BINDINGS = {"static method": "static", "class method": "class"}
MARKS = {"staticmethod": "static method", "classmethod": "class method"}


def check_signatures(page: Page) -> Iterator[Finding]:
    """Every finding about written signatures and the kinds a document gives to symbols."""
    for claim in (*page.claims.signatures, *redefinitions(page)):
        symbol = page.source.resolve(claim.name, claim.subject)
        if symbol is not None:
            kind = _kind_of_signature(page, claim, symbol)
            yield from [kind] if kind else []
            if not kind:
                yield from _structure(page, claim, symbol)
    for stated in page.claims.symbols:
        symbol = page.meant(stated)
        made = stated.name.rpartition(".")[2] in CONSTRUCTORS
        if symbol is not None and stated.kind_word and stated.where != "signature" and not made:
            yield from _kind_of_word(page, stated, symbol)


def is_property(symbol: Symbol) -> bool:
    """Whether the symbol is read, not called."""
    return symbol.kind == "property"


def true_kind(symbol: Symbol) -> str:
    """What a person calls the symbol: "async function", "static method", "property", ..."""
    words = {"static": "static method", "class": "class method"}
    noun = words.get(symbol.binding, symbol.kind) if symbol.kind == "method" else symbol.kind
    return ("async " if symbol.is_async else "") + noun


def _wrong_kind(page: Page, line: int, symbol: Symbol, said: str, level: Level | None = None) -> Finding:
    true = true_kind(symbol)
    return report(
        catalogue.WRONG_KIND,
        line,
        f"the document presents `{symbol.qualname}` as {said}, but it is a{'n' if true[0] in 'aeiou' else ''} {true}",
        page.source.quote(_definition_line(page.source, symbol)),
        f"Present `{symbol.qualname}` as a{'n' if true[0] in 'aeiou' else ''} {true}, not as {said}.",
        level,
        symbol=symbol,
        stated=said.removeprefix("an ").removeprefix("a "),
        actual=true,
    )


def _definition_line(source: Source, symbol: Symbol) -> int:
    """The ``def`` or ``class`` line, below any decorators."""
    for line in range(symbol.line, min(symbol.end_line, len(source.lines)) + 1):
        if source.lines[line - 1].lstrip().startswith(("def ", "async def ", "class ")):
            return line
    return symbol.line


def _kind_of_signature(page: Page, claim: SignatureClaim, symbol: Symbol) -> Finding | None:
    is_definition = claim.text.lstrip().startswith(("def ", "async def ", "@"))
    if symbol.kind in {"function", "method"}:
        return _kind_of_callable(page, claim, symbol, is_definition)
    called = is_definition or claim.where in {"heading", "bold", "list", "table"}
    if is_property(symbol) and called and not _said_to_be_property(page, claim, symbol):
        return _wrong_kind(page, claim.line, symbol, "a method that is called")
    if symbol.kind == "class" and is_definition and not claim.is_class and "__init__" not in claim.name:
        return _wrong_kind(page, claim.line, symbol, "a function")
    return None


def _kind_of_callable(page: Page, claim: SignatureClaim, symbol: Symbol, is_definition: bool) -> Finding | None:
    if claim.is_class:
        return _wrong_kind(page, claim.line, symbol, "a class")
    if claim.is_async and not symbol.is_async:
        return _wrong_kind(page, claim.line, symbol, "async")
    if is_definition and symbol.is_async and not claim.is_async:
        return _wrong_kind(page, claim.line, symbol, "a plain function (no `async`)")
    marks = {decorator.partition("(")[0].rpartition(".")[2] for decorator in claim.decorators}
    if marks & set(PROPERTY_MARKS):
        return _wrong_kind(page, claim.line, symbol, "a property")
    for mark, word in MARKS.items():
        if mark in marks and symbol.binding != BINDINGS[word]:
            return _wrong_kind(page, claim.line, symbol, f"a {word}")
    return _bound_name(page, claim, symbol)


def _bound_name(page: Page, claim: SignatureClaim, symbol: Symbol) -> Finding | None:
    """``self`` where there is none."""
    if claim.bound == "self" and symbol.kind == "method" and symbol.binding != "instance":
        return _wrong_kind(page, claim.line, symbol, "a method with `self`")
    return None


def _said_to_be_property(page: Page, claim: SignatureClaim, symbol: Symbol) -> bool:
    if any(mark in decorator for decorator in claim.decorators for mark in PROPERTY_MARKS):
        return True
    words = (
        stated.kind_word
        for stated in page.claims.symbols
        if stated.kind_word and page.source.resolve(stated.name, stated.subject) is symbol
    )
    return any("property" in word or "attribute" in word for word in words)


def _kind_of_word(page: Page, stated: SymbolClaim, symbol: Symbol) -> Iterator[Finding]:
    word = (stated.kind_word or "").lower()
    if _contradicts(word, symbol, page.source):
        article = "an" if word[0] in "aeiou" else "a"
        yield _wrong_kind(page, stated.line, symbol, f"{article} {word}")


def _contradicts(word: str, symbol: Symbol, source: Source) -> bool:
    """Whether a word for a kind cannot be said of the symbol; words that it does not know never can."""
    if symbol.kind in {"function", "method"}:
        return _contradicts_callable(word, symbol)
    if symbol.kind == "class":
        return _contradicts_class(word, symbol, source)
    if is_property(symbol):
        return word.endswith(("method", "function", "class")) or word in {"constant", "coroutine"}
    return word.endswith(("method", "function", "class")) or word in {"property", "coroutine", "exception"}


def _contradicts_callable(word: str, symbol: Symbol) -> bool:
    if any(part in word for part in ASYNC_WORDS) and not symbol.is_async and "iterator" not in word:
        return not any("async" in (signature.returns or "").lower() or "Awaitable" in (signature.returns or "")
                       for signature in symbol.signatures)  # fmt: skip
    if word in BINDINGS:
        return symbol.binding != BINDINGS[word]
    nouns = ("class", "property", "constant", "enum", "enumeration", "dataclass", "exception")
    return word in nouns


def _contradicts_class(word: str, symbol: Symbol, source: Source) -> bool:
    ancestors = set(source.ancestors(symbol.qualname))
    open_ended = symbol.open_bases
    if word in {"enum", "enumeration"}:
        return not open_ended and not any("Enum" in name or "Flag" in name for name in ancestors)
    if word in {"dataclass", "data class"}:
        return not open_ended and not symbol.decorators and not ancestors & {"NamedTuple", "TypedDict"}
    if word in {"exception", "exception class", "error"}:
        return not open_ended and not ancestors & {"Exception", "BaseException"}
    return word.endswith(("function", "method")) or word in {"property", "constant", "coroutine"}


def _structure(page: Page, claim: SignatureClaim, symbol: Symbol) -> list[Finding]:
    if is_property(symbol) or not symbol.signatures:
        return _returns(page, claim, symbol, symbol.annotation)
    options = [_against(page, claim, symbol, signature) for signature in every_signature(symbol)]
    return min(options, key=lambda found: (sum(finding.level == "error" for finding in found), len(found)))


def _against(page: Page, claim: SignatureClaim, symbol: Symbol, signature: Signature) -> list[Finding]:
    found = _returns(page, claim, symbol, signature.returns) if symbol.kind != "class" else []
    claim = _with_first(claim, signature)
    if claim.is_class and not claim.parameters:
        return found
    shape = _shape(claim, signature)
    if shape:
        problem, level = shape
        found.append(_wrong_signature(page, claim, symbol, signature, problem, level))
    true = {parameter.name: parameter for parameter in signature.parameters}
    for stated in claim.parameters:
        if stated.name in true:
            found += _parameter(page, claim, symbol, stated, true[stated.name])
    return found


def _with_first(claim: SignatureClaim, signature: Signature) -> SignatureClaim:
    """The claim with ``self`` or ``cls`` among its parameters where that is one like any other, as of a decorator."""
    first = signature.parameters[0].name if signature.parameters else None
    if claim.bound is None or claim.bound != first:
        return claim
    return claim._replace(parameters=(ClaimedParameter(claim.bound, "positional", None, None), *claim.parameters))


def _names_only(claim: SignatureClaim) -> bool:
    """Whether the signature is a title such as ``deposit(amount, currency)``, which shows names and no more."""
    bare = all(parameter.annotation is None and parameter.default is None for parameter in claim.parameters)
    return bare and not claim.text.lstrip().startswith(("def ", "async def ", "class ", "@"))


def _shape(claim: SignatureClaim, signature: Signature) -> tuple[str, Level] | None:
    """What is wrong with names, order and kinds, the gravest first."""
    said = [parameter.name for parameter in claim.parameters]
    true = [parameter.name for parameter in signature.parameters]
    invented = [name for name in said if name not in true]
    if invented:
        return f"has no parameter `{invented[0]}`", "error"
    missing = [parameter for parameter in signature.parameters if parameter.name not in said]
    if missing and not claim.abridged:
        needed = [one for one in missing if one.default is None and one.kind not in VARIADIC]
        mild = _names_only(claim) and not needed
        return f"also takes `{starred((needed or missing)[0])}`", "warning" if mild else "error"
    return _order(claim, signature, said, true) or _kinds(claim, signature)


def _order(claim: SignatureClaim, signature: Signature, said: list[str], true: list[str]) -> tuple[str, Level] | None:
    keyword_only = {parameter.name for parameter in signature.parameters if parameter.kind == "keyword-only"}
    ordered = [name for name in true if name in said and name not in keyword_only]
    if [name for name in said if name not in keyword_only] == ordered:
        return None
    return f"takes its parameters in another order: {', '.join(ordered)}", "warning" if claim.abridged else "error"


def _kinds(claim: SignatureClaim, signature: Signature) -> tuple[str, Level] | None:
    true = {parameter.name: parameter for parameter in signature.parameters}
    titled = _names_only(claim)
    for stated in claim.parameters:
        real = true[stated.name]
        if stated.kind == real.kind:
            continue
        if {stated.kind, real.kind} == {"positional", "positional-only"}:
            return f"takes `{stated.name}` as {real.kind}", "warning"
        return f"takes `{stated.name}` as {real.kind}", "warning" if titled or claim.abridged else "error"
    return None


def written(symbol: Symbol, signature: Signature) -> str:
    """The signature as Python writes it, without ``self``."""
    parts: list[str] = []
    kinds = [parameter.kind for parameter in signature.parameters]
    for place, parameter in enumerate(signature.parameters):
        if parameter.kind == "keyword-only" and "var-positional" not in kinds and kinds.index("keyword-only") == place:
            parts.append("*")
        parts.append(_written_parameter(parameter))
        if parameter.kind == "positional-only" and kinds[place + 1 : place + 2] != ["positional-only"]:
            parts.append("/")
    returns = f" -> {signature.returns}" if signature.returns and symbol.kind != "class" else ""
    return f"{symbol.name}({', '.join(parts)}){returns}"


def _written_parameter(parameter: Parameter) -> str:
    text = starred(parameter) + (f": {parameter.annotation}" if parameter.annotation else "")
    default = default_text(parameter)
    if default is None:
        return text
    return text + (f" = {default}" if parameter.annotation else f"={default}")


def _wrong_signature(
    page: Page, claim: SignatureClaim, symbol: Symbol, signature: Signature, problem: str, level: Level
) -> Finding:
    true = ("async def " if symbol.is_async else "") + written(symbol, signature)
    return report(
        catalogue.WRONG_SIGNATURE,
        claim.line,
        f"the signature of `{symbol.qualname}` is not the source's: it {problem}",
        page.source.quote(_definition_line(page.source, symbol)),
        f"Write the signature as `{true}`.",
        level,
        symbol=symbol,
        stated=claim.text,
        actual=true,
    )


def _parameter(
    page: Page, claim: SignatureClaim, symbol: Symbol, stated: ClaimedParameter, real: Parameter
) -> Iterator[Finding]:
    if real.kind not in VARIADIC:
        default = _default(page, claim, symbol, stated, real)
        yield from [default] if default else []
    if stated.annotation and real.annotation:
        annotation = real.annotation + (" | None" if real.default == "None" else "")
        verdict = compare_types(stated.annotation, annotation, page.source.types)
        level = level_of(verdict)
        if level:
            yield _signature_type(page, claim, symbol, stated, real, level)


def _signature_type(
    page: Page, claim: SignatureClaim, symbol: Symbol, stated: ClaimedParameter, real: Parameter, level: Level
) -> Finding:
    return report(
        catalogue.WRONG_TYPE,
        claim.line,
        f"the signature gives `{real.name}` of `{symbol.qualname}` the type `{stated.annotation}`, "
        f"the source `{real.annotation}`",
        page.source.quote_name(symbol, real.name),
        f"Write `{real.annotation}` as the type of `{real.name}` of `{symbol.qualname}`, not `{stated.annotation}`.",
        level,
        symbol=symbol,
        stated=stated.annotation or "",
        actual=real.annotation or "",
    )


def _default(
    page: Page, claim: SignatureClaim, symbol: Symbol, stated: ClaimedParameter, real: Parameter
) -> Finding | None:
    if stated.default is None:
        hidden = real.default is not None and not stated.optional and not claim.abridged and not _names_only(claim)
        return default_finding(page, symbol, claim.line, real, "none", "error") if hidden else None
    if stated.default.strip() == "...":
        return None if real.default is not None else default_finding(page, symbol, claim.line, real, "...", "warning")
    if real.default is None:
        return default_finding(page, symbol, claim.line, real, stated.default, "error")
    level = level_of(compare_values(stated.default, default_text(real) or "", page.source.values))
    return default_finding(page, symbol, claim.line, real, stated.default, level) if level else None


def _returns(page: Page, claim: SignatureClaim, symbol: Symbol, actual: str | None) -> list[Finding]:
    if not claim.returns or not actual:
        return []
    level = level_of(_compare_returns(page, claim.returns, actual))
    if level is None:
        return []
    return [
        report(
            catalogue.WRONG_RETURN,
            claim.line,
            f"the signature of `{symbol.qualname}` returns `{claim.returns}`, the source's `{actual}`",
            page.source.quote(_definition_line(page.source, symbol)),
            f"Write `{actual}` as the return type of `{symbol.qualname}`, not `{claim.returns}`.",
            level,
            symbol=symbol,
            stated=claim.returns,
            actual=actual,
        )
    ]


def _compare_returns(page: Page, stated: str, actual: str) -> Verdict:
    return compare_types(stated, actual, page.source.types, none_matters=True)
