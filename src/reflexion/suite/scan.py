"""The static scan of a candidate: what could reach the tests, pytest, the interpreter or the machine.

It goes by lists of what is allowed. In one process with the tests nothing else stands between a candidate and the
verdict, so it flags rather too much; yet what ordinary solutions do is clean.
"""

# The names that ast.NodeVisitor calls.
# ruff: noqa: D102

import ast
import re
from collections.abc import Sequence

from reflexion.suite import names
from reflexion.suite.annotations import Annotations
from reflexion.suite.bindings import Bindings, Names, Scope
from reflexion.suite.comparing import can_lie
from reflexion.suite.modules import Policy
from reflexion.suite.result import Flag

MAX_FLAGS = 50
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_FORMAT = re.compile(r"\{[^{}]*[.\[]\s*_|\{[^{}]*(?:gi|cr|ag|tb|f|co)_")
_LIMITED = {"functools.wraps": 1, "functools.update_wrapper": 2, "logging.basicConfig": 0}
_BASIC_CONFIG = frozenset({"level", "format", "datefmt", "style"})
_METACLASSES = frozenset({"abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})
# Called, or named as a metaclass, where it is seen what for; and nothing else.
_NEVER_A_VALUE = _METACLASSES | set(_LIMITED)


def scan(candidate: str, allowed: frozenset[str]) -> tuple[Flag, ...]:
    """Return what the scan does not let pass, by line; empty when the candidate is clean. Raises nothing.

    ``allowed`` names modules that may be imported besides the list in ``modules.py``, with all their public names.
    """
    try:
        return every_flag(candidate, allowed)[:MAX_FLAGS]
    except SyntaxError as error:
        return (Flag(error.lineno or 1, f"no Python that can be read: {error.msg}"),)
    except (ValueError, RecursionError, MemoryError):
        return (Flag(1, "no Python that can be read: null bytes, lone surrogates, or nested too deeply"),)


def every_flag(candidate: str, allowed: frozenset[str]) -> tuple[Flag, ...]:
    """Do as ``scan``, without an end. Raises SyntaxError, ValueError, RecursionError, MemoryError."""
    candidate.encode()
    cookies = [Flag(number, f"a codec of its own ({found})") for number, found in _cookies(candidate)]
    tree = ast.parse(candidate)
    visitor = Visitor(tree, Policy(allowed))
    visitor.visit(tree)
    return tuple(sorted(set(cookies + visitor.flags)))


def _cookies(candidate: str) -> list[tuple[int, str]]:
    lines = re.split(r"\r\n?|\n", candidate.removeprefix("\ufeff"))[:2]
    found = [(number, match[1]) for number, line in enumerate(lines, 1) if (match := _COOKIE.match(line))]
    return [one for one in found if one[1].lower().replace("_", "-") not in {"utf-8", "utf8", "ascii", "us-ascii"}]


class Visitor(ast.NodeVisitor):
    """Gathers the flags of a module as it is visited."""

    def __init__(self, tree: ast.Module, policy: Policy) -> None:
        self.flags: list[Flag] = []
        self._policy = policy
        self._bindings = Bindings(tree, policy)
        self._annotations = Annotations(self._bindings)
        # Around here, from outside in: functions' names, or the class.
        self._around: list[Names | ast.ClassDef] = []
        # Nodes that stand where they may.
        self._fine: set[int] = set()

    def _flag(self, node: ast.AST, what: str) -> None:
        self.flags.append(Flag(getattr(node, "lineno", 1), what))

    # Imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if not self._policy.may_import(alias.name):
                self._flag(node, f"imports {alias.name}")
            self._check_import(node, alias.asname or alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            is_module = self._policy.is_module(f"{module}.{alias.name}")
            if node.level or not (is_module or self._policy.may_import(module)):
                self._flag(node, f"imports {'.' * node.level}{module}")
            elif not is_module and not self._policy.may_use(module, alias.name):
                self._flag(node, f"imports {alias.name} of {module}")
            self._check_import(node, alias.asname or alias.name)

    def _check_import(self, node: ast.AST, name: str) -> None:
        self._check_bound(node, name)
        if self._in_class() or name in self._bindings.ambiguous:
            self._flag(node, f"imports {name} where it could be taken for something else")

    # Names

    def _is_local(self, name: str) -> bool:
        """Say whether a name here is a function's own, whatever the module has under it."""
        if self._in_class():
            return False  # what a class binds and removes again is looked for in the module
        inner = [one for one in self._around if isinstance(one, Names)]
        for scope in reversed(inner):
            if name in scope.outside:
                return False
            if name in scope.own:
                return True
        return False

    def _module(self, node: ast.expr) -> str:
        """Return the module that an expression is, "" when it is none."""
        if isinstance(node, ast.Name):
            return "" if self._is_local(node.id) else self._bindings.modules.get(node.id, "")
        if isinstance(node, ast.Attribute) and (before := self._module(node.value)):
            whole = f"{before}.{node.attr}"
            known = {f"{one}." for one in self._bindings.modules.values()}
            is_module = self._policy.is_module(whole) or any(one.startswith(f"{whole}.") for one in known)
            return whole if is_module else ""
        return ""

    def _called(self, node: ast.expr) -> str:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        is_local = isinstance(root, ast.Name) and self._is_local(root.id)
        return "" if is_local else self._bindings.qualified(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._check_bound(node, node.id)
        elif not self._is_local(node.id):
            self._check_read(node)

    def _check_read(self, node: ast.Name) -> None:
        name = node.id
        in_class = self._in_class()
        own = name == "__name__" or (in_class and name in names.PROTOCOL)
        if name in names.REFUSED_NAMES or (names.is_dunder(name) and not own):
            self._flag(node, f"uses {name}")
        elif name in self._bindings.modules:
            self._flag(node, f"hands on the module {name}")
        elif id(node) not in self._fine and self._is_no_value(name):
            self._flag(node, f"hands on {name}")

    def _is_no_value(self, name: str) -> bool:
        imported = self._bindings.imported.get(name)
        return name in names.ATTRIBUTE_CALLS or name == "type" or imported in _NEVER_A_VALUE

    def _in_class(self) -> bool:
        return bool(self._around) and isinstance(self._around[-1], ast.ClassDef)

    def _check_bound(self, node: ast.AST, name: str) -> None:
        in_class = self._in_class()
        if names.is_dunder(name) and name not in (names.ASSIGNED - names.COMPARISONS):
            self._flag(node, f"sets {name}")
        elif (name in names.RELIED_UPON and not in_class) or (name in names.RELIED_UPON_AT_TOP and not self._around):
            self._flag(node, f"gives {name} another meaning")

    def visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            if name in names.RELIED_UPON_AT_TOP or name in self._bindings.modules or names.is_dunder(name):
                self._flag(node, f"gives {name} another meaning")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._check_bound(node, node.name or "_")
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._check_bound(node, node.name or "_")
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._check_bound(node, node.rest or "_")
        self.generic_visit(node)

    # Attributes

    def visit_Attribute(self, node: ast.Attribute) -> None:
        module = self._module(node.value)
        if node.attr in {"__name__", "__qualname__"}:  # self.__class__.__name__
            self._fine.add(id(node.value))
        if not module:
            self._check_attribute(node, node.attr, node.ctx)
            self._check_target(node)
            self.visit(node.value)
        elif not isinstance(node.ctx, ast.Load):
            self._flag(node, f"changes the module {module}")
        elif self._module(node) and id(node) not in self._fine:
            self._flag(node, f"hands on the module {module}.{node.attr}")
        elif not self._policy.may_use(module, node.attr):
            self._flag(node, f"uses {module}.{node.attr}")
        elif f"{module}.{node.attr}" in _NEVER_A_VALUE and id(node) not in self._fine:
            self._flag(node, f"hands on {module}.{node.attr}")

    def _check_attribute(self, node: ast.AST, name: str, context: ast.expr_context) -> None:
        if name in names.REFUSED_ATTRIBUTES:
            self._flag(node, f"uses the attribute {name}")
        elif names.is_dunder(name):
            written = not isinstance(context, ast.Load) and name not in {"__name__", "__qualname__", "__doc__"}
            if id(node) not in self._fine and (written or name not in names.READ):
                self._flag(node, f"uses the attribute {name}")
        elif name.startswith("_") and name not in self._bindings.private | names.KNOWN_PRIVATE:
            self._flag(node, f"uses the attribute {name}, which is not its own")

    def _check_target(self, node: ast.Attribute) -> None:
        root: ast.expr = node.value
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or isinstance(node.ctx, ast.Load):
            return
        if self._called(root):
            self._flag(node, f"changes {root.id}, which it imports")
        given = any(root.id in one.given for one in self._around if isinstance(one, Names))
        if node.attr.startswith("assert_") or (given and node.attr in names.OF_MOCKS):
            self._flag(node, f"changes {node.attr} of what may be a mock of the tests")

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            self._check_attribute(node, name, ast.Load())
        self.generic_visit(node)

    # Calls

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        self._check_limited(node, self._called(function))
        if isinstance(function, ast.Name) and not self._is_local(function.id):
            self._check_builtin(node, function)
        elif isinstance(function, ast.Attribute):
            self._check_method(node, function)
        self.generic_visit(node)

    def _check_builtin(self, node: ast.Call, function: ast.Name) -> None:
        if function.id in names.ATTRIBUTE_CALLS:
            self._fine.add(id(function))
            name = _text(node.args[1]) if len(node.args) > 1 else None
            if name is None:
                self._flag(node, f"{function.id} with a name that is worked out")
            else:
                self._check_attribute(node, name, ast.Load() if function.id == "getattr" else ast.Store())
        elif function.id == "type" and len(node.args) == 1 and not node.keywords:
            self._fine |= {id(function)} if not isinstance(node.args[0], ast.Starred) else set()
        elif function.id in {"isinstance", "issubclass"}:
            self._fine |= {id(one) for two in node.args[1:] for one in ast.walk(two) if isinstance(one, ast.Name)}

    def _check_method(self, node: ast.Call, function: ast.Attribute) -> None:
        if function.attr in {"__setattr__", "__delattr__"} and _is_object(function.value):
            literal = [text for one in node.args[:2] if (text := _text(one)) is not None]
            if literal and not any(names.is_dunder(one) for one in literal):
                self._fine.add(id(function))
        elif function.attr in names.PROTOCOL or function.attr == "__class__":
            self._fine.add(id(function))

    def _check_limited(self, node: ast.Call, name: str) -> None:
        if name in _LIMITED:
            words = {one.arg for one in node.keywords}
            fine = words <= _BASIC_CONFIG if name == "logging.basicConfig" else not words
            if fine and len(node.args) <= _LIMITED[name] and not any(isinstance(one, ast.Starred) for one in node.args):
                self._fine.add(id(node.func))

    def visit_Compare(self, node: ast.Compare) -> None:
        for one in (node.left, *node.comparators):
            if (isinstance(one, ast.Attribute) and one.attr == "__class__") or (
                isinstance(one, ast.Name) and one.id == "type"
            ):
                self._fine.add(id(one))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _FORMAT.search(node.value):
            self._flag(node, "a format that reads attributes")

    # Definitions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._enter(node, [node.body])

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        owner = self._around[-1] if self._around else None
        if names.is_dunder(node.name) and not (isinstance(owner, ast.ClassDef) and node.name in names.DEFINED):
            self._flag(node, f"defines {node.name}")
        elif isinstance(owner, ast.ClassDef):
            self._check_comparison(node, owner)
        else:
            self._check_bound(node, node.name)
        for one in [*node.decorator_list, *getattr(node, "type_params", [])]:
            self.visit(one)
        if node.returns is not None:
            self._annotation(node.returns)
        self._enter(node, node.body)

    def _check_comparison(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef) -> None:
        scopes = [one for one in self._around if isinstance(one, Names)] + [Names(node, is_method=True)]
        is_type_another = any("type" in one.own for one in scopes)
        if node.name in names.COMPARISONS and (is_type_another or can_lie(node, owner, self._bindings)):
            self._flag(node, f"{node.name} that may be true for any object: ask for the own class first")
        elif node.name == "__contains__" and _is_constant(node):
            self._flag(node, "__contains__ that does not look")

    def _enter(self, node: Scope, body: Sequence[ast.AST]) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        given = [one for one in ast.walk(node.args) if isinstance(one, ast.arg)]
        for one in given:
            if one.annotation is not None:
                self._annotation(one.annotation)
        self._around.append(Names(node, is_method=self._in_class()))
        for one in given:
            self._check_bound(one, one.arg)
        for part in body:
            self.visit(part)
        self._around.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        named = [one for one in node.targets if isinstance(one, ast.Name) and one.id == "__match_args__"]
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if named and any((text := _text(one)) is None or text.startswith("_") for one in parts):
            self._flag(node, "sets __match_args__ to what are no plain names")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def _annotation(self, node: ast.expr) -> None:
        self._fine |= {id(one) for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == "type"}
        self.flags += self._annotations.flags(node)
        for one in self._annotations.written_as_text(node):
            self.visit(one)
        self.visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id == "type":
            self._fine.add(id(node.value))
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._check_bound(node, node.name)
        self._check_bases(node)
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and self._bindings.certain(keyword.value) not in _METACLASSES:
                self._flag(node, "a metaclass of its own")
            elif keyword.arg is None:
                self._flag(node, "class keywords that are worked out")
            self._fine |= {id(keyword.value)} if keyword.arg == "metaclass" else set()
        for around in [*node.decorator_list, *node.bases, *node.keywords, *getattr(node, "type_params", [])]:
            self.visit(around)
        self._around.append(node)
        for statement in node.body:
            self.visit(statement)
        self._around.pop()

    def _check_bases(self, node: ast.ClassDef) -> None:
        bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        said = [self._called(base) or (base.id if isinstance(base, ast.Name) else "") for base in bases]
        last = {name.rpartition(".")[2] for name in said}
        if _METACLASSES & set(said):
            self._flag(node, "a metaclass of its own")
        if len(names.EXCEPTIONS & last) > 2:
            self._flag(node, "an exception of too many kinds")
        defined = {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        defined = {name for name in defined if names.is_dunder(name)}
        is_enum = any("Enum" in name or "Flag" in name for name in last)
        strange = defined & names.NUMERIC if is_enum else defined - names.ON_SCALARS
        if last & (names.SCALARS | names.ENUMS_OF_SCALARS) and strange:
            of = min(last & (names.SCALARS | names.ENUMS_OF_SCALARS))
            self._flag(node, f"a kind of {of} with {min(strange)} of its own")
        elif last & (names.CONTAINERS | names.SCALARS) and defined & (names.COMPARISONS | {"__contains__"}):
            self._flag(node, "a kind of a built-in type that compares in its own way")


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_object(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
        return isinstance(node, ast.Name) and node.id == "super"
    return isinstance(node, ast.Name) and node.id == "object"


def _is_constant(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    return all(one is None or isinstance(one, ast.Constant) for one in returned)
