"""Many sources, one after another: plan what goes where before anything runs; one failure is one failure."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reflexion import large, pages
from reflexion.check.drift import symbol_digests
from reflexion.context import Context
from reflexion.errors import InputError, ReflexionError, ServerError
from reflexion.events import FileFinished, FileStarted, Note
from reflexion.evidence.examples.report import describe
from reflexion.loaders import STDIN, Source, SourcePath, find_sources, is_blank, load_path, load_stdin, printable
from reflexion.marker import Marker
from reflexion.ollama.reply import total
from reflexion.pipelines import docs
from reflexion.runs import RECORD_FOLDER, RunRecord, entry_of, failed_entry

DEFAULT_OUTPUT = Path("output")
NOT_VERIFIED = (
    "> Not verified: facts are read from Python only, so no claim on this page was checked against its source."
)


@dataclass(frozen=True, slots=True)
class Job:
    """One source and where its page goes. ``path`` None is standard input, ``output`` None standard output.

    ``source`` is set once it was read; a source of a folder is read at its turn.
    """

    path: Path | None
    output: Path | None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be done, checked before the first model call. ``folder`` holds the run's record."""

    jobs: tuple[Job, ...]
    folder: Path | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Outcome:
    """How a batch ended: exit codes of its files, and labels of those that were never started."""

    codes: list[int] = field(default_factory=list)
    not_started: int = 0

    def exit_code(self) -> int:
        """Return the one exit code: the first of 2, 3, 130, 4, 1, 0 that any file has."""
        return next((code for code in (2, 3, 130, 4, 1) if code in self.codes), 0)


def plan(inputs: Sequence[str], output: str | None, *, overwrite: bool, protected: Sequence[Path] = ()) -> Plan:
    """Decide what is read and where it is written. Raises InputError; creates nothing.

    ``protected`` are files that no page may replace, such as the configuration in use.
    """
    if not inputs:
        raise InputError("nothing to document: name a file, a folder or - with --input")
    for text in inputs:
        _require(text)
    folders = [Path(text) for text in inputs if text != STDIN and Path(text).is_dir()]
    if output == STDIN or (output is None and list(inputs) == [STDIN]):
        return _plan_for_stdout(inputs, folders)
    if folders and len(inputs) > 1:
        raise InputError("one folder at a time, or several files: not both")
    made = _plan_folder(folders[0], output) if folders else _plan_files(inputs, output)
    _check(made.jobs, protected, overwrite=overwrite)
    return made


def _require(text: str) -> None:
    try:
        missing = text != STDIN and not Path(text).exists()
    except OSError as error:
        raise InputError(f"{text}: cannot be read: {error.strerror}") from error
    if missing:
        raise InputError(f"{text}: no such file or folder")


def _plan_for_stdout(inputs: Sequence[str], folders: Sequence[Path]) -> Plan:
    if len(inputs) > 1 or folders:
        raise InputError("standard output holds one page: name one input file, or an output folder")
    path = None if inputs[0] == STDIN else Path(inputs[0])
    return Plan((Job(path, None, _load(path)),), None)


def _plan_files(inputs: Sequence[str], output: str | None) -> Plan:
    target = Path(output) if output else DEFAULT_OUTPUT
    into_folder = output is None or output.endswith(("/", os.sep)) or target.is_dir() or len(inputs) > 1
    jobs = []
    for text in inputs:
        path = None if text == STDIN else Path(text)
        source = _load(path)
        jobs.append(Job(path, target / f"{source.name}.md" if into_folder else target, source))
    return Plan(tuple(jobs), target if into_folder else target.parent)


def _plan_folder(folder: Path, output: str | None) -> Plan:
    target = Path(output) if output else DEFAULT_OUTPUT
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file; the pages of a folder need a folder")
    found = find_sources(folder)
    empty = [item for item in found if is_blank(item.path)]
    kept = [item for item in found if item not in empty]
    stems = Counter(item.relative.with_suffix("") for item in kept)
    jobs = tuple(Job(item.path, target / _page_name(item, stems)) for item in kept)
    if not jobs:
        raise InputError(f"{folder}: no source files in it")
    notes = (f"Left out, since empty: {', '.join(printable(item.relative) for item in empty)}",) if empty else ()
    return Plan(jobs, target, notes)


def _page_name(item: SourcePath, stems: Mapping[Path, int]) -> Path:
    """Return ``utils.md`` for ``utils.py``, or ``utils.c.md`` where ``utils.h`` stands beside ``utils.c``."""
    if stems[item.relative.with_suffix("")] > 1:
        return item.relative.with_name(f"{item.relative.name}.md")
    return item.relative.with_suffix(".md")


def _check(jobs: Sequence[Job], protected: Sequence[Path], *, overwrite: bool) -> None:
    taken: dict[str, Path | None] = {}
    inputs = [*(job.path for job in jobs if job.path), *protected]
    # A page that is not accepted may go beside an accepted one, so both names are taken.
    wanted = [(job, path) for job in jobs if job.output for path in (job.output, pages.draft_path(job.output))]
    for job, path in wanted:
        # By case only, two names are one on many file systems.
        key = str(path).casefold()
        if key in taken:
            raise InputError(f"{taken[key]} and {job.path} would both be written to {path}; do them apart")
        taken[key] = job.path
        pages.check_writable(path, inputs, overwrite=overwrite)


def _load(path: Path | None) -> Source:
    return load_stdin(sys.stdin.buffer.read()) if path is None else load_path(path)


def run(plan: Plan, context: Context, record: RunRecord, write_out: Callable[[str], None]) -> Outcome:
    """Document every job in turn; a finished page is on disk before the next one starts.

    A file that fails is one line and one exit code; when the server is gone for good the rest is not started.
    ``write_out`` takes the page that goes to standard output. KeyboardInterrupt passes through, finished work stays.
    """
    outcome = Outcome()
    graph = docs.build()
    folders = {job.output.parent for job in plan.jobs if job.output}
    for folder in folders | ({plan.folder / RECORD_FOLDER} if plan.folder else set()):
        pages.remove_leftovers(folder)
    for index, job in enumerate(plan.jobs, start=1):
        context.emit(FileStarted(_label(job), index, len(plan.jobs)))
        code = _run_one(job, graph, context, record, write_out)
        outcome.codes.append(code)
        if code == ServerError.exit_code:
            outcome.not_started = len(plan.jobs) - index
            break
    if outcome.not_started:
        context.emit(Note(f"{outcome.not_started} files were not started: the model server is gone."))
    return outcome


def _run_one(job: Job, graph: docs.Graph, context: Context, record: RunRecord, write_out: Callable[[str], None]) -> int:
    started = time.monotonic()
    try:
        source = job.source or _load(job.path)
        result = large.document(graph, source, context)
        written = _write(job, source, result, write_out)
    except Exception as error:  # noqa: BLE001  # Even a bug of ours is the failure of one file; it is told, not hidden.
        known = isinstance(error, ReflexionError | OSError)
        detail = str(error) if known else f"a bug of reflexion, please report it: {type(error).__name__}: {error}"
        record.add(failed_entry(_label(job), time.monotonic() - started, detail, error))
        rounds = error.rounds if isinstance(error, ReflexionError) else ()
        scores = tuple(item["score"] for item in rounds)
        stop = "failed" if scores else ""
        context.emit(FileFinished(_label(job), "failed", "", scores, len(scores), stop, 0.0, 0, detail))
        # A file that cannot be used stops nothing else, so inside a batch it is a failure like any other.
        return error.exit_code if isinstance(error, ServerError) else 4
    record.add(entry_of(_label(job), result.outcome, written, time.monotonic() - started, result))
    context.emit(_finished(source, result, written))
    return 0 if result.outcome == "accepted" else 1


def _write(job: Job, source: Source, result: docs.Result, write_out: Callable[[str], None]) -> str:
    text = result.text if source.facts else f"{result.text.rstrip()}\n\n{NOT_VERIFIED}\n"
    symbols = symbol_digests(source.facts) if source.facts else {}
    marker = Marker(
        result.outcome,
        result.score,
        source.label,
        source.sha256,
        symbols=symbols,
        repaired=bool(result.mended),
        assembled=result.assembled,
    )
    page = pages.render(text, marker)
    if job.output is None:
        write_out(page)
        return "standard output"
    path = pages.destination(job.output, result.outcome)
    pages.write_page(path, page)
    return path.as_posix()


def _label(job: Job) -> str:
    return printable(job.path) if job.path else "standard input"


def _finished(source: Source, result: docs.Result, written: str) -> FileFinished:
    details = [] if result.adjudication in ("", "done") else [f"adjudication {result.adjudication}"]
    details += [f"unscored: {result.rounds[-1]['trouble']}"] if result.stop == "unscored" else []
    details += [] if source.facts else ["not Python: claims not verified"]
    return FileFinished(
        source=source.label,
        outcome=result.outcome,
        output=written,
        scores=tuple(item["score"] for item in result.rounds),
        attempts=len(result.rounds),
        stop=result.stop,
        model_s=total(result.calls, "wall_s"),
        tokens=int(total(result.calls, "reply_tokens")),
        detail="; ".join(details),
        mended=result.mended,
        repaired=bool(result.mended),
        assembled=result.assembled,
        examples=describe(result.examples) if result.examples else "",
    )
