"""Room for one model: who loads, who waits, who makes way."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.conformance.subjects import ENDLESS, Body, Subject, of_writers
from tests.ollama_double import reply, runaway, silence

# What an interrupted call may still cost the next one: that one's own time again, and a few seconds. To its end it
# would take a hundred times as long as the next one.
SOON_S = 5.0
MANY = 4_000


def test_room_for_one_means_that_models_evict_each_other(subject: Subject) -> None:
    subject.unload()
    for model in (*subject.models, subject.model):
        assert subject.chat(model=model, options={"num_predict": 1})["done"]
        assert list(subject.loaded()) == [model]


def test_another_window_loads_the_model_again(subject: Subject) -> None:
    for window in (192, 64):
        subject.chat(options={"num_predict": 1, "num_ctx": window})
        assert subject.loaded() == {subject.model: window}


@of_writers
def test_loading_takes_time_and_being_loaded_does_not(subject: Subject) -> None:
    subject.unload()
    loaded, present = (subject.chat(options={"num_predict": 1})["load_duration"] for _ in range(2))
    assert present < loaded / 2


def test_eight_calls_at_once_on_two_models_are_all_answered(subject: Subject) -> None:
    asked = list(subject.models[:2]) * 4
    with ThreadPoolExecutor(len(asked)) as pool:
        answers = list(pool.map(lambda model: subject.chat(model=model, options={"num_predict": 1}), asked))
    assert [answer["model"] for answer in answers] == asked
    assert all(answer["done"] for answer in answers)
    assert len(subject.loaded()) == 1


@of_writers
def test_the_wait_in_the_queue_is_in_load_duration(subject: Subject) -> None:
    subject.chat(options={"num_predict": 1})
    asked = list(subject.models[:2]) * 2
    with ThreadPoolExecutor(len(asked)) as pool:
        answers = list(pool.map(lambda model: subject.chat(model=model, options={"num_predict": 1}), asked))
    last = max(answers, key=lambda answer: int(answer["total_duration"]))
    # One token is quick, and one load is a fourth of it at most: the most of it is that it waited for the others.
    assert last["load_duration"] > 0.6 * last["total_duration"]


def endless(subject: Subject, *, stream: bool) -> Body:
    return subject.chat_body("Go on.", format=ENDLESS, options={"num_predict": MANY}, stream=stream)


def hang_up_in_the_middle(subject: Subject) -> None:
    subject.play(runaway("and so on ", gap_s=0.01), reply("one"))
    with subject.http.stream("POST", "/api/chat", json=endless(subject, stream=True)) as answer:
        assert answer.status_code == 200
        next(answer.iter_lines())


def seconds_of_a_word(subject: Subject, model: str) -> float:
    began = time.monotonic()
    assert subject.chat(model=model, options={"num_predict": 1})["done"]
    return time.monotonic() - began


def test_after_a_hang_up_the_next_call_is_served_soon(subject: Subject) -> None:
    subject.unload()
    usual = seconds_of_a_word(subject, subject.model)
    hang_up_in_the_middle(subject)
    assert seconds_of_a_word(subject, subject.model) < 2 * usual + SOON_S


def test_after_a_hang_up_another_model_gets_the_room_soon(subject: Subject) -> None:
    usual = seconds_of_a_word(subject, subject.models[1])
    hang_up_in_the_middle(subject)
    assert seconds_of_a_word(subject, subject.models[1]) < 2 * usual + SOON_S
    assert list(subject.loaded()) == [subject.models[1]]


def test_a_client_may_hang_up_before_the_first_token(subject: Subject) -> None:
    subject.unload()
    usual = seconds_of_a_word(subject, subject.model)
    subject.play(silence(), reply("one"))
    with pytest.raises(httpx.ReadTimeout):
        subject.http.post("/api/chat", json=endless(subject, stream=False), timeout=0.5)
    assert seconds_of_a_word(subject, subject.model) < 2 * usual + SOON_S
