"""Context: what every node of every pipeline gets besides its state."""

from dataclasses import dataclass

from reflexion.events import Emit, NodeStarted, TokensReceived
from reflexion.evidence.facts import Facts
from reflexion.ollama.reply import Progress
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
    facts: Facts | None = None
    """What the source at hand says; None where it is not Python. Set for each source."""

    def starting(self, source: str, node: str, number: int, model: str = "") -> Progress:
        """Tell that a node begins; return what to call while its model answers."""
        self.emit(NodeStarted(source, node, number, model))
        return lambda tokens, elapsed_s: self.emit(TokensReceived(source, node, tokens, elapsed_s))
