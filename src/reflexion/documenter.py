"""The worker of the documentation pipeline: a source goes through the graph, and its page is written."""

from collections.abc import Callable, Sequence

from reflexion import large
from reflexion.batch import Done
from reflexion.context import DocsContext
from reflexion.events import FileFinished
from reflexion.evidence.examples.report import describe
from reflexion.loaders import Source
from reflexion.ollama.reply import total
from reflexion.outcome import Outcome, Result
from reflexion.pipelines import docs
from reflexion.plan import Job
from reflexion.runs import entry_of
from reflexion.session import Session
from reflexion.writing import write_index, write_page_of


class Documenter:
    """Documents the sources of a session. ``write_out`` takes the page that goes to standard output."""

    def __init__(self, session: Session[DocsContext], write_out: Callable[[str], None]) -> None:
        self._session = session
        self._write_out = write_out
        self._graph = docs.build(session.saver)

    def work(self, job: Job, source: Source, thread: str) -> Done:
        """Document a source and write its page. Raises ReflexionError, OSError."""
        result = large.document(self._graph, source, self._session.context, thread, self._session.checkpoints)
        written = write_page_of(self._session, job, source, result, self._write_out)
        return Done(entry_of(job.label, written, result), _finished(source, result, written))

    def left(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return the jobs as they are: each stands alone."""
        return jobs

    def finish(self, outcome: Outcome) -> None:
        """Write the index of a folder's pages."""
        if self._session.plan.root is not None:
            write_index(self._session, outcome)


def _finished(source: Source, result: Result, written: str) -> FileFinished:
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
