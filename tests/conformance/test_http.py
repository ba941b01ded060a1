"""Paths, methods, bodies and their framing, before any model is asked."""

import json
import re
import socket
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.conformance.subjects import Case, Subject, cases

JSON = "application/json; charset=utf-8"
REQUESTS = {
    "/api/chat": "ChatRequest",
    "/api/generate": "GenerateRequest",
    "/api/embed": "EmbedRequest",
    "/api/show": "ShowRequest",
}
SOCKET_S = 10.0


def test_the_banner_by_which_clients_know_it(subject: Subject) -> None:
    answer = subject.http.get("/")
    assert (answer.status_code, answer.text) == (200, "Ollama is running")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("path", ["/", "/api/version", "/api/tags"])
def test_a_head_is_the_get_without_its_body(subject: Subject, path: str) -> None:
    head, get = subject.http.head(path), subject.http.get(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


def test_the_version(subject: Subject) -> None:
    answer = subject.http.get("/api/version")
    assert (answer.json(), answer.headers["content-type"]) == ({"version": subject.kind.version}, JSON)


class Wrong(NamedTuple):
    """A request that no endpoint takes."""

    method: str
    path: str
    status: int

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


WRONG = [
    *[Wrong("GET", path, 405) for path in REQUESTS],
    *[Wrong("POST", path, 405) for path in ("/", "/api/tags", "/api/ps", "/api/version")],
    *[Wrong(method, "/api/chat", 405) for method in ("PUT", "PATCH", "DELETE", "OPTIONS")],
    *[Wrong(method, "/api/nope", 404) for method in ("GET", "POST", "PUT", "DELETE")],
    Wrong("HEAD", "/api/ps", 405),
]


@pytest.mark.parametrize("case", [pytest.param(wrong, id=wrong.name) for wrong in WRONG])
def test_wrong_paths_and_methods(subject: Subject, case: Wrong) -> None:
    answer = subject.http.request(case.method, case.path, content=b"{}" if case.method != "HEAD" else None)
    assert answer.status_code == case.status
    assert answer.headers["content-type"].startswith("text/plain")
    if case.method != "HEAD":
        assert answer.text == {404: "404 page not found", 405: "405 method not allowed"}[case.status]


class Raw(NamedTuple):
    """Bytes that are no request, and what is said of them."""

    what: str
    data: bytes
    words: str
    path: str = ""

    @property
    def name(self) -> str:
        return f"{self.path}: {self.what}"


RAW = [
    Raw("nothing", b"", "missing request body"),
    Raw("blanks", b" \n", "missing request body"),
    Raw("half", b'{"model":', "unexpected EOF"),
    Raw("no value", b'{"model":oops}', "invalid character 'o' looking for beginning of value"),
    Raw("not a number", b'{"model":NaN}', "invalid character 'N' looking for beginning of value"),
    Raw("no key", b"{oops}", "invalid character 'o' looking for beginning of object key string"),
    Raw("comma at the end", b'{"model":"a",}', "invalid character '}' looking for beginning of object key string"),
    Raw("no comma", b'{"model":"a" "b"}', "invalid character '\"' after object key:value pair"),
    Raw("no text", b"\xff\xfe", "invalid character 'ÿ' looking for beginning of value"),
    Raw("a list", b"[1]", "json: cannot unmarshal array into Go value of type api.REQUEST"),
    Raw("a number", b"5", "json: cannot unmarshal number into Go value of type api.REQUEST"),
    Raw("a text", b'"x"', "json: cannot unmarshal string into Go value of type api.REQUEST"),
    Raw(
        "a wrong model",
        b'{"model":5}',
        "json: cannot unmarshal number into Go struct field REQUEST.model of type string",
    ),
]


NO_REQUESTS = [raw._replace(path=path) for path in REQUESTS for raw in RAW]


@pytest.mark.parametrize("case", [pytest.param(raw, id=raw.name) for raw in NO_REQUESTS])
def test_bodies_that_are_no_request(subject: Subject, case: Raw) -> None:
    answer = subject.http.post(case.path, content=case.data)
    assert (answer.status_code, answer.json()) == (400, {"error": case.words.replace("REQUEST", REQUESTS[case.path])})
    assert answer.headers["content-type"] == JSON


@pytest.mark.parametrize("data", [b"null", b"{}"])
def test_an_empty_request_has_no_model(subject: Subject, data: bytes) -> None:
    answer = subject.http.post("/api/chat", content=data)
    assert (answer.status_code, answer.json()) == (400, {"error": "model is required"})


def test_what_follows_the_body_is_not_read(subject: Subject) -> None:
    answer = subject.http.post("/api/chat", content=b'{"model":"zz"} and more')
    assert (answer.status_code, answer.json()) == (404, {"error": "model 'zz' not found"})


def test_a_body_may_come_in_chunks_and_under_any_type(subject: Subject) -> None:
    data = json.dumps({"model": subject.model}).encode()

    def pieces() -> Iterator[bytes]:
        yield from (data[:7], data[7:])

    answer = subject.http.post("/api/show", content=pieces(), headers={"Content-Type": "text/plain"})
    assert (answer.status_code, "model_info" in answer.json()) == (200, True)


def over_a_socket(subject: Subject, data: bytes) -> bytes:
    host, _, port = subject.base_url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), SOCKET_S) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def head(method: str, path: str, *more: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *more, "", ""]).encode()


@pytest.mark.parametrize(
    ("header", "body"),
    [
        pytest.param("Transfer-Encoding: chunked", b"zz\r\n", id="no chunk size"),
        pytest.param("Content-Length: many", b"", id="no length"),
    ],
)
def test_a_body_without_a_length_is_refused(subject: Subject, header: str, body: bytes) -> None:
    answer = over_a_socket(subject, head("POST", "/api/show", "Connection: close", header) + body)
    assert answer.split(b"\r\n")[0].startswith(b"HTTP/1.1 400")


def test_a_refused_request_leaves_the_connection_in_order(subject: Subject) -> None:
    bad = head("POST", "/api/chat", "Content-Length: 5") + b"{half"
    lost = head("POST", "/api/nope", "Content-Length: 2") + b"{}"
    answer = over_a_socket(subject, bad + lost + head("GET", "/api/version", "Connection: close"))
    assert re.findall(rb"HTTP/1\.1 (\d+)", answer) == [b"400", b"404", b"200"]
    assert json.loads(answer.rpartition(b"\r\n\r\n")[2]) == {"version": subject.kind.version}


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_web_pages_are_kept_out(subject: Subject, header: dict[str, str]) -> None:
    assert subject.http.get("/api/tags", headers=header).status_code == 403
    assert subject.http.get("/api/tags", headers={"Origin": "http://localhost:3000"}).status_code == 200


def test_the_address_that_a_server_listens_on_is_this_machine(subject: Subject) -> None:
    assert subject.http.get("/api/tags", headers={"Host": "0.0.0.0:11434"}).status_code == 200


TYPES = [
    Case(
        "messages",
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message",
        body={"messages": "x"},
    ),
    Case(
        "a message",
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.messages of type api.Alias",
        body={"messages": ["x"]},
    ),
    Case(
        "content",
        400,
        "json: cannot unmarshal number into Go struct field ChatRequest.messages.content of type string",
        body={"messages": [{"role": "user", "content": 5}]},
    ),
    Case(
        "content in parts",
        400,
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
        body={"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
    ),
    Case(
        "stream",
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.stream of type bool",
        body={"stream": "no"},
    ),
    Case(
        "truncate",
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.truncate of type bool",
        body={"truncate": "x"},
    ),
    Case(
        "tools",
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.tools of type api.Tools",
        body={"tools": "x"},
    ),
    Case(
        "options",
        400,
        "json: cannot unmarshal array into Go struct field ChatRequest.options of type map[string]interface {}",
        body={"options": []},
    ),
    Case(
        "think", 400, 'think must be a boolean or string ("high", "medium", "low", true, or false)', body={"think": 5}
    ),
    Case(
        "prompt",
        400,
        "json: cannot unmarshal number into Go struct field GenerateRequest.prompt of type string",
        "/api/generate",
        {"prompt": 5},
    ),
    Case(
        "context",
        400,
        "json: cannot unmarshal string into Go struct field GenerateRequest.context of type []int",
        "/api/generate",
        {"context": "x"},
    ),
    Case(
        "raw",
        400,
        "json: cannot unmarshal number into Go struct field GenerateRequest.raw of type bool",
        "/api/generate",
        {"raw": 1},
    ),
    Case("input", 400, "invalid input type", "/api/embed", {"input": 5}),
    Case("an input", 400, "invalid input type", "/api/embed", {"input": ["x", 5]}),
    Case("input before model", 400, "invalid input type", "/api/embed", {"input": 5, "model": "zz"}),
    Case(
        "dimensions",
        400,
        "json: cannot unmarshal string into Go struct field EmbedRequest.dimensions of type int",
        "/api/embed",
        {"dimensions": "x"},
    ),
]


@cases(TYPES)
def test_fields_of_a_wrong_type(subject: Subject, case: Case) -> None:
    case.holds(subject, case.ask(subject))
