"""Window, prompt store, hang-ups and queue: what the engine promises beyond `tests/conformance`."""

import json
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import DEMO_MODELS
from reflexion.embedded.runner import BATCH_TOKENS, SPARE_CELLS
from tests.embedded.conftest import Chat

pytestmark = pytest.mark.embedded

FIRST, SECOND, _ = DEMO_MODELS
WINDOW = 1024
# Only a grammar makes a model write this much, whatever it is asked.
ENDLESS = {"type": "string", "minLength": 20_000}


def words(count: int, salt: str = "") -> str:
    return f"{salt} " + " ".join(f"n{i % 10}" for i in range(count))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 0.5, "maximum": 0.7},
        {"type": "string", "enum": ["abc"], "maxLength": 2},
        {"$ref": "#"},
        {"type": "string", "pattern": "^a(?=b)b$"},
    ],
)
def test_a_schema_that_llama_cpp_drops_is_no_free_text(chat: Chat, schema: dict[str, object], stream: bool) -> None:
    answer = chat("Say something.", {"format": schema, "stream": stream}, num_ctx=WINDOW, num_predict=4)
    assert (answer.status_code, answer.json()) == (500, {"error": "invalid JSON schema in format"})
    free = chat("Say something.", {"format": {"enum": ["abc"]}}, num_ctx=WINDOW, num_predict=8).json()
    assert free["message"]["content"] == '"abc"'


def test_the_oldest_messages_go_first_and_the_system_message_stays(chat: Chat) -> None:
    system = {"role": "system", "content": "Be brief."}
    last = {"role": "user", "content": "What is two and two?"}
    old = [{"role": role, "content": words(30)} for role in ("user", "assistant") * 3]
    short = chat([system, last], num_ctx=60, num_predict=1).json()
    long = chat([system, *old, last], num_ctx=60, num_predict=1).json()
    assert short["prompt_eval_count"] < 30
    assert long["prompt_eval_count"] == short["prompt_eval_count"]


def test_a_reply_goes_on_beyond_the_window(chat: Chat) -> None:
    # Beyond the cells that the engine has to spare as well, which the suite for all servers does not reach.
    reply = SPARE_CELLS + 16
    answer = chat(words(64), {"format": ENDLESS}, num_ctx=64, num_predict=reply).json()
    assert (answer["prompt_eval_count"], answer["done_reason"], answer["eval_count"]) == (64, "length", reply)


def test_two_conversations_in_turns_keep_their_prefixes(chat: Chat) -> None:
    one, two = words(60, "first talk"), words(60, "another thing altogether")
    cold = [chat(said, num_ctx=WINDOW, num_predict=1).json()["prompt_eval_duration"] for said in (one, two)]
    warm = [chat(said, num_ctx=WINDOW, num_predict=1).json()["prompt_eval_duration"] for said in (one, two)]
    assert sum(warm) < sum(cold) / 3


def test_a_hang_up_while_reading_the_prompt_stops_the_work(engine: EmbeddedEngine, chat: Chat) -> None:
    warm = chat(words(60, "speed"), num_ctx=8192, num_predict=1).json()
    tokens_per_s = warm["prompt_eval_count"] / (warm["prompt_eval_duration"] / 1e9)
    body = {"model": FIRST, "messages": [{"role": "user", "content": words(2_600, "gone")}], "stream": False}
    with httpx.Client(base_url=engine.base_url, timeout=0.5) as impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post("/api/chat", json={**body, "options": {"num_ctx": 8192}})
    started = time.monotonic()
    assert chat("x", num_ctx=8192, num_predict=1).status_code == 200
    # 7800 tokens take 20 s or more; what was begun of them is at most one batch.
    assert time.monotonic() - started < 1.5 + 2 * BATCH_TOKENS / tokens_per_s


def test_a_hang_up_in_the_queue_leaves_the_queue(engine: EmbeddedEngine, http: httpx.Client, chat: Chat) -> None:
    body = {"model": FIRST, "messages": [{"role": "user", "content": "x"}], "options": {"num_ctx": WINDOW}}
    with http.stream("POST", "/api/chat", json={**body, "format": ENDLESS}) as running:
        next(running.iter_lines())
        with httpx.Client(base_url=engine.base_url, timeout=0.3) as impatient, pytest.raises(httpx.ReadTimeout):
            impatient.post("/api/chat", json={**body, "format": ENDLESS, "stream": False})
        time.sleep(0.3)
    started = time.monotonic()
    assert chat("x", num_ctx=WINDOW, num_predict=1).status_code == 200
    assert time.monotonic() - started < 2


@pytest.mark.skipif(not hasattr(select, "POLLRDHUP"), reason="this system does not tell a hang-up behind unread bytes")
def test_a_hang_up_is_seen_behind_a_request_that_nobody_has_read(engine: EmbeddedEngine, chat: Chat) -> None:
    chat("warm", num_ctx=WINDOW, num_predict=1)
    body = {"model": FIRST, "messages": [{"role": "user", "content": "x"}], "options": {"num_ctx": WINDOW}}
    data = json.dumps({**body, "format": ENDLESS, "stream": False}).encode()
    with socket.create_connection(("127.0.0.1", int(engine.base_url.rsplit(":", 1)[1]))) as connection:
        connection.sendall(b"POST /api/chat HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data))
        time.sleep(0.5)
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        time.sleep(0.3)
    started = time.monotonic()
    assert chat("x", num_ctx=WINDOW, num_predict=1).status_code == 200
    assert time.monotonic() - started < 5, "the reply would have taken minutes to its end"


def test_a_hang_up_while_a_text_is_embedded_stops_the_work(engine: EmbeddedEngine, http: httpx.Client) -> None:
    options = {"num_ctx": 8192}
    body = {"model": FIRST, "input": "short", "options": options}
    http.post("/api/embed", json=body)
    with httpx.Client(base_url=engine.base_url, timeout=0.5) as impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post("/api/embed", json={**body, "input": [words(2_600, "gone"), words(2_600, "gone too")]})
    started = time.monotonic()
    assert http.post("/api/embed", json=body).status_code == 200
    # Twice 7800 tokens take 40 s or more.
    assert time.monotonic() - started < 12


def test_a_hang_up_while_a_model_is_loaded_stops_the_loading(engine: EmbeddedEngine, http: httpx.Client) -> None:
    third = DEMO_MODELS[2]
    http.post("/api/generate", json={"model": third, "keep_alive": 0})
    with httpx.Client(base_url=engine.base_url, timeout=0.1) as impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post("/api/generate", json={"model": third})
    # The next in line shows that the door is free again; had the loading gone on, the model would be there by then.
    http.post("/api/generate", json={"model": SECOND, "options": {"num_ctx": 300}})
    assert third not in [model["name"] for model in http.get("/api/ps").json()["models"]]


def test_calls_for_one_model_are_served_in_order(chat: Chat) -> None:
    finished: list[int] = []
    lock = threading.Lock()

    def ask(number: int) -> None:
        time.sleep(number * 0.1)
        assert chat(f"call {number}", num_ctx=WINDOW, num_predict=6).status_code == 200
        with lock:
            finished.append(number)

    chat("warm", num_ctx=WINDOW, num_predict=1)
    with ThreadPoolExecutor(5) as threads:
        list(threads.map(ask, range(5)))
    assert finished == [0, 1, 2, 3, 4]
