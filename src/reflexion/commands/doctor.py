"""``reflexion doctor``."""

import os
from pathlib import Path
from typing import Annotated

import typer

from reflexion import options
from reflexion.commands.docs import INTERRUPTED
from reflexion.commands.settings import overrides
from reflexion.errors import UsageError


def doctor_command(
    config: options.Config = None,
    engine: options.Engine = None,
    model: options.Model = None,
    output: options.CheckedFolder = Path("output"),
    no_calls: Annotated[bool, typer.Option("--no-calls", help="Call no model: done in well under a second.")] = False,
    require_examples: options.RequireExamples = False,
    output_format: options.DoctorFormat = "text",
) -> None:
    """Look at everything that a run needs, show all of it, and name the command that helps with each trouble.

    Exit 0: a run can start. Exit 2 or 3: what it would end with.
    """
    from reflexion.doctor.report import as_json, as_text
    from reflexion.doctor.run import Asked, examine

    if output_format not in ("text", "json"):
        raise UsageError(f'--format: "{output_format}" is unknown; valid are text, json')
    asked = Asked(config, lambda: overrides(engine, model or []), output, not no_calls, require_examples)
    try:
        report = examine(asked, os.environ)
    except KeyboardInterrupt as error:
        raise typer.Exit(INTERRUPTED) from error
    typer.echo(as_json(report) if output_format == "json" else as_text(report), nl=False)
    raise typer.Exit(report.exit_code)
