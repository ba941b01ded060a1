"""Thinking blocks: what a reasoning model says to itself, in the places where it leaks into a reply."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import takewhile

from reflexion.patterns import regex
from reflexion.text.blocks import scan

THINKING_TAG = regex(r"<(/?)(?:think|thinking|thought|reasoning)\s?>|\[(/?)THINK\]", re.IGNORECASE)

_TICKS = regex(r"`+")
_HEADING = regex(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_MENTIONED_AFTER = regex(r"[ \t]*[,.;:)\"'`|}\]]|[ \t]+[a-z]")
_LEADING_BLANK = regex(r"(?:[ \t\r]*\n)+|[ \t]+")
_SENTENCE_END = regex(r"(?:^|[.!?:>\]])[ \t]*$")
# Deeper nesting than this is nothing that a model writes; the text is then left as it came.
_MOST_PASSES = 8


def strip_thinking(reply: str) -> str:
    """Remove thinking blocks; what is left is otherwise unchanged.

    A block at the start goes up to its closing tag, or to the end where there is none: a reply that is nothing but
    unfinished thinking has no answer in it. A closing tag alone takes what stands before it. Tags inside fences,
    inline code and sentences about the tags stay. Twice is the same as once.
    """
    text = reply
    for _ in range(_MOST_PASSES):
        shorter = _strip_pass(text)
        if shorter == text:
            return text
        text = shorter
    return reply


def thinking_tags(text: str) -> list[re.Match[str]]:
    """Return the thinking tags of ``text`` that stand outside of code and are not just mentioned in a sentence."""
    if THINKING_TAG.search(text) is None:
        return []
    code = code_spans(text)
    starts = [start for start, _ in code]
    return [tag for tag in THINKING_TAG.finditer(text) if not _inside(tag.start(), code, starts) and _acts(text, tag)]


def _strip_pass(text: str) -> str:
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    opening = THINKING_TAG.match(text, start)
    if opening is not None and not _is_close(opening):
        text = _strip_leading(text, opening)
    tags = thinking_tags(text)
    if tags and _is_close(tags[0]):
        return _strip_lone_close(text, tags)
    return _strip_pairs(text, tags)


def _strip_leading(text: str, opening: re.Match[str]) -> str:
    body = opening.end()
    closes = [tag for tag in THINKING_TAG.finditer(text, body) if _is_close(tag)]
    if not closes:
        return ""
    code = code_spans(text[body:])
    starts = [start for start, _ in code]
    outside = [tag for tag in closes if not _inside(tag.start() - body, code, starts)]
    # A fence that the thinking never closed hides every tag after it: then the first one is the right one.
    return _without_leading_blank(text[(outside or closes)[0].end() :])


def _strip_lone_close(text: str, tags: list[re.Match[str]]) -> str:
    closes = list(takewhile(_is_close, tags))
    before, after = text[: closes[-1].start()], text[closes[-1].end() :]
    if _HEADING.search(before) and not _HEADING.search(after):
        return before + after
    return _without_leading_blank(after)


def _strip_pairs(text: str, tags: list[re.Match[str]]) -> str:
    position = 0
    opening: re.Match[str] | None = None
    pieces: list[str] = []
    for tag in tags:
        if _is_close(tag) and opening is not None:
            pieces.append(text[position : opening.start()])
            position, opening = tag.end(), None
        elif not _is_close(tag):
            opening = opening or tag
    kept = _joined([*pieces, text[position:]])
    return kept if opening is None else _strip_unclosed(text, opening, kept)


def _strip_unclosed(text: str, opening: re.Match[str], kept: str) -> str:
    """Drop what follows an opening tag that nothing closes, unless it has structure that thinking does not have."""
    after = text[opening.end() :]
    if any(line.kind in ("heading", "fence", "table") or line.opens for line in scan(after).lines):
        return kept
    return kept[: len(kept) - len(text) + opening.start()].rstrip() + "\n"


def _joined(pieces: list[str]) -> str:
    parts = pieces[:1]
    for piece in pieces[1:]:
        before, after = parts[-1], _without_leading_blank(piece)
        gap = "\n\n" if before.endswith("\n") or "\n" in piece[: len(piece) - len(after)] else " "
        parts[-1] = before.rstrip()
        parts += [gap if parts[-1] else "", after]
    return "".join(parts)


def _without_leading_blank(text: str) -> str:
    """Drop blank lines at the start; the indentation of the first full line stays, since it can mean code."""
    blank = _LEADING_BLANK.match(text)
    return text[blank.end() :] if blank else text


def _is_close(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[2])


def _acts(text: str, tag: re.Match[str]) -> bool:
    """Whether a tag stands where a model puts it, rather than in the middle of a sentence that mentions it."""
    line_start = max(text.rfind("\n", 0, tag.start()), tag.start() - 200) + 1
    before = text[line_start : tag.start()]
    if _is_close(tag):
        return _MENTIONED_AFTER.match(text, tag.end()) is None
    return not before.strip() or _SENTENCE_END.search(before) is not None


def _inside(position: int, spans: list[tuple[int, int]], starts: list[int]) -> bool:
    index = bisect_right(starts, position) - 1
    return index >= 0 and position < spans[index][1]


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of ``text`` that are code: fenced and indented blocks, and inline code, in order."""
    spans: list[tuple[int, int]] = []
    position = 0
    paragraph: int | None = None
    blocks = scan(text)
    for source, line in zip(blocks.source, blocks.lines, strict=True):
        in_paragraph = line.kind in ("text", "html") and not line.opens
        if paragraph is not None and not in_paragraph:
            spans += _inline_code(text, paragraph, position)
            paragraph = None
        if line.kind in ("fence", "code"):
            spans.append((position, position + len(source) + 1))
        elif line.kind != "blank" and paragraph is None:
            paragraph = position
        position += len(source) + 1
    if paragraph is not None:
        spans += _inline_code(text, paragraph, len(text))
    return spans


def _inline_code(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the code spans of one paragraph: a run of backticks up to the next run of the same length."""
    runs = list(_TICKS.finditer(text, start, end))
    partner: dict[int, int] = {}
    last_of_length: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = len(runs[index][0])
        if length in last_of_length:
            partner[index] = last_of_length[length]
        last_of_length[length] = index
    index = 0
    while index < len(runs):
        closing = partner.get(index)
        if closing is not None:
            yield runs[index].start(), runs[closing].end()
        index = index + 1 if closing is None else closing + 1
