"""A module on disk that is to be healed: its text, and the bytes of another text as this file would hold it."""

import difflib
import os
import stat
import tokenize
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from reflexion.errors import InputError
from reflexion.loaders import printable
from reflexion.pages import write_atomically

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it was read. ``path`` is its full path without links, ``text`` has LF line ends and no mark.

    ``label`` is how the user named it.
    """

    path: Path
    label: str
    data: bytes
    text: str
    encoding: str
    newline: str

    def encoded(self, text: str) -> bytes:
        """Return a text as this file would hold it: encoding, byte order mark, line ends, and how it ends.

        Raises UnicodeEncodeError.
        """
        data = self._ended(text).replace("\n", self.newline).encode(self.encoding)
        return BOM + data if self.data.startswith(BOM) else data

    def reads_as(self, data: bytes, text: str) -> bool:
        """Return whether whoever goes by the encoding that ``data`` declares reads ``text``; ``data`` holds it.

        An import is no proof: it does not look into comments.
        """
        try:
            return _decoded(data)[1].replace(self.newline, "\n") == self._ended(text)
        except (SyntaxError, UnicodeDecodeError, LookupError):
            return False

    def _ended(self, text: str) -> str:
        return text.rstrip("\n") + "\n" * (len(self.text) - len(self.text.rstrip("\n")))

    def diff(self, text: str, name: str) -> str:
        """Return the unified diff from this module to ``text``, "" when there is none; ``name`` is its path in it."""
        lines = difflib.unified_diff(_lines(self.text), _lines(self._ended(text)), f"a/{name}", f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def require_unchanged(self) -> None:
        """Raise InputError when the file is not as it was read any more."""
        try:
            same = self.path.read_bytes() == self.data
        except OSError:
            same = False
        if not same:
            raise InputError(f"{self.label}: changed meanwhile, so it is not written; the diff is in the report")

    def write(self, text: str) -> None:
        """Put a text in the file's place, whole or not at all, with the file's mode.

        Raises InputError when the file is not as it was read any more, or cannot be written.
        """
        self.require_unchanged()
        try:
            self._put(self.encoded(text))
        except OSError as error:
            raise InputError(f"{self.label}: cannot be written: {error.strerror}") from error

    def take_back(self) -> None:
        """Put what was read in the file's place again. Raises OSError."""
        self._put(self.data)

    def _put(self, data: bytes) -> None:
        write_atomically(self.path, data, stat.S_IMODE(self.path.stat().st_mode), exactly=True)

    @property
    def sha256(self) -> str:
        """Return the digest of its bytes, in hex."""
        return sha256(self.data).hexdigest()


def write_all(healed: Sequence[tuple[Module, str]]) -> None:
    """Put a text in the place of each module, or of none: a part of them was never run by itself. Raises InputError."""
    with ExitStack() as undo:
        for module, text in healed:
            module.write(text)
            undo.callback(module.take_back)
        undo.pop_all()


def load_module(path: Path) -> Module:
    """Read a module. Raises InputError with one line that says what is wrong with it."""
    label = printable(path)
    if path.suffix != ".py" and path.exists():
        raise InputError(f"{label}: --fix heals Python modules, whose names end in .py")
    try:
        # Path.resolve has an error of its own for a link that leads in a circle.
        real = Path(os.path.realpath(path, strict=True))
        if not (real.is_file() or real.is_dir()):  # Reading a pipe would wait for ever.
            raise InputError(f"{label}: is not a regular file")
        data = real.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{label}: no such file or folder") from error
    except OSError as error:
        raise InputError(f"{label}: cannot be read: {error.strerror}") from error
    if not data.removeprefix(BOM).strip():
        raise InputError(f"{label}: is empty, there is nothing to heal")
    try:
        encoding, whole = _decoded(data)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise InputError(f"{label}: cannot be decoded: {error}; save it as UTF-8") from error
    newline = "\r\n" if "\r\n" in whole else "\r" if "\r" in whole and "\n" not in whole else "\n"
    text = whole.replace(newline, "\n")
    if "\r" in text or (newline == "\r\n" and whole.count("\n") != whole.count("\r\n")):
        raise InputError(f"{label}: has line ends of several kinds; save it with one of them")
    return Module(real, label, data, text, encoding, newline)


def _decoded(data: bytes) -> tuple[str, str]:
    """Return the encoding that a module declares, and its text. Raises SyntaxError, UnicodeDecodeError, LookupError."""
    encoding = tokenize.detect_encoding(BytesIO(data).readline)[0].removesuffix("-sig")
    return encoding, data.removeprefix(BOM).decode(encoding)


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]
