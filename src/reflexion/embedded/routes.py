"""Ollama's endpoints, apart from the sockets that they are reached through."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from reflexion.embedded import names
from reflexion.embedded.catalog import Catalog
from reflexion.embedded.chat import chat
from reflexion.embedded.decoding import parse_body
from reflexion.embedded.embed import embed, embedding
from reflexion.embedded.generate import generate
from reflexion.embedded.listing import described, in_memory, listed
from reflexion.embedded.pool import Pool
from reflexion.embedded.requests import parse_chat, parse_embed, parse_embeddings, parse_generate, parse_show
from reflexion.embedded.runner import Call
from reflexion.embedded.wire import ApiError
from reflexion.embedded.writing import whole_reply
from reflexion.ollama.names import ENGINE

Record = dict[str, Any]

# The protocol is that of this release of Ollama; the suffix says who really answers.
VERSION = f"0.17.4{ENGINE}"
# What Ollama has and this engine has not, on purpose.
ABSENT = ("/v1/", "/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete", "/api/blobs")
NO_SUCH_ENDPOINT = "the embedded engine has no {path}: it serves the demo model and the GGUF files of --models"


@dataclass(frozen=True)
class Engine:
    """What the endpoints work on."""

    catalog: Catalog
    pool: Pool


class Exchange(Protocol):
    """One request and its answer, as a route sees it."""

    def send_text(self, status: int, text: str, kind: str = "text/plain") -> None:
        """Answer with plain text."""

    def send_json(self, status: int, body: object) -> None:
        """Answer with one JSON value."""

    def send_stream(self, records: Iterator[Record]) -> None:
        """Answer with a record a line."""

    def call(self) -> AbstractContextManager[Call]:
        """The call that this request is."""


Route = Callable[[Engine, Exchange, bytes], None]


def answer(engine: Engine, exchange: Exchange, method: str, path: str, body: bytes) -> None:
    """Answer one request.

    Raises:
        ApiError: the answer is an error.
        ClientGone: there is nobody to answer.
    """
    route = ROUTES.get((method, path))
    if route is not None:
        route(engine, exchange, body)
    elif any(known == path for _, known in ROUTES):
        exchange.send_text(405, "405 method not allowed")
    elif f"{path}/".startswith(ABSENT):
        raise ApiError(501, NO_SUCH_ENDPOINT.format(path=path))
    else:
        exchange.send_text(404, "404 page not found")


def _banner(_: Engine, exchange: Exchange, __: bytes) -> None:
    exchange.send_text(200, "Ollama is running", "text/plain; charset=utf-8")


def _version(_: Engine, exchange: Exchange, __: bytes) -> None:
    exchange.send_json(200, {"version": VERSION})


def _tags(engine: Engine, exchange: Exchange, _: bytes) -> None:
    exchange.send_json(200, {"models": [listed(model) for model in engine.catalog.models()]})


def _show(engine: Engine, exchange: Exchange, body: bytes) -> None:
    name = parse_show(parse_body(body, "ShowRequest"))
    exchange.send_json(200, described(names.of_show(engine.catalog, name)))


def _ps(engine: Engine, exchange: Exchange, _: bytes) -> None:
    exchange.send_json(200, {"models": [in_memory(loaded) for loaded in engine.pool.loaded()]})


def _chat(engine: Engine, exchange: Exchange, body: bytes) -> None:
    request = parse_chat(parse_body(body))
    with exchange.call() as call:
        records = chat(engine.catalog, engine.pool, request, call)
        _send(exchange, records, stream=request.stream and bool(request.messages))


def _generate(engine: Engine, exchange: Exchange, body: bytes) -> None:
    request = parse_generate(parse_body(body, "GenerateRequest"))
    with exchange.call() as call:
        records = generate(engine.catalog, engine.pool, request, call)
        _send(exchange, records, stream=request.stream and bool(request.prompt))


def _embed(engine: Engine, exchange: Exchange, body: bytes) -> None:
    request = parse_embed(parse_body(body, "EmbedRequest"))
    with exchange.call() as call:
        exchange.send_json(200, embed(engine.catalog, engine.pool, request, call))


def _embeddings(engine: Engine, exchange: Exchange, body: bytes) -> None:
    request = parse_embeddings(parse_body(body, "EmbeddingRequest"))
    with exchange.call() as call:
        exchange.send_json(200, embedding(engine.catalog, engine.pool, request, call))


def _send(exchange: Exchange, records: Generator[Record], *, stream: bool) -> None:
    try:
        if stream:
            exchange.send_stream(records)
        else:
            exchange.send_json(200, whole_reply(records))
    finally:
        records.close()


ROUTES: Mapping[tuple[str, str], Route] = {
    **dict.fromkeys([("GET", "/"), ("HEAD", "/")], _banner),
    **dict.fromkeys([("GET", "/api/version"), ("HEAD", "/api/version")], _version),
    **dict.fromkeys([("GET", "/api/tags"), ("HEAD", "/api/tags")], _tags),
    ("GET", "/api/ps"): _ps,
    ("POST", "/api/show"): _show,
    ("POST", "/api/chat"): _chat,
    ("POST", "/api/generate"): _generate,
    ("POST", "/api/embed"): _embed,
    ("POST", "/api/embeddings"): _embeddings,
}
