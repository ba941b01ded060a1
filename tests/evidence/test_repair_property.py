"""What holds of repair whatever the page: true at the end, settled at once, and nothing moves without a finding."""

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.truth import ALL_MUTATORS, corpus_pages
from benchmarks.truth_mutations import Mutant
from benchmarks.truth_pages import Page
from reflexion.evidence.document import read_claims
from reflexion.evidence.finding import Finding
from reflexion.evidence.sheet import Sheet
from reflexion.evidence.verify import verify
from tests.evidence.repair_support import corpus_facts, errors, repaired

PAGES = list(corpus_pages())
FACTS = {page.name: corpus_facts(page.name) for page in PAGES}
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)


@st.composite
def _faulty(draw: st.DrawFn) -> Mutant:
    """A true page with one planted error."""
    dice = random.Random(draw(st.integers(0, 10_000)))
    while True:
        page, mutator = dice.choice(PAGES), dice.choice(ALL_MUTATORS)
        faults = [one for one in mutator(page) if one.level == "error"]
        if faults:
            return dice.choice(faults)


@st.composite
def _mangled(draw: st.DrawFn) -> tuple[str, str]:
    """The name of a source, and lines of its page in a wild order: left out, repeated, torn from their sections."""
    page = draw(st.sampled_from(PAGES))
    order = draw(st.lists(st.integers(0, len(page.lines) - 1), max_size=50))
    return page.name, "\n".join(page.lines[place] for place in order)


def _may_change(text: str, findings: list[Finding]) -> set[int]:
    """Lines (from 1) of the blocks that hold an error.

    A block is one of ``Claims.blocks``: a heading, a paragraph, an item with all below it, a row, a whole table, a
    fence. Where a heading names what the source does not have (S102), or the error is in a heading, its whole section
    is the block, up to the next heading of its level or above. Where a kind or the keys of a result are wrong (P206,
    R402), the paragraph, list or table right below, which tells of them, belongs to the block. What would be left
    with nothing below it, a heading or a line that only announces, belongs to what it announces.
    """
    sheet = Sheet(text, None)
    lines = {finding.line for finding in findings}
    for block in read_claims(text).blocks:
        if any(block.line <= finding.line <= block.end_line for finding in findings):
            lines |= set(range(block.line, block.end_line + 1))
    for section in sheet.sections:
        if any(finding.line == section.line for finding in findings):
            lines |= set(range(section.line, section.end_line + 1))
    lines |= _told_below(sheet, findings)
    return lines | _announcements(sheet, lines)


def _told_below(sheet: Sheet, findings: list[Finding]) -> set[int]:
    below = [sheet.below(finding.line) for finding in findings if finding.rule in {"P206", "R402"}]
    return {line for span in below if span for line in range(span[0], span[1] + 1)}


def _announcements(sheet: Sheet, lines: set[int]) -> set[int]:
    """Headings and lines of few words above lines that may go."""
    found: set[int] = set()
    for line in sorted(lines, reverse=True):
        above = line - 1
        while above > 0 and (sheet.is_blank(above) or above in lines | found):
            above -= 1
        row = sheet.row(above).rstrip("*_ ")
        if row.startswith("#") or row.endswith(":") or len(row.split()) < 3:
            found.add(above)
    return found


def _is_subsequence(wanted: list[str], rows: list[str]) -> str | None:
    """The first of the wanted rows that does not come in its turn; None where all do."""
    rest = iter(rows)
    return next((row for row in wanted if row not in rest), None)


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(_faulty())
def test_no_line_without_a_finding_is_touched(fault: Mutant) -> None:
    facts = FACTS[fault.page]
    found = repaired(fault.text, facts)
    free = _may_change(fault.text, errors(verify(fault.text, facts)))
    rows = fault.text.split("\n")
    wanted = [row for line, row in enumerate(rows, 1) if row.strip() and line not in free]
    assert _is_subsequence(wanted, found.text.split("\n")) is None, (fault.kind, fault.page, found.mended)


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
@given(_faulty(), st.booleans())
def test_a_repaired_page_is_true_and_repair_has_nothing_left_to_do(fault: Mutant, dos: bool) -> None:
    facts = FACTS[fault.page]
    once = repaired(fault.text.replace("\n", "\r\n") if dos else fault.text, facts)
    assert errors(verify(once.text, facts)) == []
    twice = repaired(once.text, facts)
    assert twice.text == once.text
    assert twice.mended == ()


@settings(max_examples=12, deadline=None, suppress_health_check=SLOW)
@given(_mangled())
def test_any_page_of_a_source_ends_true(mangled: tuple[str, str]) -> None:
    name, text = mangled
    found = repaired(text, FACTS[name])
    assert errors(found.findings) == []
    assert errors(verify(found.text, FACTS[name])) == []
    assert repaired(found.text, FACTS[name]).text == found.text


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(st.text(max_size=120))
def test_no_text_raises(text: str) -> None:
    facts = FACTS["units"]
    assert errors(repaired(text, facts).findings) == []
    without = repaired(text, None)
    again = repaired(without.text, None)
    assert errors(without.findings) == [] or again.findings == without.findings


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(PAGES), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", " \n\n"]))
def test_a_true_page_comes_back_byte_for_byte(page: Page, end: str, tail: str) -> None:
    text = page.text.replace("\n", end) + tail
    if not errors(verify(text, FACTS[page.name])):
        assert repaired(text, FACTS[page.name]).text == text
