"""Does repair end with true pages that say what they said? Planted faults, one and many a page, mended by code alone.

``python -m benchmarks.repair`` prints a Markdown table by kind of fault and a line for pages with many faults at once,
and exits 1 when an error is left or less than nine of ten true claims or sentences survive. The seed decides all.
"""

import argparse
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from benchmarks.truth import ALL_MUTATORS, corpus_pages, facts_of
from benchmarks.truth_mutations import sample
from benchmarks.truth_pages import Page
from reflexion.evidence.assemble import assemble_page
from reflexion.evidence.document import read_claims
from reflexion.evidence.locate import bare
from reflexion.evidence.repair import repair
from reflexion.evidence.verify import verify, worst

SURVIVAL_TARGET = 0.9


@dataclass
class Tally:
    """Counts of pages, claims and sentences by kind of fault; "claims" and "kept claims" are sums over pages."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, **numbers: int) -> None:
        """Add to the counts of a kind."""
        self.counts.setdefault(kind, Counter()).update(numbers)

    def share(self, part: str, whole: str) -> float:
        """One sum over all kinds as a share of another."""
        return sum(c[part] for c in self.counts.values()) / max(1, sum(c[whole] for c in self.counts.values()))


def one_fault(tally: Tally, page: Page, per_kind: int, seed: int) -> None:
    """Repair each page of a sample with one planted error."""
    facts = facts_of(page.name)
    for fault in sample(page, ALL_MUTATORS, per_kind, seed):
        if fault.level != "error" or worst(verify(fault.text, facts)) is None:
            continue
        found = repair(fault.text, facts, partial(verify, facts=facts))
        kept = claims_of(page.text) & claims_of(found.text)
        tally.add(
            fault.kind,
            pages=1,
            left=worst(found.findings) is not None,
            assembled=found.assembled,
            whole=kept == claims_of(page.text),
            exact=found.text.strip() == page.text.strip(),
            claims=len(claims_of(page.text)),
            kept=len(kept),
        )


def with_many_faults(page: Page, dice: random.Random, number: int) -> str:
    """The page with one error of each of ``number`` kinds, as far as they can be planted."""
    text = page.text
    for mutator in dice.sample(ALL_MUTATORS, number):
        options = [one for one in mutator(Page(page.name, page.style, text, page.things)) if one.level == "error"]
        text = dice.choice(options).text if options else text
    return text


def many_faults(tally: Tally, page: Page, dice: random.Random, number: int) -> None:
    """Repair, and assemble, a page with many errors; what counts is what the faulty page still has of the true one."""
    facts = facts_of(page.name)
    text = with_many_faults(page, dice, number)
    check = partial(verify, facts=facts)
    words = {one for one in sentences_of(page.text) if keeps(text, one)}
    claims = claims_of(page.text) & claims_of(text)
    mended = repair(text, facts, check)
    for kind, result in (("repaired", mended.text), ("assembled", assemble_page(text, facts, check))):
        tally.add(
            kind,
            pages=1,
            left=worst(verify(result, facts)) is not None,
            assembled=mended.assembled and kind == "repaired",
            claims=len(claims),
            kept=len(claims & claims_of(result)),
            words=len(words),
            said=sum(keeps(result, one) for one in words),
        )


def main() -> int:
    """Run, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--per-kind", type=int, default=1, help="faults of one kind on one page, at most")
    parser.add_argument("--faults", type=int, default=8, help="errors on the pages that have many")
    options = parser.parse_args()
    single, many = Tally(), Tally()
    dice = random.Random(options.seed)
    for page in corpus_pages():
        one_fault(single, page, options.per_kind, options.seed)
        many_faults(many, page, dice, options.faults)
    print(table(single, many))
    left = single.share("left", "pages") + many.share("left", "pages")
    survives = min(single.share("kept", "claims"), many.share("kept", "claims"), many.share("said", "words"))
    return 0 if not left and survives >= SURVIVAL_TARGET else 1


def table(single: Tally, many: Tally) -> str:
    """The Markdown tables."""
    rows = ["| fault | pages | with an error left | assembled | with all claims | as before | claims kept |"]
    rows.append("|---|--:|--:|--:|--:|--:|--:|")
    total: Counter[str] = Counter()
    for counts in single.counts.values():
        total.update(counts)
    rows += [_row(kind, counts) for kind, counts in (*single.counts.items(), ("**all**", total))]
    rows += [
        "",
        "| many faults a page | pages | with an error left | claims kept | sentences kept |",
        "|---|--:|--:|--:|--:|",
    ]
    for kind, counts in many.counts.items():
        shares = [
            f"{100 * counts[part] / max(1, counts[whole]):.1f} %"
            for part, whole in (("kept", "claims"), ("said", "words"))
        ]
        rows.append(f"| {kind} | {counts['pages']} | {counts['left']} | {shares[0]} | {shares[1]} |")
    return "\n".join(rows)


def _row(kind: str, counts: Counter[str]) -> str:
    pages = max(1, counts["pages"])
    shares = [f"{100 * counts[name] / pages:.0f} %" for name in ("whole", "exact")]
    kept = f"{100 * counts['kept'] / max(1, counts['claims']):.1f} %"
    cells = (kind, str(pages), str(counts["left"]), str(counts["assembled"]), *shares, kept)
    return f"| {' | '.join(cells)} |"


def sentences_of(page: str) -> set[str]:
    """The sentences and descriptions of a page outside of code and headings, with four words or more, bare."""
    page = re.sub(r"(?ms)^```.*?^```", "", page)
    rows = [row for row in page.splitlines() if not row.startswith("#")]
    cells = [cell for row in rows for cell in (re.split(r"(?<!\\)\|", row) if row.startswith("|") else [row])]
    parts = [part for cell in cells for part in re.split(r"(?<=[.!?;:])\s+", cell)]
    return {_plain(part) for part in parts if len(re.findall(r"[A-Za-z]{2,}", re.sub(r"`[^`]*`", "x", part))) >= 4}


def keeps(page: str, sentence: str) -> bool:
    """Whether a page has a sentence, whatever its marks."""
    return sentence in _plain(page)


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", bare(text, 0, len(text))[0]).lower()


def claims_of(page: str) -> set[tuple[str, ...]]:
    """What a page claims, without lines, marks, quotes and kinds of lists: name by name."""
    claims = read_claims(page)
    found: set[tuple[str, ...]] = {("symbol", _last(one.name)) for one in claims.symbols}
    found |= {("signature", _last(one.name), *(p.name for p in one.parameters)) for one in claims.signatures}
    found |= {
        ("parameter", _last(one.subject or ""), one.name, _flat(one.type), _flat(one.default))
        for one in claims.parameters
    }
    found |= {("raise", _last(one.subject or ""), one.type, _message(one.message)) for one in claims.raises}
    found |= {("return", _last(one.subject or ""), _flat(one.type)) for one in claims.returns}
    return found | {("constant", _last(one.name), _flat(one.value)) for one in claims.constants}


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _flat(text: str | None) -> str:
    return re.sub(r"[\s'\"]", "", text or "")


def _message(text: str | None) -> str:
    """A message, its placeholders without format and conversion."""
    return re.sub(r"![rsa]|:[^{}]*(?=\})", "", text or "")


if __name__ == "__main__":
    sys.exit(main())
