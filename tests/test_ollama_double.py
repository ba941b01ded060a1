"""The double does what its package says, seen by plain httpx and by ChatOllama."""

import httpx
from langchain_ollama import ChatOllama

from tests.ollama_double import OllamaDouble, reply


def chat(double: OllamaDouble, model: str = "gen:1b") -> ChatOllama:
    return ChatOllama(model=model, base_url=double.base_url, client_kwargs={"verify": False, "trust_env": False})


def test_a_reply_comes_in_pieces_and_ends_with_a_final_record(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", reply("# Title\n\nA page that is long enough for pieces.\n"))
    parts = list(chat(ollama_double).stream("write"))
    assert "".join(str(part.content) for part in parts) == "# Title\n\nA page that is long enough for pieces.\n"
    assert len(parts) > 5
    assert [part.response_metadata["done_reason"] for part in parts if part.response_metadata.get("done")] == ["stop"]
    ollama_double.assert_all_played()


def test_plain(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", reply("hello"))
    answer = httpx.post(
        ollama_double.base_url + "/api/chat",
        json={"model": "gen:1b", "messages": [{"role": "user", "content": "x"}], "stream": False},
    )
    assert answer.json()["message"]["content"] == "hello"
