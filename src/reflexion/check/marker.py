"""The comment that ends a page: where the page comes from, and what its source was like then.

One HTML comment on the last line, key=value pairs separated by spaces::

    <!-- reflexion outcome=accepted score=97 source=input/x.py source_sha256=<hex> text_sha256=<hex>
         version=0.1.0 symbols=Account:1f2e3d,Account.deposit:0a1b2c,RATE:998877 -->

(on one line). Values are percent-encoded where they hold a space, a comma, a percent sign or two hyphens in a row.

``symbols`` is the memory for drift: every symbol that a page documents, with 6 hexadecimal digits of a SHA-256 over
its code. A class counts without its members, which have entries of their own, so a changed method is reported as
that method. Comments, indentation and blank lines do not count. Two different codes share the 6 digits once in 16
million, so a change goes unseen that rarely, and nothing is ever reported that did not change. It costs about 25
characters a symbol, where a full digest would cost 80.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source

DIGITS = 6

_MARKER = re.compile(r"<!--[ \t]*reflexion(?P<fields>(?:[ \t]+[a-z_0-9]+=\S*)+)[ \t]*-->\s*\Z")


@dataclass(frozen=True, slots=True)
class Marker:
    """A page's closing comment. ``source`` is as written, and ``line`` the comment's, counted from 1."""

    source: str | None
    line: int
    source_sha256: str | None = None
    symbols: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drift:
    """Symbols that are not as they were when the page was written."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)


def read_marker(text: str) -> Marker | None:
    """The closing comment of a page, or None for a page that ``reflexion`` did not write."""
    found = _MARKER.search(text)
    if found is None:
        return None
    pairs = (pair.partition("=") for pair in found["fields"].split())
    fields = {key: unquote(value) for key, _, value in pairs if key != "symbols"}
    raw = re.search(r"[ \t]symbols=(\S*)", found["fields"])
    line = text.count("\n", 0, found.start()) + 1
    return Marker(fields.get("source"), line, fields.get("source_sha256"), _read_symbols(raw[1] if raw else ""), fields)


def marker_value(text: str) -> str:
    """``text`` as the value of a key of the comment; ``read_marker`` gives it back."""
    encoded = re.sub(r"[\s,%<>]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)
    return encoded.replace("--", "-%2D")


def symbol_digests(facts: Facts) -> str:
    """The value of ``symbols=``: ``name:digits`` of every symbol that a page documents, in source order."""
    return ",".join(f"{name}:{digits}" for name, digits in _digests(facts).items())


def drift(marker: Marker, facts: Facts, source: bytes) -> Drift:
    """What changed since the page was written; nothing when the source is the same, byte for byte."""
    if marker.source_sha256 == hashlib.sha256(source).hexdigest() or not marker.symbols:
        return Drift()
    now = _digests(facts)
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


def _read_symbols(text: str) -> dict[str, str]:
    pairs = (entry.rpartition(":") for entry in text.split(",") if ":" in entry)
    return {unquote(name): digits for name, _, digits in pairs}


def _digests(facts: Facts) -> dict[str, str]:
    source = Source(facts)
    return {symbol.qualname: _digest(_own_lines(symbol, source.lines)) for symbol in required_symbols(source)}


def _own_lines(symbol: Symbol, lines: list[str]) -> list[str]:
    inside: set[int] = set()
    for member in symbol.members:
        inside.update(range(member.line, member.end_line + 1))
    return [lines[line - 1] for line in range(symbol.line, min(symbol.end_line, len(lines)) + 1) if line not in inside]


def _digest(lines: Iterable[str]) -> str:
    bare = (re.sub(r"#.*", "", line).strip() for line in lines)
    return hashlib.sha256("\n".join(line for line in bare if line).encode()).hexdigest()[:DIGITS]
