"""Runs a project's own tests in the sandbox, some of its files replaced, and says whether they pass.

As for other suites, a pass is what every check agrees on: exit code, a complete report of ours, the tests that were
there before, none failed, and two tests that must fail and do. The project's tests are trusted, so they may skip what
they skipped for the project as it is.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path

from reflexion.errors import InputError
from reflexion.healing.project import Project
from reflexion.sandbox import Completed, Job, Limits, Sandbox, Tree
from reflexion.sandbox.job import TEMPORARY_PREFIX
from reflexion.sandbox.tree import COPIED
from reflexion.suite.jobs import Plan, new_canaries, run_with_plan
from reflexion.suite.records import Told, read_records
from reflexion.suite.result import SuiteRun
from reflexion.suite.run import FOLDER, Side, Verdict, base, cleaned, last_line
from reflexion.suite.source import read_suite

# How a test may end that did not pass, when it ended so before as well.
TOLERATED = frozenset({"skipped", "xfailed", "swallowed"})
SIDE = Side("in-process", {}, why_not="the tests are the project's own")
ALL_SKIPPED = "every test is skipped, so none says whether the module works"
# Where a copy of the project lies in the sandbox.
_PLACE = re.compile(rf"\S*/{TEMPORARY_PREFIX}[^/\s]+/files/{COPIED}/")
_PARTS = ("project_driver.py", "reporter.py")


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of a project's tests. ``root`` is the project's folder, which no text needs to name."""

    root: Path
    plan: Plan
    completed: Completed
    told: Told
    wall_s: float

    @property
    def tests(self) -> tuple[str, ...]:
        """Return what was collected."""
        return tuple(name for name in self.told.collected or () if name not in self.plan.canaries)

    @property
    def is_complete(self) -> bool:
        """Return whether all tests are known."""
        return bool(self.told.collected) and not self.told.uncollected

    @property
    def outcomes(self) -> dict[str, str]:
        """Return how each test ended that ran."""
        return {name: one.outcome for name, one in self.told.tests.items() if name not in self.plan.canaries}

    @property
    def passed(self) -> frozenset[str]:
        """Return the tests that passed."""
        return frozenset(name for name, outcome in self.outcomes.items() if outcome == "passed")

    @property
    def failed(self) -> frozenset[str]:
        """Return the tests that began, and neither passed nor ended as trusted tests may."""
        begun = frozenset(self.told.begun) - frozenset(self.plan.canaries)
        return begun - {name for name, outcome in self.outcomes.items() if outcome in TOLERATED | {"passed"}}

    def why(self, test: str) -> str:
        """Return what pytest says of a test that failed; "" of one that did not end."""
        return self.told.tests[test].why if test in self.told.tests else ""

    @property
    def broken(self) -> dict[str, str]:
        """Return what could not be collected, by pytest's name for it, and why; "" is all there is."""
        if self.is_complete:
            return {}
        if self.told.collected is not None and self.told.broken:
            return self.told.broken
        return {"": f"{self.told.uncollected} {self.error}"}

    @property
    def error(self) -> str:
        """Return what was written to standard error."""
        return cleaned(self.completed.stderr.decode("utf-8", "replace"))

    def verdict(
        self,
        expected: Sequence[str],
        before: Mapping[str, str] | None = None,
        excused: frozenset[str] = frozenset(),
    ) -> SuiteRun:
        """Return the verdict: ``before`` says how each test ended for the project as it is, None: this is that run.

        ``excused`` are tests of no account, and files of tests that need not be collected.
        """
        run = _Verdict(self, expected, before, excused).verdict(self.wall_s)
        failures = tuple(one._replace(why=self.short(one.why)) for one in run.failures)
        return run._replace(failures=failures, reason=self.short(run.reason), summary=self.short(run.summary))

    def is_sound(self, expected: Sequence[str], before: Mapping[str, str] | None, excused: frozenset[str]) -> bool:
        """Return whether everything agrees but for what is excused, also where no test passes."""
        return _Verdict(self, expected, before, excused).result(SIDE, self.wall_s).passed

    def short(self, text: str) -> str:
        """Return a text without the project's folder in front of its files."""
        return text.replace(f"{self.root}/", "")


class _Verdict(Verdict):
    def __init__(
        self, ran: Ran, expected: Sequence[str], before: Mapping[str, str] | None, excused: frozenset[str]
    ) -> None:
        left = [why for name, why in ran.told.broken.items() if not any(is_below(name, one) for one in excused)]
        told = replace(ran.told, uncollected=left[0] if left else "")
        super().__init__(read_suite(""), ran.plan, expected, ran.completed, told)
        self._before, self._excused = before, excused
        self._endings = Counter((base(name), outcome) for name, outcome in (before or {}).items())
        self._known = {name for name, _ in self._endings}
        self._endings_now = Counter((base(one.name), one.outcome) for one in self._tests)

    def verdict(self, wall_s: float) -> SuiteRun:
        """Return the verdict; what was skipped as before, and what is excused, counts neither way."""
        done = self.result(SIDE, wall_s)
        holding = [one for one in self._tests if self._holds(one.name)]
        apart = sum(one.outcome == "skipped" or one.name in self._excused for one in holding)
        done = done._replace(total=max(0, done.total - apart), passes=done.passes - apart)
        if done.passed and not done.passes:
            return done._replace(passed=False, reason=ALL_SKIPPED, summary=ALL_SKIPPED)
        return done

    def _holds(self, name: str) -> bool:
        record = self._told.tests[name]
        if name in self._excused or record.outcome == "passed":
            return name in self._excused or not record.raised
        if self._before is None:
            return record.outcome in TOLERATED
        if name in self._before:
            return record.outcome in TOLERATED and record.outcome == self._before[name]
        # Another set of parameters, an empty one maybe, makes no other test of it, and none may hide in it.
        if base(name) in self._known:
            ending = base(name), record.outcome
            return record.outcome in TOLERATED and self._endings_now[ending] <= self._endings[ending]
        # It did not come to run before. What a mark or a fixture says is the tests' own; what it raises may not be.
        if record.outcome == "xfailed":
            return record.raised != "XFailed"
        return record.outcome == "skipped" and not record.raised


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs a project's tests. ``python`` is the interpreter, for messages; ``modules`` are what is to be healed, by
    their paths in the project.
    """

    project: Project
    sandbox: Sandbox
    limits: Limits
    python: str
    modules: tuple[str, ...]

    def run(self, replaced: Mapping[str, bytes]) -> Ran:
        """Run them with these files replaced, by their paths in the project.

        Raises InputError where what decides them has changed meanwhile, SandboxError.
        """
        project = self.project
        project.require_unchanged()
        begun = time.monotonic()
        plan = Plan((FOLDER,), canaries=new_canaries())
        wanted: dict[str, object] = {"tests": project.tests, "modules": self.modules, "paths": project.paths}
        wanted |= {"token": plan.token, "code": plan.code, "canaries": plan.canaries}
        job = Job(_parts(), ("project_driver.py",), self.limits, tree=Tree(project.root, replaced))
        completed = run_with_plan(self.sandbox, job, json.dumps(wanted).encode())
        project.require_unchanged()
        told = read_records(plan.token, (FOLDER,), completed)[FOLDER]
        return Ran(project.root, plan, completed, told, time.monotonic() - begun)

    def first(self) -> Ran:
        """Run them for the project as it is. Raises InputError where they cannot judge anything."""
        ran = self.run({})
        told, tests = ran.told, self.project.tests[0]
        if told.missing:
            install = f"{self.python} -m pip install 'pytest>=8'"
            raise InputError(f"{self.python}: pytest cannot be used there ({told.missing}); `{install}` installs it")
        if told.collected is None and told.end in (3, 4) and not self.named(ran.error):
            raise InputError(f"{tests}: pytest cannot begin: {ran.short(_error(ran.error))}")
        if told.uncollected and not self.named(told.uncollected):
            why = ran.short(last_line(cleaned(told.uncollected)))
            raise InputError(f"{tests}: cannot be collected, and not because of the module: {why}")
        if told.collected == () and not told.uncollected:
            raise InputError(f"{tests}: no tests that pytest collects besides those of the module itself")
        return ran

    def named(self, text: str) -> list[str]:
        """Return the modules to be healed that a text of pytest names, by their paths or in full, the last one last."""
        text = _PLACE.sub("", text.replace(f"{self.project.root}/", ""))
        there = [name for name in self.modules if name in text]
        found = {name: list(re.finditer(rf"(?<![\w./-]){re.escape(name)}\b", text)) for name in there}
        return sorted((name for name in found if found[name]), key=lambda name: found[name][-1].start())


def is_below(name: str, above: str) -> bool:
    """Return whether what pytest calls ``name`` is ``above`` or in it; "" is all there is."""
    return above in ("", name) or name.startswith((f"{above}::", f"{above}/"))


def tests_by_text(project: Project) -> tuple[str, ...]:
    """Return the tests that the text of their files names."""
    named = [(path, read_suite(path.read_bytes().decode("utf-8", "replace"))) for path in project.test_files()]
    root = project.root
    return tuple(f"{path.relative_to(root).as_posix()}::{one.name}" for path, suite in named for one in suite.tests)


def limits_for(limit_s: float, memory_mib: int) -> Limits:
    """Return the limits of one run of the tests; ``limit_s`` is for all of it, in seconds."""
    # A test that is busy without end is to end by the one limit that the user knows of.
    return Limits(wall_s=limit_s, cpu_s=ceil(limit_s) + 2, memory_mib=memory_mib)


@cache
def _parts() -> Mapping[str, bytes]:
    import reflexion.suite

    folder = Path(str(reflexion.suite.__file__)).parent
    return {name: (folder / name).read_bytes() for name in _PARTS}


def _error(text: str) -> str:
    """Return the line in which pytest says why it does not begin."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error: " in line or line.startswith("E ")), last_line(text))
