"""Facts: what a source says, as plain frozen records. ``source.py`` makes them; rules and prompts read them.

Lines count from 1 in the source file. Texts of defaults, annotations and values are the source's own, as
``ast.unparse`` would print them. A ``qualname`` is dotted inside the module: ``Account.deposit``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

ParameterKind = Literal["positional-only", "positional", "var-positional", "keyword-only", "var-keyword"]
SymbolKind = Literal["function", "method", "class", "property", "constant", "field", "enum member"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. ``default`` and ``annotation`` are source text, or None where there is none."""

    name: str
    kind: ParameterKind
    annotation: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """One ``raise`` that a caller can meet.

    ``message`` is the exact text, or a template in which every computed part stands as ``{source text}`` (then
    ``template`` is True), or None where the source gives none or it cannot be known. ``via`` names the functions
    between the symbol and the statement: empty for its own ``raise``.
    """

    type: str
    message: str | None
    line: int
    template: bool = False
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    """One way to call a symbol; overloads give several."""

    parameters: tuple[Parameter, ...]
    returns: str | None


@dataclass(frozen=True, slots=True)
class Symbol:
    """One name that the module defines. ``signatures`` is empty for what is not called.

    ``parameters`` of a method leave ``self`` / ``cls`` out; those of a class are its constructor's (dataclass and
    named-tuple fields included). ``value`` is the text of a constant's, field's or enum member's value.
    ``returned_keys`` are the keys of a dict literal that every ``return`` gives, or None.
    """

    qualname: str
    kind: SymbolKind
    line: int
    end_line: int
    public: bool
    signatures: tuple[Signature, ...] = ()
    is_async: bool = False
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    raises: tuple[Raise, ...] = ()
    value: str | None = None
    annotation: str | None = None
    returned_keys: tuple[str, ...] | None = None
    docstring: str | None = None
    members: tuple["Symbol", ...] = ()

    @property
    def name(self) -> str:
        """The last part of the qualname."""
        return self.qualname.rpartition(".")[2]

    def walk(self) -> Iterator["Symbol"]:
        """Yield this symbol and everything inside it, in source order."""
        yield self
        for member in self.members:
            yield from member.walk()


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of one module. ``symbols`` are top level, in source order."""

    module: str
    symbols: tuple[Symbol, ...]
    docstring: str | None = None
    text: str = ""

    def walk(self) -> Iterator[Symbol]:
        """Yield every symbol at every depth, in source order."""
        for symbol in self.symbols:
            yield from symbol.walk()
