"""``reflexion docs`` and ``reflexion resume``."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from reflexion import options
from reflexion.errors import UsageError

INTERRUPTED = 130


def docs_command(
    context: typer.Context,
    inputs: options.Inputs,
    output: options.Output = None,
    config: options.Config = None,
    engine: options.Engine = None,
    max_attempts: options.MaxAttempts = None,
    bar: options.Bar = None,
    model: options.Model = None,
    jobs: options.Jobs = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    max_bytes: options.MaxBytes = None,
    overwrite: options.Overwrite = False,
    force: options.Force = False,
    retry: options.Retry = False,
    fail_fast: options.FailFast = False,
    max_seconds: options.MaxSeconds = None,
    max_tokens: options.MaxTokens = None,
    require_examples: options.RequireExamples = False,
    dry_run: options.DryRun = False,
    output_format: options.DocsFormat = "text",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Document source files: GENERATOR drafts, code checks, CRITIC scores, ADJUDICATOR settles, code decides."""
    from reflexion.documenting import Asked, document

    asked = Asked(
        inputs=inputs,
        output=output,
        config=config,
        overrides=overrides_of(engine, max_attempts, bar, model or [], jobs),
        include=include or (),
        exclude=exclude or (),
        max_bytes=max_bytes,
        overwrite=overwrite,
        force=force,
        retry=retry,
        fail_fast=fail_fast,
        dry_run=dry_run,
        require_examples=require_examples,
        max_seconds=max_seconds,
        max_tokens=max_tokens,
        form=output_format,
        quiet=quiet,
        verbose=verbose,
        arguments=context.obj or (),
    )
    try:
        code = document(asked)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        typer.echo("reflexion: interrupted; finished pages are kept, the same command takes up the rest", err=True)
    raise typer.Exit(code)


def resume_command(context: typer.Context, folder: options.OutputFolder = Path("output")) -> None:
    """Take up the latest run in a folder that did not come to its end, with its own command line."""
    from reflexion.runs import unfinished_command

    arguments = unfinished_command(folder)
    typer.echo(f"reflexion {shlex.join(arguments)}", err=True)
    context.find_root().command.main(arguments, obj=tuple(arguments))


def overrides_of(
    engine: str | None = None,
    max_attempts: int | None = None,
    bar: int | None = None,
    models: Sequence[str] = (),
    jobs: int | None = None,
) -> dict[str, Any]:
    """Return the command line's settings in the nesting of config.json."""
    overrides: dict[str, Any] = {}
    if engine is not None:
        overrides["server"] = {"engine": engine}
    if engine == "embedded" and models:
        raise UsageError("--model has no effect with --engine embedded: its demo models serve every role")
    if max_attempts is not None:
        overrides["max_attempts"] = max_attempts
    if bar is not None:
        overrides["quality_score_bar"] = bar
    if jobs is not None:
        overrides["jobs"] = jobs
    for item in models:
        role, equals, name = item.partition("=")
        if not equals or not name:
            raise UsageError(f'--model: "{item}" should be ROLE=NAME, such as CRITIC=llama3:8b')
        overrides.setdefault("model_registry", {})[role.strip().upper()] = name.strip()
    return overrides
