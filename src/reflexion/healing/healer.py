"""The worker that heals: the code pipeline from a module that fails its tests, its result, and the module written."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from reflexion.batch import Done
from reflexion.coder import Coder
from reflexion.context import CodeContext
from reflexion.events import CodeFinished, DiffShown, Note
from reflexion.healing.judge import Judge
from reflexion.loaders import Source
from reflexion.outcome import Outcome
from reflexion.pipelines import code
from reflexion.plan import Job
from reflexion.session import Session
from reflexion.suite.result import SuiteRun
from reflexion.team.attempts import best_attempt

Together = Callable[[dict[str, bytes], frozenset[str]], tuple[SuiteRun, bool]]


class Healer:
    """Heals modules, each by a judge of its own. With ``apply`` what was verified is written at the end.

    ``judges`` has them by the path of their job. ``together`` runs the tests with all that was healed, and says whether
    it may be written; None: there is one module, and its judge's verdict is about all tests.
    """

    def __init__(
        self, session: Session[CodeContext], judges: Mapping[Path, Judge], together: Together | None, *, apply: bool
    ) -> None:
        self._session, self._judges, self._together, self._apply = session, judges, together, apply
        self._healed: dict[Path, str] = {}

    def work(self, job: Job, source: Source, thread: str) -> Done:
        """Heal a module. Raises ReflexionError, OSError."""
        assert job.path is not None
        one = _One(self._session, self._judges[job.path])
        done = one.work(job, source, thread)
        if one.verified:
            self._healed[job.path] = one.verified
        return done

    def finish(self, outcome: Outcome) -> None:
        """Write what was verified, where that is asked for. Raises InputError when a module changed meanwhile."""
        if not self._healed or not self._fits(outcome):
            return
        for path in self._healed if self._apply else ():
            self._judges[path].project.require_unchanged()
            self._judges[path].project.module.require_unchanged()
        for path, text in self._healed.items():
            project = self._judges[path].project
            if self._apply:
                project.module.write(text)
            said = "written" if self._apply else "left as it is; --apply writes what passes"
            self._session.context.emit(Note(f"{project.module.label}: {said}"))

    def _fits(self, outcome: Outcome) -> bool:
        """Return whether what was healed may be written; where tests still fail, the outcome says so.

        A module alone is judged once more before it is written: what it imports may have changed meanwhile.
        """
        if self._together is None and not self._apply:
            return True
        run, fits = self._last_run()
        if run.passed:
            return True
        outcome.codes.append(1)
        count = f"{run.passes} of {run.total} tests pass with all that was healed"
        self._session.context.emit(Note(f"{count}: {run.reason}"))
        if not fits:
            several = "each of these modules passes alone and not together: none is written"
            alone = "it passed before, and does not any more: it is not written"
            self._session.context.emit(Note(alone if self._together is None else several))
        return fits

    def _last_run(self) -> tuple[SuiteRun, bool]:
        if self._together is None:
            [(path, text)] = self._healed.items()
            run = self._judges[path](text)
            return run, run.passed
        projects = {path: self._judges[path].project for path in self._healed}
        healed = {one.name: one.module.encoded(self._healed[path]) for path, one in projects.items()}
        affair = {one.test for path in self._healed for one in self._judges[path].original.failures}
        return self._together(healed, frozenset(affair))


class _One(Coder):
    """Heals one module; ``verified`` is what passed, "" when nothing did."""

    def __init__(self, session: Session[CodeContext], judge: Judge) -> None:
        super().__init__(session)
        self._judge = judge
        self.verified = ""

    def _solve(self, source: Source, thread: str) -> code.State:
        context = replace(self._session.context, judge=self._judge)
        text = self._judge.project.module.text
        state = code.solve(self._graph, source, context, thread, suite=self._judge.tests, candidate=text)
        self.verified = self._best(state) if code.accepted(state) else ""
        return state

    def _best(self, state: code.State) -> str:
        """Return the best candidate, "" when that is the module as it is."""
        best = best_attempt(state["attempts"])
        return best["draft"] if best is not None and best["draft"] != self._judge.project.module.text else ""

    def _tell(self, event: CodeFinished, state: code.State) -> None:
        verified = event.outcome == "accepted"
        self._session.context.emit(DiffShown(event.source, self._diff(state), verified))
        super()._tell(replace(event, code=""), state)

    def _files(self, state: code.State) -> dict[str, str | bytes]:
        module, best = self._judge.project.module, self._best(state)
        if not best:
            return {}
        try:
            return {module.path.name: module.encoded(best)}
        except UnicodeEncodeError:
            return {module.path.name: best}

    def _diff(self, state: code.State) -> str:
        best = self._best(state)
        return self._judge.project.module.diff(best, self._judge.project.name) if best else ""
