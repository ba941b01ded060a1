"""Does the checker tell the truth? Planted faults that it must find, and true pages where it must stay silent.

``python -m benchmarks.truth`` prints two Markdown tables, recall and false alarms, and exits 1 when a target is
missed. ``--misses`` lists each fault that was not found and each false alarm. The seed decides everything.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.truth_mutations import MUTATORS, Mutant, sample
from benchmarks.truth_mutations_calls import CALL_MUTATORS
from benchmarks.truth_mutations_errors import ERROR_MUTATORS
from benchmarks.truth_mutations_text import TEXT_MUTATORS
from benchmarks.truth_pages import STYLES, Page
from benchmarks.truth_source import CORPUS, read_things
from reflexion.evidence.document import read_claims
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

RECALL_TARGET = 0.97
ALARM_TARGET = 1.0

# Which codes are a right answer to which fault. More than one where two rules describe the same line rightly.
FAMILIES: Mapping[str, frozenset[str]] = {
    "undocumented symbol": frozenset({"S101"}),
    "phantom symbol": frozenset({"S102"}),
    "wrong constant": frozenset({"S103"}),
    "wrong enum member": frozenset({"S103", "S104"}),
    "wrong base class": frozenset({"S105"}),
    "undocumented parameter": frozenset({"P201"}),
    "phantom parameter": frozenset({"P203"}),
    "wrong default": frozenset({"P204"}),
    "wrong type": frozenset({"P205"}),
    "wrong kind": frozenset({"P206"}),
    "signature lacks a parameter": frozenset({"P207"}),
    "signature in another order": frozenset({"P207"}),
    "signature renames a parameter": frozenset({"P207"}),
    "signature with a wrong default": frozenset({"P204", "P207"}),
    "signature with a wrong type": frozenset({"P205", "P207"}),
    "undocumented exception": frozenset({"E301"}),
    "wrong exception": frozenset({"E303", "E301"}),
    "misquoted message": frozenset({"E304"}),
    "denied exception": frozenset({"E306"}),
    "impossible exception": frozenset({"E303", "E307"}),
    "wrong return type": frozenset({"R401"}),
    "wrong returned keys": frozenset({"R402"}),
    "invented history": frozenset({"H501", "H502", "H503", "H504", "H505"}),
    "chatter": frozenset({"T001"}),
    "leftover verdict": frozenset({"T002"}),
    "repetition": frozenset({"T003"}),
    "unclosed fence": frozenset({"T004"}),
    "truncated text": frozenset({"T005"}),
    "code in the text": frozenset({"T009"}),
    "redefinition": frozenset({"P207"}),
}
ALL_MUTATORS = (*MUTATORS, *CALL_MUTATORS, *ERROR_MUTATORS, *TEXT_MUTATORS)


@dataclass
class Tally:
    """What was found, and what not."""

    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    caught: Counter[tuple[str, str]] = field(default_factory=Counter)
    soft: Counter[str] = field(default_factory=Counter)
    soft_caught: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    pages: Counter[str] = field(default_factory=Counter)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    warnings: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of planted errors that were found."""
        return self.caught.total() / max(1, self.planted.total())

    @property
    def alarm_rate(self) -> float:
        """Error findings on true pages for each 100 claims."""
        return 100 * self.errors.total() / max(1, self.claims.total())


def corpus_pages() -> Iterator[Page]:
    """Yield the pages of the six styles."""
    for style, names in STYLES.items():
        for name in names:
            things = read_things((CORPUS / f"{name}.py").read_text(encoding="utf-8"))
            yield Page(name, style, (CORPUS / f"{name}.md").read_text(encoding="utf-8"), tuple(things))


def other_pages() -> Iterator[Page]:
    """Yield the pages in other styles, which serve for false alarms only."""
    for path in sorted((CORPUS / "other").glob("*.md")):
        name, style = path.stem.split(".")
        yield Page(name, f"other: {style}", path.read_text(encoding="utf-8"), ())


def facts_of(name: str) -> Facts:
    """Read the facts of a corpus source."""
    path = CORPUS / f"{name}.py"
    return facts_of_python(path.read_text(encoding="utf-8"), name, str(path))


def count_alarms(page: Page, facts: Facts, tally: Tally) -> list[Finding]:
    """Check a true page; every finding is false, an error one counts against the target."""
    found = verify(page.text, facts)
    tally.pages[page.style] += 1
    tally.claims[page.style] += read_claims(page.text).count()
    for finding in found:
        counter = tally.errors if finding.level == "error" else tally.warnings
        counter[finding.rule, page.style] += 1
        if finding.level == "error":
            tally.notes.append(f"FALSE {page.style} {page.name}.md:{finding.line} {finding.rule} {finding.message}")
    return found


def is_caught(fault: Mutant, found: Iterable[Finding], before: Iterable[Finding]) -> bool:
    """Say whether a new finding of the right family and level stands in the right place."""
    known = Counter((finding.rule, finding.message) for finding in before)
    for finding in found:
        if known[finding.rule, finding.message] > 0:
            known[finding.rule, finding.message] -= 1
        elif _answers(fault, finding):
            return True
    return False


def _answers(fault: Mutant, finding: Finding) -> bool:
    is_enough = finding.level == "error" or fault.level == "warning"
    return is_enough and finding.rule in FAMILIES[fault.family] and fault.accepts(finding.line)


def count_fault(fault: Mutant, facts: Facts, before: Iterable[Finding], tally: Tally) -> None:
    """Check a page with a planted fault."""
    found = verify(fault.text, facts)
    caught = is_caught(fault, found, before)
    if fault.level == "warning":
        tally.soft[fault.kind] += 1
        tally.soft_caught[fault.kind] += caught
        return
    tally.planted[fault.kind, fault.style] += 1
    tally.caught[fault.kind, fault.style] += caught
    if not caught:
        place = fault.spans[0][0] + 2 if fault.spans else 0
        others = ", ".join(f"{f.rule}@{f.line}{f.level[0]}" for f in found) or "nothing"
        tally.notes.append(f"MISS {fault.kind} ({fault.style}) {fault.page}.md:{place}; found: {others}")


def run(seed: int, per_kind: int) -> Tally:
    """Run the whole benchmark."""
    tally = Tally()
    for page in corpus_pages():
        facts = facts_of(page.name)
        before = count_alarms(page, facts, tally)
        for fault in sample(page, ALL_MUTATORS, per_kind, seed):
            count_fault(fault, facts, before, tally)
    for page in other_pages():
        count_alarms(page, facts_of(page.name), tally)
    return tally


def _by(counter: Counter[tuple[str, str]], place: int) -> Counter[str]:
    summed: Counter[str] = Counter()
    for key, number in counter.items():
        summed[key[place]] += number
    return summed


def recall_table(tally: Tally) -> str:
    """Return recall by kind of fault and by style."""
    rows = ["| fault | planted | found | recall |", "|---|--:|--:|--:|"]
    for place, title in ((0, ""), (1, "style ")):
        planted, caught = _by(tally.planted, place), _by(tally.caught, place)
        rows += [f"| {title}{k} | {n} | {caught[k]} | {100 * caught[k] / n:.1f} % |" for k, n in planted.items()]
    rows.append(
        f"| **all errors** | {tally.planted.total()} | {tally.caught.total()} | **{100 * tally.recall:.1f} %** |"
    )
    rows += [
        f"| {k} (a warning is enough) | {n} | {tally.soft_caught[k]} | {100 * tally.soft_caught[k] / n:.1f} % |"
        for k, n in tally.soft.items()
    ]
    return "\n".join(rows)


def alarm_table(tally: Tally) -> str:
    """Return false alarms by style and by rule."""
    rows = [
        "| true pages | pages | claims | false errors | warnings | errors per 100 claims |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    errors, warnings = _by(tally.errors, 1), _by(tally.warnings, 1)
    for style, pages in tally.pages.items():
        claims = tally.claims[style]
        rate = 100 * errors[style] / max(1, claims)
        rows.append(f"| {style} | {pages} | {claims} | {errors[style]} | {warnings[style]} | {rate:.2f} |")
    totals = f"{tally.pages.total()} | {tally.claims.total()} | {errors.total()} | {warnings.total()}"
    rows += [
        f"| **all** | {totals} | **{tally.alarm_rate:.2f}** |",
        "",
        "| rule | false errors | warnings |",
        "|---|--:|--:|",
    ]
    errors, warnings = _by(tally.errors, 0), _by(tally.warnings, 0)
    rows += [f"| {rule} | {errors[rule]} | {warnings[rule]} |" for rule in sorted({*errors, *warnings})]
    return "\n".join(rows)


def main() -> int:
    """Run, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--per-kind", type=int, default=2, help="faults of one kind on one page, at most")
    parser.add_argument("--misses", action="store_true", help="list what was missed and every false alarm")
    parser.add_argument("--output", type=Path, help="write the tables to a file as well")
    options = parser.parse_args()
    tally = run(options.seed, options.per_kind)
    report = f"{recall_table(tally)}\n\n{alarm_table(tally)}\n"
    print(report)
    if options.output:
        options.output.write_text(report, encoding="utf-8")
    if options.misses:
        print("\n".join(tally.notes))
    return 0 if tally.recall >= RECALL_TARGET and tally.alarm_rate <= ALARM_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
