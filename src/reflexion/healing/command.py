"""``reflexion code --fix``: from what the command line asks to an exit code."""

import re
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from reflexion.batch import Options
from reflexion.coding import CodeAsked, make_pipeline, team_of
from reflexion.config import LoadedConfig
from reflexion.context import CodeContext
from reflexion.errors import UsageError
from reflexion.events import Note
from reflexion.healing.folder import Survey, modules_below, runner_for, survey, together
from reflexion.healing.healer import Healer
from reflexion.healing.judge import Judge
from reflexion.healing.module import load_module
from reflexion.healing.project import Project, find_project
from reflexion.healing.runner import Runner, limits_for
from reflexion.loaders import Source, printable
from reflexion.plan import DEFAULT_OUTPUT, Job
from reflexion.running import run
from reflexion.sandbox import open_sandbox
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
    judges = {Path(one.project.module.label): one for one in found.judges}
    plan = _plan([one.project for one in found.judges], Path(fix), asked, loaded)
    wishes = Wishes(frozenset(), budget, asked.arguments)
    with asked.reporter() as reporter:
        if found.run.timed_out:
            reporter(Note(f"{tests}: {found.run.reason}; code.limit_s in config.json sets it"))

        def make_worker(session: Session[CodeContext]) -> Healer:
            reporter(team_of(session))
            whole = partial(together, found) if plan.root is not None else None
            return Healer(session, judges, whole, apply=apply)

        pipeline = make_pipeline(loaded, found.runner.sandbox, healing=True)
        opened = open_session(loaded, plan, reporter, wishes, pipeline)
        return run(opened, Options(1, asked.fail_fast), reporter, make_worker)


def _look(asked: CodeAsked, fix: Path, tests: Path, loaded: LoadedConfig) -> Survey:
    """Run the tests for what is there. Raises InputError; creates nothing."""
    above = fix.resolve() if fix.is_dir() else None
    modules = [load_module(fix)] if above is None else modules_below(fix, tests)
    project = find_project(modules[0], tests, above)
    _plan([project], fix, asked, loaded)
    settings, allow = loaded.config.sandbox, frozenset(loaded.config.code.allow_imports)
    limits = limits_for(loaded.config.code.limit_s, settings.memory_mib)
    python = find_interpreter(settings.python).executable
    runner = runner_for(project, Runner(project, open_sandbox(settings), limits, python, ()), modules)
    if above is not None:
        return survey(runner, modules, tests, above, allow)
    judge = Judge(runner, allow)
    return Survey(judge.original, runner, (judge,))


def _passes(fix: str, run: SuiteRun, asked: CodeAsked) -> int:
    with asked.reporter() as reporter:
        reporter(Note(f"{fix}: passes already, {run.passes} of {run.total} tests pass; no model was asked"))
        reporter.finish(0)
    return 0


def _plan(projects: Sequence[Project], fix: Path, asked: CodeAsked, loaded: LoadedConfig) -> TaskPlan:
    """Decide where the results go: of a module into a folder, of several into a folder each. Creates nothing.

    Raises InputError.
    """
    is_folder = fix.is_dir()
    jobs = []
    target = Path(asked.output) if asked.output else DEFAULT_OUTPUT
    if not is_folder and not asked.output:
        target /= _slug(projects[0])
    for project in projects:
        module = project.module
        words = f"Correct {project.name} so that the tests in {', '.join(project.tests)} pass."
        source = Source(module.label, module.path.stem, words, project.sha256, None, module.path)
        folder = target / _slug(project) if is_folder else target
        jobs.append(Job(Path(module.label), folder / folders.REPORT, source, printable(module.path)))
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    protected += [path for project in projects for path in (project.module.path, *project.lock)]
    written = (*folders.OURS, *(project.module.path.name for project in projects))
    root = fix if is_folder else None
    plan = TaskPlan(
        tuple(jobs), target, root=root, protected=tuple(protected), overwrite=asked.overwrite, written=written
    )
    plan.check(plan.jobs)
    return plan


def _slug(project: Project) -> str:
    """Return a name for a module's folder of results; where its path does not fit, with the path's digest."""
    path = Path(project.name)
    words = f"fix {path.stem} {' '.join(path.parts[:-1])}"
    slug = slug_of(words)
    if path.stem != "__init__" and slug == "-".join(re.findall("[a-z0-9]+", words.casefold())) and words.isascii():
        return slug
    return f"{slug}-{sha256(project.name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
