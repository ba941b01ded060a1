"""Which imports of an example stand for the documented source, and which names it forgot to import. Pure functions.

A page imports its module by the path that the project gives it (``from bank.core.accounts import Account``), by a
placeholder (``import your_module``) or relatively; in the sandbox there is only the one file. An import that cannot be
found otherwise stands for the source where its last part is the source's stem, or where all that it imports is there.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from reflexion.evidence.examples.places import line_offsets
from reflexion.evidence.facts import Facts

PLACEHOLDERS = frozenset(
    {"your_module", "your_package", "my_module", "my_package", "mymodule", "mypackage", "module", "package",
     "module_name", "yourmodule", "yourpackage", "the_module", "some_module"}
)  # fmt: skip

# What snippets use without importing it, since every reader knows where it comes from.
WELL_KNOWN = {
    "Path": "pathlib", "Decimal": "decimal", "Fraction": "fractions", "date": "datetime", "timedelta": "datetime",
    "timezone": "datetime", "Counter": "collections", "defaultdict": "collections", "OrderedDict": "collections",
    "deque": "collections", "namedtuple": "collections", "dataclass": "dataclasses", "field": "dataclasses",
    "Enum": "enum", "partial": "functools", "reduce": "functools", "StringIO": "io", "BytesIO": "io",
    "pprint": "pprint", "uuid4": "uuid", "UUID": "uuid", "Any": "typing", "Callable": "typing", "Optional": "typing",
    "Iterable": "typing", "Iterator": "typing", "NamedTuple": "typing", "TypedDict": "typing", "ABC": "abc",
    "abstractmethod": "abc", "sleep": "time", "contextmanager": "contextlib", "suppress": "contextlib",
    "TemporaryDirectory": "tempfile", "ThreadPoolExecutor": "concurrent.futures", "SimpleNamespace": "types",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SourceNames:
    """The names of a source, for deciding what an import means.

    ``top`` are the names that its module has, ``all`` those of members and parameters as well. With ``open`` it may
    have others (``from m import *``, a module's ``__getattr__``).
    """

    module: str
    top: frozenset[str]
    all: frozenset[str]
    exceptions: frozenset[str]
    open: bool

    @property
    def stem(self) -> str:
        """The module's last part."""
        return self.module.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Imports:
    """What an example needs so that its imports work.

    ``aliases`` are the modules that stand for the source where nothing else is found by that name. ``prefill`` are
    names with the module and attribute that they come from (attribute "" for the module itself). ``edits`` turn
    relative imports into absolute ones.
    """

    aliases: tuple[str, ...] = ()
    prefill: tuple[tuple[str, str, str], ...] = ()
    edits: tuple[tuple[int, int, str], ...] = ()


def source_names(facts: Facts, module: str) -> SourceNames:
    """Return the names of a source by its facts and its text."""
    symbols = list(facts.walk())
    bound = frozenset(_bound_names(facts.text))
    top = bound | {symbol.name for symbol in facts.symbols} | {one.name for one in facts.imports}
    parameters = {
        parameter.name for symbol in symbols for signature in symbol.signatures for parameter in signature.parameters
    }
    exceptions = frozenset(symbol.name for symbol in symbols if symbol.flavour == "exception")
    everything = top | {symbol.name for symbol in symbols} | parameters
    return SourceNames(module, top, everything, exceptions, bool(facts.star_imports) or "__getattr__" in top)


def _bound_names(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield inner.name


def imports_of(tree: ast.Module, text: str, source: SourceNames) -> Imports:
    """Return what the imports of an example need, and the names that it forgot to import."""
    aliases: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases += [alias.name for alias in node.names if _is_source(alias, tree, source)]
        elif isinstance(node, ast.ImportFrom):
            name = _absolute(node, source)
            if node.level:
                edits.append(_made_absolute(node, name, text))
            aliases += _from(name, node, source)
    return Imports(tuple(dict.fromkeys(aliases)), tuple(forgotten(tree, source)), tuple(edits))


def _is_source(alias: ast.alias, tree: ast.Module, source: SourceNames) -> bool:
    """Say whether ``import a.b.c`` can mean the source: by its stem, or by all that is used of it."""
    if alias.name.rpartition(".")[2] == source.stem or alias.name in PLACEHOLDERS:
        return True
    if _is_real(alias.name):
        return False
    bound = alias.asname or alias.name
    used = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == bound
    }
    return bool(used) and used <= source.top


def _from(name: str, node: ast.ImportFrom, source: SourceNames) -> Iterator[str]:
    """Yield the modules that have to stand for the source so that this import works."""
    wanted = {alias.name for alias in node.names}
    if name.rpartition(".")[2] == source.stem:
        yield name
    elif source.stem in wanted and wanted - {source.stem} <= source.top:
        yield f"{name}.{source.stem}"
    elif name in PLACEHOLDERS or (not _is_real(name) and (wanted <= source.top or (source.open and wanted != {"*"}))):
        yield name


def _is_real(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def _absolute(node: ast.ImportFrom, source: SourceNames) -> str:
    if not node.level:
        return node.module or ""
    package = source.module.split(".")[: -node.level] if "." in source.module else []
    return ".".join([*package, node.module] if node.module else package) or "package"


def _made_absolute(node: ast.ImportFrom, name: str, text: str) -> tuple[int, int, str]:
    """Return the edit that puts a module's name in the place of the dots and the name behind them."""
    offset, data = line_offsets(text)[node.lineno - 1]
    start = offset + len(data[: node.col_offset].decode("utf-8", "replace"))
    found = re.compile(r"from\s*[.\s]+[\w.]*").match(text, start)
    end = found.end() if found else start
    kept = " " if text[end : end + 1] != " " else ""
    # "from . import x" has no name behind its dots: what was matched then is the word import.
    if node.module is None and found is not None and found.group().endswith("import"):
        end -= len("import")
    return start, end, f"from {name}{kept}" if node.module is not None else f"from {name} "


def forgotten(tree: ast.Module, source: SourceNames) -> Iterator[tuple[str, str, str]]:
    """Yield the standard library's names that an example reads and neither it nor the source gives a value."""
    nodes = list(ast.walk(tree))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    dotted: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            dotted.setdefault(node.value.id, set()).add(node.attr)
    bound = _bound_in(tree)
    stem = source.stem
    if dotted.get(stem, set()) & source.top and stem not in bound and stem not in called:
        # The module is meant, also where it has something of its own name.
        yield stem, source.module, ""
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for name in sorted(read - bound - source.top):
        yield from _from_library(name, name in called, dotted.get(name, set()))


def _from_library(name: str, called: bool, used: set[str]) -> Iterator[tuple[str, str, str]]:
    if name == "datetime":
        inner = not called and bool(used & {"datetime", "date", "timedelta", "timezone", "time"})
        yield name, "datetime", "" if inner else "datetime"
    elif name in WELL_KNOWN and not (used and name == "pprint"):
        yield name, WELL_KNOWN[name], name
    elif used and name in sys.stdlib_module_names and not name.startswith("_"):
        yield name, name, ""
        # "urllib.request" is a module that has to be imported by its own name.
        yield from (("", f"{name}.{part}", "") for part in sorted(used))


def _bound_in(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found
