"""Reads the values of a record, whatever they are: a record may be older, newer or edited by hand."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

LARGEST = 1e15


def text(value: object) -> str:
    """Return a string as it is, None as "", and anything else as JSON does, with numbers that are numbers."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{number(value):.15g}"
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return "(unreadable)"


def number(value: object) -> float:
    """Return a number that can be drawn: 0 for what is none or not finite, and at most 1e15 either way."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    if isinstance(value, float) and not math.isfinite(value):
        return 0.0
    return float(max(-LARGEST, min(LARGEST, value)))


def score(value: object) -> float | None:
    """Return a score between 0 and 100, or None for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return max(0.0, min(100.0, number(value)))


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list | tuple) else ()


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings of a list; what else is in it is left out."""
    return [item for item in sequence(value) if isinstance(item, Mapping)]


def clipped(value: object, limit: int) -> str:
    """Return `text` of a value, at most ``limit`` characters of it, and how many more there are."""
    whole = text(value)
    if len(whole) <= limit:
        return whole
    return f"{whole[:limit]} … (and {len(whole) - limit:,} more characters)"
