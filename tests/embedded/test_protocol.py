"""What the engine answers otherwise than a real server on purpose, and promises beyond `tests/conformance`."""

import socket
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflexion.embedded.engine import DEMO_MODELS, EmbeddedEngine
from tests.embedded.test_catalog import write_model

pytestmark = pytest.mark.embedded

FIRST, SECOND, _ = DEMO_MODELS


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
    "path", ["/api/pull", "/api/create", "/v1/models", "/v1/chat/completions", "/api/blobs/sha256:1"]
)
def test_what_ollama_has_and_the_engine_has_not_is_named(http: httpx.Client, path: str) -> None:
    answer = http.post(path, json={})
    assert answer.status_code == 501
    assert answer.json()["error"].startswith(f"the embedded engine has no {path}:")
    assert http.post("/v10", json={}).status_code == 404


@pytest.mark.parametrize(
    ("head", "status"),
    [(b"Content-Length: 99999999999999", 413), (b"Content-Length: -1", 400)],
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
        (
            {"model": FIRST, "messages": [{"role": "user", "content": "x", "images": ["aGk="]}]},
            400,
            "this engine reads no images: send text only",
        ),
        (
            {"model": FIRST, "messages": [{"role": "robot"}]},
            400,
            'invalid role: "robot", must be one of ["system", "user", "assistant", "tool"]',
        ),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_refusals(http: httpx.Client, body: dict[str, Any], status: int, words: str, stream: bool) -> None:
    answer = http.post("/api/chat", json={**body, "stream": stream})
    assert (answer.status_code, answer.json()) == (status, {"error": words})


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
