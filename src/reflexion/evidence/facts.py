"""Facts: what a source says, as plain frozen records. ``source.py`` makes them; rules and prompts read them.

Lines count from 1 in the source file. Texts of defaults, annotations and values are the source's own, as
``ast.unparse`` would print them. A ``qualname`` is dotted inside the module: ``Account.deposit``.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

ParameterKind = Literal["positional-only", "positional", "var-positional", "keyword-only", "var-keyword"]
SymbolKind = Literal["function", "method", "class", "property", "constant", "field", "enum member"]
Binding = Literal["instance", "class", "static"]
Flavour = Literal["", "dataclass", "enum", "namedtuple", "typeddict", "protocol", "exception"]


class Parameter(NamedTuple):
    """One parameter. ``default`` and ``annotation`` are source text, or None where there is none.

    With ``factory`` the default is made anew for each call by what ``default`` names: ``list``, ``lambda: [1]``.
    """

    name: str
    kind: ParameterKind
    annotation: str | None = None
    default: str | None = None
    factory: bool = False


class Raise(NamedTuple):
    """One ``raise`` that a caller can meet.

    ``type`` stands as the source writes it (``ValueError``, ``errors.ConfigError``); ``bases`` are the names of all
    its known base classes, nearest first, from this file and the built-in ones.

    ``message`` is the exact text, or a template in which every computed part stands as ``{source text}`` (then
    ``template`` is True), or None where the source gives none or it cannot be known. ``literals`` are the constant
    pieces around the computed parts, one more than there are parts; of an exact message, the message itself.

    ``via`` names the functions between the symbol and the statement: empty for its own ``raise``. With
    ``through_public`` at least one of them is public, so that its own documentation tells the story.
    ``cause`` is the text after ``from``.
    """

    type: str
    message: str | None
    line: int
    template: bool = False
    via: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    through_public: bool = False
    cause: str | None = None


class Signature(NamedTuple):
    """One way to call a symbol; overloads give several."""

    parameters: tuple[Parameter, ...]
    returns: str | None


class Symbol(NamedTuple):
    """One name that the module defines. ``public`` is True where documentation is expected to name it.

    ``signatures`` is empty for what is not called, and for a class whose constructor lies outside of the file. It
    holds the overloads where there are any; ``implementation`` is then what stands below them. Alternatives under
    ``if`` or ``try`` are one symbol with every different signature.
    ``parameters`` of a method leave ``self`` / ``cls`` out; those of a class are its constructor's (dataclass and
    named-tuple fields included).

    ``value`` is the text of a constant's, field's or enum member's value: None where there is none, where it differs
    between branches (``alternatives`` then holds all of them) or where it is longer than anybody would quote.

    ``raises`` are those that documentation should tell of, a class's being its constructor's. ``possible_raises``
    are those that it may tell of: ``assert``, what is raised in functions that are handed out and not called, what
    an ``except`` may or may not catch, abstract hooks. ``raises_unknown`` is True where something is raised whose
    type the file does not tell.

    ``returned_keys`` are the keys of a dict literal that every ``return`` gives, ``returned_values`` the texts of
    the constants that every ``return`` gives (``None`` for falling off the end included), or None.

    Of a class: ``flavour`` is what kind; ``inherited`` are the qualnames of public members that bases inside this
    file give it; ``open_bases`` is True where a base outside of the file may give it more.
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
    implementation: Signature | None = None
    is_generator: bool = False
    binding: Binding = "instance"
    writable: bool = False
    deletable: bool = False
    possible_raises: tuple[Raise, ...] = ()
    raises_unknown: bool = False
    returned_values: tuple[str, ...] | None = None
    alternatives: tuple[str, ...] = ()
    flavour: Flavour = ""
    inherited: tuple[str, ...] = ()
    open_bases: bool = False

    @property
    def name(self) -> str:
        """The last part of the qualname."""
        return self.qualname.rpartition(".")[2]

    def walk(self) -> Iterator["Symbol"]:
        """Yield this symbol and everything inside it, in source order."""
        yield self
        for member in self.members:
            yield from member.walk()


class Import(NamedTuple):
    """A name that an import binds at module level. ``target`` is dotted: what it stands for.

    ``public`` is True where the module offers it as its own: ``__all__`` lists it, or ``from m import x as x``.
    """

    name: str
    target: str
    line: int
    public: bool = False


class Facts(NamedTuple):
    """All that is known of one module. ``symbols`` are top level, in source order.

    ``exports`` are the names in ``__all__`` as far as they can be read, or None without one. ``star_imports`` are
    the modules that ``from m import *`` names: with any, names unknown here can be true.
    """

    module: str
    symbols: tuple[Symbol, ...]
    docstring: str | None = None
    text: str = ""
    exports: tuple[str, ...] | None = None
    imports: tuple[Import, ...] = ()
    star_imports: tuple[str, ...] = ()

    def walk(self) -> Iterator[Symbol]:
        """Yield every symbol at every depth, in source order."""
        for symbol in self.symbols:
            yield from symbol.walk()
