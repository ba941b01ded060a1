"""Runs a project's own tests against a candidate for one of its modules, and says whether they pass.

As for other suites, a pass is what every check agrees on: exit code, a complete report of ours, the tests that the
original had, none failed, two tests that must fail and do, and the scan. The project's tests are trusted, so they may
skip what they skipped for the original.
"""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

from reflexion.errors import InputError
from reflexion.healing.project import Project
from reflexion.sandbox import Completed, Job, Limits, Sandbox, Tree
from reflexion.suite.jobs import Plan, new_canaries, run_with_plan
from reflexion.suite.records import Told, read_records
from reflexion.suite.relative import imports, scan_beside
from reflexion.suite.result import Flag, SuiteRun
from reflexion.suite.run import FOLDER, Side, Verdict, base, cleaned, last_line, refused
from reflexion.suite.source import read_suite

# How a test may end that did not pass, when it ended so for the original as well.
TOLERATED = frozenset({"skipped", "xfailed", "swallowed"})
SIDE = Side("in-process", {}, why_not="the tests are the project's own")
_PARTS = ("project_driver.py", "reporter.py")


class _Verdict(Verdict):
    """``before`` says how each test ended for the original; None: this is the original."""

    def __init__(
        self, plan: Plan, expected: Sequence[str], completed: Completed, told: Told, before: Mapping[str, str] | None
    ) -> None:
        super().__init__(read_suite(""), plan, expected, completed, told)
        self._before = before

    def verdict(self, wall_s: float) -> SuiteRun:
        """Return the verdict; what was skipped as before counts neither way."""
        done = self.result(SIDE, wall_s)
        skipped = sum(one.outcome == "skipped" and self._holds(one.name) for one in self._tests)
        return done._replace(total=max(0, done.total - skipped), passes=done.passes - skipped)

    def _holds(self, name: str) -> bool:
        record = self._told.tests[name]
        if record.outcome == "passed":
            return not record.raised
        if self._before is None:
            return record.outcome in TOLERATED
        if name in self._before:
            return record.outcome in TOLERATED and self._before[name] == record.outcome
        # It did not come to run for the original. What a mark or a fixture says is the tests' own.
        return record.outcome == "xfailed" or (record.outcome == "skipped" and not record.raised)


@dataclass(frozen=True, slots=True)
class _Ran:
    plan: Plan
    completed: Completed
    told: Told
    wall_s: float


class Judge:
    """Judges candidates. ``original`` says how the module did as it is; calling the judge, how a candidate does.

    ``allow`` names modules that a candidate may import besides the built-in list and what the module imports. Raises
    InputError where the tests cannot judge the module, or changed meanwhile; SandboxError.
    """

    def __init__(self, project: Project, sandbox: Sandbox, limits: Limits, allow: frozenset[str], python: str) -> None:
        self.project = project
        self._sandbox, self._limits, self._allow, self._python = sandbox, limits, allow, python
        first = self._run(project.module.data)
        self._require_usable(first.told, first.completed)
        self._complete = bool(first.told.collected) and not first.told.uncollected
        self._expected = self._expected_tests(first)
        verdict = _Verdict(first.plan, self._expected, first.completed, first.told, None)
        self.original = self._clean(verdict.verdict(first.wall_s))
        self.tests = project.tests_text(one.test for one in self.original.failures)
        self._before = {name: one.outcome for name, one in first.told.tests.items()}
        self._require_touched(first.told)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the module defines at its top for others: a candidate that has it is the module."""
        tree = read_suite(self.project.module.text).tree
        defined = [getattr(node, "name", "") for node in tree.body]
        return tuple(name for name in defined if name and not name.startswith("_"))

    @property
    def more_imports(self) -> frozenset[str]:
        """Return what a candidate may import besides the built-in list."""
        return self._allow | imports(self.project.module.text)

    def __call__(self, candidate: str) -> SuiteRun:
        """Run the tests against a candidate."""
        if candidate == self.project.module.text:
            return self.original
        name = self.project.name
        flags = scan_beside(candidate, self.project.module.text, self._allow)
        try:
            data = self.project.module.encoded(candidate)
        except UnicodeEncodeError as error:
            data = b""
            line = candidate.count("\n", 0, error.start) + 1
            flags = (Flag(line, f"a character that the file's encoding, {error.encoding}, does not have"), *flags)
        if flags:
            more = f" (and {len(flags) - 1} more)" if len(flags) > 1 else ""
            return refused(f"{name}, line {flags[0].line}: {flags[0].what}{more}", flags, name)
        ran = self._run(data)
        expected = self._expected if self._complete else self._covered(ran)
        return self._clean(_Verdict(ran.plan, expected, ran.completed, ran.told, self._before).verdict(ran.wall_s))

    def _run(self, data: bytes) -> _Ran:
        self.project.require_unchanged()
        begun = time.monotonic()
        plan = Plan((FOLDER,), canaries=new_canaries())
        wanted: dict[str, object] = {
            "tests": self.project.tests,
            "module": self.project.name,
            "paths": self.project.paths,
        }
        wanted |= {"token": plan.token, "code": plan.code, "canaries": plan.canaries}
        job = Job(
            _parts(), ("project_driver.py",), self._limits, tree=Tree(self.project.root, {self.project.name: data})
        )
        completed = run_with_plan(self._sandbox, job, json.dumps(wanted).encode())
        self.project.require_unchanged()
        told = read_records(plan.token, (FOLDER,), completed)[FOLDER]
        return _Ran(plan, completed, told, time.monotonic() - begun)

    def _require_usable(self, told: Told, completed: Completed) -> None:
        if told.missing:
            install = f"{self._python} -m pip install 'pytest>=8'"
            raise InputError(f"{self._python}: pytest cannot be used there ({told.missing}); `{install}` installs it")
        said = cleaned(completed.stderr.decode("utf-8", "replace"))
        if told.collected is None and told.end in (3, 4) and not self._names_module(said):
            raise InputError(f"{self.project.tests[0]}: pytest cannot begin: {self._short(_error(said))}")
        if told.uncollected and not self._names_module(told.uncollected):
            why = self._short(last_line(cleaned(told.uncollected)))
            raise InputError(f"{self.project.tests[0]}: cannot be collected, and not because of the module: {why}")
        if told.collected == () and not told.uncollected:
            raise InputError(f"{self.project.tests[0]}: no tests that pytest collects")

    def _require_touched(self, told: Told) -> None:
        """The tests have to run the module, or nothing that they say is about it."""
        said = " ".join([told.uncollected, *(one.why for one in told.tests.values())])
        if not told.imported and told.end is not None and not self._names_module(said):
            label = self.project.module.label
            raise InputError(f"{label}: the tests never import it from there, so they say nothing about it")
        if self.original.passed and not self.original.total:
            raise InputError(f"{self.project.tests[0]}: every test is skipped, so none says whether the module works")

    def _expected_tests(self, ran: _Ran) -> tuple[str, ...]:
        """Return the tests there are; where they could not be collected as a whole, those that their text names."""
        if self._complete:
            return tuple(name for name in ran.told.collected or () if name not in ran.plan.canaries)
        named = [(path, read_suite(path.read_bytes().decode("utf-8", "replace"))) for path in self.project.test_files()]
        root = self.project.root
        return tuple(f"{path.relative_to(root).as_posix()}::{one.name}" for path, suite in named for one in suite.tests)

    def _covered(self, ran: _Ran) -> tuple[str, ...]:
        """Return what was collected where every test is in it that the text names, else what the text names."""
        found = tuple(name for name in ran.told.collected or () if name not in ran.plan.canaries)
        return found if set(map(base, found)) >= set(self._expected) else self._expected

    def _names_module(self, text: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(self.project.name)}\b", text) is not None

    def _clean(self, run: SuiteRun) -> SuiteRun:
        failures = tuple(one._replace(why=self._short(one.why)) for one in run.failures)
        return run._replace(failures=failures, reason=self._short(run.reason), summary=self._short(run.summary))

    def _short(self, text: str) -> str:
        return text.replace(f"{self.project.root}/", "")


@cache
def _parts() -> Mapping[str, bytes]:
    import reflexion.suite

    folder = Path(str(reflexion.suite.__file__)).parent
    return {name: (folder / name).read_bytes() for name in _PARTS}


def limits_for(limit_s: float, memory_mib: int) -> Limits:
    """Return the limits of one run of the tests; ``limit_s`` is for all of it, in seconds."""
    return Limits(wall_s=limit_s, cpu_s=ceil(limit_s), memory_mib=memory_mib)


def _error(text: str) -> str:
    """Return the line in which pytest says why it does not begin."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error: " in line or line.startswith("E ")), last_line(text))
