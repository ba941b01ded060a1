"""A page written from the facts, with as much of what another page says as can stand without any error."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from reflexion.evidence.factpage import Told, outline, page_of, render, section
from reflexion.evidence.facts import Facts, Raise, Symbol
from reflexion.evidence.finding import Check, Finding
from reflexion.evidence.locate import bare, code
from reflexion.evidence.messages import compare_message
from reflexion.evidence.rules.catalogue import PHANTOM_SYMBOL
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.survivors import Piece, collect

__all__ = ["Check", "assemble_page", "outline", "render", "section", "told_of"]


_MOST_CHECKS = 250
_BLAMINGS = 5


def assemble_page(document: str, facts: Facts, check: Check) -> str:
    """A page of all facts, with the sentences, notes and examples of ``document`` that survive, each under its subject.

    A piece survives when ``check`` finds no error in the page with it. The page's closing comment stays.
    """
    sheet = Sheet(document.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n", facts)
    comments = [row for row in sheet.lines[sheet.last_line :] if row.strip()]
    choice = _Choice(facts, check, tuple(comments))
    choice.choose(_placed(sheet, collect(sheet), check(sheet.text)))
    return choice.page(choice.kept)


def _placed(sheet: Sheet, pieces: list[Piece], findings: Iterable[Finding]) -> list[Piece]:
    """The pieces without those of sections about what the source does not have: no word there can be true.

    Where such a name is like that of a symbol without a section, that symbol is taken to be meant.
    """
    placed = list(pieces)
    for finding in findings:
        section = sheet.headed(finding.line)
        if finding.rule != PHANTOM_SYMBOL.code or finding.level != "error" or section is None or section.level == 1:
            continue
        meant = next(iter(sheet.meant_by(finding.stated.removesuffix("()").rpartition(".")[2])), None)
        inside = range(section.line, section.end_line + 1)
        moved = [replace(one, symbol=meant.qualname) if one.group in inside and meant else one for one in placed]
        placed = [one for one in moved if one.group not in inside or (meant and one.kind != "heading")]
    return placed


@dataclass
class _Choice:
    """The choice of pieces, in a bounded number of checks."""

    facts: Facts
    check: Check
    comments: tuple[str, ...]
    left: int = _MOST_CHECKS
    kept: list[Piece] = field(default_factory=list)

    def page(self, pieces: Iterable[Piece]) -> str:
        """The page with these pieces."""
        by_symbol: dict[str, list[Piece]] = {}
        for piece in pieces:
            by_symbol.setdefault(piece.symbol, []).append(piece)
        symbols = {symbol.qualname: symbol for symbol in self.facts.walk()}
        told = {name: told_of(found, symbols.get(name)) for name, found in by_symbol.items()}
        text = page_of(self.facts, told)
        return text + "".join(f"\n{comment}\n" for comment in self.comments)

    def choose(self, pieces: list[Piece]) -> None:
        """Drop what errors point to, then find the rest by halves, then give what was dropped a second chance."""
        hopeful, dropped = self._blamed(pieces)
        self._grow(pieces, hopeful)
        self._grow(pieces, dropped)

    def _blamed(self, pieces: list[Piece]) -> tuple[list[Piece], list[Piece]]:
        hopeful, dropped = list(pieces), list[Piece]()
        for _ in range(_BLAMINGS):
            text = self.page(hopeful)
            lines = [finding.line for finding in self._errors(text)]
            guilty = _standing_at(text, lines, hopeful)
            if not guilty:
                break
            hopeful = [piece for piece in hopeful if piece not in guilty]
            dropped += guilty
        return hopeful, dropped

    def _errors(self, text: str) -> list[Finding]:
        self.left -= 1
        return [finding for finding in self.check(text) if finding.level == "error"]

    def _grow(self, order: Sequence[Piece], pieces: list[Piece]) -> None:
        """Keep the pieces that can stand beside those that are kept already."""
        if not pieces or self.left <= 0:
            return
        chosen = {id(piece) for piece in (*self.kept, *pieces)}
        together = [piece for piece in order if id(piece) in chosen]
        if not self._errors(self.page(together)):
            self.kept = together
        elif len(pieces) > 1:
            half = len(pieces) // 2
            self._grow(order, pieces[:half])
            self._grow(order, pieces[half:])


def _standing_at(text: str, lines: list[int], pieces: list[Piece]) -> list[Piece]:
    """The pieces that stand on one of these lines of the page."""
    rows = text.split("\n")
    shown = [bare(row, 0, len(row))[0] for row in (rows[line - 1] for line in lines if line <= len(rows))]
    found = []
    for piece in pieces:
        own = [bare(row, 0, len(row))[0].strip() for row in piece.text.split("\n") if row.strip()]
        if any(one in row for one in own if len(one) > 2 for row in shown):
            found.append(piece)
    return found


def told_of(pieces: Iterable[Piece], symbol: Symbol | None) -> Told:
    """What a symbol's section, or with None the page, gets to say."""
    writer = _Writer(symbol)
    for piece in pieces:
        writer.add(piece)
    return Told(writer.title, tuple(writer.opening), tuple(writer.closing), writer.words)


class _Writer:
    """Puts pieces into the places of a section."""

    def __init__(self, symbol: Symbol | None) -> None:
        self.symbol = symbol
        self.title = ""
        self.opening: list[str] = []
        self.closing: list[str] = []
        self.words: dict[tuple[str, str], str] = {}
        self._heading = ""
        self._later = False
        self._last: Piece | None = None

    def add(self, piece: Piece) -> None:
        """Put one piece into its place."""
        if piece.kind == "heading":
            self._head(piece)
        elif piece.kind in {"prose", "note", "example"}:
            self._lines(piece)
        else:
            self._words(piece)

    def _words(self, piece: Piece) -> None:
        """Words beside what they are about; a condition of one of several exceptions stands below them all."""
        key = self._raise_key(piece) if piece.kind == "raises" else piece.key
        if key is None:
            self.closing += [f"{code(piece.key)}: {' '.join(piece.text.split())}", ""]
            return
        before = self.words.get((piece.kind, key), "")
        self.words[piece.kind, key] = f"{before} {' '.join(piece.text.split())}".strip()

    def _head(self, piece: Piece) -> None:
        if piece.key == "title":
            self.title = piece.text
            return
        self._heading = f"**{piece.text}**" if self.symbol else f"## {piece.text}"
        self._later = bool(self.symbol) or piece.late

    def _lines(self, piece: Piece) -> None:
        late = self._later or piece.late or (piece.kind != "prose" and self.symbol is not None)
        place = self.closing if late else self.opening
        if self._heading:
            place += [self._heading, ""]
            self._heading = ""
        text = " ".join(piece.text.split()) if piece.kind == "prose" else piece.text
        last = self._last
        if last is not None and last.group == piece.group and piece.kind == "prose" == last.kind and len(place) > 1:
            place[-2] = f"{place[-2]} {text}"
        elif last is not None and last.kind == piece.kind == "note" and place[-1:] == [""] and not text.startswith(">"):
            place[-1:] = [*text.split("\n"), ""]
        else:
            place += [*text.split("\n"), ""]
        self._last = piece

    def _raise_key(self, piece: Piece) -> str | None:
        """The key of the ``raise`` that the piece speaks of: the one with its message, or the only one of its type."""
        raises = self.symbol.raises if self.symbol else ()
        alike = [one for one in raises if _last_part(one.type) == _last_part(piece.key)]
        quoted = [one for one in alike if piece.message and compare_message(piece.message, one) == "same"]
        keys = list(dict.fromkeys(map(_key, quoted or alike)))
        return keys[0] if len(keys) == 1 else None


def _key(one: Raise) -> str:
    return f"{one.type} {one.message or ''}"


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]
