"""``reflexion docs``: from what the command line asks to an exit code."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflexion.batch import Options
from reflexion.budget import Budget
from reflexion.config import Config, LoadedConfig, load_config
from reflexion.context import DocsContext
from reflexion.documenter import Documenter
from reflexion.errors import UsageError
from reflexion.events import Emit
from reflexion.examples import Examples
from reflexion.manifest import outcomes_to_skip
from reflexion.ollama.roles import Models
from reflexion.plan import Plan, make_plan
from reflexion.prompts import Prompts
from reflexion.report import make_reporter
from reflexion.running import run
from reflexion.session import Pipeline, Wishes, open_session
from reflexion.walk import MAX_BYTES, WalkRules


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for. ``overrides`` are settings in the nesting of config.json.

    ``force``: do the unchanged anew; ``retry``: those that were not accepted. ``max_seconds`` and ``max_tokens`` limit
    the run. ``arguments`` is the command line itself, for the record.
    """

    inputs: Sequence[str]
    output: str | None = None
    config: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    max_bytes: int | None = None
    overwrite: bool = False
    force: bool = False
    retry: bool = False
    fail_fast: bool = False
    dry_run: bool = False
    require_examples: bool = False
    max_seconds: float | None = None
    max_tokens: int | None = None
    form: str = "text"
    quiet: bool = False
    verbose: bool = False
    arguments: tuple[str, ...] = ()

    def skipped(self) -> frozenset[str]:
        """Return the outcomes for which an unchanged source is left out."""
        return outcomes_to_skip(force=self.force, retry=self.retry)


def document(asked: Asked) -> int:
    """Run the pipeline on everything that is asked for, and return the exit code. Raises ReflexionError."""
    if asked.form not in ("text", "json"):
        raise UsageError(f'--format: "{asked.form}" is unknown; valid are text, json')
    budget = Budget(asked.max_seconds, asked.max_tokens)
    budget.require_some()
    loaded = load_config(asked.config, asked.overrides, os.environ)
    plan = _plan(asked, loaded)
    if asked.dry_run:
        from reflexion.dryrun import describe_plan

        sys.stdout.write(describe_plan(plan, loaded.config, asked.skipped()))
        return 0
    to_stdout = plan.folder is None
    if to_stdout and asked.form == "json":
        raise UsageError("standard output cannot hold both the page and --format json; name an --output file")
    pipeline = _pipeline(loaded, require_examples=asked.require_examples)
    wishes = Wishes(asked.skipped(), budget, asked.arguments)
    options = Options(loaded.config.jobs, asked.fail_fast)
    with make_reporter(asked.form, to_stderr=to_stdout, quiet=asked.quiet, verbose=asked.verbose) as reporter:
        opened = open_session(loaded, plan, reporter, wishes, pipeline)
        return run(opened, options, reporter, lambda session: Documenter(session, _write_stdout))


def _plan(asked: Asked, loaded: LoadedConfig) -> Plan:
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    rules = WalkRules(
        tuple(asked.include), tuple(asked.exclude), MAX_BYTES if asked.max_bytes is None else asked.max_bytes
    )
    return make_plan(asked.inputs, asked.output, overwrite=asked.overwrite, protected=protected, rules=rules)


def _pipeline(loaded: LoadedConfig, *, require_examples: bool) -> Pipeline[DocsContext]:
    """Return what a session needs to know. Raises SandboxUnavailable where examples have to run and cannot."""
    examples = Examples(loaded.config.sandbox, required=require_examples)
    if require_examples:
        examples.open()

    def make_context(config: Config, models: Models, prompts: Prompts, emit: Emit) -> DocsContext:
        return DocsContext(
            models=models,
            prompts=prompts,
            emit=emit,
            quality_score_bar=config.quality_score_bar,
            max_attempts=config.max_attempts,
            critic_when_clean=config.critic == "when_clean",
            side_by_side=config.jobs,
            rules_off=frozenset(config.rules.off),
            examples_of=lambda source: examples.of(source.path, source.text, source.name),
        )

    return Pipeline("docs", make_context, tuple(examples.warnings()))


def _write_stdout(page: str) -> None:
    sys.stdout.buffer.write(page.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()
