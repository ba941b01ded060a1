"""The command line: parse, build the context, run, map the outcome to an exit code. Nothing else.

Heavy imports happen inside the command that needs them, so that ``reflexion --help`` is instant.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from reflexion import __version__
from reflexion.commands import check, code, docs, doctor, engine, models, runs, words
from reflexion.errors import ReflexionError, UsageError

DEFAULT_COMMAND = "docs"
# Options that say what code is wanted; many forget the command's name in front of them.
OF_CODE = frozenset({"--prompt", "-p", "--fix", "--tests"})
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
models_app = typer.Typer(invoke_without_command=True, help="Models: what is needed, and get it.", rich_markup_mode=None)
prompts_app = typer.Typer(no_args_is_help=True, help="About the words that models are given.", rich_markup_mode=None)
engine_app = typer.Typer(no_args_is_help=True, help="The embedded engine on its own.", rich_markup_mode=None)
app.add_typer(config_app, name="config")
app.add_typer(runs_app, name="runs")
app.add_typer(models_app, name="models")
app.add_typer(prompts_app, name="prompts")
app.add_typer(engine_app, name="engine")


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


app.command("docs")(docs.docs_command)
app.command("code")(code.code_command)
app.command("resume")(docs.resume_command)
app.command("check")(check.check_command)
app.command("repair")(check.repair_command)
app.command("rules")(check.rules_command)
app.command("doctor")(doctor.doctor_command)
config_app.command("schema")(words.config_schema)
runs_app.callback()(runs.runs_command)
runs_app.command("show")(runs.runs_show)
runs_app.command("report")(runs.runs_report)
models_app.callback()(models.models_command)
# The names that people type behind it are answered by the command itself.
models_app.command("pull", context_settings={"allow_extra_args": True})(models.models_pull)
prompts_app.command("show")(words.prompts_show)
engine_app.command("serve")(engine.engine_serve)


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except ReflexionError as error:
        typer.echo(f"reflexion: {error}", err=True)
        raise SystemExit(error.exit_code) from error
    except OSError as error:  # Such as a full disk behind standard output; our own files have errors of their own.
        # Without a name it is the stream, or where we stand was removed meanwhile.
        place = "the working folder" if isinstance(error, FileNotFoundError) else "standard output"
        typer.echo(f"reflexion: {error.filename or place}: {error.strerror or error}", err=True)
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
        of_code = next((arg for arg in args if arg.partition("=")[0] in OF_CODE), None)
        if of_code is not None:
            option = of_code.partition("=")[0]
            raise UsageError(f"{option} is an option of another command; write: reflexion code {option} ...")
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
    # Those of programs that share the environment: they would be shown all that is validated.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    with _one_line_errors():
        wanted = with_default_command(sys.argv[1:] if args is None else args)
        app(wanted, obj=tuple(wanted))
