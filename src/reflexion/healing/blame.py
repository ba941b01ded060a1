"""Whose affair a failing test is: the modules in its traceback; else those that its file imports, and it uses."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from reflexion.healing.runner import Ran, Runner
from reflexion.suite.run import base
from reflexion.suite.source import read_suite

# The name of what ``from module import *`` binds.
ALL = "*"


class Blame:
    """Says of tests which modules to be healed they are about."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._files = [path for path in runner.project.lock if path.suffix == ".py"]
        self._paths = {one: f"/{one.removesuffix('.py').removesuffix('/__init__')}" for one in runner.modules}
        self._packages: dict[str, list[tuple[str, str]]] = {}
        self._read: dict[Path, tuple[ast.Module, list[tuple[str, str]]]] = {}
        self._always: set[str] = set()
        for path in self._files:
            if path.name == "conftest.py":
                self._always |= self._imported(path, "")

    def of(self, ran: Ran) -> dict[str, list[str]]:
        """Return whose affair each failing test is, and each file that cannot be collected; the likeliest last."""
        failing = {name: ran.why(name) for name in ran.failed} | ran.broken
        return {name: self._runner.named(why) or sorted(self.imported(name)) for name, why in failing.items()}

    def named(self, ran: Ran, test: str) -> list[str]:
        """Return the modules in the traceback of a test that ran, the one that raised last."""
        return self._runner.named(ran.why(test))

    def imported(self, test: str) -> frozenset[str]:
        """Return the modules that the text of a test's file, and of every conftest.py, imports for it.

        What else stands in the file, helpers and fixtures, is any test's.
        """
        path = self._file(test)
        first = base(test.partition("::")[2].partition("::")[0])
        return frozenset(self._always | (self._imported(path, first) if path else set()))

    def decides(self, file: str) -> bool:
        """Return whether modules may decide which tests of a file are skipped: what stands in it outside of functions,
        or a conftest.py, uses them, or that is not known.
        """
        path = self._file(file)
        if path is None or self._always:
            return True
        tree, bound = self._text(path)
        used = set(_names_outside_of_functions(tree.body))
        return not tree.body or any(name in used or name == ALL for name, _ in bound)

    def _file(self, test: str) -> Path | None:
        name = test.partition("::")[0]
        return next((one for end in ends(name) for one in self._files if one.as_posix().endswith(f"/{end}")), None)

    def _imported(self, path: Path, test: str) -> set[str]:
        tree, bound = self._text(path)
        used = _names_but_of_other_tests(tree, test)
        return {module for name, module in bound if name in used} or {module for _, module in bound}

    def _text(self, path: Path) -> tuple[ast.Module, list[tuple[str, str]]]:
        if path not in self._read:
            tree = read_suite(path.read_bytes().decode("utf-8", "replace")).tree
            there = path.relative_to(self._runner.project.root).parent.as_posix()
            self._read[path] = tree, list(self._bound(tree, there))
        return self._read[path]

    def _bound(self, tree: ast.Module, there: str) -> Iterator[tuple[str, str]]:
        """Yield the names that imports bind, each with a module that it may be from."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    for module in self._from(node, alias.name, there):
                        yield name, module

    def _from(self, node: ast.Import | ast.ImportFrom, name: str, there: str) -> list[str]:
        if isinstance(node, ast.Import):
            return list(self._through(name.replace(".", "/"), ALL))
        place = (node.module or "").replace(".", "/")
        if node.level:
            above = [there, *(one.as_posix() for one in PurePosixPath(there).parents)]
            place = f"{above[min(node.level, len(above)) - 1]}/{place}".removeprefix("./").strip("/")
        return self._at(f"{place}/{name}".strip("/")) or list(self._through(place, name))

    def _through(self, place: str, name: str) -> Iterator[str]:
        """Yield the modules at a place; of a package also those that it has the name from."""
        for module in self._at(place):
            yield module
            if module.endswith("/__init__.py"):
                yield from (one for known, one in self._exported(module) if ALL in (known, name) or known == name)

    def _exported(self, package: str) -> list[tuple[str, str]]:
        if package not in self._packages:
            self._packages[package] = []  # packages may import from one another
            path = self._runner.project.root / package
            tree = read_suite(path.read_bytes().decode("utf-8", "replace")).tree
            self._packages[package] = list(self._bound(tree, PurePosixPath(package).parent.as_posix()))
        return self._packages[package]

    def _at(self, place: str) -> list[str]:
        """Return the modules whose dotted name, as a path, a place is, from whichever folder they are imported."""
        return [module for module, path in self._paths.items() if path.endswith(f"/{place}")]


def ends(name: str) -> list[str]:
    """Return a test's name, and what is left of it without folders in front."""
    path, sign, rest = name.partition("::")
    parts = path.split("/")
    return [f"{'/'.join(parts[start:])}{sign}{rest}" for start in range(len(parts))]


def _names_but_of_other_tests(tree: ast.Module, test: str) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, kinds)}
    others = [
        node
        for node in tree.body
        if test in names and isinstance(node, kinds) and node.name != test and node.name.lower().startswith("test")
    ]
    nodes = [node for node in tree.body if node not in others]
    return {ALL, *(one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))}


def _names_outside_of_functions(body: Iterable[ast.AST]) -> Iterator[str]:
    left = list(body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            yield node.id
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += [*node.decorator_list, node.args]
        else:
            left += ast.iter_child_nodes(node)
