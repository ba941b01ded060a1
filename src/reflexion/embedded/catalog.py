"""Which models the engine offers: the demo model under its three names, and the GGUF files of a folder."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any

from reflexion.embedded.gguf import Header, read_header
from reflexion.embedded.packages import DEMO_MODELS

SAMPLE_BYTES = 1 << 20


@dataclass(frozen=True)
class Model:
    """One name that can be asked for, and the file behind it."""

    name: str
    path: Path
    size: int
    modified: datetime
    digest: str
    header: Header

    def details(self) -> dict[str, Any]:
        """The ``details`` object of the tags, show and ps answers."""
        family = self.header.architecture
        return {
            "parent_model": "",
            "format": "gguf",
            "family": family,
            "families": [family],
            "parameter_size": _human_count(self.header.parameters),
            "quantization_level": self.header.quantisation,
        }


class Catalog:
    """The models on offer. Files are looked for anew each time, their headers are read once."""

    def __init__(self, demo: Path | None, folder: Path | None) -> None:
        self._demo = demo
        self._folder = folder
        self._headers: dict[Path, tuple[tuple[int, int], tuple[Header, bytes] | None]] = {}

    def models(self) -> list[Model]:
        """Every model whose file can be read, the demo names first, then the folder's by name."""
        named = [(name, self._demo) for name in DEMO_MODELS] if self._demo else []
        every = [*named, *((_name_of(path), path) for path in self._files())]
        return [model for name, path in every if (model := self._model(name, path))]

    def left_out(self) -> list[str]:
        """The names of the folder's files that cannot be read as models."""
        return [path.name for path in self._files() if self._model(_name_of(path), path) is None]

    def find(self, name: str) -> Model | None:
        """The model of that name: without regard to case, ``:latest`` where there is no tag, also with ``.gguf``."""
        wanted = name.lower().removesuffix(".gguf")
        full = wanted if ":" in wanted else f"{wanted}:latest"
        return next((model for model in self.models() if model.name.lower() == full), None)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.gguf")) if self._folder else []

    def _model(self, name: str, path: Path | None) -> Model | None:
        if path is None:
            return None
        try:
            stat = path.stat()
        except OSError:
            return None
        if not S_ISREG(stat.st_mode):  # To open a pipe would wait for its other end.
            return None
        state = (stat.st_size, stat.st_mtime_ns)
        known = self._headers.get(path)
        if known is None or known[0] != state:
            known = self._headers[path] = (state, _read(path, stat.st_size))
        if known[1] is None:
            return None
        header, sample = known[1]
        digest = hashlib.sha256(name.encode() + sample).hexdigest()
        return Model(name, path, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC), digest, header)


def _read(path: Path, size: int) -> tuple[Header, bytes] | None:
    try:
        path.name.encode()  # A name that is no text cannot be asked for.
        return read_header(path), _sample(path, size)
    except (OSError, ValueError):
        return None


def _sample(path: Path, size: int) -> bytes:
    # A hash of the whole file would take half a minute for a large model; its size and both ends tell files apart.
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
        file.seek(max(0, size - SAMPLE_BYTES))
        return hashlib.sha256(str(size).encode() + head + file.read()).digest()


def _name_of(path: Path) -> str:
    return f"{path.stem}:latest"


def _human_count(count: int) -> str:
    for unit, letter in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if count >= unit:
            return f"{count / unit:.2f}".rstrip("0").rstrip(".") + letter
    return str(count)
