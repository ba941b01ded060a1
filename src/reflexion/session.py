"""A session: server found and checked, roles bound to models, words loaded, output folder held, a record open."""

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from reflexion.budget import Budget
from reflexion.config import Config, LoadedConfig, Role
from reflexion.context import Context
from reflexion.errors import InputError, ReflexionError, ServerError, ServerUnreachable
from reflexion.events import Emit, Note
from reflexion.loaders import Source
from reflexion.lock import locked
from reflexion.manifest import Basis, Manifest, models_digest, prompts_digest, settings_digest
from reflexion.ollama.binding import bind, refuse_remote
from reflexion.ollama.gate import Gate, all_loaded
from reflexion.ollama.roles import Models
from reflexion.ollama.server import Server
from reflexion.outcome import Outcome
from reflexion.plan import Job, Plan
from reflexion.prompts import Prompts, load_prompts, prompts_folder
from reflexion.runs import RunRecord
from reflexion.serving import server_for
from reflexion.wording import counted

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from reflexion.checkpoints import Checkpoints

ASK_AGAIN_S = 2.0

C_co = TypeVar("C_co", bound=Context, covariant=True)


@dataclass(frozen=True, slots=True)
class Pipeline(Generic[C_co]):
    """What a session needs to know of a pipeline: its name, what to tell at the start, and its nodes' context.

    ``without`` are roles that it does not call here, and whose models need not be there.
    """

    name: str
    make_context: Callable[[Config, Models, Prompts, Emit], C_co]
    notes: tuple[str, ...] = ()
    without: frozenset[Role] = frozenset()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a command line wants of a run besides the configuration.

    ``skipped`` are the outcomes for which an unchanged source of a folder is left out; empty: everything is done
    anew. ``arguments`` is the command line, for the record.
    """

    skipped: frozenset[str] = frozenset({"accepted", "not accepted"})
    budget: Budget | None = None
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session(Generic[C_co]):
    """What a batch runs with."""

    plan: Plan
    context: C_co
    record: RunRecord
    gate: Gate
    server: Server
    basis: Basis
    wishes: Wishes
    away_s: float
    manifest: Manifest | None
    checkpoints: "Checkpoints | None"

    @property
    def saver(self) -> "BaseCheckpointSaver[str] | None":
        """Where graphs keep their checkpoints; None where nothing is kept."""
        return self.checkpoints.saver if self.checkpoints else None

    def basis_of(self, digest: str) -> Basis:
        """Return what the page of a source with this digest depends on."""
        return self.basis.model_copy(update={"source": digest})

    def changed_jobs(self, outcome: Outcome) -> list[Job]:
        """Return the jobs to do: of a folder, without those whose page is made from just this. Counts the others."""
        if self.manifest is None or self.plan.root is None:
            return list(self.plan.jobs)
        left = []
        kept = self.checkpoints.threads() if self.checkpoints else frozenset()
        for job in self.plan.jobs:
            entry = self.manifest.entry(job.name)
            if entry is None or not self._is_unchanged(job):
                left.append(job)
            else:
                self._forget_finished(job, entry.basis, kept)
                outcome.unchanged += 1
                outcome.codes.append(0 if entry.outcome == "accepted" else 1)
        if outcome.unchanged:
            again = outcome.codes.count(1)
            hint = f" {again} of them not accepted; --retry does those anew." if again else ""
            self.context.emit(
                Note(f"{outcome.unchanged} of {counted(len(self.plan.jobs), 'file')} unchanged and left out.{hint}")
            )
        return left

    def _forget_finished(self, job: Job, basis: Basis, kept: frozenset[str]) -> None:
        """Drop what a kill left of a file after the note in the manifest that it is done."""
        if kept and self.checkpoints is not None:
            from reflexion.checkpoints import thread_of

            thread = thread_of(job.name, basis)
            if any(name == thread or name.startswith(f"{thread}/") for name in kept):
                with contextlib.suppress(sqlite3.Error):  # On a full disk; the next run finds it again.
                    self.checkpoints.forget(thread)

    def _is_unchanged(self, job: Job) -> bool:
        if job.path is None or self.manifest is None:
            return False
        try:
            digest = hashlib.sha256(job.path.read_bytes()).hexdigest()
        except OSError:
            return False  # What is wrong with it is told at its turn.
        return self.manifest.is_unchanged(job.name, self.basis_of(digest), self.inside(job), self.wishes.skipped)

    def inside(self, job: Job) -> Path:
        """Return the path of a job's page in the output folder."""
        assert job.output is not None
        assert self.plan.folder is not None
        return job.output.relative_to(self.plan.folder)

    def note_done(self, job: Job, source: Source, outcome: str, path: Path, page: str) -> None:
        """Remember from what a page was made, and drop its checkpoints."""
        if self.manifest is not None and self.plan.folder is not None:
            basis = self.basis_of(source.sha256)
            self.manifest.record(job.name, basis, outcome, path.relative_to(self.plan.folder), page)
        if self.checkpoints is not None:
            self.checkpoints.forget(self.thread_of(job, source))

    def begin_anew(self, job: Job) -> None:
        """Drop a job's checkpoints; one that cannot be read has none."""
        if self.checkpoints is not None:
            with contextlib.suppress(ReflexionError, OSError, sqlite3.Error):
                self.checkpoints.forget(self.thread_of(job, job.load()))

    def thread_of(self, job: Job, source: Source) -> str:
        """Return the name of a source's checkpoints, "" where none are kept."""
        if self.checkpoints is None:
            return ""
        from reflexion.checkpoints import thread_of

        return thread_of(job.name or job.label, self.basis_of(source.sha256))

    def next_window(self, jobs: int) -> int:
        """Return how many files may run side by side now, by what the server says is loaded."""
        if jobs > 1:
            with contextlib.suppress(ReflexionError):  # A server that went away is told by the next call.
                models = [binding.model for binding in self.context.models.bindings.values()]
                self.gate.set_fits_together(all_loaded(models, self.server.loaded()))
        return self.gate.window_size(jobs)

    def wait_for_server(self, error: ServerUnreachable, within_s: float) -> float:
        """Wait until the server answers again; return how many of the seconds are left then, 0 where it does not.

        Raises what the gate was closed with.
        """
        if within_s <= 0:
            return 0.0
        self.context.emit(Note(f"{error}; waiting up to {within_s:.0f} s for it"))
        ends = time.monotonic() + within_s
        while time.monotonic() < ends:
            time.sleep(ASK_AGAIN_S)
            self.gate.check_open()
            with contextlib.suppress(ServerError):
                self.server.version()
                return max(0.0, ends - time.monotonic())
        return 0.0


@contextlib.contextmanager
def open_session(
    loaded: LoadedConfig, plan: Plan, emit: Emit, wishes: Wishes, pipeline: Pipeline[C_co]
) -> Iterator[Session[C_co]]:
    """Check everything that can be checked before the first model call, and yield what a run needs.

    The embedded engine, when it is chosen, lives as long as the session; the output folder is held as long. Raises
    ConfigError, InputError, ServerError.
    """
    prompts = load_prompts(pipeline.name, prompts_folder(loaded))
    for note in (*loaded.notes, *plan.notes, *pipeline.notes):
        emit(Note(note))
    with server_for(loaded, emit) as (config, base_url), contextlib.ExitStack() as held:
        refuse_remote(config, base_url)
        roles = tuple(role for role in config.roles_of(pipeline.name) if role not in pipeline.without)
        server = held.enter_context(Server(base_url, config.server.connect_s))
        bindings, notes = bind(config, server, roles)
        for note in notes:
            emit(Note(note))
        # When models take turns, the earliest role that anybody waits for is next.
        gate = Gate(roles, config.server.parallel)
        basis = Basis(
            source="",
            settings=settings_digest(config, pipeline.name),
            prompts=prompts_digest(prompts.words),
            models=models_digest(bindings),
        )
        manifest, checkpoints = _kept(plan.folder, held)
        journal = checkpoints.journal if checkpoints else None
        models = Models(bindings, base_url, config.server, gate=gate, budget=wishes.budget, journal=journal)
        settings = config.model_dump(mode="json", exclude={"server": {"base_url"}})
        record = RunRecord(plan.folder, settings, bindings, wishes.arguments, pipeline.name)
        record.begin()
        yield Session(
            plan,
            pipeline.make_context(config, models, prompts, emit),
            record,
            gate,
            server,
            basis,
            wishes,
            config.server.away_s,
            manifest,
            checkpoints,
        )
        if manifest is not None:
            try:
                manifest.save()
            except InputError as error:  # Its journal holds the same, and the next run folds it in.
                emit(Note(f"{error}; nothing is lost by it"))


def _kept(folder: Path | None, held: contextlib.ExitStack) -> "tuple[Manifest | None, Checkpoints | None]":
    """Hold the output folder, and open what is remembered there."""
    if folder is None:
        return None, None
    from reflexion.checkpoints import Checkpoints

    held.enter_context(locked(folder))
    return Manifest(folder), held.enter_context(Checkpoints(folder))
