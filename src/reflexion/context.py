"""Context: what every node of every pipeline gets besides its state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reflexion.events import Emit, NodeStarted, Note, TokensReceived
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.report import ExamplesReport, RunsExamples
from reflexion.evidence.facts import Facts
from reflexion.loaders import Source
from reflexion.ollama.reply import CallStats, Progress
from reflexion.ollama.roles import Models
from reflexion.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Context:
    """The runtime context of a graph: models by role, words, the bar, and where events go."""

    models: Models
    prompts: Prompts
    emit: Emit
    quality_score_bar: int
    max_attempts: int
    critic_when_clean: bool = False
    rules_off: frozenset[str] = frozenset()
    examples_of: Callable[[Source], RunsExamples] | None = None
    """Who runs the examples of a page about a source; None where they are switched off."""
    facts: Facts | None = None
    """What the source at hand says; None where it is not Python. Set for each source."""
    examples: RunsExamples | None = None
    """Who runs the examples of pages about the source at hand. Set for each source."""

    def for_source(self, source: Source) -> "Context":
        """Return the context of one source: its facts, and who runs the examples of its pages."""
        examples = self.examples_of(source) if self.examples_of and source.facts else None
        return replace(self, facts=source.facts, examples=examples)

    def run_examples(self, document: str) -> ExamplesReport | None:
        """Run a page's examples, or return what is remembered of them; None where none can be run.

        Raises SandboxError.
        """
        if self.examples is None or self.facts is None:
            return None
        return self.examples.run(read_claims(document), self.facts)

    def starting(self, source: str, node: str, number: int, model: str = "") -> Progress:
        """Tell that a node begins; return what to call while its model answers."""
        self.emit(NodeStarted(source, node, number, model))
        return lambda tokens, elapsed_s: self.emit(TokensReceived(source, node, tokens, elapsed_s))

    def tell_failed(self, calls: Sequence[CallStats]) -> None:
        """Say of each request that came to nothing what it cost; a node's own line shows its last request only."""
        for call in calls:
            if call.outcome != "ok":
                cost = f"{call.reply_tokens} tokens, {call.wall_s:.1f} s"
                self.emit(Note(f"{call.role} {call.model}: {call.outcome} after {cost}"))
