"""The folder of a result: solution, tests, report and run.json; what may be replaced, and writes that are whole.

``run.json`` holds the digests of the files beside it and of itself, so that an edit is seen. It is written first, with
the old digests beside the new ones, and once more at the end: a kill in between leaves files that are known as ours.
"""

import json
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from reflexion.errors import InputError
from reflexion.pages import TEMPORARY_SUFFIX, write_atomically
from reflexion.runs import RECORD_FOLDER

SOLUTION, TESTS, REPORT, RUN = "solution.py", "test_solution.py", "report.md", "run.json"
OURS = (SOLUTION, TESTS, REPORT, RUN)
# Where a result goes that must not replace a verified one.
DRAFT_FOLDER = "draft"
# What running the tests there leaves, and what is ours under another name.
_PASSED_OVER = frozenset({"__pycache__", ".pytest_cache", RECORD_FOLDER, DRAFT_FOLDER})


class Held(NamedTuple):
    """What a folder holds: run.json where it is ours and unedited, and the names of files that are not ours."""

    run: Mapping[str, Any] | None
    strange: tuple[str, ...]


def look(folder: Path) -> Held:
    """Say what a folder holds. Raises InputError where it cannot be read, or is no folder."""
    if not folder.exists():
        return Held(None, ())
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; name a folder for the result")
    try:
        run = _read_run(folder / RUN)
        files = run["files"] if run else {}
        strange = [
            path.name
            for path in sorted(folder.iterdir())
            if path.name not in _PASSED_OVER and not path.name.endswith(TEMPORARY_SUFFIX) and not _is_ours(path, files)
        ]
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from error
    return Held(run, tuple(strange))


def check(folder: Path, *, overwrite: bool) -> None:
    """Raise InputError when a result could not, or must not, be written into ``folder``. Creates nothing."""
    for one in (folder, folder / DRAFT_FOLDER):
        held = look(one)
        if held.strange and not overwrite:
            raise InputError(f"{one / held.strange[0]}: {_why_strange(held)}")
        for name in OURS:
            if (one / name).is_dir():
                raise InputError(f"{one / name}: is a folder; name another output")
    above = folder
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir():
        raise InputError(f"{folder}: cannot be written: {above} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error


def _why_strange(held: Held) -> str:
    """Say what is wrong with the first file that is not as we wrote it: an edit, or somebody else's file."""
    name = held.strange[0]
    if name in OURS or name in (held.run or {}).get("files", ()):
        return "is not as reflexion wrote it; --overwrite replaces what is ours"
    return "is not one of reflexion's files; name another --output, or write beside it with --overwrite"


def destination(folder: Path, outcome: str) -> Path:
    """Return where to write: ``folder``, or below it when it holds a verified result and this one is not."""
    held = look(folder).run
    if outcome != "accepted" and held is not None and held.get("outcome") == "accepted":
        return folder / DRAFT_FOLDER
    return folder


def write(folder: Path, files: Mapping[str, str | bytes], run: Mapping[str, Any]) -> None:
    """Write a result's files and run.json, each whole or not at all; remove those of an earlier result that it does not
    have. A file that was edited since, or is somebody else's, is not removed.

    Raises OSError.
    """
    data = {
        name: content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")
        for name, content in files.items()
    }
    digests = {name: [_digest(_plain(content))] for name, content in data.items()}
    held = look(folder)
    strange = set(held.strange)
    known = {*OURS, *((held.run or {}).get("files", ()))} - {RUN}
    before = {name: [_digest(_plain((folder / name).read_bytes()))] for name in known if (folder / name).is_file()}
    both = {name: digests.get(name, []) + before.get(name, []) for name in {*digests, *before}}
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / RUN, _run_json(run, both))
    for name, content in data.items():
        write_atomically(folder / name, content)
    for name in before.keys() - data.keys() - strange:
        (folder / name).unlink(missing_ok=True)
    write_atomically(folder / RUN, _run_json(run, digests))


def _run_json(run: Mapping[str, Any], digests: Mapping[str, list[str]]) -> bytes:
    content = {**run, "files": dict(sorted(digests.items()))}
    content["sha256"] = _own_digest(content)
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8", errors="replace")


def _read_run(path: Path) -> Mapping[str, Any] | None:
    """Return run.json where we wrote it and nobody edited it since."""
    try:
        content = json.loads(path.read_bytes())
        ours = isinstance(content["files"], dict) and content["sha256"] == _own_digest(content)
    except (FileNotFoundError, IsADirectoryError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return content if ours else None


def _own_digest(content: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in content.items() if key != "sha256"}
    return _digest(json.dumps(plain, sort_keys=True).encode())


def _is_ours(path: Path, files: Mapping[str, Any]) -> bool:
    if path.name == RUN:
        return bool(files)
    known = files.get(path.name)
    return isinstance(known, list) and path.is_file() and _digest(_plain(path.read_bytes())) in known


def _plain(data: bytes) -> bytes:
    """Return a file's bytes as they are compared: a checkout may have given it other line ends, which is no edit."""
    return data.replace(b"\r\n", b"\n")


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
