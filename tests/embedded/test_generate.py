"""``/api/generate``: what goes into the prompt token by token, and what is refused, beyond `tests/conformance`."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from reflexion.embedded.packages import DEMO_MODELS

pytestmark = pytest.mark.embedded

FIRST = DEMO_MODELS[0]
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


def test_without_shift_a_reply_ends_with_the_window(generate: Generate) -> None:
    endless = {"type": "string", "minLength": 20_000}
    options = {"num_ctx": 64, "num_predict": 100}
    ended = generate("Go on.", options, format=endless, shift=False).json()
    assert (ended["done_reason"], ended["prompt_eval_count"] + ended["eval_count"]) == ("length", 64)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"raw": True, "template": "x"}, 400, "raw mode does not support template, system, or context"),
        ({"template": "{{ .Prompt }}"}, 400, "this engine reads no Go templates: leave template out"),
        ({"images": ["aGk="]}, 400, "this engine reads no images: send text only"),
        ({"think": "high"}, 400, 'think value "high" is not supported for this model'),
        ({"logprobs": True}, 400, "this engine tells no probabilities"),
        ({"context": [49_152]}, 400, "context holds tokens that this model does not have"),
        ({"context": [-1]}, 400, "context holds tokens that this model does not have"),
        ({"context": ["a"]}, 400, "json: cannot unmarshal string into Go struct field GenerateRequest.context of type"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_refusals(http: httpx.Client, body: dict[str, Any], status: int, words: str, stream: bool) -> None:
    asked = {"model": FIRST, "prompt": "hello", "options": {"num_ctx": WINDOW}, "stream": stream, **body}
    answer = http.post("/api/generate", json=asked)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].startswith(words)
