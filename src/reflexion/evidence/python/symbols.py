"""Builds the Symbols of a module from its scopes, its classes and the reach of its exceptions."""

import ast
from collections.abc import Iterator, Sequence

from reflexion.evidence.facts import Binding, Flavour, Raise, Signature, Symbol, SymbolKind
from reflexion.evidence.python.hierarchy import BARE_BASES, ClassIndex, ClassInfo
from reflexion.evidence.python.naming import public_names
from reflexion.evidence.python.parameters import (
    constructor_signatures,
    flavour_of,
    functional_fields,
    functional_flavour,
    signature_of,
)
from reflexion.evidence.python.reach import Reach
from reflexion.evidence.python.scopes import Definition, Scope
from reflexion.evidence.python.syntax import (
    FUNCTIONS,
    FunctionNode,
    accessor_of,
    annotation_text,
    decorator_names,
    is_property,
    last_name,
    text_of,
    value_text,
)
from reflexion.evidence.python.thrown import Thrower
from reflexion.evidence.python.units import Unit

_CONSTRUCTION = ("__init__", "__post_init__", "__new__")


class SymbolBuilder:
    """Builds every symbol of one file."""

    def __init__(self, module: Scope, classes: ClassIndex, thrower: Thrower) -> None:
        self._module = module
        self._classes = classes
        self._public = public_names(module, classes)
        self._reach = Reach(module, classes, thrower, self._public)

    def symbols(self) -> tuple[Symbol, ...]:
        """Return the module's symbols in source order."""
        return self._members(self._module, None, "")

    def _members(self, scope: Scope, owner: ClassInfo | None, flavour: Flavour) -> tuple[Symbol, ...]:
        found = [self._symbol(name, every, owner, flavour) for name, every in scope.names.items() if every]
        return tuple(sorted(found, key=lambda symbol: symbol.line))

    def _symbol(self, name: str, definitions: list[Definition], owner: ClassInfo | None, flavour: Flavour) -> Symbol:
        qualname = f"{owner.qualname}.{name}" if owner else name
        classes = [each.node for each in definitions if isinstance(each.node, ast.ClassDef)]
        functions = [each.node for each in definitions if isinstance(each.node, FUNCTIONS)]
        if classes:
            return self._class(qualname, classes)
        if functions:
            return self._function(qualname, functions, owner)
        return self._value(qualname, definitions, owner, flavour)

    # Functions, methods, properties

    def _function(self, qualname: str, nodes: list[FunctionNode], owner: ClassInfo | None) -> Symbol:
        if owner and any(is_property(node) for node in nodes):
            return self._property(qualname, nodes)
        first = nodes[0]
        overloads = [node for node in nodes if "overload" in decorator_names(node)]
        bodies = [node for node in nodes if node not in overloads] or nodes
        main = bodies[0]
        binding = _binding(main)
        bound = owner is not None and binding != "static"
        written = tuple(dict.fromkeys(signature_of(node, bound=bound) for node in overloads or bodies))
        certain, possible, unknown = self._raises(bodies)
        units = [self._reach.unit(node) for node in bodies]
        return Symbol(
            qualname=qualname,
            kind="method" if owner else "function",
            line=first.lineno,
            end_line=_end(nodes),
            public=qualname in self._public,
            signatures=written,
            is_async=any(isinstance(node, ast.AsyncFunctionDef) for node in bodies),
            decorators=_decorators(main),
            raises=certain,
            docstring=_docstring(*bodies, *nodes),
            implementation=signature_of(main, bound=bound) if overloads and main not in overloads else None,
            is_generator=any(unit.is_generator for unit in units),
            binding=binding if owner else "instance",
            possible_raises=possible,
            raises_unknown=unknown,
            returned_keys=_same(_returned_keys(unit) for unit in units),
            returned_values=_same(_returned_values(unit) for unit in units),
        )

    def _property(self, qualname: str, nodes: list[FunctionNode]) -> Symbol:
        getter = next((node for node in nodes if not accessor_of(node)), nodes[0])
        certain, possible, unknown = self._raises(nodes)
        return Symbol(
            qualname=qualname,
            kind="property",
            line=getter.lineno,
            end_line=_end(nodes),
            public=qualname in self._public,
            decorators=_decorators(getter),
            annotation=annotation_text(getter.returns),
            raises=certain,
            docstring=_docstring(getter),
            possible_raises=possible,
            raises_unknown=unknown,
            writable=any(accessor_of(node) == "setter" for node in nodes),
            deletable=any(accessor_of(node) == "deleter" for node in nodes),
            returned_keys=_returned_keys(self._reach.unit(getter)),
            returned_values=_returned_values(self._reach.unit(getter)),
        )

    def _raises(self, nodes: list[FunctionNode]) -> tuple[tuple[Raise, ...], tuple[Raise, ...], bool]:
        results = [self._reach.raises(node) for node in nodes]
        certain = dict.fromkeys(each for result in results for each in result[0])
        possible = dict.fromkeys(each for result in results for each in result[1] if each not in certain)
        return tuple(certain), tuple(possible), any(result[2] for result in results)

    # Classes

    def _class(self, qualname: str, nodes: list[ast.ClassDef]) -> Symbol:
        first, *others = (self._one_class(qualname, self._classes.of(node)) for node in nodes)
        known = {member.name for member in first.members}
        extra = {member.name: member for other in others for member in other.members if member.name not in known}
        members = tuple(sorted((*first.members, *extra.values()), key=lambda member: member.line))
        return first._replace(members=members, end_line=_end(nodes)) if others else first

    def _one_class(self, qualname: str, info: ClassInfo) -> Symbol:
        flavour = flavour_of(info, self._classes)
        certain, possible, unknown = self._reach.raises(info.node)
        return Symbol(
            qualname=qualname,
            kind="class",
            line=info.node.lineno,
            end_line=info.node.end_lineno or info.node.lineno,
            public=qualname in self._public,
            signatures=constructor_signatures(info, flavour),
            decorators=_decorators(info.node),
            bases=tuple(text_of(base) for base in info.node.bases),
            raises=tuple(certain),
            docstring=_docstring(info.node),
            members=self._class_members(qualname, info, flavour),
            possible_raises=tuple(possible),
            raises_unknown=unknown,
            flavour=flavour,
            inherited=self._inherited(info),
            open_bases=any(name.rpartition(".")[2] not in BARE_BASES for name in info.foreign_bases()),
        )

    def _class_members(self, qualname: str, info: ClassInfo, flavour: Flavour) -> tuple[Symbol, ...]:
        members = {symbol.name: symbol for symbol in self._members(info.scope, info, flavour)}
        for base in info.node.bases:
            made = functional_flavour(base)
            if made and isinstance(base, ast.Call):
                for each in _functional_members(qualname, base, made, self._public):
                    members.setdefault(each.name, each)
        for name, symbol in self._self_fields(qualname, info):
            members.setdefault(name, symbol)
        return tuple(sorted(members.values(), key=lambda member: member.line))

    def _self_fields(self, qualname: str, info: ClassInfo) -> Iterator[tuple[str, Symbol]]:
        """Yield the attributes that methods assign, those of construction first."""
        methods = sorted(info.scope.names, key=lambda name: name not in _CONSTRUCTION)
        for method in methods:
            for node in info.scope.functions(method):
                for each in self._reach.unit(node).self_fields:
                    at_start = method in _CONSTRUCTION and qualname in self._public
                    constant = isinstance(each.value, ast.Constant)
                    annotation = each.node.annotation if isinstance(each.node, ast.AnnAssign) else None
                    yield (
                        each.name,
                        Symbol(
                            qualname=f"{qualname}.{each.name}",
                            kind="field",
                            line=each.node.lineno,
                            end_line=each.node.end_lineno or each.node.lineno,
                            public=at_start and not each.name.startswith("_"),
                            value=value_text(each.value) if constant else None,
                            annotation=annotation_text(annotation),
                        ),
                    )

    def _inherited(self, info: ClassInfo) -> tuple[str, ...]:
        names: dict[str, str] = {}
        for base in info.mro[1:]:
            for name in base.scope.names:
                if not name.startswith("_") and name not in info.scope.names:
                    names.setdefault(name, f"{base.qualname}.{name}")
        return tuple(names.values())

    # Constants, fields, enum members

    def _value(self, qualname: str, definitions: list[Definition], owner: ClassInfo | None, flavour: Flavour) -> Symbol:
        first = definitions[0]
        made = self._made(qualname, first, owner)
        if made is not None:
            return made
        values = tuple(dict.fromkeys(value_text(each.value) for each in definitions))
        annotation = next((each.annotation for each in definitions if each.annotation is not None), None)
        return Symbol(
            qualname=qualname,
            kind=_value_kind(first, owner, flavour),
            line=first.node.lineno,
            end_line=first.node.end_lineno or first.node.lineno,
            public=qualname in self._public,
            value=values[0] if len(values) == 1 else None,
            annotation=annotation_text(annotation),
            docstring=next((each.docstring for each in definitions if each.docstring), None),
            alternatives=tuple(text for text in values if text is not None) if len(values) > 1 else (),
        )

    def _made(self, qualname: str, definition: Definition, owner: ClassInfo | None) -> Symbol | None:
        """Return the function, class or property that a call or lambda makes, or None for a plain value."""
        value = definition.value
        base = Symbol(
            qualname=qualname,
            kind="function",
            line=definition.node.lineno,
            end_line=definition.node.end_lineno or definition.node.lineno,
            public=qualname in self._public,
            docstring=definition.docstring,
        )
        if isinstance(value, ast.Lambda):
            signature = signature_of(value, bound=owner is not None)
            return base._replace(kind="method" if owner else "function", signatures=(signature,))
        if not isinstance(value, ast.Call):
            return None
        flavour = functional_flavour(value)
        if flavour:
            members = tuple(_functional_members(qualname, value, flavour, self._public))
            parameters = tuple(functional_fields(value))
            signatures = (Signature(parameters, None),) if flavour == "namedtuple" else ()
            return base._replace(kind="class", signatures=signatures, members=members, flavour=flavour, open_bases=True)
        if owner and last_name(value.func) == "property":
            return base._replace(kind="property")
        return None


def _functional_members(qualname: str, call: ast.Call, flavour: Flavour, public: frozenset[str]) -> Iterator[Symbol]:
    for each in functional_fields(call):
        yield Symbol(
            qualname=f"{qualname}.{each.name}",
            kind="enum member" if flavour == "enum" else "field",
            line=call.lineno,
            end_line=call.end_lineno or call.lineno,
            public=qualname in public and not each.name.startswith("_"),
            value=each.default or (each.annotation if flavour == "enum" else None),
            annotation=None if flavour == "enum" else each.annotation,
        )


def _value_kind(definition: Definition, owner: ClassInfo | None, flavour: Flavour) -> SymbolKind:
    if owner is None:
        return "constant"
    plain = isinstance(definition.node, ast.Assign) and not definition.name.startswith("__")
    if flavour == "enum" and plain and not (definition.name.startswith("_") and definition.name.endswith("_")):
        return "enum member"
    return "field"


def _binding(node: FunctionNode) -> Binding:
    names = decorator_names(node)
    if "staticmethod" in names:
        return "static"
    return "class" if "classmethod" in names or node.name in {"__new__", "__init_subclass__"} else "instance"


def _decorators(node: FunctionNode | ast.ClassDef) -> tuple[str, ...]:
    return tuple(text_of(decorator) for decorator in node.decorator_list)


def _end(nodes: Sequence[FunctionNode | ast.ClassDef]) -> int:
    return max(node.end_lineno or node.lineno for node in nodes)


def _docstring(*nodes: FunctionNode | ast.ClassDef) -> str | None:
    return next((text for node in nodes if (text := ast.get_docstring(node)) is not None), None)


def _returned_keys(unit: Unit) -> tuple[str, ...] | None:
    if unit.is_generator or not unit.returns:
        return None
    every = {_keys(value) for value in unit.returns}
    return every.pop() if len(every) == 1 else None


def _keys(node: ast.expr | None) -> tuple[str, ...] | None:
    if isinstance(node, ast.Call) and last_name(node.func) == "dict" and not node.args and node.keywords:
        names = [keyword.arg for keyword in node.keywords]
        return None if None in names else tuple(name for name in names if name is not None)
    if not isinstance(node, ast.Dict) or not node.keys:
        return None
    texts = [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return tuple(dict.fromkeys(texts)) if len(texts) == len(node.keys) else None


def _returned_values(unit: Unit) -> tuple[str, ...] | None:
    if unit.is_generator or not unit.returns:
        return None
    returned = [*unit.returns, None] if unit.falls_through else unit.returns
    if not all(value is None or isinstance(value, ast.Constant | ast.UnaryOp) for value in returned):
        return None
    return tuple(dict.fromkeys("None" if value is None else text_of(value) for value in returned))


def _same(found: Iterator[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    every = set(found)
    return every.pop() if len(every) == 1 else None
