"""The classes of a file: who inherits from whom, and which ``except`` catches what."""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from reflexion.evidence.python.scopes import Scope, read_scope
from reflexion.evidence.python.syntax import dotted_name
from reflexion.patterns import regex

# Exceptions of the standard library that are caught by a built-in name; others count as unknown.
_STANDARD_BASES = {
    "BadZipFile": ("Exception",),
    "CalledProcessError": ("SubprocessError", "Exception"),
    "CancelledError": (),
    "HTTPError": ("URLError", "OSError", "Exception"),
    "InvalidOperation": ("DecimalException", "ArithmeticError", "Exception"),
    "JSONDecodeError": ("ValueError", "Exception"),
    "SSLError": ("OSError", "Exception"),
    "SubprocessError": ("Exception",),
    "TOMLDecodeError": ("ValueError", "Exception"),
    "TimeoutExpired": ("SubprocessError", "Exception"),
    "URLError": ("OSError", "Exception"),
    "binascii.Error": ("ValueError", "Exception"),
    "queue.Empty": ("Exception",),
    "queue.Full": ("Exception",),
    "shutil.Error": ("OSError", "Exception"),
    "struct.error": ("Exception",),
}
_SAME_AS = {
    "EnvironmentError": "OSError",
    "IOError": "OSError",
    "asyncio.TimeoutError": "TimeoutError",
    "os.error": "OSError",
    "select.error": "OSError",
    "socket.error": "OSError",
    "socket.timeout": "TimeoutError",
}
_EXCEPTION_LIKE = regex(r"^_*[A-Z]|(?:^|_)(?:error|timeout|exception)$|^[hg]?(?:ai)?error$")
# Bases that bring no members and no constructor of their own.
BARE_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})


@dataclass(slots=True, eq=False)
class ClassInfo:
    """One class statement. ``mro`` lists the classes of this file in the order of lookup, itself first."""

    qualname: str
    node: ast.ClassDef
    scope: Scope
    outer: "ClassInfo | None"
    bases: list["ClassInfo"] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    mro: tuple["ClassInfo", ...] = ()

    def owner_of(self, name: str) -> "ClassInfo | None":
        """Return the first class in the order of lookup whose body defines a name."""
        return next((info for info in self.mro if name in info.scope.names), None)

    def foreign_bases(self) -> list[str]:
        """Return the bases outside of the file, of this class and of its bases here."""
        return [name for info in self.mro for name in info.foreign]


class ClassIndex:
    """All classes at module and class level of one file."""

    def __init__(self, module: Scope) -> None:
        self._by_name: dict[str, ClassInfo] = {}
        self._by_node: dict[int, ClassInfo] = {}
        self._known: dict[str, tuple[tuple[str, ...], bool]] = {}
        self._add(module, None)
        for info in self._by_node.values():
            self._link(info)
        for info in self._by_node.values():
            info.mro = _order_of_lookup(info, set())

    def __iter__(self) -> Iterator[ClassInfo]:
        return iter(self._by_node.values())

    def of(self, node: ast.ClassDef) -> ClassInfo:
        """Return what is known of a class statement of this file."""
        return self._by_node[id(node)]

    def find(self, name: str | None, within: ClassInfo | None = None) -> ClassInfo | None:
        """Return the class that a dotted name means inside a class or at module level, or None."""
        while name and within:
            found = self._by_name.get(f"{within.qualname}.{name}")
            if found:
                return found
            within = within.outer
        return self._by_name.get(name) if name else None

    def ancestors(self, name: str, within: ClassInfo | None = None) -> tuple[tuple[str, ...], bool]:
        """Return the names of all known bases of an exception, and whether they are all that there are."""
        info = self.find(name, within)
        if info is None:
            return _outside_ancestors(name)
        known = self._known.get(info.qualname)
        if known is None:
            known = self._known[info.qualname] = self._ancestors_of(info)
        return known

    def catches(self, caught: str, raised: str, within: ClassInfo | None = None) -> bool | None:
        """Tell whether ``except caught`` stops ``raised``; None where the file does not say."""
        if not caught:
            return None
        caught, raised = _SAME_AS.get(caught, caught), _SAME_AS.get(raised, raised)
        names, complete = self.ancestors(raised, within)
        wanted = _last(caught)
        if wanted == _last(raised) or wanted in (_last(name) for name in names):
            return True
        if complete:
            return False
        if wanted in {"Exception", "BaseException"}:
            return True
        return False if raised in self.ancestors(caught, within)[0] else None

    def is_exception(self, info: ClassInfo) -> bool:
        """Tell whether a class is an exception, as far as the names of its bases say."""
        names = info.foreign_bases()
        return any("BaseException" in _outside_ancestors(name)[0] or _looks_like_error(name) for name in names)

    def _add(self, scope: Scope, outer: ClassInfo | None) -> None:
        for name, definitions in scope.names.items():
            for definition in definitions:
                if isinstance(definition.node, ast.ClassDef):
                    qualname = f"{outer.qualname}.{name}" if outer else name
                    info = ClassInfo(qualname, definition.node, read_scope(definition.node.body), outer)
                    self._by_name.setdefault(qualname, info)
                    self._by_node[id(definition.node)] = info
                    self._add(info.scope, info)

    def _link(self, info: ClassInfo) -> None:
        for base in info.node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            name = dotted_name(inner)
            found = self.find(name, info.outer)
            if found and found is not info:
                info.bases.append(found)
            elif isinstance(inner, ast.Call):
                info.foreign.append(f"{dotted_name(inner.func) or '?'}()")
            else:
                info.foreign.append(name or "?")

    def _ancestors_of(self, info: ClassInfo) -> tuple[tuple[str, ...], bool]:
        names = [each.qualname for each in info.mro[1:]]
        complete = True
        for foreign in info.foreign_bases():
            above, whole = _outside_ancestors(foreign)
            names += [name for name in (foreign, *above) if name not in names and name not in BARE_BASES]
            complete = complete and (whole or foreign in BARE_BASES)
        return tuple(sorted(names, key=lambda name: name in {"Exception", "BaseException"})), complete


def looks_like_exception(dotted: str) -> bool:
    """Tell whether a name that the file does not define is, by its spelling, an exception class."""
    return dotted in _SAME_AS or bool(_EXCEPTION_LIKE.search(_last(dotted)))


def _looks_like_error(name: str) -> bool:
    return _last(name).endswith(("Error", "Exception", "Warning"))


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


@cache
def _outside_ancestors(name: str) -> tuple[tuple[str, ...], bool]:
    name = _SAME_AS.get(name, name)
    last = _last(name)
    known = getattr(builtins, last, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return tuple(each.__name__ for each in known.__mro__[1:-1]), True
    bases = _STANDARD_BASES.get(name, _STANDARD_BASES.get(last))
    return ((), False) if bases is None else ((*bases, "BaseException"), True)


def _order_of_lookup(info: ClassInfo, above: set[int]) -> tuple[ClassInfo, ...]:
    """Return the order of lookup: depth first, and a shared base after all that inherit from it."""
    if info.mro:
        return info.mro
    above = above | {id(info)}
    order = [info]
    for base in info.bases:
        if id(base) not in above:
            order += _order_of_lookup(base, above)
    last_place = {id(each): place for place, each in enumerate(order)}
    return tuple(each for place, each in enumerate(order) if last_place[id(each)] == place)
