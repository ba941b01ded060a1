"""The static scan of a suite: it may do a little more than a candidate, and must leave pytest and the machine alone."""

import ast
from collections.abc import Iterator

from reflexion.suite.modules import Policy
from reflexion.suite.result import Flag
from reflexion.suite.scan import Visitor

_MORE = {
    "os": frozenset({"environ", "path", "sep", "linesep", "fspath", "PathLike"}),
    "os.path": frozenset({"join", "exists", "basename", "dirname", "splitext", "isfile", "isdir", "getsize"}),
    "sys": frozenset({"version_info", "platform", "getrefcount", "stdout", "stderr"}),
    "pathlib": frozenset({"Path"}),
    "inspect": frozenset(
        {"signature", "Parameter", "isclass", "isfunction", "iscoroutinefunction", "isgenerator", "isgeneratorfunction"}
        | {"isabstract", "ismethod", "getdoc", "iscoroutine", "isasyncgen", "isasyncgenfunction", "isawaitable"}
    ),
    "unittest.mock": frozenset(
        {"Mock", "MagicMock", "AsyncMock", "call", "sentinel", "patch", "create_autospec", "DEFAULT", "PropertyMock"}
        | {"NonCallableMock", "ANY"}
    ),
    "unittest": frozenset({"mock"}),
    "numbers": frozenset({"Number", "Real", "Integral", "Complex", "Rational"}),
    "gc": frozenset({"collect"}),
    "pickle": frozenset({"dumps", "loads"}),
    "contextlib": frozenset({"redirect_stdout", "redirect_stderr"}),
    "typing": frozenset({"get_type_hints"}),
    "traceback": frozenset({"format_exception"}),
    "string": frozenset({"Formatter"}),
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "warnings": frozenset({"catch_warnings", "simplefilter"}),
    "types": frozenset({"FunctionType"}),
    "threading": frozenset({"enumerate"}),
    "pytest": frozenset(
        {
            "raises",
            "approx",
            "fixture",
            "mark",
            "param",
            "warns",
            "fail",
            "MonkeyPatch",
            "CaptureFixture",
            "TempPathFactory",
        }
        | {"LogCaptureFixture", "FixtureRequest", "ExceptionInfo", "RaisesExc", "RaisesGroup", "deprecated_call"}
    ),
}
_MARKS = frozenset({"parametrize", "usefixtures", "filterwarnings"})
_SKIPPING = frozenset({"skip", "skipif", "xfail", "importorskip", "exit"})
_OWN_OF_PYTEST = ("pytest", "_pytest", "pluggy", "builtins", "unittest", "sys", "os", "gc")


def scan_suite(tree: ast.Module, target: str) -> tuple[Flag, ...]:
    """Return what a suite may not do, by line."""
    visitor = _Visitor(tree, Policy(frozenset({target} - {""}), _MORE))
    visitor.visit(tree)
    return tuple(sorted(set(visitor.flags) | set(_of_pytest(tree))))


class _Visitor(Visitor):
    """As for a candidate; but a suite may hand modules on, and read attributes by name: that is how one patches."""

    def _flag(self, node: ast.AST, what: str) -> None:
        if not what.startswith(("hands on the module", "hands on getattr", "getattr with", "__", "a kind of")):
            super()._flag(node, what)

    def _check_read(self, node: ast.Name) -> None:
        if node.id not in {"open", "getattr"}:
            super()._check_read(node)

    def _check_attribute(self, node: ast.AST, name: str, context: ast.expr_context) -> None:
        if name not in {
            "__class__",
            "__dict__",
            "__annotations__",
            "__slots__",
            "__wrapped__",
            "__module__",
            "__hash__",
        }:
            super()._check_attribute(node, name, context)

    def _check_target(self, node: ast.Attribute) -> None:
        """Let a suite set what it imports from its target."""

    def visit_Constant(self, node: ast.Constant) -> None:  # noqa: N802
        """Let a suite test formats."""


def _of_pytest(tree: ast.Module) -> Iterator[Flag]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("pytest_"):
            yield Flag(node.lineno, f"defines the hook {node.name} of pytest")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in _SETTINGS:
            yield Flag(node.lineno, f"sets {node.id}")
        elif isinstance(node, ast.Attribute):
            yield from _of_attribute(node)
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


_SETTINGS = frozenset({"pytest_plugins", "pytestmark", "collect_ignore", "collect_ignore_glob", "__tracebackhide__"})


def _of_attribute(node: ast.Attribute) -> Iterator[Flag]:
    root = node.value
    if isinstance(root, ast.Attribute) and root.attr == "mark" and node.attr not in _MARKS:
        yield Flag(node.lineno, f"uses the mark {node.attr}")
    elif isinstance(root, ast.Name) and root.id == "pytest" and node.attr in _SKIPPING:
        yield Flag(node.lineno, f"uses pytest.{node.attr}")


def _of_call(node: ast.Call) -> Iterator[Flag]:
    name = _last(node.func)
    first = node.args[0] if node.args else None
    text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
    if text is None:
        return
    if name in {"open", "Path"}:
        yield Flag(node.lineno, f"names the file {text!r}: only files under tmp_path may be used")
    elif name in {"setattr", "patch", "delattr", "object"} and text.partition(".")[0] in _OWN_OF_PYTEST:
        yield Flag(node.lineno, f"patches {text}")
    elif name == "getfixturevalue" or (name == "getattr" and text.startswith("__")):
        yield Flag(node.lineno, f"reaches {text}")


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
