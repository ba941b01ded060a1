"""The post-processor for a Markdown document: what a model put around the page goes, the page stays."""

from reflexion.patterns import regex
from reflexion.text.blocks import Blocks, Line, closes, fences, language_of, scan
from reflexion.text.chatter import is_lone_verdict, is_preamble, is_sign_off, is_verdict, is_verdict_json, sentences
from reflexion.text.empties import without_empty_blocks
from reflexion.text.thinking import strip_thinking

# A first paragraph of this many characters is content, whatever it begins with.
CONTENT_LENGTH = 200

# More layers than this (wrappers in wrappers, chatter between them) is nothing that a model writes.
_MOST_PASSES = 8
MARKDOWN = frozenset({"markdown", "md", "mdown", "mkd", "gfm", "commonmark"})
_OPENER = regex(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_TITLE = regex(r" {0,3}# +\S")
_SECTION = regex(r" {0,3}##+ +\S")


def clean_markdown(reply: str) -> str:
    """Return the document in a model's reply: LF line ends, no wrapper, thinking, chatter or verdict round it.

    Only the very start and the very end are ever cut, and never a heading, list, table or fence; what goes anywhere
    are fences and paragraphs with nothing in them. Twice is the same as once; no text raises. What holds nothing but
    chatter gives "".
    """
    normal = normalise(reply)
    text = normal
    for _ in range(_MOST_PASSES):
        shorter = _pass(text)
        if shorter == text:
            return text
        text = shorter
    return normal


def normalise(text: str) -> str:
    """LF line ends, no byte order mark, NUL or lone surrogate, no blank lines at the ends, one newline at the end."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    plain = plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = plain.lstrip("\ufeff").split("\n")
    start, end = 0, len(lines)
    while start < end and not lines[start].strip("\ufeff \t\v\f"):
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    kept = "\n".join(lines[start:end]).removeprefix("\ufeff")
    return f"{kept}\n" if kept else ""


def unwrap(text: str) -> str:
    """Take the page out of a Markdown fence round the whole of it; anything else comes back unchanged."""
    if not fences(text):
        return text
    blocks = scan(text)
    first = blocks.fences[0].start_line - 1
    opener = _OPENER.match(blocks.source[first])
    if opener is None or any(line.kind not in ("blank", "text") or line.depth for line in blocks.lines[:first]):
        return text
    last = _last_closer(blocks.source, first, opener[1])
    if last is None or not _only_chatter_round(blocks.source, first, last, opener[2]):
        return text
    inside = blocks.source[first + 1 : last]
    if not _is_page(inside, opener[2]) or not _balances(inside) or not _reads_as_wrapper(blocks, last):
        return text
    return normalise("\n".join(inside))


def _pass(text: str) -> str:
    text = normalise(strip_thinking(text))
    text = unwrap(text)
    text = normalise(strip_head(text))
    text = normalise(strip_tail(text))
    return normalise(without_empty_blocks(text))


def strip_head(text: str) -> str:
    """Remove announcements and verdicts from the start, up to the first block that is not a paragraph."""
    blocks = scan(text)
    source, lines = blocks.source, blocks.lines
    start = 0
    while start < len(lines):
        if lines[start].kind == "blank":
            start += 1
            continue
        end = _paragraph_end(lines, start)
        paragraph = "\n".join(source[start:end])
        if end == start or len(paragraph) >= CONTENT_LENGTH:
            break
        kept = "" if is_lone_verdict(paragraph) else _without_preamble(paragraph)
        if kept:
            return "\n".join([kept, *source[end:]])
        start = _after_rule(blocks, end)
    return "\n".join(source[start:])


def strip_tail(text: str) -> str:
    """Remove sign-offs and verdicts from the end, down to the last block that is not a paragraph."""
    blocks = scan(text)
    source, lines = list(blocks.source), blocks.lines
    while source:
        _drop_blank_end(source)
        size = len(source)
        _drop_json_verdict(source, lines)
        start = len(source)
        while start and _is_loose(source[start - 1], lines[start - 1]):
            start -= 1
        kept = _without_sign_off("\n".join(source[start:]))
        if kept:
            return "\n".join([*source[:start], kept])
        del source[start:]
        if len(source) == size:
            break
        _drop_rule_end(source, lines)
    return "\n".join(source)


def _without_preamble(paragraph: str) -> str:
    parts = sentences(paragraph)
    index = 0
    while index < len(parts) and is_preamble(parts[index]):
        index += 1
    return "".join(parts[index:])


def _without_sign_off(paragraph: str) -> str:
    if is_lone_verdict(paragraph):
        return ""
    rows = paragraph.split("\n")
    while rows and is_lone_verdict(rows[-1]):
        rows.pop()
    left = "\n".join(rows)
    parts = sentences(left)
    while parts and (is_sign_off(parts[-1]) or is_verdict(parts[-1])):
        parts.pop()
    kept = "".join(parts)
    return kept if kept == paragraph else kept.rstrip()


def _paragraph_end(lines: list[Line], start: int) -> int:
    end = start
    while end < len(lines) and lines[end].kind == "text" and not lines[end].depth:
        end += 1
    return end


def _after_rule(blocks: Blocks, start: int) -> int:
    """Pass a thematic break that set the chatter apart; one that opens front matter has its keys right below it."""
    at = start
    while at < len(blocks.lines) and blocks.lines[at].kind == "blank":
        at += 1
    if at + 1 >= len(blocks.lines) or blocks.lines[at].kind != "rule":
        return start
    below = blocks.source[at + 1]
    return at + 1 if not below.strip() or below.startswith("#") else start


def _is_loose(source: str, line: Line) -> bool:
    """Whether a line can be a sign-off: paragraph text at the margin, also one that a list or table swallows."""
    swallowed = line.kind == "table" and "|" not in source
    return (line.kind == "text" or swallowed) and not line.opens and source[0] not in " \t>"


def _drop_blank_end(source: list[str]) -> None:
    while source and not source[-1].strip():
        source.pop()


def _drop_rule_end(source: list[str], lines: list[Line]) -> None:
    _drop_blank_end(source)
    if source and lines[len(source) - 1].kind == "rule":
        source.pop()


def _drop_json_verdict(source: list[str], lines: list[Line]) -> None:
    """Drop a verdict object that ends the text outside of code."""
    if not source or not source[-1].rstrip().endswith("}"):
        return
    for start in range(len(source) - 1, max(-1, len(source) - 60), -1):
        if lines[start].kind not in ("text", "code", "blank"):
            return
        if source[start].startswith("{"):
            if is_verdict_json("\n".join(source[start:]).strip()):
                del source[start:]
                _drop_blank_end(source)
            return


def _last_closer(source: list[str], first: int, mark: str) -> int | None:
    later = range(len(source) - 1, first, -1)
    return next((index for index in later if closes(mark, source[index])), None)


def _only_chatter_round(source: list[str], first: int, last: int, info: str) -> bool:
    if strip_tail("\n".join(source[last + 1 :])).strip():
        return False
    head = "\n".join(source[:first])
    if not strip_head(head).strip():
        return True
    # A short line that ends with a colon introduces the page, in whatever words.
    short = all(len(paragraph) < CONTENT_LENGTH for paragraph in head.split("\n\n"))
    return short and head.rstrip().endswith(":") and language_of(info) in MARKDOWN


def _is_page(inside: list[str], info: str) -> bool:
    """Whether the content of the outer fence is a page: it says so, or it has a title and sections."""
    if info.strip():
        return language_of(info) in MARKDOWN and any(line.strip() for line in inside)
    title = next((line for line in inside if line.strip()), "")
    return _TITLE.match(title) is not None and any(_SECTION.match(line) or _OPENER.match(line) for line in inside)


def _balances(inside: list[str]) -> bool:
    return all(fence.closed for fence in scan("\n".join(inside)).fences) or _nests(inside)


def _nests(inside: list[str]) -> bool:
    """Whether fences of one length pair up when those with an info string open and bare ones close."""
    depth = 0
    for line in inside:
        opener = _OPENER.match(line)
        if opener is not None:
            depth += 1 if opener[2].strip() or not depth else -1
    return depth == 0


def _reads_as_wrapper(blocks: Blocks, last: int) -> bool:
    """Whether the first fence is meant to reach to ``last``, where an inner one of the same length hides it.

    By CommonMark it ends at the first bare fence. That reading is broken when it leaves a fence open or an opening
    line inside a block; when neither is so, blank lines round the bare fences tell openers from closers.
    """
    outer = blocks.fences[0]
    if outer.end_line - 1 >= last:
        return True
    for fence in blocks.fences:
        inner = (_OPENER.match(line) for line in fence.content.split("\n"))
        if not fence.closed or any(opener and opener[2].strip() for opener in inner):
            return True
    bare = [index for index in range(outer.start_line, last) if _is_bare(blocks.source[index])]
    votes = sum(_opens_rather(blocks.source, index) * (1 if turn % 2 == 0 else -1) for turn, index in enumerate(bare))
    return votes > 0


def _is_bare(line: str) -> bool:
    opener = _OPENER.match(line)
    return opener is not None and not opener[2].strip()


def _opens_rather(source: list[str], index: int) -> int:
    blank_before, blank_after = not source[index - 1].strip(), not source[index + 1].strip()
    return int(blank_before) - int(blank_after)
