"""Whether a stated value or output is the real one. Pure functions on texts; no text makes them raise.

A text that both sides write as a Python expression is compared by value: numbers by the digits that the document shows,
sets and dictionaries by content, keyword arguments in any order. All other text is compared by its characters without
white space, with the numbers in it by their shown digits. On either way the style of quotes and addresses (``0x7f...``)
do not matter, and ``...`` stands for anything.
"""

import ast
import difflib
import re
from dataclasses import dataclass

from reflexion.evidence.examples.numbers import number_of, same_number, same_tokens, shown_as
from reflexion.evidence.expressions import parse_expression
from reflexion.patterns import regex

# Longer texts are compared as text: nobody writes such a literal into a page, and parsing would cost.
MAX_PARSED = 20_000
SIMILAR = 0.6

_ADDRESS = regex(r"\bat 0x[0-9a-fA-F.…]+|\b0x[0-9a-fA-F]{9,}\b")
# An object's module is another one in a script than where it is imported.
_OBJECT = regex(r"<(?:\w+\.)+(?:<locals>\.)?(\w+) object at")
_QUOTES = str.maketrans(dict.fromkeys('\u201c\u201d\u2018\u2019"', "'") | {"\xa0": " ", "\u2026": "..."})
_MEMBER = regex(r"^<([A-Za-z_][\w.]*\.[A-Za-z_]\w*): .*>$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Text:
    """An expression with its lines, in which its nodes find their own words."""

    lines: tuple[bytes, ...]
    loose: bool = False

    def words(self, node: ast.expr) -> str:
        """Return the words of a node that stands on one line."""
        if node.end_lineno != node.lineno or node.lineno > len(self.lines):
            return ""
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode("utf-8", "replace")


def matches(stated: str, actual: str, *, loose: bool = False) -> bool:
    """Say whether ``stated`` is a right way to show ``actual``, which is a ``repr``, a ``str`` or printed text.

    ``loose`` is for what the document calls about right: numbers may be off by a twentieth.
    """
    said, true = _tidy(stated), _tidy(actual)
    if said == true:
        return True
    return _same_value(said, true, loose) or _same_text(said, true, loose)


def matches_output(stated: str, output: str, *, loose: bool = False) -> bool:
    """Say whether ``stated`` is a right way to show printed text: as it is, or quoted as a string."""
    if matches(stated, output, loose=loose):
        return True
    inside = string_of(stated)
    return inside is not None and matches(inside, output, loose=loose)


def matches_value(stated: str, representation: str, text: str, *, loose: bool = False) -> bool:
    """Say whether ``stated`` is a right way to show a value that has this ``repr`` and this ``str``."""
    if matches(stated, representation, loose=loose):
        return True
    # A value of the number 5 is no way to show the string '5', but words may show it without quotes.
    return representation != text and matches(stated, text, loose=loose)


def similar(stated: str, actual: str) -> bool:
    """Say whether a text is near enough to another to be a wrong copy of it rather than words about it."""
    said, true = _tidy(stated)[:500], _tidy(actual)[:500]
    return bool(said and true) and difflib.SequenceMatcher(None, said, true).ratio() >= SIMILAR


def string_of(text: str) -> str | None:
    """Return the value of a text that is one Python string, or None."""
    tree = parse_expression(text) if len(text) <= MAX_PARSED else None
    return tree.value if isinstance(tree, ast.Constant) and isinstance(tree.value, str) else None


def written_like(stated: str, actual: str) -> str:
    """Return ``actual`` as ``stated`` is written: a number with as many digits, ``Color.RED`` without brackets."""
    member = _MEMBER.match(actual.strip())
    if member and not stated.strip().startswith("<"):
        return member[1]
    said, true = number_of(stated.strip()), number_of(actual.strip())
    return actual.strip() if said is None or true is None else shown_as(stated.strip(), actual.strip())


def _tidy(text: str) -> str:
    bare = _ADDRESS.sub("at 0x0", text.replace("\r\n", "\n").strip())
    bare = _OBJECT.sub(r"<\1 object at", bare)
    member = _MEMBER.match(bare)
    return member[1] if member else bare


def _same_value(said: str, true: str, loose: bool) -> bool:
    if max(len(said), len(true)) > MAX_PARSED:
        return False
    first, second = parse_expression(said), parse_expression(true)
    if first is None or second is None:
        return False
    texts = tuple(_Text(tuple(text.encode("utf-8", "replace").split(b"\n")), loose) for text in (said, true))
    try:
        return _Comparison(*texts).same(first, second)
    except (RecursionError, MemoryError):
        return False


def _same_text(said: str, true: str, loose: bool) -> bool:
    return same_tokens(said.translate(_QUOTES), true.translate(_QUOTES), loose)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares two expressions, each by the words of its own text."""

    said: _Text
    true: _Text

    def same(self, first: ast.expr, second: ast.expr) -> bool:
        """Say whether the first expression shows the value of the second."""
        if _is_gap(first):
            return True
        numbers = self.number(first, self.said), self.number(second, self.true)
        if numbers[0] or numbers[1]:
            return bool(numbers[0] and numbers[1]) and same_number(*numbers, self.said.loose)
        if isinstance(first, ast.Constant) or isinstance(second, ast.Constant):
            return self.same_constant(first, second)
        return self.same_container(first, second)

    def same_container(self, first: ast.expr, second: ast.expr) -> bool:
        """Compare what has parts: displays, calls, operations."""
        if isinstance(first, ast.Set) or isinstance(second, ast.Set):
            return self.same_set(first, second)
        if isinstance(first, ast.List | ast.Tuple) and isinstance(second, ast.List | ast.Tuple):
            return type(first) is type(second) and self.same_row(first.elts, second.elts)
        if isinstance(first, ast.Dict):
            return isinstance(second, ast.Dict) and self.same_dict(first, second)
        if isinstance(first, ast.Call):
            return isinstance(second, ast.Call) and self.same_call(first, second)
        return self.same_other(first, second)

    def number(self, node: ast.expr, text: _Text) -> str:
        """Return the words of a number with its sign, or nothing."""
        sign = ""
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign = ("" if sign else "-") if isinstance(node.op, ast.USub) else sign
            node = node.operand
        if not isinstance(node, ast.Constant) or isinstance(node.value, bool | str | bytes | complex):
            return ""
        return sign + text.words(node) if isinstance(node.value, int | float) else ""

    def same_constant(self, first: ast.expr, second: ast.expr) -> bool:
        """Compare strings, bytes, True, None; a string by its words and numbers."""
        if not isinstance(first, ast.Constant) or not isinstance(second, ast.Constant):
            return False
        if isinstance(first.value, str) and isinstance(second.value, str):
            return first.value == second.value or _same_text(first.value, second.value, self.said.loose)
        return type(first.value) is type(second.value) and bool(first.value == second.value)

    def same_row(self, first: list[ast.expr], second: list[ast.expr]) -> bool:
        """Compare elements in order; ``...`` stands for any number of them."""
        gaps = [place for place, node in enumerate(first) if _is_gap(node)]
        if not gaps:
            return len(first) == len(second) and all(map(self.same, first, second))
        head, tail = first[: gaps[0]], first[gaps[-1] + 1 :]
        if len(head) + len(tail) > len(second):
            return False
        ends = second[len(second) - len(tail) :] if tail else []
        return all(map(self.same, head, second)) and all(map(self.same, tail, ends))

    def same_set(self, first: ast.expr, second: ast.expr) -> bool:
        """Compare sets by content."""
        if not isinstance(first, ast.Set) or not isinstance(second, ast.Set):
            return False
        left = list(second.elts)
        gap = any(map(_is_gap, first.elts))
        for node in first.elts:
            found = next((place for place, other in enumerate(left) if self.same(node, other)), None)
            if found is None and not _is_gap(node):
                return False
            if found is not None and not _is_gap(node):
                left.pop(found)
        return gap or not left

    def same_dict(self, first: ast.Dict, second: ast.Dict) -> bool:
        """Compare dictionaries by content."""
        keys = [key for key in first.keys if key is not None]
        if len(keys) != len(first.keys) or None in second.keys or len(keys) != len(second.keys):
            return False
        pairs = list(zip((key for key in second.keys if key is not None), second.values, strict=True))
        for key, value in zip(keys, first.values, strict=True):
            found = next((pair for pair in pairs if self.same(key, pair[0]) and self.same(value, pair[1])), None)
            if found is None:
                return False
            pairs.remove(found)
        return True

    def same_call(self, first: ast.Call, second: ast.Call) -> bool:
        """Compare ``Account(rate=0.05)`` with another: same name, arguments and keywords."""
        names = ast.unparse(first.func), ast.unparse(second.func)
        if names[0].rpartition(".")[2] != names[1].rpartition(".")[2]:
            return False
        if any(map(_is_gap, first.args)):
            given = [one for one in first.args if not _is_gap(one)]
            return all(map(self.same, given, second.args)) if len(given) <= len(second.args) else False
        first_words = {keyword.arg: keyword.value for keyword in first.keywords}
        second_words = {keyword.arg: keyword.value for keyword in second.keywords}
        if first_words.keys() != second_words.keys() or not self.same_row(first.args, second.args):
            return False
        return all(self.same(value, second_words[name]) for name, value in first_words.items())

    def same_other(self, first: ast.expr, second: ast.expr) -> bool:
        """Compare names and operations; ``nan`` is ``nan``, and complex numbers are sums."""
        if isinstance(first, ast.BinOp) and isinstance(second, ast.BinOp):
            alike = type(first.op) is type(second.op)
            return alike and self.same(first.left, second.left) and self.same(first.right, second.right)
        if type(first) is not type(second) or isinstance(second, ast.Set | ast.Dict | ast.Call | ast.List | ast.Tuple):
            return False
        return ast.unparse(first) == ast.unparse(second)


def _is_gap(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis
