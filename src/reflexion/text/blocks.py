"""Where the blocks of a Markdown text are: one pass over its lines, in linear time.

A full parser builds a tree and takes tens of seconds for a megabyte of nonsense, which a model may well send. What
cleaning and text rules need is less: which kind of block each line belongs to, and the fences. The scan follows
CommonMark's block phase (containers, lazy continuation, fences, HTML blocks) plus tables; the tests compare its
fences with those of markdown-it.
"""

import re
from typing import Literal, NamedTuple

from reflexion.patterns import regex

LineKind = Literal["blank", "text", "heading", "rule", "fence", "code", "html", "table"]

_MAX_CONTAINERS = 32
_QUOTE = regex(r" {0,3}> ?")
_LIST = regex(r"( {0,3})([-+*]|(\d{1,9})[.)])(?= |$)( *)")
_RULE = regex(r" {0,3}([-_*])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = regex(r" {0,3}#{1,6}(?:[ \t]|$)")
_SETEXT = regex(r" {0,3}(?:=+|-+)[ \t]*$")
_FENCE = regex(r"( {0,3})(`{3,})([^`]*)$|( {0,3})(~{3,})(.*)$")
_BLOCK_STARTS = frozenset(">#-+*_`~<")
_WORD = regex(r"[\w+#.-]+")
_HTML_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
# Each start condition of an HTML block with the text that ends it; "" stands for a blank line.
_HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        regex(r" {0,3}<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
        regex(r"</(?:script|pre|style|text)", re.IGNORECASE),
    ),
    (regex(r" {0,3}<!--"), regex(r"-->")),
    (regex(r" {0,3}<\?"), regex(r"\?>")),
    (regex(r" {0,3}<!\[CDATA\["), regex(r"\]\]>")),
    (regex(r" {0,3}<![A-Za-z]"), regex(r">")),
    (regex(rf" {{0,3}}</?(?:{_HTML_TAGS})(?:\s|/?>|$)", re.IGNORECASE), None),
)
_HTML_LONE_TAG = regex(r" {0,3}(?:<[A-Za-z][\w-]*(?:[\s/][^<>]*)?>|</[A-Za-z][\w-]*\s*>)\s*$")


class Fence(NamedTuple):
    """One fenced code block.

    Lines count from 1; ``end_line`` is the closing fence, or the last line of an unclosed one. ``info`` is the rest
    of the opening line, stripped; ``language`` its first word in lower case. ``content`` is without the indentation
    of the fence and of the containers (list items, block quotes) around it, each line ended by a newline. ``indent``
    counts the spaces before the fence inside its container, ``depth`` the containers.
    """

    start_line: int
    end_line: int
    info: str
    language: str
    content: str
    indent: int
    closed: bool
    depth: int = 0


class Line(NamedTuple):
    """One line: its kind, how many containers hold it, whether a container starts on it (a list item's marker)."""

    kind: LineKind
    depth: int
    opens: bool


class Blocks(NamedTuple):
    """A scanned text: ``text`` split at newlines, one ``Line`` for each, and the fences in order."""

    source: list[str]
    lines: list[Line]
    fences: list[Fence]


def scan(text: str) -> Blocks:
    """Classify every line of ``text``, whose line ends must be LF (``clean.normalise`` sees to that)."""
    scanner = _Scanner()
    source = text.removesuffix("\n").split("\n") if text else []
    for line in source:
        scanner.feed(line)
    scanner.end_fence(closed=False)
    lines = [Line(*row) for row in zip(scanner.kinds, scanner.depths, scanner.opens, strict=True)]
    return Blocks(source, lines, scanner.fences)


def fences(text: str) -> list[Fence]:
    """Return the fenced code blocks of ``text`` as CommonMark sees them, in order."""
    if "```" not in text and "~~~" not in text:
        return []
    return scan(text.replace("\r\n", "\n").replace("\r", "\n")).fences


def language_of(info: str) -> str:
    """Return the language word of a fence's info string, in lower case: "" where there is none."""
    word = _WORD.match(info.strip().lstrip("{."))
    return word[0].casefold() if word else ""


class _Scanner:
    """The state of the pass: open containers (-1 a quote, else the width of a list item) and the open leaf."""

    def __init__(self) -> None:
        self.kinds: list[LineKind] = []
        self.depths: list[int] = []
        self.opens: list[bool] = []
        self.fences: list[Fence] = []
        self.stack: list[int] = []
        self.leaf = ""
        self.html_end: re.Pattern[str] | None = None
        self.opening: re.Match[str] | None = None
        self.opening_line = 0
        self.content: list[str] = []

    def feed(self, line: str) -> None:
        expanded = _expand(line)
        rest, matched = self._enter(expanded)
        inside = matched == len(self.stack)
        if inside and self.leaf in ("fence", "html"):
            self._add(self._inside_leaf(rest, line, len(expanded) - len(rest)), opened=False)
        elif not inside and self.leaf == "para" and rest.strip() and not _interrupts(rest):
            self._add("text", opened=False)
        else:
            if self._empty_item_ends(rest, matched):
                matched -= 1
            if matched < len(self.stack):
                self._leave(matched)
            before = len(self.stack)
            rest = self._open(rest, inside)
            self._add(self._leaf_kind(rest), opened=len(self.stack) > before)

    def _add(self, kind: LineKind, *, opened: bool) -> None:
        self.kinds.append(kind)
        self.depths.append(len(self.stack))
        self.opens.append(opened)

    def _enter(self, rest: str) -> tuple[str, int]:
        matched = 0
        for width in self.stack:
            if width < 0:
                quote = _QUOTE.match(rest)
                if quote is None:
                    break
                rest = rest[quote.end() :]
            elif rest.startswith(" " * width) or not rest.strip():
                rest = rest[width:]
            else:
                break
            matched += 1
        return rest, matched

    def _empty_item_ends(self, rest: str, matched: int) -> bool:
        """Whether a list item that began with an empty line is followed by another one, which ends it."""
        innermost = matched > 0 and matched == len(self.stack) and self.stack[-1] > 0
        return innermost and not rest.strip() and self.opens[-1] and self.kinds[-1] == "blank"

    def _leave(self, matched: int) -> None:
        self.end_fence(closed=False)
        del self.stack[matched:]
        self.leaf = ""

    def _open(self, rest: str, inside: bool) -> str:
        while len(self.stack) < _MAX_CONTAINERS:
            quote = _QUOTE.match(rest)
            if quote is not None:
                self.stack.append(-1)
                rest = rest[quote.end() :]
            else:
                item = None if _RULE.match(rest) or self._underlines(rest) else _LIST.match(rest)
                if item is None or (inside and self.leaf == "para" and not _item_interrupts(item, rest)):
                    break
                width = _item_width(item, rest)
                self.stack.append(width)
                rest = rest[width:]
            self.leaf = ""
        return rest

    def _underlines(self, rest: str) -> bool:
        return self.leaf == "para" and _SETEXT.match(rest) is not None

    def _leaf_kind(self, rest: str) -> LineKind:
        if not rest.strip():
            self.leaf = "code" if self.leaf == "code" else ""
            return "blank"
        if rest.startswith("    ") and self.leaf != "table":
            self.leaf = "para" if self.leaf == "para" else "code"
            return "text" if self.leaf == "para" else "code"
        opening = _FENCE.match(rest)
        if opening is not None:
            self.leaf, self.opening, self.opening_line, self.content = "fence", opening, len(self.kinds) + 1, []
            return "fence"
        return self._plain_kind(rest)

    def _plain_kind(self, rest: str) -> LineKind:
        if self._underlines(rest):
            self._mark_paragraph_as_heading()
            self.leaf = ""
            return "heading"
        if _HEADING.match(rest) or _RULE.match(rest):
            self.leaf = ""
            return "heading" if _HEADING.match(rest) else "rule"
        if self._starts_html(rest):
            return "html"
        return self._paragraph_kind(rest)

    def _paragraph_kind(self, rest: str) -> LineKind:
        if self.leaf == "para" and _is_delimiter_row(rest):
            self.kinds[-1] = "table"
            self.leaf = "table"
        if self.leaf != "table":
            self.leaf = "para"
        return "table" if self.leaf == "table" else "text"

    def _mark_paragraph_as_heading(self) -> None:
        index = len(self.kinds) - 1
        while index >= 0 and self.kinds[index] == "text":
            self.kinds[index] = "heading"
            if self.opens[index]:
                break
            index -= 1

    def _starts_html(self, rest: str) -> bool:
        if not rest.lstrip(" ").startswith("<"):
            return False
        for start, end in _HTML:
            opening = start.match(rest)
            if opening is not None:
                self.html_end = end
                self.leaf = "" if end is not None and end.search(rest, opening.end()) else "html"
                return True
        if self.leaf not in ("para", "table") and _HTML_LONE_TAG.match(rest):
            self.html_end, self.leaf = None, "html"
            return True
        return False

    def _inside_leaf(self, rest: str, line: str, column: int) -> LineKind:
        if self.leaf == "html":
            return self._inside_html(rest)
        if self.opening is not None and closes(self.opening[2] or self.opening[5], rest):
            self.end_fence(closed=True)
            return "fence"
        indent = len(self.opening[1] or self.opening[4] or "") if self.opening else 0
        self.content.append(_after_columns(line, column + min(indent, len(rest) - len(rest.lstrip(" ")))))
        return "fence"

    def _inside_html(self, rest: str) -> LineKind:
        if self.html_end is not None:
            if self.html_end.search(rest):
                self.leaf = ""
            return "html"
        if rest.strip():
            return "html"
        self.leaf = ""
        return "blank"

    def end_fence(self, *, closed: bool) -> None:
        """Record the open fence, if there is one; its closing line is the one being fed."""
        if self.opening is None:
            return
        info = (self.opening[3] if self.opening[2] else self.opening[6]).strip()
        end = self.opening_line + len(self.content) + closed
        content = "".join(f"{line}\n" for line in self.content)
        indent = len(self.opening[1] or self.opening[4] or "")
        depth = len(self.stack)
        self.fences.append(Fence(self.opening_line, end, info, language_of(info), content, indent, closed, depth))
        self.opening, self.leaf = None, ""


def _expand(line: str) -> str:
    """Expand tabs where they can indent; a tab inside the text of a line is content."""
    if "\t" not in line:
        return line
    head = line[: len(line) - len(line.lstrip(" \t>-+*0123456789.)"))]
    return head.expandtabs(4) + line[len(head) :] if "\t" in head else line


def _after_columns(line: str, columns: int) -> str:
    """Drop ``columns`` columns from the start of ``line``; what a tab spans beyond them stays as spaces."""
    column = 0
    for index, character in enumerate(line):
        if column >= columns:
            return " " * (column - columns) + line[index:]
        column += 4 - column % 4 if character == "\t" else 1
    return " " * (column - columns)


def _interrupts(rest: str) -> bool:
    """Whether a line outside of the open container starts a block, so that it cannot continue a paragraph lazily."""
    first = rest.lstrip(" ")[0]
    if first not in _BLOCK_STARTS and not first.isdigit():
        return False
    starts = (_LIST, _QUOTE, _HEADING, _RULE, _FENCE)
    return any(start.match(rest) for start in starts) or any(start.match(rest) for start, _ in _HTML)


def _item_interrupts(item: re.Match[str], rest: str) -> bool:
    return bool(rest[item.end() :].strip()) and item[3] in (None, "1")


def _item_width(item: re.Match[str], rest: str) -> int:
    spaces = len(item[4])
    return item.start(4) + (spaces if 1 <= spaces <= 4 and item.end() < len(rest) else 1)


def _is_delimiter_row(rest: str) -> bool:
    row = rest.strip()
    return "-" in row and "|" in row and not row.strip("|:- \t")


def closes(mark: str, line: str) -> bool:
    """Whether ``line`` closes a fence opened by ``mark``: same character, at least as long, nothing else."""
    closer = line.rstrip(" \t")
    indent = len(closer) - len(closer.lstrip(" "))
    return indent <= 3 and len(closer) - indent >= len(mark) and not closer[indent:].strip(mark[0])
