"""The forms of replies: whole and streamed, of chat, generate and embed."""

import json
import math
from datetime import datetime
from typing import Any

import pytest

from tests.conformance.subjects import WINDOW, Body, Subject, of_writers, succeeded
from tests.ollama_double import reply

DURATIONS = {"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"}
COUNTS = {"prompt_eval_count", "eval_count"}
RECORD = {"model", "created_at", "done"}
FINAL = RECORD | {"done_reason"} | DURATIONS | COUNTS
TEXT = "A few words, more than one."
both = pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])


def field_of(path: str) -> str:
    return "message" if path == "/api/chat" else "response"


def text_of(record: Body) -> str:
    return str(record["response"] if "response" in record else record["message"]["content"])


def check_final(record: Body, path: str) -> None:
    more = {"context"} if path == "/api/generate" else set()
    assert record.keys() == FINAL | {field_of(path)} | more
    assert record["done"] is True
    assert record["done_reason"] in {"stop", "length"}
    assert all(type(record[name]) is int and record[name] > 0 for name in DURATIONS | COUNTS)
    assert record["total_duration"] >= record["prompt_eval_duration"]
    assert all(type(token) is int for token in record.get("context", []))
    assert datetime.fromisoformat(record["created_at"]).tzinfo is not None


@both
def test_a_whole_reply_is_one_record(subject: Subject, path: str) -> None:
    subject.play(reply(TEXT))
    answer = subject.post(path, subject.body(path))
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    record = succeeded(answer)
    check_final(record, path)
    assert record["model"] == subject.model
    assert text_of(record) != ""
    if path == "/api/chat":
        assert record["message"].keys() == {"role", "content"}
        assert record["message"]["role"] == "assistant"


@both
def test_a_stream_is_a_record_a_line_and_only_the_last_is_final(subject: Subject, path: str) -> None:
    subject.play(reply(TEXT))
    body = subject.body(path)
    answer = subject.post(path, body | {"stream": True})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["transfer-encoding"] == "chunked"
    assert answer.content.endswith(b"\n")
    *parts, final = [json.loads(line) for line in answer.content.splitlines()]
    assert parts
    for part in parts:
        assert part.keys() == RECORD | {field_of(path)}
        assert (part["done"], part["model"]) == (False, subject.model)
        assert text_of(part) != ""
    check_final(final, path)
    assert text_of(final) == ""
    assert "".join(map(text_of, parts)) == text_of(succeeded(subject.post(path, body)))


@both
def test_to_stream_is_the_default(subject: Subject, path: str) -> None:
    body = subject.body(path)
    del body["stream"]
    for more in ({}, {"stream": None}):
        answer = subject.post(path, body | more)
        assert answer.headers["content-type"] == "application/x-ndjson"


@both
def test_the_token_limit_is_named(subject: Subject, path: str) -> None:
    subject.play(reply("abc", done_reason="length", eval_count=3))
    record = succeeded(subject.post(path, subject.body(path, options={"num_predict": 3})))
    assert (record["done_reason"], record["eval_count"]) == ("length", 3)


@both
def test_an_end_of_its_own_is_named(subject: Subject, path: str) -> None:
    subject.play(reply("true"))
    body = subject.body(path, format={"type": "boolean"}, options={"num_predict": 32})
    record = succeeded(subject.post(path, body))
    assert record["done_reason"] == "stop"
    assert isinstance(json.loads(text_of(record)), bool)


@both
def test_a_prompt_longer_than_the_window_is_cut_in_silence(subject: Subject, path: str) -> None:
    long = "word " * (2 * WINDOW)
    more: Body = {"prompt": long} if path == "/api/generate" else {"content": long}
    record = succeeded(subject.post(path, subject.body(path, **more)))
    assert (record["done"], record["prompt_eval_count"]) == (True, WINDOW)


def test_a_longer_prompt_counts_more_tokens(subject: Subject) -> None:
    short, long = subject.chat("Yes."), subject.chat("Yes, and then a few more words to read.")
    assert 0 < short["prompt_eval_count"] < long["prompt_eval_count"] < WINDOW


def test_a_raw_prompt_gets_no_template_and_gives_no_context(subject: Subject) -> None:
    record = succeeded(subject.post("/api/generate", subject.generate_body("Once", raw=True)))
    assert record.keys() == FINAL | {"response"}
    templated = succeeded(subject.post("/api/generate", subject.generate_body("Once")))
    assert record["prompt_eval_count"] < templated["prompt_eval_count"]


def test_the_context_of_a_reply_goes_before_the_next_prompt(subject: Subject) -> None:
    first = succeeded(subject.post("/api/generate", subject.generate_body()))
    next_one = succeeded(subject.post("/api/generate", subject.generate_body(context=first["context"])))
    assert next_one["prompt_eval_count"] > first["prompt_eval_count"]


@of_writers
def test_a_system_text_of_generate_is_that_of_a_chat(subject: Subject) -> None:
    system = "You are a parrot."
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Hello."}]
    generated = succeeded(subject.post("/api/generate", subject.generate_body("Hello.", system=system)))
    chatted = subject.chat(messages=messages)
    assert generated["response"] == chatted["message"]["content"]
    assert generated["prompt_eval_count"] == chatted["prompt_eval_count"]


# Embeddings


def embed(subject: Subject, **more: object) -> Body:
    return succeeded(subject.post("/api/embed", subject.body("/api/embed", **more)))


def length(vector: list[float]) -> float:
    return math.sqrt(sum(number * number for number in vector))


def close(one: list[float], other: list[float]) -> bool:
    return len(one) == len(other) and all(abs(a - b) < 1e-3 for a, b in zip(one, other, strict=True))


def test_an_embedding_is_a_vector_of_length_one(subject: Subject) -> None:
    answer = embed(subject, input="hello")
    assert answer.keys() == {"model", "embeddings", "total_duration", "load_duration", "prompt_eval_count"}
    assert answer["model"] == subject.model
    assert answer["prompt_eval_count"] > 0
    (vector,) = answer["embeddings"]
    assert len(vector) > 1
    assert abs(length(vector) - 1) < 1e-3


def test_texts_are_embedded_in_order(subject: Subject) -> None:
    one, other = embed(subject, input="hello")["embeddings"], embed(subject, input="漢字 🙂")["embeddings"]
    together = embed(subject, input=["hello", "漢字 🙂"])["embeddings"]
    assert not close(one[0], other[0])
    assert close(together[0], one[0])
    assert close(together[1], other[0])


@pytest.mark.parametrize("dimensions", [3, 0, -1, 99_999])
def test_dimensions_are_the_first_ones_at_length_one(subject: Subject, dimensions: int) -> None:
    (whole,) = embed(subject)["embeddings"]
    (cut,) = embed(subject, dimensions=dimensions)["embeddings"]
    kept = whole[:3] if dimensions == 3 else whole
    assert close(cut, [number / length(kept) for number in kept])


def test_a_text_longer_than_the_window_is_cut_to_be_embedded(subject: Subject) -> None:
    answer = embed(subject, input="word " * (2 * WINDOW))
    assert WINDOW - 4 <= answer["prompt_eval_count"] <= WINDOW
    assert len(answer["embeddings"]) == 1


def test_an_empty_text_among_others_cannot_be_embedded(subject: Subject) -> None:
    answer = subject.post("/api/embed", subject.body("/api/embed", input=[""]))
    assert answer.status_code == 500
    assert answer.json().keys() == {"error"}


@pytest.mark.parametrize(("given", "numbers"), [({"prompt": "hello"}, True), ({}, False)])
def test_the_older_embeddings_endpoint(subject: Subject, given: dict[str, Any], numbers: bool) -> None:
    answer = succeeded(subject.post("/api/embeddings", {"model": subject.model} | given))
    assert answer.keys() == {"embedding"}
    assert (len(answer["embedding"]) > 0) is numbers
