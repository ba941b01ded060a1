"""What the double notes of each request, and how it names things."""

import time
from dataclasses import dataclass, field
from typing import Any


class ScriptExhausted(AssertionError):
    """A model was asked once more than its script has replies."""


@dataclass
class Request:
    """One request as it came: ``body`` parsed (None when it is no JSON), header names in lower case,
    ``at`` and ``ended_at`` in seconds of `time.monotonic`; ``hung_up`` when the client left before the end.
    """

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Any
    at: float = field(default_factory=time.monotonic)
    ended_at: float | None = None
    hung_up: bool = False


def full_name(name: str) -> str:
    """A model's name with its tag: none means ``:latest``."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"
