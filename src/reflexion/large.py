"""A source of any size through the documentation pipeline: in pieces where it does not fit, verified as a whole."""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Protocol

from reflexion.config import DOCS_ROLES, Role
from reflexion.context import DocsContext
from reflexion.errors import CallFailed, PromptTooLarge, ReflexionError
from reflexion.events import Event, NodeStarted, Note, RoundScored, TokensReceived
from reflexion.evidence.assemble import render
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source as Names
from reflexion.evidence.verify import verify
from reflexion.graphs import Graph
from reflexion.joining import join_pages
from reflexion.loaders import Source
from reflexion.ollama.reply import CallStats
from reflexion.ollama.roles import Models
from reflexion.ollama.window import SMALLEST_REPLY
from reflexion.outcome import Result
from reflexion.pieces import Piece, facts_of_piece, split_source
from reflexion.pipelines import docs
from reflexion.prompts.docs import adjudicator_messages, critic_messages, generator_messages
from reflexion.rounds import Round
from reflexion.settle import Candidate, Settled, settle
from reflexion.threads import start
from reflexion.verdict import errors_in

# Tokens of the longest fix that a prompt may quote, see ``verdict``.
LONGEST_FIX = 400
NO_ROOM = "> Written from facts alone: this code does not fit the model's window."
NO_PAGE = "> Written from facts alone: no usable page of this code came from the models."


@dataclass(frozen=True, slots=True)
class _Part:
    """What became of one piece. ``result`` is None where no model was asked or none gave a page: ``trouble`` says why.

    ``error`` is what the pipeline ended with, where it was asked in vain.
    """

    piece: Piece
    page: str
    result: Result | None = None
    trouble: str = ""
    error: CallFailed | None = None
    rounds: tuple[Round, ...] = field(default=())

    @property
    def lines(self) -> str:
        """Where it stands in the source."""
        return _lines(self.piece)


class Cuts(Protocol):
    """Keeps how sources were cut, as long as their checkpoints."""

    def cut_of(self, thread: str) -> str:
        """Return what was kept for a thread, "" where nothing was."""

    def keep_cut(self, thread: str, cut: str) -> None:
        """Keep a text for a thread."""


def document(graph: Graph, source: Source, context: DocsContext, thread: str = "", cuts: Cuts | None = None) -> Result:
    """Run the pipeline on a source, piece by piece where it does not fit the smallest window of the roles.

    The pages of the pieces are joined, and repaired and verified as one page. It is accepted when the page of every
    piece is, and the page as a whole has no error. What does not fit and cannot be cut is written from facts and
    marked; so is a piece whose calls failed, and then the page is not accepted. A text that is not Python has no
    facts, so the page says which lines are missing. With ``thread`` what its checkpoints hold is taken up; pieces
    have threads below it, and are those that ``cuts`` has of it.

    Raises what ``docs.document`` raises; CallFailed where no piece gave a page.
    """
    pieces = _pieces(source, context, cuts if thread else None, thread)
    if len(pieces) == 1 and not pieces[0].facts_only:
        return docs.document(graph, source, context, thread)
    whole = context.for_source(source)
    parts = _document_pieces(graph, source, pieces, whole, thread)
    if all(part.result is None for part in parts):
        _refuse_without_page(source, parts, _window(context))
    return _as_one(source, parts, whole)


def split(source: Source, context: DocsContext) -> list[Piece]:
    """Cut a source so that each piece, its prompt's words, its page and a reply fit the smallest window of the roles.

    A window that has no room for the words is left to the pipeline, which refuses it.
    """
    bindings = context.models.bindings
    limits = {role: bindings[role].settings.num_predict or SMALLEST_REPLY for role in DOCS_ROLES}
    reply = min(SMALLEST_REPLY, max(limits.values()))
    text = source.facts.text if source.facts else source.text
    budget = _window(context) - _words(source, context) - reply
    if budget <= 0:
        return [Piece(text, "", (), 1)]
    # A reply that was cut is asked for again once, with twice the room.
    page = 2 * min(limits[Role.GENERATOR], limits[Role.ADJUDICATOR])
    return split_source(text, source.facts, budget, context.models.estimate, page)


def _pieces(source: Source, context: DocsContext, cuts: Cuts | None, thread: str) -> list[Piece]:
    """Cut a source, or return the pieces that it was cut into before.

    A new cut follows what was learned about tokens by now, and would make other pieces of it than before a kill.
    """
    if cuts is None:
        return split(source, context)
    if kept := cuts.cut_of(thread):
        cut = json.loads(kept)
        context.models.expect(cut["learned"])
        return [Piece(**{**piece, "symbols": tuple(piece["symbols"])}) for piece in cut["pieces"]]
    learned = context.models.learned
    pieces = split(source, context)
    cuts.keep_cut(thread, json.dumps({"learned": learned, "pieces": [asdict(piece) for piece in pieces]}))
    return pieces


def _window(context: DocsContext) -> int:
    return min(binding.window for binding in context.models.bindings.values())


def _words(source: Source, context: DocsContext) -> int:
    """Tokens of the longest prompt without source, facts and page."""
    state: docs.State = {"name": source.label, "source": "", "rounds": [], "draft": ""}
    nothing = Round(
        number=1, draft="", technical_accuracy=None, completeness=None, score=None, contract=None, examples=None,
        skipped=False, findings=[], fix="", trouble="", calls=[],
    )  # fmt: skip
    bare = replace(context, facts=None)
    prompts = (
        generator_messages(state, bare),
        critic_messages(state, bare),
        adjudicator_messages(state, bare, nothing),
    )
    return LONGEST_FIX + max(context.models.estimate(message.text for message in prompt) for prompt in prompts)


def _lines(piece: Piece) -> str:
    return f"lines {piece.first_line} to {piece.last_line}"


def _document_pieces(
    graph: Graph, source: Source, pieces: Sequence[Piece], whole: DocsContext, thread: str
) -> list[_Part]:
    asked = _asked(source, pieces)
    whole.emit(Note(f"{source.label}: does not fit the window whole; goes in {len(asked)} pieces"))
    parts: list[_Part] = []
    while len(parts) < len(asked):
        width = max(1, whole.models.abreast(min(len(asked) - len(parts), whole.side_by_side)))
        these = [
            _Ask(graph, source, piece, place, len(asked), whole, thread)
            for place, piece in enumerate(asked[len(parts) : len(parts) + width], len(parts) + 1)
        ]
        parts += _ask_abreast(these, whole.models, parts)
    return parts


def _ask_abreast(these: "Sequence[_Ask]", models: Models, before: Sequence[_Part]) -> list[_Part]:
    """Ask about these pieces side by side, so that each model is loaded for all of them at once; wait for all.

    Raises the first error in their order, with the rounds of all pieces, ``before`` included.
    """
    with models.parts(len(these)) as seats:
        futures = [start(partial(ask.run, seat)) for ask, seat in zip(these, seats, strict=True)]
        wait(futures)
    errors = [error for future in futures if (error := future.exception()) is not None]
    done = [future.result() for future in futures if future.exception() is None]
    if errors:
        first = errors[0]
        if isinstance(first, ReflexionError):
            broken = [one for error in errors if isinstance(error, ReflexionError) for one in error.rounds]
            first.rounds = [*_rounds([*before, *done]), *broken]
        raise first
    return done


@dataclass(frozen=True, slots=True)
class _Ask:
    """A piece that is to be documented, the ``place``-th of ``count``."""

    graph: Graph
    source: Source
    piece: Piece
    place: int
    count: int
    whole: DocsContext
    thread: str

    def run(self, seat: AbstractContextManager[object]) -> _Part:
        """Document it in its seat at the gate, and say what has to be said of it."""
        label, lines = self.source.label, _lines(self.piece)
        with seat:
            self.whole.emit(Note(f"{label}: piece {self.place} of {self.count}, {lines}"))
            part = _document_piece(self.graph, self.source, self.piece, self.whole, self.thread)
        if part.trouble:
            written = "written from facts alone" if part.page else "not documented"
            self.whole.emit(Note(f"{label}: {lines}: {part.trouble}; {written}"))
        return part


def _asked(source: Source, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that hold something public; where nothing is, all that hold something."""
    public = [piece for piece in pieces if source.facts and _is_required(source.facts, piece)]
    return public or [piece for piece in pieces if piece.text.strip()]


def _is_required(facts: Facts, piece: Piece) -> bool:
    return bool(required_symbols(Names(facts_of_piece(facts, piece))))


def _document_piece(graph: Graph, source: Source, piece: Piece, whole: DocsContext, thread: str) -> _Part:
    facts = facts_of_piece(source.facts, piece) if source.facts else None
    if piece.facts_only:
        return _Part(piece, _from_facts(facts, NO_ROOM), trouble="does not fit the window and cannot be cut")
    # Its name is its own, so that what is kept of its work is found again.
    name = f"{source.label}, {_lines(piece)}"
    try:
        part = replace(source, label=name, text=piece.shown, facts=facts)
        place = thread and f"{thread}/{piece.first_line}-{piece.last_line}"
        result = docs.document(graph, part, _for_piece(whole, source, _lines(piece)), place)
    except CallFailed as error:
        rounds: Iterable[Round] = error.rounds  # type: ignore[assignment]
        return _Part(piece, _from_facts(facts, NO_PAGE), trouble=str(error), error=error, rounds=tuple(rounds))
    return _Part(piece, result.text.replace(name, source.label), result, rounds=result.rounds)


def _for_piece(whole: DocsContext, source: Source, lines: str) -> DocsContext:
    """The context of a piece: examples run against the whole source, and events tell of it by its name and lines."""

    def emit(event: Event) -> None:
        if isinstance(event, NodeStarted | TokensReceived | RoundScored):
            event = replace(event, source=source.label, part=lines)
        whole.emit(event)

    examples = whole.examples
    return replace(whole, emit=emit, examples_of=None if examples is None else lambda _: examples)


def _from_facts(facts: Facts | None, mark: str) -> str:
    """The page of a piece without a model's text, every section of it marked; "" where nothing is known of it."""
    if facts is None or not required_symbols(Names(facts)):
        return ""
    return "\n".join(f"{line}\n\n{mark}" if line.startswith("##") else line for line in render(facts).split("\n"))


def _refuse_without_page(source: Source, parts: Sequence[_Part], window: int) -> None:
    """Raise when models were asked and none gave a page, or when nothing can be written without them."""
    failed = [part.error for part in parts if part.error is not None]
    if failed:
        error = CallFailed(f"no usable page of any of its {len(parts)} pieces; the last trouble: {failed[-1]}")
        error.rounds = list(_rounds(parts))
        raise error from failed[-1]
    if not any(part.page for part in parts):
        what = f"{source.label}: too large for a window of {window} tokens, and cannot be cut"
        raise PromptTooLarge(f"{what}; raise num_ctx")


def _rounds(parts: Iterable[_Part]) -> Iterator[Round]:
    for part in parts:
        yield from part.rounds


def _as_one(source: Source, parts: Sequence[_Part], whole: DocsContext) -> Result:
    """Join, repair and verify as it ships, and name the outcome."""
    results = [part.result for part in parts if part.result is not None]
    scores = [result.score for result in results]
    score = min((one for one in scores if one is not None), default=None) if None not in scores else None
    settled = _settle(source, parts, score, whole)
    # A piece that no model can be asked about is no fault of a page, as long as what is known of it stands there.
    failed = any(part.error is not None or not part.page for part in parts)
    accepted = bool(results) and not failed and all(result.outcome == "accepted" for result in results)
    mended = [f"{part.lines}: {line}" for part in parts if part.result for line in part.result.mended]
    return Result(
        outcome="accepted" if accepted and not errors_in(settled.findings) else "not accepted",
        text=settled.text,
        score=score,
        stop=_stop(results),
        adjudication=next((one.adjudication for one in results if one.adjudication not in ("", "done")), "done"),
        findings=tuple(settled.findings),
        rounds=tuple(_rounds(parts)),
        calls=tuple(_calls(parts)),
        mended=(*mended, *settled.mended),
        assembled=settled.assembled or any(result.assembled for result in results),
        examples=whole.run_examples(settled.text),
    )


def _settle(source: Source, parts: Sequence[_Part], score: int | None, whole: DocsContext) -> Settled:
    pages = [part.page for part in parts]
    missing = [f"> Not documented, since no page came of it: {part.lines}." for part in parts if not part.page]
    joined = join_pages(pages, source.facts, [part.piece.symbols for part in parts])
    text = "\n\n".join([joined.rstrip("\n"), *missing]) + "\n"

    def check(text: str) -> list[Finding]:
        return verify(text, source.facts, off=whole.rules_off, source_text=source.text, examples=whole.examples)

    return settle([Candidate(text, score, check(text))], source.facts, check)


def _stop(results: Sequence[Result]) -> str:
    """The reason of the first piece that is not accepted, else of the last."""
    if not results:
        return "window too small"
    return next((one.stop for one in results if one.outcome != "accepted"), results[-1].stop)


def _calls(parts: Iterable[_Part]) -> Iterator[CallStats]:
    for part in parts:
        if part.result is not None:
            yield from part.result.calls
        else:
            yield from (CallStats(**call) for one in part.rounds for call in one["calls"])
