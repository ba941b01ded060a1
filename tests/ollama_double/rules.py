"""What the real server refuses, and in which words (docs/ollama.md), as pure functions of the request body."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.ollama_double.models import ModelInfo

Refusal = tuple[int, str]

GO_DURATION = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)([\d.]+(ns|us|µs|ms|s|m|h))*|0")
INTEGERS = (
    "num_ctx",
    "num_predict",
    "num_keep",
    "num_batch",
    "num_gpu",
    "num_thread",
    "repeat_last_n",
    "seed",
    "top_k",
)
FLOATS = ("temperature", "top_p", "min_p", "repeat_penalty", "presence_penalty", "frequency_penalty")
THINK_LEVELS = ("high", "medium", "low")
JSON_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
UNUSABLE_SCHEMA = "invalid JSON schema in format"
RUNNER_DIED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 5


def refusal(name: str, model: ModelInfo, body: dict[str, Any]) -> Refusal | None:
    """Status and words of the refusal that a chat with this body earns, if any."""
    think = body.get("think")
    if isinstance(think, str) and think not in THINK_LEVELS:
        return 400, f'invalid think value: "{think}" (must be "high", "medium", "low", true, or false)'
    if think and "thinking" not in model.capabilities:
        return 400, f'"{name}" does not support thinking'
    if not body.get("messages"):
        return None
    return (
        option_refusal(body.get("options") or {}) or format_refusal(body.get("format")) or length_refusal(model, body)
    )


def keep_alive_refusal(value: object) -> Refusal | None:
    """A text that is no duration of Go is refused while the body is decoded, before the model is looked up."""
    if not isinstance(value, str) or GO_DURATION.fullmatch(value):
        return None
    number = re.match(r"[+-]?(\d+(\.\d*)?)", value)
    if number is not None and number.end() == len(value):
        return 400, f'time: missing unit in duration "{value}"'
    if number is not None:
        return 400, f'time: unknown unit "{value[number.end() :]}" in duration "{value}"'
    return 400, f'time: invalid duration "{value}"'


def option_refusal(options: dict[str, Any]) -> Refusal | None:
    """An option of a wrong type is the server's fault (500), an unknown one is nobody's."""
    for names, kind in ((INTEGERS, "integer"), (FLOATS, "float32")):
        for name in names:
            value = options.get(name, 0)
            if isinstance(value, bool) or not isinstance(value, int | float | None):
                return 500, f'option "{name}" must be of type {kind}'
    if not isinstance(options.get("stop"), list | None):
        return 500, 'option "stop" must be of type array'
    return None


def format_refusal(wanted: object) -> Refusal | None:
    """Neither "json" nor a schema, or a schema that no grammar can be made of."""
    if wanted in (None, "", "json"):
        return None
    if not isinstance(wanted, dict):
        quoted = json.dumps(json.dumps(wanted))
        return 500, f'invalid format: {quoted}; expected "json" or a valid JSON Schema object'
    words = [word for word in map(_schema_fault, _nodes(wanted)) if word]
    return (500, words[0]) if words else None


def length_refusal(model: ModelInfo, body: dict[str, Any]) -> Refusal | None:
    """Only ``truncate: false`` makes a prompt that is too long an error."""
    if body.get("truncate", True) or prompt_tokens(body) <= window_of(model, body):
        return None
    return 400, "the input length exceeds the context length"


def prompt_tokens(body: dict[str, Any]) -> int:
    """An estimate of what the prompt of a chat costs."""
    return sum(
        TOKENS_PER_MESSAGE + -(-len(message.get("content") or "") // CHARACTERS_PER_TOKEN)
        for message in body.get("messages") or []
    )


def window_of(model: ModelInfo, body: dict[str, Any]) -> int:
    """The window, in tokens, that this request is served with."""
    return model.window((body.get("options") or {}).get("num_ctx"))


def _nodes(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for child in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _nodes(child)


def _schema_fault(node: dict[str, Any]) -> str:
    """A property of that name is no keyword: its value is then a schema, not a text."""
    kind, pattern = node.get("type"), node.get("pattern")
    if isinstance(kind, str) and kind not in JSON_TYPES:
        return UNUSABLE_SCHEMA
    if not isinstance(pattern, str):
        return ""
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return UNUSABLE_SCHEMA
    return RUNNER_DIED if "\\" in pattern else ""
