"""Which symbol of the source a name in a document means, and what else the source calls by that name."""

import ast
import builtins
import re
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from reflexion.evidence.facts import Facts, Parameter, Signature, Symbol
from reflexion.evidence.types import TypeContext, type_context
from reflexion.evidence.values import constant_values
from reflexion.patterns import regex

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
QUOTE_WIDTH = 160

# Bases that give a class no public members that a page would name.
BARE_BASES = frozenset(
    {"object", "ABC", "Protocol", "Generic", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
)

# Where Python's own line numbers break; str.splitlines knows more places.
_LINE_END = regex(r"\r\n|\r|\n")


class SourceNames(NamedTuple):
    """Names that the source uses without defining a documented symbol: imports, attributes set, and all others."""

    imported: frozenset[str]
    attributes: frozenset[str]
    others: frozenset[str]


class Source:
    """``Facts`` with look-ups. Nothing in it changes; what is costly is made on first use."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.symbols = {symbol.qualname: symbol for symbol in facts.walk()}
        self._by_last: dict[str, list[Symbol]] = {}
        for symbol in self.symbols.values():
            self._by_last.setdefault(symbol.name, []).append(symbol)

    @cached_property
    def types(self) -> TypeContext:
        """Aliases and classes, for comparing types."""
        return type_context(self.facts)

    @cached_property
    def values(self) -> dict[str, str]:
        """Values of constants by name."""
        return constant_values(self.facts)

    @cached_property
    def lines(self) -> list[str]:
        """The source's lines."""
        return _LINE_END.split(self.facts.text)

    @cached_property
    def names(self) -> SourceNames:
        """Every other name in the source."""
        return _source_names(self.facts.text)

    def resolve(self, name: str | None, subject: str | None = None) -> Symbol | None:
        """The symbol that ``name`` means under ``subject``; None when there is none or when it is ambiguous."""
        if not name:
            return None
        parts = _parts(f"{subject}.{name}" if subject else name)
        least = len(_parts(name))
        for start in range(max(1, len(parts) - least + 1)):
            found = self._exact(parts[start:])
            if found is not None:
                return found
        return self._by_last_part(name, subject)

    def _exact(self, parts: list[str]) -> Symbol | None:
        qualname = ".".join(parts)
        if parts and parts[-1] in CONSTRUCTORS:
            return self.symbols.get(qualname.rpartition(".")[0])
        return self.symbols.get(qualname) or self._inherited(parts)

    def _inherited(self, parts: list[str], depth: int = 0) -> Symbol | None:
        owner = self.symbols.get(".".join(parts[:-1])) if len(parts) > 1 else None
        if owner is None or depth > 20:
            return None
        for base in owner.bases:
            path = [*_parts(base), parts[-1]]
            found = self.symbols.get(".".join(path)) or self._inherited(path, depth + 1)
            if found is not None:
                return found
        return None

    def _by_last_part(self, name: str, subject: str | None) -> Symbol | None:
        """A bare name that only one symbol has; never one of another class than the document is in."""
        parts = _parts(name)
        candidates = self._by_last.get(parts[-1], []) if parts else []
        if len(candidates) != 1 or (len(parts) > 1 and not self._is_module(parts[:-1])):
            return None
        owner = self.resolve(subject) if subject else None
        foreign = owner is not None and owner.kind == "class" and not candidates[0].qualname.startswith(owner.qualname)
        return None if foreign and "." in candidates[0].qualname else candidates[0]

    def _is_module(self, parts: list[str]) -> bool:
        module = self.facts.module.split(".")
        return module[-len(parts) :] == parts

    def is_ambiguous(self, name: str) -> bool:
        """Whether several symbols end in this name."""
        return len(self._by_last.get(name.rpartition(".")[2], [])) > 1

    def owner(self, symbol: Symbol) -> Symbol | None:
        """The class around a symbol."""
        return self.symbols.get(symbol.qualname.rpartition(".")[0])

    def quote(self, line: int) -> str:
        """``line N: text`` of the source."""
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        text = text if len(text) <= QUOTE_WIDTH else text[: QUOTE_WIDTH - 1] + "…"
        return f"line {line}: {text}" if text else f"line {line}"

    def quote_name(self, symbol: Symbol, name: str) -> str:
        """Quote the line of ``symbol`` where ``name`` first stands as a parameter, field or key."""
        pattern = re.compile(
            rf"(?<![\w.]){re.escape(name)}\s*[:=,)]|['\"]{re.escape(name)}['\"]|^\s*\**{re.escape(name)}$"
        )
        for line in range(symbol.line, min(symbol.end_line, len(self.lines)) + 1):
            if pattern.search(self.lines[line - 1]):
                return self.quote(line)
        return self.quote(symbol.line)

    def segment(self, symbol: Symbol) -> str:
        """The source text of a symbol."""
        return "\n".join(self.lines[symbol.line - 1 : symbol.end_line])

    def inherits_constructor(self, symbol: Symbol) -> bool:
        """Whether a class is made by the constructor of a base in this file, whose own page tells of it."""
        if symbol.kind != "class" or not any(self.resolve(base) for base in symbol.bases):
            return False
        own_fields = any(member.kind == "field" and member.name in parameters_of(symbol) for member in symbol.members)
        return (
            not own_fields and re.search(r"\bdef\s+(?:__init__|__new__|__post_init__)\b", self.segment(symbol)) is None
        )

    def may_inherit(self, symbol: Symbol, name: str) -> bool:
        """Whether a base class outside of the file may give ``name`` to a class; of known bases it is known."""
        for ancestor in self.ancestors(symbol.qualname):
            if ancestor in self.symbols or ancestor == symbol.name:
                continue
            known = tuple if ancestor == "NamedTuple" else getattr(builtins, ancestor, None)
            if hasattr(known, name) or (known is None and ancestor not in BARE_BASES):
                return True
        return False

    def ancestors(self, name: str) -> Iterator[str]:
        """Names of the classes above ``name``: those of the module, then those of builtin exceptions."""
        todo, seen = [name.rpartition(".")[2]], set[str]()
        while todo:
            current = todo.pop()
            if current in seen:
                continue
            seen.add(current)
            yield current
            symbol = self.symbols.get(current)
            todo += [_class_name(base) for base in symbol.bases] if symbol else _builtin_bases(current)


def parameters_of(symbol: Symbol) -> dict[str, Parameter]:
    """Every parameter that any signature has, by name; the last signature wins (an overload's implementation)."""
    return {parameter.name: parameter for signature in every_signature(symbol) for parameter in signature.parameters}


def every_signature(symbol: Symbol) -> tuple[Signature, ...]:
    """The signatures, overloads first, then the implementation that stands below them."""
    return symbol.signatures + ((symbol.implementation,) if symbol.implementation else ())


def common_parameters(symbol: Symbol) -> list[str]:
    """Names that every signature has, in order: what a list may not leave out."""
    if not symbol.signatures:
        return []
    sets = [{parameter.name for parameter in signature.parameters} for signature in symbol.signatures]
    return [parameter.name for parameter in symbol.signatures[-1].parameters if all(parameter.name in s for s in sets)]


def is_dunder(name: str) -> bool:
    """Whether a name is a special one, such as ``__init__``."""
    return name.startswith("__") and name.endswith("__")


def _class_name(base: str) -> str:
    """``typing.Generic[T]`` is ``Generic``."""
    return base.partition("[")[0].partition("(")[0].rpartition(".")[2]


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[.:#]+", name.removesuffix("()")) if part]


def _builtin_bases(name: str) -> list[str]:
    found = getattr(builtins, name, None)
    return [base.__name__ for base in found.__bases__ if base is not object] if isinstance(found, type) else []


def _source_names(text: str) -> SourceNames:
    imported: set[str] = set()
    attributes: set[str] = set()
    others: set[str] = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"#.*", "", text)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return SourceNames(frozenset(), frozenset(), frozenset(others))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            attributes.add(node.attr)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            attributes |= {target.id for target in _targets(node) if isinstance(target, ast.Name)}
    return SourceNames(frozenset(imported), frozenset(attributes), frozenset(others))


def _targets(node: ast.AnnAssign | ast.Assign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]
