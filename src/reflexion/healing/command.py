"""``reflexion code --fix``: from what the command line asks to an exit code."""

from pathlib import Path

from reflexion.batch import Options
from reflexion.coding import CodeAsked, make_pipeline, team_of
from reflexion.config import LoadedConfig
from reflexion.context import CodeContext
from reflexion.errors import InputError, UsageError
from reflexion.events import Note
from reflexion.healing.healer import Healer
from reflexion.healing.judge import Judge, limits_for
from reflexion.healing.module import load_module
from reflexion.healing.project import Project, find_project
from reflexion.loaders import Source, printable
from reflexion.plan import DEFAULT_OUTPUT, Job
from reflexion.running import run
from reflexion.sandbox import Sandbox, open_sandbox
from reflexion.sandbox.interpreter import find_interpreter
from reflexion.session import Session, Wishes, open_session
from reflexion.team import folder as folders
from reflexion.team.tasks import TaskPlan, slug_of


def heal(asked: CodeAsked, fix: str | None, tests: str | None, *, apply: bool) -> int:
    """Heal a module against its user's tests, and return the exit code. Raises ReflexionError.

    A module that passes is said to pass: no server is needed, and nothing is written.
    """
    if asked.prompt is not None or asked.given is not None:
        raise UsageError("--fix heals what is there, --prompt and --input ask for what is not: give one of them")
    if fix is None or tests is None:
        raise UsageError(f"{'--tests' if fix is not None else '--fix'}: is missing; --fix MODULE needs --tests PATH")
    budget, loaded = asked.budget(), asked.load_config()
    if Path(fix).is_dir():
        raise InputError(f"{fix}: is a folder; --fix heals one module at a time, so name the module")
    project = find_project(load_module(Path(fix)), Path(tests))
    plan = _plan(project, asked, loaded)
    sandbox = open_sandbox(loaded.config.sandbox)
    judge = _judge(project, sandbox, loaded)
    if judge.original.passed:
        return _passes(judge, asked)
    wishes = Wishes(frozenset(), budget, asked.arguments)
    with asked.reporter() as reporter:
        if judge.original.timed_out:
            reporter(Note(f"{project.tests[0]}: {judge.original.reason}; code.limit_s in config.json sets it"))

        def make_worker(session: Session[CodeContext]) -> Healer:
            reporter(team_of(session))
            return Healer(session, judge, apply=apply)

        opened = open_session(loaded, plan, reporter, wishes, make_pipeline(loaded, sandbox, judge))
        return run(opened, Options(1, asked.fail_fast), reporter, make_worker)


def _judge(project: Project, sandbox: Sandbox, loaded: LoadedConfig) -> Judge:
    settings = loaded.config.sandbox
    limits = limits_for(loaded.config.code.limit_s, settings.memory_mib)
    python = find_interpreter(settings.python).executable
    return Judge(project, sandbox, limits, frozenset(loaded.config.code.allow_imports), python)


def _passes(judge: Judge, asked: CodeAsked) -> int:
    counts = f"{judge.original.passes} of {judge.original.total} tests pass"
    with asked.reporter() as reporter:
        reporter(Note(f"{judge.project.module.label}: passes already, {counts}; no model was asked"))
        reporter.finish(0)
    return 0


def _plan(project: Project, asked: CodeAsked, loaded: LoadedConfig) -> TaskPlan:
    """Decide where the result goes. Raises InputError; creates nothing."""
    module = project.module
    target = Path(asked.output) if asked.output else DEFAULT_OUTPUT / slug_of(f"fix {project.name.removesuffix('.py')}")
    words = f"Correct {project.name} so that the tests in {', '.join(project.tests)} pass."
    source = Source(module.label, module.path.stem, words, project.sha256, None, module.path)
    job = Job(Path(module.label), target / folders.REPORT, source, printable(module.path))
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    protected += [module.path, *project.lock]
    written = (*folders.OURS, module.path.name)
    plan = TaskPlan((job,), target, protected=tuple(protected), overwrite=asked.overwrite, written=written)
    plan.check(plan.jobs)
    return plan
