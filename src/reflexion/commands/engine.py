"""``reflexion engine``: the embedded engine on its own."""

import typer

from reflexion import options


def engine_serve(
    host: options.EngineHost = "127.0.0.1",
    port: options.EnginePort = 11434,
    max_loaded: options.MaxLoaded = 3,
    models: options.ModelsFolder = None,
    allow_remote: options.AllowRemote = False,
) -> None:
    """Serve the demo model, and the GGUF files of a folder, to any client of Ollama."""
    from reflexion.embedded.serving import Settings, serve

    def warn(words: str) -> None:
        typer.echo(f"reflexion: warning: {words}", err=True)

    serve(Settings(host, port, max_loaded, models, allow_remote), lambda words: typer.echo(f"engine: {words}"), warn)
