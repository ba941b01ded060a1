"""The double does what its package says, seen by plain httpx and by ChatOllama."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_ollama import ChatOllama
from ollama import ResponseError

from tests import ollama_double as kinds
from tests.conftest import MakeDouble
from tests.ollama_double import ModelInfo, OllamaDouble, ScriptExhausted, reply

REPOSITORY = Path(__file__).parents[1]
PAGE = "# Title\n\nA page of several lines, long enough to come in pieces: naïve, 漢字, 🙂.\n"


@pytest.fixture
def client(ollama_double: OllamaDouble) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=ollama_double.base_url, timeout=10, trust_env=False) as plain:
        yield plain


def chat_body(model: str = "gen:1b", **more: object) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "write"}], **more}


def chat(double: OllamaDouble, timeout_s: float = 10) -> ChatOllama:
    options = {"verify": False, "trust_env": False, "timeout": timeout_s}
    return ChatOllama(model="gen:1b", base_url=double.base_url, client_kwargs=options)


def streamed(client: httpx.Client, **more: object) -> list[dict[str, Any]]:
    with client.stream("POST", "/api/chat", json=chat_body() | more) as answer:
        return [json.loads(line) for line in answer.iter_lines()]


def text_of(records: list[dict[str, Any]]) -> str:
    return "".join(record["message"]["content"] for record in records if "message" in record)


def error_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


# What is answered without a script: see tests/conformance/


def test_a_name_without_tag_means_latest(make_ollama_double: MakeDouble) -> None:
    double = make_ollama_double({"gen": ModelInfo()})
    double.script("gen:latest", reply("a"))
    assert httpx.post(double.base_url + "/api/chat", json=chat_body("gen", stream=False)).json()["done"] is True
    assert len(double.chats("gen")) == 1


# Good replies


def test_chat_ollama_gets_the_text_in_pieces_and_a_final_record(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", reply(PAGE, thinking="first this, then that"))
    parts = list(chat(ollama_double).stream("write"))
    assert "".join(str(part.content) for part in parts) == PAGE
    assert sum(bool(part.content) for part in parts) > 5
    finals = [part.response_metadata for part in parts if part.response_metadata.get("done")]
    assert [final["done_reason"] for final in finals] == ["stop"]
    assert parts[0].response_metadata == {}
    ollama_double.assert_all_played()


def test_counts_reasons_and_thinking_are_what_was_scripted(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    cut = reply("half", thinking="hm hm", done_reason="length", prompt_eval_count=7, eval_count=9, load_s=0.05)
    ollama_double.script("gen:1b", cut, cut)
    *records, final = streamed(client)
    assert "".join(record["message"].get("thinking", "") for record in records) == "hm hm"
    whole = client.post("/api/chat", json=chat_body(stream=False)).json()
    assert whole["message"] == {"role": "assistant", "content": "half", "thinking": "hm hm"}
    for record in (final, whole):
        assert (record["done_reason"], record["prompt_eval_count"], record["eval_count"]) == ("length", 7, 9)
        assert 0.05e9 <= record["load_duration"] <= record["total_duration"]


def test_a_reply_can_be_computed_from_the_request(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", lambda body: reply(body["messages"][0]["content"].upper()))
    assert text_of(streamed(client)) == "WRITE"


def test_thinking_leaks_into_the_content(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    both = [kinds.leaked_thinking("so", "it", opening=opening) for opening in (False, True)]
    ollama_double.script("gen:1b", *both, reply(""))
    texts = [text_of(streamed(client)) for _ in range(3)]
    assert texts == ["so</think>\n\nit", "<think>so</think>\n\nit", ""]


def test_requests_are_recorded(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", reply("a"))
    client.post("/api/chat", json=chat_body(stream=False), headers={"X-Mark": "here"})
    (request,) = ollama_double.requests
    assert (request.method, request.path, request.headers["x-mark"]) == ("POST", "/api/chat", "here")
    assert ollama_double.chats("gen:1b") == [chat_body(stream=False)]
    assert ollama_double.chats("critic:1b") == []
    # The client has its answer a moment before the handler notes that it has ended.
    _until(lambda: request.ended_at is not None and request.ended_at >= request.at)
    assert request.hung_up is False


# Misbehaviour


def test_status_repeats_and_then_the_script_goes_on(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.status(503, times=2), reply("up"))
    answers = [client.post("/api/chat", json=chat_body(stream=False)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert error_of(answers[0]) == (503, "server busy, please try again")


def test_a_page_instead_of_ollama(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.html())
    with pytest.raises(json.JSONDecodeError):
        chat(ollama_double).invoke("write")
    ollama_double.interfere("/api/tags", kinds.html("<p>other</p>"))
    assert client.get("/api/tags").headers["content-type"] == "text/html"
    assert "models" in client.get("/api/tags").json()


def test_end_of_file_in_the_middle(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.eof(PAGE), kinds.eof(PAGE))
    with pytest.raises(httpx.RemoteProtocolError):
        chat(ollama_double).invoke("write")
    with pytest.raises(httpx.RemoteProtocolError):
        client.post("/api/chat", json=chat_body(stream=False))


def test_no_final_record_looks_like_success_to_the_client(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", kinds.no_final("half a"))
    parts = list(chat(ollama_double).stream("write"))
    assert "".join(str(part.content) for part in parts) == "half a"
    assert all("done_reason" not in part.response_metadata for part in parts)


def test_an_error_record_inside_a_good_stream(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", *[kinds.error_record("half", "out of memory")] * 2)
    with pytest.raises(ResponseError, match="out of memory"):
        chat(ollama_double).invoke("write")
    assert streamed(client)[-1] == {"error": "out of memory"}


def test_half_a_record(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.half_json("text"), kinds.half_json("text"))
    with pytest.raises(json.JSONDecodeError):
        chat(ollama_double).invoke("write")
    with pytest.raises(json.JSONDecodeError):
        client.post("/api/chat", json=chat_body(stream=False)).json()


def test_bytes_that_are_no_text(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.bad_utf8("text"), kinds.bad_utf8("text"))
    assert text_of(streamed(client)) == "text��"
    assert b"\xff\xfetext" in client.post("/api/chat", json=chat_body(stream=False)).content


def test_a_drip_keeps_the_read_timeout_from_firing(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", kinds.slow("x" * 20, gap_s=0.05))
    began = time.monotonic()
    assert chat(ollama_double, timeout_s=0.2).invoke("write").content == "x" * 20
    assert time.monotonic() - began >= 0.25


def test_silence_lasts_until_the_client_leaves_or_it_is_released(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", kinds.silence(), kinds.silence())
    with pytest.raises(httpx.ReadTimeout):
        chat(ollama_double, timeout_s=0.1).invoke("write")
    _until(lambda: ollama_double.requests[0].hung_up)
    threading.Timer(0.1, ollama_double.release).start()
    with pytest.raises(httpx.RemoteProtocolError):
        chat(ollama_double).invoke("write")


def test_runaway_ends_only_when_the_client_leaves(ollama_double: OllamaDouble) -> None:
    ollama_double.script("gen:1b", kinds.runaway("la ", start="# Song\n"))
    text = ""
    stream = chat(ollama_double).stream("write")
    for part in stream:
        text += str(part.content)
        if len(text) > 3000:
            break
    stream.close()  # type: ignore[attr-defined]
    assert text.startswith("# Song\nla la la ")
    _until(lambda: ollama_double.requests[0].hung_up)


def test_reset_breaks_the_connection(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.reset(), reply("up"))
    with pytest.raises(httpx.ReadError):
        client.post("/api/chat", json=chat_body())
    assert text_of(streamed(client)) == "up"


def test_refuse_closes_the_port_for_a_while(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", kinds.refuse(0.3), reply("up"))
    with pytest.raises(httpx.TransportError):
        client.post("/api/chat", json=chat_body())
    with pytest.raises(httpx.ConnectError):
        client.get("/api/version")
    time.sleep(0.5)
    assert text_of(streamed(client)) == "up"


def test_down_refuses_inside_the_block_also_kept_connections(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    assert client.get("/").status_code == 200
    with ollama_double.down():
        _until(lambda: _refused(client))
    assert client.get("/").status_code == 200


# Memory


def test_one_place_for_two_models_swaps_in_order_of_arrival(make_ollama_double: MakeDouble) -> None:
    double = make_ollama_double(max_loaded=1, load_s=0.05)
    double.script("gen:1b", *[reply("g", wait_s=0.03)] * 3)
    double.script("critic:1b", *[reply("c")] * 2)
    with httpx.Client(base_url=double.base_url, trust_env=False) as client:
        names = ("gen:1b", "gen:1b", "critic:1b", "gen:1b")
        answers = [client.post("/api/chat", json=chat_body(name, stream=False)).json() for name in names]
        ps = client.get("/api/ps").json()["models"]
    assert double.loads == ["gen:1b", "critic:1b", "gen:1b"]
    assert [answer["load_duration"] >= 0.05e9 for answer in answers] == [True, False, True, True]
    assert [model["name"] for model in ps] == ["gen:1b"]
    assert httpx.post(double.base_url + "/api/chat", json=chat_body("critic:1b", stream=False)).status_code == 200


def test_another_window_loads_again(ollama_double: OllamaDouble, client: httpx.Client) -> None:
    ollama_double.script("gen:1b", *[reply("a")] * 3)
    for num_ctx in (2048, 2048, 4096):
        client.post("/api/chat", json=chat_body(options={"num_ctx": num_ctx}))
    assert ollama_double.loads == ["gen:1b", "gen:1b"]


def test_calls_at_once_wait_for_the_model_in_use(make_ollama_double: MakeDouble) -> None:
    double = make_ollama_double(max_loaded=1)
    names = ["gen:1b", "critic:1b"] * 3
    for name in names:
        double.script(name, reply("x", wait_s=0.02))
    calls = [
        threading.Thread(target=httpx.post, args=(double.base_url + "/api/chat",), kwargs={"json": chat_body(name)})
        for name in names
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    double.assert_all_played()
    assert 2 <= len(double.loads) <= 6


# The script's end, and the double's


def test_a_script_that_ran_out_fails_at_the_end() -> None:
    with OllamaDouble({"gen:1b": ModelInfo()}) as double:
        double.script("gen:1b", reply("only"))
        answers = [httpx.post(double.base_url + "/api/chat", json=chat_body(stream=False)) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 500]
        with pytest.raises(ScriptExhausted, match="gen:1b was asked 2 times"):
            double.check()


def test_replies_never_asked_for_are_named(ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", reply("a"), reply("b"))
    with pytest.raises(AssertionError, match=r"'critic:1b': 2"):
        ollama_double.assert_all_played()
    with pytest.raises(KeyError, match="no model other:1b"):
        ollama_double.script("other:1b", reply("a"))


def test_a_fault_in_a_computed_reply_is_not_swallowed() -> None:
    with OllamaDouble({"gen:1b": ModelInfo()}) as double:
        double.script("gen:1b", lambda body: reply(body["nothing"]))
        with pytest.raises(httpx.TransportError):
            httpx.post(double.base_url + "/api/chat", json=chat_body())
        with pytest.raises(KeyError, match="nothing"):
            double.check()


def test_the_last_reply_can_repeat(make_ollama_double: MakeDouble) -> None:
    double = make_ollama_double(repeat_last=True)
    double.script("gen:1b", reply("first"), reply("again"))
    with httpx.Client(base_url=double.base_url) as client:
        assert [text_of(streamed(client)) for _ in range(3)] == ["first", "again", "again"]


def test_close_ends_silent_calls_and_frees_the_port() -> None:
    double = OllamaDouble({"gen:1b": ModelInfo()})
    double.script("gen:1b", kinds.silence())
    threading.Timer(0.1, double.close).start()
    with pytest.raises(httpx.TransportError):
        httpx.post(double.base_url + "/api/chat", json=chat_body(), timeout=5)
    with pytest.raises(httpx.ConnectError):
        httpx.get(double.base_url)


def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    script, record = tmp_path / "script.json", tmp_path / "record.jsonl"
    replies = ["plain", {"kind": "status", "code": 503}, {"kind": "leaked_thinking", "thinking": "a", "text": "b"}]
    models = {"gen:1b": {"context_length": 4096, "capabilities": ["completion", "thinking"]}}
    script.write_text(json.dumps({"models": models, "replies": {"gen:1b": replies}}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.ollama_double", "--script", str(script), "--record", str(record)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        answers = [httpx.post(url + "/api/chat", json=chat_body(think=True, stream=False)) for _ in range(4)]
        os.kill(process.pid, signal.SIGTERM)
        _, complaint = process.communicate(timeout=10)
    assert [answer.status_code for answer in answers] == [200, 503, 200, 500]
    assert answers[2].json()["message"]["content"] == "a</think>\n\nb"
    assert [json.loads(line)["model"] for line in record.read_text().splitlines()] == ["gen:1b"] * 4
    assert (process.returncode, b"more than scripted" in complaint) == (1, True)


def _refused(client: httpx.Client) -> bool:
    try:
        client.get("/")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        return False
    raise AssertionError("answered while down")


def _until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)
