"""Context: what every node of every pipeline gets besides its state."""

from dataclasses import dataclass

from reflexion.events import Emit, NodeStarted, TokensReceived
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

    def starting(self, source: str, node: str, number: int, model: str = "") -> Progress:
        """Tell that a node begins; return what to call while its model answers."""
        self.emit(NodeStarted(source, node, number, model))
        return lambda tokens, elapsed_s: self.emit(TokensReceived(source, node, tokens, elapsed_s))
