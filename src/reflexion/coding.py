"""``reflexion code``: from what the command line asks to an exit code."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflexion.batch import Options
from reflexion.budget import Budget
from reflexion.coder import Coder
from reflexion.config import Config, LoadedConfig, Role, load_config
from reflexion.context import CodeContext
from reflexion.errors import UsageError
from reflexion.events import Emit, Member, TeamAssembled
from reflexion.manifest import outcomes_to_skip
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Models
from reflexion.prompts import Prompts
from reflexion.report import Reporter, make_reporter
from reflexion.running import run
from reflexion.sandbox import Sandbox, open_sandbox
from reflexion.session import Pipeline, Session, Wishes, open_session
from reflexion.team.tasks import make_task_plan

DUTIES: Mapping[Role, str] = {
    Role.ARCHITECT: "specification and tests",
    Role.DEVELOPER: "the module",
    Role.DEBUGGER: "what is wrong, and the module anew",
    Role.DEBUGGER_ESCALATION: "the same, when DEBUGGER is stuck",
    Role.REVIEWER: "the result in words",
}


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """What the command line asks for. ``overrides`` are settings in the nesting of config.json."""

    prompt: str | None = None
    given: str | None = None
    output: str | None = None
    config: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    allow_imports: Sequence[str] = ()
    overwrite: bool = False
    force: bool = False
    retry: bool = False
    fail_fast: bool = False
    max_seconds: float | None = None
    max_tokens: int | None = None
    form: str = "text"
    quiet: bool = False
    verbose: bool = False
    arguments: tuple[str, ...] = ()

    def budget(self) -> Budget:
        """Return what the run may use. Raises UsageError for what cannot be asked for."""
        if self.form not in ("text", "json"):
            raise UsageError(f'--format: "{self.form}" is unknown; valid are text, json')
        budget = Budget(self.max_seconds, self.max_tokens)
        budget.require_some()
        return budget

    def load_config(self) -> LoadedConfig:
        """Return the configuration with all that the command line says besides. Raises ConfigError."""
        return load_config(self.config, _with_imports(self), os.environ)

    def reporter(self) -> Reporter:
        """Return who shows what happens."""
        return make_reporter(self.form, to_stderr=False, quiet=self.quiet, verbose=self.verbose)


def solve(asked: CodeAsked) -> int:
    """Run the pipeline on everything that is asked for, and return the exit code. Raises ReflexionError."""
    budget, loaded = asked.budget(), asked.load_config()
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    plan = make_task_plan(asked.prompt, asked.given, asked.output, overwrite=asked.overwrite, protected=protected)
    pipeline = make_pipeline(loaded, open_sandbox(loaded.config.sandbox))
    wishes = Wishes(outcomes_to_skip(force=asked.force, retry=asked.retry), budget, asked.arguments)
    options = Options(loaded.config.jobs, asked.fail_fast)
    with asked.reporter() as reporter:

        def make_worker(session: Session[CodeContext]) -> Coder:
            reporter(team_of(session))
            return Coder(session)

        return run(open_session(loaded, plan, reporter, wishes, pipeline), options, reporter, make_worker)


def _with_imports(asked: CodeAsked) -> Mapping[str, Any]:
    """Return the overrides; the modules that the command line allows come besides those of the configuration."""
    if not asked.allow_imports:
        return asked.overrides
    known = load_config(asked.config, {}, os.environ).config.code.allow_imports
    both = list(dict.fromkeys([*known, *asked.allow_imports]))
    return {**asked.overrides, "code": {"allow_imports": both}}


def make_pipeline(loaded: LoadedConfig, sandbox: Sandbox, *, healing: bool = False) -> Pipeline[CodeContext]:
    """Return what a session needs to know; ``healing``: of modules that are there, so that nobody writes new ones."""

    def make_context(config: Config, models: Models, prompts: Prompts, emit: Emit) -> CodeContext:
        return CodeContext(
            models=models,
            prompts=prompts,
            emit=emit,
            sandbox=sandbox,
            max_debug_iterations=config.max_debug_iterations,
            limit_s=config.code.limit_s,
            allow=frozenset(config.code.allow_imports),
        )

    allowed = loaded.config.code.allow_imports
    wide = (f"Allowed to candidates: {', '.join(allowed)}. What they reach through it, the scan does not see.",)
    weak = 'Tests and candidates run with sandbox.mode "process": limits only, no security boundary.'
    without = frozenset({Role.ARCHITECT, Role.DEVELOPER}) if healing else frozenset[Role]()
    notes = (*(() if sandbox.is_boundary else (weak,)), *(wide if allowed else ()))
    return Pipeline("code", make_context, notes, without)


def team_of(session: Session[CodeContext]) -> TeamAssembled:
    """Return who works on the tasks of a session."""
    return TeamAssembled(tuple(_member(one) for one in session.context.models.bindings.values()))


def _member(binding: Binding) -> Member:
    thinking = (binding.settings.thinking or "off") if binding.can_think else ""
    return Member(binding.role.value, binding.model, thinking, DUTIES[binding.role])
