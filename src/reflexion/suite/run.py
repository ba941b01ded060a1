"""Runs a suite against a candidate. A pass is what every check of ours agrees on, never what pytest printed."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from reflexion.sandbox import Completed, Limits, Sandbox
from reflexion.suite.bindings import special_methods
from reflexion.suite.isolation import decide, isolated, target_names
from reflexion.suite.jobs import SUITE_FILE, Plan, new_canaries, run_job, source_bytes, with_canaries
from reflexion.suite.records import Told
from reflexion.suite.result import Failure, Flag, Mode, SuiteRun
from reflexion.suite.scan import scan
from reflexion.suite.source import TARGET, Suite, read_suite
from reflexion.suite.stubs import stub

COLLECT_S = 20.0
SUMMARY_LENGTH = 6000
LAST_LINES = 25
WHY_LENGTH = 300
FOLDER = "run"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b.?|[\x00-\x08\x0b-\x1f\x7f]")
_PLACES = re.compile(r"(?:/job|/tmp/private|/tmp/reflexion-sandbox-[^/\s]+/(?:files|home))/(?:run/)?")
_FROM_RUN = re.compile(r"(?<![\w/])run/(?=test_suite\.py|solution\.py)|reflexion_isolated\.proxy\.(?=Broken)")


class Collected(NamedTuple):
    """The tests of a suite as pytest collects them, with a stub in the candidate's place. ``reason`` says what is
    wrong ("" when nothing is).
    """

    tests: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Side:
    """Where the candidate is: what lies beside the suite, and the channel to it when it is elsewhere."""

    mode: Mode
    files: Mapping[str, bytes]
    channel: int | None = None
    why_not: str = ""


def run_suite(
    candidate: str,
    suite: str,
    sandbox: Sandbox,
    *,
    limit_s: float = 15.0,
    allow: frozenset[str] = frozenset(),
    isolate: bool = True,
    collected: Collected | None = None,
) -> SuiteRun:
    """Run the suite against the candidate, and say whether it passes.

    ``limit_s`` is for the whole run, in seconds. ``allow`` names modules that the candidate may import besides those
    of ``modules.py``. ``collected`` is what ``collect`` said of the same suite, to save that job. Where the suite
    allows it and the sandbox is a boundary, the candidate runs in a process of its own, unless ``isolate`` is False.

    Raises SandboxError when the sandbox fails.
    """
    flags = scan(candidate, allow)
    if flags:
        more = f" (and {len(flags) - 1} more)" if len(flags) > 1 else ""
        return refused(f"solution.py, line {flags[0].line}: {flags[0].what}{more}", flags)
    return run_without_scan(candidate, suite, sandbox, limit_s=limit_s, isolate=isolate, collected=collected)


def run_without_scan(
    candidate: str,
    suite: str,
    sandbox: Sandbox,
    *,
    limit_s: float = 15.0,
    isolate: bool = True,
    collected: Collected | None = None,
) -> SuiteRun:
    """Do as ``run_suite``, whatever the candidate's text says: to measure what the isolation stops by itself.

    In one process with the tests this proves nothing about a candidate that wants to cheat.
    """
    begun = time.monotonic()
    facts = read_suite(suite)
    expected = collected or collect(suite, sandbox)
    if facts.error or expected.reason:
        return refused(expected.reason or f"the suite cannot be read: {facts.error}", ())
    limits = Limits(wall_s=limit_s, cpu_s=ceil(limit_s))
    with _side(candidate, suite, sandbox, limits, isolate=isolate) as side:
        vetted = special_methods(candidate) if side.mode == "in-process" else None
        plan = Plan((FOLDER,), canaries=new_canaries(), vetted=vetted)
        files = {f"{FOLDER}/{name}": content for name, content in side.files.items()}
        files[f"{FOLDER}/{SUITE_FILE}"] = with_canaries(suite, plan.canaries)
        completed, told = run_job(sandbox, plan, files, limits, side.channel)
    verdict = Verdict(facts, plan, expected.tests, completed, told[FOLDER])
    return verdict.result(side, time.monotonic() - begun)


def collect(suite: str, sandbox: Sandbox) -> Collected:
    """Collect the suite's tests without the candidate. Raises SandboxError."""
    facts = read_suite(suite)
    if facts.error:
        return Collected((), f"the suite cannot be read: {facts.error}")
    plan = Plan((FOLDER,), collect_only=True)
    files = {f"{FOLDER}/{SUITE_FILE}": source_bytes(suite), f"{FOLDER}/{TARGET}.py": stub(facts, "nothing")}
    limits = Limits(wall_s=COLLECT_S)
    completed, told = run_job(sandbox, plan, files, limits)
    return _collected(completed, plan, told[FOLDER])


def _collected(completed: Completed, plan: Plan, told: Told) -> Collected:
    tests = told.collected or ()
    if told.uncollected:
        return Collected((), f"the suite cannot be collected: {last_line(cleaned(told.uncollected))}")
    if completed.timed_out:
        return Collected((), "the suite cannot be collected: importing it does not end")
    if told.forged or completed.exit_code != plan.code or told.end not in (0, 5):
        return Collected((), "the suite cannot be collected: importing it ends the process")
    if not tests:
        return Collected((), "the suite has no tests that pytest collects")
    if len(set(tests)) < len(tests):
        return Collected((), "the suite has two tests of the same name")
    return Collected(tests, "")


@contextmanager
def _side(candidate: str, suite: str, sandbox: Sandbox, limits: Limits, *, isolate: bool) -> Iterator[Side]:
    why_not = _why_not_isolated(suite, sandbox, isolate=isolate)
    if why_not:
        yield Side("in-process", {f"{TARGET}.py": source_bytes(candidate)}, why_not=why_not)
        return
    with isolated(candidate, target_names(suite), sandbox, limits) as elsewhere:
        yield Side("isolated", elsewhere.files, elsewhere.channel)


def _why_not_isolated(suite: str, sandbox: Sandbox, *, isolate: bool) -> str:
    if not isolate:
        return "not asked for"
    return decide(suite) if sandbox.is_boundary else f"the sandbox {sandbox.name} is no boundary"


class Verdict:
    """Compares what a run told with what must be. The first thing that does not hold is the reason."""

    def __init__(self, facts: Suite, plan: Plan, expected: Sequence[str], completed: Completed, told: Told) -> None:
        self._facts, self._plan, self._expected = facts, plan, expected
        self._completed, self._told = completed, told
        canaries = set(plan.canaries)
        self._canaries = [one for name, one in told.tests.items() if name in canaries]
        self._tests = [one for name, one in told.tests.items() if name not in canaries]
        self._certain = {test.name: set(test.certain) for test in facts.tests}

    def result(self, side: Side, wall_s: float) -> SuiteRun:
        """Return the verdict."""
        failures = tuple(Failure(one.name, self._why(one.name)) for one in self._tests if not self._holds(one.name))
        reason = self._reason(failures)
        return SuiteRun(
            passed=not reason,
            reason=reason,
            mode=side.mode,
            total=len(self._expected),
            passes=len(self._tests) - len(failures),
            failures=failures,
            flags=(),
            summary=(self._summary(failures) or reason) if reason else "",
            timed_out=self._completed.timed_out,
            wall_s=wall_s,
            why_in_process=side.why_not,
        )

    def _reason(self, failures: Sequence[Failure]) -> str:
        told, completed = self._told, self._completed
        running = [name for name in told.begun if name not in told.tests and name not in self._plan.canaries]
        during = f", in {running[-1]}" if running else ""
        if completed.timed_out:
            return f"did not end within the time limit{during}"
        if told.forged:
            return told.forged
        if told.uncollected:
            return f"cannot be imported: {last_line(cleaned(told.uncollected))}"
        if told.end is None or told.collected is None:
            return f"ended the process before the tests were over{during}"
        return self._reason_of_tests(failures)

    def _reason_of_tests(self, failures: Sequence[Failure]) -> str:
        told = self._told
        if sorted(map(base, told.collected or ())) != sorted([*map(base, self._expected), *self._plan.canaries]):
            return f"other tests ran than the {len(self._expected)} of the suite"
        if failures:
            more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
            return f"{failures[0].test} did not pass: {failures[0].why}{more}"
        if set(told.collected or ()) != set(told.tests) or len(self._tests) != len(self._expected):
            return "not every test of the suite ran"
        caught = [
            one for one in self._canaries if one.outcome == "failed" and one.raised in {"AssertionError", "Failed"}
        ]
        if len(caught) != len(self._plan.canaries) or told.end != 1:
            return "a test that must fail did not: the outcomes are not to be trusted"
        if told.strange:
            return told.strange
        if self._completed.exit_code != self._plan.code:
            return f"ended the process with {self._completed.exit_code}"
        return ""

    def _holds(self, name: str) -> bool:
        record = self._told.tests[name]
        return record.outcome == "passed" and not record.raised and self._missed(name) == set()

    def _missed(self, name: str) -> set[int]:
        return self._certain.get(base(name), set()) - self._told.tests[name].lines

    def _why(self, name: str) -> str:
        record = self._told.tests[name]
        if record.outcome == "passed" and not record.raised:
            line = min(self._missed(name))
            return f"its assertion in line {line} never held, though nothing failed: something swallows exceptions"
        if record.outcome == "swallowed":
            return "an assertion failed in it, and something swallowed the error"
        if record.outcome in {"skipped", "xfailed", "incomplete"}:
            return f"it is reported as {record.outcome}"
        return _crash(cleaned(record.why)) or record.raised or record.outcome

    def _summary(self, failures: Sequence[Failure]) -> str:
        uncollected = cleaned(self._told.uncollected)
        parts = [uncollected] if uncollected else []
        for failure in failures:
            text = cleaned(self._told.tests[failure.test].why).strip("\n") or failure.why
            parts.append(f"{failure.test}\n{text}")
        return bounded("\n\n".join(parts) or self._last_lines())

    def _last_lines(self) -> str:
        text = cleaned((self._completed.stdout + b"\n" + self._completed.stderr).decode("utf-8", "replace"))
        return "\n".join(text.strip().splitlines()[-LAST_LINES:])


def base(name: str) -> str:
    """Return a test's name without its parameters."""
    return name.partition("[")[0]


def cleaned(text: str) -> str:
    """Return a text of pytest without colours, control characters and the sandbox's own paths."""
    return _FROM_RUN.sub("", _PLACES.sub("", _ESCAPES.sub("", text)))


def bounded(text: str) -> str:
    """Return a text's beginning and end, when it is too long for a debugger."""
    if len(text) <= SUMMARY_LENGTH:
        return text
    half = SUMMARY_LENGTH // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _crash(text: str) -> str:
    """Return the first line in which pytest says what went wrong."""
    said = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (said[0] if said else last_line(text))[:WHY_LENGTH]


def last_line(text: str) -> str:
    """Return the last line in which pytest says what went wrong, else the last of all."""
    lines = text.strip().splitlines()
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return ((errors or lines)[-1] if lines else "no reason given")[:WHY_LENGTH]


def refused(reason: str, flags: tuple[Flag, ...], module: str = "solution.py") -> SuiteRun:
    """Return what is said of a candidate that was not run."""
    return SuiteRun(
        passed=False,
        reason=reason,
        mode="in-process",
        total=0,
        passes=0,
        failures=(),
        flags=flags,
        summary="\n".join(f"{module}:{flag.line}: {flag.what}" for flag in flags) or reason,
        timed_out=False,
        wall_s=0.0,
    )
