"""Pages about the pieces of one source, joined into the page about the whole. No model.

The joined page has one title with the first page's introduction, the constants under one heading, the sections of all
other symbols in source order and at levels that follow from their names, then what is about the module as a whole.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from reflexion.evidence.claims import (
    BaseClaim,
    ConstantClaim,
    DenialClaim,
    ParameterClaim,
    RaiseClaim,
    ReturnClaim,
    SignatureClaim,
    SymbolClaim,
)
from reflexion.evidence.document import read_claims
from reflexion.evidence.factpage import NO_NAMES_OF_ITS_OWN
from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source
from reflexion.evidence.words import role_of, title_of
from reflexion.patterns import regex
from reflexion.sections import Part, read_parts, without_paragraphs

# Headings that belong to the symbol that they are about.
_OF_A_SYMBOL = frozenset({"parameters", "returns", "yields", "raises", "attributes", "signature", "bases"})
# Headings that only gather others, that end a page, and that begin one.
_CONTAINERS = frozenset({"functions", "methods", "classes", "properties", "symbols"})
_CLOSINGS = frozenset(
    {"conclusion", "conclusions", "summary", "in summary", "closing", "closing remarks", "closing notes"}
    | {"final remarks", "final notes", "final thoughts", "wrap-up", "wrapping up", "table of contents", "contents"}
)
_OPENINGS = frozenset({"overview", "introduction", "description", "purpose", "about", "module", "background"})
_DOCUMENTED_ALONE = frozenset({"function", "method", "class", "property"})
_REMARK = regex(r"(?:\A|\n)[ ]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*\n\s*(?:[^\s#|`>+<\d-][^\n]*(?:\n|\Z))+\Z")
_RULER = regex(r"(?:\A|\n)[ ]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*\Z")
_NOT_PROSE = regex(r"(?:\A|\n)[ ]{0,3}(?:[-+*|>`~]|\d{1,9}[.)])")
_WORD = regex(r"[^\W\d]\w*")
_SURE_NAME = r"(?<![\w.])(?:[A-Za-z_]\w*\.)*{}(?!\w)"


@dataclass(slots=True)
class _Section:
    """A heading with its text and what belongs to it; ``symbol`` None where it is about no symbol of the facts."""

    symbol: Symbol | None
    parts: list[Part]

    @property
    def is_constant(self) -> bool:
        return self.symbol is not None and self.symbol.kind == "constant"

    @property
    def is_list_of_constants(self) -> bool:
        return self.symbol is None and role_of(self.parts[0].title) == "constants"

    @property
    def is_opening(self) -> bool:
        return self.symbol is None and title_of(self.parts[0].title) in _OPENINGS


@dataclass(slots=True)
class _Page:
    """One page, taken apart; ``title`` and ``introduction`` are "" where it has none."""

    title: str = ""
    introduction: str = ""
    sections: list[_Section] = field(default_factory=list)


def join_pages(pages: Sequence[str], facts: Facts | None, owned: Sequence[Collection[str]] = ()) -> str:
    """Join the pages of a source's pieces, given in source order, into one that ends in a newline.

    ``owned`` holds for each page the qualnames of its piece (``Piece.symbols``): where two pages tell of one symbol,
    the section of the page that owns it is kept, else the first. Pages without any text are passed over.

    Closing remarks, tables of contents and headings that only gather others are dropped, and so are introductions but
    the first; not, however, what alone documents a symbol.
    """
    source = Source(facts) if facts is not None else None
    if source is not None and required_symbols(source):
        # What code says of a piece without names is not true of the module.
        pages = [page.replace(NO_NAMES_OF_ITS_OWN, "") for page in pages]
    kept = [(page, place) for place, page in enumerate(pages) if page.strip()]
    read = [_Reader(page, source).read(first=number == 0) for number, (page, _) in enumerate(kept)]
    if not read:
        return ""
    chosen = _chosen(read, [owned[place] if owned else () for _, place in kept])
    if source is not None:
        order = {name: place for place, name in enumerate(source.symbols)}
        chosen.sort(key=lambda one: order[one.symbol.qualname] if one.symbol else 0)
    others = [one for page in read for one in page.sections if one.symbol is None]
    title = next((page.title for page in read if page.title), f"`{facts.module}`" if facts else "Contents")
    blocks = [f"# {title}", read[0].introduction]
    blocks += _merged([one for one in others if one.is_opening])
    blocks += _constants(
        [one for one in others if one.is_list_of_constants], [one for one in chosen if one.is_constant]
    )
    blocks += [_written(one, _level(one)) for one in chosen if not one.is_constant]
    blocks += _merged([one for one in others if not one.is_list_of_constants and not one.is_opening])
    return "\n\n".join(filter(None, blocks)) + "\n"


class _Reader:
    """Takes one page apart."""

    def __init__(self, text: str, source: Source | None) -> None:
        self._source = source
        self._parts = list(read_parts(text))
        self._named: dict[int, tuple[Symbol, bool]] = {}
        self._told: list[tuple[int, Symbol]] = []
        self._about: list[tuple[int, Symbol | None]] = []
        if source is not None:
            self._read_claims(text, source)

    def _read_claims(self, text: str, source: Source) -> None:
        claims = read_claims(text)
        for claim in claims.symbols:
            symbol = source.resolve(claim.name, claim.subject)
            if symbol is not None and claim.where == "heading":
                self._named.setdefault(claim.line, (symbol, claim.sure))
        named: tuple[SymbolClaim | SignatureClaim | ConstantClaim, ...]
        named = (*claims.symbols, *claims.signatures, *claims.constants)
        for told in named:
            symbol = source.resolve(told.name, told.subject)
            if symbol is not None:
                self._told.append((told.line, symbol))
        stated: tuple[ParameterClaim | ReturnClaim | RaiseClaim | DenialClaim | BaseClaim, ...]
        stated = (*claims.parameters, *claims.returns, *claims.raises, *claims.denials, *claims.bases)
        self._about = [(about.line, source.resolve(about.subject)) for about in stated]

    def read(self, *, first: bool) -> _Page:
        page, parts, opening = _Page(), self._parts, list[Part]()
        if parts and not parts[0].title:
            opening, parts = [parts[0]], parts[1:]
        if parts and self._is_title(parts[0]):
            page.title = parts[0].title
            opening, parts = [*opening, parts[0]], parts[1:]
        page.sections = self._sections(parts)
        if self._source is not None and not any(one.symbol for one in page.sections):
            page.sections = self._about_one_symbol(opening, page.sections)
            opening = [] if any(one.symbol for one in page.sections) else opening
        _without_remark(page.sections)
        page.sections = [one for one in page.sections if not self._is_needless(one, page, first=first)]
        if first:
            page.introduction = "\n\n".join(filter(None, (part.body for part in opening)))
        elif any(self._tells(part, page) for part in opening):
            page.sections.insert(0, self._opening(opening))
        return page

    def _is_title(self, part: Part) -> bool:
        """Whether the first heading is the page's title, even where the module is named as one of its symbols."""
        if part.level != 1:
            return False
        symbol, sure = self._named.get(part.first, (None, False))
        if symbol is None or sure:
            return symbol is None
        again = any(other is symbol for line, (other, _) in self._named.items() if line != part.first)
        told = any(other is symbol for line, other in (*self._told, *self._about) if line != part.first)
        return again or not told

    def _sections(self, parts: Sequence[Part]) -> list[_Section]:
        sections: list[_Section] = []
        around: list[_Section] = []
        for part in parts:
            symbol, _ = self._named.get(part.first, (None, False))
            subject = self._subject(part) if symbol is None else None
            while around and part.level <= around[-1].parts[0].level and not _is_about(around[-1], subject):
                around.pop()
            if symbol is None and around:
                around[-1].parts.append(part)
                continue
            section = _Section(symbol, [part])
            sections.append(section)
            around.append(section)
        return sections

    def _subject(self, part: Part) -> Symbol | None:
        """Return the symbol that a heading such as "Raises" is about, wherever it stands and at whatever level."""
        if role_of(part.title) not in _OF_A_SYMBOL:
            return None
        found = {line: symbol for line, symbol in self._about if part.first <= line <= part.last}
        return next(iter(found.values()), None)

    def _about_one_symbol(self, opening: Sequence[Part], sections: list[_Section]) -> list[_Section]:
        """Return a page that has no heading for its only symbol as that symbol's section."""
        headings = {part.first for part in opening if part.title}
        told = {one.qualname: (line, one) for line, one in self._told if line not in headings and _stands_alone(one)}
        if len(told) != 1:
            return sections
        [(first, symbol)] = told.values()
        if not any(part.first <= first <= part.last for part in opening):
            return sections
        body = "\n\n".join(filter(None, (part.body for part in opening)))
        parts = [part for section in sections for part in section.parts]
        return [_Section(symbol, [Part(1, f"`{symbol.qualname}`", body, 0, 0), *parts])]

    def _opening(self, opening: Sequence[Part]) -> _Section:
        """Return an introduction that alone documents something as a section."""
        titles = {part.first for part in opening if part.title}
        told = [one for line, one in self._told if opening[0].first <= line <= opening[-1].last and line not in titles]
        about_constants = all(one.kind == "constant" for one in told)
        texts = [without_paragraphs(part.body) if about_constants else part.body for part in opening]
        title = "Constants" if about_constants else "Details"
        body = "\n\n".join(filter(None, texts))
        return _Section(None, [Part(2, title, body, opening[0].first, opening[-1].last)])

    def _is_needless(self, section: _Section, page: _Page, *, first: bool) -> bool:
        """Drop from a section the headings that only gather others; say whether nothing of it is left to say."""
        section.parts[1:] = [part for part in section.parts[1:] if not self._gathers(part, page)]
        if section.symbol is not None or len(section.parts) > 1:
            return False
        part = section.parts[0]
        title = title_of(part.title)
        if title in _CLOSINGS or (title in _OPENINGS and not first):
            return not self._tells(part, page)
        return self._gathers(part, page)

    def _gathers(self, part: Part, page: _Page) -> bool:
        return role_of(part.title) in _CONTAINERS and not self._tells(part, page)

    def _tells(self, part: Part, page: _Page) -> bool:
        """Whether a part documents what has no section of its own on the page."""
        if self._source is None:
            return _NOT_PROSE.search(part.body) is not None
        headed = {one.symbol.qualname for one in page.sections if one.symbol}
        # The name in a title may be the module's.
        first = part.first + bool(part.title)
        told = (symbol.qualname for line, symbol in self._told if first <= line <= part.last)
        return not headed.issuperset(told) or self._lists_constants(part, self._source)

    def _lists_constants(self, part: Part, source: Source) -> bool:
        """Whether a list or table holds constants that the rest of the page does not name: it need not call them so."""
        words = frozenset(_WORD.findall(without_paragraphs(part.body)))
        listed = {symbol.name for symbol in source.facts.symbols if symbol.kind == "constant" and symbol.name in words}
        return not listed.issubset(word for other in self._parts if other is not part for word in _words(other))


def _words(part: Part) -> list[str]:
    return _WORD.findall(f"{part.title}\n{part.body}")


def _stands_alone(symbol: Symbol) -> bool:
    return symbol.kind in _DOCUMENTED_ALONE


def _is_about(section: _Section, subject: Symbol | None) -> bool:
    return subject is not None and section.symbol is subject


def _without_remark(sections: Sequence[_Section]) -> None:
    """Drop rulers at the ends of parts, and words behind the last one of a page."""
    for section in sections:
        section.parts[:] = [part._replace(body=_RULER.sub("", part.body).rstrip()) for part in section.parts]
    if sections:
        last = sections[-1].parts[-1]
        sections[-1].parts[-1] = last._replace(body=_REMARK.sub("", last.body).rstrip())


def _chosen(pages: Sequence[_Page], owned: Sequence[Collection[str]]) -> list[_Section]:
    """Return the sections about symbols, those of one page for each."""
    by_name: dict[str, dict[int, list[_Section]]] = {}
    for place, page in enumerate(pages):
        for section in page.sections:
            if section.symbol is not None:
                by_name.setdefault(section.symbol.qualname, {}).setdefault(place, []).append(section)
    chosen: list[_Section] = []
    for name, places in by_name.items():
        chosen += places[next((place for place in places if name in owned[place]), min(places))]
    return chosen


def _level(section: _Section) -> int:
    return 2 + (section.symbol.qualname.count(".") if section.symbol else 0)


def _written(section: _Section, level: int) -> str:
    """Return a section as Markdown, its heading at ``level`` and with the symbol's whole name."""
    head, *rest = section.parts
    head = head._replace(title=_qualified(head.title, section.symbol))
    return "\n\n".join([head.at(level), *(part.at(level + max(1, part.level - head.level)) for part in rest)])


def _qualified(title: str, symbol: Symbol | None) -> str:
    """Return a heading that names a member by its last name only with the class in front."""
    if symbol is None or "." not in symbol.qualname or symbol.qualname in title:
        return title
    return regex(_SURE_NAME.format(symbol.name)).sub(lambda _: symbol.qualname, title, count=1)


def _constants(lists: Sequence[_Section], alone: Sequence[_Section]) -> Iterator[str]:
    """Yield one section of all constants: tables with the same columns as one, then those with a section each."""
    if not lists and not alone:
        return
    yield "## Constants"
    bodies: list[str] = []
    for section in lists:
        _add_body(bodies, section.parts[0].body)
        bodies += [part.at(2 + max(1, part.level - section.parts[0].level)) for part in section.parts[1:]]
    yield from bodies
    for section in alone:
        yield _written(section, 3)


def _add_body(bodies: list[str], body: str) -> None:
    """Add a text; a table in front of it goes on with one that the last text ends with, if the columns are the same."""
    rows = body.split("\n")
    before = bodies[-1].split("\n") if bodies else []
    start = len(before)
    while start and before[start - 1].lstrip().startswith("|"):
        start -= 1
    same = len(rows) > 1 and before[start : start + 2] == rows[:2] and rows[0].lstrip().startswith("|")
    if same:
        known = set(before[start:])
        bodies[-1] += "".join(f"\n{row}" for row in rows[2:] if row not in known)
    elif body and body not in bodies:
        bodies.append(body)


def _merged(sections: Sequence[_Section]) -> Iterator[str]:
    """Yield sections about no symbol, those of one title as one, without what is there twice."""
    by_title: dict[str, list[_Section]] = {}
    for section in sections:
        by_title.setdefault(title_of(section.parts[0].title), []).append(section)
    for same in by_title.values():
        texts: dict[str, None] = {}
        for section in same:
            head, *rest = section.parts
            below = (part.at(2 + max(1, part.level - head.level)) for part in rest)
            texts["\n\n".join(filter(None, (head.body, *below)))] = None
        yield "\n\n".join(filter(None, (f"## {same[0].parts[0].title}", *texts)))
