"""Both sandboxes with real pytest: a suite of many kinds of tests, isolated and imported, tells the same."""

import sys

import pytest

from reflexion.sandbox import Job
from reflexion.suite.isolation import decide, target_names
from tests.sandbox_support import bubblewrap, watched
from tests.suite.isolation_support import DRIVER, LIMITS, Ran, ran, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")

SUITE = """
import copy
import pytest
import solution
from solution import Overdrawn, chunks, deposit, normalise, sort_in_place, statistics_of, withdraw

@pytest.fixture
def account():
    return {"balance": 10, "log": []}

def test_in_place(account):
    assert deposit(account, 5) is None
    assert account == {"balance": 15, "log": [("deposit", 5)]}
    before = copy.deepcopy(account)
    with pytest.raises(Overdrawn, match="15 of 100") as caught:
        withdraw(account, 100)
    assert account == before
    assert caught.value.missing == 85

@pytest.mark.parametrize(("data", "expected"), [([], []), ([3, 1, 2], [1, 2, 3]), ([1.5, -0.0], [-0.0, 1.5])])
def test_sorted(data, expected):
    sort_in_place(data)
    assert data == expected

@pytest.mark.parametrize("bad", [None, "x", 1])
def test_bad(bad):
    with pytest.raises((TypeError, ValueError)):
        sort_in_place(bad)

class TestText:
    def setup_method(self):
        self.text = "  a  B\\tc "

    def test_normal(self):
        assert normalise(self.text) == "a b c"
        assert solution.normalise("") == ""
        assert isinstance(normalise("x"), str)

def test_chunks_are_lazy():
    pieces = chunks(range(5), 2)
    assert next(pieces) == [0, 1]
    assert list(pieces) == [[2, 3], [4]]
    with pytest.raises(ValueError):
        list(chunks([1], 0))

def test_numbers():
    found = statistics_of([1, 2, 3, 4])
    assert found["mean"] == pytest.approx(2.5)
    assert sorted(found) == ["max", "mean", "min"]
    assert found["max"] == 4 and found["min"] == 1
"""
RIGHT = """
class Overdrawn(ValueError):
    def __init__(self, balance, wanted):
        super().__init__(f"{balance} of {wanted}")
        self.missing = wanted - balance

def deposit(account, amount):
    account["balance"] += amount
    account["log"].append(("deposit", amount))

def withdraw(account, amount):
    if amount > account["balance"]:
        raise Overdrawn(account["balance"], amount)

def sort_in_place(data):
    if not isinstance(data, list):
        raise TypeError("no list")
    data.sort()

def normalise(text):
    return " ".join(text.split()).lower()

def chunks(items, size):
    if size < 1:
        raise ValueError("size")
    items = list(items)
    for at in range(0, len(items), size):
        yield items[at:at + size]

def statistics_of(numbers):
    return {"mean": sum(numbers) / len(numbers), "max": max(numbers), "min": min(numbers)}
"""


def imported(suite: str, candidate: str) -> Ran:
    """The same in one process, as Python has it."""
    files = {"solution.py": candidate.encode(), "test_suite.py": suite.encode(), "driver.py": DRIVER.encode()}
    return ran(bubblewrap().run(Job(files, ("driver.py",), LIMITS)), "")


def both(candidate: str) -> tuple[Ran, Ran]:
    assert decide(SUITE) == ""
    with watched():
        isolated = run(SUITE, candidate, target_names(SUITE), bubblewrap())
    return isolated, imported(SUITE, candidate)


def test_the_right_one_passes_both_ways() -> None:
    isolated, in_process = both(RIGHT)
    assert isolated.text.strip() == ""
    assert isolated.passed
    assert isolated.outcomes == in_process.outcomes
    assert len(isolated.outcomes) == 10


def test_wrong_ones_fail_the_same_tests_both_ways() -> None:
    wrong = RIGHT.replace("data.sort()", "data = sorted(data)").replace("{balance} of", "{balance} from")
    wrong = wrong.replace("+= amount", "-= amount").replace(".lower()", "").replace("/ len", "// len")
    isolated, in_process = both(wrong)
    assert not isolated.passed
    assert isolated.outcomes == in_process.outcomes
    assert set(isolated.outcomes.values()) == {"passed", "failed"}


CHEAT = """
import atexit, os, sys, _pytest.reports
original = _pytest.reports.TestReport.from_item_and_call
def cheat(item, call):
    report = original(item, call)
    report.outcome, report.longrepr = "passed", None
    return report
_pytest.reports.TestReport.from_item_and_call = cheat
for name in ("deposit", "withdraw", "sort_in_place", "normalise", "chunks", "statistics_of"):
    globals()[name] = lambda *_: None
class Overdrawn(ValueError): pass
"""


def test_a_cheat_that_passes_in_one_process_fails_isolated() -> None:
    isolated, in_process = both(CHEAT)
    assert in_process.passed
    assert not isolated.passed
    assert list(isolated.outcomes.values()).count("failed") >= 9


def test_what_is_told_of_trouble() -> None:
    answer = RIGHT.replace('return " ".join', "print('said so')\n    import os; os._exit(0)\n    return ''.join")
    with watched():
        gone = run(SUITE, answer, target_names(SUITE), bubblewrap())
    assert "the candidate's process has ended" in gone.text
    assert gone.outcomes["test_bad[1]"] == "passed"
    assert gone.outcomes["TestText::test_normal"] == "failed"
    assert gone.outcomes["test_numbers"] == "failed"
