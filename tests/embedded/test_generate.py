"""``/api/generate``: what goes into the prompt, what comes back, what is refused."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import ollama
import pytest

from reflexion.embedded.engine import DEMO_MODELS, EmbeddedEngine

pytestmark = pytest.mark.embedded

FIRST, SECOND, _ = DEMO_MODELS
WINDOW = 1024
Generate = Callable[..., httpx.Response]


@pytest.fixture
def generate(http: httpx.Client) -> Generate:
    """Post a prompt that is answered without streaming; the rest of the body as keywords."""

    def post(prompt: str, options: dict[str, object] | None = None, **more: object) -> httpx.Response:
        settings = {"num_ctx": WINDOW, "num_predict": 3, "temperature": 0, **(options or {})}
        body = {"model": FIRST, "prompt": prompt, "stream": False, "options": settings, **more}
        return http.post("/api/generate", json=body)

    return post


def test_a_stream_and_a_whole_answer_say_the_same(http: httpx.Client, generate: Generate) -> None:
    body = {"model": FIRST, "prompt": "hello", "options": {"num_ctx": WINDOW, "num_predict": 3, "temperature": 0}}
    with http.stream("POST", "/api/generate", json=body) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        *pieces, final = [json.loads(line) for line in answer.iter_lines()]
    whole = generate("hello").json()
    assert "".join(piece["response"] for piece in pieces) == whole["response"] != ""
    assert final.keys() == whole.keys()
    assert (final["done"], final["response"], final["done_reason"]) == (True, "", "length")
    assert (whole["eval_count"], whole["context"]) == (3, final["context"])
    assert whole["total_duration"] >= whole["load_duration"] + whole["prompt_eval_duration"]


def test_it_is_the_chat_of_one_message_and_system_goes_in_front(http: httpx.Client, generate: Generate) -> None:
    options = {"num_ctx": WINDOW, "num_predict": 8, "temperature": 0}
    messages = [{"role": "system", "content": "Answer in French."}, {"role": "user", "content": "Good day!"}]
    body = {"model": FIRST, "messages": messages, "stream": False, "options": options}
    chat = http.post("/api/chat", json=body).json()
    one = generate("Good day!", options, system="Answer in French.").json()
    assert one["response"] == chat["message"]["content"]
    assert one["prompt_eval_count"] == chat["prompt_eval_count"]
    assert generate("Good day!", options).json()["prompt_eval_count"] != one["prompt_eval_count"]


def test_raw_is_the_prompt_alone(generate: Generate) -> None:
    raw = generate("hello", raw=True).json()
    assert raw["prompt_eval_count"] == 1
    assert "context" not in raw


def test_context_goes_on_with_what_was_said(generate: Generate) -> None:
    first = generate("My name is Ada.").json()
    second = generate("And mine?", context=first["context"]).json()
    alone = generate("And mine?").json()
    assert second["prompt_eval_count"] == len(first["context"]) + alone["prompt_eval_count"]
    assert second["context"][: len(first["context"])] == first["context"]
    assert len(second["context"]) == second["prompt_eval_count"] + second["eval_count"]


def test_a_schema_stop_and_seed_are_kept(generate: Generate) -> None:
    schema = {"type": "integer", "minimum": 3, "maximum": 4}
    assert int(generate("A number.", {"num_predict": 20}, format=schema).json()["response"]) in {3, 4}
    hot = {"temperature": 2.0, "seed": 5, "num_predict": 8}
    text = generate("Tell me a story.", hot).json()["response"]
    assert text == generate("Tell me a story.", hot).json()["response"]
    word = text.split()[1]
    stopped = generate("Tell me a story.", {**hot, "stop": [word, "never said"]}).json()
    assert (stopped["response"], stopped["done_reason"]) == (text[: text.index(word)], "stop")


def test_a_prompt_that_is_too_long(generate: Generate) -> None:
    long = "word " * 200
    for form in ({}, {"raw": True}):
        cut = generate(long, {"num_ctx": 64}, **form)
        assert (cut.status_code, cut.json()["prompt_eval_count"]) == (200, 64)
        refused = generate(long, {"num_ctx": 64}, truncate=False, **form)
        assert (refused.status_code, refused.json()) == (400, {"error": "the input length exceeds the context length"})


def test_without_shift_a_reply_ends_with_the_window(generate: Generate) -> None:
    endless = {"type": "string", "minLength": 20_000}
    options = {"num_ctx": 64, "num_predict": 100}
    ended = generate("Go on.", options, format=endless, shift=False).json()
    assert (ended["done_reason"], ended["prompt_eval_count"] + ended["eval_count"]) == ("length", 64)


@pytest.mark.parametrize("prompt", [{}, {"prompt": ""}, {"prompt": "", "stream": True}, {"system": "x"}])
def test_no_prompt_loads_and_keep_alive_0_unloads(http: httpx.Client, prompt: dict[str, Any]) -> None:
    def names() -> list[str]:
        return [model["name"] for model in http.get("/api/ps").json()["models"]]

    body = {"model": SECOND, "options": {"num_ctx": 256}, **prompt}
    loaded = http.post("/api/generate", json=body)
    assert loaded.headers["content-type"].startswith("application/json")
    assert loaded.json() | {"created_at": ""} == {
        "model": SECOND,
        "created_at": "",
        "response": "",
        "done": True,
        "done_reason": "load",
    }
    assert SECOND in names()
    assert http.post("/api/generate", json={**body, "keep_alive": 0}).json()["done_reason"] == "unload"
    assert SECOND not in names()


RAW_ALONE = "raw mode does not support template, system, or context"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "zz"}, 404, "model 'zz' not found"),
        ({"model": ""}, 404, "model '' not found"),
        ({"raw": True, "system": "x"}, 400, RAW_ALONE),
        ({"raw": True, "template": "x"}, 400, RAW_ALONE),
        ({"raw": True, "context": [1]}, 400, RAW_ALONE),
        ({"template": "{{ .Prompt }}"}, 400, "this engine reads no Go templates: leave template out"),
        ({"suffix": "end"}, 400, f"{FIRST} does not support insert"),
        ({"images": ["aGk="]}, 400, "this engine reads no images: send text only"),
        ({"think": True}, 400, f'"{FIRST}" does not support thinking'),
        ({"think": "high"}, 400, 'think value "high" is not supported for this model'),
        ({"think": "wat"}, 400, 'invalid think value: "wat"'),
        ({"logprobs": True}, 400, "this engine tells no probabilities"),
        ({"keep_alive": "-1"}, 400, 'time: missing unit in duration "-1"'),
        ({"options": {"stop": "x"}}, 500, 'option "stop" must be of type array'),
        ({"format": "xml"}, 500, "invalid format: "),
        ({"context": [49_152]}, 400, "context holds tokens that this model does not have"),
        ({"context": [-1]}, 400, "context holds tokens that this model does not have"),
        ({"context": ["a"]}, 400, "json: cannot unmarshal string into Go struct field GenerateRequest.context of type"),
        (
            {"prompt": 5},
            400,
            "json: cannot unmarshal number into Go struct field GenerateRequest.prompt of type string",
        ),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_refusals(http: httpx.Client, body: dict[str, Any], status: int, words: str, stream: bool) -> None:
    asked = {"model": FIRST, "prompt": "hello", "options": {"num_ctx": WINDOW}, "stream": stream, **body}
    answer = http.post("/api/generate", json=asked)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].startswith(words)


def test_the_ollama_client(engine: EmbeddedEngine) -> None:
    client = ollama.Client(host=engine.base_url)
    options = {"num_ctx": WINDOW, "num_predict": 3}
    answer = client.generate(FIRST, "hello", options=options)
    assert (answer.done_reason, answer.eval_count) == ("length", 3)
    again = client.generate(FIRST, "go on", context=answer.context, options=options, stream=True)
    assert [part.done for part in again][-1]
