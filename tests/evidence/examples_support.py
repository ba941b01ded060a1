"""A source, and what runs a page of examples about it through the real sandbox."""

from functools import cache

from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.report import ExamplesReport
from reflexion.evidence.examples.runner import ExampleRunner
from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.importable import SourceTree, importable
from reflexion.sandbox import Limits, Sandbox
from tests.sandbox_support import bubblewrap

SOURCE = '''"""Accounts."""
import math
from dataclasses import dataclass
from enum import Enum


class Color(Enum):
    RED = 1
    BLUE = 2


class BankError(Exception):
    """Not enough."""


@dataclass
class Account:
    balance: float = 0.0
    rate: float = 0.05

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError(f"amount must be positive, not {amount}")
        self.balance += amount
        return self.balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise BankError("not enough money")
        self.balance -= amount
        return self.balance


class Plain:
    pass


def ratio(a, b):
    return a / b


def words(text):
    return set(text.split())


def show(value):
    print("value:", value)


async def fetch(value):
    return value * 2


def load(path):
    with open(path) as file:
        return file.read()


def find(path):
    raise FileNotFoundError("no account file")


def connect(host):
    import socket

    return socket.create_connection((host, 80), timeout=2)


def stamp():
    import time

    return time.time_ns()


_SEEN = []


def remember(value):
    _SEEN.append(value)
    return list(_SEEN)
'''
FACTS = facts_of_python(SOURCE, "bank")
SHORT = Limits(wall_s=6.0)


@cache
def sandbox() -> Sandbox:
    return bubblewrap()


def fenced(*codes: str, language: str = "python") -> str:
    return "# bank\n\n" + "\n".join(f"Example:\n\n```{language}\n{code}\n```\n" for code in codes)


def run_page(document: str, tree: SourceTree | None = None, limits: Limits | None = None) -> ExamplesReport:
    runner = ExampleRunner(sandbox(), tree or importable(None, SOURCE, "bank"), limits=limits)
    return runner.run(read_claims(document), FACTS)


def found(document: str) -> list[tuple[str, int]]:
    report = run_page(document)
    assert report.not_run == ()
    return [(one.rule, one.line) for one in report.findings]


def each(*codes: str, language: str = "python") -> list[list[Finding]]:
    """The findings of each of several examples, run as one page."""
    page = fenced(*codes, language=language)
    report = run_page(page)
    assert report.not_run == ()
    extents = [(one.line, one.end_line) for one in read_claims(page).examples]
    assert len(extents) == len(codes)
    return [[one for one in report.findings if first <= one.line <= last] for first, last in extents]


def rules(*codes: str, language: str = "python") -> list[list[str]]:
    return [[one.rule for one in found] for found in each(*codes, language=language)]


def reasons(*codes: str, limits: Limits | None = None) -> list[str]:
    """Why each of several examples was not run; all of them have to be such."""
    report = run_page(fenced(*codes), limits=limits)
    assert report.findings == ()
    assert (report.total, report.ran, len(report.not_run)) == (len(codes), 0, len(codes))
    return [one.reason for one in report.not_run]
