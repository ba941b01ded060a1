"""Drift: what changed in a source since a page was written from it.

A page's closing comment (``reflexion.marker``) holds, for every symbol that it documents, 6 hexadecimal digits of a
SHA-256 over the symbol's code. A class counts without its members, which have entries of their own, so a changed method
is reported as that method. Comments, indentation and blank lines do not count. Two different codes share the 6 digits
once in 16 million, so a change goes unseen that rarely, and nothing is ever reported that did not change. It costs
about 25 characters a symbol, where a full digest would cost 80.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source
from reflexion.marker import Marker, sha256

DIGITS = 6


class Drift(NamedTuple):
    """Symbols that are not as they were when the page was written."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)


def symbol_digests(facts: Facts) -> dict[str, str]:
    """Return the digits of every symbol that a page documents, in source order."""
    source = Source(facts)
    return {symbol.qualname: _digest(_own_lines(symbol, source.lines)) for symbol in required_symbols(source)}


def drift(marker: Marker, facts: Facts, source: bytes) -> Drift:
    """What changed since the page was written; nothing when the source is the same, byte for byte."""
    if marker.source_sha256 == sha256(source) or not marker.symbols:
        return Drift()
    now = symbol_digests(facts)
    changed = (name for name, digits in now.items() if marker.symbols.get(name, digits) != digits)
    added = (name for name in now if name not in marker.symbols)
    removed = (name for name in marker.symbols if name not in now)
    return Drift(tuple(changed), tuple(added), tuple(removed))


def find_source(marker: Marker, document: Path) -> Path | None:
    """The source that the comment names: below the working directory, or beside or above the document."""
    if not marker.source:
        return None
    places = [Path.cwd(), *document.resolve().parents]
    return next((place / marker.source for place in places if (place / marker.source).is_file()), None)


def _own_lines(symbol: Symbol, lines: list[str]) -> list[str]:
    inside: set[int] = set()
    for member in symbol.members:
        inside.update(range(member.line, member.end_line + 1))
    return [lines[line - 1] for line in range(symbol.line, min(symbol.end_line, len(lines)) + 1) if line not in inside]


def _digest(lines: Iterable[str]) -> str:
    bare = (re.sub(r"#.*", "", line).strip() for line in lines)
    return sha256("\n".join(line for line in bare if line).encode())[:DIGITS]
