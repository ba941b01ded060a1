"""Which modules of a folder are to be healed: those that the tracebacks of failing tests name, the most named first."""

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from reflexion.errors import InputError
from reflexion.healing.judge import Judge
from reflexion.healing.module import Module, load_module
from reflexion.healing.project import Project, find_project, is_test
from reflexion.healing.runner import ALL_SKIPPED, Runner, expected_tests
from reflexion.loaders import printable
from reflexion.sandbox.tree import files_below
from reflexion.suite.result import SuiteRun


class Survey(NamedTuple):
    """What the tests say of a folder as it is: the run, and a judge for each module that is to be healed, worst first.

    ``runner`` runs the tests for all of them.
    """

    run: SuiteRun
    runner: Runner
    judges: tuple[Judge, ...]


def modules_below(folder: Path, tests: Path) -> list[Module]:
    """Return the modules of a folder that hold anything, but for what is the tests'. Raises InputError without any."""
    paths = [path for path in files_below(folder) if path.suffix == ".py" and path.read_bytes().strip()]
    real = os.path.realpath(tests)
    around = folder.resolve().is_relative_to(real)
    inside = [path for path in paths if path.resolve().is_relative_to(real) and not around]
    found = [path for path in paths if path not in inside and path.name != "conftest.py" and not is_test(path)]
    if not found:
        raise InputError(f"{printable(folder)}: no Python modules in it besides the tests")
    return [load_module(path) for path in found]


def survey(runner: Runner, modules: list[Module], tests: Path, folder: Path, allow: frozenset[str]) -> Survey:
    """Run the tests once, and say which modules failing tests go through.

    Raises InputError where the tests cannot judge anything, or where a test fails and none of the modules is named.
    """
    first = runner.first()
    run = first.verdict(expected_tests(first, runner.project))
    if run.reason == ALL_SKIPPED:
        raise InputError(f"{runner.project.tests[0]}: {ALL_SKIPPED}")
    if run.passed and not first.told.imported:
        raise InputError(f"{printable(folder)}: the tests never import anything of it, so they say nothing about it")
    if run.passed:
        return Survey(run, runner, ())
    told = {one.test: first.told.tests[one.test].why for one in run.failures}
    told |= {"the collection": f"{first.told.uncollected} {first.error}"} if not first.is_complete else {}
    named = {test: runner.named(why) for test, why in told.items()}
    scopes = {name: frozenset(test for test, names in named.items() if name in names) for name in runner.modules}
    judges = []
    for module in sorted(modules, key=lambda one: -len(scopes[_name(one, runner.project)])):
        scope = scopes[_name(module, runner.project)]
        if scope:
            own = replace(runner, project=find_project(module, tests, folder))
            judges.append(Judge(own, allow, first, scope if first.is_complete else None))
    if not judges:
        raise InputError(f"{printable(folder)}: no module of it is in the traceback of a failing test ({run.reason})")
    return Survey(run, runner, tuple(judges))


def runner_for(project: Project, runner: Runner, modules: list[Module]) -> Runner:
    """Return a runner for which all these modules are to be healed."""
    return replace(runner, project=project, modules=tuple(_name(one, project) for one in modules))


def together(found: Survey, healed: dict[str, bytes], affair: frozenset[str]) -> tuple[SuiteRun, bool]:
    """Run the tests with all that was healed; return how they did, and whether it may be written.

    It may where nothing else fails than what failed before and is not the ``affair`` of what was healed. Raises
    InputError, SandboxError.
    """
    first = found.judges[0]
    ran = found.runner.run(healed)
    expected = first.expected if first.is_complete else ran.tests
    failed = {name for name, outcome in first.before.items() if outcome in {"failed", "error"}}
    fits = ran.verdict(expected, first.before, frozenset(failed) - affair)
    return ran.verdict(expected, first.before), fits.passed


def _name(module: Module, project: Project) -> str:
    return module.path.relative_to(project.root).as_posix()
