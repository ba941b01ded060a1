"""The command line's settings in the nesting of config.json, for the commands that run a pipeline."""

from collections.abc import Sequence
from typing import Any

from reflexion.errors import UsageError


def overrides(engine: str | None, models: Sequence[str], **top: object) -> dict[str, Any]:
    """Return the settings that are given; ``top`` are keys of the top level, None for what is not given.

    Raises UsageError.
    """
    found: dict[str, Any] = {key: value for key, value in top.items() if value is not None}
    if engine is not None:
        found["server"] = {"engine": engine}
    if engine == "embedded" and models:
        raise UsageError("--model has no effect with --engine embedded: its demo models serve every role")
    for item in models:
        role, equals, name = item.partition("=")
        if not equals or not name:
            raise UsageError(f'--model: "{item}" should be ROLE=NAME, such as CRITIC=llama3:8b')
        found.setdefault("model_registry", {})[role.strip().upper()] = name.strip()
    return found
