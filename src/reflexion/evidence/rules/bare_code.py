"""T009: Python definitions that stand in the text as if they were sentences."""

from collections.abc import Iterator, Sequence

from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.page import Page, found
from reflexion.evidence.rules.prose_catalogue import BARE_CODE
from reflexion.patterns import regex

_HEADER = regex(r"\s*(?:(?:async\s+)?def\s+\w+\s*\(.*|class\s+\w+\s*(?:\([^()]*\)\s*)?):\s*(?:#.*)?$")
_IN_ONE_LINE = regex(r"\s*(?:async\s+)?def\s+\w+\s*\(.*\)[^:]*:\s*(?:return\b|pass\b|raise\b|\.\.\.)")
_BODY = regex(
    r"\s*(?:[rRbBuUfF]{0,2}(?:\"\"\"|''')|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:]|@\w"
    r"|(?:return|pass|raise|yield|global|nonlocal|del|assert|await|break|continue)\b|import\s+\w|from\s+[\w.]+\s+import\b"
    r"|\w+(?:\.\w+|\[[^\]]*\])*\s*(?::[^=]+)?(?:[-+*/|&%]|//|\*\*)?=[^=]|(?:\w+\.)*\w+\(.*\)\s*(?:#.*)?$|\.\.\.\s*$"
    r"|(?:if|elif|else|for|while|try|with|except|finally)\b.*:\s*(?:#.*)?$)"
)


def check_bare_code(page: Page) -> Iterator[Finding]:
    """Yield a finding for every run of code that begins with a definition outside of a code block."""
    rows = [(paragraph.line + place, row) for paragraph in page.paragraphs for place, row in enumerate(paragraph.rows)]
    last = 0
    for number, row in rows:
        if number <= last or not is_definition(page.lines, number):
            continue
        last = end_of_code(page.lines, number)
        message = f"Code stands in the text, outside of a code block: {row.strip()[:60]}"
        yield found(BARE_CODE, "error", number, message, row, "Put it into a code block, or remove it.")


def is_definition(lines: Sequence[str], number: int) -> bool:
    """Return whether line ``number``, from 1, begins a definition: what follows it, or ends it, is its body.

    What is indented is left alone: reStructuredText has its code blocks so, and Markdown those of four blanks.
    """
    row = lines[number - 1]
    if _indent(row):
        return False
    if _IN_ONE_LINE.match(row):
        return True
    following = next((line for line in lines[number:] if line.strip()), "")
    has_body = _BODY.match(following) is not None or following.lstrip().startswith("#")
    return _HEADER.match(row) is not None and _indent(following) > 0 and has_body


def end_of_code(lines: Sequence[str], number: int) -> int:
    """Return the last line of the code that begins with line ``number``: what is indented, blank, or reads as code."""
    last = number
    for place in range(number + 1, len(lines) + 1):
        row = lines[place - 1]
        if row.strip() and not (_indent(row) > _indent(lines[number - 1]) or _reads_as_code(row)):
            break
        last = place if row.strip() else last
    return last


def _reads_as_code(row: str) -> bool:
    return _BODY.match(row) is not None or _HEADER.match(row) is not None


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())
