"""Swaps: the wrong words that a finding names become the right ones, whole tokens only."""

import re
from collections.abc import Iterator

from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.listed import entry_lines
from reflexion.evidence.locate import Hit, code, find
from reflexion.evidence.repair.edits import Change, Edit
from reflexion.evidence.sheet import Sheet

_MOST_HITS = 8
_SHOWN = 60
_ARTICLE = re.compile(r"\b[Aa](?P<n>n?)\s+[`*]*\Z")
# Spoken with a vowel: not "user", "unit", "UUID".
_VOWEL = re.compile(r"[aeio]|u(?!ni|se|u|rl|tc)", re.IGNORECASE)


def swaps(sheet: Sheet, finding: Finding, *, stated: str = "", actual: str = "") -> Iterator[Edit]:
    """Each place where the wrong words stand near the finding's line, with the right words in it."""
    wrong, right = stated or finding.stated, actual or finding.actual
    if not wrong or not right:
        return
    seen: set[tuple[int, int]] = set()
    for first, last in _regions(sheet, finding):
        hits = [hit for hit in _hits(sheet, first, last, wrong) if (hit.start, hit.end) not in seen][:_MOST_HITS]
        seen |= {(hit.start, hit.end) for hit in hits}
        yield from (edit for hit in hits for edit in _ways(sheet, hit, right))
        if len(hits) > 1:
            yield _all_of(sheet, hits, right)


def _regions(sheet: Sheet, finding: Finding) -> Iterator[tuple[int, int]]:
    """Ranges of lines to look in, the nearest first: the entry, the rest of the block, the block, what is below."""
    line = finding.line
    yield entry_lines(sheet, line)
    blocks = sheet.blocks_at(line)
    if blocks:
        yield line, blocks[0].end_line
        yield blocks[0].line, blocks[0].end_line
    below = sheet.below(line)
    if below is not None and finding.symbol and sheet.kind_at(line) != "row":
        yield below


def _hits(sheet: Sheet, first: int, last: int, words: str) -> list[Hit]:
    start, end = sheet.start(first), sheet.end(last)
    for spelling in _spellings(words):
        hits = find(sheet.text, start, end, spelling)
        if hits:
            return hits
    return []


def _spellings(words: str) -> list[str]:
    """The words as the claim has them, and as the document may: other quotes, other spaces."""
    flat = " ".join(words.split())
    found = [flat, flat.replace("'", '"'), flat.replace('"', "'"), re.sub(r",\s+", ",", flat)]
    return list(dict.fromkeys([*found, re.sub(r"\s*([|=])\s*", r"\1", flat)]))


def _ways(sheet: Sheet, hit: Hit, right: str) -> Iterator[Edit]:
    """The right words for one hit: as they are, and outside of code also in ticks."""
    old = sheet.text[hit.start : hit.end]
    styled = in_style(right, old, sheet.facts)
    in_row = sheet.kind_at(sheet.text.count("\n", 0, hit.start) + 1) == "row"
    texts = [styled] if hit.in_code and "`" not in styled else [styled, code(styled)]
    if "`" in old and not hit.in_code:
        texts.reverse()
    for text in texts:
        new = re.sub(r"(?<!\\)\|", r"\\|", text) if in_row else text
        if new != old and "\n" not in new:
            yield Edit((*_article(sheet, hit.start, new), Change(hit.start, hit.end, new)), became(old, new))


def _article(sheet: Sheet, at: int, new: str) -> Iterator[Change]:
    """The article before a swapped word as the new word asks for: "an `int`" becomes "a `str`"."""
    before = _ARTICLE.search(sheet.text, max(0, at - 20), at)
    first = re.match(r"[`*]*([A-Za-z])", new)
    if before is None or first is None:
        return
    ending = "n" if _VOWEL.match(new.lstrip("`*")) else ""
    if before["n"] != ending:
        yield Change(before.start("n"), before.end("n"), ending)


def _all_of(sheet: Sheet, hits: list[Hit], right: str) -> Edit:
    changes: list[Change] = []
    for hit in hits:
        first = next(_ways(sheet, hit, right), None)
        changes += first.changes if first else ()
    old = sheet.text[hits[0].start : hits[0].end]
    kept = [one for place, one in enumerate(changes) if all(one.start >= other.end for other in changes[:place])]
    return Edit(tuple(kept or [Change(hits[0].start, hits[0].start, "")]), became(old, right))


def in_style(text: str, old: str, facts: Facts | None) -> str:
    """Source text with the quotes that the document has in the same place, and else as the source itself spells it."""
    if facts is not None and re.search(r"[^\w.\s]", text):
        tokens = re.findall(r"\w+|['\"]|\s+|[^\w\s]", text)
        parts = (r"['\"]" if one in "'\"" else r"[ ]*" if one.isspace() else rf"[ ]*{re.escape(one)}" for one in tokens)
        spelled = re.search("".join(parts), facts.text)
        text = spelled[0].strip() if spelled else text
    alike = "'" in text and '"' not in text and '"' in old and "'" not in old
    return text.replace("'", '"') if alike else text


def became(old: str, new: str) -> str:
    """What a swap did, for people."""
    return f"{quoted(old)} became {quoted(new)}"


def quoted(text: str) -> str:
    """A piece of a page in one line, cut where it is long."""
    flat = " ".join(text.split())
    return f'"{flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"}"'
