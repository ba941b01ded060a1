"""``reflexion code --fix``: from what the command line asks to an exit code."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from reflexion.batch import Options
from reflexion.coding import CodeAsked, make_pipeline, team_of
from reflexion.config import LoadedConfig
from reflexion.context import CodeContext
from reflexion.errors import UsageError
from reflexion.events import Note
from reflexion.healing.folder import modules_below, runner_for, survey
from reflexion.healing.healer import FolderHealer, Healer
from reflexion.healing.judge import Judge
from reflexion.healing.module import Module, load_module
from reflexion.healing.project import Project, find_project
from reflexion.healing.runner import Runner, limits_for
from reflexion.healing.turns import Turns
from reflexion.loaders import Source, printable
from reflexion.plan import DEFAULT_OUTPUT, Job
from reflexion.running import run
from reflexion.sandbox import Sandbox, open_sandbox
from reflexion.sandbox.interpreter import find_interpreter
from reflexion.session import Session, Wishes, open_session
from reflexion.suite.result import SuiteRun
from reflexion.team import folder as folders
from reflexion.team.tasks import TaskPlan, slug_of


def heal(asked: CodeAsked, fix: str | None, tests: str | None, *, apply: bool) -> int:
    """Heal a module, or those of a folder, against its user's tests, and return the exit code. Raises ReflexionError.

    What passes is said to pass: no server is needed, and nothing is written.
    """
    if asked.prompt is not None or asked.given is not None:
        raise UsageError("--fix heals what is there, --prompt and --input ask for what is not: give one of them")
    if fix is None or tests is None:
        raise UsageError(f"{'--tests' if fix is not None else '--fix'}: is missing; --fix MODULE needs --tests PATH")
    budget, loaded = asked.budget(), asked.load_config()
    found = _look(asked, Path(fix), Path(tests), loaded)
    if found.run.passed:
        return _passes(fix, found.run, asked)
    who = found.who
    first = [who.project] if isinstance(who, Judge) else [who.project(name) for name in who.waiting()]
    plan = _plan(first, found.modules, Path(fix), asked, loaded)
    wishes = Wishes(frozenset(), budget, asked.arguments)
    with asked.reporter() as reporter:
        if found.run.timed_out:
            reporter(Note(f"{tests}: {found.run.reason}; code.limit_s in config.json sets it"))

        def make_worker(session: Session[CodeContext]) -> Healer | FolderHealer:
            reporter(team_of(session))
            if isinstance(who, Judge):
                return Healer(session, who, apply=apply)
            return FolderHealer(session, who, lambda one: _job(one, _target(asked), is_folder=True), apply=apply)

        pipeline = make_pipeline(loaded, found.sandbox, healing=True)
        opened = open_session(loaded, plan, reporter, wishes, pipeline)
        return run(opened, Options(1, asked.fail_fast), reporter, make_worker)


class _Found(NamedTuple):
    """What the tests say of what is there, and who judges what is to be healed: of a folder, in turn."""

    run: SuiteRun
    who: Judge | Turns
    modules: list[Module]
    sandbox: Sandbox


def _look(asked: CodeAsked, fix: Path, tests: Path, loaded: LoadedConfig) -> _Found:
    """Run the tests for what is there. Raises InputError; creates nothing."""
    above = fix.resolve() if fix.is_dir() else None
    modules = [load_module(fix)] if above is None else modules_below(fix, tests)
    project = find_project(modules[0], tests, above)
    _plan([project], modules, fix, asked, loaded)
    settings, allow = loaded.config.sandbox, frozenset(loaded.config.code.allow_imports)
    limits = limits_for(loaded.config.code.limit_s, settings.memory_mib)
    sandbox, python = open_sandbox(settings), find_interpreter(settings.python).executable
    runner = runner_for(project, Runner(project, sandbox, limits, python, ()), modules)
    if above is not None:
        return _Found(*survey(runner, modules, tests, above, allow), modules, sandbox)
    judge = Judge(runner, allow)
    return _Found(judge.original, judge, modules, sandbox)


def _passes(fix: str, run: SuiteRun, asked: CodeAsked) -> int:
    with asked.reporter() as reporter:
        reporter(Note(f"{fix}: passes already, {run.passes} of {run.total} tests pass; no model was asked"))
        reporter.finish(0)
    return 0


def _plan(
    projects: Sequence[Project], modules: Sequence[Module], fix: Path, asked: CodeAsked, loaded: LoadedConfig
) -> TaskPlan:
    """Decide where the results go: of a module into a folder, of several into a folder each. Creates nothing.

    ``modules`` are all that may get their turn. Raises InputError.
    """
    is_folder = fix.is_dir()
    target = _target(asked)
    if not is_folder and not asked.output:
        target /= _slug(projects[0])
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    protected += [*(path for project in projects for path in project.lock), *(module.path for module in modules)]
    plan = TaskPlan(
        tuple(_job(project, target, is_folder=is_folder) for project in projects),
        target,
        root=fix if is_folder else None,
        protected=tuple(protected),
        overwrite=asked.overwrite,
        written=(*folders.OURS, *dict.fromkeys(module.path.name for module in modules)),
    )
    plan.check(plan.jobs)
    return plan


def _target(asked: CodeAsked) -> Path:
    return Path(asked.output) if asked.output else DEFAULT_OUTPUT


def _job(project: Project, target: Path, *, is_folder: bool) -> Job:
    module = project.module
    words = f"Correct {project.name} so that the tests in {', '.join(project.tests)} pass."
    source = Source(module.label, module.path.stem, words, project.sha256, None, module.path)
    folder = target / _slug(project) if is_folder else target
    return Job(Path(module.label), folder / folders.REPORT, source, printable(module.path))


def _slug(project: Project) -> str:
    """Return a name for a module's folder of results; where its path does not fit, with the path's digest."""
    path = Path(project.name)
    words = f"fix {path.stem} {' '.join(path.parts[:-1])}"
    slug = slug_of(words)
    if path.stem != "__init__" and slug == "-".join(re.findall("[a-z0-9]+", words.casefold())) and words.isascii():
        return slug
    return f"{slug}-{sha256(project.name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
