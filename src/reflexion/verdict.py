"""Judgement by plain arithmetic: scores, the one fix to ask for, and when to stop. Pure functions."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from reflexion.evidence.finding import Finding

LONGEST_FIX = 1_000
GENERIC_FIX = (
    "Compare the document with the source line by line once more: every name, parameter, default, type, exception,"
    " message and number. Correct whatever differs."
)


class Critique(BaseModel):
    """A critic's verdict, and nothing else. Sub-scores run from 0 to 100; a fix names one place in the document."""

    model_config = ConfigDict(extra="ignore", strict=True)

    technical_accuracy: int = Field(ge=0, le=100)
    completeness: int = Field(ge=0, le=100)
    single_critical_fix: str


def average(critique: Critique) -> int:
    """Return the one number that meets the bar: the rounded mean of the critic's two sub-scores."""
    return round((critique.technical_accuracy + critique.completeness) / 2)


def is_degenerate(fix: str) -> bool:
    """Return whether a fix says nothing: empty, a few characters over and over, two words over and over, endless."""
    text = fix.strip()
    words = text.split()
    return (
        not text
        or len(set(text)) <= 4
        or (len(words) > 5 and len({word.casefold() for word in words}) <= 2)
        or len(text) > LONGEST_FIX
    )


def sanitise(fix: str) -> str:
    """Return the fix on one line, or the generic request where it is degenerate."""
    return GENERIC_FIX if is_degenerate(fix) else " ".join(fix.split())


def errors_in(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that block acceptance."""
    return [finding for finding in findings if finding.level == "error"]


def choose_fix(worst: Finding | None, critique: Critique | None) -> str:
    """Return the ONE fix for the next round: what code proved, else the critic's, else the generic request."""
    if worst is not None and worst.level == "error":
        evidence = f" Evidence: {worst.evidence}" if worst.evidence else ""
        return f"Line {worst.line}: {worst.message.rstrip('.')}. {worst.fix}{evidence}"
    return sanitise(critique.single_critical_fix) if critique else GENERIC_FIX


def at_bar(score: int | None, bar: int, findings: Sequence[Finding]) -> bool:
    """Return whether a round is good enough: a readable verdict at the bar, and nothing that code can refute."""
    return score is not None and score >= bar and not errors_in(findings)
