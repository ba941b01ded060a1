"""What a server says while it fetches a model, and what its refusals mean."""

import json
import re
from typing import Any, NamedTuple

from reflexion.errors import PullBroken, ServerError
from reflexion.ollama.faults import not_ollama
from reflexion.patterns import regex

SHOWN = 200
BUSY = (429, 502, 503, 504)
# Said of the way to the registry in the middle of a download; the server goes on with the same part when asked again.
_PASSING = regex(
    r"max retries exceeded|\bEOF\b|connection reset|broken pipe|TLS handshake timeout|context deadline exceeded"
    r"|too many requests|\b(429|500|502|503|504)\b|digest mismatch",
    re.IGNORECASE,
)
_UNKNOWN = regex(r"file does not exist|manifest unknown|not found|invalid model name|access denied", re.IGNORECASE)
_OFFLINE = regex(r"dial tcp|no such host|network is unreachable|no route to host|connection refused", re.IGNORECASE)
_FULL = regex(r"no space left|disk quota|not enough (disk )?space", re.IGNORECASE)


class PullRecord(NamedTuple):
    """One record of a pull. ``total`` and ``completed`` are bytes of the part named by ``digest``, 0 where not said."""

    status: str
    digest: str = ""
    total: int = 0
    completed: int = 0
    error: str = ""

    @property
    def done(self) -> bool:
        """Whether the server has the whole model now."""
        return self.status == "success" and not self.error


def read_record(line: str) -> PullRecord | None:
    """Return one line of the stream as a record, None where it is none. No line raises."""
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(item, dict) or not any(isinstance(item.get(key), str) for key in ("status", "error")):
        return None
    total = _bytes(item, "total")
    completed = _bytes(item, "completed")
    return PullRecord(
        _text(item, "status"), _text(item, "digest"), total, min(completed, total) if total else 0, _text(item, "error")
    )


def required_record(line: str, name: str, url: str) -> PullRecord:
    """Return a line of the stream as a record that is no error.

    Raises NotOllama for what is no record, PullBroken and ServerError for an error, see ``refused``.
    """
    record = read_record(line)
    if record is None:
        # Half a record is what a broken connection leaves.
        if line.lstrip().startswith("{"):
            raise PullBroken(f"{name}: a record of the pull was cut in the middle")
        raise not_ollama(url, line[:SHOWN])
    if record.error:
        raise refused(name, record.error)
    return record


def refused(name: str, text: str, status: int = 500) -> ServerError:
    """Return the server's words about a pull as an error in one line: what it means, and what to do."""
    said = " ".join(text.split())
    said = said if len(said) <= SHOWN else f"{said[: SHOWN - 3]}..."
    if _FULL.search(text):
        return ServerError(f"{name}: the server's disk is full ({said}); make room and pull again")
    if _PASSING.search(text) or status in BUSY:
        return PullBroken(f"{name}: the pull was broken off ({said})")
    if _OFFLINE.search(text):
        return ServerError(f"{name}: the server cannot reach its registry ({said}); check the network and pull again")
    if _UNKNOWN.search(text):
        return ServerError(f"{name}: the registry has no such model ({said}); check the name in model_registry")
    return ServerError(f"{name}: the server cannot pull it ({said})")


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _bytes(item: dict[str, Any], key: str) -> int:
    value = item.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
