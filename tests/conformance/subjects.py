"""What the suite asks: a server under test, what it can do, and the requests that most expectations start from."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx
import pytest

from tests.ollama_double import OllamaDouble
from tests.ollama_double.replies import Scripted

Body = dict[str, Any]

OWN_WINDOW = 8192
"""What the models were made for, in tokens."""
WINDOW = 128
"""The window of nearly every request: another one would load the model again."""
UNLOAD_S = 20.0
HELLO = "Say one word."
# Only a grammar makes a model write for as long as this, whatever it is asked.
ENDLESS: Body = {"type": "array", "minItems": 1_900, "items": {"type": "string", "minLength": 50, "maxLength": 60}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


@dataclass(frozen=True)
class Kind:
    """A kind of server. ``writes`` tells whether its tokens are its own: the double's are scripted, so nothing can
    be expected of what it says, nor of its speed. ``mark`` is the pytest mark of its tests.
    """

    name: str
    version: str
    writes: bool = True
    mark: str = ""

    def param(self) -> Any:  # noqa: ANN401 - pytest does not publish the type of its parameter sets
        """The parameter of the fixture ``subject`` for this kind."""
        return pytest.param(self, id=self.name, marks=getattr(pytest.mark, self.mark) if self.mark else ())


KINDS = (
    Kind("double", "0.17.4", writes=False),
    Kind("embedded", "0.17.4+embedded", mark="embedded"),
    Kind("ollama", "0.17.4", mark="ollama"),
)

# An expectation of what is written, or of how fast.
of_writers = pytest.mark.parametrize("subject", [kind.param() for kind in KINDS if kind.writes], indirect=True)


@dataclass(frozen=True)
class Subject:
    """A running server with three models of its own and room for one of them."""

    kind: Kind
    base_url: str
    models: tuple[str, str, str]
    http: httpx.Client
    double: OllamaDouble | None = field(default=None, repr=False)

    @property
    def model(self) -> str:
        """The model that is asked when it does not matter which."""
        return self.models[0]

    def play(self, *replies: Scripted) -> None:
        """What the first model says next, the last of it again and again, where that has to be told."""
        if self.double is not None:
            self.double.replace_script(self.model, *replies)

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """The JSON of a GET."""
        return self.http.get(path).json()

    def post(self, path: str, body: object) -> httpx.Response:
        """The answer of a POST of JSON, whatever its status."""
        # Not as httpx would encode it: half a surrogate pair has to arrive as its escape.
        return self.http.post(path, content=json.dumps(body).encode())

    def chat(self, content: str = HELLO, **more: object) -> Body:
        """The whole reply of a chat that does not stream, which must succeed."""
        return succeeded(self.post("/api/chat", self.chat_body(content, **more)))

    def text(self, content: str = HELLO, **more: object) -> str:
        """What was written."""
        return str(self.chat(content, **more)["message"]["content"])

    def chat_body(self, content: str = HELLO, **more: object) -> Body:
        """A chat of one message that does not stream; ``options`` go over those that most calls have."""
        return self._body({"messages": [{"role": "user", "content": content}]}, more)

    def generate_body(self, prompt: str = HELLO, **more: object) -> Body:
        """The same for ``/api/generate``."""
        return self._body({"prompt": prompt}, more)

    def body(self, path: str, **more: Any) -> Body:  # noqa: ANN401 - JSON
        """The smallest good request of an endpoint, with ``more`` over it."""
        match path:
            case "/api/chat":
                return self.chat_body(**more)
            case "/api/generate":
                return self.generate_body(**more)
            case "/api/embed":
                return {"model": self.model, "input": "hello", "options": {"num_ctx": WINDOW}} | more
            case _:
                return {"model": self.model} | more

    def stream(self, path: str, body: Body) -> tuple[httpx.Response, list[Body]]:
        """The headers and the records of a stream."""
        with self.http.stream("POST", path, json=body | {"stream": True}) as answer:
            return answer, [json.loads(line) for line in answer.iter_lines()]

    def loaded(self) -> dict[str, int]:
        """The models in memory and their windows in tokens."""
        return {model["name"]: model["context_length"] for model in self.get("/api/ps")["models"]}

    def unload(self) -> None:
        """Empties the memory, so that a test begins like the first one."""
        for name in self.loaded():
            self.post("/api/chat", {"model": name, "keep_alive": 0})
        until(lambda: not self.loaded(), UNLOAD_S)

    def _body(self, asked: Body, more: Body) -> Body:
        options = more.pop("options", {})
        if isinstance(options, dict):
            options = {"num_ctx": WINDOW, "num_predict": 4, "seed": 1, "temperature": 0} | options
        return {"model": self.model, "options": options, "stream": False} | asked | more


class Case(NamedTuple):
    """One request and its answer. ``body`` goes over the smallest good request of ``path``; ``words`` are the error,
    or its beginning and end round "...". NAME and STEM in a text are the model's name and that without its tag.
    """

    name: str
    status: int
    words: str = ""
    path: str = "/api/chat"
    body: Body = {}

    def ask(self, subject: Subject) -> httpx.Response:
        """Sends the request."""
        return subject.post(self.path, subject.body(self.path, **{k: _named(v, subject) for k, v in self.body.items()}))

    def holds(self, subject: Subject, answer: httpx.Response) -> None:
        """Asserts that this is the answer; one that is no JSON is a fault that no difference excuses (ValueError)."""
        said = answer.json()
        assert answer.status_code == self.status, answer.text
        if self.status == httpx.codes.OK:
            return
        assert answer.headers["content-type"].startswith("application/json")
        assert said.keys() == {"error"}
        words = _named(self.words, subject)
        start, _, end = words.partition("...")
        assert said["error"] == words or "..." in words, said["error"]
        assert said["error"].startswith(start), said["error"]
        assert said["error"].endswith(end), said["error"]


def _named(value: Any, subject: Subject) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        return value
    return value.replace("NAME", subject.model).replace("STEM", subject.model.partition(":")[0])


def cases(*tables: Sequence[Case]) -> pytest.MarkDecorator:
    """Runs a test once a case; the argument's name is what `differences` knows the case by."""
    every = [case for table in tables for case in table]
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in every])


def succeeded(answer: httpx.Response) -> Body:
    """The JSON of an answer that must be a success."""
    assert answer.status_code == httpx.codes.OK, answer.text
    body: Body = answer.json()
    return body


def until(condition: Callable[[], bool], seconds: float) -> None:
    """Waits for something that the server does after it has answered."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.02)
