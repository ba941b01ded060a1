"""Do models that lie and approve everything get anything past the code?

``python -m benchmarks.hostile`` runs the documentation pipeline at least 200 times on a scripted generator, critic and
adjudicator: pages with many planted faults, each approved with 100 of 100. It prints what shipped, and exits 1 when an
accepted page has an error, a page of any outcome still has one, a public symbol is missing, too few of the true claims
and sentences are left, or nothing is accepted at all. The seed decides everything.
"""

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from benchmarks.repair import claims_of, keeps, sentences_of
from benchmarks.truth import ALL_MUTATORS, corpus_pages
from benchmarks.truth_pages import Page
from benchmarks.truth_source import CORPUS
from reflexion.config import Role, RoleSettings
from reflexion.context import DocsContext
from reflexion.errors import CallFailed
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source as Names
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from reflexion.examples import Examples
from reflexion.graphs import Graph
from reflexion.loaders import Source
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Models
from reflexion.pipelines import docs
from reflexion.prompts import load_prompts
from reflexion.verdict import errors_in
from tests.ollama_double import ModelInfo, OllamaDouble, reply

RUNS = 250
MOST_FAULTS = 12
KEPT_TARGET = 0.9
MODELS = {Role.GENERATOR: "gen:1b", Role.CRITIC: "critic:1b", Role.ADJUDICATOR: "adj:1b"}
APPROVAL = json.dumps({"technical_accuracy": 100, "completeness": 100, "single_critical_fix": "none"})
WRONG_EXAMPLES = (
    ("example states a wrong value", "```python\n6 * 7  # Output: 54\n```\n"),
    ("example raises", "```python\nint('seven')\n```\n"),
    ("example does not parse", "```python\ntotal = (1 +\n```\n"),
    ("output block of another call", "```python\nprint(2 + 2)\n```\n\nOutput:\n\n```\n5\n```\n"),
)


@dataclass(frozen=True)
class Spoiled:
    """A page full of faults, and what of the true page is still in it."""

    page: Page
    text: str
    families: tuple[str, ...]


@dataclass
class Tally:
    """What all runs together showed."""

    runs: int = 0
    refused: int = 0
    faults: int = 0
    planted_errors: int = 0
    accepted: int = 0
    assembled: int = 0
    accepted_with_errors: int = 0
    pages_with_errors: int = 0
    symbols_missing: int = 0
    claims: int = 0
    claims_kept: int = 0
    sentences: int = 0
    sentences_kept: int = 0

    def is_good(self) -> bool:
        """Whether every target is met."""
        bad = self.accepted_with_errors + self.pages_with_errors + self.symbols_missing
        shares = (self.claims_kept / max(1, self.claims), self.sentences_kept / max(1, self.sentences))
        return not bad and self.accepted > 0 and min(shares) >= KEPT_TARGET


def spoil(page: Page, dice: random.Random, faults: int) -> Spoiled:
    """Plant that many faults of different families, one on top of the other."""
    text, families = page.text, list[str]()
    mutators = list(ALL_MUTATORS)
    dice.shuffle(mutators)
    for mutator in mutators:
        if len(families) >= faults:
            break
        mutants = list(mutator(Page(page.name, page.style, text, page.things)))
        if mutants:
            chosen = dice.choice(mutants)
            text, families = chosen.text, [*families, chosen.family]
    if dice.random() < 0.5:
        family, example = dice.choice(WRONG_EXAMPLES)
        text, families = f"{text.rstrip()}\n\n{example}", [*families, family]
    return Spoiled(page, text, tuple(families))


def spoiled_pages(runs: int, seed: int) -> Iterator[Spoiled]:
    """Yield pages over and over, each time with other faults."""
    pages = list(corpus_pages())
    for number in range(runs):
        dice = random.Random(f"{seed}:{number}")
        yield spoil(pages[number % len(pages)], dice, dice.randint(1, MOST_FAULTS))


def run_once(spoiled: Spoiled, double: OllamaDouble, graph: Graph, examples: Examples, tally: Tally) -> list[str]:
    """Run the pipeline on one spoiled page and count what ships; return what is wrong with it."""
    name = spoiled.page.name
    path = CORPUS / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    facts = facts_of_python(text, name, str(path))
    source = Source(path.name, name, text, sha256(text.encode()).hexdigest(), facts, path)
    for model, text_of_model in (("gen:1b", spoiled.text), ("critic:1b", APPROVAL), ("adj:1b", spoiled.text)):
        double.script(model, *[reply(text_of_model)] * 8)
    try:
        result = docs.document(graph, source, context_for(double.base_url, examples))
    except CallFailed as error:
        tally.refused += 1
        return [f"{name} {', '.join(spoiled.families)}: refused: {error}"]
    errors = errors_in(verify(result.text, facts, source_text=text, examples=examples.of(path, text, name)))
    tally.runs += 1
    tally.faults += len(spoiled.families)
    tally.planted_errors += len(errors_in(verify(spoiled.text, facts, source_text=text)))
    tally.accepted += result.outcome == "accepted"
    tally.assembled += result.assembled
    tally.accepted_with_errors += result.outcome == "accepted" and bool(errors)
    tally.pages_with_errors += bool(errors)
    # Attributes that a constructor sets need no place of their own (S101), so they need not be named either.
    needed = [one for one in required_symbols(Names(facts)) if one.kind != "field"]
    missing = [one.qualname for one in needed if not names(result.text, one.name)]
    tally.symbols_missing += len(missing)
    lost = count_kept(spoiled, result.text, tally)
    told = [f"{error.line} {error.rule} {error.message}" for error in errors] + [
        f"{one} is not named" for one in missing
    ]
    return [f"{name} {', '.join(spoiled.families)}: {one}" for one in (*told, *lost)]


def names(page: str, name: str) -> bool:
    """Whether a page names a symbol anywhere."""
    return re.search(rf"\b{re.escape(name)}\b", page) is not None


def count_kept(spoiled: Spoiled, shipped: str, tally: Tally) -> list[str]:
    """Count the true claims and sentences of the spoiled page, and those that shipped; return those that did not."""
    claims = claims_of(spoiled.page.text) & claims_of(spoiled.text)
    lost_claims = claims - claims_of(shipped)
    tally.claims += len(claims)
    tally.claims_kept += len(claims) - len(lost_claims)
    said = {sentence for sentence in sentences_of(spoiled.page.text) if keeps(spoiled.text, sentence)}
    unsaid = {sentence for sentence in said if not keeps(shipped, sentence)}
    tally.sentences += len(said)
    tally.sentences_kept += len(said) - len(unsaid)
    return [f"lost claim: {one}" for one in lost_claims] + [f"lost sentence: {one}" for one in unsaid]


def context_for(url: str, examples: Examples) -> DocsContext:
    """A context with four attempts and a bar of 95, as by default."""
    settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 4096})
    bindings = {role: Binding(role, model, settings, 65536) for role, model in MODELS.items()}
    return DocsContext(
        Models(bindings, url),
        load_prompts("docs", None),
        lambda _: None,
        95,
        4,
        examples_of=lambda source: examples.of(source.path, source.text, source.name),
    )


def report(tally: Tally, seconds: float) -> str:
    """The figures as a Markdown table."""
    rows = (
        ("runs", tally.runs),
        ("planted faults", tally.faults),
        ("error findings in what the models wrote", tally.planted_errors),
        ("refused: the guards let no draft through", tally.refused),
        ("accepted", f"{tally.accepted} ({tally.accepted / max(1, tally.runs):.0%})"),
        ("assembled", tally.assembled),
        ("accepted with an error finding", tally.accepted_with_errors),
        ("shipped pages with an error finding", tally.pages_with_errors),
        ("public symbols not named", tally.symbols_missing),
        ("true claims kept", f"{tally.claims_kept} of {tally.claims} ({tally.claims_kept / max(1, tally.claims):.1%})"),
        (
            "true sentences kept",
            f"{tally.sentences_kept} of {tally.sentences} ({tally.sentences_kept / max(1, tally.sentences):.1%})",
        ),
        ("seconds", f"{seconds:.0f}"),
    )
    return "\n".join(["| | |", "|---|--:|", *(f"| {name} | {value} |" for name, value in rows)])


def main() -> int:
    """Run all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--losses", action="store_true", help="list what is wrong with each page, and what it lost")
    asked = parser.parse_args()
    tally, graph, examples, started = Tally(), docs.build(), Examples(), time.monotonic()
    for spoiled in spoiled_pages(asked.runs, asked.seed):
        with OllamaDouble({name: ModelInfo(context_length=65536) for name in MODELS.values()}) as double:
            told = run_once(spoiled, double, graph, examples, tally)
        if asked.losses:
            print(*told, sep="\n", file=sys.stderr)
    print(report(tally, time.monotonic() - started))
    return 0 if tally.is_good() else 1


if __name__ == "__main__":
    sys.exit(main())
