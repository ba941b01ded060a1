"""Context: what every node of every pipeline gets besides its state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reflexion.config import Role
from reflexion.events import Emit, NodeStarted, Note, TokensReceived
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.report import ExamplesReport, RunsExamples
from reflexion.evidence.facts import Facts
from reflexion.loaders import Source
from reflexion.ollama.reply import CallStats, Progress
from reflexion.ollama.roles import Models
from reflexion.prompts import Prompts

if TYPE_CHECKING:
    from reflexion.healing.judge import Judge
    from reflexion.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Context:
    """What every pipeline needs: models by role, words, and where events go."""

    models: Models
    prompts: Prompts
    emit: Emit

    def starting(self, source: str, node: str, number: int, role: Role | None = None) -> Progress:
        """Tell that a node begins; return what to call while the model of its role answers."""
        model = self.models.bindings[role].model if role else ""
        self.emit(NodeStarted(source, node, number, model))
        return lambda tokens, elapsed_s, tail: self.emit(TokensReceived(source, node, tokens, elapsed_s, tail))

    def tell_failed(self, calls: Sequence[CallStats]) -> None:
        """Say of each request that came to nothing what it cost; a node's own line shows its last request only."""
        for call in calls:
            if call.outcome != "ok":
                cost = f"{call.reply_tokens} tokens, {call.wall_s:.1f} s"
                self.emit(Note(f"{call.role} {call.model}: {call.outcome} after {cost}"))


@dataclass(frozen=True, slots=True)
class DocsContext(Context):
    """The runtime context of the documentation pipeline."""

    quality_score_bar: int
    max_attempts: int
    critic_when_clean: bool = False
    side_by_side: int = 1
    """How many pieces of a large source may be asked about at once, where that spares loads of models."""
    rules_off: frozenset[str] = frozenset()
    examples_of: Callable[[Source], RunsExamples] | None = None
    """Who runs the examples of a page about a source; None where they are switched off."""
    facts: Facts | None = None
    """What the source at hand says; None where it is not Python. Set for each source."""
    examples: RunsExamples | None = None
    """Who runs the examples of pages about the source at hand. Set for each source."""

    def for_source(self, source: Source) -> "DocsContext":
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


@dataclass(frozen=True, slots=True)
class CodeContext(Context):
    """The runtime context of the code pipeline.

    ``sandbox`` is where tests run, ``limit_s`` for how long at most; ``allow`` are modules that a candidate may import
    besides the built-in list. ``judge`` runs the tests of a module that is to be healed; None: a
    suite is run against solution.py.
    """

    sandbox: "Sandbox"
    max_debug_iterations: int = 3
    limit_s: float = 15.0
    allow: frozenset[str] = frozenset()
    judge: "Judge | None" = None
