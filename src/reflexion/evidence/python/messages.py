"""The text of a message expression: exact, or a template with ``{source text}`` for every computed part."""

import ast
import re
import string
from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

from reflexion.evidence.python.syntax import dotted_name, keyword_value, last_name, text_of
from reflexion.patterns import regex

_MOST_ALTERNATIVES = 8
_DEEPEST = 40
_TRANSLATORS = frozenset({"_", "gettext", "gettext_lazy", "ugettext", "_t"})
_PERCENT = regex(r"%(?:\((?P<key>[^)]*)\))?[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?[diouxXeEfFgGcrsa%]")


class Hole(NamedTuple):
    """A computed part, by its source text."""

    text: str


Parts = tuple[str | Hole, ...]
Texts = tuple[Parts | None, ...]  # alternatives; None is one that cannot be read
UNREADABLE: Texts = (None,)


class Value(NamedTuple):
    """What a name may hold: the expression, where known, and the texts it can be."""

    node: ast.expr | None
    texts: Texts = UNREADABLE


class Message(NamedTuple):
    """A message as ``Raise`` states it."""

    text: str
    literals: tuple[str, ...]

    @property
    def template(self) -> bool:
        """True where any part is computed."""
        return len(self.literals) > 1


Lookup = Callable[[str], tuple[Value, ...]]
Fill = Callable[[ast.expr], Parts]


class MessageReader:
    """Reads message expressions. ``lookup`` gives the values of a dotted name, none where it is unknown."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup

    def messages(self, node: ast.expr | None) -> tuple[Message | None, ...]:
        """Return every text that an expression can be, None for one that cannot be known."""
        if node is None:
            return (None,)
        return tuple(dict.fromkeys(message_of(parts) for parts in self.texts(node)))

    def texts(self, node: ast.expr, depth: int = 0) -> Texts:
        """Return the alternatives of an expression as parts."""
        if depth > _DEEPEST:
            return UNREADABLE
        match node:
            case ast.Constant(value=str() as text):
                return ((text,),)
            case ast.JoinedStr():
                return _joined([self.piece(value, depth) for value in node.values])
            case ast.BinOp():
                return self._operation(node, depth)
            case ast.IfExp() | ast.BoolOp():
                return self.choice(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.Name() | ast.Attribute():
                return self._named(node)
        return UNREADABLE

    def choice(self, node: ast.IfExp | ast.BoolOp, depth: int) -> Texts:
        """Return what either side of a conditional expression gives."""
        sides = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
        return tuple(text for side in sides for text in self.texts(side, depth + 1))[:_MOST_ALTERNATIVES]

    def _named(self, node: ast.Name | ast.Attribute) -> Texts:
        values = self.lookup(dotted_name(node) or "")
        return tuple(text for value in values for text in value.texts)[:_MOST_ALTERNATIVES] or UNREADABLE

    def _call(self, node: ast.Call, depth: int) -> Texts:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return self._formatted(node.func.value, lambda text: _braces(text, node, self.filled), depth)
        if last_name(node.func) in _TRANSLATORS and len(node.args) == 1:
            return self.texts(node.args[0], depth + 1)
        return UNREADABLE

    def _operation(self, node: ast.BinOp, depth: int) -> Texts:
        if isinstance(node.op, ast.Add):
            return self._sum(node, depth)
        if isinstance(node.op, ast.Mod):
            return self._formatted(node.left, lambda text: _percent(text, node.right, self.filled), depth)
        return UNREADABLE

    def _sum(self, node: ast.BinOp, depth: int) -> Texts:
        terms: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            terms.append(left.right)
            left = left.left
        terms.append(left)
        alternatives = [self.texts(term, depth + 1) for term in reversed(terms)]
        if all(texts == UNREADABLE for texts in alternatives):
            return UNREADABLE
        return _joined(
            [_or_filled(texts, self.filled(term)) for texts, term in zip(alternatives, reversed(terms), strict=True)]
        )

    def piece(self, node: ast.expr, depth: int) -> Texts:
        """Return one part of an f-string."""
        if isinstance(node, ast.FormattedValue):
            return (self.filled(node.value),)
        return self.texts(node, depth + 1)

    def filled(self, node: ast.expr) -> Parts:
        """Return what a computed expression puts into a message."""
        return (hole(node),)

    def _formatted(self, template: ast.expr, fill: Callable[[str], Parts | None], depth: int) -> Texts:
        texts = (_constant(parts) for parts in self.texts(template, depth + 1))
        return tuple(None if text is None else fill(text) for text in texts)


def message_of(parts: Parts | None) -> Message | None:
    """Return parts as a message; None for a text of which nothing is constant."""
    if parts is None:
        return None
    literals = [""]
    text = ""
    for part in parts:
        if isinstance(part, Hole):
            literals.append("")
            text += f"{{{part.text}}}"
        else:
            literals[-1] += part
            text += part
    if len(literals) > 1 and not any(literal.strip() for literal in literals):
        return None
    return Message(text, tuple(literals))


def _joined(alternatives: list[Texts]) -> Texts:
    count = 1
    for texts in alternatives:
        count *= len(texts)
    if count > _MOST_ALTERNATIVES:
        return UNREADABLE
    return tuple(_flat(chosen) for chosen in product(*alternatives))


def _flat(chosen: Iterable[Parts | None]) -> Parts | None:
    flat: list[str | Hole] = []
    for parts in chosen:
        if parts is None:
            return None
        flat.extend(parts)
    return tuple(flat)


def _constant(parts: Parts | None) -> str | None:
    message = message_of(parts)
    return None if message is None or message.template else message.text


def _or_filled(texts: Texts, computed: Parts) -> Texts:
    return tuple(computed if parts is None else parts for parts in texts)


def hole(node: ast.expr) -> Hole:
    """Return the computed part that an expression makes in a message; ``str(x)`` is ``x`` there."""
    if isinstance(node, ast.Call) and last_name(node.func) in {"str", "repr"} and len(node.args) == 1:
        node = node.args[0]
    return Hole(text_of(node))


def _percent(text: str, values: ast.expr, filled: Fill) -> Parts | None:
    elements = list(values.elts) if isinstance(values, ast.Tuple) else [values]
    named = _keys_of(values)
    parts: list[str | Hole] = []
    end = 0
    for found in _PERCENT.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        key = found["key"]
        if found[0].endswith("%"):
            parts.append("%")
        elif key is not None:
            parts.extend(filled(named[key]) if key in named else (Hole(key),))
        elif elements:
            parts.extend(filled(elements.pop(0)))
        else:
            return None
    return (*parts, text[end:])


def _keys_of(values: ast.expr) -> dict[str, ast.expr]:
    if not isinstance(values, ast.Dict):
        return {}
    pairs = zip(values.keys, values.values, strict=True)
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def _braces(text: str, call: ast.Call, filled: Fill) -> Parts | None:
    parts: list[str | Hole] = []
    position = 0
    try:
        for literal, name, _, _ in string.Formatter().parse(text):
            parts.append(literal)
            if name is None:
                continue
            numbered = not name or name[0] in ".["
            parts.extend(_argument(call, f"{position}{name}" if numbered else name, filled))
            position += numbered
    except ValueError:
        return None
    return tuple(parts)


def _argument(call: ast.Call, field: str, filled: Fill) -> Parts:
    head = re.match(r"\w*", field)
    name = head[0] if head else ""
    rest = field[len(name) :]
    if name.isdecimal():
        plain = not any(isinstance(each, ast.Starred) for each in call.args)
        value = dict(enumerate(call.args)).get(int(name)) if plain else None
    else:
        value = keyword_value(call, name)
    if value is None:
        return (Hole(field),)
    return (Hole(hole(value).text + rest),) if rest else filled(value)
