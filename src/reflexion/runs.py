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
from reflexion.errors import InputError, ReflexionError
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
        """Append one file's entry and write the record. Raises InputError when it cannot be written."""
        self._content["files"].append(dict(entry))
        if self.path is None:
            return
        text = json.dumps(self._content, indent=1, ensure_ascii=False)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.parent.chmod(0o700)
            write_atomically(self.path, text.encode("utf-8", errors="replace"), mode=0o600)
        except OSError as error:
            raise InputError(f"{self.path}: the record cannot be written: {error.strerror}") from error


def entry_of(source: str, outcome: str, output: str, seconds: float, result: "Result") -> dict[str, Any]:
    """Return a file's entry: outcome, every round with its sub-scores, fix, draft and calls, and the adjudication.

    Beside it stand what code mended, line by line, and what the shipped page's examples showed.
    """
    return {
        "source": source,
        "outcome": outcome,
        "output": output,
        "seconds": round(seconds, 3),
        "score": result.score,
        "stop": result.stop,
        "adjudication": result.adjudication,
        "repaired": bool(result.mended),
        "mended": list(result.mended),
        "assembled": result.assembled,
        "examples": asdict(result.examples) if result.examples else None,
        "findings": [asdict(finding) for finding in result.findings],
        "rounds": list(result.rounds),
        "calls": [asdict(call) for call in result.calls],
    }


def failed_entry(source: str, seconds: float, detail: str, error: Exception) -> dict[str, Any]:
    """Return the entry of a file that failed, with the rounds that were finished before."""
    rounds = list(error.rounds) if isinstance(error, ReflexionError) else []
    return {
        "source": source,
        "outcome": "failed",
        "output": "",
        "seconds": round(seconds, 3),
        "error": detail,
        "rounds": rounds,
    }
