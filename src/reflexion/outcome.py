"""How one source ended, and how a batch of them did."""

from dataclasses import dataclass, field
from typing import Literal

from reflexion.evidence.examples.report import ExamplesReport
from reflexion.evidence.finding import Finding
from reflexion.ollama.reply import CallStats
from reflexion.rounds import Round

Verdict = Literal["accepted", "not accepted"]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one source: the text that ships, its outcome, and everything that led to it.

    ``mended`` says line by line what code repaired, ``assembled`` that the page was put together from the facts and
    the prose that survived. ``examples`` is what the shipped text's examples showed; None where none can be run.
    """

    outcome: Verdict
    text: str
    score: int | None
    stop: str
    adjudication: str
    findings: tuple[Finding, ...]
    rounds: tuple[Round, ...]
    calls: tuple[CallStats, ...]
    mended: tuple[str, ...]
    assembled: bool
    examples: ExamplesReport | None


@dataclass(slots=True)
class Outcome:
    """Exit codes of a batch's files, how many were unchanged, and why it stopped early ("": it did not)."""

    codes: list[int] = field(default_factory=list)
    unchanged: int = 0
    stopped: str = ""

    def exit_code(self) -> int:
        """Return the one exit code: the first of 2, 3, 130, 4, 1, 0 that any file has."""
        return next((code for code in (2, 3, 130, 4, 1) if code in self.codes), 0)
