"""Modules that have every name a suite imports, and do nothing: a sound suite fails against each of them."""

import ast
import re

from reflexion.suite.source import Suite

# What every call answers: an object that allows everything and is equal to nothing, or plain values.
ANSWERS = {
    "nothing": "_Nothing()",
    "none": "None",
    "first": "_first(arguments, keywords)",
    "zero": "0",
    "text": "''",
    "true": "True",
    "list": "[]",
}
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*$")
_HEAD = """\
def _first(arguments, keywords):
    return next(iter([*arguments, *keywords.values()]), None)


class _Nothing:
    def __init__(self, awaited=False):
        self._awaited = awaited

    def __call__(self, *arguments, **keywords):
        return _later(arguments, keywords) if self._awaited else _answer(arguments, keywords)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name in AWAITED)

    def __await__(self):
        return _later((), {}).__await__()

    def __bool__(self):
        return False

    def __len__(self):
        return 0

    def __iter__(self):
        return iter(())

    async def __aiter__(self):
        return
        yield

    def __contains__(self, item):
        return False

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 0

    def __exit__(self, *arguments):
        return False

    async def __aexit__(self, *arguments):
        return False

    def __enter__(self):
        return self

    async def __aenter__(self):
        return self

    def __str__(self):
        return ""

    def __int__(self):
        return 0

    def __float__(self):
        return 0.0

    def __index__(self):
        return 0

    def __lt__(self, other):
        return False

    def __getitem__(self, key):
        return _Nothing()

    def __setitem__(self, key, value):
        pass

    def __delitem__(self, key):
        pass

    __le__ = __gt__ = __ge__ = __lt__
    __next__ = None

    def _operation(self, *arguments):
        return _Nothing()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operation
    __floordiv__ = __mod__ = __pow__ = __neg__ = __abs__ = __and__ = __or__ = __xor__ = __round__ = _operation


del _Nothing.__next__


async def _later(arguments, keywords):
    return _answer(arguments, keywords)


class _Kind(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name in AWAITED)

    def __iter__(cls):
        return iter(())

    def __len__(cls):
        return 0

    def __contains__(cls, item):
        return False

    def __getitem__(cls, item):
        return cls


class _Stub(_Nothing, metaclass=_Kind):
    def __init__(self, *arguments, **keywords):
        self._awaited = False


"""


def stub(suite: Suite, answer: str) -> bytes:
    """Return the text of a module that answers like ``answer``, one of ANSWERS."""
    awaited, raised = _awaited(suite.tree), _raised(suite.tree)
    parts = [
        _HEAD,
        f"AWAITED = {sorted(awaited)!r}\n\n\ndef _answer(arguments, keywords):\n    return {ANSWERS[answer]}\n",
    ]
    for name in suite.names:
        if name in raised:
            parts.append(f"class {name}(Exception):\n    pass\n")
        elif _CONSTANT.match(name) and len(name) > 1:
            parts.append(f"{name} = _Nothing()\n")
        elif name[:1].isupper():
            parts.append(f"class {name}(_Stub):\n    pass\n")
        else:
            result = "_later" if name in awaited else "_answer"
            parts.append(f"def {name}(*arguments, **keywords):\n    return {result}(arguments, keywords)\n")
    return "\n\n".join(parts).encode()


def _awaited(tree: ast.Module) -> set[str]:
    """Return the names whose calls a suite awaits, or gives to an event loop."""
    found: set[str] = set()
    for node in ast.walk(tree):
        inner: list[ast.AST] = []
        if isinstance(node, ast.Await):
            inner = [node.value]
        elif isinstance(node, ast.Call) and _last(node.func) in {"run", "gather", "wait_for", "create_task"}:
            inner = list(node.args)
        found |= {_last(one.func) for part in inner for one in ast.walk(part) if isinstance(one, ast.Call)}
    return found


def _raised(tree: ast.Module) -> set[str]:
    """Return the names that a suite expects, catches or raises as exceptions."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last(node.func) in {"raises", "RaisesExc", "RaisesGroup"} and node.args:
            found.append(node.args[0])
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            found.append(node.type)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            found.append(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
    names = {_last(one) for part in found for one in ast.walk(part)}
    return names | {name for name in _imported(tree) if name.endswith(("Error", "Exception"))}


def _imported(tree: ast.Module) -> set[str]:
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
