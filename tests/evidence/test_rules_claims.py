"""The rules on claims made by hand, so that no reader of Markdown stands between: true claims give no finding."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reflexion.evidence.claims import (
    BaseClaim,
    ClaimedParameter,
    Claims,
    ConstantClaim,
    DenialClaim,
    ParameterClaim,
    ParameterList,
    RaiseClaim,
    ReturnClaim,
    SignatureClaim,
    SymbolClaim,
)
from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.context import Page, required_symbols
from reflexion.evidence.rules.denials import check_denials
from reflexion.evidence.rules.exceptions import check_exceptions
from reflexion.evidence.rules.names import Source, every_signature, parameters_of
from reflexion.evidence.rules.parameters import check_parameters
from reflexion.evidence.rules.returns import check_returns
from reflexion.evidence.rules.signatures import check_signatures
from reflexion.evidence.rules.symbols import check_symbols
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.values import default_text

CORPUS = sorted((Path(__file__).parents[2] / "benchmarks" / "truth_corpus").glob("*.py"))
CHECKS = (check_symbols, check_parameters, check_signatures, check_exceptions, check_denials, check_returns)


def _check(claims: Claims, facts: Facts) -> list[Finding]:
    page = Page(claims, Source(facts))
    return [finding for check in CHECKS for finding in check(page)]


def _true_claims(facts: Facts) -> Claims:
    """All that a complete and true document of the facts claims; each symbol at its own line."""
    symbols = required_symbols(Source(facts))
    return Claims(
        symbols=tuple(SymbolClaim(one.line, one.qualname, None, None, "heading", one.qualname) for one in symbols),
        signatures=tuple(claim for one in symbols for claim in _signatures(one)),
        parameters=tuple(claim for place, one in enumerate(symbols) for claim in _parameters(one, place)),
        parameter_lists=tuple(
            ParameterList(one.line, one.line, one.qualname, place, tuple(parameters_of(one)), "list")
            for place, one in enumerate(symbols)
            if parameters_of(one)
        ),
        returns=tuple(
            ReturnClaim(one.line, one.qualname, signature.returns, one.returned_keys)
            for one in symbols
            for signature in one.signatures
            if signature.returns
        ),
        raises=tuple(
            RaiseClaim(one.line, one.qualname, each.type, each.message) for one in symbols for each in one.raises
        ),
        constants=tuple(
            ConstantClaim(one.line, one.qualname, None, one.value, one.annotation)
            for one in symbols
            if one.kind in {"constant", "enum member"}
        ),
        bases=tuple(BaseClaim(one.line, one.qualname, one.bases) for one in symbols if one.bases),
    )


def _signatures(symbol: Symbol) -> Iterator[SignatureClaim]:
    for signature in every_signature(symbol):
        shown = tuple(ClaimedParameter(p.name, p.kind, p.annotation, default_text(p)) for p in signature.parameters)
        text = "class X" if symbol.kind == "class" else "async def x" if symbol.is_async else "def x"
        is_class = symbol.kind == "class"
        returns = None if is_class else signature.returns
        yield SignatureClaim(
            symbol.line, symbol.qualname, None, shown, returns, symbol.is_async, is_class=is_class, text=text
        )


def _parameters(symbol: Symbol, list_id: int) -> Iterator[ParameterClaim]:
    for name, parameter in parameters_of(symbol).items():
        default = default_text(parameter)
        yield ParameterClaim(symbol.line, symbol.qualname, name, parameter.annotation, default, None, list_id)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_true_claims_about_the_corpus_give_no_finding(path: Path) -> None:
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    assert _check(_true_claims(facts), facts) == []


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_each_raise_that_is_left_out_is_found(path: Path) -> None:
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    claims = _true_claims(facts)
    for place, claim in enumerate(claims.raises):
        others = claims.raises[:place] + claims.raises[place + 1 :]
        found = _check(replace(claims, raises=others), facts)
        still_named = any(one.subject == claim.subject and one.type == claim.type for one in others)
        expected = {"E305"} if still_named else {"E301", "E302"}
        bases = {one.type for one in others if one.subject == claim.subject}
        if not bases & set(Source(facts).ancestors(claim.type)) and not Source(facts).inherits_constructor(
            Source(facts).symbols[claim.subject or ""]
        ):
            assert {one.rule for one in found} <= expected, claim
            assert found


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_each_wrong_exception_type_with_the_true_message_is_found_at_its_line(path: Path) -> None:
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    claims = _true_claims(facts)
    for place, claim in enumerate(claims.raises):
        if not claim.message or claim.message.startswith("{"):
            continue
        wrong = (*claims.raises[:place], claim._replace(type="BufferError"), *claims.raises[place + 1 :])
        found = [one for one in _check(replace(claims, raises=wrong), facts) if one.level == "error"]
        assert {(one.rule, one.line) for one in found} <= {("E303", claim.line)}
        through = {one.through_public for s in facts.walk() if s.qualname == claim.subject for one in s.raises}
        assert found or True in through


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_each_symbol_that_is_left_out_is_found(path: Path) -> None:
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    claims = _true_claims(facts)
    for symbol in facts.symbols:
        if symbol.qualname not in {claim.name for claim in claims.symbols} or symbol.kind not in {
            "function",
            "constant",
        }:
            continue
        found = _check(_without(claims, symbol.qualname), facts)
        assert [(one.rule, one.level) for one in found] == [("S101", "error")]


def _without(claims: Claims, name: str) -> Claims:
    return Claims(
        symbols=tuple(one for one in claims.symbols if one.name != name),
        signatures=tuple(one for one in claims.signatures if one.name != name),
        parameters=tuple(one for one in claims.parameters if one.subject != name),
        parameter_lists=tuple(one for one in claims.parameter_lists if one.subject != name),
        returns=tuple(one for one in claims.returns if one.subject != name),
        raises=tuple(one for one in claims.raises if one.subject != name),
        constants=tuple(one for one in claims.constants if one.name != name),
        bases=tuple(one for one in claims.bases if one.subject != name),
    )


def test_a_denial_is_refuted_by_each_symbol_that_raises() -> None:
    for path in CORPUS:
        facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
        for symbol in required_symbols(Source(facts)):
            denials = (DenialClaim(symbol.line, symbol.qualname, None, "Raises nothing."),)
            found = [
                one for one in _check(replace(_true_claims(facts), denials=denials), facts) if one.level == "error"
            ]
            own = any(not one.through_public for one in symbol.raises)
            assert [one.rule for one in found] == (["E306"] if own else [])
