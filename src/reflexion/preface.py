"""What a piece of a Python module must know of the rest of it: docstring, imports, constants, the class around it."""

import ast
import copy
import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from reflexion.patterns import regex

_LONGEST_VALUE = 100
_LONGEST_PARAGRAPH = 600
_LONGEST_BRANCH = 12
_NAME = regex(r"[^\W\d]\w*")


class _Entry(NamedTuple):
    """One statement, shortened; ``names`` are those that it binds."""

    first: int
    last: int
    text: str
    names: frozenset[str]
    is_docstring: bool = False


class Preface:
    """The statements of a module that are context to its definitions."""

    def __init__(self, body: Sequence[ast.stmt], lines: Sequence[str]) -> None:
        self._entries = [entry for place, node in enumerate(body) if (entry := _entry(node, place, lines))]

    def text(self, first: int, last: int, own: str, fits: Callable[[str], bool]) -> str:
        """Return the context of lines ``first`` to ``last``, whose text is ``own``, in source order.

        Where not all of it ``fits``, the docstring comes first, then what binds names that ``own`` uses.
        """
        outside = [entry for entry in self._entries if entry.last < first or entry.first > last]
        whole = _joined(outside)
        if fits(whole):
            return whole
        used = frozenset(_NAME.findall(own))
        ranked = sorted(outside, key=lambda entry: (not entry.is_docstring, used.isdisjoint(entry.names)))
        low, high = 0, len(ranked)
        while low < high:
            middle = (low + high + 1) // 2
            if fits(_joined(ranked[:middle])):
                low = middle
            else:
                high = middle - 1
        return _joined(ranked[:low])


def around_text(classes: Sequence[ast.ClassDef]) -> str:
    """Return the statements of nested classes, outside in, each with the first paragraph of its docstring."""
    return "\n".join(textwrap.indent(_shell(node), "    " * depth) for depth, node in enumerate(classes))


def _shell(node: ast.ClassDef) -> str:
    shell = copy.copy(node)
    shell.body = [ast.Expr(ast.Constant(_first_paragraph(ast.get_docstring(node)) or ...))]
    return ast.unparse(shell)


def _joined(entries: Sequence[_Entry]) -> str:
    return "\n".join(entry.text for entry in sorted(entries))


def _entry(node: ast.stmt, place: int, lines: Sequence[str]) -> _Entry | None:
    first, last = node.lineno, node.end_lineno or node.lineno
    if isinstance(node, ast.Expr) and place == 0 and isinstance(node.value, ast.Constant):
        paragraph = _first_paragraph(node.value.value if isinstance(node.value.value, str) else None)
        text = ast.unparse(ast.Expr(ast.Constant(paragraph)))
        return _Entry(first, last, text, frozenset(), is_docstring=True) if paragraph else None
    names = _bound(node)
    text = _shortened(node, names) if isinstance(node, ast.Assign | ast.AnnAssign) else ast.unparse(node)
    return _Entry(first, last, text, frozenset(names)) if names else None


def _shortened(node: ast.Assign | ast.AnnAssign, names: Sequence[str]) -> str:
    """Return an assignment whose long value is left out."""
    if (node.end_lineno or node.lineno) - node.lineno < _LONGEST_BRANCH:
        text = ast.unparse(node)
        if len(text) <= _LONGEST_VALUE:
            return text
    return "\n".join(f"{name} = ..." for name in names)


def _bound(node: ast.stmt) -> list[str]:
    """Return the names that an import, an assignment or a few imports under a condition bind; none of all others."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.If() | ast.Try() if (node.end_lineno or node.lineno) - node.lineno < _LONGEST_BRANCH:
            inner = [each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom)]
            return [name for each in inner for name in _bound(each)]
        case _:
            return []


def _first_paragraph(docstring: str | None) -> str:
    paragraph = (docstring or "").strip().replace("\r\n", "\n").partition("\n\n")[0]
    return textwrap.shorten(paragraph, _LONGEST_PARAGRAPH, placeholder=" ...") if paragraph else ""
