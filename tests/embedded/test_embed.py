"""``/api/embed`` and ``/api/embeddings``: vectors, their length, what is cut and what is refused."""

import math
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_ollama import OllamaEmbeddings

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import DEMO_MODELS
from tests.embedded.bert import SIZE as SIZE_OF_BERT
from tests.embedded.bert import write_bert

pytestmark = pytest.mark.embedded

FIRST = DEMO_MODELS[0]
WINDOW = 1024
SIZE = 576
# What a real Ollama 0.17.4 answered for this text and the same file.
HELLO = [-0.012757875, -0.018819492, 0.0010401919, 0.026706506, 0.027408965, 0.0033995004]


def embed(http: httpx.Client, **body: object) -> httpx.Response:
    return http.post("/api/embed", json={"model": FIRST, "options": {"num_ctx": WINDOW}, **body})


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_one_text_is_the_vector_that_ollama_gives(http: httpx.Client) -> None:
    answer = embed(http, input="hello").json()
    (vector,) = answer["embeddings"]
    assert len(vector) == SIZE
    assert dot(vector, vector) == pytest.approx(1, abs=1e-6)
    assert vector[:6] == pytest.approx(HELLO, abs=2e-3)
    assert (answer["model"], answer["prompt_eval_count"]) == (FIRST, 1)
    assert answer["total_duration"] >= answer["load_duration"] > 0


def test_several_texts_keep_their_order_and_mean_something(http: httpx.Client) -> None:
    texts = ["The cat sleeps on the sofa.", "A cat is sleeping on a couch.", "def add(a, b): return a + b"]
    answer = embed(http, input=texts).json()
    cat, kitten, code = answer["embeddings"]
    assert dot(cat, kitten) > dot(cat, code)
    assert answer["prompt_eval_count"] == sum(embed(http, input=t).json()["prompt_eval_count"] for t in texts)
    assert dot(code, embed(http, input=texts[2]).json()["embeddings"][0]) == pytest.approx(1, abs=1e-3)


def test_a_text_longer_than_the_window(http: httpx.Client) -> None:
    small = {"options": {"num_ctx": 64}}
    cut = embed(http, input="word " * 100, **small)
    # Ollama leaves room for two control tokens, which this tokenizer does not add.
    assert (cut.status_code, cut.json()["prompt_eval_count"]) == (200, 62)
    refused = embed(http, input=["fits", "word " * 100], truncate=False, **small)
    assert (refused.status_code, refused.json()) == (400, {"error": "the input length exceeds the context length"})


def test_a_text_longer_than_a_batch_is_read_whole(http: httpx.Client) -> None:
    long = "word " * 150
    one, other = embed(http, input=[f"cold {long}", f"warm {long}"]).json()["embeddings"]
    assert 0.5 < dot(one, other) < 0.99999


def test_text_and_vectors_come_from_one_loaded_model(http: httpx.Client) -> None:
    body = {"model": FIRST, "prompt": "hello", "stream": False, "options": {"num_ctx": WINDOW, "num_predict": 1}}
    embed(http, input="hello")
    load_s = http.post("/api/generate", json=body).json()["load_duration"] / 1e9
    assert max(load_s, embed(http, input="you").json()["load_duration"] / 1e9) < 0.1


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "a b", "input": "a"}, 500, "unqualified name: a b:latest"),
        ({"input": [""]}, 500, "Failed to create new sequence: no input provided"),
        ({"input": {"a": 1}}, 400, "invalid input type"),
    ],
)
def test_refusals(http: httpx.Client, body: dict[str, Any], status: int, words: str) -> None:
    answer = embed(http, **body)
    assert (answer.status_code, answer.json()) == (status, {"error": words})


def test_the_older_form_has_the_model_s_own_length(http: httpx.Client) -> None:
    def ask(**body: object) -> httpx.Response:
        return http.post("/api/embeddings", json={"model": FIRST, "options": {"num_ctx": WINDOW}, **body})

    vector = ask(prompt="hello").json()["embedding"]
    # Ollama's began with -0.5087, -0.7503 and had a length of 39.87.
    assert (vector[0], math.hypot(*vector)) == pytest.approx((-0.5087, 39.87), rel=2e-2)
    assert ask().json() == ask(prompt="").json() == {"embedding": []}
    unknown = ask(model="zz", prompt="a")
    assert (unknown.status_code, unknown.json()) == (404, {"error": 'model "zz" not found, try pulling it first'})
    long = ask(prompt="word " * 100, options={"num_ctx": 64})
    assert (long.status_code, long.json()) == (500, {"error": "the input length exceeds the context length"})
    assert ask(model="").json() == {"error": "model is required"}


def test_a_model_made_for_embeddings_reads_both_ways_and_writes_nothing(tmp_path: Path) -> None:
    write_bert(tmp_path / "tiny.gguf")
    with EmbeddedEngine(models_dir=tmp_path) as engine, httpx.Client(base_url=engine.base_url, timeout=60) as http:
        assert http.post("/api/show", json={"model": "tiny"}).json()["capabilities"] == ["embedding"]
        answer = http.post("/api/embed", json={"model": "tiny", "input": ["one two", "two one", "one " * 100]}).json()
        forwards, backwards, _ = answer["embeddings"]
        assert len(forwards) == SIZE_OF_BERT
        assert dot(forwards, forwards) == pytest.approx(1, abs=1e-6)
        assert dot(forwards, backwards) < 0.9999
        refused = http.post("/api/generate", json={"model": "tiny", "prompt": "one"})
        assert (refused.status_code, refused.json()) == (400, {"error": '"tiny" does not support generate'})
        refused = http.post("/api/chat", json={"model": "tiny", "messages": [{"role": "user", "content": "one"}]})
        assert (refused.status_code, refused.json()) == (400, {"error": '"tiny" does not support chat'})


def test_the_client_of_langchain(engine: EmbeddedEngine) -> None:
    embeddings = OllamaEmbeddings(model=FIRST, base_url=engine.base_url, num_ctx=WINDOW)
    assert len(embeddings.embed_query("hello")) == SIZE
