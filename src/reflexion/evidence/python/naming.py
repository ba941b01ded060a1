"""Which names of a module documentation is expected to name."""

import ast

from reflexion.evidence.python.hierarchy import ClassIndex
from reflexion.evidence.python.parameters import functional_flavour
from reflexion.evidence.python.scopes import Definition, Scope
from reflexion.evidence.python.syntax import DEFINITIONS, last_name

_TYPE_MAKERS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "TypeAliasType"})
_LOGGER_MAKERS = frozenset({"getLogger", "get_logger", "Logger"})
_LOGGER_NAMES = frozenset({"log", "logger"})
_TYPE_NAMES = frozenset(
    {"Annotated", "Any", "Callable", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator", "List", "Literal"}
    | {"Mapping", "Optional", "Sequence", "Set", "Tuple", "Type", "Union"}
    | {"dict", "frozenset", "list", "set", "tuple", "type"}
)


def public_names(module: Scope, classes: ClassIndex) -> frozenset[str]:
    """Return the qualnames of all public functions, classes and methods, and of public constants."""
    public = {name for name, definitions in module.names.items() if is_public(name, definitions, module)}
    for info in classes:
        if info.qualname.partition(".")[0] in public and not _hidden(info.qualname):
            public.add(info.qualname)
            public |= {f"{info.qualname}.{name}" for name in info.scope.names if not name.startswith("_")}
    return frozenset(public)


def is_public(name: str, definitions: list[Definition], module: Scope) -> bool:
    """Tell whether a module-level name is one that documentation is expected to name."""
    if module.exports is not None:
        return name in module.exports
    if name.startswith("_") or all(definition.script_only for definition in definitions):
        return False
    if any(isinstance(definition.node, DEFINITIONS) for definition in definitions):
        return True
    return any(_is_public_constant(name, definition) for definition in definitions)


def _is_public_constant(name: str, definition: Definition) -> bool:
    maker = last_name(definition.value) if isinstance(definition.value, ast.Call) else ""
    if isinstance(definition.value, ast.Lambda) or functional_flavour(definition.value):
        return True
    if maker in _TYPE_MAKERS or maker in _LOGGER_MAKERS or name.lower() in _LOGGER_NAMES:
        return False
    kind = last_name(definition.annotation)
    if kind in {"TypeAlias", "Logger"} or _is_alias(definition.value):
        return False
    return definition.annotation is not None or name.isupper()


def _is_alias(value: ast.expr | None) -> bool:
    """Tell whether a value is a type: ``dict[str, int]``, ``Callable[..., None]``, ``int | None``."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        sides = (value.left, value.right)
        return any(_is_alias(side) or last_name(side) in {"int", "str", "float", "bytes", "bool"} for side in sides)
    return isinstance(value, ast.Subscript) and last_name(value.value) in _TYPE_NAMES


def _hidden(qualname: str) -> bool:
    return any(part.startswith("_") for part in qualname.split(".")[1:])
