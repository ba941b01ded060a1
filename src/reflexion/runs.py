"""The record of a run in ``.reflexion/`` of the output folder: written, found and read again.

The folder is readable by its owner alone, since drafts hold source text.
"""

import contextlib
import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from reflexion import __version__
from reflexion.config import Role
from reflexion.errors import InputError, ReflexionError
from reflexion.ollama.reply import Binding
from reflexion.patterns import regex
from reflexion.wording import advice_on

if TYPE_CHECKING:
    from reflexion.outcome import Result

RECORD_FOLDER = ".reflexion"
RECORD_VERSION = 2
# Bytes of a name that are no text become escapes that JSON reads back, so a command can be given once more.
_ODD_BYTES = "backslashreplace"
_RUN_NAME = regex(r"\d{8}-\d{6}-[0-9a-f]{6}\.jsonl?")


def new_run_id(now: datetime) -> str:
    """Return an id that sorts by time, to the microsecond, and does not collide: ``20260102-030405-1a2b3c``."""
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond * 16 + secrets.randbelow(16):06x}"


class RunRecord:
    """What happened in a run, file by file. ``folder`` None keeps nothing (the page went to standard output).

    While the run goes on, each file is one line of ``RUN.jsonl``, on disk as soon as it is done; ``finish`` makes
    ``RUN.json`` of them. Neither grows in memory. Its methods may be called from several threads.
    """

    def __init__(
        self,
        folder: Path | None,
        settings: Mapping[str, Any],
        bindings: Mapping[Role, Binding],
        arguments: Sequence[str] = (),
        pipeline: str = "docs",
    ) -> None:
        now = datetime.now(UTC)
        self.run_id = new_run_id(now)
        self.path = folder / RECORD_FOLDER / f"{self.run_id}.json" if folder else None
        self._lock = threading.Lock()
        self._has_files = False
        self._finished = False
        self._end = 0
        self._head: dict[str, Any] = {
            "record_version": RECORD_VERSION,
            "reflexion": __version__,
            "run": self.run_id,
            "started": now.isoformat(timespec="seconds"),
            "process": os.getpid(),
            "pipeline": pipeline,
            "arguments": list(arguments),
            "begun_in": _working_folder(folder) if folder else "",
            "settings": dict(settings),
            "models": {
                role.value: {"model": item.model, "digest": item.digest, "window": item.window}
                for role, item in bindings.items()
            },
        }

    def begin(self) -> None:
        """Note that the run has begun, so that it is known even when it is killed before its first file is done."""
        if self.path is not None:
            with self._lock, _told_as_input_error(self.path):
                self._append(_journal(self.path), [self._head])

    def add(self, entry: Mapping[str, Any]) -> None:
        """Append one file's entry; it is on disk when this returns. Raises InputError when it cannot be written.

        After ``finish`` nothing is added: a call that still ended while the run was stopped at once is told to nobody.
        """
        if self.path is None:
            return
        with self._lock, _told_as_input_error(self.path):
            if not self._finished:
                self._append(_journal(self.path), [entry])
                self._has_files = True

    def _append(self, path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
        with _open_private(path) as file:
            if os.fstat(file.fileno()).st_size < self._end:  # Somebody took the folder away meanwhile.
                self._end, entries = 0, [self._head, *entries]
            # Half a line that a full disk left is written over.
            file.truncate(self._end)
            file.seek(self._end)
            data = "".join(f"{_line(entry)}\n" for entry in entries).encode("utf-8", errors=_ODD_BYTES)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._end += len(data)

    def finish(self, exit_code: int, *, loads: int = 0) -> None:
        """Write the record whole. Raises InputError when it cannot be written. A run without any file leaves none."""
        if self.path is None:
            return
        with self._lock:
            self._finished = True
        if not self._has_files and exit_code in (0, 1, 2):
            _journal(self.path).unlink(missing_ok=True)
            return
        tail = {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "exit_code": exit_code,
            "loads": loads,
        }
        with self._lock, _told_as_input_error(self.path):
            temporary = self.path.with_suffix(f".{os.getpid()}.part")
            try:
                with _open_private(temporary, os.O_TRUNC) as file:
                    _write_whole(file, _journal(self.path), tail)
                temporary.replace(self.path)
            finally:
                temporary.unlink(missing_ok=True)
            _journal(self.path).unlink()


def read_record(path: Path) -> dict[str, Any]:
    """Return a record, ``RUN.json`` of a run that ended or ``RUN.jsonl`` of one that did not (no ``finished`` then).

    Raises InputError for one that cannot be read, is broken, or was written by a newer version.
    """
    try:
        text = path.read_text(encoding="utf-8")
        record: dict[str, Any] = _from_journal(text) if path.suffix == ".jsonl" else json.loads(text)
        version = int(record["record_version"])
        if not all(isinstance(entry, dict) for entry in record.get("files", [])):
            raise TypeError("a file's entry is no object")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise InputError(f"{path}: is not a record of a run; remove it") from error
    if version > RECORD_VERSION:
        raise InputError(f"{path}: was written by a newer reflexion (record version {version}); use that one")
    return record


def find_records(folder: Path) -> list[Path]:
    """Return the records of an output folder, one a run, the oldest first.

    A kill can leave a journal beside the record that was just made of it, and one without a whole line of a run that
    had not begun.
    """
    kept = folder / RECORD_FOLDER
    found = {path for path in kept.glob("*.json*") if _RUN_NAME.fullmatch(path.name)}
    journals = {path for path in found if path.suffix == ".jsonl"}
    left_over = {path for path in journals if path.with_suffix(".json") in found or not _has_line(path)}
    return sorted(found - left_over)


def _has_line(journal: Path) -> bool:
    try:
        with journal.open("rb") as lines:
            return next(lines, b"").endswith(b"\n")
    except OSError:
        return True  # That it cannot be read is told to whoever reads it.


def no_run_in(folder: Path) -> str:
    """Say that a folder has no run, and which folders in it have: a single task has a folder of its own."""
    if not folder.is_dir():
        return f"{folder}: no such folder; name the output folder of a run with --output"
    below = sorted(path.as_posix() for path in folder.iterdir() if path.is_dir() and find_records(path))
    if not below:
        return f"{folder}: no run in it; name the output folder of the run with --output"
    more = f", and {len(below) - 3} more" if len(below) > 3 else ""
    return f"{folder}: no run in it, but in {', '.join(below[:3])}{more}; name one with --output"


class Unfinished(NamedTuple):
    """A run to take up: its command line, and the working folder that it was given in.

    The folder is None where the record does not say it, as those of earlier versions do not.
    """

    arguments: list[str]
    begun_in: Path | None


def unfinished_run(folder: Path) -> Unfinished:
    """Return the latest run of a folder, which did not come to its end.

    Raises InputError when there is none: no run at all, or the latest one is complete.
    """
    records = find_records(folder)
    if not records:
        raise InputError(no_run_in(folder))
    latest = read_record(records[-1])
    arguments = latest.get("arguments")
    if latest.get("exit_code") in (0, 1) or not arguments:
        raise InputError(f"{folder}: its latest run came to its end; there is nothing to take up")
    begun_in = str(latest.get("begun_in") or "")
    return Unfinished([str(argument) for argument in arguments], (folder / begun_in).resolve() if begun_in else None)


def _working_folder(output: Path) -> str:
    """Return the working folder: from the output folder, where that lies in it, since both may be moved together."""
    try:
        here, there = Path.cwd().resolve(), output.resolve()
    except OSError:  # Somebody removed it; with full paths a run goes on all the same.
        return ""
    return os.path.relpath(here, there) if there.is_relative_to(here) else str(here)


def _from_journal(text: str) -> dict[str, Any]:
    whole: list[dict[str, Any]] = [
        json.loads(line) for line in text.split("\n")[:-1]
    ]  # A line that was cut by a kill has no end.
    return whole[0] | {"files": whole[1:]}


def _journal(path: Path) -> Path:
    return path.with_suffix(".jsonl")


def _line(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False)


@contextlib.contextmanager
def _told_as_input_error(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        yield
    except OSError as error:
        raise InputError(f"{path}: the record cannot be written: {error.strerror}{advice_on(error)}") from error


def _open_private(path: Path, flags: int = 0) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600), "wb")


def _write_whole(file: IO[bytes], journal: Path, tail: Mapping[str, Any]) -> None:
    """Write the journal's lines as one JSON object, a line at a time, so that nothing large is ever in memory."""
    with journal.open("rb") as lines:
        head = json.loads(next(lines)) | dict(tail)
        file.write(
            json.dumps(head, ensure_ascii=False, indent=1).encode(errors=_ODD_BYTES).rstrip(b"\n}") + b',\n "files": ['
        )
        for number, line in enumerate(lines):
            file.write((b",\n  " if number else b"\n  ") + line.rstrip(b"\n"))
        file.write(b"\n ]\n}\n")
    file.flush()
    os.fsync(file.fileno())


def entry_of(source: str, output: str, result: "Result") -> dict[str, Any]:
    """Return a file's entry: outcome, every round with its sub-scores, fix, draft and calls, and the adjudication.

    Beside it stand what code mended, line by line, and what the shipped page's examples showed.
    """
    return {
        "source": source,
        "outcome": result.outcome,
        "output": output,
        "score": result.score,
        "stop": result.stop,
        "adjudication": result.adjudication,
        "repaired": bool(result.mended),
        "mended": list(result.mended),
        "assembled": result.assembled,
        "examples": asdict(result.examples) if result.examples else None,
        "findings": [asdict(finding) for finding in result.findings],
        "rounds": list(result.rounds),
        "calls": [call._asdict() for call in result.calls],
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
