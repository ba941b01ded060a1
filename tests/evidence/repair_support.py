"""What the tests of repair share: a source, true pages, and how much of a page another one keeps."""

import re
from pathlib import Path

from reflexion.evidence.document import read_claims
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.locate import bare
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
