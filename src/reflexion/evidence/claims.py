"""Claims: what a document says about a module, as plain frozen records. ``document.py`` makes them, rules read them.

Lines count from 1 in the document. ``subject`` is the symbol whose section, list or signature a claim stands in, by
the document's own words: from heading nesting, a signature above, or a lead-in such as ``**`deposit(amount)`**``.
It is dotted where headings nest (a heading ``deposit`` under a heading ``Account`` gives ``Account.deposit``), so
whoever resolves it tries the whole name first, then without its leading parts. None: the document does not say.

Texts of types, defaults, values and messages are the document's own, without Markdown (no code ticks, entities and
backslash escapes resolved); ``normalise_type`` brings types to one spelling where that is possible.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from reflexion.evidence.facts import ParameterKind

Place = Literal["heading", "list", "table", "signature", "bold", "text"]
ListStyle = Literal["table", "list", "google", "rst", "numpy", "definition", "prose"]
ListRole = Literal["parameter", "attribute"]
HistoryKind = Literal["version", "author", "date", "changelog", "license"]
BlockKind = Literal["heading", "paragraph", "item", "row", "table", "fence", "html"]

ALL_RULES = "*"


class SymbolClaim(NamedTuple):
    """A place that claims to document a symbol of the module.

    ``name`` is as written (``deposit``, ``Account.deposit``), ``subject`` the symbol around it. ``kind_word`` is in
    lower case: "function", "async function", "class", "method", "static method", "class method", "property",
    "constant", "enum", "dataclass", "exception", "attribute", "coroutine", ... or None. ``sure`` is False where only
    the position makes it a symbol (a heading of one bare word): such a claim can show that a symbol is documented,
    never that it is invented.
    """

    line: int
    name: str
    subject: str | None
    kind_word: str | None
    where: Place
    text: str
    sure: bool = True


class Mention(NamedTuple):
    """A code span in prose that looks like a symbol (``foo()``, ``Account.deposit``); low confidence."""

    line: int
    name: str
    called: bool
    subject: str | None = None


class ClaimedParameter(NamedTuple):
    """One parameter as a written signature shows it. ``optional`` is True for ``[name]`` in old-style signatures."""

    name: str
    kind: ParameterKind
    annotation: str | None = None
    default: str | None = None
    optional: bool = False


class SignatureClaim(NamedTuple):
    """A signature as the document writes it, from a fence, a heading, a list item or a code span.

    ``name`` is as written; ``subject`` the class around it, or None. ``self`` / ``cls`` is left out of
    ``parameters`` (``bound`` names it where it was written). ``abridged`` is True where the document leaves
    something out itself (``foo(a, ...)``), or writes a bare ``foo()`` that only marks a name as callable: then
    nothing follows from what is missing. A class stub has its constructor's parameters, those of an annotated
    class body included. ``decorators`` come without ``@``.
    """

    line: int
    name: str
    subject: str | None
    parameters: tuple[ClaimedParameter, ...]
    returns: str | None
    is_async: bool = False
    is_class: bool = False
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    bound: str | None = None
    abridged: bool = False
    where: Place = "signature"
    text: str = ""


class ParameterClaim(NamedTuple):
    """One parameter (or attribute) in a list or table, or in a sentence ("``rate`` defaults to ``0.05``").

    ``name`` is without stars, ``optional`` None where nothing is said. ``list_id`` is that of its ParameterList, -1
    for a sentence.
    """

    line: int
    subject: str | None
    name: str
    type: str | None
    default: str | None
    optional: bool | None
    list_id: int
    role: ListRole = "parameter"
    text: str = ""


class ParameterList(NamedTuple):
    """A list or table that sets out parameters (``role`` "parameter") or attributes and fields ("attribute").

    ``line`` is that of its lead (heading, bold lead-in, table header) or first entry; ``end_line`` the last entry's.
    Empty ``names`` mean that the document says there are none ("takes no parameters", "Parameters: None").
    ``subject`` is never None for role "parameter": a list without a known subject is not a claim.
    """

    line: int
    end_line: int
    subject: str | None
    list_id: int
    names: tuple[str, ...]
    style: ListStyle
    role: ListRole = "parameter"


class ReturnClaim(NamedTuple):
    """What a symbol is said to return, or to yield.

    ``none`` is True for "Returns: None", "does not return a value". ``keys`` are the keys of a dictionary that the
    document lists, or None. ``type`` is None where only words are given.
    """

    line: int
    subject: str | None
    type: str | None
    keys: tuple[str, ...] | None = None
    none: bool = False
    yields: bool = False
    text: str = ""


class TypeClaim(NamedTuple):
    """The type that a sentence gives a parameter, or what is returned (``name`` None). ``text`` is the sentence."""

    line: int
    subject: str
    name: str | None
    type: str
    text: str = ""


class RaiseClaim(NamedTuple):
    """An exception that a symbol is said to raise. ``message`` is exactly what the document quotes, or None."""

    line: int
    subject: str | None
    type: str
    message: str | None
    text: str = ""


class DenialClaim(NamedTuple):
    """A statement that a symbol raises nothing (``type`` None) or never raises ``type``.

    ``text`` is the sentence. A denial under a condition ("raises nothing if the list is empty") is not one.
    """

    line: int
    subject: str | None
    type: str | None
    text: str = ""


class ConstantClaim(NamedTuple):
    """The value that the document gives a constant, or an enum member or class attribute (``subject``: its class)."""

    line: int
    name: str
    subject: str | None
    value: str | None
    type: str | None = None
    text: str = ""


class BaseClaim(NamedTuple):
    """The base classes that the document gives a class."""

    line: int
    subject: str | None
    bases: tuple[str, ...]
    text: str = ""


class HistoryClaim(NamedTuple):
    """A version, author, date, changelog entry or licence that the document states."""

    line: int
    kind: HistoryKind
    text: str


class LinkClaim(NamedTuple):
    """A link or image with a URL; links inside the document (``#anchor``) are left out."""

    line: int
    url: str
    text: str


class Example(NamedTuple):
    """Fenced or indented code that is no signature.

    ``line`` and ``end_line`` are those of the fences themselves; the code begins at ``code_line``. ``language`` is
    the first word of the info string in lower case, or "". ``output`` is the text of a following output block
    (a fence after "Output:" or the like), with ``output_line`` its opening fence, or None.
    """

    line: int
    end_line: int
    code_line: int
    language: str
    code: str
    subject: str | None = None
    output: str | None = None
    output_line: int | None = None


class Block(NamedTuple):
    """A piece that can be cut out of the document whole: lines ``line`` to ``end_line``, both included."""

    line: int
    end_line: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class Claims:
    """All that a document claims, each kind in document order.

    ``silenced`` maps a line to the rules switched off there (``ALL_RULES`` for every rule). The comment is
    ``<!-- reflexion: off RULE, RULE -->``, or without rule names for all. On a line with other text it silences that
    line. On a line of its own it silences the block that begins at the next non-blank line: a heading, a paragraph,
    a list item (its first paragraph), a whole fence, a table's header row. Inside fences it is code, not a comment.
    """

    symbols: tuple[SymbolClaim, ...] = ()
    mentions: tuple[Mention, ...] = ()
    signatures: tuple[SignatureClaim, ...] = ()
    parameters: tuple[ParameterClaim, ...] = ()
    parameter_lists: tuple[ParameterList, ...] = ()
    returns: tuple[ReturnClaim, ...] = ()
    types: tuple[TypeClaim, ...] = ()
    raises: tuple[RaiseClaim, ...] = ()
    denials: tuple[DenialClaim, ...] = ()
    constants: tuple[ConstantClaim, ...] = ()
    bases: tuple[BaseClaim, ...] = ()
    history: tuple[HistoryClaim, ...] = ()
    links: tuple[LinkClaim, ...] = ()
    examples: tuple[Example, ...] = ()
    blocks: tuple[Block, ...] = ()
    silenced: Mapping[int, frozenset[str]] = field(default_factory=dict)
    text: str = ""

    def is_silenced(self, line: int, rule: str) -> bool:
        """Say whether a comment switches ``rule`` off at ``line``."""
        rules = self.silenced.get(line, frozenset())
        return rule in rules or ALL_RULES in rules

    def count(self) -> int:
        """Return the number of claims about the module: all records but mentions, examples and blocks."""
        kinds = (self.symbols, self.signatures, self.parameters, self.returns, self.raises, self.denials)
        return sum(map(len, (*kinds, self.types, self.constants, self.bases, self.history, self.links)))
