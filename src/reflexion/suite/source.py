"""What a pytest suite says, by its syntax alone: its tests, and what it imports from the module under test."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

TARGET = "solution"
_NOT_TARGETS = frozenset({"pytest", "_pytest", "hypothesis", "conftest", "__future__"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Test(NamedTuple):
    """A test function: ``name`` is its node id without file and parameters. ``uses`` are the names of the target that
    it reaches, by helpers and fixtures too. ``certain`` are the lines of the assertions that every pass goes through.
    """

    name: str
    line: int
    is_async: bool
    uses: frozenset[str]
    certain: tuple[int, ...]


class Suite(NamedTuple):
    """The facts of a suite. ``error`` says why it cannot be read ("" when it can); then everything else is empty.

    ``target`` is the module under test: ``solution`` where it is imported, else another one that is not of the
    standard library, else "". ``names`` are what is imported from it. A parametrised test is one test here.
    """

    error: str
    target: str
    names: tuple[str, ...]
    star: bool
    tests: tuple[Test, ...]
    tree: ast.Module


def read_suite(text: str) -> Suite:
    """Return the facts of a suite. Raises nothing: what cannot be read is ``error``."""
    try:
        return _read(ast.parse(text))
    except SyntaxError as error:
        return _unread(f"line {error.lineno or 1}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return _unread(str(error) or "nested too deeply")


def _unread(why: str) -> Suite:
    return Suite(why, "", (), star=False, tests=(), tree=ast.Module([], []))


def _read(tree: ast.Module) -> Suite:
    target = _target(tree)
    imported = _Imported(tree, target)
    reach = _Reach(tree, imported)
    tests = tuple(_tests(tree, reach))
    return Suite("", target, imported.names(), imported.star, tests, tree)


def _target(tree: ast.Module) -> str:
    others = []
    for name in _modules(tree):
        first = name.partition(".")[0]
        if first == TARGET:
            return TARGET
        if first not in _NOT_TARGETS and first not in sys.stdlib_module_names:
            others.append(first)
    return others[0] if others else ""


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


class _Imported:
    """What comes from the target, and under which names the suite knows it."""

    def __init__(self, tree: ast.Module, target: str) -> None:
        self.star = False
        self.by_alias: dict[str, str] = {}
        self.modules: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == target and not node.level:
                self._from(node)
            elif isinstance(node, ast.Import):
                self.modules |= {alias.asname or alias.name for alias in node.names if alias.name == target}
        self.attributes = sorted({name for node in ast.walk(tree) if (name := self.attribute(node))})

    def _from(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.star = True
            else:
                self.by_alias[alias.asname or alias.name] = alias.name

    def attribute(self, node: ast.AST) -> str:
        """Return the name of the target that ``module.name`` is, else ""."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.modules:
            return node.attr
        return ""

    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.by_alias.values(), *self.attributes]))


class _Reach:
    """Which names of the target each definition of the suite reaches."""

    def __init__(self, tree: ast.Module, imported: _Imported) -> None:
        self._imported = imported
        self._definitions = dict(_definitions(tree))
        self._always = [node for node in tree.body if isinstance(node, Function) and _is_autouse(node)]

    def of(self, nodes: Iterable[ast.AST]) -> frozenset[str]:
        """Return the names reached from these nodes, and from what always runs."""
        found: set[str] = set()
        seen: set[str] = set()
        todo: list[ast.AST] = [*nodes, *self._always]
        while todo:
            for node in ast.walk(todo.pop()):
                named = _named(node)
                found |= {self._imported.by_alias.get(named, ""), self._imported.attribute(node)}
                if named not in seen and named in self._definitions:
                    seen.add(named)
                    todo += self._definitions[named]
        return frozenset(found - {""})


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value  # usefixtures("name")
    return node.arg if isinstance(node, ast.arg) else ""


def _definitions(tree: ast.Module) -> Mapping[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef) and not _is_test(node):
            found.setdefault(node.name, []).append(node)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for name in (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)):
                found.setdefault(name, []).append(statement)
    return found


def _is_autouse(node: Function) -> bool:
    keywords = (word for one in node.decorator_list if isinstance(one, ast.Call) for word in one.keywords)
    return any(word.arg == "autouse" for word in keywords) or node.name in {
        "setup_function",
        "setup_module",
        "teardown_function",
    }


def _is_test(node: ast.AST) -> bool:
    return (isinstance(node, Function) and node.name.startswith("test")) or (
        isinstance(node, ast.ClassDef) and node.name.startswith("Test")
    )


def _tests(tree: ast.Module, reach: _Reach) -> Iterator[Test]:
    for node in tree.body:
        if isinstance(node, Function) and _is_test(node):
            yield _test(node.name, node, reach.of([node]))
        elif isinstance(node, ast.ClassDef) and _is_test(node):
            yield from _of_class(node, "", [], reach)


def _of_class(node: ast.ClassDef, prefix: str, around: list[ast.AST], reach: _Reach) -> Iterator[Test]:
    name = f"{prefix}{node.name}::"
    shared: list[ast.AST] = [*around, *(one for one in node.body if not _is_test(one)), *node.bases]
    for one in node.body:
        if isinstance(one, Function) and _is_test(one):
            yield _test(f"{name}{one.name}", one, reach.of([one, *shared]))
        elif isinstance(one, ast.ClassDef) and _is_test(one):
            yield from _of_class(one, name, shared, reach)


def _test(name: str, node: Function, uses: frozenset[str]) -> Test:
    lines = tuple(_certain(node.body))
    return Test(name, node.lineno, isinstance(node, ast.AsyncFunctionDef), uses, lines)


def _certain(body: Iterable[ast.stmt]) -> Iterator[int]:
    """Yield the lines of the assertions that a run through these statements comes to, up to a possible return."""
    for node in body:
        if isinstance(node, ast.Assert):
            yield node.lineno
        elif isinstance(node, ast.With | ast.AsyncWith) and not any(_expects(item) for item in node.items):
            yield from _certain(node.body)
        if any(isinstance(one, ast.Return | ast.Break | ast.Continue) for one in ast.walk(node)):
            return


def _expects(item: ast.withitem) -> bool:
    """Say whether a ``with`` is one whose body is meant to be left early, such as ``pytest.raises``."""
    words = {one.attr for one in ast.walk(item.context_expr) if isinstance(one, ast.Attribute)}
    words |= {one.id for one in ast.walk(item.context_expr) if isinstance(one, ast.Name)}
    return bool(words & {"raises", "suppress", "warns", "RaisesGroup"})
