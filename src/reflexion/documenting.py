"""``reflexion docs``: from what the command line asks to an exit code."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflexion import batch
from reflexion.budget import Budget
from reflexion.config import LoadedConfig, load_config
from reflexion.errors import InputError, ReflexionError, UsageError
from reflexion.events import Emit, Note
from reflexion.pages import write_atomically
from reflexion.plan import Plan, make_plan
from reflexion.report import Reporter, make_reporter
from reflexion.runs import read_record
from reflexion.session import Session, Wishes, open_session
from reflexion.walk import MAX_BYTES, WalkRules

INTERRUPTED = 130
# Bytes of a record whose report is not made by itself: it is put together in memory, in several times its size.
LARGE_RECORD = 32_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for. ``overrides`` are settings in the nesting of config.json.

    ``force``: do the unchanged anew; ``retry``: those that were not accepted. ``max_seconds`` and ``max_tokens`` limit
    the run. ``arguments`` is the command line itself, for the record.
    """

    inputs: Sequence[str]
    output: str | None = None
    config: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    max_bytes: int | None = None
    overwrite: bool = False
    force: bool = False
    retry: bool = False
    fail_fast: bool = False
    dry_run: bool = False
    require_examples: bool = False
    max_seconds: float | None = None
    max_tokens: int | None = None
    form: str = "text"
    quiet: bool = False
    verbose: bool = False
    arguments: tuple[str, ...] = ()

    def skipped(self) -> frozenset[str]:
        """Return the outcomes for which an unchanged source is left out."""
        if self.force:
            return frozenset()
        return frozenset({"accepted"} if self.retry else {"accepted", "not accepted"})


def document(asked: Asked) -> int:
    """Run the pipeline on everything that is asked for, and return the exit code. Raises ReflexionError."""
    if asked.form not in ("text", "json"):
        raise UsageError(f'--format: "{asked.form}" is unknown; valid are text, json')
    budget = Budget(asked.max_seconds, asked.max_tokens)
    budget.require_some()
    loaded = load_config(asked.config, asked.overrides, os.environ)
    plan = _plan(asked, loaded)
    if asked.dry_run:
        from reflexion.dryrun import describe_plan

        sys.stdout.write(describe_plan(plan, loaded.config, asked.skipped()))
        return 0
    to_stdout = plan.folder is None
    if to_stdout and asked.form == "json":
        raise UsageError("standard output cannot hold both the page and --format json; name an --output file")
    wishes = Wishes(asked.skipped(), asked.require_examples, budget, asked.arguments)
    options = batch.Options(loaded.config.jobs, asked.fail_fast)
    with make_reporter(asked.form, to_stderr=to_stdout, quiet=asked.quiet, verbose=asked.verbose) as reporter:
        return _run(loaded, plan, wishes, options, reporter)


def _plan(asked: Asked, loaded: LoadedConfig) -> Plan:
    protected = [Path(loaded.origin)] if loaded.origin != "defaults" else []
    rules = WalkRules(
        tuple(asked.include), tuple(asked.exclude), MAX_BYTES if asked.max_bytes is None else asked.max_bytes
    )
    return make_plan(asked.inputs, asked.output, overwrite=asked.overwrite, protected=protected, rules=rules)


def _run(loaded: LoadedConfig, plan: Plan, wishes: Wishes, options: batch.Options, reporter: Reporter) -> int:
    code = INTERRUPTED
    try:
        with open_session(loaded, plan, reporter, wishes) as session:
            try:
                code = batch.Batch(session, options, _write_stdout).run().exit_code()
            except ReflexionError as error:
                code = error.exit_code
                raise
            finally:
                _close(session, code, reporter)
    except ReflexionError as error:
        code = error.exit_code
        raise
    finally:
        reporter.finish(code)
    return code


def _close(session: Session, code: int, emit: Emit) -> None:
    """Write the record whole and, for a folder, the report; trouble with them is told and changes no outcome."""
    try:
        session.record.finish(code, loads=session.gate.state().loads)
        record = session.record.path
        if session.plan.root is not None and record is not None and record.exists():
            emit(Note(report_of(record)))
    except ReflexionError as error:
        emit(Note(str(error)))


def report_of(record: Path, largest: int = LARGE_RECORD) -> str:
    """Write a record's report, unless the record has more than ``largest`` bytes, and say which. Raises InputError."""
    size = record.stat().st_size
    if size <= largest:
        return f"Report: {write_report(record)}"
    command = f"reflexion runs --output {record.parent.parent} report {record.stem}"
    return f"Report left out: the record has {size / 1e6:.0f} MB; `{command}` writes it"


def write_report(record: Path) -> Path:
    """Write the record's page of HTML beside it, and return where it is. Raises InputError."""
    from reflexion.html_report import render_report

    path = record.with_suffix(".html")
    try:
        write_atomically(path, render_report(read_record(record)).encode(), mode=0o600)
    except OSError as error:
        raise InputError(f"{path}: the report cannot be written: {error.strerror}") from error
    return path


def _write_stdout(page: str) -> None:
    sys.stdout.buffer.write(page.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()
