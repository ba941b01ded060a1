"""Inline Markdown to marked text: one linear pass that keeps every line break where the document has it.

A full inline parser is quadratic on hostile input and loses the line breaks inside code spans, so this one is ours.
Blocks (headings, lists, tables, fences) come from markdown-it-py, see ``markup.py``.
"""

import html
import re
from bisect import bisect_left
from typing import NamedTuple

from reflexion.patterns import regex

CODE_ON, CODE_OFF = "\ue000", "\ue001"
MARK_ON, MARK_OFF = "\ue002", "\ue003"
PRIVATE = regex("[\ue000-\ue003]")
_LONGEST = 50_000
# What <br> becomes: white space to every pattern, yet no line of the document.
SOFT_LINE = "\u2028"

_STOPS = regex(
    r"\\[!-/:-@\[-`{-~]|`+|<|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|\*+|__[a-z]\w{0,40}?__(?!\w)|_+|!?\[|\]|[ \t]*\n[ \t]*|https?://[^\s<>\"'`*|\]\[\\]+|\xa0"
)
_LINE_BREAK = regex(r"[ \t]*\n[ \t]*")
_TAG = regex(r"</?([A-Za-z][A-Za-z0-9]*)([^<>]*)>")
_AUTOLINK = regex(r"<((?:https?|ftp|mailto):[^\s<>]*)>")
_HREF = regex(r"(?:href|src)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_TARGET = regex(
    r"\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_LABEL = regex(r"\[[^\[\]\n]*\]")
_PLAIN_TAGS = frozenset(
    {
        "a",
        "abbr",
        "center",
        "cite",
        "del",
        "details",
        "div",
        "font",
        "img",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
    }
    | {"s", "samp", "small", "span", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"}
)
_CODE_TAGS = frozenset({"code", "tt"})
_MARK_TAGS = frozenset({"b", "strong", "em", "i"})


class Link(NamedTuple):
    """A link found inline: its line, its target and its text."""

    line: int
    url: str
    text: str


class Inline(NamedTuple):
    """Text with code spans between CODE_ON and CODE_OFF, and strong or emphasised text between MARK_ON and MARK_OFF."""

    marked: str
    line: int
    newlines: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def plain(self) -> str:
        """The text without any mark, white space squeezed."""
        return plain(self.marked)

    def part(self, start: int, end: int | None = None) -> "Inline":
        """Return ``marked[start:end]`` with its own lines; links are left out."""
        end = len(self.marked) if end is None else end
        first, last = bisect_left(self.newlines, start), bisect_left(self.newlines, end)
        newlines = tuple(at - start for at in self.newlines[first:last])
        return Inline(self.marked[start:end], self.line_at(start), newlines)

    def line_at(self, offset: int) -> int:
        """Return the document line of ``marked[offset]``."""
        return self.line + bisect_left(self.newlines, offset)


def plain(marked: str) -> str:
    """Return marked text without its marks, runs of white space as one space."""
    return " ".join(PRIVATE.sub("", marked).split())


def ticked(marked: str) -> str:
    """Return marked text with code spans in backticks and without other marks, white space squeezed."""
    return plain(marked.replace(CODE_ON, "`").replace(CODE_OFF, "`"))


def read_inline(raw: str, line: int) -> Inline:
    """Return the marked text of an inline source that begins at ``line``. Never raises.

    A paragraph of more than 50,000 characters is read up to there: nobody writes one, and patterns stay fast.
    """
    return _Scanner(raw[:_LONGEST], line).run()


class _Scanner:
    """One pass over one inline source."""

    def __init__(self, raw: str, line: int) -> None:
        self.raw = raw
        self.line = line
        self.pieces: list[str] = []
        self.links: list[tuple[int, str, int, int]] = []
        self.brackets: list[int] = []
        self.openers: list[tuple[str, int, int]] = []
        self.runs: dict[int, list[int]] = {}
        for run in re.finditer("`+", raw):
            self.runs.setdefault(run.end() - run.start(), []).append(run.start())
        self.comment_end = raw.rfind("-->")

    def run(self) -> Inline:
        """Scan to the end and join the pieces."""
        position = 0
        while stop := _STOPS.search(self.raw, position):
            self.pieces.append(self.raw[position : stop.start()])
            position = self.take(stop)
        self.pieces.append(self.raw[position:])
        marked = "".join(self.pieces)
        newlines = tuple(found.start() for found in re.finditer("\n", marked))
        return Inline(marked, self.line, newlines, self.joined_links())

    def joined_links(self) -> tuple[Link, ...]:
        """Return the links with their texts, which are known only now."""
        breaks = [found.start() for found in re.finditer("\n", self.raw)]
        return tuple(
            Link(self.line + bisect_left(breaks, at), url, plain("".join(self.pieces[first:last])))
            for at, url, first, last in self.links
        )

    def take(self, stop: re.Match[str]) -> int:
        """Deal with one stop and return where the scan goes on."""
        token = stop.group()
        first = token[0]
        if first == "`":
            return self.take_code(stop)
        if first == "<":
            return self.take_angle(stop.start())
        if first in "*_":
            return self.take_emphasis(stop)
        if first in "![" or first == "]":
            return self.take_bracket(stop)
        if first == "h":
            return self.take_url(stop)
        self.pieces.append(_resolved(token))
        return stop.end()

    def take_code(self, stop: re.Match[str]) -> int:
        """A code span up to the next run of as many backticks, or literal backticks."""
        width = stop.end() - stop.start()
        starts = self.runs.get(width, [])
        index = bisect_left(starts, stop.end())
        if index == len(starts):
            self.pieces.append(stop.group())
            return stop.end()
        code = self.raw[stop.end() : starts[index]]
        self.pieces += [CODE_ON, _LINE_BREAK.sub("\n", code).replace("\xa0", " "), CODE_OFF]
        return starts[index] + width

    def take_angle(self, start: int) -> int:
        """A comment, an autolink, a known tag, or a literal ``<``."""
        if self.raw.startswith("<!--", start) and self.comment_end > start:
            end = self.raw.find("-->", start) + 3
            self.pieces.append("\n" * self.raw.count("\n", start, end))
            return end
        if link := _AUTOLINK.match(self.raw, start):
            self.pieces.append(link.group(1))
            self.links.append((start, link.group(1), len(self.pieces) - 1, len(self.pieces)))
            return link.end()
        tag = _TAG.match(self.raw, start)
        mark = _tag_mark(tag) if tag else None
        if tag is None or mark is None:
            self.pieces.append("<")
            return start + 1
        self.pieces.append(mark + "\n" * tag.group().count("\n"))
        if target := _HREF.search(tag.group(2)):
            self.links.append((start, target.group(1), 0, 0))
        return tag.end()

    def take_emphasis(self, stop: re.Match[str]) -> int:
        """Close what this run can close, else open, else keep the run as text."""
        token, left = stop.group(), stop.end() - stop.start()
        before = self.raw[stop.start() - 1 : stop.start()]
        after = self.raw[stop.end() : stop.end() + 1]
        if token.strip("_*"):
            self.pieces.append(token)
            return stop.end()
        opens, closes = _flanks(token[0], before, after)
        while closes and left and self.openers and self.close(token[0], left):
            left -= self.closed
        if left and opens and left <= 3:
            self.openers.append((token[0], left, len(self.pieces)))
        self.pieces.append(token[0] * left)
        return stop.end()

    closed = 0

    def close(self, char: str, width: int) -> bool:
        """Turn the latest opener of ``char`` that ``width`` covers into marks; only the top four are looked at."""
        for index in range(len(self.openers) - 1, max(-1, len(self.openers) - 5), -1):
            opener, size, piece = self.openers[index]
            if opener == char and size <= width:
                self.pieces[piece] = MARK_ON
                self.pieces.append(MARK_OFF)
                del self.openers[index:]
                self.closed = size
                return True
        return False

    def take_bracket(self, stop: re.Match[str]) -> int:
        """Remember an opening bracket; at a closing one make a link where a target follows."""
        bracket = stop.group()
        if bracket != "]":
            self.brackets.append(len(self.pieces))
            self.pieces.append(bracket)
            return stop.end()
        opener = self.brackets.pop() if self.brackets else None
        target = _TARGET.match(self.raw, stop.end()) if opener is not None else None
        label = _LABEL.match(self.raw, stop.end()) if opener is not None and not target else None
        if opener is None or not (target or label):
            self.pieces.append("]")
            return stop.end()
        self.pieces[opener] = ""
        if label:
            return label.end()
        return self.take_target(stop, target, opener)

    def take_target(self, stop: re.Match[str], target: re.Match[str] | None, piece: int) -> int:
        """Record the link whose text began at ``piece``."""
        if target is None:
            return stop.end()
        url = target.group(1) or target.group(2) or ""
        if url:
            self.links.append((stop.start(), url, piece, len(self.pieces)))
        self.pieces.append("\n" * target.group().count("\n"))
        return target.end()

    def take_url(self, stop: re.Match[str]) -> int:
        """A bare address in the text."""
        url = stop.group().rstrip(".,;:!?)")
        self.pieces.append(url)
        self.links.append((stop.start(), url, len(self.pieces) - 1, len(self.pieces)))
        return stop.start() + len(url)


def _resolved(token: str) -> str:
    """Return what an escape, an entity, a line break or a special space stands for."""
    if token[0] == "\\":
        return token[1]
    if token[0] == "&":
        return PRIVATE.sub("\ufffd", html.unescape(token)).replace("\xa0", " ").replace("\n", " ")
    return "\n" if "\n" in token else " "


def _tag_mark(tag: re.Match[str]) -> str | None:
    """Return what stands for an HTML tag, or None where it is no tag that Markdown pages use."""
    name, closing = tag.group(1).lower(), tag.group().startswith("</")
    if name == "br":
        return SOFT_LINE
    if name in _CODE_TAGS:
        return CODE_OFF if closing else CODE_ON
    if name in _MARK_TAGS:
        return MARK_OFF if closing else MARK_ON
    return "" if name in _PLAIN_TAGS else None


def _flanks(char: str, before: str, after: str) -> tuple[bool, bool]:
    """Say whether an emphasis run can open and can close, by the characters around it."""
    opens = bool(after) and not after.isspace()
    closes = bool(before) and not before.isspace()
    if char == "_" or (before.isalnum() and after.isalnum()):
        return opens and not before.isalnum(), closes and not after.isalnum()
    return opens and not (before.isalnum() and closes), closes
