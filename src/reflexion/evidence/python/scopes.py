"""What a module's or a class's body defines, through ``if``, ``try``, ``with`` and loops, without running it."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from reflexion.evidence.python.syntax import (
    DEFINITIONS,
    FUNCTIONS,
    FunctionNode,
    accessor_of,
    decorator_names,
    dotted_name,
    is_main_guard,
)

Branch = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Definition:
    """One statement that gives a name its meaning. ``branch`` is the path of conditional blocks that it stands in."""

    name: str
    node: ast.stmt
    branch: Branch
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    docstring: str | None = None
    script_only: bool = False


@dataclass(slots=True, eq=False)
class ImportedName:
    """One name bound by an import; ``explicit`` for ``from m import x as x``."""

    name: str
    target: str
    line: int
    explicit: bool


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one body, each with the definitions that can be the living one, in source order."""

    names: dict[str, list[Definition]] = field(default_factory=dict)
    imports: dict[str, ImportedName] = field(default_factory=dict)
    star_imports: list[str] = field(default_factory=list)
    exports: list[str] | None = None

    def functions(self, name: str) -> list[FunctionNode]:
        """Return the functions that a name can stand for."""
        nodes = [definition.node for definition in self.names.get(name, ())]
        return [node for node in nodes if isinstance(node, FUNCTIONS)]

    def values(self, name: str) -> list[ast.expr | None]:
        """Return the values that are assigned to a name; None stands for one that cannot be read."""
        return [each.value for each in self.names.get(name, ()) if not isinstance(each.node, DEFINITIONS)]


def read_scope(body: list[ast.stmt]) -> Scope:
    """Collect the definitions of a module's or a class's body."""
    reader = _ScopeReader()
    reader.block(body, ())
    return reader.scope


class _ScopeReader:
    def __init__(self) -> None:
        self.scope = Scope()
        self.blocks = 0
        self.script_only = False

    def block(self, body: list[ast.stmt], branch: Branch) -> None:
        for statement, following in zip_longest(body, body[1:]):
            if isinstance(statement, DEFINITIONS):
                self.define(Definition(statement.name, statement, branch))
            elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self.assign(statement, branch, _docstring_below(following))
            else:
                self.other(statement, branch)

    def other(self, statement: ast.stmt, branch: Branch) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.imports(statement)
            case ast.Expr(value=ast.Call() as call):
                self.extend_exports(call)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.scope.names.pop(dotted_name(target) or "", None)
            case _ if type(statement).__name__ == "TypeAlias":  # the ``type`` statement of Python 3.12
                name = getattr(statement, "name", None)
                self.define(Definition(dotted_name(name) or "", statement, branch, getattr(statement, "value", None)))
            case _:
                self.compound(statement, branch)

    def compound(self, statement: ast.stmt, branch: Branch) -> None:
        match statement:
            case ast.If():
                self.if_chain(statement, branch)
            case ast.Try() | ast.TryStar():
                self.try_block(statement, branch)
            case ast.With() | ast.AsyncWith():
                self.block(statement.body, branch)
            case ast.For() | ast.AsyncFor() | ast.While():
                self.block(statement.body, (*branch, self.new_block()))
                self.block(statement.orelse, branch)
            case ast.Match(cases=cases):
                for case in cases:
                    self.block(case.body, (*branch, self.new_block()))

    def if_chain(self, node: ast.If, branch: Branch) -> None:
        while True:
            before = self.script_only
            self.script_only = before or (not branch and is_main_guard(node.test))
            self.block(node.body, (*branch, self.new_block()))
            self.script_only = before
            branch = (*branch, self.new_block())
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node = node.orelse[0]
        self.block(node.orelse, branch)

    def try_block(self, node: ast.Try | ast.TryStar, branch: Branch) -> None:
        attempt = (*branch, self.new_block())
        self.block(node.body, attempt)
        self.block(node.orelse, attempt)
        for handler in node.handlers:
            self.block(handler.body, (*branch, self.new_block()))
        self.block(node.finalbody, branch)

    def new_block(self) -> int:
        self.blocks += 1
        return self.blocks

    def define(self, new: Definition) -> None:
        new.script_only = self.script_only
        known = self.scope.names.setdefault(new.name, [])
        known[:] = [old for old in known if not _replaces(new, old)]
        known.append(new)

    def assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, branch: Branch, docstring: str | None) -> None:
        if isinstance(node, ast.AugAssign):
            self.augment(node, branch)
            return
        annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target, value in _pairs(targets, node.value):
            if target.id == "__all__":
                self.scope.exports = _names_in(value)
            self.define(Definition(target.id, node, branch, value, annotation, docstring))

    def augment(self, node: ast.AugAssign, branch: Branch) -> None:
        if not isinstance(node.target, ast.Name):
            return
        if node.target.id == "__all__":
            self.scope.exports = [*(self.scope.exports or []), *_names_in(node.value)]
        for known in self.scope.names.get(node.target.id, []):
            known.value = None

    def extend_exports(self, call: ast.Call) -> None:
        name = dotted_name(call.func)
        if name == "__all__.extend" and call.args:
            self.scope.exports = [*(self.scope.exports or []), *_names_in(call.args[0])]
        elif name == "__all__.append" and call.args:
            self.scope.exports = [*(self.scope.exports or []), *_names_in(ast.List(elts=call.args[:1]))]

    def imports(self, node: ast.Import | ast.ImportFrom) -> None:
        prefix = ""
        if isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.scope.star_imports.append(prefix)
                continue
            if prefix or alias.asname:
                separator = "." if prefix and not prefix.endswith(".") else ""
                name, target = alias.asname or alias.name, f"{prefix}{separator}{alias.name}"
            else:
                name = target = alias.name.partition(".")[0]
            explicit = bool(prefix) and alias.asname == alias.name
            self.scope.imports[name] = ImportedName(name, target, node.lineno, explicit)


def _replaces(new: Definition, old: Definition) -> bool:
    if new.branch != old.branch[: len(new.branch)]:
        return False
    if not isinstance(new.node, FUNCTIONS) or not isinstance(old.node, FUNCTIONS):
        return True
    return not accessor_of(new.node) and "overload" not in decorator_names(old.node)


def _pairs(targets: Sequence[ast.expr], value: ast.expr | None) -> list[tuple[ast.Name, ast.expr | None]]:
    """Pair every name in the targets of an assignment with its own value where that can be told."""
    pairs: list[tuple[ast.Name, ast.expr | None]] = []
    for target in targets:
        if isinstance(target, ast.Name):
            pairs.append((target, value))
        elif isinstance(target, ast.Tuple | ast.List):
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                values = list(value.elts)
            for element, its_value in zip(target.elts, values, strict=True):
                pairs.extend(_pairs([element], its_value))
    return pairs


def _names_in(value: ast.expr | None) -> list[str]:
    """Return the strings of a list expression, as far as they stand there literally."""
    if isinstance(value, ast.BinOp):
        return [*_names_in(value.left), *_names_in(value.right)]
    if isinstance(value, ast.Call) and value.args:
        return _names_in(value.args[0])
    if not isinstance(value, ast.List | ast.Tuple | ast.Set):
        return []
    return [each.value for each in value.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def _docstring_below(statement: ast.stmt | None) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return text.strip() if isinstance(text, str) else None
    return None
