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
from reflexion.report import make_reporter
from reflexion.running import run
from reflexion.sandbox import open_sandbox
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


def solve(asked: CodeAsked) -> int:
    """Run the pipeline on everything that is asked for, and return the exit code. Raises ReflexionError."""
    if asked.form not in ("text", "json"):
        raise UsageError(f'--format: "{asked.form}" is unknown; valid are text, json')
    budget = Budget(asked.max_seconds, asked.max_tokens)
    budget.require_some()
    loaded = load_config(asked.config, _with_imports(asked), os.environ)
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    plan = make_task_plan(asked.prompt, asked.given, asked.output, overwrite=asked.overwrite, protected=protected)
    pipeline = _pipeline(loaded)
    wishes = Wishes(outcomes_to_skip(force=asked.force, retry=asked.retry), budget, asked.arguments)
    options = Options(loaded.config.jobs, asked.fail_fast)
    with make_reporter(asked.form, to_stderr=False, quiet=asked.quiet, verbose=asked.verbose) as reporter:

        def make_worker(session: Session[CodeContext]) -> Coder:
            reporter(TeamAssembled(tuple(_member(one) for one in session.context.models.bindings.values())))
            return Coder(session)

        return run(open_session(loaded, plan, reporter, wishes, pipeline), options, reporter, make_worker)


def _with_imports(asked: CodeAsked) -> Mapping[str, Any]:
    """Return the overrides; the modules that the command line allows come besides those of the configuration."""
    if not asked.allow_imports:
        return asked.overrides
    known = load_config(asked.config, {}, os.environ).config.code.allow_imports
    both = list(dict.fromkeys([*known, *asked.allow_imports]))
    return {**asked.overrides, "code": {"allow_imports": both}}


def _pipeline(loaded: LoadedConfig) -> Pipeline[CodeContext]:
    """Return what a session needs to know. Raises SandboxUnavailable: without a sandbox nothing can be verified."""
    sandbox = open_sandbox(loaded.config.sandbox)

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

    weak = 'Tests and candidates run with sandbox.mode "process": limits only, no security boundary.'
    return Pipeline("code", make_context, () if sandbox.is_boundary else (weak,))


def _member(binding: Binding) -> Member:
    thinking = (binding.settings.thinking or "off") if binding.can_think else ""
    return Member(binding.role.value, binding.model, thinking, DUTIES[binding.role])
