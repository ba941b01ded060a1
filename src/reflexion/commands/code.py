"""``reflexion code``."""

import typer

from reflexion import options
from reflexion.commands.docs import end
from reflexion.commands.settings import overrides
from reflexion.errors import UsageError


def code_command(
    context: typer.Context,
    prompt: options.Prompt = None,
    given: options.TaskInput = None,
    fix: options.Fix = None,
    tests: options.Tests = None,
    apply: options.ApplyFix = False,
    output: options.TaskOutput = None,
    config: options.Config = None,
    engine: options.Engine = None,
    max_debug_iterations: options.MaxDebugIterations = None,
    model: options.Model = None,
    allow_import: options.AllowImport = None,
    jobs: options.Jobs = None,
    overwrite: options.OverwriteTask = False,
    force: options.Force = False,
    retry: options.Retry = False,
    fail_fast: options.FailFast = False,
    max_seconds: options.MaxSeconds = None,
    max_tokens: options.MaxTokens = None,
    output_format: options.DocsFormat = "text",
    quiet: options.Quiet = False,
    verbose: options.VerboseTask = False,
) -> None:
    """Write code that passes tests: ARCHITECT specifies and tests, DEVELOPER writes, DEBUGGER mends, a sandbox decides.

    Exit 0 only for code that passed. The folder of a result gets solution.py, test_solution.py, report.md and run.json.
    With --fix a module of yours is healed against your tests of it: the diff is shown, and --apply writes it.
    """
    if prompt is None and given is None and fix is None and tests is None:
        raise UsageError("nothing is asked: give --prompt or --input, or --fix with --tests")
    from reflexion.coding import CodeAsked, solve

    asked = CodeAsked(
        prompt=prompt,
        given=given,
        output=output,
        config=config,
        overrides=overrides(engine, model or [], max_debug_iterations=max_debug_iterations, jobs=jobs),
        allow_imports=allow_import or (),
        overwrite=overwrite,
        force=force,
        retry=retry,
        fail_fast=fail_fast,
        max_seconds=max_seconds,
        max_tokens=max_tokens,
        form=output_format,
        quiet=quiet,
        verbose=verbose,
        arguments=context.obj or (),
    )
    if fix is None and tests is None and not apply:
        end(lambda: solve(asked))
    from reflexion.healing.command import heal

    end(lambda: heal(asked, fix, tests, apply=apply))
