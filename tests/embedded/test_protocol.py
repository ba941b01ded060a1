"""Endpoints, errors and forms of answers, over plain HTTP and without generating more than a token or two."""

import json
import socket
import statistics
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflexion.embedded.engine import DEMO_MODELS, EmbeddedEngine
from tests.embedded.conftest import Chat
from tests.embedded.test_catalog import write_model

pytestmark = pytest.mark.embedded

FIRST, SECOND, THIRD = DEMO_MODELS
DURATIONS = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"]


def loaded(http: httpx.Client) -> dict[str, dict[str, Any]]:
    return {model["name"]: model for model in http.get("/api/ps").json()["models"]}


def test_banner_and_version(http: httpx.Client) -> None:
    assert http.get("/").text == "Ollama is running"
    assert http.head("/").status_code == 200
    assert http.get("/api/version").json()["version"].startswith("0.17.4")


def test_tags_name_every_model(http: httpx.Client) -> None:
    models = http.get("/api/tags").json()["models"]
    assert [model["name"] for model in models] == list(DEMO_MODELS)
    assert len({model["digest"] for model in models}) == 3
    assert models[0]["details"]["quantization_level"] == "Q4_1"
    assert models[0]["size"] > 90_000_000
    assert datetime.fromisoformat(models[0]["modified_at"]) < datetime.now(UTC)


def test_show_tells_the_window_and_the_capabilities(http: httpx.Client) -> None:
    shown = http.post("/api/show", json={"model": SECOND}).json()
    assert shown["capabilities"] == ["completion"]
    assert shown["model_info"]["general.architecture"] == "llama"
    assert shown["model_info"]["llama.context_length"] == 8192
    assert shown["model_info"]["general.parameter_count"] == 134_515_008
    assert "<|im_start|>" in shown["template"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *[("GET", "/api/nope", 404), ("GET", "/api/chat", 405), ("POST", "/api/tags", 405), ("DELETE", "/api/ps", 405)],
        *[("PUT", "/api/chat", 405), ("OPTIONS", "/api/generate", 405), ("GET", "/v10", 404)],
    ],
)
def test_paths_and_methods_that_do_not_exist(http: httpx.Client, method: str, path: str, status: int) -> None:
    assert http.request(method, path).status_code == status


@pytest.mark.parametrize(
    "path", ["/api/pull", "/api/create", "/v1/models", "/v1/chat/completions", "/api/blobs/sha256:1"]
)
def test_what_ollama_has_and_the_engine_has_not_is_named(http: httpx.Client, path: str) -> None:
    answer = http.post(path, json={})
    assert answer.status_code == 501
    assert answer.json()["error"].startswith(f"the embedded engine has no {path}:")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Content-Length: 99999999999999", 413),
        (b"Content-Length: -1", 400),
        (b"Content-Length: x", 400),
        (b"Transfer-Encoding: chunked", 400),
    ],
)
def test_a_body_of_a_mad_length_is_not_waited_for(engine: EmbeddedEngine, head: bytes, status: int) -> None:
    port = int(engine.base_url.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\nzz\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 %d " % status)


HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "zz", "messages": HELLO}, 404, "model 'zz' not found"),
        ({"model": "zz"}, 404, "model 'zz' not found"),
        ({"messages": HELLO}, 400, "model is required"),
        ({"model": FIRST, "messages": HELLO, "think": True}, 400, f'"{FIRST}" does not support thinking'),
        ({"model": FIRST, "messages": HELLO, "think": "high"}, 400, f'"{FIRST}" does not support thinking'),
        ({"model": FIRST, "messages": HELLO, "tools": [{}]}, 400, f"{FIRST} does not support tools"),
        ({"model": FIRST, "keep_alive": "-1"}, 400, 'time: missing unit in duration "-1"'),
        (
            {"model": FIRST, "messages": HELLO, "options": {"num_predict": "4"}},
            500,
            'option "num_predict" must be of type integer',
        ),
        (
            {"model": FIRST, "messages": HELLO, "format": {"type": "string", "pattern": r"\d"}},
            500,
            "invalid JSON schema in format",
        ),
        (
            {"model": FIRST, "messages": HELLO, "format": "xml"},
            500,
            r'invalid format: "\"xml\""; expected "json" or a valid JSON Schema object',
        ),
        (
            {"model": FIRST, "messages": [{"role": "user", "content": "x", "images": ["aGk="]}]},
            400,
            "this engine reads no images: send text only",
        ),
        ({"model": FIRST, "messages": [{"role": "robot"}]}, 400, None),
        ({"model": 5}, 400, "json: cannot unmarshal number into Go struct field ChatRequest.model of type string"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_refusals(http: httpx.Client, body: dict[str, Any], status: int, words: str | None, stream: bool) -> None:
    answer = http.post("/api/chat", json={**body, "stream": stream})
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    if words is not None:
        assert answer.json()["error"] == words


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"{oops", "invalid character 'o' looking for beginning of value"), (b"", "missing request body")],
)
def test_broken_json(http: httpx.Client, data: bytes, words: str) -> None:
    for path in ("/api/chat", "/api/show"):
        answer = http.post(path, content=data)
        assert (answer.status_code, answer.json()) == (400, {"error": words})


def test_show_of_an_unknown_model_and_of_none(http: httpx.Client) -> None:
    unknown = http.post("/api/show", json={"model": "smollm2"})
    assert (unknown.status_code, unknown.json()) == (404, {"error": "model 'smollm2' not found"})
    assert http.post("/api/show", json={}).status_code == 400


def test_a_body_sent_in_chunks_is_read(http: httpx.Client) -> None:
    answer = http.post("/api/show", content=iter([b'{"model":', f'"{FIRST}"}}'.encode()]))
    assert answer.json()["model_info"]["llama.context_length"] == 8192


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_web_pages_are_kept_out(http: httpx.Client, header: dict[str, str]) -> None:
    assert http.get("/api/tags", headers=header).status_code == 403
    assert http.get("/api/tags", headers={"Origin": "http://localhost:3000"}).status_code == 200


def test_preload_and_unload(http: httpx.Client) -> None:
    answer = http.post("/api/chat", json={"model": THIRD, "options": {"num_ctx": 512}, "keep_alive": 60}).json()
    assert (answer["done"], answer["done_reason"]) == (True, "load")
    assert answer["message"] == {"role": "assistant", "content": ""}
    shown = loaded(http)[THIRD]
    assert shown["context_length"] == 512
    assert shown["size"] > 98_000_000
    left = datetime.fromisoformat(shown["expires_at"]) - datetime.now(UTC)
    assert timedelta(seconds=40) < left <= timedelta(seconds=60)
    gone = http.post("/api/chat", json={"model": THIRD, "messages": [], "keep_alive": 0}).json()
    assert gone["done_reason"] == "unload"
    assert THIRD not in loaded(http)
    again = http.post("/api/chat", json={"model": THIRD, "messages": [], "keep_alive": 0})
    assert (again.status_code, again.json()["done_reason"]) == (200, "unload")


def test_keep_alive_ends_or_never_ends(http: httpx.Client, chat: Chat) -> None:
    extra = {"model": THIRD, "keep_alive": -1}
    assert chat("hello", extra, num_predict=1, num_ctx=512).status_code == 200
    assert loaded(http)[THIRD]["expires_at"] > "2200"
    chat("hello", {**extra, "keep_alive": "300ms"}, num_predict=1, num_ctx=512)
    deadline = time.monotonic() + 5
    while THIRD in loaded(http):
        assert time.monotonic() < deadline, "the model stayed after its keep_alive"
        time.sleep(0.05)
    chat("hello", {**extra, "keep_alive": 0}, num_predict=1, num_ctx=512)
    assert THIRD not in loaded(http)


def test_a_stream_is_one_record_a_line_with_a_final_one(http: httpx.Client) -> None:
    body = {"model": FIRST, "messages": HELLO, "options": {"num_predict": 4, "temperature": 0}}
    with http.stream("POST", "/api/chat", json=body) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        records = [json.loads(line) for line in answer.iter_lines()]
    assert [record["done"] for record in records] == [False] * (len(records) - 1) + [True]
    assert all(record["model"] == FIRST and record["message"]["role"] == "assistant" for record in records)
    final = records[-1]
    assert (final["done_reason"], final["eval_count"], final["message"]["content"]) == ("length", 4, "")
    assert all(isinstance(final[name], int) for name in DURATIONS)
    assert final["total_duration"] >= final["prompt_eval_duration"] + final["eval_duration"] > 0
    whole = http.post("/api/chat", json={**body, "stream": False}).json()
    assert whole["message"]["content"] == "".join(record["message"]["content"] for record in records)


def test_no_answer_waits_for_a_delayed_acknowledgement(http: httpx.Client) -> None:
    def seconds() -> float:
        started = time.perf_counter()
        http.post("/api/show", json={"model": "zz"})
        return time.perf_counter() - started

    assert statistics.median(seconds() for _ in range(15)) < 0.03


def test_the_folder_s_models_are_listed_and_a_hollow_one_fails_alone(tmp_path: Path) -> None:
    write_model(tmp_path / "hollow.gguf")
    with EmbeddedEngine(models_dir=tmp_path) as engine, httpx.Client(base_url=engine.base_url, timeout=60) as http:
        assert "hollow:latest" in [model["name"] for model in http.get("/api/tags").json()["models"]]
        answer = http.post("/api/chat", json={"model": "hollow", "messages": HELLO})
        assert (answer.status_code, answer.json()) == (500, {"error": "unable to load model: hollow.gguf"})
        assert http.get("/api/ps").json() == {"models": []}
