"""The command line: parse, build the context, run, map the outcome to an exit code. Nothing else.

Heavy imports happen inside the command that needs them, so that ``reflexion --help`` is instant.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reflexion import __version__
from reflexion.errors import ReflexionError, UsageError

if TYPE_CHECKING:
    from reflexion.config import LoadedConfig
    from reflexion.examples import Examples

DEFAULT_COMMAND = "docs"
INTERRUPTED = 130
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
prompts_app = typer.Typer(no_args_is_help=True, help="About the words that models are given.", rich_markup_mode=None)
app.add_typer(config_app, name="config")
app.add_typer(prompts_app, name="prompts")

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", metavar="FILE", help="Configuration file. Default: ./config.json, else built-in defaults."
    ),
]
ExamplesOption = Annotated[
    bool, typer.Option("--examples/--no-examples", help="Run the examples of the documents in the sandbox.")
]
RequireExamplesOption = Annotated[
    bool, typer.Option("--require-examples", help="Exit 2 where no sandbox can run the examples.")
]
SourceOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--source", "-s", metavar="PATH", help="The source of each document, in order. Default: what the page names."
    ),
]
DocumentsArgument = Annotated[list[Path], typer.Argument(metavar="DOC...", help="Markdown files or folders of them.")]


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
    inputs: Annotated[
        list[str],
        typer.Option(
            "--input", "-i", metavar="PATH", help="A source file (repeatable), a folder, or - for standard input."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A file, a folder, or - for standard output. Default: output/NAME.md.",
        ),
    ] = None,
    config: ConfigOption = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="ollama, or embedded: a small demo model of our own.")
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(metavar="N", help="Rounds per file at most.")] = None,
    bar: Annotated[int | None, typer.Option(metavar="N", help="Score to reach, 0 to 100.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=NAME", help="Bind a role to a model (repeatable).")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace pages that were edited or are not ours.")
    ] = False,
    require_examples: RequireExamplesOption = False,
    output_format: Annotated[
        str, typer.Option("--format", metavar="NAME", help="text, or json: one event a line.")
    ] = "text",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only how it ended.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show fixes in full.")] = False,
) -> None:
    """Document source files: GENERATOR drafts, code checks, CRITIC scores, ADJUDICATOR settles, code decides."""
    overrides = _overrides(engine, max_attempts, bar, model or [])
    if output_format not in ("text", "json"):
        raise UsageError(f'--format: "{output_format}" is unknown; valid are text, json')
    try:
        code = _document(inputs, output, config, overrides, overwrite, require_examples, output_format, quiet, verbose)
    except KeyboardInterrupt:
        typer.echo("reflexion: interrupted; finished pages are kept", err=True)
        code = INTERRUPTED
    raise typer.Exit(code)


def _overrides(engine: str | None, max_attempts: int | None, bar: int | None, models: Sequence[str]) -> dict[str, Any]:
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
    for item in models:
        role, equals, name = item.partition("=")
        if not equals or not name:
            raise UsageError(f'--model: "{item}" should be ROLE=NAME, such as CRITIC=llama3:8b')
        overrides.setdefault("model_registry", {})[role.strip().upper()] = name.strip()
    return overrides


def _document(
    inputs: Sequence[str],
    output: str | None,
    config_path: Path | None,
    overrides: Mapping[str, Any],
    overwrite: bool,
    require_examples: bool,
    output_format: str,
    quiet: bool,
    verbose: bool,
) -> int:
    from reflexion import batch
    from reflexion.config import load_config
    from reflexion.report import make_reporter
    from reflexion.session import open_session

    loaded = load_config(config_path, overrides, os.environ)
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    plan = batch.plan(inputs, output, overwrite=overwrite, protected=protected)
    to_stdout = plan.folder is None
    if to_stdout and output_format == "json":
        raise UsageError("standard output cannot hold both the page and --format json; name an --output file")
    code = INTERRUPTED
    with make_reporter(output_format, to_stderr=to_stdout, quiet=quiet, verbose=verbose) as reporter:
        try:
            with open_session(loaded, plan, reporter, require_examples=require_examples) as session:
                code = batch.run(plan, session.context, session.record, _write_stdout).exit_code()
        except ReflexionError as error:
            code = error.exit_code
            raise
        finally:
            reporter.finish(code)
    return code


def _write_stdout(page: str) -> None:
    sys.stdout.buffer.write(page.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()


@app.command("check")
def check_command(
    documents: DocumentsArgument,
    source: SourceOption = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="NAME", help="text, json, sarif or github.")
    ] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="A warning makes exit 1 too.")] = False,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Pass over documents whose source is not known.")
    ] = False,
    examples: ExamplesOption = True,
    require_examples: RequireExamplesOption = False,
    config: ConfigOption = None,
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
    documents: DocumentsArgument,
    source: SourceOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Replace the documents; without it the change is shown.")
    ] = False,
    backup: Annotated[bool, typer.Option("--backup", help="With --write: keep the old text as NAME.md.bak.")] = False,
    examples: ExamplesOption = True,
    require_examples: RequireExamplesOption = False,
    config: ConfigOption = None,
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
    return b'"rules"' in content or b'"sandbox"' in content


@app.command("rules")
def rules_command() -> None:
    """List the rules: code, level, name and what each finds."""
    from reflexion.evidence.verify import ALL_RULES

    for rule in ALL_RULES:
        typer.echo(f"{rule.code}  {rule.level:<7}  {rule.name:<24}  {rule.summary}")


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of config.json."""
    from reflexion.config import schema_text

    typer.echo(schema_text(), nl=False)


@prompts_app.command("show")
def prompts_show(config: ConfigOption = None) -> None:
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
        app(with_default_command(sys.argv[1:] if args is None else args))
