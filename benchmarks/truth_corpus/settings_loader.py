"""Layered settings from files and the environment."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ENV_PREFIX = "APP_"
DEFAULTS = {"debug": False, "port": 8080}


class SettingsError(Exception):
    """Something is wrong with the settings."""


class MissingKey(SettingsError, KeyError):
    """A required key is absent."""


def load_file(path: Path, *, encoding: str = "utf-8") -> dict[str, Any]:
    """Read a JSON object."""
    try:
        data = json.loads(path.read_text(encoding=encoding))
    except json.JSONDecodeError as error:
        raise SettingsError(f"{path}: not JSON (line {error.lineno})") from error
    if not isinstance(data, dict):
        raise SettingsError(f"{path}: expected an object at the top level")
    return data


def from_environment(environ: Mapping[str, str] | None = None, prefix: str = ENV_PREFIX) -> dict[str, str]:
    """Pick settings out of environment variables."""
    source = os.environ if environ is None else environ
    return {key[len(prefix) :].lower(): value for key, value in source.items() if key.startswith(prefix)}


class Settings:
    """Settings with dotted access."""

    def __init__(self, *layers: Mapping[str, Any]) -> None:
        self._values: dict[str, Any] = dict(DEFAULTS)
        for layer in layers:
            self._values.update(layer)

    def require(self, key: str) -> Any:
        """Return a value that must be there."""
        if key not in self._values:
            raise MissingKey(f"setting {key!r} is missing")
        return self._values[key]

    def as_bool(self, key: str, default: bool = False) -> bool:
        """Return a value as a truth value."""
        value = self._values.get(key, default)
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "on"):
            return True
        if str(value).lower() in ("0", "false", "no", "off"):
            return False
        raise TypeError(f"setting {key!r} is not a boolean: {value!r}")
