"""Models on a double that write about the piece of a source that they are shown, from its facts."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from reflexion.config import DOCS_ROLES, RoleSettings, ServerSettings
from reflexion.context import DocsContext
from reflexion.events import Event
from reflexion.evidence.assemble import render
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source as Names
from reflexion.evidence.source import facts_of_python
from reflexion.journal import Journal
from reflexion.large import document, split
from reflexion.loaders import Source
from reflexion.ollama.gate import Gate
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Backoff, Models
from reflexion.outcome import Result
from reflexion.pieces import Piece, facts_of_piece
from reflexion.pipelines import docs
from reflexion.prompts import load_prompts
from tests.ollama_double import Act, OllamaDouble, reply
from tests.support import MODELS, verdict

WINDOW = 8192
Answer = Callable[[Piece], Act]


def python_source(text: str, name: str = "module") -> Source:
    """A Python source that lies nowhere."""
    return Source(f"{name}.py", name, text, hashlib.sha256(text.encode()).hexdigest(), facts_of_python(text, name))


def other_source(text: str) -> Source:
    """A source of which no facts are read."""
    return Source("module.js", "module", text, hashlib.sha256(text.encode()).hexdigest(), None)


@dataclass
class Desk:
    """A source, the context of a run against a double, and the pieces that models are asked about.

    ``draft``, ``review`` and ``edit`` answer for the three models, given the piece.
    """

    double: OllamaDouble
    source: Source
    attempts: int = 1
    window: int = WINDOW
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context = DocsContext(self.models(), load_prompts("docs", None), self.events.append, 95, self.attempts)
        self.all_pieces = split(self.source, self.context)
        self.pieces = [piece for piece in self.all_pieces if not piece.facts_only and self._is_asked(piece)]

    def models(self, journal: Journal | None = None, gate: Gate | None = None) -> Models:
        """The models of a run that knows nothing yet of tokens."""
        settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 4096, "thinking": "off"})
        bindings = {role: Binding(role, MODELS[role.value], settings, self.window) for role in DOCS_ROLES}
        server = ServerSettings.model_validate({"connect_s": 2, "first_token_s": 60, "idle_s": 20, "total_s": 90})
        return Models(bindings, self.double.base_url, server, Backoff(2, 0.01, 0.02), journal=journal, gate=gate)

    def _is_asked(self, piece: Piece) -> bool:
        facts = self.source.facts
        return facts is None or bool(required_symbols(Names(facts_of_piece(facts, piece))))

    def page(self, piece: Piece) -> str:
        """The page of a piece as code would write it."""
        if self.source.facts is None:
            told = f"These functions multiply; their code has {len(piece.text)} characters, and they take one argument."
            return f"# The module\n\n## Part {piece.first_line}\n\n{told}\n"
        return render(facts_of_piece(self.source.facts, piece))

    def of(self, body: dict[str, Any]) -> Piece:
        """The piece that a request is about, by its lines in the prompt."""
        found = re.search(r", lines (\d+) to (\d+)", body["messages"][1]["content"])
        assert found is not None
        return next(one for one in self.pieces if (str(one.first_line), str(one.last_line)) == found.groups())

    def script(self, draft: Answer | None = None, review: Answer | None = None, edit: Answer | None = None) -> None:
        """Tell the models what to say; by default each is honest and content."""
        answers = (draft or self.write, review or (lambda _: verdict(100, 100)), edit or draft or self.write)
        for model, answer in zip(MODELS.values(), answers, strict=True):
            self.double.script(model, lambda body, answer=answer: answer(self.of(body)))  # type: ignore[misc]

    def run(self, draft: Answer | None = None, review: Answer | None = None, edit: Answer | None = None) -> Result:
        """Run the pipeline, one piece after another."""
        self.script(draft, review, edit)
        return document(docs.build(), self.source, self.context)

    def run_abreast(self, gate: Gate, at_once: int = 16) -> Result:
        """Run the pipeline as a file of a batch, with so many pieces side by side."""
        context = replace(self.context, models=self.models(gate=gate), side_by_side=at_once)
        with gate.window(1) as [seat], seat:
            return document(docs.build(), self.source, context)

    def write(self, piece: Piece) -> Act:
        """Answer with the piece's page."""
        return reply(self.page(piece))
