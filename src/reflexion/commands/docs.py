"""``reflexion docs`` and ``reflexion resume``."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import typer

from reflexion import options
from reflexion.commands.settings import overrides
from reflexion.errors import InputError, ReflexionError

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
        overrides=overrides(engine, model or [], max_attempts=max_attempts, quality_score_bar=bar, jobs=jobs),
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
    end(lambda: document(asked))


def end(run: Callable[[], int]) -> NoReturn:
    """Run a pipeline, and end with its exit code; an interrupted one says what to do."""
    try:
        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError as error:  # Typer would end with 1, which says "not accepted".
        # What is still in the stream's buffer goes nowhere, or the interpreter would stumble over it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReflexionError("standard output: closed by its reader; what is finished is kept") from error
    if code == INTERRUPTED:
        typer.echo("reflexion: interrupted; what is finished is kept, the same command takes up the rest", err=True)
    raise typer.Exit(code)


def resume_command(context: typer.Context, folder: options.OutputFolder = Path("output")) -> None:
    """Take up the latest run in a folder that did not come to its end: its own command, where that was given."""
    from reflexion.runs import unfinished_run

    arguments, begun_in = unfinished_run(folder)
    command = f"reflexion {shlex.join(arguments)}"
    if begun_in is not None and not _is_here(begun_in):
        if not begun_in.is_dir():
            raise InputError(
                f"{folder}: its run was begun in {begun_in}, which is gone; where its files are, run {command}"
            )
        os.chdir(begun_in)
        command = f"cd {shlex.quote(str(begun_in))} && {command}"
    typer.echo(command, err=True)
    context.find_root().command.main(arguments, obj=tuple(arguments))


def _is_here(folder: Path) -> bool:
    try:
        return folder.samefile(Path.cwd())
    except OSError:  # One of the two is gone.
        return False
