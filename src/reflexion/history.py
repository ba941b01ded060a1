"""``reflexion runs``: the runs of an output folder as text."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reflexion.errors import InputError, UsageError
from reflexion.runs import find_records, no_run_in, read_record

_ENDINGS = {0: "accepted", 1: "not accepted", 2: "not usable", 3: "no server", 4: "failures", 130: "interrupted"}


def list_runs(folder: Path) -> str:
    """Return a table of the runs of a folder, the latest first. Raises InputError."""
    table = _table("run", "started", "files", "ended")
    for path in reversed(find_records(folder)):
        record = read_record(path)
        table.add_row(path.stem, str(record.get("started", "")), str(len(record.get("files", []))), _ending(record))
    if not table.row_count:
        raise InputError(no_run_in(folder))
    return _text(table)


def show_run(folder: Path, run: str, form: str) -> str:
    """Return one run: a line a file, or with ``form`` "json" the whole record. Raises InputError, UsageError."""
    record = read_record(find_run(folder, run))
    if form == "json":
        return json.dumps(record, indent=1) + "\n"  # ASCII alone: valid in every encoding.
    if form != "text":
        raise UsageError(f'--format: "{form}" is unknown; valid are text, json')
    table = _table("source", "outcome", "scores", "rounds", "seconds", "page or reason")
    for entry in record.get("files", []):
        table.add_row(*_row(entry))
    models = ", ".join(f"{role} {item.get('model')}" for role, item in record.get("models", {}).items())
    head = f"{record.get('run')}  {record.get('started')}  {_ending(record)}\n{models}\n"
    return head + _text(table)


def find_run(folder: Path, run: str) -> Path:
    """Return the record of the one run whose name begins so. Raises InputError."""
    found = [path for path in find_records(folder) if path.stem.startswith(run)]
    if len(found) != 1:
        said = "no run" if not found else f"{len(found)} runs"
        raise InputError(f"{folder}: {said} called {run}; `reflexion runs --output {folder}` lists them")
    return found[0]


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    rounds = entry.get("rounds", [])
    scores = ", ".join("-" if item.get("score") is None else str(item["score"]) for item in rounds)
    how = "assembled" if entry.get("assembled") else "repaired" if entry.get("repaired") else ""
    outcome = f"{entry.get('outcome')}{f' ({how})' if how else ''}"
    where = entry.get("output") or entry.get("error", "")
    return str(entry.get("source")), outcome, scores, str(len(rounds)), f"{entry.get('seconds', 0):.1f}", str(where)


def _ending(record: Mapping[str, Any]) -> str:
    if "finished" not in record:
        return "not finished"
    code = record.get("exit_code")
    return _ENDINGS.get(code, f"exit {code}") if isinstance(code, int) else ""


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _text(table: Table) -> str:
    stream = io.StringIO()
    Console(file=stream, width=160, color_system=None, markup=False, emoji=False).print(table)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())
