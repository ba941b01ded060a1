"""What the engine answers otherwise than a real server on purpose, and promises beyond `tests/conformance`."""

import json
import socket
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import DEMO_MODELS
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
    ("head", "status", "words"),
    [
        (b"Content-Length: 99999999999999", 413, b"longer than 64 MiB"),
        (b"Content-Length: -1", 400, b"is not a number"),
        (b"Content-Length: +2", 400, b"is not a number"),
        (b"Content-Length: 0_2", 400, b"is not a number"),
        (b"Content-Length: 2a", 400, b"is not a number"),
        (b"Transfer-Encoding: gzip, chunked", 501, b"transfer encoding gzip, chunked is not read"),
    ],
)
def test_a_body_of_a_mad_length_is_not_waited_for(
    engine: EmbeddedEngine, head: bytes, status: int, words: bytes
) -> None:
    answer = over_a_socket(engine, b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\nzz\r\n")
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert words in answer
    # What follows is not taken for the next request.
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"GET / HTTP/1.1\r\nHost: [::1", b'{"error":"Host is no address"}'),
        (b"GET / HTTP/1.1\r\nOrigin: http://[::1", b'{"error":"Origin is no address"}'),
        (b"GET http://[::1/ HTTP/1.1\r\nHost: localhost", b'{"error":"the address of the request is no address"}'),
        (b"GET / HTTP/9.9\r\nHost: localhost", b"505 Invalid HTTP version (9.9)"),
    ],
)
def test_what_is_no_address_is_answered_in_a_line(engine: EmbeddedEngine, head: bytes, words: bytes) -> None:
    answer = over_a_socket(engine, head + b"\r\nConnection: close\r\n\r\n")
    assert answer.rpartition(b"\r\n\r\n")[2] == words


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_of_http_1_0_gets_no_chunks(engine: EmbeddedEngine, stream: bool) -> None:
    options = {"num_ctx": 1024, "num_predict": 2}
    body = json.dumps({"model": FIRST, "prompt": "hello", "stream": stream, "options": options}).encode()
    answer = over_a_socket(engine, b"POST /api/generate HTTP/1.0\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    _, _, lines = answer.partition(b"\r\n\r\n")
    assert json.loads(lines.splitlines()[-1])["done"] is True
    assert all("response" in json.loads(line) for line in lines.splitlines())


def over_a_socket(engine: EmbeddedEngine, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", int(engine.base_url.rsplit(":", 1)[1])), 30) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


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
