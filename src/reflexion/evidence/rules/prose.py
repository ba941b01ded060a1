"""Text rules: what is wrong with a document as text, whatever its source says.

``check_prose`` is total and fast: every rule is one pass over the lines. Errors are for what nobody would write on
purpose; where good documentation could look the same, the finding is a warning.
"""

import re
from collections.abc import Iterator
from functools import partial

from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules.bare_code import check_bare_code
from reflexion.evidence.rules.endings import check_ending
from reflexion.evidence.rules.page import Page, Paragraph, found, read_page
from reflexion.evidence.rules.prose_catalogue import (
    CHATTER,
    EMPTY,
    LEAK,
    TEXT_RULES,
    UNCLOSED_FENCE,
    VERDICT,
    WRAPPER,
)
from reflexion.evidence.rules.repetition import check_repetition
from reflexion.patterns import regex
from reflexion.text.chatter import is_lone_verdict, is_preamble, is_sign_off, is_verdict, is_verdict_json, sentences
from reflexion.text.clean import CONTENT_LENGTH, MARKDOWN, normalise, unwrap
from reflexion.text.data import DELIMITER, json_objects
from reflexion.text.thinking import thinking_tags

__all__ = ["TEXT_RULES", "check_prose"]

_CONTROL_TOKEN = regex(r"<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|<\uff5c[^\n>]{2,30}\uff5c>")
_ROLE_LINE = regex(r"(?:system|user|assistant|human)\s*:\s*$", re.IGNORECASE)
_PERSONA = regex(
    r"you are an? (?:\w+ ){0,3}(?:technical writer|documentation writer|assistant|critic|reviewer|adjudicator)\b",
    re.IGNORECASE,
)
_SCORED_ITEM = regex(r"[\s*_+-]*(?:technical[ _]accuracy|completeness)[*_\s]*:[*_\s]*\d{1,3}\b", re.IGNORECASE)
_TITLE = regex(r"\s{0,3}# +\S")
_FEW_WORDS = 5


def check_prose(document: str, source: str = "") -> list[Finding]:
    """Return what is wrong with ``document`` as text, in the order of its lines. No text raises.

    What looks like a delimiter of a prompt is none where ``source``, the text that the document is about, holds it.
    """
    page = read_page(document)
    if not any(line.strip() for line in page.lines):
        return [found(EMPTY, "error", 1, "The document is empty.", "", "Write the document.")]
    checks = (
        _chatter,
        _verdicts,
        check_repetition,
        _fences,
        check_ending,
        _emptiness,
        partial(_leaks, source),
        _wrapper,
        check_bare_code,
    )
    findings = {finding: None for check in checks for finding in check(page)}
    return sorted(findings, key=lambda finding: (finding.line, finding.rule))


def _chatter(page: Page) -> Iterator[Finding]:
    for paragraph in page.paragraphs:
        first = paragraph.line == page.first
        last = paragraph.end_line == page.last
        parts = sentences(paragraph.text)
        talk = _talk(parts, first=first, last=last)
        if talk is None:
            continue
        long = first and not last and len(paragraph.text) >= CONTENT_LENGTH
        level: Level = "error" if (first or last) and not long else "warning"
        message = f'The document speaks to the person who asked for it: "{_short(talk)}".'
        yield found(CHATTER, level, paragraph.line_of(talk), message, talk, "Remove this sentence.")


def _talk(parts: list[str], *, first: bool, last: bool) -> str | None:
    if first and parts and is_preamble(parts[0]) and not is_verdict(parts[0]):
        return parts[0].strip()
    if last and parts and is_sign_off(parts[-1]):
        return parts[-1].strip()
    whole = bool(parts) and all(is_sign_off(part) for part in parts)
    return parts[0].strip() if whole and not first and not last else None


def _verdicts(page: Page) -> Iterator[Finding]:
    for paragraph in page.paragraphs:
        yield from _paragraph_verdict(page, paragraph)
    for number, text in page.items:
        if _SCORED_ITEM.match(text):
            yield _verdict("error", number, text)
    for fence in page.fences:
        if _has_verdict_json(fence.content):
            yield _verdict("warning", fence.start_line, fence.content)


def _paragraph_verdict(page: Page, paragraph: Paragraph) -> Iterator[Finding]:
    at_edge = paragraph.line == page.first or paragraph.end_line == page.last
    level: Level = "error" if at_edge else "warning"
    if is_lone_verdict(paragraph.text):
        yield _verdict(level, paragraph.line, paragraph.text)
        return
    if "technical_accuracy" in paragraph.text and _has_verdict_json(paragraph.text):
        yield _verdict("error", paragraph.line, paragraph.text)
        return
    for offset, row in enumerate(paragraph.text.split("\n")):
        if is_verdict(row):
            yield _verdict(level, paragraph.line + offset, row)
    last = sentences(paragraph.text)[-1:]
    if paragraph.end_line == page.last and last and is_verdict(last[0]) and last[0].strip() not in paragraph.rows:
        yield _verdict(level, paragraph.line_of(last[0].strip()), last[0])


def _verdict(level: Level, line: int, text: str) -> Finding:
    message = f'A review of the document was left in it: "{_short(text)}".'
    return found(VERDICT, level, line, message, text.strip(), "Remove it; the document is about the code only.")


def _has_verdict_json(text: str) -> bool:
    return any("technical_accuracy" in item and is_verdict_json(item) for item in json_objects(text))


def _fences(page: Page) -> Iterator[Finding]:
    for fence in page.fences:
        if fence.closed:
            continue
        opening = page.lines[fence.start_line - 1].strip()
        to_the_end = fence.end_line >= page.last
        where = "the end of the document" if to_the_end else "the end of the list item or quote around it"
        message = f"The code block that opens with {opening[:40]} is closed by nothing but {where}."
        level: Level = "error" if to_the_end else "warning"
        yield found(UNCLOSED_FENCE, level, fence.start_line, message, opening, "Close it where the code ends.")


def _emptiness(page: Page) -> Iterator[Finding]:
    headings = [line for line in page.kinds if line == "heading"]
    rows = zip(page.lines, page.kinds, strict=True)
    body = " ".join(text for text, kind in rows if kind != "heading" and not text.lstrip().startswith("<!--"))
    if headings and len(body.split()) < _FEW_WORDS:
        message = "The document has headings and next to nothing below them."
        yield found(EMPTY, "error", page.first, message, body.strip(), "Write what the headings announce.")
    elif not headings:
        message = "The document has no heading."
        yield found(EMPTY, "warning", page.first, message, page.lines[page.first - 1], "Begin with a title.")


# What a writer is told between two rounds; small models hand it back as if it were the page.
_ECHO = regex(
    r"\bthe (?:document|page) has no place for the\b|\bThe score is \d+(?: of 100)?; \d+(?: of 100)? is needed|"
    r"\bCorrect this one thing in your page\b|\bAnswer with the (?:whole )?(?:corrected )?Markdown page alone\b|"
    r"\bYour best page so far is this\b",
    re.IGNORECASE,
)


def _leaks(source: str, page: Page) -> Iterator[Finding]:
    for tag in thinking_tags(page.text):
        line = page.text.count("\n", 0, tag.start()) + 1
        message = f"A thinking tag stands in the text: {tag[0]}."
        yield found(LEAK, "error", line, message, page.lines[line - 1], "Remove the tag and the thinking with it.")
    for number, (text, kind) in enumerate(zip(page.prose, page.kinds, strict=True), start=1):
        if kind in ("fence", "code", "blank"):
            continue
        leak = _delimiter(text, source) or _CONTROL_TOKEN.search(text) or _ECHO.search(text)
        if leak:
            message = f"A piece of the prompt stands in the text: {leak[0][:60]}."
            yield found(LEAK, "error", number, message, text, "Remove the line.")
        elif _ROLE_LINE.match(text) or _PERSONA.match(text):
            message = f'This line looks like part of a prompt: "{_short(text)}".'
            yield found(LEAK, "warning", number, message, text, "Remove the line, if it is not about the code.")


def _delimiter(text: str, source: str) -> re.Match[str] | None:
    return next((found for found in DELIMITER.finditer(text) if found[0] not in source), None)


def _wrapper(page: Page) -> Iterator[Finding]:
    if not page.fences:
        return
    normal = normalise(page.text)
    outer = page.fences[0]
    tagged = outer.language in MARKDOWN and _TITLE.match(outer.content.lstrip("\n")) is not None
    most = 2 * (outer.end_line - outer.start_line) > len(page.lines)
    if unwrap(normal) != normal or (tagged and most and "heading" not in page.kinds):
        message = "The whole page stands inside a code fence."
        evidence = page.lines[outer.start_line - 1].strip()
        yield found(WRAPPER, "error", outer.start_line, message, evidence, "Remove the fence round the page.")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
