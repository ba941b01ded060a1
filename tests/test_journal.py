"""What was answered is on disk before anybody acts on it, and is asked for once, whatever ends the step that asked."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from reflexion.checkpoints import Checkpoints
from reflexion.errors import ModelMissing
from reflexion.large import document, split
from reflexion.ollama.reply import Received
from reflexion.pipelines import docs
from reflexion.runs import find_records, read_record
from tests.conftest import MakeDouble
from tests.large_support import Desk, python_source
from tests.ollama_double import Act, OllamaDouble, reply, status
from tests.support import MODELS, PAGE, CommandLine, verdict
from tests.test_large import MODULE

Body = dict[str, Any]


@pytest.fixture
def checkpoints(tmp_path: Path) -> Iterator[Checkpoints]:
    with Checkpoints(tmp_path) as opened:
        yield opened


def end_step(checkpoints: Checkpoints, thread: str) -> None:
    """Keep a checkpoint, as a graph does at the end of a step."""
    place: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    checkpoints.saver.put(place, empty_checkpoint(), {}, {})


# ------------------------------------------------------------------ the journal itself


def test_a_step_that_begins_again_has_its_answers_once_each_and_in_order(checkpoints: Checkpoints) -> None:
    answers = checkpoints.journal.begin("file")
    answers.keep("one", "first")
    answers.keep("one", "second")
    answers.keep("two", "third")
    assert answers.find("one") is None

    again = checkpoints.journal.begin("file")
    assert [again.find(asked) for asked in ("one", "two", "one", "one")] == ["first", "third", "second", None]


def test_answers_end_with_their_step_and_with_nobody_elses(checkpoints: Checkpoints) -> None:
    for thread in ("file", "other", "file/1-9"):
        checkpoints.journal.begin(thread).keep("one", f"of {thread}")
    end_step(checkpoints, "file")

    found = {thread: checkpoints.journal.begin(thread).find("one") for thread in ("file", "other", "file/1-9")}
    assert found == {"file": None, "other": "of other", "file/1-9": "of file/1-9"}


def test_a_file_that_is_done_leaves_nothing(checkpoints: Checkpoints) -> None:
    for thread in ("file", "file/1-9"):
        checkpoints.journal.begin(thread).keep("one", "answer")
        checkpoints.keep_cut(thread, "cut")
    checkpoints.forget("file")

    assert [checkpoints.journal.begin(thread).find("one") for thread in ("file", "file/1-9")] == [None, None]
    assert [checkpoints.cut_of(thread) for thread in ("file", "file/1-9")] == ["", ""]


@given(st.text(), st.text(), st.integers(0, 10**9), st.floats(0, 1e6))
def test_a_reply_comes_out_of_the_journal_as_it_went_in(text: str, thinking: str, tokens: int, wall_s: float) -> None:
    received = Received()
    received.take(AIMessageChunk(content=text, additional_kwargs={"reasoning_content": thinking}))
    final = {"done_reason": "stop", "eval_count": tokens, "prompt_eval_count": 3, "load_duration": 5}
    received.take(AIMessageChunk(content="", response_metadata=final))
    received.wall_s = wall_s

    kept = Received.from_json(received.as_json())
    assert (kept.text, kept.thinking, kept.records, kept.wall_s) == (text, thinking, 2, wall_s)
    assert kept.is_whole
    assert kept.is_kept
    assert kept.as_json() == received.as_json()


# ------------------------------------------------------------------ a run


def break_checkpoints(folder: Path) -> None:
    """Let the database refuse what the first step gave, as a full disk does after its answer is there."""
    with Checkpoints(folder) as kept:
        end_step(kept, "a thread that keeps the database")
        with kept.saver.cursor() as cursor:
            refusal = "SELECT RAISE(ABORT, 'database or disk is full')"
            cursor.execute(
                f"CREATE TRIGGER full BEFORE INSERT ON writes WHEN NEW.channel = 'draft' BEGIN {refusal}; END"
            )


def mend_checkpoints(folder: Path) -> None:
    """Make room again."""
    with closing(sqlite3.connect(folder / ".reflexion" / "checkpoints.sqlite")) as database:
        database.execute("DROP TRIGGER full")
        database.commit()


def test_an_answer_that_no_checkpoint_holds_is_not_asked_for_again(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    cli.source()
    ollama_double.script("gen:1b", reply(PAGE))
    ollama_double.script("critic:1b", verdict(100, 100))
    ollama_double.script("adj:1b", reply(PAGE))
    break_checkpoints(cli.folder / "output")
    ended = cli.run("-i", "add.py")
    assert ended.code == 4
    assert "the checkpoints cannot be kept: database or disk is full; make room on the disk" in ended.out
    assert "Traceback" not in ended.out + ended.err

    mend_checkpoints(cli.folder / "output")
    assert cli.run("-i", "add.py").code == 0
    assert len(ollama_double.chats("gen:1b")) == 1
    ollama_double.assert_all_played()
    record = read_record(find_records(cli.folder / "output")[-1])
    [call] = [one for one in record["files"][0]["rounds"][0]["calls"] if one["role"] == "GENERATOR"]
    assert call["outcome"] == "ok"
    assert call["wall_s"] > 0


def test_what_the_journal_answers_costs_no_budget(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    ollama_double.script("gen:1b", reply(PAGE, prompt_eval_count=5_000))
    ollama_double.script("critic:1b", verdict(100, 100))
    ollama_double.script("adj:1b", reply(PAGE))
    break_checkpoints(cli.folder / "output")
    cli.run("-i", "add.py")
    mend_checkpoints(cli.folder / "output")
    assert cli.run("-i", "add.py", "--max-tokens", "4000").code == 0


def test_of_a_step_that_broke_off_between_two_questions_only_the_second_is_asked(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    cli.source()
    ollama_double.script("gen:1b", reply(PAGE))
    ollama_double.script("critic:1b", reply("It is good."), status(404, "model 'critic:1b' not found"))
    ollama_double.script("adj:1b", reply(PAGE))
    assert cli.run("-i", "add.py").code == 3

    ollama_double.script("critic:1b", verdict(100, 100))
    assert cli.run("-i", "add.py").code == 0
    asked = [body["messages"][-1]["content"] for body in ollama_double.chats("critic:1b")]
    assert len(asked) == 3
    assert asked[0] not in asked[1:]
    assert asked[1] == asked[2]


def test_a_reply_that_was_cut_is_not_asked_for_again_either(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    cut = reply("# Add", done_reason="length")
    ollama_double.script("gen:1b", cut, status(404, "model 'gen:1b' not found"))
    assert cli.run("-i", "add.py").code == 3

    ollama_double.script("gen:1b", reply(PAGE))
    ollama_double.script("critic:1b", verdict(100, 100))
    ollama_double.script("adj:1b", reply(PAGE))
    assert cli.run("-i", "add.py").code == 0
    rooms = [body["options"]["num_predict"] for body in ollama_double.chats("gen:1b")]
    assert rooms[0] < rooms[1] == rooms[2]


# ------------------------------------------------------------------ a large source


def test_a_large_source_is_cut_where_it_was_cut_before(make_ollama_double: MakeDouble, tmp_path: Path) -> None:
    double = make_ollama_double(repeat_last=True)
    desk = Desk(double, python_source(MODULE))
    third = desk.pieces[2]
    away = {"is": True}

    def draft(body: Body) -> Act:
        piece = desk.of(body)
        gone = away["is"] and piece == third
        return status(404, "model 'gen:1b' not found") if gone else desk.write(piece)

    double.script(MODELS["GENERATOR"], draft)
    double.script(MODELS["CRITIC"], lambda _: verdict(100, 100))
    double.script(MODELS["ADJUDICATOR"], lambda body: desk.write(desk.of(body)))
    with Checkpoints(tmp_path) as checkpoints:
        graph = docs.build(checkpoints.saver)
        first, second = (replace(desk.context, models=desk.models(checkpoints.journal)) for _ in range(2))
        with pytest.raises(ModelMissing):
            document(graph, desk.source, first, "thread", checkpoints)
        away["is"] = False
        # The first run had learned nothing when it cut; the second has, from other files.
        second.models.expect(dict.fromkeys(MODELS.values(), 1.5))
        assert split(desk.source, second) != desk.all_pieces
        result = document(graph, desk.source, second, "thread", checkpoints)

    assert result.outcome == "accepted"
    asked = [desk.of(body) for body in double.chats(MODELS["GENERATOR"])]
    assert asked == [*desk.pieces[:3], *desk.pieces[2:]]
