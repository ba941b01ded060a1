"""The pieces a document can be cut into, and the lines where a comment switches rules off."""

import re

from reflexion.evidence.claims import ALL_RULES, Block, BlockKind
from reflexion.evidence.markup import Markup
from reflexion.patterns import regex

_COMMENT = regex(r"<!--\s*reflexion:\s*off\b(?P<rules>[^<>]*?)-->", re.IGNORECASE)
_KINDS: dict[str, BlockKind] = {
    "heading": "heading",
    "paragraph": "paragraph",
    "item": "item",
    "row": "row",
    "table": "table",
    "fence": "fence",
    "html": "html",
}


def blocks_of(markup: Markup) -> tuple[Block, ...]:
    """Return every block that can be cut out whole, in document order, outer ones first."""
    return tuple(Block(node.line, node.end_line, _KINDS[node.kind]) for node in markup.walk() if node.kind in _KINDS)


def silenced_lines(markup: Markup) -> dict[int, frozenset[str]]:
    """Return the rules that comments switch off, by line (see ``Claims``)."""
    if not any("reflexion:" in line.lower() for line in markup.lines):
        return {}
    code = _code_lines(markup)
    spans = _first_spans(markup)
    found: dict[int, frozenset[str]] = {}
    for number, text in enumerate(markup.lines, start=1):
        comment = _COMMENT.search(text) if number not in code else None
        if comment is None:
            continue
        rules = frozenset(re.split(r"[,\s]+", comment.group("rules").strip())) - {""} or frozenset({ALL_RULES})
        for line in _silent(number, text, markup, spans):
            found[line] = found.get(line, frozenset()) | rules
    return found


def _code_lines(markup: Markup) -> set[int]:
    """Return the lines inside code."""
    return {line for node in markup.walk() if node.kind == "fence" for line in range(node.line, node.end_line + 1)}


def _first_spans(markup: Markup) -> dict[int, int]:
    """Return for each line where a block begins the last line of the smallest such block."""
    spans: dict[int, int] = {}
    for node in markup.walk():
        if node.kind in ("heading", "paragraph", "row", "fence"):
            spans[node.line] = node.end_line
    return spans


def _silent(number: int, text: str, markup: Markup, spans: dict[int, int]) -> range:
    """Return the lines that a comment at line ``number`` silences."""
    if _COMMENT.sub("", text).strip(" \t>"):
        return range(number, number + 1)
    following = number + 1
    while following <= len(markup.lines) and not _COMMENT.sub("", markup.lines[following - 1]).strip(" \t>"):
        following += 1
    return range(following, max(following, spans.get(following, following)) + 1)
