"""Blocks that survive: what a person writes between two comments in a page is there again after the next run.

::

    <!-- keep -->
    Anything at all.
    <!-- /keep -->

Each comment stands on a line of its own, outside of fenced code. A block goes back under the heading that it stood
under, after the line that it stood after if that line is still there. A heading is known again by its words and those
above it, or, when they changed, by the symbol that it names; a block whose section is gone goes to that of its symbol,
and where that is gone as well, under "Kept notes" at the end. Blocks come back byte for byte.

A comment whose counterpart is missing is mended: what stands between it and the next heading, comment of the pair or
end (for a closing one: the last heading or comment) is taken for the block, and ``Kept.problems`` says so.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflexion.evidence.inline import read_inline
from reflexion.evidence.titles import is_sure, read_title
from reflexion.text.blocks import Line, scan

OPEN = "<!-- keep -->"
CLOSE = "<!-- /keep -->"
HOMELESS_TITLE = "Kept notes"

_OPEN = re.compile(r"[ \t]*<!--[ \t]*keep[ \t]*-->[ \t\r]*")
_CLOSE = re.compile(r"[ \t]*<!--[ \t]*/keep[ \t]*-->[ \t\r]*")
_INLINE = re.compile(r"<!--[ \t]*/?keep[ \t]*-->")
_OWN_COMMENT = re.compile(r"<!-- reflexion [^\n>]*-->[ \t]*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_CODE_SPAN = re.compile(r"(`+)[^`]*\1")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level, words in one spelling, and the symbol that it names, "" where it names none."""

    level: int
    words: str
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its lines, comments and all, and the headings it stands under, outermost first.

    ``nth`` counts the headings with this very path before its own; ``after`` is the line of text right before the
    block, "" where the heading itself is.
    """

    text: str
    path: tuple[Heading, ...] = ()
    nth: int = 0
    after: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """The blocks of a page in their order, and what is wrong with its comments, one line each with its number."""

    blocks: tuple[Block, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inserted:
    """A page with its blocks, and those that found no heading and stand at the end."""

    text: str
    homeless: tuple[Block, ...] = ()


def extract(page: str) -> Kept:
    """Return the blocks of a page as it lies on disk. Its line ends must be LF. No text raises."""
    layout = _read(page)
    blocks = []
    for span in layout.spans:
        section = layout.section_before(span.start)
        blocks.append(Block(span.text, section.path, section.nth, layout.line_before(span.start, section)))
    return Kept(tuple(blocks), tuple(layout.problems))


def without_blocks(page: str) -> str:
    """Return a page without its blocks, as it was before they were put in; a page with a broken one as it is.

    Of the blank lines that stood around a block one is left, so a digest of the result does not depend on them.
    """
    layout = _read(page)
    return page if layout.problems else _page(_strip(layout, layout.spans))


def insert(text: str, blocks: Sequence[Block]) -> Inserted:
    """Return a new page with the blocks of the old one, each exactly once.

    Comments of ours that are in ``text`` already came from a model, which saw them in the old page: a block that is
    among ``blocks`` is taken out before, and of any other the comments are, since only a person may keep a text.
    """
    if not blocks and not _INLINE.search(text):
        return Inserted(text)
    layout = _read(_without_comments(text, blocks))
    places: dict[int, list[Block]] = {}
    homeless = []
    notes = next((one for one in layout.sections if _words(one.path)[-1:] == (HOMELESS_TITLE.casefold(),)), None)
    for block in blocks:
        section = _home(block, layout.sections)
        homeless += [] if section else [block]
        section = section or notes
        if section is not None:
            places.setdefault(layout.place_after(block.after, section), []).append(block)
    result = _joined(layout.lines, places, [] if notes else homeless)
    if not _holds(result, blocks, len(layout.problems)):
        # The text leaves a fence open, in which no comment counts; before it is the one place that is safe.
        return Inserted(_joined(layout.lines, {0: blocks}, []), tuple(blocks))
    return Inserted(result, tuple(homeless))


def _holds(page: str, blocks: Sequence[Block], problems: int) -> bool:
    """Whether exactly these blocks will be found in a page, each by its own two comments."""
    found = extract(page)
    same = Counter(block.text for block in found.blocks) == Counter(block.text for block in blocks)
    return same and len(found.problems) == problems


@dataclass(frozen=True, slots=True)
class _Span:
    """A block's lines: ``start`` to before ``end``; ``text`` is what goes back, mended where it was broken."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading's own text: lines ``start`` to before ``end``; the heading itself ends before ``start``."""

    path: tuple[Heading, ...]
    nth: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """A page's lines with the spans of its blocks, and what kinds of lines and which sections are around them."""

    lines: list[str]
    kinds: list[Line]
    spans: list[_Span]
    sections: list[_Section]
    problems: list[str]

    def section_before(self, line: int) -> _Section:
        return next(one for one in reversed(self.sections) if one.start <= line)

    def line_before(self, line: int, section: _Section) -> str:
        inside = {number for span in self.spans for number in range(span.start, span.end)}
        above = (number for number in range(line - 1, section.start - 1, -1) if number not in inside)
        return next((self.lines[number] for number in above if not _is_blank(self.lines[number])), "")

    def place_after(self, line: str, section: _Section) -> int:
        """Return the line before which a block goes: after ``line`` where it ends a paragraph, else at the end."""
        if not line:
            return section.start
        for number in range(section.end - 1, section.start - 1, -1):
            ends = number + 1 == section.end or self.kinds[number + 1].kind == "blank"
            if ends and self.lines[number] == line:
                return number + 1
        return section.end


def _read(page: str) -> _Layout:
    lines = page.removesuffix("\n").split("\n") if page else []
    masked, spans, problems = list(lines), list[_Span](), list[str]()
    kinds, start = _kinds(masked), 0
    while (found := _next_comment(masked, kinds, start)) is not None:
        if _OPEN.fullmatch(lines[found]):
            span, problem = _opened(lines, kinds, found)
        else:
            span, problem = _closed(lines, kinds, found, start), f"{CLOSE} without {OPEN}"
        problems += [f"line {found + 1}: {problem}"] if problem else []
        spans.append(span)
        start = span.end
        # What is in a block is the person's own: a fence that it leaves open does not reach beyond it.
        masked[span.start : span.end] = [""] * (span.end - span.start)
        kinds = _kinds(masked)
    problems += _inline_problems(masked, kinds)
    return _Layout(lines, kinds, spans, _sections(masked, kinds), problems)


def _kinds(lines: Sequence[str]) -> list[Line]:
    return scan("\n".join(lines) + "\n").lines


def _next_comment(lines: Sequence[str], kinds: Sequence[Line], start: int) -> int | None:
    for number in range(start, len(lines)):
        if kinds[number].kind != "fence" and _is_comment(lines[number]):
            return number
    return None


def _is_comment(line: str) -> bool:
    return bool(_OPEN.fullmatch(line) or _CLOSE.fullmatch(line))


def _opened(lines: Sequence[str], kinds: Sequence[Line], found: int) -> tuple[_Span, str]:
    """Return the block that a line opens; the first closing line ends it, whatever is between."""
    end = next((number for number in range(found + 1, len(lines)) if _is_comment(lines[number])), len(lines))
    if end < len(lines) and _CLOSE.fullmatch(lines[end]):
        return _Span(found, end + 1, "\n".join(lines[found : end + 1])), ""
    end = next((number for number in range(found + 1, end) if _is_border(lines[number], kinds[number])), end)
    while _is_blank(lines[end - 1]):
        end -= 1
    return _Span(found, end, "\n".join([*lines[found:end], CLOSE])), f"{OPEN} without {CLOSE}"


def _closed(lines: Sequence[str], kinds: Sequence[Line], found: int, floor: int) -> _Span:
    """Return the block that ends with a line though none opened it."""
    start = found
    while start > floor and not (_is_border(lines[start - 1], kinds[start - 1]) or _is_comment(lines[start - 1])):
        start -= 1
    while _is_blank(lines[start]):
        start += 1
    return _Span(start, found + 1, "\n".join([OPEN, *lines[start : found + 1]]))


def _is_border(line: str, kind: Line) -> bool:
    return (kind.kind == "heading" and kind.depth == 0) or bool(_OWN_COMMENT.fullmatch(line))


def _inline_problems(lines: Sequence[str], kinds: Sequence[Line]) -> list[str]:
    return [
        f"line {number}: {OPEN} and {CLOSE} count only on a line of their own"
        for number, (line, kind) in enumerate(zip(lines, kinds, strict=False), start=1)
        if kind.kind != "fence" and _INLINE.search(_CODE_SPAN.sub("", line))
    ]


def _sections(lines: Sequence[str], kinds: Sequence[Line]) -> list[_Section]:
    headings = list(_headings(lines, kinds))
    ends = [first for first, _, _ in headings] + [len(lines)]
    sections = [_Section((), 0, 0, ends[0])]
    path: tuple[Heading, ...] = ()
    seen: Counter[tuple[str, ...]] = Counter()
    for (_, start, heading), end in zip(headings, ends[1:], strict=True):
        path = (*(above for above in path if above.level < heading.level), heading)
        sections.append(_Section(path, seen[_words(path)], start, end))
        seen[_words(path)] += 1
    return sections


def _headings(lines: Sequence[str], kinds: Sequence[Line]) -> Iterator[tuple[int, int, Heading]]:
    """Yield each heading of the page itself with its first line and the line after its last."""
    first: int | None = None
    for number, line in enumerate(lines):
        if kinds[number].kind != "heading" or kinds[number].depth:
            continue
        hashes = _HEADING.fullmatch(line)
        first = number if first is None else first
        if hashes:
            yield number, number + 1, _heading(len(hashes[1]), hashes[2] or "")
            first = None
        elif number > first and (underline := _UNDERLINE.fullmatch(line)):
            yield first, number + 1, _heading(1 if underline[1][0] == "=" else 2, " ".join(lines[first:number]))
            first = None


def _heading(level: int, raw: str) -> Heading:
    symbols = read_title(read_inline(raw, 1).marked, 1).symbols
    sure = len(symbols) == 1 and is_sure(symbols[0], level)
    return Heading(level, " ".join(raw.split()).casefold(), symbols[0].name if sure else "")


def _words(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(heading.words for heading in path)


def _home(block: Block, sections: Sequence[_Section]) -> _Section | None:
    """Return the section that a block goes to, None where nothing of its own is left."""
    if not block.path:
        return sections[0]
    same = [one for one in sections if _words(one.path) == _words(block.path)]
    if same:
        return same[min(block.nth, len(same) - 1)]
    below = _below_title(block.path)
    if not below:  # A page's title may be worded anew.
        return next((one for one in sections if one.path and not _below_title(one.path)), None)
    alike = [one for one in sections if one.path and _identities(_below_title(one.path)) == _identities(below)]
    return alike[0] if alike else _symbol_home(block.path, sections)


def _symbol_home(path: Sequence[Heading], sections: Sequence[_Section]) -> _Section | None:
    """Return the section with the same headings below the same symbol, else the symbol's own."""
    name, below = _innermost_symbol(path)
    if not name:
        return None
    found = [(one, *_innermost_symbol(one.path)) for one in sections]
    of_symbol = [(one, under) for one, other, under in found if other and _is_same_name(name, other)]
    for wanted in (below, ()):
        for one, under in of_symbol:
            if under == wanted:
                return one
    return None


def _innermost_symbol(path: Sequence[Heading]) -> tuple[str, tuple[str, ...]]:
    """Return the name of the innermost symbol, with its class where a heading above names it, and what is below."""
    for index in range(len(path) - 1, -1, -1):
        name = path[index].symbol
        if name:
            owners = [above.symbol for above in path[:index] if above.symbol[:1].isupper()]
            return (f"{owners[-1]}.{name}" if owners and "." not in name else name), _words(path[index + 1 :])
    return "", ()


def _is_same_name(one: str, other: str) -> bool:
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _below_title(path: Sequence[Heading]) -> Sequence[Heading]:
    return path[1:] if path and path[0].level == 1 else path


def _identities(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(heading.symbol or heading.words for heading in path)


def _strip(layout: _Layout, gone: Sequence[_Span]) -> list[str]:
    """Return the lines without some blocks; of the blank lines around each one is left."""
    kept: list[str] = []
    position = 0
    for span in gone:
        kept += layout.lines[position : span.start]
        position = span.end
        above = not kept or _is_blank(kept[-1])
        while above and position < len(layout.lines) and _is_blank(layout.lines[position]):
            position += 1
        while kept and _is_blank(kept[-1]) and position == len(layout.lines):
            kept.pop()
    return kept + layout.lines[position:]


def _is_blank(line: str) -> bool:
    return not line.strip(" \t")


def _without_comments(text: str, blocks: Sequence[Block]) -> str:
    known = {block.text for block in blocks}
    layout = _read(text)
    while layout.spans:
        lines = _strip(layout, [span for span in layout.spans if span.text in known])
        rest = _read(_page(lines))
        gone = {number for span in rest.spans for number in range(span.start, span.end) if _is_comment(lines[number])}
        # Without them another line can turn out to be one of ours, which a fence had hidden.
        layout = _read(_page([line for number, line in enumerate(lines) if number not in gone]))
    first = next((number for number, line in enumerate(layout.lines) if not _is_blank(line)), len(layout.lines))
    last = next(
        (number for number in range(len(layout.lines), first, -1) if not _is_blank(layout.lines[number - 1])), first
    )
    return _page(layout.lines[first:last])


def _page(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _joined(lines: Sequence[str], places: Mapping[int, Sequence[Block]], homeless: Sequence[Block]) -> str:
    out: list[str] = []
    behind = False
    for number in range(len(lines) + 1):
        for block in places.get(number, ()):
            out = [*_with_gap(out), *block.text.split("\n")]
            behind = True
        for line in lines[number : number + 1]:
            if not (behind and _is_blank(line)):
                out = [*_with_gap(out), line] if behind else [*out, line]
                behind = False
    if homeless:
        out = [*_with_gap(out), f"## {HOMELESS_TITLE}"]
        for block in homeless:
            out += ["", *block.text.split("\n")]
    return _page(out)


def _with_gap(out: Sequence[str]) -> list[str]:
    """Return the lines with one blank line at their end, which is what is left around a block that goes elsewhere."""
    last = next((number for number in range(len(out), 0, -1) if not _is_blank(out[number - 1])), 0)
    return [*out[:last], ""] if last else []
