"""What became of a page's examples, as plain frozen records."""

from dataclasses import dataclass
from typing import Protocol

from reflexion.evidence.claims import Claims
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding


@dataclass(frozen=True, slots=True)
class NotRun:
    """An example that says nothing about the page, since it could not be run; ``line`` is its fence's."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ExamplesReport:
    """What the Python examples of one page showed.

    ``total`` counts the page's Python examples, ``ran`` those that ran far enough to be judged or were judged without
    running (code that does not parse), ``failed`` those of them with an error, ``not_run`` the rest, each with its
    reason: a rest is never a pass.
    """

    findings: tuple[Finding, ...] = ()
    total: int = 0
    ran: int = 0
    failed: int = 0
    not_run: tuple[NotRun, ...] = ()

    @property
    def score(self) -> int | None:
        """Share, 0 to 100, of the examples that ran and do what the document says; None where none ran."""
        return 100 * (self.ran - self.failed) // self.ran if self.ran else None


def describe(report: ExamplesReport) -> str:
    """Return how many examples ran and why others did not, in one line; "" for a page without examples."""
    if not report.total:
        return ""
    told = f"{report.ran} of {report.total} ran"
    reasons = dict.fromkeys(one.reason for one in report.not_run)
    return f"{told}; not run: {'; '.join(reasons)}" if reasons else told


class RunsExamples(Protocol):
    """Whoever can judge the examples of a page: an ``ExampleRunner``."""

    def run(self, claims: Claims, facts: Facts) -> ExamplesReport:
        """Return what the examples of the page showed."""
        ...
