"""A document's claims beside its source: what each claim is about, and what is documented at all."""

import re
from collections.abc import Iterable
from functools import cached_property

from reflexion.evidence.claims import (
    BaseClaim,
    BlockKind,
    Claims,
    ConstantClaim,
    DenialClaim,
    ParameterClaim,
    ParameterList,
    RaiseClaim,
    ReturnClaim,
    SignatureClaim,
    SymbolClaim,
)
from reflexion.evidence.facts import Symbol
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules.names import Source
from reflexion.evidence.rules.rule import Rule
from reflexion.evidence.words import role_of

_SECTIONED = frozenset({"function", "method", "class", "property"})
_PARTS = frozenset({"parameters", "attributes", "returns", "yields", "raises", "examples", "signature", "module"})


class Page:
    """``claims`` resolved against ``source``. Nothing in it changes."""

    def __init__(self, claims: Claims, source: Source) -> None:
        self.claims = claims
        self.source = source
        self._subjects: dict[str, Symbol | None] = {}

    def about(self, subject: str | None) -> Symbol | None:
        """The symbol a claim's subject means, or None."""
        if subject is None:
            return None
        if subject not in self._subjects:
            self._subjects[subject] = self.source.resolve(subject)
        return self._subjects[subject]

    @cached_property
    def documented(self) -> dict[str, int]:
        """Qualified names of the symbols with a place of their own in the document, and that place's line."""
        found: dict[str, int] = {}
        places = [(claim.line, self.meant(claim)) for claim in self.claims.symbols]
        for line, name, subject in self._places():
            places.append((line, self.source.resolve(name, subject) if name else self.about(subject)))
        for line, symbol in places:
            if symbol is not None:
                found[symbol.qualname] = min(line, found.get(symbol.qualname, line))
        return {**self._plain_headings, **found}

    def meant(self, claim: SymbolClaim) -> Symbol | None:
        """The symbol that a claim names. A title names the module, which may have a class of that name: "Class `date`"
        below "`datetime`" is then the class `date`, and no method of `datetime`.
        """
        symbol, alone = self.source.resolve(claim.name, claim.subject), self.source.resolve(claim.name)
        if claim.kind_word == "class" and symbol is not None and alone is not None and alone.kind == "class":
            return symbol if symbol.kind == "class" else alone
        return symbol

    @cached_property
    def _plain_headings(self) -> dict[str, int]:
        """Classes whose heading could as well be that of a generic section: "Options", "Errors"."""
        lines = self.claims.text.splitlines()
        headings = {
            lines[block.line - 1].strip("#*` \t"): block.line
            for block in self.claims.blocks
            if block.kind == "heading" and 0 < block.line <= len(lines)
        }
        kept = ((name, self.source.symbols.get(name)) for name in headings)
        return {name: headings[name] for name, symbol in kept if symbol is not None and symbol.kind == "class"}

    def _places(self) -> Iterable[tuple[int, str | None, str | None]]:
        claims = self.claims
        named: tuple[SignatureClaim | ConstantClaim, ...]
        named = (*claims.signatures, *claims.constants)
        for claim in named:
            yield claim.line, claim.name, claim.subject
        for attribute in claims.parameters:
            if attribute.role == "attribute":
                yield attribute.line, attribute.name, attribute.subject
        told: tuple[ParameterList | ReturnClaim | RaiseClaim | DenialClaim | BaseClaim, ...]
        told = (*claims.parameter_lists, *claims.returns, *claims.raises, *claims.denials, *claims.bases)
        for about in told:
            yield about.line, None, about.subject

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Qualified names of symbols that prose names, outside of the sections of other functions and classes.

        A class may be named anywhere: an exception is often told of where it is raised. To name it as the base of
        another is not to tell of it.
        """
        found: set[str] = set()
        bases = {(claim.line, base) for claim in self.claims.bases for base in claim.bases}
        for mention in self.claims.mentions:
            if (mention.line, mention.name) in bases:
                continue
            symbol, around = self.source.resolve(mention.name, mention.subject), self.about(mention.subject)
            if symbol is None:
                continue
            if symbol.kind == "class" or around is None or symbol.qualname.startswith(around.qualname):
                found.add(symbol.qualname)
        raised = (self.source.resolve(claim.type) for claim in self.claims.raises)
        return frozenset(found | {symbol.qualname for symbol in raised if symbol is not None})

    @cached_property
    def _words(self) -> str:
        """The text without quoted messages, which name things that they do not describe."""
        text = self.claims.text.replace("\\_", "_")
        for message in sorted({claim.message for claim in self.claims.raises if claim.message}, key=len, reverse=True):
            text = text.replace(message, " ")
        return text

    def names_in_text(self, name: str) -> bool:
        """Whether the document's text holds the word at all."""
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self._words) is not None

    def names_in_prose(self, name: str) -> bool:
        """Whether the word stands outside of fences and headings, where signatures do not count as telling of it."""
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self._prose) is not None

    @cached_property
    def _prose(self) -> str:
        fenced: set[int] = set()
        for block in self.claims.blocks:
            if block.kind in {"fence", "heading"}:
                fenced.update(range(block.line, block.end_line + 1))
        fenced.update(claim.line for claim in self.claims.signatures)
        lines = self.claims.text.replace("\\_", "_").splitlines()
        return "\n".join(line for number, line in enumerate(lines, 1) if number not in fenced)

    def line_of(self, symbol: Symbol) -> int:
        """Where the document speaks of a symbol, else of its class, else 1."""
        owner = self.source.owner(symbol)
        fallback = self.documented.get(owner.qualname, 1) if owner else 1
        return self.documented.get(symbol.qualname, fallback)

    def section_text(self, symbol: Symbol) -> str:
        """The prose of the symbol's own sections, without headings, fences and the sections of its members."""
        return self._section_texts.get(symbol.qualname, "")

    @cached_property
    def _section_texts(self) -> dict[str, str]:
        prose: dict[str, list[str]] = {}
        around: Symbol | None = None
        skipped = self._lines_of("fence") | self._lines_of("heading")
        starts, headings = self._starts(), {block.line for block in self.claims.blocks if block.kind == "heading"}
        level = 0
        for number, line in enumerate(self.claims.text.splitlines(), 1):
            depth = len(line) - len(line.lstrip("#"))
            if number in starts:
                around, level = starts[number], depth or level
            elif number in headings and depth <= level and not _is_part(line):
                around = None
            if around is not None:
                prose.setdefault(around.qualname, []).append("" if number in skipped else line)
        return {name: "\n".join(lines) for name, lines in prose.items()}

    def _starts(self) -> dict[int, Symbol]:
        """Lines at which the document begins to speak of a symbol."""
        named: list[SymbolClaim | SignatureClaim] = [one for one in self.claims.symbols if one.where != "text"]
        named += self.claims.signatures
        found = [(claim.line, self.source.resolve(claim.name, claim.subject)) for claim in named]
        return {line: symbol for line, symbol in found if symbol is not None and symbol.kind in _SECTIONED}

    def _lines_of(self, kind: BlockKind) -> set[int]:
        blocks = (block for block in self.claims.blocks if block.kind == kind)
        return {line for block in blocks for line in range(block.line, block.end_line + 1)}

    @cached_property
    def lists(self) -> dict[str, list[ParameterList]]:
        """Parameter and attribute lists by the qualified name of their symbol."""
        found: dict[str, list[ParameterList]] = {}
        for entry in self.claims.parameter_lists:
            symbol = self.about(entry.subject)
            if symbol is not None:
                found.setdefault(symbol.qualname, []).append(entry)
        return found

    @cached_property
    def entries(self) -> dict[str, list[ParameterClaim]]:
        """Parameter claims by the qualified name of their symbol."""
        found: dict[str, list[ParameterClaim]] = {}
        for entry in self.claims.parameters:
            symbol = self.about(entry.subject)
            if symbol is not None:
                found.setdefault(symbol.qualname, []).append(entry)
        return found

    @cached_property
    def raises(self) -> dict[str, list[RaiseClaim]]:
        """Exception claims by the qualified name of their symbol; "" holds those about the whole module."""
        found: dict[str, list[RaiseClaim]] = {}
        for entry in self.claims.raises:
            symbol = self.about(entry.subject)
            if symbol is not None or entry.subject is None or self._is_module(entry.subject):
                found.setdefault(symbol.qualname if symbol else "", []).append(entry)
        return found

    def _is_module(self, subject: str) -> bool:
        return subject.rpartition(".")[2] == self.source.facts.module.rpartition(".")[2]


def _is_part(heading: str) -> bool:
    """Whether a heading such as "Raises" may stand at the level of the symbol that it belongs to."""
    return role_of(heading.strip("#* ")) in _PARTS


def needs_page(symbol: Symbol) -> bool:
    """Whether a document must have a place for the symbol: public, not special, no logger, no type variable."""
    return symbol.public and not symbol.name.startswith("_") and not _is_plumbing(symbol)


def _is_plumbing(symbol: Symbol) -> bool:
    value = symbol.value or ""
    return symbol.kind == "constant" and bool(
        re.match(
            r"(?:logging\.)?getLogger\(|(?:structlog\.)?get_logger\(|(?:\w+\.)?(?:TypeVar|ParamSpec|TypeVarTuple)\(",
            value,
        )
    )


def required_symbols(source: Source) -> list[Symbol]:
    """What the document must have a place for, outside in; nothing inside of a symbol that needs none."""
    found: list[Symbol] = []
    todo = [symbol for symbol in source.facts.symbols if needs_page(symbol)]
    while todo:
        symbol = todo.pop(0)
        found.append(symbol)
        todo = [member for member in symbol.members if needs_page(member)] + todo
    return found


def report(
    rule: Rule,
    line: int,
    message: str,
    evidence: str,
    fix: str,
    level: Level | None = None,
    *,
    symbol: Symbol | None = None,
    stated: str = "",
    actual: str = "",
) -> Finding:
    """A finding of ``rule``; ``level`` where this case is less sure than the rule is."""
    about = symbol.qualname if symbol else ""
    return Finding(rule.code, level or rule.level, max(1, line), message, evidence, fix, stated, actual, about)


def spoken(names: Iterable[str]) -> str:
    """Names as a list in prose: ``a``, ``b`` and ``c``, in code ticks."""
    ticked = [f"`{name}`" for name in names]
    return ticked[0] if len(ticked) == 1 else f"{', '.join(ticked[:-1])} and {ticked[-1]}" if ticked else "none"


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint at the known name that is most like ``name``, or an empty text."""
    from difflib import get_close_matches  # only needed once something is wrong

    close = get_close_matches(name, list(names), n=1, cutoff=0.7)
    return f"; perhaps `{close[0]}` is meant" if close else ""
