"""T003: text that repeats itself without end."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise

from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules.page import Page, found
from reflexion.evidence.rules.prose_catalogue import REPETITION
from reflexion.patterns import regex

# The shortest unit that comes 16 times in a row. It must hold a letter, digit or slash: rulers are not loops.
_LOOP = regex(r"(?=([^\n]{2,60}?)\1{15})")
_LONG_RUN = regex(r"([A-Za-z0-9/])\1{79,}")
_WORDLESS = regex(r"[\W_]+")
_WORD = regex(r"[\w./-]+")

_LINES_IN_A_ROW = 4
_CODE_LINES_IN_A_ROW = (20, 50)
_COPIES = 2
_LEAST_SECTION = 80
_TITLES = 3
_FEWEST_LINES = 16
_FEWEST_WORDS = 150
_SHARE_OF_DISTINCT = 0.2
_FIX = "Say it once, and go on with what is not documented yet."


def check_repetition(page: Page) -> Iterator[Finding]:
    """Yield one finding for each kind of repetition, at its first line."""
    for check in (_rows_in_a_row, _loop_in_a_line, _sections, _titles, _few_lines, _few_words):
        finding = check(page)
        if finding is not None:
            yield finding


def _rows_in_a_row(page: Page) -> Finding | None:
    rows = [(number, line) for number, line in enumerate(page.lines, start=1) if line.strip()]
    for key, group in groupby(rows, lambda row: (row[1].strip(), page.kind_at(row[0]) in ("fence", "code"))):
        run = list(group)
        level = _level_of_run(key[0], len(run), in_code=key[1])
        if level is not None:
            message = f'The same line stands here {len(run)} times in a row: "{key[0][:60]}".'
            return found(REPETITION, level, run[0][0], message, key[0], _FIX)
    return None


def _level_of_run(line: str, times: int, *, in_code: bool) -> Level | None:
    if not _has_words(line):
        return None
    warn, error = _CODE_LINES_IN_A_ROW if in_code else (_LINES_IN_A_ROW, _LINES_IN_A_ROW)
    if times < warn:
        return None
    return "error" if times >= error else "warning"


def _loop_in_a_line(page: Page) -> Finding | None:
    for number, text in enumerate(page.prose, start=1):
        if len(text) < 32 or page.kind_at(number) in ("fence", "code", "html"):
            continue
        unit = _unit_of_loop(text)
        if unit is not None:
            message = f'The same piece of text comes many times in a row here: "{unit.strip()[:60]}".'
            return found(REPETITION, "error", number, message, text, _FIX)
    return None


def _unit_of_loop(text: str) -> str | None:
    run = _LONG_RUN.search(text)
    if run is not None:
        return run[1]
    for match in _LOOP.finditer(text):
        if _has_words(match[1]) and len(set(match[1])) > 1:
            return match[1]
    return None


def _has_words(text: str) -> bool:
    return "/" in text or any(character.isalnum() for character in text)


def _sections(page: Page) -> Finding | None:
    """Find a document whose sections are mostly copies; a few equal ones (known issues, flags) are no loop."""
    first_at: dict[tuple[str, str], int] = {}
    copies: list[tuple[int, str]] = []
    total = 0
    starts = [number for number, kind in enumerate(page.kinds, start=1) if kind == "heading"]
    for start, end in pairwise([*starts, len(page.lines) + 1]):
        body = "\n".join(line.strip() for line in page.lines[start : end - 1] if line.strip())
        if len(body) < _LEAST_SECTION:
            continue
        total += 1
        key = (page.lines[start - 1].strip(), body)
        if first_at.setdefault(key, start) != start:
            copies.append((start, key[0]))
    if len(copies) < _COPIES or 2 * len(copies) < total:
        return None
    line, heading = copies[0]
    message = f"Of {total} sections {len(copies)} are copies of earlier ones, word for word."
    return found(REPETITION, "error", line, message, heading, _FIX)


def _titles(page: Page) -> Finding | None:
    titles: Counter[str] = Counter()
    for number, (line, kind) in enumerate(zip(page.lines, page.kinds, strict=True), start=1):
        if kind != "heading" or not line.startswith("# "):
            continue
        titles[line.strip()] += 1
        if titles[line.strip()] == _TITLES:
            message = f'The title "{line[2:].strip()[:60]}" stands here for the third time.'
            return found(REPETITION, "error", number, message, line, _FIX)
    return None


def _few_lines(page: Page) -> Finding | None:
    """Find loops of several lines: many long lines of text, few different ones."""
    rows = [page.lines[number - 1].strip() for number in _counted(page)]
    rows = [row for row in rows if len(row) >= 20]
    distinct = set(rows)
    if len(rows) < _FEWEST_LINES or len(distinct) > len(rows) * _SHARE_OF_DISTINCT:
        return None
    message = f"The text has {len(rows)} lines, of which only {len(distinct)} differ."
    common = Counter(rows).most_common(1)[0][0]
    return found(REPETITION, "error", page.line_with(common), message, common, _FIX)


def _counted(page: Page) -> Iterator[int]:
    """Yield the lines of text, but for what stands under another heading before: functions have much in common."""
    heading, said = "", dict[str, set[str]]()
    for number, (line, kind) in enumerate(zip(page.lines, page.kinds, strict=True), start=1):
        row = line.strip()
        if kind == "heading":
            heading = row
        elif kind == "text":
            headings = said.setdefault(row, set())
            if not headings or heading in headings:
                yield number
            headings.add(heading)


def _few_words(page: Page) -> Finding | None:
    words = [word.lower() for number in _counted(page) for word in _WORD.findall(page.prose[number - 1])]
    if len(words) < _FEWEST_WORDS or len(set(words)) > max(4, len(words) // 25):
        return None
    message = f"The text has {len(words)} words, of which only {len(set(words))} differ."
    return found(REPETITION, "error", page.first, message, " ".join(words[:30]), _FIX)
