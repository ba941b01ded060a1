"""What has to lie in a sandbox so that a source can be imported there: itself, and the local files that it imports.

Nothing is imported or run: imports are read from the syntax.
"""

import ast
import sys
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

MAX_FILES = 200
MAX_BYTES = 4 * 1024 * 1024
# Folders with __init__.py around a source; a link that leads upwards would have no end.
MAX_DEPTH = 20
SUFFIXES = frozenset({".py", ".pyw"})


@dataclass(frozen=True, slots=True)
class SourceTree:
    """``module`` is the dotted name to import; ``files`` maps relative POSIX paths to contents."""

    module: str
    files: Mapping[str, bytes]


def importable(path: Path | None, text: str, name: str) -> SourceTree | None:
    """Return what makes a source importable, or None for a notebook and for what is not Python.

    :param path: the source's file, or None for text alone
    :param text: its decoded text, which is what is imported; a file on disk may have changed since
    :param name: the module's name where there is no path
    """
    if path is not None and path.suffix.lower() not in SUFFIXES:
        return None
    if path is None:
        stem = name.rpartition(".")[2]
        return SourceTree(stem, {f"{stem}.py": _encoded(text)}) if stem.isidentifier() else None
    try:
        return _tree(path.resolve(), _encoded(text))
    except OSError:
        return None


def _encoded(text: str) -> bytes:
    """Return the text's bytes in the encoding that its own first lines declare."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return text.encode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        return data


def _tree(path: Path, data: bytes) -> SourceTree | None:
    root, parts = path.parent, [] if path.stem == "__init__" else [path.stem]
    while (root / "__init__.py").is_file() and len(parts) < MAX_DEPTH and root.parent != root:
        parts.insert(0, root.name)
        root = root.parent
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    walk = _Walk(root)
    walk.add_packages(parts[:-1])
    walk.add(path, data, ".".join(parts))
    return SourceTree(".".join(parts), walk.files)


class _Walk:
    """Collects files below a root, each with what it imports."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, bytes] = {}
        self.size = 0

    def add(self, path: Path, data: bytes, module: str) -> None:
        """Add a file and, one after another, all local files that are imported from it on."""
        waiting = [(path, data, module)]
        while waiting:
            path, data, module = waiting.pop()
            key = path.relative_to(self.root).as_posix()
            if key in self.files or len(self.files) >= MAX_FILES or self.size + len(data) > MAX_BYTES:
                continue
            # A source that is a .pyw file is imported like any other.
            self.files[key.removesuffix("w") if key.endswith(".pyw") else key] = data
            self.size += len(data)
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            for wanted in _imported(data, package):
                waiting += self.found(wanted)

    def add_packages(self, parts: list[str]) -> None:
        """Add the __init__.py of every package around the source."""
        for end in range(1, len(parts) + 1):
            path = self.root.joinpath(*parts[:end], "__init__.py")
            self.add(path, path.read_bytes(), ".".join(parts[:end]))

    def found(self, module: str) -> Iterator[tuple[Path, bytes, str]]:
        """Yield the files that importing a module reads: its packages' and its own."""
        parts = module.split(".")
        if not all(part.isidentifier() for part in parts) or parts[0] in sys.stdlib_module_names:
            return
        for end in range(1, len(parts) + 1):
            base = self.root.joinpath(*parts[:end])
            for path in (base / "__init__.py", base.with_suffix(".py")):
                if path.relative_to(self.root).as_posix() not in self.files and self._is_inside(path):
                    yield path, path.read_bytes(), ".".join(parts[:end])
                    break

    def _is_inside(self, path: Path) -> bool:
        return path.is_file() and path.resolve().is_relative_to(self.root) and path.stat().st_size <= MAX_BYTES


def _imported(data: bytes, package: str) -> Iterator[str]:
    """Yield the dotted names of all modules that a file may import, names imported from them included."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base is not None:
                yield base
                yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names)


def _base(node: ast.ImportFrom, package: str) -> str | None:
    """Return the module that names are imported from; None for a relative import that leaves the packages."""
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    if node.level - 1 >= len(parts):
        return None
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])
