"""Fields, durations, moments and errors as Ollama words them."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")

DEFAULT_KEEP_S = 300.0
LONGEST_KEEP_S = 2**33
# What Go counts in 64 bits of nanoseconds.
LONGEST_DURATION_S = 2**63 / 1e9
DURATION_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION_PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)", re.ASCII)
JSON_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
}


class ApiError(Exception):
    """An answer other than 200. ``status`` is its HTTP code, the text is what the client reads under ``error``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


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
        seconds = float(max(-1, min(value, LONGEST_KEEP_S)))
    else:
        raise ApiError(400, f"Unsupported type: '{_go_type(value)}'")
    return math.inf if seconds < 0 else seconds


def field(body: Mapping[str, object], key: str, kind: type[T], go_type: str, owner: str = "ChatRequest") -> T | None:
    """A field of a request, ``None`` where it is absent or null. ``owner`` is the path to it, from Go's name of the
    request on.

    Raises:
        ApiError: 400 for another type, in the words of Go's decoder.
    """
    value = body.get(key)
    if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
        return value
    raise ApiError(400, f"json: cannot unmarshal {kind_of(value)} into Go struct field {owner}.{key} of type {go_type}")


def timestamp(moment: datetime | None = None) -> str:
    """A moment (now, when none is given) as the server writes it."""
    return (moment or datetime.now(UTC)).isoformat().replace("+00:00", "Z")


def _duration(text: str) -> float:
    sign, digits = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text.removeprefix("+"))
    if digits == "0":
        return 0.0
    total, end = 0.0, 0
    for part in DURATION_PART.finditer(digits):
        if part.start() != end:
            break
        total, end = total + _duration_part(part, text), part.end()
    if end == 0 or end != len(digits) or total >= LONGEST_DURATION_S:
        raise ApiError(400, f'time: invalid duration "{text}"')
    return sign * total


def _duration_part(part: re.Match[str], text: str) -> float:
    number, unit = part.groups()
    if not unit:
        raise ApiError(400, f'time: missing unit in duration "{text}"')
    if unit not in DURATION_UNITS:
        raise ApiError(400, f'time: unknown unit "{unit}" in duration "{text}"')
    return float(number) * DURATION_UNITS[unit]


def kind_of(value: object) -> str:
    """What Go's decoder calls a value."""
    return JSON_KINDS.get(type(value), "null")


def _go_type(value: object) -> str:
    return {bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}.get(type(value), "unknown")
