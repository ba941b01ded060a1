"""Small questions to one syntax node, asked everywhere: its text, its dotted name, its decorators."""

import ast
import copy

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_LONGEST_VALUE = 2_000  # characters; nobody quotes more of a constant, and unparsing a big table takes its time
_LONGEST_VALUE_LINES = 60
_LONG_INTEGER = 1_000  # bits


def text_of(node: ast.AST) -> str:
    """Return the source text of an expression as ``ast.unparse`` prints it; "..." for one that is nested too deeply."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        if isinstance(node, ast.Constant) and node.value is not ... and not isinstance(node.value, float | complex):
            return repr(node.value)
        return ast.unparse(node)
    except RecursionError:
        return "..."
    except ValueError:
        return _with_hexadecimals(node)


def _with_hexadecimals(node: ast.AST) -> str:
    """Return the text of an expression that holds an integer too long for Python to print in decimal digits."""
    try:
        return ast.unparse(_Hexadecimal().visit(copy.deepcopy(node)))
    except (RecursionError, ValueError):
        return "..."


class _Hexadecimal(ast.NodeTransformer):
    """Writes long integers in hexadecimal digits, which have no limit."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, int) or node.value.bit_length() < _LONG_INTEGER:
            return node
        return ast.Name(id=hex(node.value), ctx=ast.Load())


def value_text(node: ast.expr | None) -> str | None:
    """Return the text of a value, or None for none and for one longer than anybody would quote."""
    if node is None or (node.end_lineno or node.lineno) - node.lineno > _LONGEST_VALUE_LINES:
        return None
    text = text_of(node)
    return text if len(text) <= _LONGEST_VALUE else None


def annotation_text(node: ast.expr | None) -> str | None:
    """Return the text of an annotation without quotes around it or inside it: ``"Account"`` is ``Account``."""
    if node is None:
        return None
    if isinstance(node, ast.Name):
        return node.id
    try:
        return text_of(_Unquoted().visit(node))
    except RecursionError:
        return "..."


class _Unquoted(ast.NodeTransformer):
    """Turns the strings of an annotation into the expressions that they hold, except where they are values."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        try:
            return ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        name = last_name(node.value)
        if name == "Literal":
            return node
        if name == "Annotated" and isinstance(node.slice, ast.Tuple) and node.slice.elts:
            first, *metadata = node.slice.elts
            elements = ast.Tuple(elts=[self.visit(first), *metadata], ctx=ast.Load())
            return ast.Subscript(value=node.value, slice=elements, ctx=ast.Load())
        changed = ast.Subscript(value=self.visit(node.value), slice=self.visit(node.slice), ctx=ast.Load())
        return ast.copy_location(changed, node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple(elts=[self.visit(element) for element in node.elts], ctx=ast.Load())

    def visit_List(self, node: ast.List) -> ast.expr:
        return ast.List(elts=[self.visit(element) for element in node.elts], ctx=ast.Load())


def dotted_name(node: ast.AST | None) -> str | None:
    """Return ``a.b.c`` for names and attributes of names, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def last_name(node: ast.AST | None) -> str:
    """Return the last part of the name behind an expression, through calls and subscripts; "" where there is none."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def decorator_names(node: FunctionNode | ast.ClassDef) -> list[str]:
    """Return the last names of a definition's decorators: ``dataclass`` for ``@dataclasses.dataclass(...)``."""
    return [last_name(decorator) for decorator in node.decorator_list]


def accessor_of(node: FunctionNode) -> str:
    """Return "setter", "deleter" or "getter" for a function decorated with ``@name.setter`` and its like, else ""."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Attribute) and decorator.attr in {"setter", "deleter", "getter"}:
            return decorator.attr
    return ""


def is_property(node: FunctionNode) -> bool:
    """Tell whether a method is read as an attribute: ``@property``, ``@cached_property`` and others named so."""
    return any(name.endswith("property") for name in decorator_names(node))


def keyword_value(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a call's keyword argument, or None."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def is_constant(node: ast.expr | None, value: object) -> bool:
    """Tell whether an expression is exactly this constant."""
    return isinstance(node, ast.Constant) and node.value is value


def is_main_guard(node: ast.expr) -> bool:
    """Tell whether a condition is ``__name__ == "__main__"``."""
    return isinstance(node, ast.Compare) and dotted_name(node.left) == "__name__"
