"""What the tests say of a folder: whether they pass, and which of its modules failing tests are about."""

import os
from dataclasses import replace
from pathlib import Path

from reflexion.errors import InputError
from reflexion.healing.module import Module, load_module
from reflexion.healing.project import Project, is_test
from reflexion.healing.runner import ALL_SKIPPED, Runner
from reflexion.healing.turns import Turns
from reflexion.loaders import printable
from reflexion.sandbox.tree import files_below
from reflexion.suite.result import SuiteRun


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


def survey(
    runner: Runner, modules: list[Module], tests: Path, folder: Path, allow: frozenset[str]
) -> tuple[SuiteRun, Turns]:
    """Run the tests once; return how they did, and who heals what.

    Raises InputError where the tests cannot judge anything, or where a test fails and is about none of the modules.
    """
    first = runner.first()
    turns = Turns(runner, first, modules, tests, folder, allow)
    run = turns.measure.verdict(first)
    if run.reason == ALL_SKIPPED:
        raise InputError(f"{runner.project.tests[0]}: {ALL_SKIPPED}")
    if run.passed and not first.told.imported:
        raise InputError(f"{printable(folder)}: the tests never import anything of it, so they say nothing about it")
    if not run.passed and not turns.waiting():
        raise InputError(
            f"{printable(folder)}: no module of it is in the traceback of a failing test or imported by its file"
            f" ({run.reason})"
        )
    return run, turns


def runner_for(project: Project, runner: Runner, modules: list[Module]) -> Runner:
    """Return a runner for which all these modules are to be healed."""
    return replace(runner, project=project, modules=tuple(_name(one, project) for one in modules))


def _name(module: Module, project: Project) -> str:
    return module.path.relative_to(project.root).as_posix()
