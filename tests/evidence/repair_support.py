"""What the tests of repair share: a source, true pages, and how much of a page another one keeps."""

from pathlib import Path

from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.repair import Repaired, repair
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

CORPUS = Path(__file__).parents[2] / "benchmarks" / "truth_corpus"
MARKER = "<!-- reflexion outcome=accepted score=97 source=bank.py source_sha256=00 text_sha256=00 version=1 -->"


def corpus_facts(name: str) -> Facts:
    """The facts of a source of the corpus."""
    path = CORPUS / f"{name}.py"
    return facts_of_python(path.read_text(encoding="utf-8"), name)


def errors(findings: tuple[Finding, ...] | list[Finding]) -> list[Finding]:
    """Those that block."""
    return [finding for finding in findings if finding.level == "error"]


def repaired(page: str, facts: Facts | None) -> Repaired:
    """The page after repair by the rules alone."""
    return repair(page, facts, lambda text: verify(text, facts))
