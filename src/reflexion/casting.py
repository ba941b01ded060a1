"""Roles: who there is, whose model stands in for whom, and what each role's settings are by default."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Thinking = Literal["off", "on", "low", "medium", "high"]


class Role(StrEnum):
    """Who a model acts as. Code asks for a role; the configuration binds a model to it."""

    GENERATOR = "GENERATOR"
    CRITIC = "CRITIC"
    ADJUDICATOR = "ADJUDICATOR"
    ARCHITECT = "ARCHITECT"
    DEVELOPER = "DEVELOPER"
    DEBUGGER = "DEBUGGER"
    DEBUGGER_ESCALATION = "DEBUGGER_ESCALATION"
    REVIEWER = "REVIEWER"


DOCS_ROLES = (Role.GENERATOR, Role.CRITIC, Role.ADJUDICATOR)
# The roles of each pipeline, in the order in which it calls them.
PIPELINE_ROLES: Mapping[str, tuple[Role, ...]] = {
    "docs": DOCS_ROLES,
    "code": (Role.ARCHITECT, Role.DEVELOPER, Role.DEBUGGER, Role.DEBUGGER_ESCALATION, Role.REVIEWER),
}
# Whose model serves a role that has none of its own. DEBUGGER_ESCALATION is there only when it is configured.
FALLBACKS: Mapping[Role, Role] = {
    Role.ARCHITECT: Role.ADJUDICATOR,
    Role.DEVELOPER: Role.GENERATOR,
    Role.DEBUGGER: Role.GENERATOR,
    Role.REVIEWER: Role.CRITIC,
}


class Section(BaseModel):
    """Base of every section: unknown keys are refused, values are not coerced from other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RoleSettings(Section):
    """How a role's model is called. What is left out takes the role's default."""

    temperature: float | None = Field(
        None, ge=0, le=2, description="Default 0.7 GENERATOR, 0.0 CRITIC, 0.1 debuggers, 0.2 the others."
    )
    num_ctx: int | None = Field(
        None,
        ge=512,
        le=10_000_000,
        description="Window in tokens. Default 8192, of the code pipeline's roles 16384.",
    )
    num_predict: int | None = Field(
        None,
        ge=16,
        le=1_000_000,
        description="Most tokens of one reply. Default 4096 for writers, 8192 for those of code, 1024 for CRITIC,"
        " 2048 for REVIEWER.",
    )
    seed: int | None = Field(
        None, ge=0, lt=2**31, description="GENERATOR uses seed + r - 1 in round r. Default: random."
    )
    thinking: Thinking | None = Field(
        None,
        description="Sent only to models that can think. Default off; high for ARCHITECT and debuggers, medium for"
        " DEVELOPER, low for REVIEWER.",
    )


DEFAULT_MODELS = {
    Role.GENERATOR: "qwen3.5:9b",
    Role.CRITIC: "deepseek-coder:6.7b",
    Role.ADJUDICATOR: "llama3:8b",
}
DEFAULT_ROLES = {
    Role.GENERATOR: RoleSettings(temperature=0.7, num_ctx=8192, num_predict=4096, thinking="off"),
    Role.CRITIC: RoleSettings(temperature=0.0, num_ctx=8192, num_predict=1024, thinking="off"),
    Role.ADJUDICATOR: RoleSettings(temperature=0.2, num_ctx=8192, num_predict=4096, thinking="off"),
    # A specification with its tests, or a module, beside the thinking that led to it.
    Role.ARCHITECT: RoleSettings(temperature=0.2, num_ctx=16384, num_predict=8192, thinking="high"),
    Role.DEVELOPER: RoleSettings(temperature=0.2, num_ctx=16384, num_predict=8192, thinking="medium"),
    Role.DEBUGGER: RoleSettings(temperature=0.1, num_ctx=16384, num_predict=8192, thinking="high"),
    Role.DEBUGGER_ESCALATION: RoleSettings(temperature=0.1, num_ctx=16384, num_predict=8192, thinking="high"),
    Role.REVIEWER: RoleSettings(temperature=0.2, num_ctx=16384, num_predict=2048, thinking="low"),
}
