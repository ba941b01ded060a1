"""Many sources: windows of files side by side, the unchanged left out, one failure is one failure."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

from langgraph.errors import GraphBubbleUp

from reflexion import pages
from reflexion.context import Context
from reflexion.errors import (
    BudgetSpent,
    Cancelled,
    DeadlineExceeded,
    ReflexionError,
    ServerError,
    ServerFault,
    ServerUnreachable,
    StreamBroken,
    UsageError,
)
from reflexion.events import FileFinished, FileStarted, Note
from reflexion.loaders import Source
from reflexion.ollama.gate import Seat
from reflexion.outcome import Outcome
from reflexion.plan import Job
from reflexion.runs import RECORD_FOLDER, failed_entry
from reflexion.session import Session
from reflexion.threads import start
from reflexion.wording import MAKE_ROOM, counted

STOPPED = "stopped"
# What the next run may do better from where this one stood; any other failure would only come again. A page that could
# not be written is among them: what the models said stays, and is written once there is room for it.
_OF_SERVER = (DeadlineExceeded, ServerError, ServerFault, StreamBroken)
PASSING = (*_OF_SERVER, BudgetSpent, Cancelled, UsageError, OSError, sqlite3.Error)
FAILED = 4


@dataclass(frozen=True, slots=True)
class Options:
    """How a batch is run. ``jobs`` files at most side by side; ``fail_fast``: the first failure stops the rest."""

    jobs: int = 1
    fail_fast: bool = False


class Done(NamedTuple):
    """A job that came to its end: what the record keeps of it, without its seconds, and what is told."""

    entry: Mapping[str, Any]
    event: FileFinished


class Worker(Protocol):
    """What a pipeline does with a job."""

    def work(self, job: Job, source: Source, thread: str) -> Done:
        """Run the pipeline on a source and write what came of it; ``thread`` names its checkpoints.

        Raises ReflexionError and OSError where nothing came of it.
        """

    def left(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return what is to be done by now, in its order; ``jobs`` are those of the plan that are not done."""

    def finish(self, outcome: Outcome) -> None:
        """Do what is to be done once all jobs are done."""


@dataclass
class Batch:
    """One run over the jobs of a session's plan."""

    session: Session[Context]
    options: Options
    worker: Worker
    outcome: Outcome = field(default_factory=Outcome)

    def run(self) -> Outcome:
        """Do every job; what came of one is on disk before the next window starts.

        A file that fails is one line and one exit code. When the server is gone for good, the budget is spent or a
        failure is to stop it, the calls under way end and the rest is not started. KeyboardInterrupt does the same;
        a second one passes through. Raises InputError where an output cannot be written.
        """
        session, plan = self.session, self.session.plan
        left = session.changed_jobs(self.outcome)
        plan.check(left)
        folders = {job.output.parent for job in left if job.output}
        for folder in folders | ({plan.folder / RECORD_FOLDER} if plan.folder else set()):
            pages.remove_leftovers(folder)
        left, started = list(self.worker.left(left)), 0
        while left and not self.outcome.stopped:
            size = min(len(left), session.next_window(self.options.jobs))
            self._window(left[:size], started, started + len(left))
            started += size
            left = list(self.worker.left(left[size:]))
        if left:
            session.context.emit(Note(f"{counted(len(left), 'file')} not started: {self.outcome.stopped}."))
        self.worker.finish(self.outcome)
        return self.outcome

    def _window(self, jobs: Sequence[Job], started: int, count: int) -> None:
        """Run these files side by side, each in a thread and a seat of its own, and wait for all."""
        with self.session.gate.window(len(jobs)) as seats:
            futures: list[Future[int]] = []
            for place, (job, seat) in enumerate(zip(jobs, seats, strict=True), start=started + 1):
                futures.append(start(partial(self._in_seat, seat, job, place, count)))
            self._wait(futures)
            self.outcome.codes += [future.result() for future in futures]

    def _wait(self, futures: Sequence[Future[int]]) -> None:
        """Wait for all, for those under way also after a first KeyboardInterrupt. Raises what ended a thread."""
        try:
            self._until_done(futures)
        except KeyboardInterrupt:
            under_way = self.session.gate.state().running
            calls = counted(under_way, "call")
            self.session.context.emit(Note(f"Interrupted: waiting for {calls} under way; once more stops at once."))
            self._stop("interrupted", Cancelled("interrupted; the same command takes up the rest"))
            self._until_done(futures)
            self.outcome.codes.append(Cancelled.exit_code)

    def _until_done(self, futures: Sequence[Future[int]]) -> None:
        """Wait for all. Raises the first error that ended a thread once the others are at their end as well: what
        they work with is closed after that.
        """
        broken: BaseException | None = None
        for future in as_completed(futures):
            error = future.exception()
            if error is not None:
                self._stop("the run broke off", error)
                broken = broken or error
        if broken is not None:
            raise broken

    def _in_seat(self, seat: Seat, job: Job, place: int, count: int) -> int:
        with seat:
            self.session.context.emit(FileStarted(job.label, place, count))
            return self._run_one(job)

    def _run_one(self, job: Job) -> int:
        started = time.monotonic()
        try:
            done = self._work(job, job.load())
        except GraphBubbleUp:  # A pause of the graph is no failure.
            raise
        except Exception as error:  # noqa: BLE001  # Even a bug is the failure of one file; it is told, not hidden.
            return self._failed(job, error, time.monotonic() - started)
        self.session.record.add({**done.entry, "seconds": round(time.monotonic() - started, 3)})
        self.session.context.emit(done.event)
        return 0 if done.event.outcome == "accepted" else 1

    def _work(self, job: Job, source: Source) -> Done:
        """Let the pipeline work; when the server goes away, wait for it and take the file up again.

        ``server.away_s`` is for all waits of a file together, so a server that comes and goes ends the run as well. A
        model that is gone, or a server that is no Ollama, does not come back by itself and is not waited for.
        """
        thread, left = self.session.thread_of(job, source), self.session.away_s
        while True:
            try:
                return self.worker.work(job, source, thread)
            except ServerUnreachable as error:
                left = self.session.wait_for_server(error, left)
                if not left:
                    raise

    def _failed(self, job: Job, error: Exception, seconds: float) -> int:
        if not isinstance(error, PASSING):
            self.session.begin_anew(job)
        if isinstance(error, BudgetSpent | Cancelled):
            self._stop(str(error), error)
            self.session.context.emit(_closed(job, STOPPED, error, f"can be taken up again: {error}"))
            # What stopped the others has a code of its own: 130 is a person's Ctrl-C alone.
            return FAILED
        detail = _detail(error)
        self.session.record.add(failed_entry(job.label, seconds, detail, error))
        self.session.context.emit(_closed(job, "failed", error, detail))
        if isinstance(error, ServerError):
            self._stop("the model server is gone", error)
            return error.exit_code
        if self.options.fail_fast:
            self._stop("a file failed (--fail-fast)", error)
        # A file that cannot be used stops nothing else, so inside a batch it is a failure like any other.
        return FAILED

    def _stop(self, why: str, error: BaseException) -> None:
        self.outcome.stopped = self.outcome.stopped or why
        kind = type(error) if isinstance(error, BudgetSpent) else Cancelled
        self.session.gate.close(lambda: kind(f"stopped: {why}"))


def _detail(error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        return f"the checkpoints cannot be kept: {error}{MAKE_ROOM}"
    if isinstance(error, ReflexionError | OSError):
        return str(error)
    return f"a bug of reflexion, please report it: {type(error).__name__}: {error}"


def _closed(job: Job, outcome: str, error: Exception, detail: str) -> FileFinished:
    rounds = error.rounds if isinstance(error, ReflexionError) else ()
    scores = tuple(item["score"] for item in rounds)
    calls = [call for item in rounds for call in item["calls"]]
    seconds = sum(call["wall_s"] for call in calls)
    tokens = sum(call["reply_tokens"] for call in calls)
    return FileFinished(job.label, outcome, "", scores, len(scores), outcome if scores else "", seconds, tokens, detail)
