"""What the examples of a page are planned to do, for the tests."""

from reflexion.evidence.claims import Example
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.fences import read_code
from reflexion.evidence.examples.imports import SourceNames, source_names
from reflexion.evidence.examples.pages import Unparsed, plan_page
from reflexion.evidence.examples.plan import Plan
from reflexion.evidence.source import facts_of_python

SOURCE = '''"""Ratios."""
from decimal import Decimal


class RatioError(ValueError):
    """No ratio."""


class Account:
    """An account."""

    def deposit(self, amount):
        """Add."""
        return amount


def ratio(a, b):
    """Divide."""
    return a / b
'''
NAMES = source_names(facts_of_python(SOURCE, "ratios"), "ratios")


def plans(document: str, names: SourceNames = NAMES) -> list[Plan | Unparsed]:
    return plan_page(read_claims(document), names, SOURCE)


def plan(code: str, language: str = "python") -> Plan:
    (found,) = plans(f"# Ratios\n\n```{language}\n{code}\n```\n")
    assert isinstance(found, Plan)
    return found


def stated(code: str, language: str = "python") -> list[tuple[int, str]]:
    return [(one.line, one.texts[0]) for one in plan(code, language).stated if one.certainty != "guess"]


def expected(code: str) -> list[tuple[str, str | None, bool]]:
    return [(one.said.type, one.said.message, one.said.required) for one in plan(code).expected]


def is_example(code: str, language: str = "python") -> bool:
    example = Example(1, 9, 2, language, code)
    return read_code(example, frozenset(NAMES.top | {"ratios"}), SOURCE) is not None
