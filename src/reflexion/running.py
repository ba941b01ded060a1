"""A command's run, whatever its pipeline: a session, a batch in it, the record and its report at the end."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from reflexion.batch import FAILED, Batch, Options, Worker
from reflexion.context import Context
from reflexion.errors import InputError, ReflexionError
from reflexion.events import Emit, Note
from reflexion.pages import write_atomically
from reflexion.report import Reporter
from reflexion.runs import read_record
from reflexion.session import Session

INTERRUPTED = 130
# Bytes of a record whose report is not made by itself: it is put together in memory, in several times its size.
LARGE_RECORD = 32_000_000

C = TypeVar("C", bound=Context)


def run(
    opened: AbstractContextManager[Session[C]],
    options: Options,
    reporter: Reporter,
    make_worker: Callable[[Session[C]], Worker],
) -> int:
    """Do the jobs of the session that opens, and return the exit code. Raises ReflexionError, KeyboardInterrupt."""
    code = INTERRUPTED
    try:
        with opened as session:
            try:
                code = Batch(session, options, make_worker(session)).run().exit_code()
            except Exception as error:
                code = _code_of(error)
                raise
            finally:
                _close(session, code, reporter)
    except Exception as error:
        code = _code_of(error)
        raise
    finally:
        reporter.finish(code)
    return code


def _code_of(error: Exception) -> int:
    """Return what the command will end with, so that the record and the last event say the same."""
    return error.exit_code if isinstance(error, ReflexionError) else FAILED


def _close(session: Session[Context], code: int, emit: Emit) -> None:
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
