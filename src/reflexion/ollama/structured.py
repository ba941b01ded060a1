"""Structured replies: the schema that is sent, and the strict reading of what comes back."""

from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from reflexion.text import json_objects, strip_thinking

T = TypeVar("T", bound=BaseModel)

_UNSUPPORTED = frozenset({"pattern", "format", "title", "default", "examples"})


def schema_for(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema to send as ``format``: flat, without what servers fail to turn into a grammar."""
    return cast("dict[str, Any]", _without(model.model_json_schema(), _UNSUPPORTED))


def read(text: str, model: type[T]) -> tuple[T | None, str]:
    """Return the reply as ``model`` and "", or None and what is wrong with it in one line.

    The whole text is read first, then the last complete object in it that validates. Ranges are checked here
    whatever the schema promised, and JSON that was cut off is never completed.
    """
    answer = strip_thinking(text).strip()
    value, trouble = _validate(answer, model)
    if value is not None:
        return value, ""
    for candidate in reversed(list(json_objects(answer))):
        value, nearer = _validate(candidate, model)
        if value is not None:
            return value, ""
        trouble = nearer
    return None, trouble


def holds_json(text: str) -> bool:
    """Return whether the reply at least tried to be a JSON object, so that its schema was applied."""
    return strip_thinking(text).lstrip().startswith("{")


def _validate(text: str, model: type[T]) -> tuple[T | None, str]:
    try:
        return model.model_validate_json(text), ""
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            return None, "the reply is not one complete JSON object"
        return None, f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"


def _without(node: object, keys: frozenset[str]) -> object:
    if isinstance(node, dict):
        # Below "properties" the keys are field names, not schema words.
        return {
            key: {name: _without(item, keys) for name, item in value.items()}
            if key == "properties"
            else _without(value, keys)
            for key, value in node.items()
            if key not in keys
        }
    return [_without(item, keys) for item in node] if isinstance(node, list) else node
