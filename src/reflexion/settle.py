"""What ships of a run: the best candidate, mended as far as code can, verified as it will be read. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Check, Finding
from reflexion.evidence.repair import repair
from reflexion.verdict import errors_in


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may ship, the critic's average for it (None: unscored), and what code found in it."""

    text: str
    score: int | None
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Settled:
    """The text that ships. ``findings`` are those of this very text; ``mended`` says line by line what code changed.

    ``assembled``: too much was wrong, so the page was put together from the facts and the prose that survived.
    """

    text: str
    score: int | None
    findings: Sequence[Finding]
    mended: tuple[str, ...] = ()
    assembled: bool = False


def settle(candidates: Sequence[Candidate], facts: Facts | None, check: Check) -> Settled:
    """Return the best candidate; one with errors is repaired first.

    ``check`` verifies a text of this source. Raises SandboxError where ``check`` does.
    """
    best = best_candidate(candidates)
    if not errors_in(best.findings):
        return Settled(best.text, best.score, best.findings)
    repaired = repair(best.text, facts, check)
    return Settled(repaired.text, best.score, repaired.findings, repaired.mended, repaired.assembled)


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the fewest errors, then the best score, then the latest."""
    # max() keeps the first of equals, so the latest comes first.
    return max(reversed(candidates), key=lambda one: (-len(errors_in(one.findings)), _rank(one.score)))


def _rank(score: int | None) -> int:
    return -1 if score is None else score
