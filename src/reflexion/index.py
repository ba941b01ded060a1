"""``index.md``: the pages of a folder, grouped as they lie, each with the first sentence that it says of itself."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reflexion.marker import Marker, read_marker
from reflexion.pages import render

OUTCOME = "index"
SUMMARY_LENGTH = 200

# A first paragraph lies in the first characters of a page; a parser takes long over a page of nonsense.
_READ_CHARACTERS = 8_000
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~&$]")
_SENTENCE_END = re.compile(r"[.!?]+[\"')\]\u201d\u2019]*(?=\s+[^\sa-z])")
_NO_SENTENCE_END = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|no|fig|[A-Z])\.$", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
# What an outline calls the outcomes, in this order; others follow.
_COUNTED = ("accepted", "not accepted", "failed")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One source of an index. ``page`` is relative to the index's folder, None where there is no page.

    ``label`` is what the source is called, ``summary`` a line of Markdown as ``summary_of`` gives it, or "".
    """

    page: Path | None
    label: str
    outcome: str
    summary: str = ""


def render_index(entries: Sequence[IndexEntry], title: str = "Contents", *, made_of: str = "") -> str:
    """Return the index as it is written, closing comment and all: ``pages.is_ours`` knows it again.

    The same entries in any order give the same index. ``made_of`` goes into the comment, as a source's digest would.
    """
    lines = [f"# {_escaped(title)}", "", _counts(entries)]
    ordered = sorted(entries, key=_place)
    for folder, inside in groupby(ordered, key=_folder):
        if folder:
            lines += ["", f"## {_escaped(folder)}/"]
        lines += ["", *(_item(entry) for entry in inside)]
    return render("\n".join(lines), Marker(OUTCOME, None, "", made_of))


def summary_of(page: str) -> str:
    """Return the first sentence of a page's first paragraph as one line of Markdown, "" where it has none.

    Only words and code stay, what else could mean something to Markdown is escaped. At most SUMMARY_LENGTH characters
    of it are taken, at the end of a word. No text raises.
    """
    text = read_marker(page)[0][:_READ_CHARACTERS]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and before.level == 0:
            pieces = _pieces(token.children or [])
            if "".join(piece for piece, _ in pieces).strip():
                return _shown(pieces)
    return ""


def _counts(entries: Sequence[IndexEntry]) -> str:
    found = Counter(entry.outcome for entry in entries)
    outcomes = [one for one in _COUNTED if one in found] + sorted(set(found) - set(_COUNTED))
    sources = "1 source" if len(entries) == 1 else f"{len(entries)} sources"
    parts = ", ".join(f"{found[outcome]} {_escaped(outcome)}" for outcome in outcomes)
    return f"{sources}: {parts}." if parts else "No sources."


def _place(entry: IndexEntry) -> tuple[tuple[str, ...], str, str]:
    parts = _path(entry).parts
    return parts[:-1], parts[-1] if parts else "", entry.label


def _folder(entry: IndexEntry) -> str:
    return "/".join(_path(entry).parts[:-1])


def _path(entry: IndexEntry) -> Path:
    return entry.page if entry.page is not None else Path(entry.label)


def _item(entry: IndexEntry) -> str:
    label = _escaped(entry.label)
    link = label if entry.page is None else f"[{label}]({_target(entry.page)})"
    outcome = "" if entry.outcome == "accepted" else f" ({_escaped(entry.outcome)})"
    return f"- {link}{outcome}{f': {entry.summary}' if entry.summary else ''}"


def _target(page: Path) -> str:
    # Also colons and brackets: "a:b.md" would have a scheme, and a bracket could end the link.
    return quote(page.as_posix().encode("utf-8", errors="surrogateescape"))


def _pieces(tokens: Sequence[Token]) -> list[tuple[str, bool]]:
    """Return a paragraph's words, each with whether it is code. Pictures, comments and tags say nothing."""
    pieces: list[tuple[str, bool]] = []
    for token in tokens:
        if token.type == "code_inline":
            pieces.append((_plain(token.content), True))
        elif token.type in ("text", "text_special"):
            pieces.append((_plain(token.content), False))
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append((" ", False))
    return pieces


def _plain(text: str) -> str:
    return _UNSEEN.sub("\ufffd", re.sub(r"\s", " ", text))


def _shown(pieces: Sequence[tuple[str, bool]]) -> str:
    end = _end_of_sentence("".join("x" * len(text) if code else text for text, code in pieces))
    shown, cut = "", end > SUMMARY_LENGTH
    end = min(end, SUMMARY_LENGTH)
    for text, code in pieces:
        part = text[:end]
        if cut and len(text) >= end and not code:
            part = part.rpartition(" ")[0]
        if part:
            shown += _coded(part) if code else _escaped(part)
        end -= len(text)
        if end <= 0:
            break
    return " ".join(shown.split()) + (" \u2026" if cut else "")


def _end_of_sentence(text: str) -> int:
    for found in _SENTENCE_END.finditer(text):
        if not _NO_SENTENCE_END.search(text, 0, found.end()):
            return found.end()
    return len(text.rstrip())


def _coded(text: str) -> str:
    if "`" in text or not text.strip():
        return _escaped(text)
    return f"`{text}`"


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\g<0>", _plain(text))
