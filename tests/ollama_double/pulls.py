"""What the double says while it fetches a model from its registry: the records of a real pull, from where it was."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from tests.ollama_double.models import ModelInfo
from tests.ollama_double.replies import Dropped

STEPS = 10
UNKNOWN = "pull model manifest: file does not exist"


def pull_lines(name: str, info: ModelInfo, downloaded: dict[str, int], act: Dropped | None) -> Iterator[bytes]:
    """The stream of a pull that goes on where ``downloaded`` (bytes by digest) is; ``act`` ends it early."""
    digest = f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"
    yield _line({"status": "pulling manifest"})
    begun, limit = downloaded.get(digest, 0), info.size if act is None else int(info.size * act.share)
    for step in range(STEPS + 1):
        completed = begun + max(0, limit - begun) * step // STEPS
        downloaded[digest] = max(begun, completed)
        part = {"status": f"pulling {digest[7:19]}", "digest": digest, "total": info.size}
        yield _line(part | ({"completed": completed} if completed else {}))
    if act is not None:
        yield from _early_end(act)
        return
    for word in ("verifying sha256 digest", "writing manifest", "success"):
        yield _line({"status": word})


def _early_end(act: Dropped) -> Iterator[bytes]:
    if act.end == "error":
        yield _line({"error": act.error})
    elif act.end == "half_json":
        yield _line({"status": "pulling manifest"})[:12]


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
