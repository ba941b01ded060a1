"""The workers that heal: the code pipeline from a module that fails its tests, its result, and the module written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from reflexion.batch import Done
from reflexion.coder import Coder
from reflexion.context import CodeContext
from reflexion.errors import InputError
from reflexion.events import CodeFinished, DiffShown, Note
from reflexion.healing.judge import Judge
from reflexion.healing.module import write_all
from reflexion.healing.project import Project
from reflexion.healing.turns import Turns
from reflexion.loaders import Source
from reflexion.outcome import Outcome
from reflexion.pipelines import code
from reflexion.plan import Job
from reflexion.session import Session
from reflexion.suite.result import SuiteRun
from reflexion.team.attempts import best_attempt


class Healer:
    """Heals one module. With ``apply`` what was verified is written at the end."""

    def __init__(self, session: Session[CodeContext], judge: Judge, *, apply: bool) -> None:
        self._session, self._judge, self._apply = session, judge, apply
        self._healed = ""

    def left(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return the one job until it is done."""
        return jobs

    def work(self, job: Job, source: Source, thread: str) -> Done:
        """Heal the module. Raises ReflexionError, OSError."""
        one = _One(self._session, self._judge)
        done = one.work(job, source, thread)
        self._healed = one.verified
        return done

    def finish(self, outcome: Outcome) -> None:
        """Write what was verified, where that is asked for. Raises InputError when the module changed meanwhile.

        It is judged once more before: what it imports may have changed meanwhile.
        """
        if not self._healed:
            return
        if self._apply:
            run = self._judge(self._healed)
            if not run.passed:
                outcome.codes.append(1)
                _tell_counts(self._session, run)
                self._session.context.emit(Note("it passed before, and does not any more: it is not written"))
                return
        _write(self._session, [(self._judge.project, self._healed)], apply=self._apply)


class FolderHealer:
    """Heals the modules of a folder in turn. ``job_of`` makes the job of a module that nobody knew of before."""

    def __init__(
        self, session: Session[CodeContext], turns: Turns, job_of: Callable[[Project], Job], *, apply: bool
    ) -> None:
        self._session, self._turns, self._apply, self._job_of = session, turns, apply, job_of
        self._jobs: dict[str, Job] = {}

    def left(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return the jobs of the modules whose turn is to come. Raises InputError."""
        del jobs  # what was healed since may have left other ones
        found = {name: self._job(name) for name in self._turns.waiting()}
        return [job for job in found.values() if job is not None]

    def work(self, job: Job, source: Source, thread: str) -> Done:
        """Have a module's turn. Raises ReflexionError, OSError."""
        name = next(name for name, one in self._jobs.items() if one == job)
        kept = self._turns.kept
        judge = self._turns.judge(name)
        one = _One(self._session, judge)
        done = one.work(job, source, f"{thread}/{_digest(kept)}" if thread and kept else thread)
        if one.verified:
            self._turns.heal(name, judge, one.verified)
        elif why := self._turns.keep(name, judge, one.candidates):
            said = f"does not pass yet; the next modules are healed beside its best candidate: {why}"
            self._session.context.emit(Note(f"{judge.project.module.label}: {said}"))
        return done

    def finish(self, outcome: Outcome) -> None:
        """Write what was verified, where that is asked for. Raises InputError when a module changed meanwhile."""
        healed = [(self._turns.project(name), text) for name, text in self._turns.passed.items()]
        if not healed:
            return
        run, fits = self._turns.last_run()
        if run.passed and fits:
            # What did not pass at its turn passes by what came after it.
            outcome.codes[:] = [one for one in outcome.codes if one != 1]
        else:
            outcome.codes.append(1)
            _tell_counts(self._session, run)
        if fits:
            _write(self._session, healed, apply=self._apply)
        else:
            said = "what was healed does not pass beside what was not: nothing is written"
            self._session.context.emit(Note(said))

    def _job(self, name: str) -> Job | None:
        """Return a module's job; None, and say so, where its result cannot be written."""
        if name in self._jobs:
            return self._jobs[name]
        project = self._turns.project(name)
        planned = [job for job in self._session.plan.jobs if job.path == Path(project.module.label)]
        job = planned[0] if planned else self._job_of(project)
        try:
            self._session.plan.check([] if planned else [job])
        except InputError as error:
            self._turns.leave_out(name)
            self._session.context.emit(Note(f"{project.module.label}: left out: {error}"))
            return None
        self._jobs[name] = job
        return job


def _digest(kept: Mapping[str, bytes]) -> str:
    return sha256(repr(sorted(kept.items())).encode()).hexdigest()[:16]


def _tell_counts(session: Session[CodeContext], run: SuiteRun) -> None:
    count = f"{run.passes} of {run.total} tests pass with all that was healed"
    session.context.emit(Note(f"{count}: {run.reason}"))


def _write(session: Session[CodeContext], healed: Sequence[tuple[Project, str]], *, apply: bool) -> None:
    """Write modules, where that is asked for, none before all are known to be unchanged. Raises InputError."""
    for project, _ in healed if apply else ():
        project.require_unchanged()
        project.module.require_unchanged()
    if apply:
        write_all([(project.module, text) for project, text in healed])
    said = "written" if apply else "left as it is; --apply writes what passes"
    for project, _ in healed:
        session.context.emit(Note(f"{project.module.label}: {said}"))


class _One(Coder):
    """Heals one module; ``verified`` is what passed, "" when nothing did, ``candidates`` all that was tested."""

    def __init__(self, session: Session[CodeContext], judge: Judge) -> None:
        super().__init__(session)
        self._judge = judge
        self.verified = ""
        self.candidates: list[str] = []

    def _solve(self, source: Source, thread: str) -> code.State:
        context = replace(self._session.context, judge=self._judge)
        text = self._judge.text
        state = code.solve(self._graph, source, context, thread, suite=self._judge.tests, candidate=text)
        self.verified = self._best(state) if code.accepted(state) else ""
        self.candidates = [item["draft"] for item in state["attempts"] if item["draft"]]
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
