"""The model server: find it, and check before the first call that every role can be served."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from reflexion.config import DOCS_ROLES, Config, Role
from reflexion.errors import ConfigError, ModelMissing, ServerError
from reflexion.ollama.address import is_loopback, without_credentials
from reflexion.ollama.faults import not_ollama, unreachable
from reflexion.ollama.names import full_name, is_cloud
from reflexion.ollama.reply import Binding

REQUEST_S = 30.0


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the server says of one installed model. ``context_length`` is its own window in tokens, 0 if unknown."""

    name: str
    digest: str
    context_length: int
    capabilities: frozenset[str]
    remote_host: str = ""


class Server:
    """A model server at a base URL. A context manager, since it holds connections."""

    def __init__(self, base_url: str, connect_s: float = 5.0) -> None:
        local = is_loopback(base_url)
        self.base_url = base_url
        try:
            self._client = httpx.Client(
                base_url=base_url,
                timeout=httpx.Timeout(REQUEST_S, connect=connect_s),
                trust_env=not local,
                verify=not (local and base_url.startswith("http://")),
            )
        except ImportError as error:  # A socks proxy in the environment needs a package that is not there.
            raise ConfigError(
                f"a proxy variable cannot be used for {without_credentials(base_url)}: {error}"
            ) from error

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def version(self) -> str:
        """Return the server's version. Raises ServerUnreachable or NotOllama; a server built without says 0.0.0."""
        answer = self._request("GET", "/api/version")
        if not isinstance(answer.get("version"), str):
            raise not_ollama(self.base_url, json.dumps(answer))
        return str(answer["version"])

    def installed(self) -> dict[str, str]:
        """Return the digest of every installed model by its full name."""
        answer = self._request("GET", "/api/tags")
        return {str(item.get("name", "")): str(item.get("digest", "")) for item in answer.get("models") or []}

    def loaded(self) -> list[str]:
        """Return the names of the models that are in memory now."""
        answer = self._request("GET", "/api/ps")
        return [str(item.get("name", "")) for item in answer.get("models") or []]

    def show(self, name: str, digest: str = "") -> ModelInfo:
        """Return what the server says of the model. Raises ModelMissing when it is not installed."""
        answer = self._request("POST", "/api/show", {"model": name})
        info = answer.get("model_info") or {}
        lengths = [value for key, value in info.items() if key.endswith(".context_length") and isinstance(value, int)]
        return ModelInfo(
            name=name,
            digest=digest,
            context_length=lengths[0] if lengths else 0,
            capabilities=frozenset(answer.get("capabilities") or ()),
            remote_host=str(answer.get("remote_host") or ""),
        )

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            response = self._client.request(method, path, json=body)
        except httpx.TimeoutException as error:
            raise unreachable(self.base_url, "no answer in time") from error
        except httpx.HTTPError as error:
            raise unreachable(self.base_url, str(error) or type(error).__name__) from error
        try:
            answer = response.json()
        except ValueError as error:
            raise not_ollama(self.base_url, response.text[:200]) from error
        if not isinstance(answer, dict):
            raise not_ollama(self.base_url, response.text[:200])
        if response.status_code == 404 and body:
            raise ModelMissing(f"model {body.get('model')} is not installed: ollama pull {body.get('model')}")
        if response.status_code >= 400:
            shown = without_credentials(self.base_url)
            raise ServerError(f"{shown}{path} answered {response.status_code}: {answer.get('error', '')}")
        return answer


def refuse_remote(config: Config, base_url: str) -> None:
    """Raise ConfigError when a prompt could leave this machine and the user did not allow it."""
    if config.server.allow_remote:
        return
    how = 'set "server": {"allow_remote": true} to allow it'
    if not is_loopback(base_url):
        raise ConfigError(f"{urlsplit(base_url).hostname} is not this machine: nothing leaves it unless you {how}")
    for role, model in config.model_registry.items():
        if is_cloud(model):
            raise ConfigError(f"{role}: {model} is a cloud model: nothing leaves this machine unless you {how}")


def bind(config: Config, server: Server, roles: Sequence[Role] = DOCS_ROLES) -> tuple[dict[Role, Binding], list[str]]:
    """Bind every one of ``roles`` to its installed model; return the bindings and what the user should be told.

    Raises ServerUnreachable, NotOllama, ModelMissing (all missing models in one line) or ConfigError (a model that
    the server would run on another host).
    """
    server.version()
    installed = server.installed()
    names = {full_name(name): (name, digest) for name, digest in installed.items()}
    missing = [role for role in roles if full_name(config.model(role)) not in names]
    if missing:
        raise ModelMissing(_missing(config, missing, list(installed), server.base_url))
    infos: dict[str, ModelInfo] = {}
    for model in dict.fromkeys(config.model(role) for role in roles):
        infos[model] = server.show(*names[full_name(model)])
        if infos[model].remote_host and not config.server.allow_remote:
            raise ConfigError(f"{model} runs on {infos[model].remote_host}: set server.allow_remote to allow that")
    windows = {model: config.window(model, roles) for model in infos}
    return {role: _binding(config, role, infos, windows) for role in roles}, _notes(infos, windows)


def _binding(config: Config, role: Role, infos: Mapping[str, ModelInfo], windows: Mapping[str, int]) -> Binding:
    model = config.model(role)
    info = infos[model]
    window = windows[model]
    return Binding(
        role=role,
        model=info.name,
        settings=config.settings(role),
        window=min(window, info.context_length) if info.context_length else window,
        can_think="thinking" in info.capabilities,
        digest=info.digest,
    )


def _notes(infos: Mapping[str, ModelInfo], windows: Mapping[str, int]) -> list[str]:
    return [
        f"{model} reads {info.context_length} tokens at most: num_ctx {windows[model]} is lowered to that."
        for model, info in infos.items()
        if info.context_length and info.context_length < windows[model]
    ]


def _missing(config: Config, roles: list[Role], installed: list[str], url: str) -> str:
    parts = []
    for role in roles:
        model = config.model(role)
        near = difflib.get_close_matches(model, installed, n=1, cutoff=0.6)
        parts.append(f"{role} {model}{f' (you have {near[0]})' if near else ''}")
    models = dict.fromkeys(config.model(role) for role in roles)
    pulls = " && ".join(f"ollama pull {model}" for model in models)
    return f"not installed on {without_credentials(url)}: {', '.join(parts)}; get them with: {pulls}"
