"""Exceptions that the file itself makes: by the ``__init__`` or ``__str__`` of their class, or by a function."""

import ast
from collections.abc import Iterator

from reflexion.evidence.python.hierarchy import ClassInfo
from reflexion.evidence.python.messages import (
    UNREADABLE,
    Lookup,
    MessageReader,
    Parts,
    Texts,
    Value,
    hole,
    message_of,
)
from reflexion.evidence.python.syntax import FunctionNode, decorator_names, dotted_name, is_constant
from reflexion.evidence.python.thrown import Messages, Thrower
from reflexion.evidence.python.units import Environment, Unit
from reflexion.evidence.python.walk import Walker

_UNKNOWN = (Value(None),)


def constructed_messages(
    thrower: Thrower, info: ClassInfo, call: ast.Call | None, reader: MessageReader, depth: int = 0
) -> Messages:
    """Return the messages of an exception of this class made by ``call`` (None: raised without a call)."""
    maker = _method(info, "__init__")
    teller = _method(info, "__str__")
    if maker is None and teller is None:
        return thrower.argument_messages(call, reader, info.qualname)
    names: Environment = {}
    walker = None
    if maker is not None:
        owner, node = maker
        walker = _walk(thrower, owner, node, _bound(node, call, reader, skip=1))
        names = walker.end
    if teller is not None:
        return _told(_walk(thrower, info, teller[1], {key: names[key] for key in names if key.startswith("self.")}))
    assert maker is not None
    assert walker is not None
    found = [
        message
        for base_call, at_call in walker.unit.base_calls
        for message in _passed_on(thrower, info, maker[0], base_call, walker.argument_reader(at_call), depth)
    ]
    if not walker.unit.base_calls and call is not None and len(call.args) == 1 and not call.keywords:
        return reader.messages(call.args[0])  # BaseException keeps the arguments when nobody else sets them
    return tuple(dict.fromkeys(found)) or (None,)


def made_exceptions(
    thrower: Thrower, owner: ClassInfo | None, node: FunctionNode, call: ast.Call, reader: MessageReader
) -> list[tuple[str | None, Messages]]:
    """Return the types and messages of what a function of this file returns, to be raised; None for no known type."""
    skip = 1 if owner and "staticmethod" not in decorator_names(node) else 0
    walker = _walk(thrower, owner, node, _bound(node, call, reader, skip))
    inside = walker.argument_reader(walker.end)
    found: list[tuple[str | None, Messages]] = []
    for value in walker.unit.returns:
        if not isinstance(value, ast.Call):
            found.append((None, ()))
            continue
        types = thrower.type_names(value.func, walker.unit, walker.end)
        found += [(name, thrower.messages(name, value, owner, inside) if name else ()) for name in types]
    return found


def _passed_on(
    thrower: Thrower, info: ClassInfo, owner: ClassInfo, call: ast.Call, reader: MessageReader, depth: int
) -> Messages:
    """Return what the constructor of the next base makes of ``super().__init__(...)``."""
    named = dotted_name(call.func.value) if isinstance(call.func, ast.Attribute) else None
    if named is not None:
        call = ast.Call(func=call.func, args=call.args[1:], keywords=call.keywords)
    following = info.mro[info.mro.index(owner) + 1 :]
    base = thrower.classes.find(named, owner) if named else next(iter(following), None)
    if base is None or base is owner or depth > len(info.mro):
        return thrower.argument_messages(call, reader)
    return constructed_messages(thrower, base, call, reader, depth + 1)


class _ConstructorWalker(Walker):
    """Walks a constructor whose arguments are known, so that its conditions can often be told."""

    # What the constructor itself raises is no part of the message, and may be the very exception in the making.
    notes_raises = False
    own_writers = frozenset({"__init__"})

    def truth(self, test: ast.expr, names: Environment) -> bool | None:
        return _truth(test, lambda name: self.lookup(name, names))

    def _values(self, node: ast.expr, names: Environment) -> tuple[Value, ...]:
        known = self.lookup(dotted_name(node) or "", names)
        return known if len(known) == 1 and known[0].node is not None else super()._values(node, names)

    def reader(self, names: Environment) -> MessageReader:
        return self.argument_reader(names)

    def argument_reader(self, names: Environment) -> "_ArgumentReader":
        return _ArgumentReader(lambda name: self.lookup(name, names))


class _ArgumentReader(MessageReader):
    """Reads messages with the arguments of a call put in for the names of the parameters."""

    def piece(self, node: ast.expr, depth: int) -> Texts:
        if isinstance(node, ast.FormattedValue) and (node.format_spec or node.conversion not in (-1, ord("s"))):
            return ((hole(_known(node.value, self.lookup) or node.value),),)
        return super().piece(node, depth)

    def filled(self, node: ast.expr) -> Parts:
        known = _known(node, self.lookup)
        if known is None:
            return (hole(node),)
        if isinstance(known, ast.Constant):
            return (str(known.value),)
        texts = self.lookup(dotted_name(node) or "")[0].texts
        return texts[0] if len(texts) == 1 and texts[0] is not None else (hole(known),)

    def choice(self, node: ast.IfExp | ast.BoolOp, depth: int) -> Texts:
        if isinstance(node, ast.IfExp):
            truth = _truth(node.test, self.lookup)
            if truth is None:
                return super().choice(node, depth)
            return self.texts(node.body if truth else node.orelse, depth + 1)
        if isinstance(node.op, ast.And):
            return UNREADABLE
        return self.texts(next(self._candidates(node), node.values[-1]), depth + 1)

    def _candidates(self, node: ast.BoolOp) -> Iterator[ast.expr]:
        return (value for value in node.values if _truth(value, self.lookup) is not False)


def _truth(test: ast.expr, lookup: Lookup) -> bool | None:
    """Return what a condition on the arguments comes to, or None where that cannot be told."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand, lookup)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare):
        return _is_none(test, lookup)
    node = _known(test, lookup)
    if isinstance(node, ast.Constant):
        return bool(node.value)
    return True if isinstance(node, ast.JoinedStr) else None


def _is_none(test: ast.Compare, lookup: Lookup) -> bool | None:
    if len(test.ops) != 1 or not is_constant(test.comparators[0], None):
        return None
    node = _known(test.left, lookup)
    if not isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
        return None
    none = is_constant(node, None)
    if isinstance(test.ops[0], ast.Is):
        return none
    return not none if isinstance(test.ops[0], ast.IsNot) else None


def _known(node: ast.expr, lookup: Lookup) -> ast.expr | None:
    if isinstance(node, ast.Constant):
        return node
    values = lookup(dotted_name(node) or "")
    return values[0].node if len(values) == 1 else None


def _walk(thrower: Thrower, owner: ClassInfo | None, node: FunctionNode, names: Environment) -> _ConstructorWalker:
    unit = Unit(node.name, node, owner)
    unit.self_name = node.args.args[0].arg if owner and node.args.args else None
    walker = _ConstructorWalker(unit, thrower.module, thrower, names)
    walker.run()
    return walker


def _told(walker: _ConstructorWalker) -> Messages:
    returned = [value for value in walker.unit.returns if value is not None]
    texts = [text for value in returned for text in walker.argument_reader(walker.end).texts(value)]
    return tuple(dict.fromkeys(message_of(text) for text in texts)) or (None,)


def _method(info: ClassInfo, name: str) -> tuple[ClassInfo, FunctionNode] | None:
    owner = info.owner_of(name)
    functions = owner.scope.functions(name) if owner else []
    return (owner, functions[0]) if owner and functions else None


def _bound(node: FunctionNode, call: ast.Call | None, reader: MessageReader, skip: int) -> Environment:
    """Return what each parameter holds when a function is called so; ``skip`` parameters are bound already."""
    positional = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    names = _defaults(node, positional, reader)
    if call is None:
        return names
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return dict.fromkeys(names, _UNKNOWN)
    for name, argument in zip(positional[skip:], call.args, strict=False):
        names[name] = _argument(argument, reader)
    for keyword in call.keywords:
        names[keyword.arg or ""] = _argument(keyword.value, reader)
    return names


def _defaults(node: FunctionNode, positional: list[str], reader: MessageReader) -> Environment:
    names: Environment = dict.fromkeys((*positional, *(each.arg for each in node.args.kwonlyargs)), _UNKNOWN)
    first = len(positional) - len(node.args.defaults)
    pairs = [*zip(positional[first:], node.args.defaults, strict=True)]
    keyword_only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    pairs += [(each.arg, default) for each, default in keyword_only if default is not None]
    names.update({name: (Value(default, reader.texts(default)),) for name, default in pairs})
    return names


def _argument(node: ast.expr, reader: MessageReader) -> tuple[Value, ...]:
    known = reader.lookup(dotted_name(node) or "")
    if len(known) == 1 and known[0].node is not None:
        return known
    return (Value(node, reader.texts(node)),)
