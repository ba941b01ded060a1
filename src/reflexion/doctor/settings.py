"""Configuration, prompts, and the address of the server: what needs no server to be looked at."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reflexion.config import PIPELINE_ROLES, LoadedConfig, load_config
from reflexion.doctor.report import Check
from reflexion.errors import ConfigError, UsageError
from reflexion.ollama.address import DEFAULT_URL, normalise, without_credentials
from reflexion.prompts import Prompts, load_prompts, prompts_folder


def check_config(
    path: Path | None, overrides: Callable[[], Mapping[str, Any]], environ: Mapping[str, str]
) -> tuple[LoadedConfig | None, list[Check]]:
    """Load the configuration as a run does; return it, None where it cannot be used, and what there is to say."""
    try:
        loaded = load_config(path, overrides(), environ)
    except UsageError as error:
        return None, [Check("config", "error", str(error), _config_help(error), exit_code=2)]
    notes = list(loaded.notes)
    found = loaded.origin
    if loaded.origin == "defaults":
        found = notes.pop(0)
    facts: dict[str, Any] = {"origin": loaded.origin, "engine": loaded.config.server.engine}
    checks = [Check("config", "ok", found, facts=facts)]
    for note in notes:
        if note.startswith("OLLAMA_HOST"):
            checks.append(Check("config", "note", note, "unset OLLAMA_HOST"))
        else:
            checks.append(Check("config", "warning", note, "reflexion docs --model CRITIC=NAME"))
    return loaded, checks


def _config_help(error: UsageError) -> str:
    if str(error).startswith("OLLAMA_HOST"):
        return "export OLLAMA_HOST=127.0.0.1:11434"
    if not isinstance(error, ConfigError):
        return "reflexion doctor --help"
    return "reflexion config schema"


def check_prompts(loaded: LoadedConfig) -> tuple[Prompts | None, Check]:
    """Load the words of every pipeline as a run does; return those of docs, None where some cannot be used."""
    folder = prompts_folder(loaded)
    try:
        every = [load_prompts(pipeline, folder) for pipeline in PIPELINE_ROLES]
    except ConfigError as error:
        return None, Check("prompts", "error", str(error), "reflexion prompts show", exit_code=2)
    own = [f"{role}.{key}" for words in every for (role, key), origin in words.origin.items() if origin != "built in"]
    found = f"{folder}: {', '.join(own) or 'nothing'} replaced" if folder else "built in"
    return every[0], Check("prompts", "ok", found, facts={"folder": str(folder) if folder else None, "replaced": own})


def check_address(loaded: LoadedConfig, environ: Mapping[str, str]) -> Iterator[Check]:
    """Say every place where the server's address can come from, and which one is used."""
    configured, given = loaded.config.server.base_url, environ.get("OLLAMA_HOST", "").strip()
    source = "server.base_url" if configured else "OLLAMA_HOST" if given else "default"
    ways = {"server.base_url": configured or "", "OLLAMA_HOST": given, "default": DEFAULT_URL}
    shown = {name: without_credentials(value) for name, value in ways.items()}
    used = without_credentials(loaded.base_url)
    others = "; ".join(f"{name} {value or 'not set'}" for name, value in shown.items() if name != source)
    facts: dict[str, Any] = {"base_url": used, "source": source} | {
        key: shown[name] or None
        for key, name in (("configured", "server.base_url"), ("OLLAMA_HOST", "OLLAMA_HOST"), ("default", "default"))
    }
    yield Check("address", "ok", f"{used} from {source} ({others})", facts=facts)
    if configured and given:
        try:
            normalise(given)
        except ValueError as error:
            message = f"OLLAMA_HOST is not used, and is no address: {without_credentials(str(error))}"
            yield Check("address", "warning", message, "unset OLLAMA_HOST")


def other_addresses(loaded: LoadedConfig, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses that are not used, by where they come from."""
    found = {"default": DEFAULT_URL}
    with contextlib.suppress(KeyError, ValueError):
        found["OLLAMA_HOST"] = normalise(environ["OLLAMA_HOST"])
    return {name: url for name, url in found.items() if url != loaded.base_url}
