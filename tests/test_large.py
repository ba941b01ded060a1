"""A source that does not fit the window, through the whole pipeline."""

from dataclasses import replace
from itertools import groupby

import pytest

from benchmarks.large import generated_module
from reflexion.config import DOCS_ROLES
from reflexion.errors import CallFailed, PromptTooLarge, ServerError
from reflexion.events import NodeStarted, Note, RoundScored
from reflexion.evidence.assemble import render
from reflexion.evidence.examples.report import RunsExamples
from reflexion.evidence.verify import verify
from reflexion.examples import Examples
from reflexion.large import NO_PAGE, NO_ROOM, document
from reflexion.loaders import Source
from reflexion.ollama.gate import Gate
from reflexion.ollama.window import estimate_tokens
from reflexion.pieces import Piece
from reflexion.pipelines import docs
from reflexion.verdict import errors_in
from tests.conftest import MakeDouble
from tests.large_support import WINDOW, Desk, other_source, python_source
from tests.ollama_double import Act, OllamaDouble, reply, status
from tests.support import MODELS, SOURCE, verdict

MODULE = generated_module(420)
HUGE = "\n\ndef huge(a: int) -> int:\n" + "".join(f"    a = a + {n}\n" for n in range(2500)) + "    return a\n"
AFTER = "\n\ndef after(b: int = 333) -> int:\n    return b\n"
SCRIPT = "".join(f"function f{n}(a) {{\n  return a * {n};\n}}\n\n" for n in range(700))
LONG_LINE = f"const table = '{'long ' * 8000}';\n\n"


@pytest.fixture
def double(make_ollama_double: MakeDouble) -> OllamaDouble:
    """A double whose models answer as often as they are asked."""
    return make_ollama_double(repeat_last=True)


def notes(desk: Desk) -> list[str]:
    """What a run said beside its rounds."""
    return [event.text for event in desk.events if isinstance(event, Note)]


def test_a_large_source_is_documented_whole(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))

    result = desk.run()

    assert desk.source.facts is not None
    assert len(desk.pieces) > 2
    assert (result.outcome, result.score, result.findings) == ("accepted", 100, ())
    assert result.text == render(desk.source.facts)
    assert [item["number"] for item in result.rounds] == [1] * len(desk.pieces)
    assert len(result.calls) == 3 * len(desk.pieces)


def test_every_prompt_fits_and_is_about_one_piece(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    desk.run()

    asked = double.chats(MODELS["GENERATOR"])
    assert [desk.of(body) for body in asked] == desk.pieces
    for body in double.chats():
        assert estimate_tokens(message["content"] for message in body["messages"]) <= WINDOW - 1024


def test_events_name_the_source_and_notes_the_piece(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    result = desk.run()

    assert {event.source for event in desk.events if isinstance(event, NodeStarted | RoundScored)} == {"module.py"}
    last = desk.pieces[-1]
    count = len(desk.pieces)
    assert f"module.py: piece {count} of {count}, lines {last.first_line} to {last.last_line}" in notes(desk)
    assert "lines 1 to" not in result.text


def test_the_name_of_a_piece_does_not_stay_in_the_page(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))

    def draft(piece: Piece) -> Act:
        title = f"# module.py, lines {piece.first_line} to {piece.last_line}\n"
        return reply(title + desk.page(piece).partition("\n")[2])

    assert desk.run(draft).text.startswith("# module.py\n")


def test_a_small_source_goes_whole(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(SOURCE, "add"))
    page = desk.page(desk.pieces[0])
    for model in MODELS.values():
        double.script(model, verdict(100, 100) if model == MODELS["CRITIC"] else reply(page))

    assert document(docs.build(), desk.source, desk.context).text == page
    assert notes(desk) == []
    assert "Document this source file: add.py\n" in double.chats()[0]["messages"][1]["content"]


def test_a_symbol_that_does_not_fit_is_written_from_facts_and_marked(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE + HUGE + AFTER))
    assert [piece.symbols for piece in desk.all_pieces if piece.facts_only] == [("huge",)]

    result = desk.run()

    assert result.outcome == "accepted"
    assert result.text.count(NO_ROOM) == 1
    assert f"## Function `huge`\n\n{NO_ROOM}\n" in result.text
    assert desk.source.facts is not None
    assert result.text.replace(f"{NO_ROOM}\n\n", "") == render(desk.source.facts)
    assert any("cannot be cut; written from facts alone" in note for note in notes(desk))


def test_a_source_of_which_nothing_fits_is_written_from_facts_and_not_accepted(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(HUGE))

    result = desk.run()

    assert (result.outcome, result.score, result.stop, result.rounds) == ("not accepted", None, "window too small", ())
    assert NO_ROOM in result.text
    assert double.chats() == []


def test_a_piece_that_fails_costs_the_acceptance_and_nothing_else(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    lost = desk.pieces[1]

    result = desk.run(lambda piece: status(400, "no") if piece == lost else desk.write(piece))

    assert (result.outcome, errors_in(result.findings)) == ("not accepted", [])
    assert desk.source.facts is not None
    assert set(result.text.splitlines()) - {NO_PAGE} == set(render(desk.source.facts).splitlines())
    marked = [part.partition("\n")[0] for part in result.text.split("\n## ") if f"\n{NO_PAGE}\n" in part]
    assert marked
    assert all(any(f"`{name}`" in title for name in lost.symbols) for title in marked if title != "Constants")
    assert len(result.rounds) == len(desk.pieces) - 1
    assert any("the server answered 400" in note and note.endswith("written from facts alone") for note in notes(desk))


def test_rounds_of_a_piece_that_fails_are_kept(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    lost = desk.pieces[0]

    result = desk.run(lambda piece: reply("") if piece == lost else desk.write(piece))

    assert result.outcome == "not accepted"
    assert [item["draft"] == "" for item in result.rounds] == [True] + [False] * (len(desk.pieces) - 1)
    assert len(result.calls) == 2 + 3 * (len(desk.pieces) - 1)


def test_when_every_piece_fails_the_file_does(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))

    with pytest.raises(CallFailed, match="no usable page of any of its") as caught:
        desk.run(lambda _: reply(""))
    assert len(caught.value.rounds) == len(desk.pieces)


@pytest.mark.parametrize("at_once", [1, 2, 16])
def test_pieces_side_by_side_load_each_model_once_a_stage(double: OllamaDouble, at_once: int) -> None:
    desk, gate = Desk(double, python_source(MODULE)), Gate(DOCS_ROLES)
    desk.script()

    result = desk.run_abreast(gate, at_once)

    assert desk.source.facts is not None
    assert (result.outcome, result.text) == ("accepted", render(desk.source.facts))
    steps = -(-len(desk.pieces) // at_once)
    assert [model for model, _ in groupby(body["model"] for body in double.chats())] == [*MODELS.values()] * steps
    assert gate.state()[:5] == (0, 0, 0, MODELS["ADJUDICATOR"], 3 * steps)
    parts = {event.part for event in desk.events if isinstance(event, NodeStarted)}
    assert parts == {f"lines {piece.first_line} to {piece.last_line}" for piece in desk.pieces}


def test_where_all_models_stay_loaded_pieces_go_one_after_another(double: OllamaDouble) -> None:
    desk, gate = Desk(double, python_source(MODULE)), Gate(DOCS_ROLES, fits_together=True)
    desk.script()

    assert desk.run_abreast(gate).outcome == "accepted"
    assert [body["model"] for body in double.chats()] == [*MODELS.values()] * len(desk.pieces)


def test_a_piece_that_fails_side_by_side_costs_the_acceptance_and_nothing_else(double: OllamaDouble) -> None:
    desk, gate = Desk(double, python_source(MODULE)), Gate(DOCS_ROLES)
    lost = desk.pieces[1]
    desk.script(lambda piece: status(400, "no") if piece == lost else desk.write(piece))

    result = desk.run_abreast(gate)

    assert (result.outcome, errors_in(result.findings)) == ("not accepted", [])
    assert len(result.rounds) == len(desk.pieces) - 1
    assert NO_PAGE in result.text
    assert gate.state()[:3] == (0, 0, 0)


def test_when_the_server_goes_away_side_by_side_finished_rounds_are_kept(double: OllamaDouble) -> None:
    desk, gate = Desk(double, python_source(MODULE)), Gate(DOCS_ROLES)

    def edit(piece: Piece) -> Act:
        if piece == desk.pieces[1]:
            double.stop_listening()
        return desk.write(piece)

    desk.script(edit=edit)
    with pytest.raises(ServerError) as caught:
        desk.run_abreast(gate)
    assert len(caught.value.rounds) == len(desk.pieces)
    assert gate.state()[:3] == (0, 0, 0)


def test_when_the_server_goes_away_finished_rounds_are_kept(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))

    def draft(piece: Piece) -> Act:
        if piece == desk.pieces[1]:
            double.stop_listening()
        return desk.write(piece)

    with pytest.raises(ServerError) as caught:
        desk.run(draft)
    assert len(caught.value.rounds) == 1


def test_it_is_accepted_only_when_every_piece_is(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    poor = desk.pieces[-1]

    result = desk.run(review=lambda piece: verdict(40, 40, "Say more.") if piece == poor else verdict(100, 100))

    assert (result.outcome, result.score, result.stop) == ("not accepted", 40, "attempts spent")


def test_a_piece_without_a_verdict_leaves_the_whole_unscored(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    unread = desk.pieces[0]

    result = desk.run(review=lambda piece: reply("Fine.") if piece == unread else verdict(100, 100))

    assert (result.outcome, result.score) == ("not accepted", None)


def test_what_code_mends_in_a_piece_is_told_with_its_lines(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE + AFTER))
    last = desk.pieces[-1]

    result = desk.run(
        lambda piece: reply(desk.page(piece).replace("`333`", "`444`")) if piece == last else desk.write(piece)
    )

    assert errors_in(result.findings) == []
    assert "| `b` | `int` | `333` |" in result.text
    assert [line.partition(":")[0] for line in result.mended] == [f"lines {last.first_line} to {last.last_line}"]


def test_examples_run_against_the_whole_source(double: OllamaDouble) -> None:
    desk = Desk(double, python_source(MODULE))
    examples, sources = Examples(), list[Source]()

    def examples_of(source: Source) -> RunsExamples:
        sources.append(source)
        return examples.of(source.path, source.text, source.name)

    desk.context = replace(desk.context, examples_of=examples_of)
    first = "\n```python\nfrom module import function_1\n\nprint(function_1(1))\n```\n\nOutput:\n\n```\nx1\n```\n"
    last = desk.pieces[-1]
    result = desk.run(lambda piece: reply(desk.page(piece) + first * (piece == last)))

    assert result.outcome == "accepted"
    assert sources == [desk.source]
    assert result.examples is not None
    assert result.examples.total == 1


def test_text_in_another_language_goes_in_pieces(double: OllamaDouble) -> None:
    desk = Desk(double, other_source(SCRIPT))

    result = desk.run()

    assert (result.outcome, len(desk.pieces) > 1) == ("accepted", True)
    assert [f"## Part {piece.first_line}" in result.text for piece in desk.pieces] == [True] * len(desk.pieces)


def test_a_line_of_another_language_that_does_not_fit_is_told_to_be_missing(double: OllamaDouble) -> None:
    desk = Desk(double, other_source(SCRIPT + LONG_LINE))
    [long] = [piece for piece in desk.all_pieces if piece.facts_only]

    result = desk.run()

    lines = f"lines {long.first_line} to {long.last_line}"
    assert result.outcome == "not accepted"
    assert result.text.endswith(f"\n> Not documented, since no page came of it: {lines}.\n")
    assert errors_in(verify(result.text, None)) == []
    assert any(lines in note and note.endswith("not documented") for note in notes(desk))


def test_nothing_but_such_a_line_is_refused(double: OllamaDouble) -> None:
    with pytest.raises(PromptTooLarge, match="too large for a window of 8192 tokens"):
        Desk(double, other_source(LONG_LINE)).run()
    assert double.chats() == []


def test_a_window_without_room_for_the_words_is_refused(double: OllamaDouble) -> None:
    with pytest.raises(PromptTooLarge, match="too many for a window of 512"):
        Desk(double, python_source(MODULE), window=512).run()
    assert double.chats() == []


def test_private_code_is_passed_over_unless_nothing_is_public(
    double: OllamaDouble, make_ollama_double: MakeDouble
) -> None:
    private = generated_module(700).replace("def function_", "def _function_").replace("class Thing", "class _Thing")
    private = private.replace("CONST_", "_CONST_").replace("LIMIT", "_LIMIT")
    desk = Desk(double, python_source(private + AFTER))
    assert len(desk.pieces) == 1
    assert desk.run().outcome == "accepted"

    double = make_ollama_double(repeat_last=True)
    desk = Desk(double, python_source(private))
    assert desk.pieces == []
    desk.pieces = desk.all_pieces
    page = "# Numbers\n\nThis module keeps its parts to itself, and nothing of it is meant to be called.\n"
    assert desk.run(lambda _: reply(page)).text == page
