"""What docs/ollama.md says of the server, measured on a real one; the refusals also on the double, word for word."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.conftest import MakeDouble
from tests.ollama_double import ModelInfo, reply
from tests.real_ollama import MODELS, VERSION, RealOllama

GEN, CRITIC, ADJUDICATOR = MODELS
OWN_WINDOW = 8192
WINDOW = 512
SCORES = {
    "type": "object",
    "properties": {
        "technical_accuracy": {"type": "integer", "minimum": 0, "maximum": 100},
        "completeness": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["technical_accuracy", "completeness"],
}
RUNNER_DIED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)
THINK_WORDS = 'invalid think value: "hard" (must be "high", "medium", "low", true, or false)'
FORMAT_WORDS = 'invalid format: "\\"xml\\""; expected "json" or a valid JSON Schema object'


def chat_body(content: str = "Say one word.", model: str = GEN, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    options = {"num_ctx": WINDOW, "num_predict": 4, "seed": 1, "temperature": 0} | more.pop("options", {})
    return {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "options": options,
        "stream": False,
    } | more


def with_pattern(pattern: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}


@pytest.fixture(params=["double", pytest.param("real", marks=pytest.mark.ollama)])
def any_server(request: pytest.FixtureRequest, make_ollama_double: MakeDouble) -> Iterator[httpx.Client]:
    if request.param == "double":
        double = make_ollama_double({name: ModelInfo(context_length=OWN_WINDOW) for name in MODELS}, repeat_last=True)
        for name in MODELS:
            double.script(name, reply("one"))
        url = double.base_url
    else:
        url = request.getfixturevalue("real_ollama").base_url
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        yield client


# What both answer


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (chat_body(model="zz"), 404, "model 'zz' not found"),
        (chat_body(model="smol-gen"), 404, "model 'smol-gen' not found"),
        (chat_body(model=""), 400, "model is required"),
        (chat_body(model="a b"), 400, "model is required"),
        (chat_body(think=True), 400, f'"{GEN}" does not support thinking'),
        (chat_body(think="hard"), 400, THINK_WORDS),
        (chat_body(keep_alive="-1"), 400, 'time: missing unit in duration "-1"'),
        (chat_body(keep_alive="5x"), 400, 'time: unknown unit "x" in duration "5x"'),
        (chat_body(keep_alive=""), 400, 'time: invalid duration ""'),
        (chat_body(options={"num_predict": "9"}), 500, 'option "num_predict" must be of type integer'),
        (chat_body(options={"temperature": "hot"}), 500, 'option "temperature" must be of type float32'),
        (chat_body(options={"num_predict": True}), 500, 'option "num_predict" must be of type integer'),
        (chat_body(options={"stop": "end"}), 500, 'option "stop" must be of type array'),
        (chat_body(format=with_pattern("a+")), 500, "invalid JSON schema in format"),
        (chat_body(format=with_pattern(r"^\d+$")), 500, RUNNER_DIED),
        (chat_body(format={"type": "banana"}), 500, "invalid JSON schema in format"),
        (chat_body(format="xml"), 500, FORMAT_WORDS),
        (chat_body("word " * 900, truncate=False), 400, "the input length exceeds the context length"),
    ],
)
def test_refusals(any_server: httpx.Client, body: dict[str, Any], code: int, words: str) -> None:
    answer = any_server.post("/api/chat", json=body)
    assert (answer.status_code, answer.json()["error"]) == (code, words)


def test_bodies_that_are_no_request(any_server: httpx.Client) -> None:
    empty = any_server.post("/api/chat")
    assert (empty.status_code, empty.json()["error"]) == (400, "missing request body")
    assert any_server.post("/api/chat", content=b"{half").status_code == 400


def test_show_of_an_unknown_model(any_server: httpx.Client) -> None:
    answer = any_server.post("/api/show", json={"model": "zz"})
    assert (answer.status_code, answer.json()["error"]) == (404, "model 'zz' not found")


def test_no_messages_loads_and_keep_alive_zero_unloads(any_server: httpx.Client) -> None:
    load = any_server.post("/api/chat", json={"model": GEN, "messages": []}).json()
    assert (load["done_reason"], load["message"]["content"]) == ("load", "")
    unload = any_server.post("/api/chat", json={"model": GEN, "messages": [], "keep_alive": 0}).json()
    assert unload["done_reason"] == "unload"
    generate = [any_server.post("/api/generate", json={"model": GEN} | more).json() for more in ({}, {"keep_alive": 0})]
    assert [(answer["response"], answer["done_reason"]) for answer in generate] == [("", "load"), ("", "unload")]


@pytest.mark.parametrize(
    "body",
    [
        chat_body(think=False, keep_alive="5m"),
        chat_body(options={"num_contxt": 5, "temperature": 1}),
        chat_body(options={"num_predict": 1.5}),
        chat_body(model=GEN.upper()),
        chat_body(format=with_pattern("^a+$")),
        chat_body(format=""),
    ],
)
def test_what_is_accepted_without_a_word(any_server: httpx.Client, body: dict[str, Any]) -> None:
    answer = any_server.post("/api/chat", json=body)
    assert (answer.status_code, answer.json()["done"], answer.json()["model"]) == (200, True, body["model"])


def test_a_window_above_the_models_own_is_clamped_in_silence(any_server: httpx.Client) -> None:
    assert any_server.post("/api/chat", json=chat_body(options={"num_ctx": 65536, "num_predict": 1})).status_code == 200
    loaded = {model["name"]: model["context_length"] for model in any_server.get("/api/ps").json()["models"]}
    assert loaded[GEN] == OWN_WINDOW


def test_a_prompt_longer_than_the_window_is_cut_in_silence(any_server: httpx.Client) -> None:
    answer = any_server.post("/api/chat", json=chat_body("word " * 900)).json()
    assert (answer["done"], answer["prompt_eval_count"]) == (True, WINDOW)


def test_the_shape_of_a_stream(any_server: httpx.Client) -> None:
    with any_server.stream("POST", "/api/chat", json=chat_body(stream=True)) as answer:
        kind = answer.headers["content-type"]
        *parts, final = [json.loads(line) for line in answer.iter_lines()]
    assert kind == "application/x-ndjson"
    assert all(set(part) == {"model", "created_at", "message", "done"} and not part["done"] for part in parts)
    durations = {"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"}
    counts = {"prompt_eval_count", "eval_count"}
    assert set(final) == {"model", "created_at", "message", "done", "done_reason"} | durations | counts
    assert final["message"] == {"role": "assistant", "content": ""}


def test_what_is_known_of_a_model(any_server: httpx.Client) -> None:
    shown = any_server.post("/api/show", json={"model": GEN}).json()
    assert shown["model_info"][f"{shown['model_info']['general.architecture']}.context_length"] == OWN_WINDOW
    assert shown["capabilities"] == ["completion"]
    tags = any_server.get("/api/tags").json()["models"]
    assert {tag["name"] for tag in tags} == set(MODELS)
    assert len({tag["digest"] for tag in tags}) == len(MODELS)
    assert any_server.get("/api/version").json() == {"version": VERSION}
    assert any_server.get("/").text == "Ollama is running"


# What only real tokens show


@pytest.mark.ollama
def test_the_token_limit_is_named(real_ollama: RealOllama) -> None:
    answer = real_ollama.post("/api/chat", chat_body("Count from 1 to 100.", options={"num_predict": 5})).json()
    assert (answer["done_reason"], answer["eval_count"]) == ("length", 5)


@pytest.mark.ollama
@pytest.mark.parametrize("seed", range(3))
def test_a_schemas_minimum_and_maximum_are_kept(real_ollama: RealOllama, seed: int) -> None:
    options = {"num_predict": 40, "temperature": 1.0, "seed": seed}
    answer = real_ollama.post("/api/chat", chat_body("Grade this page.", format=SCORES, options=options)).json()
    assert answer["done_reason"] == "stop"
    scores = json.loads(answer["message"]["content"])
    assert all(0 <= scores[name] <= 100 for name in ("technical_accuracy", "completeness"))


@pytest.mark.ollama
def test_one_place_means_that_models_evict_each_other(real_ollama: RealOllama) -> None:
    real_ollama.unload()
    loads = []
    for model in (GEN, GEN, CRITIC, ADJUDICATOR):
        answer = real_ollama.post("/api/chat", chat_body(model=model)).json()
        loads.append(answer["load_duration"] / 1e9)
        assert list(real_ollama.loaded()) == [model]
    assert loads[1] < min(loads[0], loads[2], loads[3]) / 2


@pytest.mark.ollama
def test_another_window_loads_the_model_again(real_ollama: RealOllama) -> None:
    for num_ctx in (256, 384):
        answer = real_ollama.post("/api/chat", chat_body(options={"num_ctx": num_ctx})).json()
        assert answer["load_duration"] > 0.1e9
        assert real_ollama.loaded() == {GEN: num_ctx}


@pytest.mark.ollama
def test_a_prompt_that_extends_the_last_one_is_cheap_but_counted_in_full(real_ollama: RealOllama) -> None:
    real_ollama.unload()
    text = "The quick brown fox jumps over the lazy dog. " * 30
    first, longer = (
        real_ollama.post("/api/chat", chat_body(content)).json() for content in (text, text + "And then it slept.")
    )
    assert longer["prompt_eval_count"] > first["prompt_eval_count"] > 250
    assert longer["prompt_eval_duration"] < first["prompt_eval_duration"] / 4


@pytest.mark.ollama
def test_after_a_hang_up_the_next_call_is_served_at_once(real_ollama: RealOllama) -> None:
    real_ollama.post("/api/chat", chat_body())
    endless = chat_body("Tell a very long story.", stream=True, options={"num_predict": 400})
    with httpx.stream("POST", f"{real_ollama.base_url}/api/chat", json=endless, timeout=60) as answer:
        next(answer.iter_lines())
    began = time.monotonic()
    real_ollama.post("/api/chat", chat_body())
    assert time.monotonic() - began < 10


@pytest.mark.ollama
def test_calls_at_once_on_two_models_all_end_and_wait_inside_load_duration(real_ollama: RealOllama) -> None:
    models = [GEN, CRITIC] * 3
    with ThreadPoolExecutor(len(models)) as pool:
        answers = list(pool.map(lambda model: real_ollama.post("/api/chat", chat_body(model=model)).json(), models))
    assert all(answer["done"] for answer in answers)
    waits = sorted(answer["load_duration"] / 1e9 for answer in answers)
    assert waits[-1] > waits[0]
