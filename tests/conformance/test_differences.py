"""Every difference is of a subject and of an expectation that exist, else it would excuse nothing in silence."""

import importlib
import pkgutil
from collections.abc import Iterator

from tests import conformance
from tests.conformance.differences import DIFFERENCES
from tests.conformance.subjects import KINDS


def expectations() -> Iterator[str]:
    for module in pkgutil.iter_modules(conformance.__path__):
        if module.name.startswith("test_"):
            for name, value in vars(importlib.import_module(f"{conformance.__name__}.{module.name}")).items():
                if name.startswith("test_"):
                    yield name
                    yield from (f"{name}[{case}]" for case in cases_of(value))


def cases_of(test: object) -> Iterator[str]:
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize" and mark.args[0] == "case":
            yield from (case.values[0].name for case in mark.args[1])


def test_differences_are_of_what_exists() -> None:
    assert {name for _, name in DIFFERENCES} <= set(expectations())


def test_the_real_server_is_the_measure() -> None:
    assert {subject for subject, _ in DIFFERENCES} <= {kind.name for kind in KINDS} - {"ollama"}
