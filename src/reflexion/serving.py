"""Where the models of a run are served: the Ollama that the configuration names, or our own engine for as long."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reflexion.config import DOCS_ROLES, Config, LoadedConfig, Role, RoleSettings

if TYPE_CHECKING:
    from reflexion.events import Emit

# A model of this size has said what it can after that; the rest is repetition.
DEMO_NUM_PREDICT = 1024


@contextlib.contextmanager
def server_for(loaded: LoadedConfig, emit: "Emit") -> Iterator[tuple[Config, str]]:
    """Yield the configuration in force and the server's address; the embedded engine lives as long as the block.

    Raises ServerError when that engine cannot start.
    """
    if loaded.config.server.engine == "ollama":
        yield loaded.config, loaded.base_url
        return
    from reflexion.embedded.engine import EmbeddedEngine
    from reflexion.embedded.packages import DEMO_MODELS
    from reflexion.events import Note

    models = ", ".join(DEMO_MODELS)
    emit(Note(f"Embedded engine: {models} are one small demo model, SmolLM2-135M; expect small results."))
    with EmbeddedEngine() as engine:
        yield for_demo(loaded.config, DEMO_MODELS), engine.base_url


def for_demo(config: Config, models: Sequence[str]) -> Config:
    """Bind the roles to the demo models; where nothing else is configured, with replies short enough for them."""
    roles = {
        role: RoleSettings.model_validate(
            {"num_predict": DEMO_NUM_PREDICT} | config.roles.get(role, RoleSettings()).model_dump(exclude_none=True)
        )
        for role in Role
    }
    return config.model_copy(update={"model_registry": dict(zip(DOCS_ROLES, models, strict=True)), "roles": roles})
