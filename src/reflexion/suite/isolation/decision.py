"""Whether a suite can judge a candidate that it never imports: it calls functions with plain data, and no more.

Where the suite's text does not show it, the answer is no.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reflexion.suite.isolation.proxy import EXCEPTIONS, TARGET
from reflexion.suite.isolation.vocabulary import FIELDS, METHODS, MODULES, NOT_USED, RAISED, TYPES

_KEYED = ("sorted", "min", "max", "sort")


class _No(Exception):
    """Why a suite cannot be isolated."""


def decide(suite_text: str) -> str:
    """Return "" when the suite can be isolated, else why not, in a sentence."""
    try:
        suite = _read(suite_text)
        for node in suite.parents:
            for kind in type(node).__mro__:
                _CHECKS.get(kind, _no_check)(suite, node)
    except _No as no:
        return str(no)
    except RecursionError:
        return "The suite is nested too deeply."
    if both := sorted(suite.called & suite.expected):
        return f"It both calls and expects {both[0]}."
    return "" if suite.called else f"It calls nothing of {TARGET}."


def target_names(suite_text: str) -> frozenset[str]:
    """Return what the suite uses of the candidate's module, for ``isolated``; empty when its text does not parse."""
    try:
        suite = _read(suite_text)
    except _No:
        return frozenset()
    names = (_target(suite, node) for node in suite.parents)
    return frozenset({*suite.names.values(), *(name for name in names if name)})


@dataclass(frozen=True, slots=True)
class _Suite:
    """A suite's nodes with their parents, what its names stand for, and what it does with those of the target."""

    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """What the target's names are called here, to what they are called there."""
    modules: dict[str, str] = field(default_factory=dict)
    """What modules are called here, to what they are."""
    imported: set[str] = field(default_factory=set)
    """What else is imported from modules."""
    functions: set[str] = field(default_factory=set)
    fixtures: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    """Names of arguments from parametrize."""
    caught: set[str] = field(default_factory=set)
    """Names that an except clause gives to what it catches."""
    raised: set[str] = field(default_factory=set)
    """Names that are given to what pytest.raises gives."""
    called: set[str] = field(default_factory=set)
    expected: set[str] = field(default_factory=set)


def _read(text: str) -> _Suite:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _No("It does not parse.") from None
    tree.body = [statement for statement in tree.body if not _is_main_block(statement)]
    suite = _Suite()
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            suite.parents[child] = parent
            _note(suite, child)
    return suite


def _is_main_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" and not node.orelse


def _note(suite: _Suite, node: ast.AST) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        _note_import(suite, node)
    elif isinstance(node, ast.FunctionDef):
        suite.functions.add(node.name)
        if any(_path(decorator) == "pytest.fixture" for decorator in node.decorator_list):
            suite.fixtures.add(node.name)
    elif isinstance(node, ast.Call) and _path(node) == "pytest.mark.parametrize":
        suite.given.update(_given(node))
    elif isinstance(node, ast.ExceptHandler) and node.name:
        suite.caught.add(node.name)
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        suite.raised.add(node.optional_vars.id)


def _note_import(suite: _Suite, node: ast.Import | ast.ImportFrom) -> None:
    for item in node.names:
        name = item.asname or item.name
        if isinstance(node, ast.Import):
            table, other = suite.modules, suite.names
        else:
            table, other = suite.names, suite.modules
        if isinstance(node, ast.ImportFrom) and node.module != TARGET:
            suite.imported.add(name)
        elif table.setdefault(name, item.name) != item.name:
            raise _No(f"It gives the name {name} to two things.")
        if name in other or (name in table and name in suite.imported):
            raise _No(f"It gives the name {name} to two things.")


def _given(call: ast.Call) -> set[str]:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "argnames"]
    for first in [*call.args[:1], *named]:
        parts = first.elts if isinstance(first, (ast.Tuple, ast.List)) else [first]
        texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        return {name.strip() for text in texts for name in text.split(",")}
    return set()


def _path(node: ast.AST) -> str:
    """Return a dotted name, of what is called where it is a call; "" for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *parts]) if isinstance(node, ast.Name) else ""


def _target(suite: _Suite, node: ast.AST) -> str:
    """Return which name of the target a node stands for, "" for none."""
    if isinstance(node, ast.Name):
        return suite.names.get(node.id, "")
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if suite.modules.get(node.value.id) == TARGET else ""
    return ""


def _is_callee(suite: _Suite, node: ast.AST) -> bool:
    parent = suite.parents[node]
    return isinstance(parent, ast.Call) and parent.func is node


def _is_expectation(suite: _Suite, node: ast.AST) -> bool:
    """Return whether a node says which exceptions are expected, alone or in a tuple."""
    parent = suite.parents[node]
    if isinstance(parent, ast.Tuple):
        node, parent = parent, suite.parents[parent]
    if isinstance(parent, ast.ExceptHandler):
        return parent.type is node
    return isinstance(parent, ast.Call) and _path(parent) == "pytest.raises" and node in parent.args[:1]


def _no_check(suite: _Suite, node: ast.AST) -> None:
    pass


def _check_async(suite: _Suite, node: ast.AST) -> None:
    raise _No("It has asynchronous code.")


def _check_import(suite: _Suite, node: ast.Import) -> None:
    for item in node.names:
        if item.name not in MODULES and item.name != TARGET:
            raise _No(f"It imports {item.name}.")


def _check_import_from(suite: _Suite, node: ast.ImportFrom) -> None:
    module = node.module or "."
    if node.level or (module not in MODULES and module != TARGET):
        raise _No(f"It imports from {module}.")
    for item in node.names:
        allowed = MODULES.get(module)
        if item.name.startswith(("_", "*")) or not (allowed is None or item.name in allowed):
            raise _No(f"It imports {item.name} from {module}.")


def _check_lambda(suite: _Suite, node: ast.Lambda) -> None:
    keyword = suite.parents[node]
    call = suite.parents.get(keyword)
    sorts = isinstance(call, ast.Call) and _path(call).rpartition(".")[2] in _KEYED and not _target(suite, call.func)
    if not (isinstance(keyword, ast.keyword) and keyword.arg == "key" and sorts):
        raise _No("It has a lambda other than as the key of an order.")


def _check_class(suite: _Suite, node: ast.ClassDef) -> None:
    if not node.name.startswith("Test") or node.bases or node.keywords:
        raise _No(f"It defines the class {node.name}.")
    _check_decorators(node)
    _check_binding(suite, node.name)


def _check_decorators(node: ast.ClassDef | ast.FunctionDef) -> None:
    for decorator in node.decorator_list:
        if _path(decorator) not in ("pytest.fixture", "pytest.mark.parametrize"):
            raise _No(f"It decorates {node.name} with something else than fixture or parametrize.")


def _check_function(suite: _Suite, node: ast.FunctionDef) -> None:
    _check_decorators(node)
    _check_binding(suite, node.name)
    if node.name in suite.fixtures or node.name.startswith("test"):
        known = {"self", "cls", *suite.fixtures, *suite.given}
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if argument.arg not in known:
                raise _No(f"It asks for the fixture {argument.arg}.")


def _check_argument(suite: _Suite, node: ast.arg) -> None:
    _check_binding(suite, node.arg)


def _check_binding(suite: _Suite, name: str | None) -> None:
    if name is not None and name.startswith(("pytest_", "__")):
        raise _No(f"It defines {name}.")
    if name in suite.names or name in suite.modules:
        raise _No(f"It gives the name {name} to something else.")


def _check_match(suite: _Suite, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
    _check_binding(suite, node.rest if isinstance(node, ast.MatchMapping) else node.name)


def _check_with(suite: _Suite, node: ast.withitem) -> None:
    if not isinstance(node.context_expr, ast.Call) or _path(node.context_expr) != "pytest.raises":
        raise _No("It has a with statement other than pytest.raises.")


def _check_handler(suite: _Suite, node: ast.ExceptHandler) -> None:
    _check_binding(suite, node.name)
    _check_expected(suite, node.type)


def _check_expected(suite: _Suite, node: ast.AST | None) -> None:
    """Refuse whatever could also catch that the candidate gave no proper answer."""
    if isinstance(node, ast.Tuple):
        for item in node.elts:
            _check_expected(suite, item)
    elif node is not None and (name := _target(suite, node)):
        suite.expected.add(name)
    elif not isinstance(node, ast.Name) or node.id not in (*EXCEPTIONS, *suite.given):
        raise _No("It expects exceptions that are neither built in nor the target's.")


def _check_call(suite: _Suite, node: ast.Call) -> None:
    if _path(node) == "pytest.raises":
        if len(node.args) != 1 or any(keyword.arg != "match" for keyword in node.keywords):
            raise _No("It uses pytest.raises in an unusual way.")
        _check_expected(suite, node.args[0])
    elif _path(node) == "type" and len(node.args) != 1:
        raise _No("It makes a class.")
    elif name := _target(suite, node.func):
        suite.called.add(name)
        if any(isinstance(argument, ast.GeneratorExp) for argument in node.args):
            raise _No(f"It gives {name} a generator.")


def _check_name(suite: _Suite, node: ast.Name) -> None:
    if not isinstance(node.ctx, ast.Load):
        _check_binding(suite, node.id)
        return
    if node.id in NOT_USED or node.id.startswith("__"):
        raise _No(f"It uses {node.id}.")
    if node.id in suite.modules and not isinstance(suite.parents[node], ast.Attribute):
        raise _No(f"It uses the module {node.id} as a value.")
    if node.id in suite.names:
        _check_target(suite, node, node.id)
    elif node.id in suite.functions - suite.fixtures - suite.given and not _is_callee(suite, node):
        raise _No(f"It uses the function {node.id} as a value.")


def _check_target(suite: _Suite, node: ast.AST, name: str) -> None:
    if not _is_callee(suite, node) and not _is_expectation(suite, node):
        raise _No(f"It uses {name} other than by calling or expecting it.")


def _check_attribute(suite: _Suite, node: ast.Attribute) -> None:
    module = suite.modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if module == TARGET:
        _check_target(suite, node, node.attr)
    elif module is not None:
        allowed = MODULES.get(module)
        if node.attr.startswith("_") or not (allowed is None or node.attr in allowed):
            raise _No(f"It uses {node.attr} of {module}.")
    elif isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return
    elif not isinstance(node.ctx, ast.Load) or node.attr.startswith("_") or not _is_attribute(suite, node):
        raise _No(f"It uses the attribute {node.attr}.")


def _is_attribute(suite: _Suite, node: ast.Attribute) -> bool:
    """Return whether it is one of plain data or of pytest's marks, or an exception's, which comes over as well."""
    if _path(node) == "pytest.mark.parametrize":
        return True
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    if name in suite.raised and node.attr in RAISED:
        return True
    of_exception = isinstance(node.value, ast.Attribute) and node.value.attr == "value"
    if node.attr in METHODS and (_is_callee(suite, node) or name in TYPES):
        return True
    return node.attr in FIELDS or of_exception or name in suite.caught


def _check_compare(suite: _Suite, node: ast.Compare) -> None:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, (ast.Is, ast.IsNot)) and not (_is_single(left) or _is_single(right)):
            raise _No("It asks whether two values are the same object.")
        left = right


def _is_single(node: ast.expr) -> bool:
    single = isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
    return single or (isinstance(node, ast.Name) and node.id in TYPES)


_CHECKS: dict[type, Callable[[_Suite, Any], None]] = {
    ast.AsyncFunctionDef: _check_async,
    ast.AsyncFor: _check_async,
    ast.AsyncWith: _check_async,
    ast.Await: _check_async,
    ast.Import: _check_import,
    ast.ImportFrom: _check_import_from,
    ast.Lambda: _check_lambda,
    ast.ClassDef: _check_class,
    ast.FunctionDef: _check_function,
    ast.arg: _check_argument,
    ast.withitem: _check_with,
    ast.ExceptHandler: _check_handler,
    ast.Call: _check_call,
    ast.Name: _check_name,
    ast.Attribute: _check_attribute,
    ast.Compare: _check_compare,
    ast.MatchAs: _check_match,
    ast.MatchStar: _check_match,
    ast.MatchMapping: _check_match,
}
