"""config.json: what it may hold, its defaults, and one clear line for everything that it may not.

``load_config`` is the door. Precedence, first wins: command line, configuration file, ``OLLAMA_HOST``, default.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from reflexion.casting import (
    DEFAULT_MODELS,
    DEFAULT_ROLES,
    DOCS_ROLES,
    FALLBACKS,
    PIPELINE_ROLES,
    Role,
    RoleSettings,
    Section,
)
from reflexion.errors import ConfigError
from reflexion.ollama.address import DEFAULT_URL, normalise, without_credentials
from reflexion.ollama.names import full_name

__all__ = [
    "DOCS_ROLES",
    "PIPELINE_ROLES",
    "CodeSettings",
    "Config",
    "LoadedConfig",
    "Role",
    "RoleSettings",
    "RuleSettings",
    "SandboxSettings",
    "ServerSettings",
    "load_config",
    "schema_text",
]

DEFAULT_PATH = Path("config.json")

_MODULE_NAME = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class ServerSettings(Section):
    """Where the models are, and how long to wait for them. Names ending in ``_s`` are seconds."""

    engine: Literal["ollama", "embedded"] = Field(
        "ollama", description="embedded: a small demo model served by reflexion itself, for machines without Ollama."
    )
    base_url: str | None = Field(None, description=f"Default: OLLAMA_HOST, else {DEFAULT_URL}.")
    keep_alive: int | str = Field("5m", description="How long a model stays loaded: seconds, a duration, -1 for ever.")
    parallel: int = Field(
        1, ge=1, le=64, description="Calls at once to the loaded model, as OLLAMA_NUM_PARALLEL allows."
    )
    away_s: float = Field(
        300, ge=0, le=86_400, description="How long to wait for a server that went away in the middle of a run."
    )
    allow_remote: bool = Field(False, description="Allow hosts beyond loopback, and cloud models.")
    connect_s: Seconds = Field(5, description="To open a connection.")
    first_token_s: Seconds = Field(600, description="Until the first token: loading and reading the prompt.")
    idle_s: Seconds = Field(120, description="Between two tokens.")
    total_s: Seconds = Field(
        1800, description="For one request, whatever happens; a passing fault is tried up to 5 times."
    )

    @field_validator("keep_alive")
    @classmethod
    def _keep_alive_in_server_form(cls, value: int | str) -> int | str:
        # A server answers 400 to "-1" as text, so whole numbers go as numbers.
        if isinstance(value, int):
            return value
        if re.fullmatch(r"\s*-?\d+\s*", value):
            return int(value)
        if re.fullmatch(r"-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+", value):
            return value
        raise ValueError('should be seconds or a duration such as "5m", "1h30m" or -1')

    @field_validator("base_url")
    @classmethod
    def _base_url_is_an_address(cls, value: str | None) -> str | None:
        return None if value is None else normalise(value)


class RuleSettings(Section):
    """Which rules apply."""

    off: list[str] = Field(default_factory=list, description="Codes or names of rules that are switched off.")

    @field_validator("off")
    @classmethod
    def _off_names_rules(cls, value: list[str]) -> list[str]:
        if value:
            from reflexion.evidence.verify import ALL_RULES, unknown_rules

            names = [name for rule in ALL_RULES for name in (rule.code, rule.name)]
            for unknown in unknown_rules(value):
                raise ValueError(f'unknown rule "{unknown}"{_nearest(unknown, names, "`reflexion rules` lists them")}')
        return value


class SandboxSettings(Section):
    """Where the code of examples runs, and its limits."""

    mode: Literal["auto", "bubblewrap", "process", "off"] = Field(
        "auto",
        description="auto: bubblewrap where it works, else nothing is run. process: limits only, no security boundary.",
    )
    python: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="The interpreter that runs the code. Default: the one that runs reflexion."
    )
    wall_s: Seconds = Field(20, description="For one job; then everything that it started is killed.")
    memory_mib: int = Field(512, ge=64, le=1_048_576, description="Address space of each process, in MiB.")


class CodeSettings(Section):
    """What `reflexion code` allows a candidate."""

    limit_s: Seconds = Field(15, description="For one run of the tests.")
    allow_imports: list[Annotated[str, Field(pattern=_MODULE_NAME)]] = Field(
        default_factory=list, description="Modules that a candidate may import besides the built-in list."
    )


class Config(Section):
    """The whole of config.json."""

    model_registry: dict[Role, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=lambda: dict(DEFAULT_MODELS), description="The model of each role."
    )
    quality_score_bar: int = Field(95, ge=0, le=100, description="Average of the critic's two sub-scores to reach.")
    max_attempts: int = Field(4, ge=1, le=100, description="Rounds of drafting and review per file.")
    max_debug_iterations: int = Field(
        3, ge=0, le=100, description="Replies that `reflexion code` may ask for after the first candidate."
    )
    roles: dict[Role, RoleSettings] = Field(default_factory=dict, description="Settings by role.")
    server: ServerSettings = Field(default_factory=ServerSettings)
    jobs: int = Field(
        16, ge=1, le=1000, description="Files of a folder under way at once; their calls take turns by model."
    )
    critic: Literal["always", "when_clean"] = Field(
        "always", description="when_clean: no critic call for a draft that code has already proved wrong."
    )
    rules: RuleSettings = Field(default_factory=RuleSettings)
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    code: CodeSettings = Field(default_factory=CodeSettings)
    prompts: str | None = Field(None, description="A folder whose docs.toml and code.toml replace the words of a role.")

    @field_validator("model_registry", "roles", mode="before")
    @classmethod
    def _names_of_roles(cls, value: object) -> object:
        if isinstance(value, Mapping):
            for key in value:
                if key not in list(Role):
                    raise ValueError(f'unknown role "{key}"{_nearest(str(key), list(Role))}')
            return {Role(key): item for key, item in value.items()}
        return value

    @model_validator(mode="after")
    def _every_role_has_a_model(self) -> "Config":
        missing = [role.value for role in DOCS_ROLES if role not in self.model_registry]
        if missing:
            raise ValueError(f"model_registry: no model for {', '.join(missing)}")
        for role in Role:
            settings = self.settings(role)
            if (settings.num_predict or 0) >= (settings.num_ctx or 0):
                raise ValueError(
                    f"roles.{role}: num_predict {settings.num_predict} leaves no room for a prompt"
                    f" in num_ctx {settings.num_ctx}"
                )
        return self

    def roles_of(self, pipeline: str) -> tuple[Role, ...]:
        """Return the roles that a pipeline has here, in the order in which it calls them."""
        return tuple(role for role in PIPELINE_ROLES[pipeline] if self._server_of(role) in self.model_registry)

    def model(self, role: Role) -> str:
        """Return the model that serves a role: its own, else that of the role that stands in for it."""
        return self.model_registry[self._server_of(role)]

    def _server_of(self, role: Role) -> Role:
        return role if role in self.model_registry else FALLBACKS.get(role, role)

    def settings(self, role: Role) -> RoleSettings:
        """Return the role's settings with every default filled in.

        A role that another one's model serves takes that one's window where it has none of its own: whoever gave it
        knows how much memory there is.
        """
        given = self.roles.get(role, RoleSettings()).model_dump(exclude_none=True)
        other = self.roles.get(self._server_of(role))
        if other is not None and other.num_ctx is not None:
            given.setdefault("num_ctx", other.num_ctx)
        settings = DEFAULT_ROLES[role].model_copy(update=given)
        if role not in DOCS_ROLES and "num_predict" not in given:
            half = (settings.num_ctx or 0) // 2
            settings = settings.model_copy(update={"num_predict": min(settings.num_predict or half, half)})
        return settings

    def window(self, model: str, roles: Iterable[Role] = DOCS_ROLES) -> int:
        """Return the window in tokens that every call of these roles to ``model`` asks for.

        Roles that share a model share the largest of their windows: another ``num_ctx`` would make the server
        load the model again.
        """
        same = [role for role in roles if full_name(self.model(role)) == full_name(model)]
        return max(self.settings(role).num_ctx or 0 for role in same)


def schema_text() -> str:
    """Return the JSON Schema of config.json, as docs/config.schema.json holds it."""
    return json.dumps(Config.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


class LoadedConfig(NamedTuple):
    """A checked configuration, where it came from, and what its user should be told about it."""

    config: Config
    origin: str
    base_url: str
    notes: tuple[str, ...]


def load_config(path: Path | None, overrides: Mapping[str, Any], environ: Mapping[str, str]) -> LoadedConfig:
    """Read ``path``, else ./config.json, else the defaults; then lay ``overrides`` (same nesting) over it.

    Raises ConfigError with one line that names file, line or key.
    """
    notes: list[str] = []
    chosen = path or (DEFAULT_PATH if DEFAULT_PATH.exists() else None)
    raw: dict[str, Any] = {}
    if chosen is None:
        origin = "defaults"
        notes.append("No config.json here: using the default models and settings.")
    else:
        origin = str(chosen)
        text = _read(chosen)
        raw = _parse(text, origin)
        _validate(raw, origin, text)
    if "model_registry" in overrides:  # Binding one role leaves the others as they are by default.
        raw = {"model_registry": {role.value: model for role, model in DEFAULT_MODELS.items()}} | raw
    config = _validate(_merge(raw, overrides), "command line" if overrides else origin, "")
    base_url, note = _base_url(config, environ)
    notes += [note] if note else []
    notes += _warnings(config)
    return LoadedConfig(config, origin, base_url, tuple(notes))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def _parse(text: str, origin: str) -> dict[str, Any]:
    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise ConfigError(f'{origin}: key "{key}" appears twice; keep one')
            seen[key] = value
        return seen

    try:
        raw = json.loads(text, object_pairs_hook=no_duplicates)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{origin}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ConfigError(f"{origin}: nested too deeply to be a configuration") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{origin}: should be a JSON object, found {type(raw).__name__}")
    return raw


def _validate(raw: Mapping[str, Any], origin: str, text: str) -> Config:
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        lines = [_describe(dict(item), raw, text) for item in error.errors()]
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        raise ConfigError(f"{origin}: {lines[0]}{more}") from error


def _describe(item: dict[str, Any], raw: Mapping[str, Any], text: str) -> str:
    # For a field of several types the last part is the type that was tried, which is no key.
    location = [str(part) for part in item["loc"] if part not in ("int", "str")]
    key = ".".join(location)
    where = _line_of(location, text)
    if item["type"] == "extra_forbidden":
        return f'{where}unknown key "{key}"{_nearest(location[-1], _valid_keys(location[:-1]))}'
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "string_pattern_mismatch":  # Of which there is one.
        message = "should be the name of a module, such as os or xml.dom"
    if not key:
        return message
    given = json.dumps(item["input"]) if isinstance(item["input"], str | int | float | bool | None) else None
    return f"{where}{key}: {message}{f' (found {given})' if given is not None else ''}"


def _line_of(location: list[str], text: str) -> str:
    """Find the line of a key by walking down its path; keys are unique where it matters."""
    at = 0
    for part in location:
        found = re.compile(rf'"{re.escape(part)}"\s*:').search(text, at)
        if not found:
            return ""
        at = found.start()
    return f"line {text.count(chr(10), 0, at) + 1}: " if location and text else ""


def _valid_keys(parents: list[str]) -> list[str]:
    if not parents:
        return list(Config.model_fields)
    sections: dict[str, type[BaseModel]] = {
        "server": ServerSettings,
        "rules": RuleSettings,
        "sandbox": SandboxSettings,
        "code": CodeSettings,
    }
    return list(sections.get(parents[0], RoleSettings).model_fields)


def _nearest(word: str, choices: list[Any], otherwise: str = "") -> str:
    names = {str(choice).casefold(): str(choice) for choice in choices}
    close = difflib.get_close_matches(word.casefold(), list(names), n=1, cutoff=0.5)
    return (
        f'; did you mean "{names[close[0]]}"?'
        if close
        else f"; {otherwise or 'valid are ' + ', '.join(names.values())}"
    )


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def _base_url(config: Config, environ: Mapping[str, str]) -> tuple[str, str]:
    from_environment = environ.get("OLLAMA_HOST", "").strip()
    configured = config.server.base_url
    if not from_environment or config.server.engine != "ollama":
        return configured or DEFAULT_URL, ""
    try:
        url = normalise(from_environment)
    except ValueError as error:
        if configured:
            return configured, ""
        raise ConfigError(f"OLLAMA_HOST: {without_credentials(str(error))}") from error
    if configured and configured != url:
        used, unused = without_credentials(configured), without_credentials(url)
        return configured, f"OLLAMA_HOST ({unused}) is not used: the configuration names {used}."
    return configured or url, ""


def _warnings(config: Config) -> list[str]:
    registry = config.model_registry
    same = full_name(registry[Role.GENERATOR]) == full_name(registry[Role.CRITIC])
    if config.server.engine == "ollama" and same:
        return [f"GENERATOR and CRITIC are both {registry[Role.CRITIC]}: a model would grade its own work."]
    return []
