"""Where words stand in Markdown: under ticks, stars, escapes and line breaks, and where sentences begin and end."""

import html
import re
from dataclasses import dataclass

from reflexion.text.thinking import code_spans

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_END = re.compile(r"[.!?][\"')*_\]\u201d\u2019]*(?=\s|$)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d]*\u201d|\b(?:e\.g|i\.e|etc|vs|cf)\.")


@dataclass(frozen=True, slots=True)
class Hit:
    """Words found at ``text[start:end]``: inside a code span, and there alone, or outside of any."""

    start: int
    end: int
    in_code: bool
    alone: bool


def find(text: str, start: int, end: int, words: str) -> list[Hit]:
    """Where ``words`` stand as whole tokens in ``text[start:end]``; those alone in a code span come first."""
    wanted = bare(words, 0, len(words))[0].strip()
    if not wanted:
        return []
    found, places = bare(text, start, end)
    spans = [(start + first, start + last) for first, last in code_spans(text[start:end])]
    matches = [match for match in re.finditer(re.escape(wanted), found) if _is_token(found, match.start(), match.end())]
    hits = [_hit(text, places[match.start()], places[match.end() - 1] + 1, spans) for match in matches]
    return sorted(hits, key=lambda hit: (not hit.alone, not hit.in_code, hit.start))


def bare(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """``text[start:end]`` without ticks, stars and escapes, white space as one space; and where each letter stands."""
    letters: list[str] = []
    places: list[int] = []
    at = start
    while at < end:
        letter, width = _letter(text, at)
        if letter and not (letter == " " and letters and letters[-1] == " "):
            letters.append(letter)
            places.append(at)
        at += width
    return "".join(letters), places


def _letter(text: str, at: int) -> tuple[str, int]:
    """The letter at a place as a reader sees it ("" for marks), and how many characters write it."""
    one = text[at]
    if one.isspace():
        return " ", 1
    if one in "`*" or (one == "\\" and re.match(r"[!-/:-@\[-`{-~]", text[at + 1 : at + 2])):
        return "", 1
    entity = _ENTITY.match(text, at) if one == "&" else None
    if entity and len(html.unescape(entity[0])) == 1:
        return html.unescape(entity[0]), len(entity[0])
    return one, 1


def _is_token(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if re.search(r"\w$", before) and re.match(r"\w", text[start]):
        return False
    if re.match(r"\w", after) and re.match(r"\w", text[end - 1]):
        return False
    return not re.search(r"\w\.$", before) and not re.match(r"\.\w", after)


def _hit(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> Hit:
    around = next((span for span in spans if span[0] <= start and end <= span[1]), None)
    if around is None:
        return _whole_spans(start, end, spans)
    return Hit(start, end, in_code=True, alone=text[around[0] : around[1]].strip("` ") == text[start:end].strip())


def _whole_spans(start: int, end: int, spans: list[tuple[int, int]]) -> Hit:
    """Widen a hit that begins or ends inside of a code span, so that no tick is left over."""
    for first, last in spans:
        if first < end and start < last:
            start, end = min(start, first), max(end, last)
    return Hit(start, end, in_code=False, alone=False)


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of ``text[start:end]``, white space after each included; none ends inside code or quotes."""
    part = text[start:end]
    masked = list(part)
    spans = [*code_spans(part), *((found.start(), found.end()) for found in _QUOTED.finditer(part))]
    for first, last in spans:
        masked[first:last] = "x" * (min(last, len(part)) - first)
    found: list[tuple[int, int]] = []
    begin = 0
    for stop in _END.finditer("".join(masked)):
        after = re.compile(r"\s*").match(part, stop.end())
        last = after.end() if after else stop.end()
        found.append((start + begin, start + last))
        begin = last
    if part[begin:].strip():
        found.append((start + begin, end))
    return found


def code(text: str) -> str:
    """A code span whose fence is longer than any run of ticks inside."""
    flat = re.sub(r"\s+", " ", text)
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"
