"""Where a corpus page speaks of what: sections of symbols, entries of parameters and exceptions.

This is a layout of pages that we wrote ourselves. It is simple on purpose and would not do for strangers' Markdown.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from benchmarks.truth_source import Thing

STYLES = {
    "tables": ("money", "lru_store", "csv_report", "units", "matrix"),
    "bullets": ("retrying", "settings_loader", "token_bucket", "workdays", "bank"),
    "google": ("slugs", "shapes", "jobs", "signed_tokens", "inventory"),
    "rst": ("routes", "ini_reader", "passwords", "feed_client", "meter"),
    "definitions": ("event_bus", "versions", "colours", "scratch", "registry"),
    "prose": ("calc", "paging", "workflow", "bins", "spans"),
}
TERM = re.compile(r"[^\w]*(?:(?:async|def|class|Class) )*(\w+(?:\.\w+)?)")


@dataclass(frozen=True, slots=True)
class Span:
    """Lines from ``start`` up to, but without, ``end``; both count from 0."""

    start: int
    end: int


@dataclass(frozen=True)
class Page:
    """One page and what its source holds."""

    name: str
    style: str
    text: str
    things: tuple[Thing, ...]

    @cached_property
    def lines(self) -> list[str]:
        """The page's lines without line ends."""
        return self.text.splitlines()

    @cached_property
    def fenced(self) -> frozenset[int]:
        """Lines inside fences, their marks included."""
        inside: set[int] = set()
        is_open = False
        for index, line in enumerate(self.lines):
            if line.startswith("```"):
                is_open = not is_open
                inside.add(index)
            elif is_open:
                inside.add(index)
        return frozenset(inside)

    @cached_property
    def sections(self) -> dict[str, Span]:
        """Where each symbol has its own place."""
        starts: dict[str, int] = {}
        for thing in self.things:
            found = self._start(thing, starts.get(thing.owner, -1))
            if found is not None:
                starts[thing.qualname] = found
        return {name: Span(start, self._end(start, frozenset(starts.values()))) for name, start in starts.items()}

    def _start(self, thing: Thing, after: int) -> int | None:
        qualified = rf"\b{re.escape(thing.qualname)}"
        headings = [i for i, line in enumerate(self.lines) if line.startswith("##") and i not in self.fenced]
        for pattern in map(re.compile, (rf"{qualified}\(", rf"{qualified}\b", rf"\b{thing.name}\b")):
            hits = [i for i in headings if i > after and pattern.search(self.lines[i])]
            if hits:
                return hits[0]
        for index, line in enumerate(self.lines):
            if index in self.fenced or not re.match(r"\*\*|`|[-*|] ", line):
                continue
            term = TERM.match(line)
            if term and term[1] in (thing.qualname, thing.name) and (not thing.owner or index > after):
                return index
        return None

    def _end(self, start: int, starts: frozenset[int]) -> int:
        first = self.lines[start]
        if re.match(r"[-*|] ", first):
            return start + 1
        for index in range(start + 1, len(self.lines)):
            line = self.lines[index]
            is_heading = line.startswith("#") and index not in self.fenced
            if is_heading or line == "---" or (index in starts and not first.startswith("#")):
                return index
        return len(self.lines)

    def entry(self, section: Span, term: str) -> Span | None:
        """Find the list entry, row or field about a term in a section."""
        spans = self.entries(section, term)
        return spans[0] if spans else None

    def entries(self, section: Span, term: str) -> list[Span]:
        """Find all list entries, rows and fields about a term in a section."""
        mark = re.compile(
            rf"\s*(?:[-*] +|\d+\. +|\| *|> *|:(?:param|raises) (?:[^:]*\s)?|(?=[`*])|    ){_stars(term)}\b"
        )
        starts = (
            i for i in range(section.start + 1, section.end) if i not in self.fenced and mark.match(self.lines[i])
        )
        return [Span(start, self._entry_end(start, section.end, term)) for start in starts]

    def _entry_end(self, index: int, end: int, term: str) -> int:
        first = self.lines[index]
        last = index + 1
        while last < end and self._continues(first, self.lines[last], term):
            last += 1
        return last

    @staticmethod
    def _continues(first: str, line: str, term: str) -> bool:
        if first.startswith(":param"):
            return line.startswith(f":type {term}:")
        if first.startswith(("**", "`")):
            return bool(line.strip()) and not line.startswith(("**", "`", "#", "|", "-"))
        return False

    def edited(self, edits: dict[int, str | None]) -> str:
        """Return the page with some lines replaced (a text may hold several lines) or, with None, taken out."""
        kept = [edits.get(index, line) for index, line in enumerate(self.lines)]
        return "\n".join(line for line in kept if line is not None) + "\n"

    def without(self, *spans: Span) -> str:
        """Return the page without some lines, and without the blank line that would be left twice."""
        gone: set[int] = set()
        for span in spans:
            gone.update(range(span.start, span.end))
            follows = span.end < len(self.lines) and not self.lines[span.end].strip(" >")
            if follows and not self.lines[span.start - 1].strip(" >"):
                gone.add(span.end)
        return self.edited(dict.fromkeys(gone))


def _stars(term: str) -> str:
    return rf"[`*_\\]*{re.escape(term)}"


def cells(row: str) -> list[str]:
    """Split a table row at its unescaped bars."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]
