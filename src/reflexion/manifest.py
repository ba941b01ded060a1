"""The manifest: from what each page was made, so that what did not change is skipped.

It is ``.reflexion/manifest.json`` in the output folder, mode 0600. Rewriting it for each page of a large folder would
take longer with every page, so a finished page is first one line of ``manifest.journal`` beside it, on disk before
``record`` returns; ``save`` folds the lines into the manifest. A kill anywhere loses nothing but a line half written.
"""

import hashlib
import json
import os
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from reflexion import __version__
from reflexion.config import Config, Role
from reflexion.errors import InputError
from reflexion.ollama.names import full_name
from reflexion.ollama.reply import Binding
from reflexion.pages import draft_path, write_atomically
from reflexion.runs import RECORD_FOLDER

MANIFEST_VERSION = 1
MANIFEST_NAME = "manifest.json"
JOURNAL_NAME = "manifest.journal"
# What an unchanged source is skipped for, unless the caller says otherwise.
SKIPPED = frozenset({"accepted", "not accepted"})


def outcomes_to_skip(*, force: bool, retry: bool) -> frozenset[str]:
    """Return the outcomes for which an unchanged source is left out: none with ``force``, the good with ``retry``."""
    if force:
        return frozenset()
    return frozenset({"accepted"}) if retry else SKIPPED


class Basis(BaseModel):
    """All that a page depends on. Each is a SHA-256 in hex but ``version``, which is reflexion's own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    source: str
    settings: str
    prompts: str
    models: str
    version: str = __version__


class Entry(BaseModel):
    """What became of one source: its page's path in the output folder, with slashes, and the page's digest."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    basis: Basis
    outcome: str
    page: str
    page_sha256: str


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    manifest_version: int
    sources: dict[str, Entry]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    manifest_version: int
    source: str
    entry: Entry | None


_Model = TypeVar("_Model", bound=BaseModel)


class Manifest:
    """The manifest of an output folder. Its methods may be called from several threads."""

    def __init__(self, output: Path) -> None:
        """Read what there is. Raises InputError when it is of a newer version, is broken or cannot be read."""
        self._output = output
        self._lock = threading.Lock()
        self.path = output / RECORD_FOLDER / MANIFEST_NAME
        self.journal = output / RECORD_FOLDER / JOURNAL_NAME
        self._sources = _read_manifest(self.path)
        self._end = self._replay()

    def entry(self, source: str) -> Entry | None:
        """Return what became of a source, by its path in the walked folder."""
        return self._sources.get(source)

    def entries(self) -> list[tuple[str, Entry]]:
        """Return every source that is known, with what became of it."""
        return list(self._sources.items())

    def why_anew(self, source: str, basis: Basis, page: Path, skipped: Collection[str] = SKIPPED) -> str:
        """Return why a source's page must be made anew, in a few words, or "" where it is unchanged.

        ``page`` is where it would go, relative to the output folder; its draft beside it counts as well. A page that a
        person edited is still there, so it is left alone. ``skipped`` are the outcomes that need not be tried again.
        """
        entry = self._sources.get(source)
        if entry is None:
            return "new"
        for key, word in _WORDS.items():
            if getattr(entry.basis, key) != getattr(basis, key):
                return word
        if entry.outcome not in skipped:
            return f"{entry.outcome} the last time"
        if entry.page not in (page.as_posix(), draft_path(page).as_posix()):
            return "its page has another name now"
        return "" if (self._output / entry.page).is_file() else "its page is gone"

    def is_unchanged(self, source: str, basis: Basis, page: Path, skipped: Collection[str] = SKIPPED) -> bool:
        """Return whether everything that the page was made from is as it was, and the page is still there."""
        return not self.why_anew(source, basis, page, skipped)

    def record(self, source: str, basis: Basis, outcome: str, page: Path, text: str) -> None:
        """Note a page that is on disk: ``page`` relative to the output folder, ``text`` as it was written.

        It is on disk itself when this returns. Raises InputError when it cannot be written.
        """
        data = text.encode("utf-8", errors="replace")
        entry = Entry(basis=basis, outcome=outcome, page=page.as_posix(), page_sha256=hashlib.sha256(data).hexdigest())
        self._put(source, entry)

    def forget(self, source: str) -> None:
        """Drop what is known of a source, so that it is made anew."""
        if source in self._sources:
            self._put(source, None)

    def save(self) -> None:
        """Write the manifest whole, and end the journal. Raises InputError when it cannot be written."""
        with self._lock:
            content = {
                "manifest_version": MANIFEST_VERSION,
                "sources": {source: self._sources[source].model_dump() for source in sorted(self._sources)},
            }
            # All but ASCII is escaped: the names of files can hold bytes that are no text.
            data = f"{json.dumps(content, indent=1)}\n".encode()
            try:
                self._make_folder()
                write_atomically(self.path, data, mode=0o600)
                # Killed here, the journal says again what the manifest holds, which changes nothing.
                self.journal.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written: {error.strerror}") from error
            self._end = 0

    def _put(self, source: str, entry: Entry | None) -> None:
        line = {
            "manifest_version": MANIFEST_VERSION,
            "source": source,
            "entry": entry.model_dump() if entry else None,
        }
        with self._lock:
            try:
                self._make_folder()
                self._append(f"{json.dumps(line)}\n".encode())
            except OSError as error:
                raise InputError(f"{self.journal}: cannot be written: {error.strerror}") from error
            _apply(self._sources, source, entry)

    def _append(self, data: bytes) -> None:
        descriptor = os.open(self.journal, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            # Half a line that a kill left, or that this write leaves when it fails, is written over.
            file.truncate(self._end)
            file.seek(self._end)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._end += len(data)

    def _make_folder(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.chmod(0o700)

    def _replay(self) -> int:
        """Take over the journal's whole lines; return where they end, in bytes."""
        data = _read(self.journal) or b""
        end = data.rfind(b"\n") + 1
        for number, raw in enumerate(data[:end].splitlines(), start=1):
            line = _validated(_Line, raw, f"{self.journal}: line {number}", self.journal)
            _apply(self._sources, line.source, line.entry)
        return end


_WORDS: Mapping[str, str] = {
    "source": "the source changed",
    "settings": "the settings changed",
    "prompts": "the prompts changed",
    "models": "the models changed",
    "version": "reflexion is another version",
}


# Settings that only one pipeline reads.
_SETTINGS_OF: Mapping[str, frozenset[str]] = {
    "docs": frozenset({"quality_score_bar", "max_attempts", "critic", "rules"}),
    "code": frozenset({"max_debug_iterations", "code"}),
}


def settings_digest(config: Config, pipeline: str = "docs") -> str:
    """Return the digest of the settings that a result of a pipeline depends on.

    All of them count but those of other pipelines and of the server (where it is and how long to wait), and paths:
    the prompts have a digest of their own, and the sandbox's interpreter is one of this machine.
    """
    others = set().union(*(keys for name, keys in _SETTINGS_OF.items() if name != pipeline))
    left_out: dict[str, Any] = dict.fromkeys((*others, "server", "prompts", "roles", "model_registry"), True)
    content = config.model_dump(mode="json", exclude={**left_out, "sandbox": {"python"}})
    roles = config.roles_of(pipeline)
    content["roles"] = {role.value: config.settings(role).model_dump(mode="json") for role in roles}
    content["model_registry"] = {role.value: full_name(config.model(role)) for role in roles}
    if pipeline == "docs":
        content["rules"]["off"] = sorted(set(content["rules"]["off"]))
    return _digest(content)


def prompts_digest(words: Mapping[str, Mapping[str, str]]) -> str:
    """Return the digest of a pipeline's words (``Prompts.words``), wherever they came from."""
    return _digest({role: dict(texts) for role, texts in words.items()})


def models_digest(bindings: Mapping[Role, Binding]) -> str:
    """Return the digest of what models the roles are bound to, by the server's digests and the windows in tokens.

    A server that reports no digest leaves the name.
    """
    return _digest({role.value: [item.digest or full_name(item.model), item.window] for role, item in bindings.items()})


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _apply(sources: dict[str, Entry], source: str, entry: Entry | None) -> None:
    if entry is None:
        sources.pop(source, None)
    else:
        sources[source] = entry


def _read_manifest(path: Path) -> dict[str, Entry]:
    data = _read(path)
    return {} if data is None else dict(_validated(_Content, data, str(path), path).sources)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _validated(model: type[_Model], data: bytes, where: str, path: Path) -> _Model:
    try:
        content = json.loads(data)
        version = content["manifest_version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(where, path) from error
    if type(version) is int and version > MANIFEST_VERSION:
        raise InputError(
            f"{where}: written by a newer reflexion (version {version}, this one reads {MANIFEST_VERSION});"
            f" update reflexion, or delete {path}, which makes every page anew"
        )
    try:
        if version != MANIFEST_VERSION:
            raise _broken(where, path)
        return model.model_validate(content)
    except ValidationError as error:
        raise _broken(where, path) from error


def _broken(where: str, path: Path) -> InputError:
    return InputError(f"{where}: is broken; delete {path}, which makes the pages that it names anew")
