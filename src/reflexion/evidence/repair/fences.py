"""Fences that nobody closed, and fences round the whole page."""

import ast
import re
import textwrap
from collections.abc import Iterator

from reflexion.evidence.finding import Finding
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.repair.remove import cut
from reflexion.evidence.repair.swap import quoted
from reflexion.evidence.rules.bare_code import end_of_code
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.syntax import parse_module
from reflexion.text.clean import unwrap

_MARK = re.compile(r"^(?P<lead>\s*(?:>\s?)*(?:[-*+]\s+)?)(?P<mark>`{3,}|~{3,})\s*(?P<info>\S*)")
_MARKDOWN = re.compile(
    r"#{2,6}\s|\*\*[^*]+\*\*|\|.*\||[-*+]\s+(?:`|\*\*)|:\w+[^:]*:|---\s*$|<!--|"
    r"(?:[A-Z`]|\*)[^=;]*\s[^=;]*[.:]$"
)
_MOST_PLACES = 40


def closings(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """A closing mark for the fence at the finding's line: where its code ends, else at each later blank line.

    A mark with nothing after it goes.
    """
    opening = _MARK.match(sheet.row(finding.line))
    if opening is None:
        return
    if not opening["info"] and not any(map(str.strip, sheet.lines[finding.line :])):
        yield cut(sheet, finding.line, finding.line)
    margin = re.sub(r"[^\s>]", " ", opening["lead"])
    mark = f"{margin}{opening['mark']}"
    for line in dict.fromkeys(_places(sheet, finding.line, opening["info"].lower())):
        at = min(sheet.end(line), len(sheet.text.rstrip("\n")))
        gap = "\n" if sheet.row(line + 1).strip() else ""
        yield Edit((Change(at, at, f"\n{mark}{gap}"),), f"the code block is closed after line {line}")


def fenced(sheet: Sheet, finding: Finding) -> Iterator[Edit]:
    """Code that stands in the text put into a fence, where it is Python; else taken out with what belongs to it."""
    first, last = finding.line, end_of_code(sheet.lines, finding.line)
    code = sheet.text[sheet.start(first) : sheet.end(last)]
    if parse_module(textwrap.dedent(code)) is not None:
        gap = "" if first == 1 or sheet.is_blank(first - 1) else "\n"
        opening = Change(sheet.start(first), sheet.start(first), f"{gap}```python\n")
        closing = Change(sheet.end(last), sheet.end(last), "\n```")
        yield Edit((opening, closing), f"{quoted(code)} is in a code block", uncovers=True)
    yield cut(sheet, first, last)


def _places(sheet: Sheet, opening: int, language: str) -> Iterator[int]:
    """Last lines of the code, the likeliest first."""
    last = sheet.last_line
    ends = [line for line in range(opening + 1, last + 1) if _ends_code(sheet, line, last)]
    if language in {"", "python", "py", "python3"}:
        yield from (line for line in ends[:_MOST_PLACES] if _parses(sheet, opening, line))
    yield from ends[:_MOST_PLACES]
    yield last


def _ends_code(sheet: Sheet, line: int, last: int) -> bool:
    """Whether code may end with this line: what comes next reads as Markdown."""
    following = line + 1
    while following <= last and sheet.is_blank(following):
        following += 1
    if sheet.is_blank(line) or following > last:
        return line == last
    return _MARKDOWN.match(sheet.row(following).lstrip(" >")) is not None


def _parses(sheet: Sheet, opening: int, last: int) -> bool:
    text = textwrap.dedent("\n".join(sheet.lines[opening:last]))
    if text.lstrip().startswith((">>>", "$")):
        return True
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(text.strip())


def unwrapped(sheet: Sheet) -> Iterator[Edit]:
    """The page without the fence around it."""
    text = unwrap(sheet.text)
    if text != sheet.text:
        yield Edit((Change(0, len(sheet.text), text.rstrip("\n") + "\n"),), "the fence round the page is gone")
    marks = [line for line in range(1, len(sheet.lines) + 1) if _MARK.match(sheet.row(line))]
    if len(marks) > 1:
        ends = (marks[0], marks[-1])
        changes = tuple(Change(sheet.start(line), sheet.start(line + 1), "") for line in ends)
        yield Edit(changes, "the fence round the page is gone")
