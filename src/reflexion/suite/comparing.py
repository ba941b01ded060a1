"""Whether a candidate's comparisons can be true for what is none of its own objects.

An object that is equal to everything passes any test that compares. So a method such as ``__eq__`` has to ask for its
own class first, or to read something of the other object that no number, text or container has.
"""

import ast
import builtins
from collections.abc import Callable, Iterator

from reflexion.suite.bindings import Bindings
from reflexion.suite.names import BUILTIN_ATTRIBUTES

HARMLESS_DECORATORS = frozenset(
    {"dataclasses.dataclass", "functools.total_ordering", "typing.final", "enum.unique", "typing.runtime_checkable"}
)
# What may be called to make a base class.
_RECORDS = frozenset({"collections.namedtuple", "typing.NamedTuple"})
Method = ast.FunctionDef | ast.AsyncFunctionDef


def can_lie(method: Method, owner: ast.ClassDef, bindings: Bindings) -> bool:
    """Say whether a comparison method may answer with something else than False, for an object of a built-in type."""
    arguments = method.args.posonlyargs + method.args.args
    if len(arguments) != 2 or method.args.vararg or method.args.kwarg or isinstance(method, ast.AsyncFunctionDef):
        return True
    if method.decorator_list:
        return True
    return not _Comparison(method.name, arguments[0].arg, arguments[1].arg, owner, bindings).is_guarded(method.body)


class _Comparison:
    def __init__(self, name: str, mine: str, other: str, owner: ast.ClassDef, bindings: Bindings) -> None:
        self._name, self._mine, self._other, self._owner, self._bindings = name, mine, other, owner, bindings

    def is_guarded(self, body: list[ast.stmt]) -> bool:
        """Say whether the first statement settles the matter for strangers."""
        statements = [one for one in body if not _is_text(one)]
        if not statements:
            return True
        first = statements[0]
        if isinstance(first, ast.If):
            return self._is_guard(first, statements[1:])
        if not isinstance(first, ast.Return) or first.value is None:
            return isinstance(first, ast.Raise)
        return _is_no(first.value) or self._begins_with_check(first.value) or self._is_comparison(first.value)

    def _is_guard(self, first: ast.If, rest: list[ast.stmt]) -> bool:
        if self._is_stranger(first.test):
            return _is_refusal(first.body)
        # As a condition NotImplemented is true.
        own = self._is_own(first.test) or self._begins_with_check(first.test, no=_is_false)
        return own and _is_refusal(first.orelse or rest)

    def _is_stranger(self, test: ast.expr) -> bool:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._is_own(test.operand)
        return self._same_type(test, ast.IsNot, ast.NotEq)

    def _is_own(self, test: ast.expr) -> bool:
        if self._same_type(test, ast.Is, ast.Eq):
            return True
        if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"):
            return False
        return len(test.args) == 2 and _is_name(test.args[0], self._other) and self._is_own_class(test.args[1])

    def _is_own_class(self, node: ast.expr) -> bool:
        named = isinstance(node, ast.Name) and node.id == self._owner.name and self._bindings.is_one_class(node.id)
        return (named or _type_of(node) == self._mine) and self._is_closed(self._owner, frozenset())

    def _is_closed(self, owner: ast.ClassDef, above: frozenset[str]) -> bool:
        """Say whether nothing but the objects of a class can pass for them, by what is seen of its bases.

        isinstance() is true as well for what a class is told to be a base of (register), and for all that looks like it
        (typing.Protocol).
        """
        plain = all(self._decorator(one) in HARMLESS_DECORATORS for one in owner.decorator_list)
        if not plain or ((owner.bases or owner.keywords) and self._bindings.registers):
            return False
        return owner.name not in above and all(self._is_plain(base, above | {owner.name}) for base in owner.bases)

    def _is_plain(self, base: ast.expr, above: frozenset[str]) -> bool:
        base = base.func if isinstance(base, ast.Call) and self._decorator(base) in _RECORDS else _bare(base)
        if isinstance(base, ast.Name) and self._bindings.is_one_class(base.id):
            return self._is_closed(self._bindings.classes[base.id], above)
        module, _, name = self._bindings.certain(base).rpartition(".")
        if not module:
            return isinstance(base, ast.Name) and hasattr(builtins, base.id) and not self._bindings.counts[base.id]
        return module != "typing" or not name.startswith(("Protocol", "Supports"))

    def _decorator(self, node: ast.expr) -> str:
        return self._bindings.certain(node.func if isinstance(node, ast.Call) else node)

    def _same_type(self, test: ast.expr, *operators: type[ast.cmpop]) -> bool:
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], operators)):
            return False
        sides = [test.left, test.comparators[0]]
        types = {_type_of(one) for one in sides}
        own = any(isinstance(one, ast.Name) and self._is_own_class(one) for one in sides)
        return types == {self._mine, self._other} or (own and self._other in types)

    def _begins_with_check(self, value: ast.expr, no: Callable[[ast.expr], bool] | None = None) -> bool:
        no = no or _is_no
        if isinstance(value, ast.IfExp):
            own, stranger = self._is_own(value.test), self._is_stranger(value.test)
            return (own and no(value.orelse)) or (stranger and no(value.body))
        return isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) and self._is_own(value.values[0])

    def _is_comparison(self, value: ast.expr) -> bool:
        """Say whether this compares something of mine with the same thing of the other, or asks another comparison."""
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And):
            return self._is_comparison(value.values[0])
        if isinstance(value, ast.BoolOp):
            return all(self._asks(one) for one in value.values)
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
            return self._name == "__ne__" and self._asks(value.operand)
        if not (isinstance(value, ast.Compare) and len(value.ops) == 1):
            return False
        sides = (value.left, value.comparators[0])
        mine = [one for one in sides if _mentions(one, self._mine) and not _mentions(one, self._other)]
        others = [one for one in sides if _mentions(one, self._other) and not _mentions(one, self._mine)]
        return len(mine) == len(others) == 1 and self._reads_other(others[0])

    def _asks(self, value: ast.expr) -> bool:
        return (
            isinstance(value, ast.Compare)
            and len(value.ops) == 1
            and _is_name(value.left, self._mine)
            and _is_name(value.comparators[0], self._other)
            and isinstance(value.ops[0], ast.Eq | ast.Lt | ast.Gt)
            and self._name not in {"__eq__", "__lt__", "__gt__"}
        )

    def _reads_other(self, value: ast.expr) -> bool:
        return any(
            isinstance(one, ast.Attribute)
            and _is_name(one.value, self._other)
            and one.attr not in BUILTIN_ATTRIBUTES
            and not one.attr.startswith("__")
            for one in _certain(value)
        )


def _certain(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an expression that are worked out whenever it is."""
    yield node
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.Attribute | ast.Subscript | ast.Call):
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                yield from _certain(one)


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _bare(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _type_of(node: ast.expr) -> str:
    """Return the name whose type this is: of ``type(x)`` or ``x.__class__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__" and isinstance(node.value, ast.Name):
        return node.value.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        return node.args[0].id if len(node.args) == 1 and isinstance(node.args[0], ast.Name) else ""
    return ""


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_no(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "NotImplemented"
    return _is_false(node)


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_refusal(body: list[ast.stmt]) -> bool:
    """Say whether these statements do nothing but say no, or raise."""
    statements = [one for one in body if not _is_text(one)]
    only = statements[0] if len(statements) == 1 else None
    return isinstance(only, ast.Raise) or (isinstance(only, ast.Return) and _is_no(only.value))
