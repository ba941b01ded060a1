"""Whether a pass is one: hostile candidates in the real sandbox, honest ones, and reports that were tampered with."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from reflexion.config import SandboxSettings
from reflexion.sandbox import Completed, Job, Sandbox, open_sandbox
from reflexion.suite.result import SuiteRun
from reflexion.suite.run import Collected, run_suite, run_without_scan
from tests.sandbox_support import Watch
from tests.suite.corpus import ENDLESS, HIDDEN_EXITS, HONEST, SUITE, solutions
from tests.suite.run_support import HOSTILE, LIMIT_S, limit, refused

CLASSES = """\
import pytest

from solution import Empty, Stack


class TestStack:
    def test_pop(self):
        stack = Stack()
        stack.push(1)
        stack.push(2)
        assert stack.pop() == 2
        assert len(stack) == 1

    def test_empty(self):
        with pytest.raises(Empty):
            Stack().pop()


def test_with():
    with Stack() as stack:
        stack.push(3)
        assert stack.pop() == 3
"""
STACK = """\
class Empty(Exception):
    pass


class Stack:
    def __init__(self):
        self._items = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __len__(self):
        return len(self._items)

    def push(self, item):
        self._items.append(item)

    def pop(self):
        if not self._items:
            raise Empty
        return self._items.pop()
"""


def test_collecting_takes_no_candidate(collected: Collected) -> None:
    names = ["test_add", "test_add_negative", "test_parse[a=1-expected0]", "test_parse[a=1,b=2-expected1]"]
    assert collected == Collected((*names, "test_parse_nonsense"), "")


@pytest.mark.parametrize("isolate", [True, False])
def test_an_honest_solution_passes(isolate: bool, sandbox: Sandbox, collected: Collected, watch: Watch) -> None:
    run = run_suite(HONEST, SUITE, sandbox, limit_s=LIMIT_S, isolate=isolate, collected=collected)
    assert run == SuiteRun(
        passed=True,
        reason="",
        mode="isolated" if isolate else "in-process",
        total=5,
        passes=5,
        failures=(),
        flags=(),
        summary="",
        timed_out=False,
        wall_s=run.wall_s,
        why_in_process="" if isolate else "not asked for",
    )


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - HIDDEN_EXITS))
def test_isolation_alone_stops_it(name: str, sandbox: Sandbox, collected: Collected, watch: Watch) -> None:
    candidate = HOSTILE[name].replace("MARKER", watch.marker)
    run = run_without_scan(candidate, SUITE, sandbox, limit_s=limit(name), collected=collected)
    refused(run)
    assert run.mode == "isolated"
    if name != "memory":  # Its memory ends first, or its time does.
        assert run.timed_out == (name in ENDLESS)


def test_a_suite_with_classes_runs_in_one_process_and_says_so(sandbox: Sandbox, watch: Watch) -> None:
    run = run_suite(STACK, CLASSES, sandbox, limit_s=LIMIT_S)
    assert (run.passed, run.mode, run.passes, run.total) == (True, "in-process", 3, 3)
    assert run.why_in_process


def test_what_fails_is_told_for_a_debugger(sandbox: Sandbox) -> None:
    run = run_suite(STACK.replace("pop()", "pop(0)").replace("def pop(0)", "def pop()"), CLASSES, sandbox)
    assert (run.passed, run.passes, run.total) == (False, 2, 3)
    assert [one.test for one in run.failures] == ["TestStack::test_pop"]
    assert run.failures[0].why.startswith("assert 1 == 2")
    assert run.reason == f"TestStack::test_pop did not pass: {run.failures[0].why}"
    assert run.summary.startswith("TestStack::test_pop\ntest_suite.py:11: in test_pop")


@pytest.mark.parametrize("wrong", ["raise KeyError('x')", "self._items.clear()"])
def test_an_exit_that_swallows_errors_is_seen(wrong: str, sandbox: Sandbox) -> None:
    """Its block ends early, the assertion in it fails or never runs, and nothing is raised."""
    cheat = STACK.replace("return None", "return True").replace("self._items.append(item)", wrong)
    run = run_suite(cheat, CLASSES, sandbox, limit_s=LIMIT_S)
    refused(run)
    assert "swallow" in next(one.why for one in run.failures if one.test == "test_with")


def test_what_cannot_be_imported_is_told(sandbox: Sandbox, collected: Collected) -> None:
    for isolate in (True, False):
        run = run_suite("x = 1 / 0\n", SUITE, sandbox, collected=collected, isolate=isolate, limit_s=LIMIT_S)
        refused(run)
        assert run.reason.startswith("cannot be imported: ")
        assert "division by zero" in run.reason
    run = run_suite("def add(a, b:\n", SUITE, sandbox, collected=collected)
    assert run.flags[0].what.startswith("no Python that can be read")


def test_a_missing_name_is_told(sandbox: Sandbox, collected: Collected) -> None:
    for isolate in (True, False):
        run = run_suite(HONEST.partition("\n\n\n")[0], SUITE, sandbox, collected=collected, isolate=isolate)
        refused(run)
        assert "parse" in run.reason


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("from solution import f\n", "no tests"),
        ("from solution import f\ndef test_a(:\n", "cannot be read"),
        ("import os\nos._exit(0)\n", "ends the process"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("import pytest\npytest.skip('x', allow_module_level=True)\n", "cannot be collected"),
    ],
)
def test_a_suite_that_cannot_judge_passes_nobody(suite: str, said: str, sandbox: Sandbox) -> None:
    run = run_suite(HONEST, suite, sandbox)
    refused(run)
    assert said in run.reason


@pytest.mark.parametrize("mark", ["skip", "xfail", "skipif(True, reason='x')"])
def test_a_test_that_is_skipped_is_no_pass(mark: str, sandbox: Sandbox) -> None:
    suite = SUITE.replace("def test_add():", f"@pytest.mark.{mark}\ndef test_add():")
    run = run_suite(HONEST, suite, sandbox, limit_s=LIMIT_S)
    refused(run)
    assert run.failures[0].test == "test_add"


def test_a_sandbox_that_is_no_boundary_never_isolates(collected: Collected) -> None:
    run = run_suite(HONEST, SUITE, open_sandbox(SandboxSettings(mode="process")), limit_s=LIMIT_S, collected=collected)
    assert (run.passed, run.mode) == (True, "in-process")


@dataclass(frozen=True)
class Tampering:
    """A sandbox whose results are changed on their way back."""

    inner: Sandbox
    change: str
    name: str = "bubblewrap"
    is_boundary: bool = True

    def run(self, job: Job) -> Completed:
        done = self.inner.run(job)
        lines = done.result.splitlines(keepends=True)
        if not lines or "run" not in str(lines[0]):
            return done
        token = lines[0].split()[0]
        changed = {
            "exit": done._replace(exit_code=0),
            "no end": done._replace(result=b"".join(lines[:-1])),
            "cut": done._replace(result=done.result[:-3]),
            "end of none failed": done._replace(result=b"".join([*lines[:-1], token + b" run end 0\n"])),
            "one missing": done._replace(result=b"".join(line for line in lines if b" test " not in line)),
            "other token": done._replace(result=done.result + b"0 run end 1\n"),
            "twice": done._replace(result=done.result + lines[-1]),
            "garbage": done._replace(result=done.result + bytes(range(256))),
            "nothing": done._replace(result=b""),
            "more tests": done._replace(result=done.result.replace(b" collected ", b" collected 616263 ")),
            "late": done._replace(timed_out=True),
        }
        return changed[self.change]


@pytest.mark.parametrize(
    "change",
    [
        *("exit", "no end", "cut", "end of none failed", "one missing", "other token", "twice", "garbage", "nothing"),
        *("more tests", "late"),
    ],
)
def test_a_report_that_is_not_whole_is_no_pass(change: str, sandbox: Sandbox, collected: Collected) -> None:
    run = run_suite(HONEST, SUITE, Tampering(sandbox, change), limit_s=LIMIT_S, collected=collected, isolate=False)
    assert not run.passed
    assert run.reason


def test_nothing_of_the_environment_reaches_the_run(
    sandbox: Sandbox, collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    monkeypatch.setenv("PYTEST_PLUGINS", "nothing_of_that_name")
    monkeypatch.setenv("PYTHONPATH", os.fspath(Path(__file__).parent))
    assert run_suite(HONEST, SUITE, sandbox, limit_s=LIMIT_S, collected=collected).passed


WITH_MOCKS = """\
import asyncio
from unittest.mock import MagicMock, Mock, patch

from solution import Stopwatch, gather_limited, retry


class Clock:
    def now(self):
        return 1.0


def test_mocks(monkeypatch):
    flaky = Mock(side_effect=[ValueError(), 3])
    flaky.__name__ = "flaky"
    assert retry(2)(flaky)() == 3
    assert MagicMock() != 3
    monkeypatch.setattr(Clock, "now", lambda self: 2.0)
    with patch.object(Clock, "now", return_value=4.0):
        assert Stopwatch(Clock()).lap() == 4.0


def test_loop():
    async def job():
        return 1

    assert asyncio.run(gather_limited([job, job], 2)) == [1, 1]
"""


def test_what_mocks_and_loops_do_to_classes_is_not_strange(sandbox: Sandbox) -> None:
    ordinary = solutions("ordinary.txt")
    candidate = "\n".join(ordinary[name] for name in ("async_worker", "decorators", "protocol"))
    run = run_suite(candidate, WITH_MOCKS, sandbox, limit_s=LIMIT_S)
    assert (run.reason, run.mode, run.passes) == ("", "in-process", 2)
