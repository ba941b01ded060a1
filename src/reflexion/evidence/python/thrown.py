"""From a ``raise`` statement to the exceptions that it raises: type, message, cause."""

import ast
from collections.abc import Callable

from reflexion.evidence.python.hierarchy import ClassIndex, ClassInfo, looks_like_exception
from reflexion.evidence.python.messages import Message, MessageReader, Value
from reflexion.evidence.python.objects import may_differ, writers_of
from reflexion.evidence.python.scopes import Scope
from reflexion.evidence.python.syntax import FunctionNode, dotted_name, is_constant, keyword_value
from reflexion.evidence.python.units import Catcher, Environment, Guards, Site, Unit

Messages = tuple[Message | None, ...]
Handlers = list[tuple[str | None, Catcher]]
Construct = Callable[["Thrower", ClassInfo, ast.Call | None, MessageReader], Messages]
Make = Callable[["Thrower", ClassInfo | None, FunctionNode, ast.Call, MessageReader], list[tuple[str | None, Messages]]]

_MESSAGE_KEYWORDS = ("message", "msg", "detail", "description", "reason", "error", "text")
_MESSAGE_POSITIONS = 3
_DEEPEST = 8
_BROAD = frozenset({"Exception", "BaseException", ""})


class Thrower:
    """Knows the file's names well enough to tell what a ``raise`` raises.

    ``construct`` gives the message of an exception whose constructor stands in the file, ``make`` the exceptions
    that a function of the file returns; ``rebound`` are the module's names that its functions set.
    """

    def __init__(
        self, module: Scope, classes: ClassIndex, construct: Construct, make: Make, rebound: frozenset[str]
    ) -> None:
        self.module = module
        self.classes = classes
        self._construct = construct
        self._make = make
        self._rebound = rebound
        self._values: dict[str, tuple[Value, ...]] = {}
        self._writers: dict[str, dict[str, set[str]]] = {}

    def sites(
        self, node: ast.Raise, unit: Unit, names: Environment, reader: MessageReader, handlers: Handlers
    ) -> list[Site]:
        """Return the exceptions of one ``raise`` statement, guards not yet filled in."""
        if node.exc is None:
            return self._reraised(node.lineno, unit, handlers[-1][1] if handlers else None)
        cause = _cause_text(node.cause, handlers)
        sites: list[Site] = []
        for thrown in self._thrown(node.exc, names, 0):
            caught = _handler_of(thrown, names, handlers)
            if caught is not None:
                sites += self._reraised(node.lineno, unit, caught)
                continue
            for name, messages in self._made(thrown, unit, names, reader):
                unit.unknown = unit.unknown or name is None
                sites += [Site(name, each, node.lineno, cause, (), True) for each in messages if name is not None]
        return sites

    def _made(
        self, thrown: ast.expr, unit: Unit, names: Environment, reader: MessageReader
    ) -> list[tuple[str | None, Messages]]:
        """Return the types and messages that an expression stands for."""
        if not isinstance(thrown, ast.Call):
            types = self.type_names(thrown, unit, names)
            return [(name, self.messages(name, None, unit.owner, reader) if name else ()) for name in types]
        factory = self._factory(thrown, unit)
        if factory is not None:
            return self._make(self, *factory, thrown, reader) or [(None, ())]
        types = self.type_names(thrown.func, unit, names)
        return [(name, self.messages(name, thrown, unit.owner, reader) if name else ()) for name in types]

    def _factory(self, call: ast.Call, unit: Unit) -> tuple[ClassInfo | None, FunctionNode] | None:
        """Return the function of this file that a call means, and its class."""
        head, _, rest = (dotted_name(call.func) or "").partition(".")
        owner = None
        if rest and head in {unit.self_name, "self", "cls"} and unit.owner:
            owner = unit.owner.owner_of(rest)
            functions = owner.scope.functions(rest) if owner else []
        else:
            functions = [] if rest or head in unit.bound else self.module.functions(head)
        return (owner, functions[0]) if len(functions) == 1 else None

    def asserted(self, node: ast.Assert, reader: MessageReader, guards: Guards) -> list[Site]:
        """Return the possible ``AssertionError`` of an ``assert``."""
        return [
            Site("AssertionError", message, node.lineno, None, guards, False) for message in reader.messages(node.msg)
        ]

    def messages(self, name: str, call: ast.Call | None, owner: ClassInfo | None, reader: MessageReader) -> Messages:
        """Return the messages that an exception of this name carries when it is made by ``call``."""
        info = self.classes.find(name, owner)
        if info is not None:
            return self._construct(self, info, call, reader)
        return self.argument_messages(call, reader, name)

    def argument_messages(self, call: ast.Call | None, reader: MessageReader, name: str = "") -> Messages:
        """Return the messages among a call's arguments: the first that reads as text."""
        if call is None:
            return (None,)
        arguments = [each for each in call.args[:_MESSAGE_POSITIONS] if not isinstance(each, ast.Starred)]
        if len(arguments) > 1 and "OSError" in (name, *self.classes.ancestors(name)[0]):
            arguments = arguments[1:]  # the first is the error number
        arguments += [value for key in _MESSAGE_KEYWORDS if (value := keyword_value(call, key)) is not None]
        for argument in arguments:
            found = reader.messages(argument)
            if any(message is not None for message in found):
                return found
        return (None,)

    def caught_types(self, node: ast.expr | None, unit: Unit) -> tuple[str, ...] | None:
        """Return the names in an ``except`` clause; "" for what is not a name, None for a bare ``except``."""
        if node is None:
            return None
        if isinstance(node, ast.Tuple):
            return tuple(name for each in node.elts for name in self.caught_types(each, unit) or ("",))
        name = dotted_name(node)
        if name is None or name.partition(".")[0] in unit.bound:
            return ("",)
        values = self.module.values(name)
        if len(values) == 1 and values[0] is not None and dotted_name(values[0]) != name:
            return self.caught_types(values[0], unit)
        return (name,)

    def module_values(self, name: str, owner: ClassInfo | None) -> tuple[Value, ...]:
        """Return the values of a module constant or of a constant of a class of this file."""
        head, _, rest = name.rpartition(".")
        if head:
            info = self.classes.find(head, owner)
            return self.class_values(info, rest) if info else ()
        return () if name in self._rebound else self._constants(name, self.module, name)

    def class_values(self, info: ClassInfo, name: str) -> tuple[Value, ...]:
        """Return the values of a class constant."""
        owner = info.owner_of(name)
        return self._constants(name, owner.scope, f"{owner.qualname}.{name}") if owner else ()

    def object_values(self, info: ClassInfo, name: str, followed: frozenset[str]) -> tuple[Value, ...]:
        """Return the values of a class constant that every object shares: no field, nothing that a method sets.

        What the methods named in ``followed`` set does not count.
        """
        if may_differ(info, name) or not self._writers_of(info).get(name, frozenset()) <= followed:
            return ()
        return self.class_values(info, name)

    def _writers_of(self, info: ClassInfo) -> dict[str, set[str]]:
        known = self._writers.get(info.qualname)
        if known is None:
            known = self._writers[info.qualname] = writers_of(info)
        return known

    def _constants(self, name: str, scope: Scope, key: str) -> tuple[Value, ...]:
        known = self._values.get(key)
        if known is None:
            self._values[key] = ()  # a constant that is made from itself cannot be read
            reader = MessageReader(lambda other: self.module_values(other, None))
            nodes = scope.values(name)
            known = tuple(Value(None) if node is None else Value(node, reader.texts(node)) for node in nodes)
            self._values[key] = known
        return known

    def _reraised(self, line: int, unit: Unit, catcher: Catcher | None) -> list[Site]:
        if catcher is None:
            unit.unknown = True
            return []
        catcher.reraises = True
        types = catcher.types or ("BaseException",)
        unit.unknown = unit.unknown or not _BROAD.isdisjoint(types)
        return [Site(name, None, line, None, (), name not in _BROAD) for name in types if name]

    def _thrown(self, node: ast.expr, names: Environment, depth: int) -> list[ast.expr]:
        """Return the expressions that make the exception: through variables, conditions and ``with_traceback``."""
        if depth > _DEEPEST:
            return [node]
        if isinstance(node, ast.IfExp):
            return [*self._thrown(node.body, names, depth + 1), *self._thrown(node.orelse, names, depth + 1)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "with_traceback":
            return self._thrown(node.func.value, names, depth + 1)
        if isinstance(node, ast.Name) and node.id in names:
            known = [value.node for value in names[node.id] if value.node is not None and value.node is not node]
            return [made for each in known for made in self._thrown(each, names, depth + 1)] or [node]
        return [node]

    def type_names(self, node: ast.expr, unit: Unit, names: Environment, depth: int = 0) -> list[str | None]:
        """Return the exception types that an expression can name, None for one that cannot be told."""
        if isinstance(node, ast.IfExp) and depth < _DEEPEST:
            sides = (node.body, node.orelse)
            return [name for side in sides for name in self.type_names(side, unit, names, depth + 1)]
        dotted = dotted_name(node)
        if dotted is None or depth > _DEEPEST:
            return [None]
        if dotted in names:
            known = [value.node for value in names[dotted] if value.node is not node]
            return [
                name
                for each in known
                for name in (self.type_names(each, unit, names, depth + 1) if each is not None else [None])
            ]
        return self._named_type(dotted, unit, names, depth)

    def _named_type(self, dotted: str, unit: Unit, names: Environment, depth: int) -> list[str | None]:
        head, _, rest = dotted.partition(".")
        if rest and head in {unit.self_name, "self", "cls"}:
            return self._member_type(rest, unit, names, depth)
        if head in unit.bound:
            return [None]
        if self.classes.find(dotted, unit.owner):
            return [dotted]
        if self.module.functions(dotted):
            return [None]
        values = self.module.values(dotted)
        if values and not looks_like_exception(dotted):
            first = values[0]
            return self.type_names(first, unit, names, depth + 1) if first is not None else [None]
        return [dotted] if looks_like_exception(dotted) else [None]

    def _member_type(self, member: str, unit: Unit, names: Environment, depth: int) -> list[str | None]:
        owner = unit.owner.owner_of(member) if unit.owner else None
        if owner is None:
            last = member.rpartition(".")[2]
            return [last] if last[:1].isupper() and looks_like_exception(last) else [None]
        if self.classes.find(f"{owner.qualname}.{member}"):
            return [f"{owner.qualname}.{member}"]
        values = owner.scope.values(member)
        return self.type_names(values[0], unit, names, depth + 1) if values and values[0] is not None else [None]


def _handler_of(node: ast.expr, names: Environment, handlers: Handlers) -> Catcher | None:
    if not isinstance(node, ast.Name) or node.id in names:
        return None
    return next((catcher for name, catcher in reversed(handlers) if name == node.id), None)


def _cause_text(node: ast.expr | None, handlers: Handlers) -> str | None:
    if node is None or is_constant(node, None):
        return None
    dotted = dotted_name(node.func if isinstance(node, ast.Call) else node)
    types = next((catcher.types for name, catcher in reversed(handlers) if name == dotted), None)
    return ", ".join(filter(None, types)) if types else dotted
