"""The server and the model of each role: there, large enough, able to do what it is asked for."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reflexion.config import DOCS_ROLES, Config, Role
from reflexion.doctor.memory import available_bytes, gigabytes
from reflexion.doctor.report import Check, Fact
from reflexion.errors import ConfigError, ModelMissing, NotOllama, ReflexionError, ServerUnreachable
from reflexion.ollama.address import is_loopback, ollama_command, without_credentials
from reflexion.ollama.binding import Fit, look_up, remote_troubles, window_note
from reflexion.ollama.server import Loaded, Server
from reflexion.ollama.window import SMALLEST_REPLY, estimate_tokens
from reflexion.prompts import Prompts

# One answer about the server itself: a healthy one takes milliseconds.
REQUEST_S = 5.0
# Tokens of a window that has room for an ordinary source; the default.
ENOUGH = 8192
# A short function, twice its page, and what a run keeps free for the thing to correct; in tokens.
SMALL_WORK = 700
# The first release that keeps a reply to a JSON schema.
SCHEMAS_SINCE = (0, 5)


@dataclass(slots=True)
class Served:
    """What was found of a server. ``fits`` are the roles with their models, those with trouble included."""

    checks: list[Check] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    reached: bool = False


def check_served(config: Config, base_url: str, others: Mapping[str, str], prompts: Prompts | None) -> Served:
    """Look at the server and at every role's model; nothing is sent to a host that is not allowed."""
    served = Served()
    troubles = remote_troubles(config, base_url)
    served.checks += [
        Check("remote", "error", str(error), '"server": {"allow_remote": true}', role or "", 2)
        for role, error in troubles
    ]
    if any(trouble.role is None for trouble in troubles):
        served.checks.append(Check("server", "note", "not asked: it is on another machine"))
        served.checks += _not_looked_up(config)
        return served
    limit = min(config.server.total_s, REQUEST_S)
    try:
        with Server(base_url, min(config.server.connect_s, limit), limit) as server:
            served.checks += _check_version(server)
            served.reached = True
            served.fits = look_up(config, server)
            # Further roles are those of `reflexion code`, where the configuration has models of their own for them.
            further = tuple(role for role in Role if role in config.model_registry and role not in DOCS_ROLES)
            served.fits += look_up(config, server, further) if further else []
            loaded, checks = _check_loaded(server)
    except ReflexionError as error:
        served.checks += [*_server_trouble(error, base_url, others), *_not_looked_up(config)]
        return served
    cloud = {trouble.role for trouble in troubles}
    for fit in served.fits:
        served.checks += _check_fit(config, fit, prompts, base_url)
    served.fits = [fit for fit in served.fits if fit.role not in cloud]
    served.checks += [*checks, *_check_memory(base_url, served.fits, loaded)]
    return served


def _check_version(server: Server) -> Iterator[Check]:
    begun = time.monotonic()
    version = server.version()
    facts: dict[str, Fact] = {"base_url": without_credentials(server.base_url), "version": version}
    message = f"version {version} at {without_credentials(server.base_url)}"
    yield Check("server", "ok", message, seconds=time.monotonic() - begun, facts=facts)
    numbers = tuple(map(int, re.findall(r"\d{1,6}", version)[:2]))
    if any(numbers) and numbers < SCHEMAS_SINCE:
        message = f"version {version} does not keep replies to a schema, so verdicts may be unreadable"
        yield Check("server", "warning", message, "install Ollama 0.5 or newer")


def _server_trouble(error: ReflexionError, base_url: str, others: Mapping[str, str]) -> Iterator[Check]:
    code = 2 if error.exit_code == 2 else 3
    yield Check("server", "error", str(error), _server_help(error, base_url), exit_code=code)
    if not isinstance(error, ServerUnreachable | NotOllama):
        return
    for name, url in others.items():
        if is_loopback(url) and (version := _version_at(url)):
            message = f"a server of version {version} answers at {without_credentials(url)} ({name})"
            yield Check("server", "note", message, f'"server": {{"base_url": "{without_credentials(url)}"}}')


def _not_looked_up(config: Config) -> list[Check]:
    return [
        Check("model", "note", f"{model} not looked up", subject=role, facts={"model": model})
        for role, model in config.model_registry.items()
    ]


def _server_help(error: ReflexionError, base_url: str) -> str:
    start = ollama_command("serve", base_url)
    if isinstance(error, ServerUnreachable):
        return start if start in str(error) else 'check "server": {"base_url": ...}'
    if isinstance(error, NotOllama):
        return 'check "server": {"base_url": ...} and OLLAMA_HOST'
    if isinstance(error, ConfigError):
        return "unset ALL_PROXY HTTP_PROXY HTTPS_PROXY all_proxy http_proxy https_proxy"
    return f"{start}   (restart it; its log says more)"


def _version_at(url: str) -> str:
    try:
        with Server(url, 0.5, 1.0) as server:
            return server.version()
    except ReflexionError:
        return ""


# ------------------------------------------------------------------ the model of a role


def _check_fit(config: Config, fit: Fit, prompts: Prompts | None, base_url: str) -> Iterator[Check]:
    if fit.trouble is not None or fit.binding is None or fit.info is None:
        yield _trouble_of(fit, base_url)
        return
    own, asked = fit.info.context_length, fit.asked
    can = sorted(fit.info.capabilities)
    parts = [
        f"{fit.info.name}  {fit.info.digest.removeprefix('sha256:')[:12]}",
        gigabytes(fit.size) if fit.size else "size unknown",
        f"window {fit.binding.window} of its own {own}" if own else f"window {asked}, its own is unknown",
        f"can {', '.join(can) or 'unknown'}",
    ]
    facts: dict[str, Fact] = {
        "model": fit.info.name,
        "digest": fit.info.digest,
        "size": fit.size or None,
        "context_length": own or None,
        "num_ctx": asked,
        "window": fit.binding.window,
        "capabilities": can,
    }
    yield Check("model", "ok", ", ".join(parts), subject=fit.role, facts=facts)
    yield from _check_window(config, fit, prompts)
    yield from _check_thinking(config, fit)


def _trouble_of(fit: Fit, base_url: str) -> Check:
    facts: dict[str, Fact] = {"model": fit.model, "near": fit.near or None}
    if isinstance(fit.trouble, ModelMissing):
        near = f"; you have {fit.near}" if fit.near else ""
        use = f", or --model {fit.role}={fit.near}" if fit.near else ""
        helps = fit.get + use
        return Check("model", "error", f"{fit.model} is not installed{near}", helps, fit.role, 3, facts=facts)
    code = 2 if fit.trouble is not None and fit.trouble.exit_code == 2 else 3
    show = ollama_command(f"show {fit.model}", base_url)
    helps = f"reflexion docs --model {fit.role}=NAME" if code == 2 else show
    return Check("model", "error", str(fit.trouble), helps, fit.role, code, facts=facts)


def _check_window(config: Config, fit: Fit, prompts: Prompts | None) -> Iterator[Check]:
    window = fit.binding.window if fit.binding else 0
    own = fit.info.context_length if fit.info else 0
    settings = config.settings(fit.role)
    words = _least_words(fit.role, prompts)
    reply = min(settings.num_predict or SMALLEST_REPLY, SMALLEST_REPLY)
    larger = _setting(fit.role, num_ctx=min(own or ENOUGH, ENOUGH))
    other = f"reflexion docs --model {fit.role}=NAME"
    left = window - words - reply
    if left < 0:
        message = f"a window of {window} tokens has no room for any source: words {words}, reply {reply}"
        yield Check("window", "error", message, larger if not own or words + reply < own else other, fit.role, 2)
        return
    if left < SMALL_WORK:
        message = f"a window of {window} tokens leaves {left} for source and page: most are written from facts alone"
        fits = not own or words + reply + SMALL_WORK <= own
        yield Check("window", "warning", message, larger if fits else other, fit.role)
    if note := window_note(fit):
        # A limit of replies that leaves no room for a prompt is refused.
        shorter = {"num_predict": own // 2} if (settings.num_predict or 0) >= own else {}
        yield Check("window", "warning", note, _setting(fit.role, num_ctx=own, **shorter), fit.role)


def _setting(role: Role, **values: int | str) -> str:
    """Return what to write into the configuration for a role."""
    return json.dumps({"roles": {role.value: values}})[1:-1]


def _least_words(role: Role, prompts: Prompts | None) -> int:
    """Return the tokens that a role's first prompt has at least, without source and page."""
    if prompts is None:
        return 0
    texts = prompts.words.get(role, {})
    system = texts.get("system", "")
    task = max((text for key, text in texts.items() if key in ("draft", "review", "settle")), key=len, default="")
    return estimate_tokens([system, task])


def _check_thinking(config: Config, fit: Fit) -> Iterator[Check]:
    given = config.roles.get(fit.role)
    wanted = given.thinking if given else None
    if wanted in (None, "off") or (fit.binding and fit.binding.can_think):
        return
    message = f'{fit.model} cannot think: thinking "{wanted}" is not sent to it'
    yield Check("thinking", "warning", message, _setting(fit.role, thinking="off"), fit.role)


# ------------------------------------------------------------------ memory


def _check_loaded(server: Server) -> tuple[list[Loaded], list[Check]]:
    try:
        loaded = server.in_memory()
    except ReflexionError as error:  # A run does without: it then lets the models take turns.
        return [], [Check("loaded", "warning", str(error), _server_help(error, server.base_url))]
    return loaded, [_describe_loaded(loaded)]


def _check_memory(base_url: str, fits: Sequence[Fit], loaded: Sequence[Loaded]) -> Iterator[Check]:
    sizes = {fit.info.name: fit.size for fit in fits if fit.info and fit.size}
    if not is_loopback(base_url):
        yield Check("memory", "note", "that of the server's machine cannot be known here")
        return
    free = available_bytes()
    facts: dict[str, Any] = {"available": free, "models": sum(sizes.values())}
    if free is None:
        yield Check("memory", "note", "this system does not tell how much is free", facts=facts)
        return
    together = f"; the models are {gigabytes(sum(sizes.values()))} together" if sizes else ""
    yield Check("memory", "ok", f"{gigabytes(free)} are free{together}", facts=facts)
    there = {model.name for model in loaded}
    for fit in fits:
        if fit.info and fit.size > free and fit.info.name not in there:
            message = f"{fit.info.name} has {gigabytes(fit.size)}, more than is free; only a GPU could hold it"
            yield Check("memory", "warning", message, f"reflexion docs --model {fit.role}=SMALLER", fit.role)


def _describe_loaded(loaded: Sequence[Loaded]) -> Check:
    """Say what the server has in memory. What a GPU has is known of loaded models only, and never guessed."""
    texts = [
        f"{model.name} {gigabytes(model.size)}, {gigabytes(model.size_vram) if model.size_vram else 'nothing'} of it"
        f" on a GPU, window {model.window or 'unknown'}"
        for model in loaded
    ]
    message = "; ".join(texts) or "no model is in memory now, so nothing is known of a GPU"
    facts: dict[str, Fact] = {
        "models": [model.name for model in loaded],
        "size": sum(model.size for model in loaded),
        "size_vram": sum(model.size_vram for model in loaded),
    }
    return Check("loaded", "ok" if loaded else "note", message, facts=facts)
