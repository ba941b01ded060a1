"""What only tokens show: limits, stops, seeds, schemas, the window and the cache. Not of the double."""

import json
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import pytest

from tests.conformance.subjects import ENDLESS, WINDOW, Body, Subject, of_writers, succeeded

STORY = "Tell me a story."
SMALL = 16
SCORES = {
    "type": "object",
    "properties": {
        "technical_accuracy": {"type": "integer", "minimum": 0, "maximum": 100},
        "completeness": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["technical_accuracy", "completeness"],
}

pytestmark = of_writers


@pytest.mark.parametrize("num_predict", [1, 5])
def test_num_predict_is_the_most_that_is_written(subject: Subject, num_predict: int) -> None:
    record = subject.chat(STORY, options={"num_predict": num_predict})
    assert (record["done_reason"], record["eval_count"]) == ("length", num_predict)


@pytest.mark.parametrize("num_predict", [0, -1, None])
def test_no_limit_ends_when_the_model_does(subject: Subject, num_predict: int | None) -> None:
    record = subject.chat("Yes or no?", format={"type": "boolean"}, options={"num_predict": num_predict})
    assert record["done_reason"] == "stop"


def test_temperature_zero_is_the_same_every_time_as_is_one_choice(subject: Subject) -> None:
    greedy: list[Body] = [{"temperature": 0, "seed": 1}, {"temperature": 0, "seed": 2}, {"temperature": 2, "top_k": 1}]
    assert len({subject.text(STORY, options=options) for options in greedy}) == 1


def test_a_seed_is_the_same_draw_and_another_is_not(subject: Subject) -> None:
    def drawn(seed: int) -> str:
        return subject.text(STORY, options={"temperature": 1.5, "seed": seed, "num_predict": 8})

    assert drawn(5) == drawn(5)
    assert drawn(-7) == drawn(-7)
    assert len({drawn(seed) for seed in range(4)}) > 1


def test_to_look_back_less_than_nothing_is_to_penalise_nothing(subject: Subject) -> None:
    def written(**options: float) -> str:
        body = subject.generate_body("The dog runs. The dog runs.", raw=True, options={"num_predict": 8, **options})
        return str(succeeded(subject.post("/api/generate", body))["response"])

    free = written(repeat_penalty=1)
    assert free != written(repeat_penalty=1.5)
    for back in (0, -1):
        assert written(repeat_penalty=1.5, repeat_last_n=back) == free


def test_a_stop_ends_the_reply_before_it(subject: Subject) -> None:
    text = subject.text(STORY, options={"num_predict": 8})
    stop = text.split()[1]
    record = subject.chat(STORY, options={"num_predict": 8, "stop": ["never said", stop]})
    assert (record["message"]["content"], record["done_reason"]) == (text[: text.index(stop)], "stop")


def test_a_stop_is_never_streamed(subject: Subject) -> None:
    body = subject.chat_body(STORY, options={"num_predict": 8})
    whole = "".join(part["message"]["content"] for part in subject.stream("/api/chat", body)[1])
    # It begins in one token and ends in the next.
    stop = whole[3:8]
    cut = subject.chat_body(STORY, options={"num_predict": 8, "stop": [stop]})
    assert (
        "".join(part["message"]["content"] for part in subject.stream("/api/chat", cut)[1])
        == whole[: whole.index(stop)]
    )


class Schema(NamedTuple):
    """A schema, and whether a value keeps it."""

    name: str
    schema: Body
    kept: Callable[[Any], bool]


def is_date(value: object) -> bool:
    return isinstance(value, str) and bool(date.fromisoformat(value))


SCHEMAS = [
    Schema("a range", {"type": "integer", "minimum": 0, "maximum": 100}, lambda v: type(v) is int and 0 <= v <= 100),
    Schema("a range below zero", {"type": "integer", "minimum": -9, "maximum": -2}, lambda v: v in range(-9, -1)),
    Schema("a choice", {"enum": ["abc", "abd"]}, lambda v: v in ("abc", "abd")),
    Schema("a constant", {"const": "abc"}, lambda v: v == "abc"),
    Schema("either", {"anyOf": [{"type": "boolean"}, {"type": "null"}]}, lambda v: v in (True, False, None)),
    Schema("types", {"type": ["boolean", "null"]}, lambda v: v in (True, False, None)),
    Schema("a reference", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, lambda v: v in (True, False)),
    Schema("lengths", {"type": "string", "minLength": 3, "maxLength": 5}, lambda v: 3 <= len(v) <= 5),
    Schema(
        "a list", {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2}, lambda v: len(v) == 2
    ),
    Schema("a date", {"type": "string", "format": "date"}, is_date),
    Schema(
        "an object",
        {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}}, "required": ["a"]},
        lambda v: isinstance(v, dict) and {"a"} <= v.keys() <= {"a", "b"},
    ),
    Schema(
        "an object without its type",
        {"properties": {"a": {"type": "boolean"}}, "required": ["a"]},
        lambda v: isinstance(v, dict) and v.keys() == {"a"},
    ),
    Schema("an unknown word", {"type": "boolean", "zzz": 1}, lambda v: v in (True, False)),
    Schema("a pattern of letters", {"type": "string", "pattern": "^a+$"}, lambda v: set(v) == {"a"}),
]


@pytest.mark.parametrize("case", [pytest.param(schema, id=schema.name) for schema in SCHEMAS])
def test_a_schema_is_kept(subject: Subject, case: Schema) -> None:
    record = subject.chat(format=case.schema, options={"num_predict": 48})
    assert record["done_reason"] == "stop", record
    assert case.kept(json.loads(record["message"]["content"]))


@pytest.mark.parametrize("seed", range(3))
def test_scores_stay_in_their_range_at_any_temperature(subject: Subject, seed: int) -> None:
    options = {"num_predict": 60, "temperature": 1.0, "seed": seed}
    record = subject.chat("Grade this page.", format=SCORES, options=options)
    assert record["done_reason"] == "stop"
    scores = json.loads(record["message"]["content"])
    assert all(0 <= scores[name] <= 100 for name in ("technical_accuracy", "completeness"))


@pytest.mark.parametrize("wanted", ["json", {}])
def test_format_json_is_an_object(subject: Subject, wanted: object) -> None:
    assert subject.text("List a name as JSON.", format=wanted, options={"num_predict": 8}).lstrip().startswith("{")


def test_a_small_window_cuts_the_prompt_and_not_the_reply(subject: Subject) -> None:
    long = subject.chat("word " * (4 * SMALL), options={"num_ctx": SMALL, "num_predict": 2 * SMALL})
    assert long["prompt_eval_count"] == SMALL
    assert long["eval_count"] <= 2 * SMALL
    options = {"num_ctx": SMALL, "num_predict": 2 * SMALL}
    endless = subject.chat("Go on.", format=ENDLESS, options=options)
    assert (endless["done_reason"], endless["eval_count"]) == ("length", 2 * SMALL)


def test_the_system_message_stays_when_the_oldest_are_cut(subject: Subject) -> None:
    system = {"role": "system", "content": "Be brief."}
    last = {"role": "user", "content": "What is two and two?"}
    old = [{"role": role, "content": "so " * 30} for role in ("user", "assistant") * 3]
    short, long = (subject.chat(messages=[system, *before, last]) for before in ([], old))
    # Of the old ones as many of the newest stay as fit; at least one of them had to go.
    assert short["prompt_eval_count"] <= long["prompt_eval_count"] <= WINDOW


def test_the_assistants_message_at_the_end_is_over(subject: Subject) -> None:
    asked = [{"role": "user", "content": "Go on."}]
    alone, answered = (subject.chat(messages=m) for m in (asked, [*asked, {"role": "assistant", "content": "The"}]))
    # Its one word, its end, and the beginning of the next one.
    assert answered["prompt_eval_count"] > alone["prompt_eval_count"] + 3


def test_the_same_prompt_again_is_read_from_the_cache_but_counted(subject: Subject) -> None:
    subject.unload()
    text = " ".join(f"n{number}" for number in range(28))
    messages = [{"role": "user", "content": text}]
    longer = [*messages, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And?"}]
    first, again, extended = (
        subject.chat(messages=asked, options={"num_predict": 1}) for asked in (messages, messages, longer)
    )
    assert (
        WINDOW / 2 < first["prompt_eval_count"] == again["prompt_eval_count"] < extended["prompt_eval_count"] < WINDOW
    )
    assert again["prompt_eval_duration"] < first["prompt_eval_duration"] / 2
    assert extended["prompt_eval_duration"] < first["prompt_eval_duration"]
