"""T005: text that ends in the middle of something."""

import re
from collections.abc import Iterator

from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules.page import Page, found
from reflexion.evidence.rules.prose_catalogue import TRUNCATED
from reflexion.patterns import regex

_DANGLING = regex(
    r"(?:^|[\s(])(?:the|an|and|or|of|to|with|for|from|by|that|which|whose|when|if|as|into|than|because|their|its|is|"
    r"are|was|were|will|be|a)$",
    re.IGNORECASE,
)
# Cut off after "This function does not", unless it answers to a condition: "False if it does not".
_DENYING = regex(
    r"^(?!.*\b(?:if|when|whether|where|wh\w+|that|those|unless|or|but)\b).*\b(?:does|do|will|must|can)\s+not$",
    re.IGNORECASE,
)
_OPEN_QUOTE = regex(r"(?:^|[\s(])\"(?=\w)[^\"]*$")
_EMPTY_ITEM = regex(r"[\s>]*(?:[-+*]|\d{1,9}[.)])\s*$")
_TERMINAL = regex(r"[.!?…。\uff01\uff1f][*_\"')\]\u201d\u2019`]*$")
_SENTENCE = regex(r"(?<=[.!?])\s+")
_PLAIN_WORDS = 6
_FIX = "Finish what begins here, or remove it."


def check_ending(page: Page) -> Iterator[Finding]:
    """Yield a finding if the document stops before its text is at an end."""
    comment = _open_comment(page)
    if comment:
        message = "An HTML comment is never closed, so everything after it is hidden."
        yield found(TRUNCATED, "error", comment, message, page.lines[comment - 1], "Close the comment.")
    kind = page.kind_at(page.last)
    if kind == "table":
        ending = _table_ending(page)
    elif kind in ("text", "heading", "blank"):
        ending = _text_ending(page, kind)
    else:
        return
    if ending is not None:
        level, what = ending
        line = page.lines[page.last - 1]
        yield found(TRUNCATED, level, page.last, f"The document ends {what}.", line, _FIX)


def _text_ending(page: Page, kind: str) -> tuple[Level, str] | None:
    line = page.lines[page.last - 1]
    if _EMPTY_ITEM.match(line) and page.layout[page.last - 1].opens:
        return "error", "with a list marker that has no item"
    if kind == "heading":
        cut = _open_construct(page.prose[page.last - 1])
        return cut or ("warning", "with a heading that has no text below it")
    if _TERMINAL.search(line.rstrip()):
        return None
    return _open_construct(_last_prose(page)) or _open_sentence(
        line.rstrip(), listed=page.layout[page.last - 1].depth > 0
    )


def _open_construct(prose: str) -> tuple[Level, str] | None:
    if "`" in prose:
        return "error", "inside inline code"
    for opening, closing in ("()", "[]"):
        if prose.count(opening) > prose.count(closing) and prose.rfind(opening) > prose.rfind(closing):
            return "error", f'inside a bracket that opens with "{opening}"'
    if prose.count('"') % 2 and _OPEN_QUOTE.search(prose):
        return "error", "inside a quotation"
    return None


def _open_sentence(line: str, *, listed: bool) -> tuple[Level, str] | None:
    if (_DANGLING.search(line) or _DENYING.search(_SENTENCE.split(line)[-1])) and len(line.split()) > 1:
        return "error", f'with the word "{line.split()[-1]}"'
    if line.endswith((",", ";", ":")):
        return "warning", f'with "{line[-1]}"'
    if not listed and len(line.split()) >= _PLAIN_WORDS and line[-1].isalnum():
        return "warning", "without a full stop"
    return None


def _table_ending(page: Page) -> tuple[Level, str] | None:
    row = page.lines[page.last - 1].strip()
    start = page.last
    while start > 1 and page.kind_at(start - 1) == "table":
        start -= 1
    header = page.lines[start - 1].strip()
    framed = header.startswith("|") and header.endswith("|")
    if framed and row.startswith("|") and (not row.endswith("|") or len(row) == 1):
        return "error", "in the middle of a table row"
    if framed and row.count("|") < header.count("|"):
        return "warning", "with a table row that has fewer cells than the header"
    return None


def _last_prose(page: Page) -> str:
    """Return the last paragraph with its inline code blanked out: a backtick that is left opens nothing."""
    start = page.last
    while start > 1 and not page.layout[start - 1].opens and page.kind_at(start - 1) == "text":
        start -= 1
    return "\n".join(page.prose[start - 1 : page.last])


def _open_comment(page: Page) -> int | None:
    """Return the line of the last HTML comment that nothing closes, if the text ends inside it."""
    for number in range(len(page.lines), 0, -1):
        if page.kind_at(number) != "html":
            if page.lines[number - 1].strip():
                return None
            continue
        line = page.lines[number - 1]
        if "-->" in line[line.rfind("<!--") + 1 :]:
            return None
        if line.lstrip().startswith("<!--"):
            return number
    return None
