"""The worker that heals: the code pipeline from a module that fails its tests, its result, and the module written."""

from dataclasses import replace

from reflexion.coder import Coder
from reflexion.context import CodeContext
from reflexion.events import CodeFinished, DiffShown, Note
from reflexion.healing.judge import Judge
from reflexion.loaders import Source
from reflexion.outcome import Outcome
from reflexion.pipelines import code
from reflexion.session import Session
from reflexion.team.attempts import best_attempt


class Healer(Coder):
    """Heals the module of a judge. With ``apply`` it is written at the end, once its tests pass."""

    def __init__(self, session: Session[CodeContext], judge: Judge, *, apply: bool) -> None:
        super().__init__(session)
        self._judge, self._apply = judge, apply
        self._verified = ""

    def finish(self, outcome: Outcome) -> None:
        """Write the module where that is asked for and its tests pass. Raises InputError when it changed meanwhile."""
        if not self._verified:
            return
        module = self._judge.project.module
        if self._apply:
            self._judge.project.require_unchanged()
            module.write(self._verified)
        said = "written" if self._apply else "left as it is; --apply writes what passes"
        self._session.context.emit(Note(f"{module.label}: {said}"))

    def _solve(self, source: Source, thread: str) -> code.State:
        text = self._judge.project.module.text
        state = code.solve(self._graph, source, self._session.context, thread, suite=self._judge.tests, candidate=text)
        self._verified = self._best(state) if code.accepted(state) else ""
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
