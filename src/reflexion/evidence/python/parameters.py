"""Signatures: of functions as they are written, of classes as their constructors come about."""

import ast
from collections.abc import Iterator

from reflexion.evidence.facts import Flavour, Parameter, ParameterKind, Signature
from reflexion.evidence.python.hierarchy import BARE_BASES, ClassIndex, ClassInfo
from reflexion.evidence.python.syntax import (
    FunctionNode,
    annotation_text,
    decorator_names,
    is_constant,
    keyword_value,
    last_name,
    text_of,
    value_text,
)
from reflexion.patterns import regex

_HARMLESS_DECORATORS = frozenset(
    {"dataclass", "final", "total_ordering", "runtime_checkable", "unique", "verify", "deprecated", "override"}
)
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_FLAVOURS: dict[str, Flavour] = {
    **dict.fromkeys(_ENUMS, "enum"),
    "NamedTuple": "namedtuple",
    "NamedTuple()": "namedtuple",
    "namedtuple()": "namedtuple",
    "TypedDict": "typeddict",
    "Protocol": "protocol",
}
_KEYWORD_ONLY_MARK = "KW_ONLY"
_CLASS_VARIABLE = regex(r"(?:\w+\.)?ClassVar\b")


def signature_of(node: FunctionNode | ast.Lambda, *, bound: bool = False) -> Signature:
    """Return a function's signature; of a ``bound`` one without its first positional parameter."""
    parameters = list(_parameters(node.args))
    if bound and parameters and parameters[0].kind in {"positional-only", "positional"}:
        del parameters[0]
    returns = None if isinstance(node, ast.Lambda) else annotation_text(node.returns)
    return Signature(tuple(parameters), returns)


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    for place, (each, default) in enumerate(zip(positional, defaults, strict=True)):
        before_slash = place < len(arguments.posonlyargs)
        yield _parameter(each, "positional-only" if before_slash else "positional", default)
    if arguments.vararg:
        yield _parameter(arguments.vararg, "var-positional", None)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, "keyword-only", default)
    if arguments.kwarg:
        yield _parameter(arguments.kwarg, "var-keyword", None)


def _parameter(node: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    return Parameter(node.arg, kind, annotation_text(node.annotation), None if default is None else text_of(default))


def flavour_of(info: ClassInfo, classes: ClassIndex) -> Flavour:
    """Return what kind of class this is."""
    if any(dataclass_call(each) is not None for each in info.mro):
        return "dataclass"
    for base in info.foreign_bases():
        flavour = _FLAVOURS.get(base.rpartition(".")[2])
        if flavour == "protocol" and base not in info.foreign:
            continue  # a class that implements a protocol is no protocol
        if flavour:
            return flavour
    return "exception" if classes.is_exception(info) else ""


def dataclass_call(info: ClassInfo) -> ast.expr | None:
    """Return the ``@dataclass`` decorator of a class, or None."""
    return next((each for each in info.node.decorator_list if last_name(each) == "dataclass"), None)


def constructor_signatures(info: ClassInfo, flavour: Flavour) -> tuple[Signature, ...]:
    """Return the ways to construct a class: none where the file does not tell."""
    own = _written_constructor(info)
    generated = next((each for each in info.mro if _generates(each, flavour)), None)
    if generated and (own is None or info.mro.index(generated) < info.mro.index(own)):
        return _generated(generated, flavour)
    if own is not None:
        return _written(own)
    opaque = _is_opaque(info) or flavour in {"enum", "typeddict", "protocol"}
    return () if opaque else (Signature((), None),)


def _generates(info: ClassInfo, flavour: Flavour) -> bool:
    if flavour == "namedtuple":
        return any(_FLAVOURS.get(name.rpartition(".")[2]) == "namedtuple" for name in info.foreign)
    decorator = dataclass_call(info)
    return decorator is not None and not _switched(decorator, "init", False)


def _written_constructor(info: ClassInfo) -> ClassInfo | None:
    return next(
        (each for each in info.mro if each.scope.functions("__init__") or each.scope.functions("__new__")), None
    )


def _written(info: ClassInfo) -> tuple[Signature, ...]:
    functions = info.scope.functions("__init__") or info.scope.functions("__new__")
    overloads = [node for node in functions if "overload" in decorator_names(node)]
    signatures = [signature_of(node, bound=True)._replace(returns=None) for node in overloads or functions]
    return tuple(dict.fromkeys(signatures))


def _is_opaque(info: ClassInfo) -> bool:
    """Tell whether something outside of the file may give a class its constructor."""
    if any(name.rpartition(".")[2] not in BARE_BASES for name in info.foreign_bases()):
        return True
    if any(_HARMLESS_DECORATORS.isdisjoint({name}) for each in info.mro for name in decorator_names(each.node)):
        return True
    metaclasses = [keyword.value for each in info.mro for keyword in each.node.keywords if keyword.arg == "metaclass"]
    return any(last_name(value) != "ABCMeta" for value in metaclasses)


def _generated(info: ClassInfo, flavour: Flavour) -> tuple[Signature, ...]:
    if flavour == "namedtuple":
        return (Signature(tuple(_named_tuple_parameters(info)), None),)
    if any(may_hold_fields(name) for name in info.foreign_bases()):
        return ()
    fields: dict[str, Parameter | None] = {}
    for each in reversed(info.mro):
        decorator = dataclass_call(each)
        if decorator is not None:
            fields.update(_dataclass_fields(each, _switched(decorator, "kw_only", True)))
    parameters = [parameter for parameter in fields.values() if parameter is not None]
    parameters.sort(key=lambda parameter: parameter.kind == "keyword-only")
    return (Signature(tuple(parameters), None),)


def may_hold_fields(base: str) -> bool:
    """Tell whether a base from outside of the file may turn annotated names into fields, by its name."""
    last = base.rpartition(".")[2]
    return last not in BARE_BASES and not last.endswith(("Error", "Exception")) and _FLAVOURS.get(last) is None


def _switched(decorator: ast.expr, option: str, value: bool) -> bool:
    return isinstance(decorator, ast.Call) and is_constant(keyword_value(decorator, option), value)


def annotated_fields(info: ClassInfo) -> Iterator[ast.AnnAssign]:
    """Yield the annotated assignments of a class body that are fields of its objects."""
    for definitions in info.scope.names.values():
        node = definitions[-1].node
        if isinstance(node, ast.AnnAssign) and not is_class_variable(node):
            yield node


def is_class_variable(node: ast.AnnAssign) -> bool:
    """Tell whether an annotation is ``ClassVar``, quoted or not."""
    return bool(_CLASS_VARIABLE.match(annotation_text(node.annotation) or ""))


def _dataclass_fields(info: ClassInfo, keyword_only: bool) -> dict[str, Parameter | None]:
    """Return the constructor parameters of a dataclass's own fields; None for a field that is none."""
    fields: dict[str, Parameter | None] = {}
    for node in annotated_fields(info):
        annotation = annotation_text(node.annotation) or ""
        if annotation.rpartition(".")[2] == _KEYWORD_ONLY_MARK:
            keyword_only = True
            continue
        assert isinstance(node.target, ast.Name)
        fields[node.target.id] = _field_parameter(node.target.id, annotation, node.value, keyword_only)
    return fields


def _field_parameter(name: str, annotation: str, value: ast.expr | None, keyword_only: bool) -> Parameter | None:
    default, factory = value, False
    if isinstance(value, ast.Call) and last_name(value.func) == "field":
        if is_constant(keyword_value(value, "init"), False):
            return None
        maker = keyword_value(value, "default_factory")
        default, factory = maker or keyword_value(value, "default"), maker is not None
        keyword_only = (keyword_only or is_constant(keyword_value(value, "kw_only"), True)) and not is_constant(
            keyword_value(value, "kw_only"), False
        )
    if annotation.startswith(("InitVar[", "dataclasses.InitVar[")):
        annotation = annotation.partition("[")[2][:-1]
    text = None if default is None else text_of(default)
    return Parameter(name, "keyword-only" if keyword_only else "positional", annotation, text, factory)


def _named_tuple_parameters(info: ClassInfo) -> Iterator[Parameter]:
    for base in info.node.bases:
        if isinstance(base, ast.Call):
            yield from functional_fields(base)
    for node in annotated_fields(info):
        assert isinstance(node.target, ast.Name)
        yield Parameter(node.target.id, "positional", annotation_text(node.annotation), value_text(node.value))


def functional_flavour(value: ast.expr | None) -> Flavour:
    """Return what kind of class a call makes: ``Enum("Color", "RED BLUE")``, ``namedtuple("Point", "x y")``."""
    if not isinstance(value, ast.Call) or len(value.args) < 2:
        return ""
    name = last_name(value.func)
    return "namedtuple" if name == "namedtuple" else _FLAVOURS.get(name, "")


def functional_fields(call: ast.Call) -> list[Parameter]:
    """Return the fields of ``namedtuple("Point", "x y")``, ``NamedTuple("Point", [("x", int)])`` and their like."""
    fields = call.args[1] if len(call.args) > 1 else None
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        return _with_defaults([Parameter(name, "positional") for name in fields.value.replace(",", " ").split()], call)
    if isinstance(fields, ast.Dict):
        pairs = [ast.Tuple(elts=[key, value]) for key, value in zip(fields.keys, fields.values, strict=True) if key]
        return [each for pair in pairs for each in _functional_field(pair)]
    if not isinstance(fields, ast.List | ast.Tuple):
        return []
    return _with_defaults([each for element in fields.elts for each in _functional_field(element)], call)


def _functional_field(element: ast.expr) -> Iterator[Parameter]:
    if isinstance(element, ast.Constant):
        yield Parameter(str(element.value), "positional")
    elif isinstance(element, ast.Tuple) and len(element.elts) == 2 and isinstance(element.elts[0], ast.Constant):
        yield Parameter(str(element.elts[0].value), "positional", annotation_text(element.elts[1]))


def _with_defaults(fields: list[Parameter], call: ast.Call) -> list[Parameter]:
    defaults = keyword_value(call, "defaults")
    if not isinstance(defaults, ast.List | ast.Tuple):
        return fields
    values = [text_of(each) for each in defaults.elts][-len(fields) :]
    first = len(fields) - len(values)
    return fields[:first] + [each._replace(default=text) for each, text in zip(fields[first:], values, strict=True)]
