"""Requests and answers as Ollama words them: parsing, types, durations, options and the errors."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

DEFAULT_KEEP_S = 300.0
DEFAULT_WINDOW = 4096
SMALLEST_WINDOW = 4
ROLES = ("system", "user", "assistant", "tool")
DURATION_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION_PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)")
JSON_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
}
OPTION_TYPES: Mapping[str, str] = {
    **dict.fromkeys(
        ["num_ctx", "num_batch", "num_gpu", "main_gpu", "num_thread", "num_keep", "seed", "num_predict", "top_k"],
        "integer",
    ),
    "repeat_last_n": "integer",
    **dict.fromkeys(["top_p", "min_p", "typical_p", "temperature"], "float32"),
    **dict.fromkeys(["repeat_penalty", "presence_penalty", "frequency_penalty"], "float32"),
    "use_mmap": "boolean",
    "stop": "array",
}
OPTION_DEFAULTS: Mapping[str, Any] = {
    "num_ctx": DEFAULT_WINDOW,
    "num_keep": 4,
    "num_predict": -1,
    "seed": -1,
    "temperature": 0.8,
    "top_k": 40,
    "top_p": 0.9,
    "min_p": 0.0,
    "typical_p": 1.0,
    "repeat_last_n": 64,
    "repeat_penalty": 1.1,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "stop": (),
}


class ApiError(Exception):
    """An answer other than 200. ``status`` is its HTTP code, the text is what the client reads under ``error``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ChatRequest:
    """The body of ``/api/chat``, with its types checked. ``keep_s`` is seconds (``inf``: for ever, ``None``: not said)."""

    model: str
    messages: list[dict[str, str]]
    stream: bool
    format: Any
    options: Mapping[str, Any]
    keep_s: float | None
    thinking: bool
    truncate: bool
    tools: bool


def parse_body(data: bytes) -> dict[str, Any]:
    """The JSON object of a request body.

    Raises:
        ApiError: 400, in the words of Go's decoder.
    """
    if not data.strip():
        raise ApiError(400, "missing request body")
    text = data.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            raise ApiError(400, "unexpected EOF") from error
        raise ApiError(400, f"invalid character {text[error.pos]!r} looking for beginning of value") from error
    except RecursionError as error:
        raise ApiError(400, "exceeded max depth") from error
    if not isinstance(body, dict):
        raise ApiError(400, f"json: cannot unmarshal {_kind(body)} into Go value of type api.ChatRequest")
    return body


def parse_chat(body: Mapping[str, Any]) -> ChatRequest:
    """Check the types of a chat request; options keep their raw values (``parse_options``).

    Raises:
        ApiError: 400 for a wrong type, role, duration or thinking level, or without a model.
    """
    stream, truncate = _field(body, "stream", bool, "bool"), _field(body, "truncate", bool, "bool")
    request = ChatRequest(
        model=_field(body, "model", str, "string") or "",
        messages=[_message(raw) for raw in _field(body, "messages", list, "[]api.Message") or []],
        stream=stream is not False,
        format=body.get("format"),
        options=_field(body, "options", dict, "map[string]interface {}") or {},
        keep_s=parse_keep_alive(body.get("keep_alive")),
        thinking=_thinking(body.get("think")),
        truncate=truncate is not False,
        tools=bool(_field(body, "tools", list, "api.Tools")),
    )
    if not request.model:
        raise ApiError(400, "model is required")
    return request


def model_name(body: Mapping[str, Any]) -> str:
    """The model that a show request asks about, under its present or its older key.

    Raises:
        ApiError: 400 without one.
    """
    name = body.get("model") or body.get("name")
    if not isinstance(name, str) or not name:
        raise ApiError(400, "model is required")
    return name


def parse_keep_alive(value: object) -> float | None:
    """Seconds that a model stays loaded after a call: a number, or a duration as Go writes it.

    Negative means for ever (``inf``); ``None`` when nothing was said.

    Raises:
        ApiError: 400, in the words of Go's parser.
    """
    if value is None:
        return None
    if isinstance(value, str):
        seconds = _duration(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    else:
        raise ApiError(400, f"Unsupported type: '{_go_type(value)}'")
    return math.inf if seconds < 0 else seconds


def parse_options(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Options with Ollama's defaults; unknown names are ignored.

    Raises:
        ApiError: 500 for a value of the wrong type, as Ollama answers.
    """
    options = dict(OPTION_DEFAULTS)
    for name, value in raw.items():
        kind = OPTION_TYPES.get(name)
        if kind is not None and value is not None:
            options[name] = _option(name, kind, value)
    return options


def timestamp(moment: datetime | None = None) -> str:
    """A moment (now, when none is given) as the server writes it."""
    return (moment or datetime.now(UTC)).isoformat().replace("+00:00", "Z")


def _option(name: str, kind: str, value: object) -> Any:
    accepts: Mapping[str, Callable[[Any], bool]] = {
        "integer": _is_number,
        "float32": _is_number,
        "boolean": lambda v: isinstance(v, bool),
        "array": lambda v: isinstance(v, list),
    }
    if not accepts[kind](value):
        raise ApiError(500, f'option "{name}" must be of type {kind}')
    if kind == "array" and not all(isinstance(item, str) for item in value):
        raise ApiError(500, f'option "{name}" must be of an array of strings')
    return int(value) if kind == "integer" else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _message(raw: object) -> dict[str, str]:
    if not isinstance(raw, dict):
        raise ApiError(
            400, f"json: cannot unmarshal {_kind(raw)} into Go struct field ChatRequest.messages of type api.Message"
        )
    role = _field(raw, "role", str, "string", "Message") or ""
    if raw.get("images"):
        raise ApiError(400, "this engine reads no images: send text only")
    if role not in ROLES:
        allowed = ", ".join(f'"{name}"' for name in ROLES)
        raise ApiError(400, f'invalid role: "{role}", must be one of [{allowed}]')
    content = _field(raw, "content", str, "string", "Message") or ""
    # Half a surrogate pair is valid JSON and no valid text; llama.cpp refuses it.
    return {"role": role, "content": content.encode("utf-8", "surrogatepass").decode("utf-8", "replace")}


def _field(body: Mapping[str, Any], key: str, kind: type, go_type: str, owner: str = "ChatRequest") -> Any:
    value = body.get(key)
    if value is not None and not isinstance(value, kind):
        raise ApiError(
            400, f"json: cannot unmarshal {_kind(value)} into Go struct field {owner}.{key} of type {go_type}"
        )
    return value


def _thinking(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    if value in ("high", "medium", "low"):
        return True
    raise ApiError(400, f'invalid think value: "{value}" (must be "high", "medium", "low", true, or false)')


def _duration(text: str) -> float:
    sign, digits = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text.removeprefix("+"))
    if digits == "0":
        return 0.0
    total, end = 0.0, 0
    for part in DURATION_PART.finditer(digits):
        if part.start() != end:
            break
        total, end = total + _duration_part(part, text), part.end()
    if end == 0 or end != len(digits):
        raise ApiError(400, f'time: invalid duration "{text}"')
    return sign * total


def _duration_part(part: re.Match[str], text: str) -> float:
    number, unit = part.groups()
    if not unit:
        raise ApiError(400, f'time: missing unit in duration "{text}"')
    if unit not in DURATION_UNITS:
        raise ApiError(400, f'time: unknown unit "{unit}" in duration "{text}"')
    return float(number) * DURATION_UNITS[unit]


def _kind(value: object) -> str:
    return JSON_KINDS.get(type(value), "null")


def _go_type(value: object) -> str:
    return {bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}.get(type(value), "unknown")
