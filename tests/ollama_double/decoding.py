"""A request body as Go's decoder reads it: what it refuses, and in which words (docs/ollama.md)."""

import base64
import binascii
import json
import re
from typing import Any

Refusal = tuple[int, str]
Body = dict[str, Any]

STRUCTS = {
    "/api/chat": "ChatRequest",
    "/api/generate": "GenerateRequest",
    "/api/embed": "EmbedRequest",
    "/api/embeddings": "EmbeddingRequest",
    "/api/show": "ShowRequest",
    "/api/pull": "PullRequest",
}
OPTIONS = (dict, "map[string]interface {}")
TEXT, TRUTH, NUMBER = (str, "string"), (bool, "bool"), (int, "int")
FIELDS: dict[str, dict[str, tuple[type, str]]] = {
    "ChatRequest": {
        "model": TEXT,
        "messages": (list, "[]api.Message"),
        "stream": TRUTH,
        "truncate": TRUTH,
        "tools": (list, "api.Tools"),
        "options": OPTIONS,
        "top_logprobs": NUMBER,
    },
    "GenerateRequest": {
        "model": TEXT,
        "prompt": TEXT,
        "suffix": TEXT,
        "system": TEXT,
        "template": TEXT,
        "context": (list, "[]int"),
        "raw": TRUTH,
        "stream": TRUTH,
        "truncate": TRUTH,
        "options": OPTIONS,
        "top_logprobs": NUMBER,
    },
    "EmbedRequest": {"model": TEXT, "truncate": TRUTH, "dimensions": NUMBER, "options": OPTIONS},
    "EmbeddingRequest": {"model": TEXT, "prompt": TEXT, "options": OPTIONS},
    "ShowRequest": {"model": TEXT, "name": TEXT},
    "PullRequest": {"model": TEXT, "name": TEXT},
}
KINDS: dict[type, str] = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
GO_TYPES: dict[type, str] = {bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}
# What Python misses where, in the words in which Go says what it met there.
PLACES = {
    "Expecting property name": "looking for beginning of object key string",
    "Illegal trailing comma": "looking for beginning of object key string",
    "Expecting ',' delimiter": "after object key:value pair",
    "Expecting ':' delimiter": "after object key",
}
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)")
FOR_EVER_S = 2**63 / 1e9
THINK_LEVELS = ("high", "medium", "low")


def decoded(path: str, raw: bytes) -> Body | Refusal:
    """The body of a request for ``path``, or its refusal."""
    if not raw.strip():
        return 400, "missing request body"
    # Bytes that are no text are told as what they are one by one.
    text = raw.decode("utf-8") if _is_text(raw) else raw.decode("latin-1")
    text = text.lstrip()
    try:
        body, _ = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode(text)
    except json.JSONDecodeError as error:
        return 400, _words(text, error)
    except ValueError as error:
        return 400, str(error)
    body = {} if body is None else body
    struct = STRUCTS.get(path, "ChatRequest")
    if not isinstance(body, dict):
        return 400, f"json: cannot unmarshal {KINDS[type(body)]} into Go value of type api.{struct}"
    return _refusal(struct, body) or body


def keep_alive_s(value: object) -> float | None:
    """Seconds that a model stays after its last use; a negative time is infinite, None was not said."""
    if value is None:
        return None
    seconds = _duration_s(value) if isinstance(value, str) else float(str(value))
    return float("inf") if seconds < 0 else seconds


def _refusal(struct: str, body: Body) -> Refusal | None:
    for name, (kind, go_type) in FIELDS[struct].items():
        value = body.get(name)
        if value is not None and type(value) is not kind:
            return (
                400,
                f"json: cannot unmarshal {KINDS[type(value)]} into Go struct field {struct}.{name} of type {go_type}",
            )
    return _message_refusal(body) or _think_refusal(body.get("think")) or _keep_alive_refusal(body.get("keep_alive"))


def _message_refusal(body: Body) -> Refusal | None:
    start = "json: cannot unmarshal"
    for message in body.get("messages") or []:
        if not isinstance(message, dict):
            return 400, f"{start} {KINDS[type(message)]} into Go struct field ChatRequest.messages of type api.Alias"
        content = message.get("content")
        if not isinstance(content, str | None):
            kind = KINDS[type(content)]
            return 400, f"{start} {kind} into Go struct field ChatRequest.messages.content of type string"
        for image in message.get("images") or []:
            try:
                base64.b64decode(image, validate=True)
            except binascii.Error:
                return 400, "illegal base64 data at input byte 0"
    return None


def _think_refusal(think: object) -> Refusal | None:
    if isinstance(think, str) and think not in THINK_LEVELS:
        return 400, f'invalid think value: "{think}" (must be "high", "medium", "low", true, or false)'
    if not isinstance(think, str | bool | None):
        return 400, 'think must be a boolean or string ("high", "medium", "low", true, or false)'
    return None


def _keep_alive_refusal(value: object) -> Refusal | None:
    if type(value) in GO_TYPES:
        return 400, f"Unsupported type: '{GO_TYPES[type(value)]}'"
    try:
        keep_alive_s(value)
    except ValueError as error:
        return 400, str(error)
    return None


def _duration_s(text: str) -> float:
    """A duration as Go reads it; ValueError in its words."""
    digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if digits == "0":
        return 0.0
    seconds, end = 0.0, 0
    for part in PART.finditer(digits):
        number, unit = part.groups()
        if part.start() != end:
            break
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in UNITS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        seconds, end = seconds + float(number) * UNITS[unit], part.end()
    if end == 0 or end != len(digits) or seconds >= FOR_EVER_S:
        raise ValueError(f'time: invalid duration "{text}"')
    return -seconds if text.startswith("-") else seconds


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _refuse_constant(name: str) -> object:
    raise ValueError(f"invalid character '{name[0]}' looking for beginning of value")


def _words(text: str, error: json.JSONDecodeError) -> str:
    at = error.pos
    if error.msg.startswith("Illegal trailing comma"):
        at += 1 + len(text[at + 1 :]) - len(text[at + 1 :].lstrip())
    if at >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "unexpected EOF"
    place = next(
        (words for start, words in PLACES.items() if error.msg.startswith(start)), "looking for beginning of value"
    )
    return f"invalid character '{text[at]}' {place}"
