"""The libraries that our product stands on, against each subject: the ollama client, ChatOllama, and our own use."""

import json
from collections.abc import Iterator

import ollama
import pytest
from langchain_core.messages import AIMessageChunk
from pydantic import BaseModel

from reflexion.config import DOCS_ROLES, Config, Role, RoleSettings, ServerSettings
from reflexion.ollama.binding import bind
from reflexion.ollama.client import Clients
from reflexion.ollama.guard import Deadlines, Watchdog
from reflexion.ollama.reply import Binding, Message, Request
from reflexion.ollama.roles import Models
from reflexion.ollama.server import Server
from tests.conformance.subjects import WINDOW, Subject
from tests.ollama_double import reply

TEXT = "naïve, 漢字, 🙂 and so on"
OPTIONS = {"num_ctx": WINDOW, "num_predict": 4, "temperature": 0}
HELLO = [{"role": "user", "content": f"Say {TEXT}"}]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"good": {"type": "boolean"}}, "required": ["good"]}


@pytest.fixture
def client(subject: Subject) -> ollama.Client:
    return ollama.Client(host=subject.base_url, trust_env=False, verify=False)


def test_the_ollama_client_reads_what_is_told_of_models(subject: Subject, client: ollama.Client) -> None:
    assert {model.model for model in client.list().models} == set(subject.models)
    assert client.show(subject.model).capabilities == ["completion"]
    client.chat(subject.model, HELLO, options=OPTIONS)
    (loaded,) = client.ps().models
    assert (loaded.model, loaded.context_length) == (subject.model, WINDOW)


def test_the_ollama_client_chats(subject: Subject, client: ollama.Client) -> None:
    subject.play(reply(TEXT, done_reason="length"))
    whole = client.chat(subject.model, HELLO, options=OPTIONS, think=False, keep_alive="5m")
    *parts, last = client.chat(subject.model, HELLO, stream=True, options=OPTIONS)
    assert whole.message.content == "".join(part.message.content or "" for part in parts)
    assert (last.done, last.done_reason) == (True, "length")
    assert (whole.eval_count or 0) > 0


def test_the_ollama_client_generates(subject: Subject, client: ollama.Client) -> None:
    subject.play(reply(TEXT, done_reason="length"))
    whole = client.generate(subject.model, f"Say {TEXT}", options=OPTIONS)
    *parts, last = client.generate(subject.model, f"Say {TEXT}", stream=True, options=OPTIONS)
    assert whole.response == "".join(part.response or "" for part in parts)
    assert (last.done, last.done_reason) == (True, "length")
    assert len(whole.context or []) > 0


def test_the_ollama_client_embeds(subject: Subject, client: ollama.Client) -> None:
    answer = client.embed(subject.model, [TEXT, "hello"], options={"num_ctx": WINDOW})
    assert len(answer.embeddings) == 2
    assert (answer.prompt_eval_count or 0) > 0


@pytest.mark.parametrize(
    ("model", "think", "status", "words"),
    [("zz", None, 404, "model 'zz' not found"), ("", True, 400, "does not support thinking")],
)
def test_the_ollama_client_raises_what_was_refused(
    subject: Subject, client: ollama.Client, model: str, think: bool | None, status: int, words: str
) -> None:
    for stream in (False, True):
        with pytest.raises(ollama.ResponseError, match=words) as caught:
            list(client.chat(model or subject.model, HELLO, think=think, stream=stream))
        assert caught.value.status_code == status


# ChatOllama as our product builds it


def request(subject: Subject, schema: dict[str, object] | None = None, model: str = "") -> Request:
    settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 32})
    binding = Binding(Role.CRITIC, model or subject.model, settings, WINDOW)
    messages = [Message("system", "Be brief."), Message("user", "Say something.")]
    return Request(binding, messages, num_predict=32 if schema else 4, seed=1, think=False, schema=schema)


def streamed(subject: Subject, asked: Request) -> Iterator[AIMessageChunk]:
    clients = Clients(subject.base_url, ServerSettings())
    with Watchdog(Deadlines(60, 60, 60)) as watchdog:
        yield from clients.stream(asked, watchdog)


def test_chat_ollama_streams_text_and_a_final_record(subject: Subject) -> None:
    subject.play(reply(TEXT, done_reason="length"))
    chunks = list(streamed(subject, request(subject)))
    assert "".join(str(chunk.content) for chunk in chunks) != ""
    finals = [chunk for chunk in chunks if chunk.response_metadata.get("done")]
    assert [final.response_metadata["done_reason"] for final in finals] == ["length"]
    assert finals[0].usage_metadata is not None
    assert finals[0].usage_metadata["output_tokens"] > 0
    assert finals[0].response_metadata["prompt_eval_duration"] > 0


def test_chat_ollama_sends_a_schema(subject: Subject) -> None:
    subject.play(reply('{"good": true}'))
    text = "".join(str(chunk.content) for chunk in streamed(subject, request(subject, SCHEMA)))
    assert json.loads(text).keys() == {"good"}


def test_chat_ollama_raises_what_was_refused(subject: Subject) -> None:
    with pytest.raises(ollama.ResponseError, match="model 'zz' not found"):
        list(streamed(subject, request(subject, model="zz")))


class Verdict(BaseModel):
    good: bool


def test_our_own_preflight_and_call_go_through(subject: Subject) -> None:
    names = dict(zip(DOCS_ROLES, subject.models, strict=True))
    options = {"num_ctx": 512, "num_predict": 48, "temperature": 0}
    config = Config.model_validate({"model_registry": names, "roles": dict.fromkeys(names, options)})
    with Server(subject.base_url) as server:
        assert server.version() == subject.kind.version
        bindings, _ = bind(config, server)
    assert [binding.model for binding in bindings.values()] == list(subject.models)
    assert {binding.window for binding in bindings.values()} == {512}
    assert len({binding.digest for binding in bindings.values()}) == 3
    subject.play(reply('{"good": true}'))
    answer = Models(bindings, subject.base_url).ask(Role.GENERATOR, [Message("user", "Is it good?")], Verdict)
    assert isinstance(answer.parsed, Verdict)
    assert answer.stats.outcome == "ok"
