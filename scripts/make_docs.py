"""Writes the documentation that is generated from the code: ``make docs``. A test compares, so it cannot drift."""

import sys
from collections.abc import Callable
from pathlib import Path

import typer

from reflexion.cli import app
from reflexion.config import schema_text
from reflexion.doctor import report
from reflexion.evidence.rules.guide import rules_page
from reflexion.evidence.verify import ALL_RULES
from scripts.events_page import events_page
from scripts.failures_page import failures_page

WIDTH = 96


def cli_page() -> str:
    """Return docs/cli.md: the help of every command, as the terminal shows it."""
    parts = ["# Command line\n\nGenerated from the code by `make docs`.\n"]
    _add_help(typer.main.get_command(app), "reflexion", None, parts)
    return "\n".join(parts)


def _add_help(command: object, name: str, parent: typer.Context | None, parts: list[str]) -> None:
    context = typer.Context(command, info_name=name.rpartition(" ")[2], parent=parent, terminal_width=WIDTH)  # type: ignore[arg-type]
    parts.append(f"## `{name}`\n\n```text\n{context.get_help().strip()}\n```\n")
    for sub_name, sub in getattr(command, "commands", {}).items():
        _add_help(sub, f"{name} {sub_name}", context, parts)


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "config.schema.json": schema_text,
    "doctor.schema.json": report.schema_text,
    "events.md": events_page,
    "failures.md": failures_page,
    "rules.md": lambda: rules_page(ALL_RULES),
}


def main() -> None:
    """Write every generated page into the folder named on the command line, docs by default."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8", newline="\n")
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    main()
