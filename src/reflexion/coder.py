"""The worker of the code pipeline: a request goes through the graph, and its result is written."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reflexion.batch import Done
from reflexion.context import CodeContext
from reflexion.events import CodeFinished, FileFinished
from reflexion.loaders import Source
from reflexion.outcome import Outcome
from reflexion.pipelines import code
from reflexion.plan import Job
from reflexion.session import Session
from reflexion.team import folder as folders
from reflexion.team.attempts import best_attempt, failing
from reflexion.team.report import calls_of, entry, report_md, run_json, why_not
from reflexion.team.tasks import folder_of

if TYPE_CHECKING:
    from pathlib import Path

    from reflexion.outcome import Verdict


class Coder:
    """Solves the tasks of a session."""

    def __init__(self, session: Session[CodeContext]) -> None:
        self._session = session
        self._graph = code.build(session.saver)

    def work(self, job: Job, source: Source, thread: str) -> Done:
        """Solve a task and write its result. Raises ReflexionError, OSError."""
        started = time.monotonic()
        state = self._solve(source, thread)
        outcome: Verdict = "accepted" if code.accepted(state) else "not accepted"
        seconds = time.monotonic() - started
        written = self._write(job, source, state, outcome, seconds)
        self._tell(_finished(source, state, outcome, seconds), state)
        return Done(entry(state, source, outcome, written), _file_finished(source, state, outcome, written))

    def left(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return the jobs as they are: each stands alone."""
        return jobs

    def finish(self, outcome: Outcome) -> None:
        """Nothing is left to do: every result stands alone."""

    def _solve(self, source: Source, thread: str) -> code.State:
        return code.solve(self._graph, source, self._session.context, thread)

    def _tell(self, event: CodeFinished, state: code.State) -> None:
        self._session.context.emit(event)

    def _files(self, state: code.State) -> dict[str, str | bytes]:
        """Return what the result's folder gets besides its report, by name."""
        files: dict[str, str | bytes] = {}
        best = best_attempt(state["attempts"])
        if best is not None:
            files[folders.SOLUTION] = best["draft"]
        if state.get("tests_sha256"):
            files[folders.TESTS] = state["tests"]
        return files

    def _diff(self, state: code.State) -> str:
        """Return what there is to compare with what was there before, "" for a new module."""
        return ""

    def _write(self, job: Job, source: Source, state: code.State, outcome: "Verdict", seconds: float) -> str:
        context = self._session.context
        boundary = context.sandbox.name if context.sandbox.is_boundary else f"{context.sandbox.name}, no boundary"
        report = report_md(state, source, outcome, boundary, self._diff(state))
        files = {folders.REPORT: report, **self._files(state)}
        target: Path = folders.destination(folder_of(job), outcome)
        run = run_json(state, source, outcome, context.models.bindings, seconds, boundary)
        folders.write(target, files, run)
        self._session.note_done(job, source, outcome, target / folders.REPORT, report)
        return target.as_posix()


def _finished(source: Source, state: code.State, outcome: str, seconds: float) -> CodeFinished:
    best = best_attempt(state["attempts"])
    run = (best["run"] if best else None) or {}
    calls = calls_of(state)
    return CodeFinished(
        source=source.label,
        outcome=outcome,
        code=best["draft"] if best else "",
        diagnosis="" if outcome == "accepted" else why_not(state),
        iterations=len(state["attempts"]),
        total=run.get("total", 0),
        passes=run.get("passes", 0),
        failing=tuple(failing(run or None)),
        mode=run.get("mode", ""),
        seconds=round(seconds, 3),
        prompt_tokens=sum(call["prompt_tokens"] for call in calls),
        reply_tokens=sum(call["reply_tokens"] for call in calls),
    )


def _file_finished(source: Source, state: code.State, outcome: str, written: str) -> FileFinished:
    calls = calls_of(state)
    return FileFinished(
        source=source.label,
        outcome=outcome,
        output=written,
        scores=tuple(item["score"] for item in state["attempts"]),
        attempts=len(state["attempts"]),
        stop=state["stop"],
        model_s=sum(call["wall_s"] for call in calls),
        tokens=sum(call["reply_tokens"] for call in calls),
        detail="" if outcome == "accepted" else why_not(state),
    )
