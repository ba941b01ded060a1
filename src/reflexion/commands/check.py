"""``reflexion check``, ``reflexion repair`` and ``reflexion rules``: what code knows without a model."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reflexion import options
from reflexion.errors import UsageError

if TYPE_CHECKING:
    from reflexion.examples import Examples

# Keys of config.json that say nothing to `check`: where there are only these, it need not be read in full.
KEYS_OF_MODELS = frozenset(
    [
        "model_registry",
        "quality_score_bar",
        "max_attempts",
        "max_debug_iterations",
        "jobs",
        "roles",
        "server",
        "critic",
        "prompts",
        "code",
    ]
)


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
