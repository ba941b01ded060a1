"""A session: the server found and checked, roles bound to models, words loaded, a record opened."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reflexion.batch import Plan
from reflexion.config import Config, LoadedConfig, Role, RoleSettings
from reflexion.context import Context
from reflexion.events import Emit, Note
from reflexion.examples import Examples
from reflexion.ollama.roles import Models
from reflexion.ollama.server import Server, bind, refuse_remote
from reflexion.prompts import load_prompts, prompts_folder
from reflexion.runs import RunRecord

# A model of this size has said what it can after that; the rest is repetition.
DEMO_NUM_PREDICT = 1024


@dataclass(frozen=True, slots=True)
class Session:
    """What a command runs with."""

    context: Context
    record: RunRecord


@contextlib.contextmanager
def open_session(loaded: LoadedConfig, plan: Plan, emit: Emit, *, require_examples: bool = False) -> Iterator[Session]:
    """Check everything that can be checked before the first model call, and yield what a run needs.

    The embedded engine, when it is chosen, lives as long as the session. With ``require_examples`` a sandbox has to
    work. Raises ConfigError, ServerError, SandboxUnavailable.
    """
    prompts = load_prompts("docs", prompts_folder(loaded))
    examples = Examples(loaded.config.sandbox, required=require_examples)
    if require_examples:
        examples.open()
    for note in (*loaded.notes, *plan.notes, *examples.warnings()):
        emit(Note(note))
    with _server_for(loaded, emit) as (config, base_url):
        refuse_remote(config, base_url)
        with Server(base_url, config.server.connect_s) as server:
            bindings, notes = bind(config, server)
        for note in notes:
            emit(Note(note))
        context = Context(
            models=Models(bindings, base_url, config.server),
            prompts=prompts,
            emit=emit,
            quality_score_bar=config.quality_score_bar,
            max_attempts=config.max_attempts,
            critic_when_clean=config.critic == "when_clean",
            rules_off=frozenset(config.rules.off),
            examples_of=lambda source: examples.of(source.path, source.text, source.name),
        )
        settings = config.model_dump(mode="json", exclude={"server": {"base_url"}})
        yield Session(context, RunRecord(plan.folder, settings, bindings))


@contextlib.contextmanager
def _server_for(loaded: LoadedConfig, emit: Emit) -> Iterator[tuple[Config, str]]:
    if loaded.config.server.engine == "ollama":
        yield loaded.config, loaded.base_url
        return
    from reflexion.embedded.engine import DEMO_MODELS, EmbeddedEngine

    models = ", ".join(DEMO_MODELS)
    emit(Note(f"Embedded engine: {models} are one small demo model, SmolLM2-135M; expect small results."))
    with EmbeddedEngine() as engine:
        yield _for_demo(loaded.config, DEMO_MODELS), engine.base_url


def _for_demo(config: Config, models: Sequence[str]) -> Config:
    """Bind the roles to the demo models; where nothing else is configured, with replies short enough for them."""
    roles = {
        role: RoleSettings.model_validate(
            {"num_predict": DEMO_NUM_PREDICT} | config.roles.get(role, RoleSettings()).model_dump(exclude_none=True)
        )
        for role in Role
    }
    return config.model_copy(update={"model_registry": dict(zip(Role, models, strict=True)), "roles": roles})
