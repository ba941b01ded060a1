"""Where the statements and comments of a script stand. Pure functions on code that parses."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: ``text`` without hash and outer space, ``raw`` without the hash and one space, ``whole`` as written.

    ``gap`` is True where a blank line stands above it.
    """

    line: int
    column: int
    whole: str
    trailing: bool
    gap: bool

    @property
    def raw(self) -> str:
        """The words with their indentation."""
        bare = self.whole.lstrip("#")
        return bare.removeprefix(":").removeprefix(" ").rstrip()

    @property
    def text(self) -> str:
        """The words alone."""
        return self.raw.strip()


@dataclass(frozen=True, slots=True)
class Place:
    """A statement of a script: its extent, and what can be watched about it.

    ``start`` and ``end`` are offsets in the text; ``step`` is the number of the top-level statement that it is or
    stands in.
    ``target`` is the expression that an assignment gives a value. ``calculates`` is True where something is worked
    out, so that a lone literal beside it can be the result. ``handler`` names the type of the ``except`` around it.
    """

    step: int
    top: bool
    line: int
    end_line: int
    column: int
    start: int
    end: int
    simple: bool
    expression: bool = False
    printing: bool = False
    target: str = ""
    calculates: bool = False
    looped: bool = False
    handled: bool = False
    handler: str | None = None

    @property
    def watchable(self) -> bool:
        """Whether the recorder can stand around it."""
        return self.expression or bool(self.target) or self.printing

    @property
    def assigns(self) -> bool:
        """Whether it gives a name a value."""
        return bool(self.target)


@dataclass(frozen=True, slots=True)
class _Around:
    looped: bool = False
    handled: bool = False
    handler: str | None = None


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WORKED_OUT = (
    ast.Call, ast.BinOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.Attribute, ast.Await, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.JoinedStr,
)  # fmt: skip


def places_of(text: str, tree: ast.Module) -> list[Place]:
    """Return every statement outside of functions and classes, in order."""
    offsets = line_offsets(text)
    return [place for step, node in enumerate(tree.body) for place in _walk(node, step, True, _Around(), offsets)]


def line_offsets(text: str) -> list[tuple[int, bytes]]:
    """Return the offset of each line with its bytes, since the parser counts columns in bytes."""
    found: list[tuple[int, bytes]] = []
    place = 0
    # Lines as the parser counts them: a form feed or another separator is none.
    for line in io.StringIO(text, newline=""):
        found.append((place, line.encode("utf-8", "replace")))
        place += len(line)
    return found or [(0, b"")]


def _walk(node: ast.stmt, step: int, top: bool, around: _Around, offsets: list[tuple[int, bytes]]) -> Iterator[Place]:
    yield _place(node, step, top, around, offsets)
    if isinstance(node, _DEFINITIONS):
        return
    for inner, inside in _inner(node, around):
        yield from _walk(inner, step, False, inside, offsets)


def _inner(node: ast.stmt, around: _Around) -> Iterator[tuple[ast.stmt, _Around]]:
    looped = around.looped or isinstance(node, ast.For | ast.AsyncFor | ast.While)
    caught = isinstance(node, ast.Try | ast.TryStar) and bool(node.handlers)
    quiet = isinstance(node, ast.With | ast.AsyncWith)
    body = _Around(looped, around.handled or caught or quiet, around.handler)
    for inner in getattr(node, "body", []):
        yield inner, body
    for handler in getattr(node, "handlers", []):
        name = ast.unparse(handler.type) if handler.type is not None else "Exception"
        for inner in handler.body:
            yield inner, _Around(looped, around.handled, name)
    for field in ("orelse", "finalbody"):
        for inner in getattr(node, field, []):
            yield inner, _Around(looped, around.handled, around.handler)
    for case in getattr(node, "cases", []):
        for inner in case.body:
            yield inner, body


def _place(node: ast.stmt, step: int, top: bool, around: _Around, offsets: list[tuple[int, bytes]]) -> Place:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    column = node.col_offset
    start = _offset(first, column if first == node.lineno else 0, offsets)
    end_line = node.end_lineno or node.lineno
    end = _offset(end_line, node.end_col_offset or 0, offsets)
    value = getattr(node, "value", None)
    called = value.func if isinstance(value, ast.Call) else None
    return Place(
        step, top, first, end_line, column, start, end,
        simple=not hasattr(node, "body") and not isinstance(node, ast.Match),
        expression=isinstance(node, ast.Expr),
        printing=isinstance(node, ast.Expr) and isinstance(called, ast.Name) and called.id in ("print", "pprint"),
        target=_target(node),
        calculates=isinstance(node, ast.AugAssign)
        or (value is not None and (isinstance(node, ast.Expr) or isinstance(value, _WORKED_OUT))),
        looped=around.looped,
        handled=around.handled,
        handler=around.handler,
    )  # fmt: skip


def _target(node: ast.stmt) -> str:
    """Return the expression that holds the value after an assignment, or nothing."""
    if isinstance(node, ast.Assign):
        return _readable(node.targets[-1])
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return _readable(node.target) if getattr(node, "value", None) is not None else ""
    return ""


def _readable(target: ast.expr) -> str:
    starred = any(isinstance(one, ast.Starred) for one in ast.walk(target))
    subscript_calls = any(isinstance(one, ast.Call | ast.NamedExpr | ast.Await) for one in ast.walk(target))
    return "" if starred or subscript_calls else ast.unparse(target)


def _offset(line: int, column: int, offsets: list[tuple[int, bytes]]) -> int:
    place, data = offsets[min(line, len(offsets)) - 1]
    return place + len(data[:column].decode("utf-8", "replace"))


def comments_of(text: str) -> list[Comment]:
    """Return all comments of a script, in order; none where it cannot be split into tokens."""
    found: list[Comment] = []
    lines = text.split("\n") if "#" in text else []
    if not lines:
        return []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                trailing = bool(token.line[:column].strip())
                above = lines[line - 2] if 1 < line <= len(lines) else ""
                found.append(Comment(line, column, token.string, trailing, not above.strip()))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return []
    return found
