"""The command line: parse, build the context, run, map the outcome to an exit code. Nothing else.

Heavy imports happen inside the command that needs them, so that ``reflexion --help`` is instant.
"""

import contextlib
import io
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reflexion import __version__, options
from reflexion.errors import ReflexionError, UsageError

if TYPE_CHECKING:
    from reflexion.config import LoadedConfig
    from reflexion.examples import Examples

DEFAULT_COMMAND = "docs"
INTERRUPTED = 130
# Keys of config.json that say nothing to `check`: where there are only these, it need not be read in full.
KEYS_OF_MODELS = frozenset(
    ["model_registry", "quality_score_bar", "max_attempts", "jobs", "roles", "server", "critic", "prompts"]
)
FAILED = 4


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Documentation that is right, written by local models and decided by code.\n\n"
    "Without a command, the options are those of `reflexion docs`.",
    epilog="Exit codes: 0 accepted, 1 not accepted, 2 usage or input, 3 model server, 4 a file failed,"
    " 130 interrupted.",
)
config_app = typer.Typer(no_args_is_help=True, help="About config.json.", rich_markup_mode=None)
runs_app = typer.Typer(invoke_without_command=True, help="Earlier runs: list them, or show one.", rich_markup_mode=None)
prompts_app = typer.Typer(no_args_is_help=True, help="About the words that models are given.", rich_markup_mode=None)
app.add_typer(config_app, name="config")
app.add_typer(runs_app, name="runs")
app.add_typer(prompts_app, name="prompts")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reflexion {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Hold the options that stand before every command."""


@app.command("docs")
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
        overrides=_overrides(engine, max_attempts, bar, model or [], jobs),
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


@app.command("resume")
def resume_command(folder: options.OutputFolder = Path("output")) -> None:
    """Take up the latest run in a folder that did not come to its end, with its own command line."""
    from reflexion.runs import unfinished_command

    arguments = unfinished_command(folder)
    typer.echo(f"reflexion {shlex.join(arguments)}", err=True)
    app(arguments, obj=tuple(arguments))


@runs_app.callback()
def runs_command(context: typer.Context, folder: options.OutputFolder = Path("output")) -> None:
    """List the runs of an output folder, the latest first."""
    from reflexion.history import list_runs

    context.obj = folder
    if context.invoked_subcommand is None:
        typer.echo(list_runs(folder), nl=False)


@runs_app.command("show")
def runs_show(
    context: typer.Context,
    run: options.Run,
    folder: options.SameFolder = None,
    output_format: options.RunFormat = "text",
) -> None:
    """Show a run: its files, outcomes, scores and times; with --format json the whole record."""
    from reflexion.history import show_run

    typer.echo(show_run(folder or context.obj, run, output_format), nl=False)


@runs_app.command("report")
def runs_report(context: typer.Context, run: options.Run, folder: options.SameFolder = None) -> None:
    """Write a run as one page of HTML beside its record."""
    from reflexion.documenting import write_report
    from reflexion.history import find_run

    typer.echo(write_report(find_run(folder or context.obj, run)))


def _overrides(
    engine: str | None, max_attempts: int | None, bar: int | None, models: Sequence[str], jobs: int | None
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


@app.command("check")
def check_command(
    documents: options.Documents,
    source: options.Sources = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="NAME", help="text, json, sarif or github.")
    ] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="A warning makes exit 1 too.")] = False,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Pass over documents whose source is not known.")
    ] = False,
    examples: options.Examples = False,
    require_examples: options.RequireExamples = False,
    config: options.Config = None,
) -> None:
    """Check documents against their sources by code alone: no model, no server."""
    from reflexion.check.formats import FORMATS
    from reflexion.check.pairs import find_pairs
    from reflexion.check.run import run_check

    if output_format not in FORMATS:
        raise UsageError(f'--format: "{output_format}" is unknown; valid are {", ".join(FORMATS)}')
    pairs, problems = find_pairs(documents, source or [], known_only=known_only)
    off, runner = _check_settings(config, examples=examples, required=require_examples)
    result = run_check(pairs, style=output_format, strict=strict, off=off, problems=problems, examples=runner)
    typer.echo(result.text, nl=False)
    for line in (*result.problems, *result.notes):
        typer.echo(f"reflexion: {line}", err=True)
    raise typer.Exit(result.exit_code)


def _check_settings(config: Path | None, *, examples: bool, required: bool) -> "tuple[frozenset[str], Examples | None]":
    """Return the rules that the configuration switches off, and who runs examples, or None.

    ./config.json is read in full only where it has something about them: that takes longer than checking a page.
    Raises SandboxUnavailable where examples are required.
    """
    from reflexion.examples import Examples

    off, sandbox = frozenset[str](), None
    if config is not None or _has_settings(Path("config.json")):
        from reflexion.config import load_config

        settings = load_config(config, {}, {}).config
        off, sandbox = frozenset(settings.rules.off), settings.sandbox
    runner = Examples(sandbox, required=required) if examples or required else None
    for warning in runner.warnings() if runner else ():
        typer.echo(f"reflexion: {warning}", err=True)
    if runner and required:
        runner.open()
    return off, runner


@app.command("repair")
def repair_command(
    documents: options.Documents,
    source: options.Sources = None,
    write: Annotated[
        bool, typer.Option("--write", help="Replace the documents; without it the change is shown.")
    ] = False,
    backup: Annotated[bool, typer.Option("--backup", help="With --write: keep the old text as NAME.md.bak.")] = False,
    examples: options.ExamplesToo = True,
    require_examples: options.RequireExamples = False,
    config: options.Config = None,
) -> None:
    """Mend by code what code can prove wrong in documents, and keep every true word: no model, no server.

    Exit 1 when an error stands: without --write the documents are left as they are.
    """
    from reflexion.check.mend import run_repair
    from reflexion.check.pairs import find_pairs

    if backup and not write:
        raise UsageError("--backup has no effect without --write")
    pairs, problems = find_pairs(documents, source or [])
    off, runner = _check_settings(config, examples=examples, required=require_examples)
    result = run_repair(pairs, off, runner, write=write, backup=backup, problems=problems)
    typer.echo(result.text, nl=False)
    for line in (*result.problems, *result.notes):
        typer.echo(f"reflexion: {line}", err=True)
    raise typer.Exit(result.exit_code)


def _has_settings(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return path.exists()  # What is wrong with it is for load_config to say.
    try:
        keys = json.loads(content.decode("utf-8-sig"))
    except ValueError:
        return True
    return not isinstance(keys, dict) or not keys.keys() <= KEYS_OF_MODELS


@app.command("rules")
def rules_command(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="A rule, to read all that is known of it.")
    ] = None,
) -> None:
    """List the rules: code, level, name and what each finds; with a code, the whole of one."""
    from reflexion.evidence.verify import ALL_RULES

    if code is not None:
        found = [rule for rule in ALL_RULES if code.upper() == rule.code or code == rule.name]
        if not found:
            raise UsageError(f"there is no rule {code}; `reflexion rules` lists them")
        typer.echo(
            f"{found[0].code} {found[0].name} ({found[0].level})\n\n{found[0].summary}\n\n{found[0].explanation}"
        )
        return
    for rule in ALL_RULES:
        typer.echo(f"{rule.code}  {rule.level:<7}  {rule.name:<24}  {rule.summary}")


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of config.json."""
    from reflexion.config import schema_text

    typer.echo(schema_text(), nl=False)


@prompts_app.command("show")
def prompts_show(config: options.Config = None) -> None:
    """Print the words in force, as a TOML file that can be edited and used."""
    from reflexion.config import load_config
    from reflexion.prompts import as_toml, load_prompts, prompts_folder

    loaded: LoadedConfig = load_config(config, {}, {})
    typer.echo(as_toml(load_prompts(DEFAULT_COMMAND, prompts_folder(loaded))), nl=False)


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except ReflexionError as error:
        typer.echo(f"reflexion: {error}", err=True)
        raise SystemExit(error.exit_code) from error
    except OSError as error:  # Such as a full disk behind standard output; our own files have errors of their own.
        typer.echo(f"reflexion: {error.filename or 'standard output'}: {error.strerror or error}", err=True)
        raise SystemExit(FAILED) from error
    except Exception as error:  # A bug must not end with 1, which says "not accepted".
        import traceback

        traceback.print_exc()
        typer.echo(f"reflexion: this is a bug, please report it: {type(error).__name__}: {error}", err=True)
        raise SystemExit(FAILED) from error


def with_default_command(args: Sequence[str]) -> list[str]:
    """Return the arguments with the default command in front where they name none.

    Raises UsageError for a first word that is no command.
    """
    named = [*(command.name for command in app.registered_commands), *(group.name for group in app.registered_groups)]
    names = [name for name in named if isinstance(name, str)]
    if not args or args[0] in names or args[0] in ("--help", "--version"):
        return list(args)
    if args[0].startswith("-"):
        return [DEFAULT_COMMAND, *args]
    if Path(args[0]).exists():
        raise UsageError(f"to document {args[0]}, write: reflexion --input {args[0]}")
    import difflib

    near = difflib.get_close_matches(args[0], names, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"commands are {', '.join(names)}"
    raise UsageError(f'there is no command "{args[0]}"; {hint}')


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; the one place that ends the process."""
    for stream in (sys.stdout, sys.stderr):
        # Names of files may hold what no encoding can; showing them must not end a run.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with _one_line_errors():
        wanted = with_default_command(sys.argv[1:] if args is None else args)
        app(wanted, obj=tuple(wanted))
