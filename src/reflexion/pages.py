"""Pages on disk: the closing comment, what may be overwritten, and writes that are whole or not at all."""

import contextlib
import errno
import functools
import hashlib
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reflexion import __version__
from reflexion.errors import InputError
from reflexion.loaders import printable
from reflexion.marker import Marker, read_marker, text_digest
from reflexion.patterns import regex

_KEEP = regex(r"<!--[ \t]*/?keep[ \t]*-->")
TEMPORARY_SUFFIX = ".reflexion-tmp"
_LEFTOVER = regex(r"\..+\.(\d+)" + re.escape(TEMPORARY_SUFFIX))


def render(text: str, marker: Marker) -> str:
    """Return the page as it is written: the text, then ``marker`` with the text's digest and our version."""
    body = text.strip("\n") + "\n"
    digest = text_digest(_without_blocks(body))
    return f"{body}\n{replace(marker, text_sha256=digest, version=__version__).comment()}\n"


def is_ours(page: str) -> bool:
    """Return whether we wrote the page and nobody edited it since; kept blocks are a person's, and no edit."""
    body, marker = read_marker(page)
    if marker is None:
        return False
    return marker.text_sha256 in (text_digest(body), text_digest(_without_blocks(body)))


def _without_blocks(body: str) -> str:
    # Only pages with such a comment pay for reading them.
    if not _KEEP.search(body):
        return body
    from reflexion.keep import without_blocks

    return without_blocks(body)


def draft_path(path: Path) -> Path:
    """Return where a page goes that must not replace an accepted one."""
    return path.with_name(f"{path.stem}.draft{path.suffix}")


def destination(path: Path, outcome: str) -> Path:
    """Return where to write: ``path``, or beside it when it holds an accepted page and this one is not.

    Raises InputError when there can be no file of that name beside it.
    """
    existing = existing_page(path)
    marker = read_marker(existing)[1] if existing is not None else None
    if outcome != "accepted" and marker is not None and marker.outcome == "accepted":
        path = draft_path(path)
        require_name(path)
    return path


def require_name(path: Path) -> None:
    """Raise InputError where a page, or the temporary file beside it, would have too long a name or path."""
    target = Path(os.path.realpath(path))
    folder, names = target.parent, [target.name]
    # The system looks at no name below a folder that is not there.
    while not os.path.lexists(folder) and folder != folder.parent:
        folder, names = folder.parent, [*names, folder.name]
    if any(_is_too_long(one) for one in (target, _temporary(target), *(folder / name for name in names))):
        advice = "rename the source, or name an --output file for it alone"
        raise InputError(f"{printable(path)}: is too long a name for the file system; {advice}")


def _is_too_long(path: Path) -> bool:
    try:
        path.lstat()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


class WriteCheck:
    """Says of any number of paths whether a page can, and may, be written there. Creates nothing.

    ``inputs`` are files that no page may replace, whatever ``overwrite`` says. They are looked at once, and so is each
    folder: a batch has thousands of both.
    """

    def __init__(self, inputs: Sequence[Path] = (), *, overwrite: bool) -> None:
        self._inputs = inputs
        self._overwrite = overwrite
        self._tried: set[Path] = set()

    def check(self, path: Path) -> None:
        """Raise InputError when a page could not, or must not, be written to ``path``.

        A name that is too long is for ``require_name``: it is the failure of one file, and of no file where it is
        that of a draft which is never needed.
        """
        try:
            path = _real(path) if path.is_symlink() else path
            self._require_file(path)
            self._try_folder(path)
            is_input = path.exists() and _identity(path) in self._identities
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return
            raise InputError(f"{printable(path)}: cannot be written: {error.strerror}") from error
        if is_input:
            raise InputError(f"{printable(path)}: is an input; name another output")
        page = existing_page(path)
        if page is not None and not self._overwrite and not is_ours(page):
            raise InputError(f"{printable(path)}: is not as reflexion wrote it; --overwrite replaces it")

    def _require_file(self, path: Path) -> None:
        if path.exists() and not (path.is_dir() or path.is_file()):
            raise InputError(f"{printable(path)}: is not a regular file")
        if path.is_dir():
            raise InputError(
                f"{printable(path)}: is a folder; name a file, or end the output with a / to write into it"
            )

    def _try_folder(self, path: Path) -> None:
        folder = path.parent
        if folder in self._tried:
            return
        self._tried.add(folder)
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise InputError(f"{printable(path)}: cannot be written: {printable(folder)} is not a folder")
        with tempfile.TemporaryFile(dir=folder):
            pass

    @functools.cached_property
    def _identities(self) -> frozenset[tuple[int, int]]:
        return frozenset(_identity(one) for one in self._inputs if one.exists())


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def write_page(path: Path, page: str) -> None:
    """Write a page whole or not at all, as UTF-8 with LF line ends, on every platform."""
    try:
        data = page.encode("utf-8", errors="surrogateescape")  # Bytes of a kept block that ``existing_page`` has read.
    except UnicodeEncodeError:
        data = page.encode("utf-8", errors="replace")
    write_atomically(path, data)


def write_atomically(path: Path, data: bytes, mode: int = 0o666, *, exactly: bool = False) -> None:
    """Write ``data`` beside ``path`` and rename it, so that no reader ever sees a part of it.

    The file gets ``mode`` as far as the user's mask allows it, or ``exactly``.
    """
    target = _real(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(target)
    try:
        # O_EXCL and no following of links: nobody can have put something in its place.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if exactly:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _real(path: Path) -> Path:
    """Return where a path leads. Raises OSError for a link that leads in a circle."""
    try:
        return path.resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def _temporary(target: Path) -> Path:
    # The target's own name could be too long with anything added to it.
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]
    return target.with_name(f".{name}.{os.getpid()}{TEMPORARY_SUFFIX}")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of runs that were killed; those of a living process stay."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        match = _LEFTOVER.fullmatch(path.name)
        if match and not _is_alive(int(match[1])):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return False
    if os.name == "nt":  # There os.kill would end the process instead of asking for it.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def existing_page(path: Path) -> str | None:
    """Return a page as it lies on disk, with LF line ends; None where there is none. Raises InputError.

    Bytes that are no UTF-8 become lone surrogates, from which ``write_page`` makes the same bytes.
    """
    if not path.exists():
        return None
    if not (path.is_file() or path.is_dir()):  # Reading a pipe would wait for ever.
        raise InputError(f"{printable(path)}: is not a regular file")
    try:
        # A checkout may have given it other line ends, which is no edit.
        return path.read_bytes().decode("utf-8", errors="surrogateescape").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from error
