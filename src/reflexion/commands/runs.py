"""``reflexion runs``: earlier runs of an output folder."""

from pathlib import Path

import typer

from reflexion import options


def runs_command(context: typer.Context, folder: options.OutputFolder = Path("output")) -> None:
    """List the runs of an output folder, the latest first."""
    from reflexion.history import list_runs

    context.obj = folder
    if context.invoked_subcommand is None:
        typer.echo(list_runs(folder), nl=False)


def runs_show(
    context: typer.Context,
    run: options.Run,
    folder: options.SameFolder = None,
    output_format: options.RunFormat = "text",
) -> None:
    """Show a run: its files, outcomes, scores and times; with --format json the whole record."""
    from reflexion.history import show_run

    typer.echo(show_run(folder or context.obj, run, output_format), nl=False)


def runs_report(context: typer.Context, run: options.Run, folder: options.SameFolder = None) -> None:
    """Write a run as one page of HTML beside its record."""
    from reflexion.history import find_run
    from reflexion.running import write_report

    typer.echo(write_report(find_run(folder or context.obj, run)))
