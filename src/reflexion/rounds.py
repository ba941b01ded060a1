"""Rounds of drafting and review: what is kept of each, which one is best, and when to stop. Pure functions."""

from collections.abc import Sequence
from typing import Any, TypedDict

from reflexion.events import RoundScored
from reflexion.evidence.finding import Finding
from reflexion.verdict import at_bar


class Round(TypedDict):
    """One round as it was. ``draft`` is "" when the generator's reply could not be used.

    ``contract``, 0 to 100, is code's own sub-score: the share of the facts that the draft tells and nothing in it
    contradicts; None without facts. ``examples``, 0 to 100, is the share of its examples that do what the draft says;
    None where none ran. ``skipped``: the critic was not asked, since code had proof already.
    """

    number: int
    draft: str
    technical_accuracy: int | None
    completeness: int | None
    score: int | None
    contract: int | None
    examples: int | None
    skipped: bool
    findings: list[dict[str, Any]]
    fix: str
    trouble: str
    calls: list[dict[str, Any]]


def best_round(rounds: Sequence[Round]) -> Round | None:
    """Return the round with the fewest errors, then the best score, then the latest; None without any draft."""
    drafted = [item for item in rounds if item["draft"]]
    return max(reversed(drafted), key=_rank, default=None)


def _rank(item: Round) -> tuple[int, int]:
    return -errors_of(item), -1 if item["score"] is None else item["score"]


def errors_of(item: Round) -> int:
    """Return how many error findings the round's draft has."""
    return sum(finding["level"] == "error" for finding in item["findings"])


def stop_reason(rounds: Sequence[Round], bar: int, max_attempts: int) -> str:
    """Name the reason to stop, or return "" to go on. No field that a model wrote can keep the loop alive."""
    this, before = rounds[-1], rounds[-2] if len(rounds) > 1 else None
    findings = [Finding(**item) for item in this["findings"]]
    if at_bar(this["score"], bar, findings):
        return "approved"
    if before and this["draft"] and _is_plateau(this, before):
        return "plateau"
    if before and _is_unscored(this) and _is_unscored(before):
        return "unscored"
    return "attempts spent" if this["number"] >= max_attempts else ""


def _is_unscored(item: Round) -> bool:
    return bool(item["draft"]) and item["score"] is None and not item["skipped"]


def _is_plateau(this: Round, before: Round) -> bool:
    if this["draft"] == before["draft"]:
        return True
    same = errors_of(this) > 0 and _error_keys(this) == _error_keys(before)
    return same and (this["score"] or 0) <= (before["score"] or 0)


def _error_keys(item: Round) -> set[tuple[str, str]]:
    return {(finding["rule"], finding["message"]) for finding in item["findings"] if finding["level"] == "error"}


def scored(source: str, this: Round, bar: int) -> RoundScored:
    """Return the event that tells of a round."""
    errors = errors_of(this)
    return RoundScored(
        source=source,
        round=this["number"],
        technical_accuracy=this["technical_accuracy"],
        completeness=this["completeness"],
        contract=this["contract"],
        examples=this["examples"],
        score=this["score"],
        bar=bar,
        errors=errors,
        warnings=len(this["findings"]) - errors,
        fix=this["fix"],
        trouble=this["trouble"],
    )
