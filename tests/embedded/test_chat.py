"""What the models write, and how the window, the cache and the queue behave."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import ollama
import pytest
from langchain_ollama import ChatOllama

from reflexion.embedded.engine import DEMO_MODELS, EmbeddedEngine
from reflexion.embedded.runner import BATCH_TOKENS
from tests.embedded.conftest import Chat

pytestmark = pytest.mark.embedded

FIRST, SECOND, _ = DEMO_MODELS
WINDOW = 1024
VERDICT = {
    "type": "object",
    "properties": {
        "accuracy": {"type": "integer", "minimum": 0, "maximum": 100},
        "kind": {"enum": ["good", "bad"]},
        "fix": {"type": "string", "maxLength": 20},
    },
    "required": ["accuracy", "kind", "fix"],
}
# Only a grammar makes a model write this much, whatever it is asked.
ENDLESS = {"type": "string", "minLength": 20_000}


def words(count: int, salt: str = "") -> str:
    return f"{salt} " + " ".join(f"n{i % 10}" for i in range(count))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_schema_is_kept(chat: Chat, seed: int) -> None:
    said = "Grade this page as JSON."
    answer = chat(said, {"format": VERDICT}, num_ctx=WINDOW, temperature=1.5, seed=seed, num_predict=80).json()
    verdict = json.loads(answer["message"]["content"])
    assert answer["done_reason"] == "stop"
    assert verdict.keys() == {"accuracy", "kind", "fix"}
    assert 0 <= verdict["accuracy"] <= 100
    assert verdict["kind"] in {"good", "bad"}
    assert len(verdict["fix"]) <= 20


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 0.5, "maximum": 0.7},
        {"type": "string", "enum": ["abc"], "maxLength": 2},
        {"$ref": "#"},
    ],
)
def test_a_schema_that_llama_cpp_drops_is_no_free_text(chat: Chat, schema: dict[str, object], stream: bool) -> None:
    answer = chat("Say something.", {"format": schema, "stream": stream}, num_ctx=WINDOW, num_predict=4)
    assert (answer.status_code, answer.json()) == (500, {"error": "invalid JSON schema in format"})
    free = chat("Say something.", {"format": {"enum": ["abc"]}}, num_ctx=WINDOW, num_predict=8).json()
    assert free["message"]["content"] == '"abc"'


def test_format_json_is_an_object(chat: Chat) -> None:
    reply = chat("List a name.", {"format": "json"}, num_ctx=WINDOW, num_predict=40).json()["message"]["content"]
    assert reply.startswith("{")


def test_options_reach_the_sampler(chat: Chat) -> None:
    def reply(**options: object) -> str:
        settings: dict[str, object] = {"num_ctx": WINDOW, "num_predict": 8, **options}
        return str(chat("Tell me a story.", **settings).json()["message"]["content"])

    greedy = reply(temperature=0)
    assert greedy == reply(temperature=0) == reply(temperature=2.0, top_k=1, repeat_penalty=1.1)
    assert reply(temperature=2.0, seed=5) == reply(temperature=2.0, seed=5)
    assert len({reply(temperature=2.0, top_p=1.0, seed=seed) for seed in range(4)}) > 1
    stop = greedy.split()[1]
    assert reply(temperature=0, stop=[stop]) == greedy[: greedy.index(stop)]


def test_a_prompt_longer_than_the_window_is_cut_in_silence(chat: Chat) -> None:
    said = words(200)
    cut = chat(said, num_ctx=64, num_predict=2)
    assert (cut.status_code, cut.json()["prompt_eval_count"]) == (200, 64)
    refused = chat(said, {"truncate": False}, num_ctx=64, num_predict=2)
    assert (refused.status_code, refused.json()) == (400, {"error": "the input length exceeds the context length"})


def test_the_oldest_messages_go_first_and_the_system_message_stays(chat: Chat) -> None:
    system = {"role": "system", "content": "Be brief."}
    last = {"role": "user", "content": "What is two and two?"}
    old = [{"role": role, "content": words(30)} for role in ("user", "assistant") * 3]
    short = chat([system, last], num_ctx=60, num_predict=1).json()
    long = chat([system, *old, last], num_ctx=60, num_predict=1).json()
    assert short["prompt_eval_count"] < 30
    assert long["prompt_eval_count"] == short["prompt_eval_count"]


def test_a_reply_goes_on_beyond_the_window(chat: Chat) -> None:
    answer = chat("Go on.", {"format": ENDLESS}, num_ctx=64, num_predict=350).json()
    assert (answer["done_reason"], answer["eval_count"]) == ("length", 350)


def test_the_window_is_clamped_and_another_one_loads_again(http: httpx.Client, chat: Chat) -> None:
    def ask(window: int) -> tuple[int, float]:
        answer = chat("hello", {"model": SECOND}, num_ctx=window, num_predict=1).json()
        shown = {model["name"]: model for model in http.get("/api/ps").json()["models"]}
        return shown[SECOND]["context_length"], answer["load_duration"] / 1e9

    assert ask(65_536)[0] == 8192
    length, reload_s = ask(512)
    assert (length, ask(512)[0]) == (512, 512)
    assert ask(512)[1] < 0.05 < reload_s


def test_the_same_prefix_is_not_evaluated_again(chat: Chat) -> None:
    prefix = [{"role": "user", "content": words(100, "cache")}, {"role": "assistant", "content": "yes"}]
    first = chat(prefix[:1], num_ctx=WINDOW, num_predict=1, temperature=0).json()
    again = chat(prefix[:1], num_ctx=WINDOW, num_predict=1, temperature=0).json()
    longer = chat([*prefix, {"role": "user", "content": "ok"}], num_ctx=WINDOW, num_predict=1).json()
    assert first["prompt_eval_count"] == again["prompt_eval_count"] < longer["prompt_eval_count"]
    assert again["prompt_eval_duration"] < first["prompt_eval_duration"] / 5
    assert longer["prompt_eval_duration"] < first["prompt_eval_duration"] / 2


def test_two_conversations_in_turns_keep_their_prefixes(chat: Chat) -> None:
    one, two = words(60, "first talk"), words(60, "another thing altogether")
    cold = [chat(said, num_ctx=WINDOW, num_predict=1).json()["prompt_eval_duration"] for said in (one, two)]
    warm = [chat(said, num_ctx=WINDOW, num_predict=1).json()["prompt_eval_duration"] for said in (one, two)]
    assert sum(warm) < sum(cold) / 3


def test_a_hang_up_while_writing_stops_the_work(http: httpx.Client, chat: Chat) -> None:
    body = {"model": FIRST, "messages": [{"role": "user", "content": "x"}], "format": ENDLESS}
    chat("x", num_ctx=WINDOW, num_predict=1)
    with http.stream("POST", "/api/chat", json={**body, "options": {"num_ctx": WINDOW}}) as answer:
        lines = answer.iter_lines()
        assert not json.loads(next(lines))["done"]
    started = time.monotonic()
    assert chat("x", num_ctx=WINDOW, num_predict=1).status_code == 200
    assert time.monotonic() - started < 2


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


def test_room_for_one_swaps_and_serves_everybody(engine: EmbeddedEngine) -> None:
    def ask(number: int) -> int:
        body = {
            "model": DEMO_MODELS[number % 2],
            "messages": [{"role": "user", "content": "x"}],
            "options": {"num_ctx": 256, "num_predict": 2},
        }
        return http.post("/api/chat", json=body).status_code

    with EmbeddedEngine(max_loaded=1) as small, httpx.Client(base_url=small.base_url, timeout=60) as http:
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(ask, range(4))) == [200] * 4
        assert len(http.get("/api/ps").json()["models"]) == 1


def test_the_ollama_client(engine: EmbeddedEngine) -> None:
    client = ollama.Client(host=engine.base_url)
    assert [model.model for model in client.list().models] == list(DEMO_MODELS)
    assert "completion" in (client.show(FIRST).capabilities or [])
    options = {"num_ctx": WINDOW, "num_predict": 3}
    message = [{"role": "user", "content": "hello"}]
    *_, last = client.chat(FIRST, message, stream=True, options=options)
    assert (last.done, last.done_reason, last.eval_count) == (True, "length", 3)
    assert client.chat(FIRST, message, options=options, keep_alive="5m").message.content
    assert FIRST in [model.model for model in client.ps().models]
    with pytest.raises(ollama.ResponseError, match="model 'zz' not found") as caught:
        client.chat("zz", message)
    assert caught.value.status_code == 404


def test_chat_ollama(engine: EmbeddedEngine) -> None:
    model = ChatOllama(model=FIRST, base_url=engine.base_url, num_ctx=WINDOW, num_predict=60, format=VERDICT, seed=1)
    chunks = list(model.stream("Grade this page as JSON."))
    text = "".join(str(chunk.content) for chunk in chunks)
    assert 0 <= json.loads(text)["accuracy"] <= 100
    metadata = next(chunk.response_metadata for chunk in reversed(chunks) if chunk.response_metadata)
    assert metadata["done_reason"] == "stop"
    assert model.invoke("Again.").usage_metadata is not None
