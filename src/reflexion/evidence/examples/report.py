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
    running (code that does not parse), ``not_run`` the rest, each with its reason: a rest is never a pass.
    """

    findings: tuple[Finding, ...] = ()
    total: int = 0
    ran: int = 0
    not_run: tuple[NotRun, ...] = ()


class RunsExamples(Protocol):
    """Whoever can judge the examples of a page: an ``ExampleRunner``."""

    def run(self, claims: Claims, facts: Facts) -> ExamplesReport:
        """Return what the examples of the page showed."""
        ...
