"""Looks, inside the sandbox, at the classes that came into being or were changed since a candidate was imported, and
at the files that it opens.

A class of somebody else that got another method could make both sides of a comparison the same. And the scan has
looked at each comparison that a class statement defines, but a class that was put together at run time could have
others; so every one that a class has must be of a line that was looked at, or of somebody else's file. Files are there
without being named: each stream leads to the class that opens them. Never imported here: it is sent into the job, with
``reporter.py``.
"""

import gc
import logging
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

COMPARING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
WATCHED = COMPARING | {"__class__", "__reduce__", "__reduce_ex__", "__getattribute__", "__getstate__", "__del__"}
WATCHED |= {"__instancecheck__", "__subclasscheck__", "__subclasshook__"}
SCALARS = (int, float, complex, str, bytes, bytearray)
# As they are without being imported; the C version says where it would come from.
NUMBERS = frozenset({("decimal", "Decimal"), ("fractions", "Fraction")})
ON_SCALARS = frozenset(
    {"__new__", "__init__", "__repr__", "__str__", "__format__", "__init_subclass__", "__post_init__"}
)
_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "xor",
    "or",
)
# What no enumeration of numbers needs: which number it is, and answers for it on the other side of an operator.
NUMERIC = frozenset(f"__{kind}{name}__" for name in _OPERATORS for kind in ("", "r", "i")) | frozenset(
    f"__{name}__"
    for name in ("neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil")
)
PROCESSES = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
NATIVE = (type(int.__eq__), type(int.__reduce__), type(dict.__dict__["fromkeys"]), type(type.__dict__["__flags__"]))
# As they are before a candidate can put others in their place.
SUBCLASSES: Callable[[type], list[type]] = type.__subclasses__
NAMESPACE, MRO = type.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__


def all_kinds() -> dict[int, type]:
    """Return every class there is, by its identity."""
    found: dict[int, type] = {id(object): object}
    todo: list[type] = [object]
    while todo:
        new = {id(kind): kind for kind in SUBCLASSES(todo.pop()) if id(kind) not in found}
        found |= new
        todo += new.values()
    return found


def _methods(kind: type) -> dict[str, int]:
    """Return what can be called of a class, by identity."""
    return {name: id(value) for name, value in list(NAMESPACE(kind).items()) if callable(value) or _function(value)}


class Look:
    """A look at all classes, at two times. ``file`` is the candidate's. ``vetted`` are line and name of each special
    method that its text defines.
    """

    def __init__(self, file: str, vetted: set[tuple[int, str]]) -> None:
        self._file, self._vetted = file, vetted
        self._before: dict[int, dict[str, int]] = {}
        self._opened = ""

    def begin(self) -> None:
        """Look at the classes there are before the candidate is imported."""
        sys.addaudithook(self._watch)
        self._before = {number: _methods(kind) for number, kind in all_kinds().items()}
        gc.disable()  # classes refer to themselves, so that none of them is gone at the end

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in PROCESSES:
            self._opened = "starts a process"
        elif event == "open":
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename == logging.__file__:
                frame = frame.f_back  # a handler that opens one
            if frame.f_code.co_filename == self._file:
                self._opened = "opens a file"

    def strange(self) -> str:
        """Return what the candidate does that the scan did not see, "" for nothing: a class that is not as the scan saw
        it, or not as it was; a file; a process.
        """
        if self._opened:
            return f"{self._opened} in a way that cannot be looked at"
        for number, kind in all_kinds().items():
            known = self._before.get(number)
            if _is_strange(kind, self._file, self._vetted) if known is None else _is_changed(kind, self._file, known):
                name = type.__dict__["__qualname__"].__get__(kind) or "a class"
                return f"makes or changes the class {name} in a way that cannot be looked at"
        return ""


def _is_changed(kind: type, file: str, known: dict[str, int]) -> bool:
    """Say whether a class got something of the candidate's, or what is no function; mocks change themselves."""
    if getattr(sys.modules.get("unittest.mock"), "NonCallableMock", None) in MRO(kind):
        return False
    names = NAMESPACE(kind)
    changed = [names[name] for name, number in _methods(kind).items() if known.get(name) != number]
    return any(_function(value) is None or _line(value, file) for value in changed)


def _is_strange(kind: type, file: str, vetted: set[tuple[int, str]]) -> bool:
    names: dict[str, Any] = dict(NAMESPACE(kind))
    own = {name for name, value in names.items() if _line(value, file)}
    mro = MRO(kind)
    if type in mro and own:
        return True
    special = {name for name in own if name[:2] == name[-2:] == "__"}
    is_enum = any(one.__module__ == "enum" for one in mro)
    if any(one in SCALARS or (one.__module__, one.__name__) in NUMBERS for one in mro) and (
        special & NUMERIC if is_enum else special - ON_SCALARS
    ):
        return True
    is_mock = getattr(sys.modules.get("unittest.mock"), "NonCallableMock", None) in mro
    looked_at = WATCHED & (own if is_mock else set(names))  # mocks answer by themselves, with whatever they like
    return any(not _is_known(name, names[name], kind, file, vetted) for name in looked_at)


def _is_known(name: str, value: Any, kind: type, file: str, vetted: set[tuple[int, str]]) -> bool:  # noqa: ANN401
    if value is None or type(value) is getattr(sys.modules.get("unittest.mock"), "MagicProxy", None):
        return True
    if type(value) in NATIVE:
        return name not in COMPARING or (value.__name__ == name and value.__objclass__ in MRO(kind))
    code = getattr(_function(value), "__code__", None)
    if code is None:
        return False
    return code.co_filename != file or (code.co_name == name and (code.co_firstlineno, name) in vetted)


def _function(value: Any) -> object:  # noqa: ANN401
    if type(value) in (classmethod, staticmethod):
        value = value.__func__
    elif type(value) is property:
        value = value.fget
    return value if type(value) is FunctionType else None


def _line(value: Any, file: str) -> int:  # noqa: ANN401
    """Return the line of a function of the candidate, 0 for all else."""
    function = _function(value)
    if isinstance(function, FunctionType) and function.__code__.co_filename == file:
        return function.__code__.co_firstlineno
    return 0
