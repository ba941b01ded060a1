"""What is told of models: installed, described, loaded."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.conformance.subjects import OWN_WINDOW, WINDOW, Body, Case, Subject, cases, succeeded, until

DETAILS = {"parent_model", "format", "family", "families", "parameter_size", "quantization_level"}
IDENTITY = {"name", "model", "size", "digest", "details"}
EXPIRY_S = 10.0


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def expiry(subject: Subject) -> datetime:
    (model,) = subject.get("/api/ps")["models"]
    return moment(model["expires_at"])


def check_identity(record: Body) -> None:
    assert record["name"] == record["model"]
    assert re.fullmatch("[0-9a-f]{64}", record["digest"])
    assert record["details"].keys() >= DETAILS
    assert record["details"]["format"] == "gguf"
    assert record["details"]["families"] == [record["details"]["family"]]
    assert record["size"] > 1_000_000


def test_tags_name_what_is_installed(subject: Subject) -> None:
    tags = subject.get("/api/tags")["models"]
    assert {tag["name"] for tag in tags} == set(subject.models)
    assert len({tag["digest"] for tag in tags}) == len(tags)
    for tag in tags:
        assert tag.keys() == IDENTITY | {"modified_at"}
        check_identity(tag)
        assert moment(tag["modified_at"]) <= datetime.now(UTC)


@pytest.mark.parametrize("key", ["model", "name"])
def test_show_tells_window_and_capabilities(subject: Subject, key: str) -> None:
    shown = succeeded(subject.post("/api/show", {key: subject.model}))
    assert shown.keys() >= {"modelfile", "template", "details", "model_info", "capabilities", "modified_at"}
    known = shown["model_info"]
    assert known[f"{known['general.architecture']}.context_length"] == OWN_WINDOW
    assert known["general.parameter_count"] > 1_000_000
    assert shown["capabilities"] == ["completion"]
    assert shown["details"].keys() >= DETAILS
    moment(shown["modified_at"])


def test_show_accepts_another_case(subject: Subject) -> None:
    assert succeeded(subject.post("/api/show", {"model": subject.model.upper()}))["capabilities"] == ["completion"]


def test_ps_tells_what_is_loaded_and_with_which_window(subject: Subject) -> None:
    subject.unload()
    assert subject.get("/api/ps") == {"models": []}
    subject.chat()
    (loaded,) = subject.get("/api/ps")["models"]
    assert loaded.keys() == IDENTITY | {"expires_at", "size_vram", "context_length"}
    check_identity(loaded)
    assert (loaded["name"], loaded["context_length"]) == (subject.model, WINDOW)
    assert {loaded["digest"]} <= {tag["digest"] for tag in subject.get("/api/tags")["models"]}


# Loading and unloading without a word

LOADS = [
    Case("no messages", 200, "", "/api/chat", {"messages": []}),
    Case("null messages", 200, "", "/api/chat", {"messages": None}),
    Case("a stream of none", 200, "", "/api/chat", {"messages": [], "stream": True}),
    Case("a format that nobody reads", 200, "", "/api/chat", {"messages": [], "format": "xml"}),
    Case("generate: no prompt", 200, "", "/api/generate", {"prompt": ""}),
    Case("generate: null prompt", 200, "", "/api/generate", {"prompt": None}),
    Case("generate: a stream of none", 200, "", "/api/generate", {"prompt": "", "stream": True}),
    Case("generate: a system text alone", 200, "", "/api/generate", {"prompt": "", "system": "x"}),
]


@cases(LOADS)
def test_nothing_asked_loads_and_keep_alive_zero_unloads(subject: Subject, case: Case) -> None:
    said = {"response": ""} if case.path == "/api/generate" else {"message": {"role": "assistant", "content": ""}}
    for more, reason in (({}, "load"), ({"keep_alive": 0}, "unload"), ({"keep_alive": "0s"}, "unload")):
        answer = case._replace(body={**case.body, **more}).ask(subject)
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        record = succeeded(answer)
        moment(record.pop("created_at"))
        assert record == {"model": subject.model, "done": True, "done_reason": reason} | said
        if reason == "load":
            assert subject.loaded() == {subject.model: WINDOW}
        else:
            until(lambda: not subject.loaded(), EXPIRY_S)


@pytest.mark.parametrize("given", [{"input": ""}, {"input": []}, {"input": None}])
def test_nothing_to_embed_loads(subject: Subject, given: Body) -> None:
    subject.unload()
    answer = succeeded(subject.post("/api/embed", subject.body("/api/embed", **given)))
    assert answer == {"model": subject.model, "embeddings": []}
    assert list(subject.loaded()) == [subject.model]


def has_left(subject: Subject, seconds: float) -> bool:
    """Whether the model may stay for so long; the server says so a moment after its answer."""
    left = expiry(subject) - datetime.now(UTC)
    return timedelta(seconds=seconds - EXPIRY_S) < left <= timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("keep_alive", "seconds"),
    [(60, 60), (12.5, 12.5), ("5m", 300), ("1h30m", 5400), ("1.5h", 5400), ("+90s", 90)],
)
def test_keep_alive_counts_from_the_last_use(subject: Subject, keep_alive: object, seconds: float) -> None:
    succeeded(subject.post("/api/chat", subject.chat_body(messages=[], keep_alive=keep_alive)))
    until(partial(has_left, subject, seconds), EXPIRY_S)


def test_a_keep_alive_that_is_not_said_is_five_minutes_or_what_was_said_before(subject: Subject) -> None:
    subject.unload()
    for keep_alive, seconds in ((None, 300), (60, 60), (None, 60)):
        succeeded(subject.post("/api/chat", subject.chat_body(messages=[], keep_alive=keep_alive)))
        until(partial(has_left, subject, seconds), EXPIRY_S)


@pytest.mark.parametrize("keep_alive", [-1, "-1s", "-5m"])
def test_a_negative_keep_alive_is_for_ever(subject: Subject, keep_alive: object) -> None:
    succeeded(subject.post("/api/chat", subject.chat_body(messages=[], keep_alive=keep_alive)))
    assert expiry(subject) > datetime.now(UTC) + timedelta(days=365 * 100)


@pytest.mark.parametrize("keep_alive", [0, "0", "300ms"])
def test_a_model_leaves_when_its_time_is_over(subject: Subject, keep_alive: object) -> None:
    subject.chat(keep_alive=keep_alive)
    until(lambda: not subject.loaded(), EXPIRY_S)


@pytest.mark.parametrize(("asked", "had"), [(65536, OWN_WINDOW), (1, 4), (0, 4), (-5, 4)])
def test_a_window_beyond_the_possible_is_clamped_in_silence(subject: Subject, asked: int, had: int) -> None:
    succeeded(subject.post("/api/chat", subject.chat_body(messages=[], options={"num_ctx": asked})))
    assert subject.loaded() == {subject.model: had}
