"""Verify a document: all rules, in one call, and what follows from their findings. No model.

There is no input or output either, unless examples are to be run.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reflexion.evidence.claims import Claims
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.catalogue import EXAMPLE_RULES
from reflexion.evidence.examples.report import RunsExamples
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.catalogue import FACT_RULES
from reflexion.evidence.rules.context import Page, required_symbols
from reflexion.evidence.rules.denials import check_denials
from reflexion.evidence.rules.exceptions import check_exceptions
from reflexion.evidence.rules.history import check_history
from reflexion.evidence.rules.names import Source, common_parameters
from reflexion.evidence.rules.parameters import check_parameters
from reflexion.evidence.rules.prose import TEXT_RULES, check_prose
from reflexion.evidence.rules.returns import check_returns
from reflexion.evidence.rules.rule import Rule
from reflexion.evidence.rules.signatures import check_signatures
from reflexion.evidence.rules.symbols import check_symbols
from reflexion.evidence.rules.told_types import check_told_types

ALL_RULES: tuple[Rule, ...] = (*FACT_RULES, *EXAMPLE_RULES, *TEXT_RULES)

# The gravest first: what misleads a caller into wrong code, then what is missing, then how the text looks.
GRAVITY = (
    "S102", "P203", "X602", "X601", "X603", "X604", "E303", "P207", "P206", "P204", "P205", "R401", "R402", "S103",
    "S104", "S105", "E304", "E306", "E301", "P201", "S101", "H501", "H502", "H503", "H504", "H505", "T",
)  # fmt: skip
_CHECKS = (
    check_symbols, check_parameters, check_told_types, check_signatures, check_exceptions, check_denials, check_returns,
)  # fmt: skip
FACT_FAMILIES = ("S", "P", "E", "R")


class CodeScores(NamedTuple):
    """Sub-scores that code gives.

    ``contract``, 0 to 100, is the share of the facts that are documented and not contradicted: 100 only without any
    error about facts. ``facts`` counts what a document of this source must tell: public symbols, their parameters,
    and the exceptions that they raise directly or through private helpers. ``wrong`` counts errors about facts,
    ``text`` all other errors.
    """

    contract: int
    facts: int
    wrong: int
    text: int


def verify(
    document: str,
    facts: Facts | None,
    *,
    off: frozenset[str] = frozenset(),
    source_text: str = "",
    examples: RunsExamples | None = None,
) -> list[Finding]:
    """Every finding about ``document``, by line.

    Without ``facts`` (a source that is not Python) only rules about text apply, and those about history and links
    where ``source_text`` is given. ``off`` holds codes or names of rules that are switched off. ``examples``, an
    ExampleRunner, runs the examples; without it, or without ``facts``, nothing is said about them.

    Raises SandboxError where ``examples`` does: trouble of the sandbox says nothing about the document.
    """
    claims = read_claims(document)
    text = source_text or (facts.text if facts else "")
    found = [*check_prose(document, text), *_check_facts(claims, facts, text)]
    if examples is not None and facts is not None:
        found.extend(examples.run(claims, facts).findings)
    disabled = {rule.code for rule in ALL_RULES if rule.code in off or rule.name in off}
    kept = {
        finding: None
        for finding in found
        if finding.rule not in disabled and not claims.is_silenced(finding.line, finding.rule)
    }
    return sorted(kept, key=lambda finding: (finding.line, finding.rule, finding.message))


def _check_facts(claims: Claims, facts: Facts | None, text: str) -> Iterator[Finding]:
    if text:
        yield from check_history(claims, text)
    if facts is None:
        return
    page = Page(claims, Source(facts))
    for check in _CHECKS:
        yield from check(page)


def unknown_rules(off: Iterable[str]) -> list[str]:
    """Those of the codes or names that no rule has, for the configuration to refuse."""
    known = {rule.code for rule in ALL_RULES} | {rule.name for rule in ALL_RULES}
    return sorted(set(off) - known)


def score(findings: Iterable[Finding], facts: Facts | None) -> CodeScores:
    """Sub-scores from the findings of ``verify``; without facts the contract cannot be judged and is 0 of 0."""
    errors = [finding for finding in findings if finding.level == "error"]
    wrong = sum(finding.rule.startswith(FACT_FAMILIES) for finding in errors)
    total = count_facts(facts) if facts else 0
    right = max(0, total - wrong)
    return CodeScores(100 * right // total if total else 0, total, wrong, len(errors) - wrong)


def count_facts(facts: Facts) -> int:
    """How many facts a document of this source must tell."""
    source = Source(facts)
    total = 0
    for symbol in required_symbols(source):
        parameters = [name for name in common_parameters(symbol) if not name.startswith("_")]
        types = {one.type for one in symbol.raises if not one.through_public}
        total += 1 + len(parameters) + len(types)
    return total


def worst(findings: Sequence[Finding]) -> Finding | None:
    """The one finding to have mended first; None without errors, since warnings never ask for a round."""
    return next(iter(by_gravity(findings)), None)


def by_gravity(findings: Iterable[Finding]) -> list[Finding]:
    """The errors among the findings, the gravest first."""
    errors = [finding for finding in findings if finding.level == "error"]
    return sorted(errors, key=lambda finding: (_gravity(finding.rule), finding.line))


def _gravity(code: str) -> int:
    places = [place for place, known in enumerate(GRAVITY) if code.startswith(known)]
    return places[0] if places else len(GRAVITY)
