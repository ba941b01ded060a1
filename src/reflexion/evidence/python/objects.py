"""Which names of a class body an object may hold another value for than the body gives."""

import ast

from reflexion.evidence.python.hierarchy import ClassInfo
from reflexion.evidence.python.parameters import is_class_variable, may_hold_fields
from reflexion.evidence.python.syntax import FUNCTIONS


def may_differ(info: ClassInfo, name: str) -> bool:
    """Tell whether a name is a field that callers fill when they make the object: its value is only the default."""
    owner = info.owner_of(name)
    if owner is None:
        return False
    node = owner.scope.names[name][-1].node
    if not isinstance(node, ast.AnnAssign) or is_class_variable(node):
        return False
    decorated = any(each.node.decorator_list for each in info.mro)
    return decorated or any(may_hold_fields(base) or "tuple" in base.lower() for base in info.foreign_bases())


def writers_of(info: ClassInfo) -> dict[str, set[str]]:
    """Return which methods of a class and of its bases here set an attribute of any object, by attribute."""
    writers: dict[str, set[str]] = {}
    for method in (statement for each in info.mro for statement in each.node.body):
        if isinstance(method, FUNCTIONS):
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                    writers.setdefault(node.attr, set()).add(method.name)
    return writers


def rebound_names(module: ast.Module) -> frozenset[str]:
    """Return the names of the module that its functions set: ``global counter``."""
    return frozenset(name for node in ast.walk(module) if isinstance(node, ast.Global) for name in node.names)
