"""What stands in annotations, texts included: some of the standard library evaluates them (``functools.singledispatch``
does, of the functions that it is given).
"""

import ast
import builtins
from collections.abc import Iterator

from reflexion.suite.bindings import Bindings
from reflexion.suite.comparing import HARMLESS_DECORATORS
from reflexion.suite.result import Flag

_PARTS = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.Starred, ast.BinOp, ast.BitOr),
    *(ast.expr_context, ast.UnaryOp, ast.USub),
)


class Annotations:
    """The annotations of a candidate."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._evaluated = bindings.dispatches

    def flags(self, node: ast.expr) -> Iterator[Flag]:
        """Yield what is wrong with an annotation: more than a type is, or what could be a text in disguise."""
        for whole in (node, *self.written_as_text(node)):
            strange = [one for one in ast.walk(whole) if not isinstance(one, _PARTS)]
            if strange and self._evaluated:
                yield Flag(node.lineno, "an annotation that is more than a type")
            elif self._evaluated:
                hidden = [one.id for one in ast.walk(whole) if isinstance(one, ast.Name) and not self._is_type(one.id)]
                yield from (Flag(node.lineno, f"an annotation by the variable {name}") for name in hidden)

    def written_as_text(self, node: ast.expr) -> list[ast.expr]:
        """Return the texts in an annotation as the expressions that they would be evaluated as."""
        found: list[ast.expr] = []
        todo: list[ast.AST] = [node]
        while todo:
            for one in ast.walk(todo.pop()):
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    parsed = _parsed(one)
                    found += parsed
                    todo += parsed
        return found

    def _is_type(self, name: str) -> bool:
        """Say whether a name is sure to be no text: a built-in type, an import, or a class and nothing else."""
        if name in self._bindings.modules or name in self._bindings.imported or self._bindings.counts[name] == 0:
            return self._bindings.counts[name] <= 1 and (hasattr(builtins, name) or self._bindings.counts[name] == 1)
        found = self._bindings.classes.get(name)
        if found is None:
            return self._is_variable_of_types(name)
        decorators = (one.func if isinstance(one, ast.Call) else one for one in found.decorator_list)
        plain = all(self._bindings.qualified(one) in HARMLESS_DECORATORS for one in decorators)
        methods = {one.name for one in found.body if isinstance(one, ast.FunctionDef)}
        return self._bindings.counts[name] == 1 and plain and "__class_getitem__" not in methods

    def _is_variable_of_types(self, name: str) -> bool:
        return name in self._bindings.type_variables and self._bindings.counts[name] == 1


def _parsed(node: ast.Constant) -> list[ast.expr]:
    try:
        tree = ast.parse(str(node.value).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # nor could anybody evaluate it
    for one in ast.walk(tree):
        if isinstance(one, ast.expr):
            one.lineno = node.lineno
    return [tree]
