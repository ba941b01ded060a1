"""Every role and its model: looked up on the server without stopping at the first trouble, and bound."""

import difflib
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from reflexion.config import DOCS_ROLES, Config, Role
from reflexion.errors import ConfigError, ModelMissing, ReflexionError
from reflexion.ollama.address import is_loopback, without_credentials
from reflexion.ollama.names import full_name, is_cloud
from reflexion.ollama.reply import Binding
from reflexion.ollama.server import Installed, ModelInfo, Server

NEAR = 0.6


class Remote(NamedTuple):
    """A way for prompts to leave this machine that the user did not allow; ``role`` None: the server itself."""

    role: Role | None
    error: ConfigError


class Fit(NamedTuple):
    """A role and its model: ``binding``, or ``trouble`` which says why there is none.

    ``near`` is the installed model that may be meant where the model is missing, ``get`` the command that gets it then;
    ``size`` is its bytes on disk, ``asked`` the window that the configuration wants, in tokens.
    """

    role: Role
    model: str
    binding: Binding | None = None
    info: ModelInfo | None = None
    trouble: ReflexionError | None = None
    near: str = ""
    get: str = ""
    size: int = 0
    asked: int = 0


def remote_troubles(config: Config, base_url: str) -> list[Remote]:
    """Return every way in which a prompt could leave this machine though the user did not allow it."""
    if config.server.allow_remote:
        return []
    how = 'set "server": {"allow_remote": true} to allow it'
    troubles = []
    if not is_loopback(base_url):
        host = urlsplit(base_url).hostname
        error = ConfigError(f"{host} is not this machine: nothing leaves it unless you {how}")
        troubles.append(Remote(None, error))
    for role, model in config.model_registry.items():
        if is_cloud(model):
            error = ConfigError(f"{role}: {model} is a cloud model: nothing leaves this machine unless you {how}")
            troubles.append(Remote(role, error))
    return troubles


def refuse_remote(config: Config, base_url: str) -> None:
    """Raise ConfigError when a prompt could leave this machine and the user did not allow it."""
    for trouble in remote_troubles(config, base_url):
        raise trouble.error


def look_up(config: Config, server: Server, roles: Sequence[Role] = DOCS_ROLES) -> list[Fit]:
    """Look at the model of every role; trouble with one says nothing of the others.

    ``server`` has told its version: whatever else answers at its address says so there. Raises ServerUnreachable and
    ServerError where nothing at all can be looked up.
    """
    installed = server.installed()
    names = {full_name(name): name for name in installed}
    seen: dict[str, Fit] = {}
    for role in roles:
        model = config.model(role)
        if model not in seen:
            fit = Fit(role, model, get=server.how_to_get(model))
            seen[model] = _look_up(config, server, fit, names.get(full_name(model)), installed)
    return [_fit(config, role, seen[config.model(role)], roles) for role in roles]


def bind(config: Config, server: Server, roles: Sequence[Role] = DOCS_ROLES) -> tuple[dict[Role, Binding], list[str]]:
    """Bind every one of ``roles`` to its installed model; return the bindings and what the user should be told.

    Raises ServerUnreachable, NotOllama, ModelMissing (all missing models in one line) or ConfigError (a model that
    the server would run on another host, or that cannot write).
    """
    server.version()
    fits = look_up(config, server, roles)
    missing = [fit for fit in fits if isinstance(fit.trouble, ModelMissing)]
    if missing:
        raise ModelMissing(_missing(missing, server.base_url))
    for fit in fits:
        if fit.trouble is not None:
            raise fit.trouble
    notes = dict.fromkeys(note for fit in fits if (note := window_note(fit)))
    return {fit.role: fit.binding for fit in fits if fit.binding is not None}, list(notes)


def window_note(fit: Fit) -> str:
    """Return what the user should know of the window of a role's model, "" where there is nothing."""
    own = fit.info.context_length if fit.info else 0
    if not 0 < own < fit.asked:
        return ""
    return f"{fit.model} reads {own} tokens at most: num_ctx {fit.asked} is lowered to that."


def nearest(model: str, installed: Sequence[str]) -> str:
    """Return the installed model that may be meant by ``model``: the same with another tag, else a similar name."""
    family = full_name(model).rpartition(":")[0]
    same = [name for name in installed if full_name(name).rpartition(":")[0] == family]
    return next(iter(difflib.get_close_matches(model, same or installed, n=1, cutoff=0 if same else NEAR)), "")


def _look_up(config: Config, server: Server, fit: Fit, name: str | None, installed: Mapping[str, Installed]) -> Fit:
    if name is None:
        trouble = ModelMissing(f"{fit.model} is not installed")
        return fit._replace(trouble=trouble, near=nearest(fit.model, list(installed)))
    try:
        info = server.show(name, installed[name].digest)
    except ReflexionError as error:
        return fit._replace(trouble=error)
    return fit._replace(info=info, size=installed[name].size, trouble=_trouble(config, fit.model, info))


def _trouble(config: Config, model: str, info: ModelInfo) -> ConfigError | None:
    if info.remote_host and not config.server.allow_remote:
        return ConfigError(f"{model} runs on {info.remote_host}: set server.allow_remote to allow that")
    if info.capabilities and "completion" not in info.capabilities:
        can = ", ".join(sorted(info.capabilities))
        return ConfigError(f"model_registry: {model} cannot write text (it can: {can}); name another model")
    return None


def _fit(config: Config, role: Role, fit: Fit, roles: Sequence[Role]) -> Fit:
    """Return what was found of a model as what it is for one of its roles."""
    if fit.trouble is not None or fit.info is None:
        return fit._replace(role=role)
    window, info = config.window(fit.model, roles), fit.info
    binding = Binding(
        role=role,
        model=info.name,
        settings=config.settings(role),
        window=min(window, info.context_length) if info.context_length else window,
        can_think="thinking" in info.capabilities,
        digest=info.digest,
    )
    return fit._replace(role=role, binding=binding, asked=window)


def _missing(fits: Sequence[Fit], url: str) -> str:
    parts = [f"{fit.role} {fit.model}{f' (you have {fit.near})' if fit.near else ''}" for fit in fits]
    pulls = " && ".join(dict.fromkeys(fit.get for fit in fits))
    return f"not installed on {without_credentials(url)}: {', '.join(parts)}; get them with: {pulls}"
