"""What do the three 135M demo models make of 20 sources, with the rules and without them?

``python -m benchmarks.real_tokens`` runs the documentation pipeline on the embedded engine, then the plain loop: the
same models, words and scores, with no facts, no rules and no repair, as most tools of this kind work. It prints both
side by side and exits 1 when a page that we call accepted has an error finding. It takes about half an hour.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.truth_source import CORPUS
from reflexion.config import DOCS_ROLES, RoleSettings
from reflexion.context import DocsContext
from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import DEMO_MODELS
from reflexion.errors import CallFailed
from reflexion.evidence.verify import ALL_RULES, verify
from reflexion.examples import Examples
from reflexion.loaders import Source, load_path
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Models
from reflexion.pipelines import docs
from reflexion.prompts import load_prompts
from reflexion.verdict import errors_in

FILES = 20
WINDOW = 8192


@dataclass
class Tally:
    """What one way of working made of all files."""

    outcomes: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    assembled: int = 0
    errors_in_accepted: int = 0
    errors_in_all: int = 0
    seconds: float = 0.0


def sources(count: int) -> list[Source]:
    """The smallest sources of the corpus: what so small a model may just read."""
    found = sorted(Path(CORPUS).glob("*.py"), key=lambda path: (path.stat().st_size, path.name))
    return [load_path(path) for path in found[:count]]


def context_for(url: str, bar: int, attempts: int, tokens: int) -> DocsContext:
    """A context with the demo models; the seeds decide everything that the machine does not."""
    examples = Examples()
    temperatures = (0.7, 0.0, 0.2)
    bindings = {
        role: Binding(role, model, _settings(temperature, tokens), WINDOW)
        for role, model, temperature in zip(DOCS_ROLES, DEMO_MODELS, temperatures, strict=True)
    }
    return DocsContext(
        Models(bindings, url),
        load_prompts("docs", None),
        lambda _: None,
        bar,
        attempts,
        examples_of=lambda source: examples.of(source.path, source.text, source.name),
    )


def _settings(temperature: float, tokens: int) -> RoleSettings:
    return RoleSettings.model_validate({"temperature": temperature, "num_predict": tokens, "seed": 1})


def run_all(found: Sequence[Source], context: DocsContext, *, plain: bool = False) -> Tally:
    """Run every source and check what ships against its facts; the ``plain`` loop is not told them."""
    tally, graph, started = Tally(), docs.build(), time.monotonic()
    for source in found:
        try:
            result = docs.document(graph, replace(source, facts=None) if plain else source, context)
        except CallFailed as error:
            tally.outcomes["failed"] += 1
            print(f"{source.name}: failed: {error}", file=sys.stderr)
            continue
        errors = errors_in(verify(result.text, source.facts, source_text=source.text))
        tally.outcomes[result.outcome] += 1
        tally.repaired += bool(result.mended) and not result.assembled
        tally.assembled += result.assembled
        tally.errors_in_all += len(errors)
        tally.errors_in_accepted += len(errors) if result.outcome == "accepted" else 0
        print(f"{source.name}: {result.outcome} {result.score}, {len(errors)} errors", file=sys.stderr)
    tally.seconds = time.monotonic() - started
    return tally


def print_table(tallies: Mapping[str, Tally]) -> None:
    """Print what both ways made, side by side."""
    print("| | accepted | not accepted | failed | repaired | assembled | errors in accepted | errors in all | s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, one in tallies.items():
        outcomes = " | ".join(str(one.outcomes[outcome]) for outcome in ("accepted", "not accepted", "failed"))
        errors = f"{one.errors_in_accepted} | {one.errors_in_all}"
        print(f"| {name} | {outcomes} | {one.repaired} | {one.assembled} | {errors} | {one.seconds:.0f} |")


def main() -> int:
    """Run both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--bar", type=int, default=95)
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=320, help="the most of one reply")
    asked = parser.parse_args()
    found = sources(asked.files)
    with EmbeddedEngine() as engine:
        ours = context_for(engine.base_url, asked.bar, asked.attempts, asked.tokens)
        plain = replace(ours, rules_off=frozenset(rule.code for rule in ALL_RULES), examples_of=None)
        tallies = {
            "with rules and repair": run_all(found, ours),
            "plain loop": run_all(found, plain, plain=True),
        }
    print_table(tallies)
    return 1 if tallies["with rules and repair"].errors_in_accepted else 0


if __name__ == "__main__":
    sys.exit(main())
