"""What the names of a candidate stand for, as far as its syntax says so."""

import ast
from collections import Counter
from collections.abc import Iterator

from reflexion.suite.modules import Policy
from reflexion.suite.names import is_dunder

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_DISPATCHING = frozenset({"singledispatch", "singledispatchmethod"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Bindings:
    """The imports of a module, wherever in it they stand, its classes, and how often each name is bound."""

    def __init__(self, tree: ast.Module, policy: Policy) -> None:
        self.modules: dict[str, str] = {}
        self.imported: dict[str, str] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.counts: Counter[str] = Counter()
        self.private: set[str] = set()
        self.ambiguous: set[str] = set()
        self.inner: set[str] = set()
        """Names of classes in the body of another, where no method finds them by that name."""
        self.registers = False
        self.dispatches = False
        self.type_variables: set[str] = set()
        self._policy = policy
        for node in ast.walk(tree):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        self.counts.update(bound_by(node))
        self.private |= {name for name in _attributes_made_by(node) if name.startswith("_")}
        self.registers |= "register" in _names_read(node)
        if isinstance(node, ast.Attribute):
            self.dispatches |= node.attr in _DISPATCHING
        elif isinstance(node, ast.alias):
            self.dispatches |= node.name in _DISPATCHING
        self.type_variables |= set(_type_variables(node))
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
            self.inner |= {one.name for one in _own_nodes(node) if isinstance(one, ast.ClassDef)}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                self._add(self.modules, name, alias.name if alias.asname else name)
        elif isinstance(node, ast.ImportFrom):
            self._note_from(node)

    def _note_from(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            where = self.modules if self._policy.is_module(whole) else self.imported
            self._add(where, alias.asname or alias.name, whole)

    def _add(self, where: dict[str, str], name: str, whole: str) -> None:
        if {self.modules.get(name, whole), self.imported.get(name, whole)} != {whole}:
            self.ambiguous.add(name)
        where[name] = whole

    def qualified(self, node: ast.expr) -> str:
        """Return the full name of what was imported and is meant here, such as ``functools.wraps``; else ""."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, "") or self.imported.get(node.id, "")
        if isinstance(node, ast.Attribute):
            before = self.qualified(node.value)
            return f"{before}.{node.attr}" if before else ""
        return ""

    def certain(self, node: ast.expr) -> str:
        """Do as ``qualified``, but return "" where the name stands for something else as well."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return self.qualified(node) if isinstance(root, ast.Name) and self.counts[root.id] == 1 else ""

    def is_one_class(self, name: str) -> bool:
        """Say whether a name is a class of this module, and never anything else."""
        return name in self.classes and self.counts[name] == 1 and name not in self.inner


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that this node itself binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _names_read(node: ast.AST) -> tuple[str, ...]:
    """Return the names of attributes that may be read here; one for ``getattr`` is a literal, or flagged."""
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.MatchClass):
        return tuple(node.kwd_attrs)
    is_getattr = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"
    found = node.args[1:2] if is_getattr and isinstance(node, ast.Call) else []
    return tuple(one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _own_nodes(node: ast.ClassDef) -> Iterator[ast.AST]:
    """Yield what is in the body of a class, but not in that of what it defines."""
    todo: list[ast.AST] = list(node.body)
    while todo:
        one = todo.pop()
        yield one
        if not isinstance(one, _INNER):
            todo += ast.iter_child_nodes(one)


def _attributes_made_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that objects of the candidate may have because of this node."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        yield from _slots(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        # object.__setattr__(self, "_name", value), setattr(self, "_name", value)
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if called in {"setattr", "__setattr__"}:
            yield from (one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _type_variables(node: ast.AST) -> Iterator[str]:
    made = node.value.func if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
    if isinstance(made, ast.Name) and made.id in {"TypeVar", "ParamSpec", "NewType", "TypeVarTuple"}:
        assert isinstance(node, ast.Assign)
        yield from (one.id for one in node.targets if isinstance(one, ast.Name))


def _slots(node: ast.AST) -> Iterator[str]:
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.Assign) and any(isinstance(it, ast.Name) and it.id == "__slots__" for it in one.targets):
            for text in ast.walk(one.value):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield text.value


class Names:
    """The names that are a function's own, and those that it says are not. ``given`` are its arguments', but for the
    object that a method is of.
    """

    def __init__(self, node: Scope, *, is_method: bool) -> None:
        parameters = [part.arg for part in _parameters(node)]
        self.own = set(parameters)
        self.given = set(parameters[1:] if is_method else parameters)
        self.outside: set[str] = set()
        body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
        while body:
            one = body.pop()
            self.own |= set(bound_by(one)) if not isinstance(one, ast.arg) else set()
            if isinstance(one, ast.Global | ast.Nonlocal):
                self.outside |= set(one.names)
            elif isinstance(one, ast.alias):
                self.outside |= set(bound_by(one))  # what is imported is looked at as such, wherever it is
            # What is bound in a comprehension is bound there only.
            if not isinstance(one, (*_INNER, *_COMPREHENSIONS)):
                body += ast.iter_child_nodes(one)
        self.own -= self.outside


def _parameters(node: Scope) -> list[ast.arg]:
    found = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return found + [one for one in (node.args.vararg, node.args.kwarg) if one is not None]


def special_methods(candidate: str) -> tuple[tuple[int, str], ...]:
    """Return line and name of each special method that a candidate defines; none when it cannot be read."""
    try:
        nodes = list(ast.walk(ast.parse(candidate)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    functions = (one for one in nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return tuple((one.lineno, one.name) for one in functions if is_dunder(one.name))
