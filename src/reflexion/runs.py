"""The record of a run: one JSON file in ``.reflexion/`` of the output folder, rewritten whole as each file ends.

The folder is readable by its owner alone, since drafts hold source text.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reflexion import __version__
from reflexion.config import Role
from reflexion.ollama.reply import Binding
from reflexion.pages import write_atomically

if TYPE_CHECKING:
    from reflexion.pipelines.docs import Result

RECORD_FOLDER = ".reflexion"
RECORD_VERSION = 1


def new_run_id(now: datetime) -> str:
    """Return an id that sorts by time and does not collide: ``20260102-030405-1a2b3c``."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


class RunRecord:
    """What happened in a run, file by file. ``folder`` None keeps nothing (the page went to standard output)."""

    def __init__(self, folder: Path | None, settings: Mapping[str, Any], bindings: Mapping[Role, Binding]) -> None:
        now = datetime.now(UTC)
        self.run_id = new_run_id(now)
        self.path = folder / RECORD_FOLDER / f"{self.run_id}.json" if folder else None
        self._content: dict[str, Any] = {
            "record_version": RECORD_VERSION,
            "reflexion": __version__,
            "run": self.run_id,
            "started": now.isoformat(timespec="seconds"),
            "settings": dict(settings),
            "models": {
                role.value: {"model": item.model, "digest": item.digest, "window": item.window}
                for role, item in bindings.items()
            },
            "files": [],
        }

    def add(self, entry: Mapping[str, Any]) -> None:
        """Append one file's entry and write the record."""
        self._content["files"].append(dict(entry))
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.chmod(0o700)
        text = json.dumps(self._content, indent=1, ensure_ascii=False)
        write_atomically(self.path, text.encode("utf-8", errors="replace"), mode=0o600)


def entry_of(
    source: str, outcome: str, output: str, error: str, result: "Result | None", seconds: float
) -> dict[str, Any]:
    """Return a file's entry: outcome, every round with its sub-scores, fix, draft and calls, and the adjudication."""
    entry: dict[str, Any] = {"source": source, "outcome": outcome, "output": output, "seconds": round(seconds, 3)}
    if error:
        entry["error"] = error
    if result is not None:
        entry |= {
            "score": result.score,
            "stop": result.stop,
            "adjudication": result.adjudication,
            "findings": [asdict(finding) for finding in result.findings],
            "rounds": list(result.rounds),
            "calls": [asdict(call) for call in result.calls],
        }
    return entry
