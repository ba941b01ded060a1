"""The one way to call a model, against a server that misbehaves."""

import os
import threading
import time
from collections.abc import Callable

import pytest

from reflexion.config import Role, RoleSettings, ServerSettings
from reflexion.errors import (
    DeadlineExceeded,
    ModelMissing,
    NotOllama,
    PromptTooLarge,
    ReflexionError,
    ReplyCut,
    ReplyEmpty,
    ReplyRunaway,
    ServerFault,
    ServerUnreachable,
    StreamBroken,
)
from reflexion.ollama.reply import Binding, CallStats, Message
from reflexion.ollama.roles import Backoff, Models
from reflexion.verdict import Critique
from tests.ollama_double import (
    Act,
    ModelInfo,
    OllamaDouble,
    bad_utf8,
    eof,
    error_record,
    half_json,
    html,
    leaked_thinking,
    no_final,
    reply,
    reset,
    runaway,
    silence,
    slow,
    status,
)

QUICK = Backoff(attempts=3, first_s=0.01, longest_s=0.02)
ASKED = [Message("system", "Be brief."), Message("user", "Say something.")]
VERDICT = '{"technical_accuracy": 90, "completeness": 80, "single_critical_fix": "Name the type."}'

MakeModels = Callable[..., Models]


@pytest.fixture
def make_models(ollama_double: OllamaDouble) -> MakeModels:
    def make(*, can_think: bool = False, thinking: str = "off", window: int = 8192, **server: float) -> Models:
        settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 256, "thinking": thinking})
        binding = Binding(Role.CRITIC, "critic:1b", settings, window, can_think)
        limits = {"connect_s": 2.0, "first_token_s": 5.0, "idle_s": 5.0, "total_s": 10.0} | server
        return Models({Role.CRITIC: binding}, ollama_double.base_url, ServerSettings(**limits), QUICK)  # type: ignore[arg-type]

    return make


def test_a_reply_carries_its_text_and_figures(make_models: MakeModels, ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", reply("Something."))
    log: list[CallStats] = []
    seen: list[int] = []

    answer = make_models().ask(Role.CRITIC, ASKED, progress=lambda count, *_: seen.append(count), log=log)

    assert answer.text == "Something."
    assert answer.stats.outcome == "ok"
    assert answer.stats.prompt_tokens > 0
    assert log == [answer.stats]
    assert seen == sorted(seen) != []


@pytest.mark.parametrize(
    "fault",
    [status(503), reset(), eof("Some"), no_final("Some"), half_json("Some"), status(502, "EOF"), status(429)],
    ids=["503", "reset", "eof", "no final record", "half a record", "runner died", "429"],
)
def test_passing_faults_are_tried_again_and_nothing_of_them_stays(
    make_models: MakeModels, ollama_double: OllamaDouble, fault: Act
) -> None:
    ollama_double.script("critic:1b", fault, reply("Something whole."))
    log: list[CallStats] = []
    assert make_models().ask(Role.CRITIC, ASKED, log=log).text == "Something whole."
    assert len(log) == 2


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (status(503), ServerFault),
        (reset(), StreamBroken),
        (eof("Some"), StreamBroken),
        (no_final("A plausible whole sentence."), StreamBroken),
    ],
    ids=["503", "reset", "eof", "no final record"],
)
def test_a_fault_that_does_not_pass_is_given_up(
    make_models: MakeModels, ollama_double: OllamaDouble, fault: Act, error: type[ReflexionError]
) -> None:
    ollama_double.script("critic:1b", *[fault] * 3)
    with pytest.raises(error):
        make_models().ask(Role.CRITIC, ASKED)
    ollama_double.assert_all_played()


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (html(), NotOllama, "maybe a proxy"),
        (status(400, "invalid option"), ServerFault, "400"),
        (status(500, 'option "num_predict" must be of type integer'), ServerFault, "num_predict"),
        (status(500, "model requires more system memory (9 GiB) than is available"), ServerFault, "smaller model"),
        (status(500, "timed out waiting for llama runner to start"), ServerFault, "OLLAMA_LOAD_TIMEOUT"),
        (status(400, "the input length exceeds the context length"), PromptTooLarge, "does not fit"),
        (error_record("Some text", "cudaMalloc failed: out of memory"), ServerFault, "out of memory"),
    ],
    ids=["html", "400", "bad option", "memory", "load timeout", "too long", "error record"],
)
def test_permanent_faults_are_never_tried_again(
    make_models: MakeModels, ollama_double: OllamaDouble, fault: Act, error: type[ReflexionError], said: str
) -> None:
    ollama_double.script("critic:1b", fault)
    with pytest.raises(error, match=said):
        make_models().ask(Role.CRITIC, ASKED)
    assert len(ollama_double.chats()) == 1


def test_bytes_that_are_not_utf8_are_replaced_and_nothing_else_is_lost(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.script("critic:1b", bad_utf8("Some text"))
    assert make_models().ask(Role.CRITIC, ASKED).text.replace("\ufffd", "").startswith("Some text")


def test_a_model_that_went_away_names_its_pull_command(ollama_double: OllamaDouble) -> None:
    settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 64})
    models = Models({Role.CRITIC: Binding(Role.CRITIC, "gone:1b", settings, 4096)}, ollama_double.base_url)
    with pytest.raises(ModelMissing, match="ollama pull gone:1b"):
        models.ask(Role.CRITIC, ASKED)


def test_nobody_there_names_the_url_really_used(closed_port: int) -> None:
    settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 64})
    url = f"http://127.0.0.1:{closed_port}"
    models = Models({Role.CRITIC: Binding(Role.CRITIC, "m", settings, 4096)}, url, backoff=QUICK)
    with pytest.raises(ServerUnreachable, match=f"{url}.*ollama serve"):
        models.ask(Role.CRITIC, ASKED)


@pytest.mark.parametrize(
    ("act", "limits", "said"),
    [
        (silence(), {"first_token_s": 0.3}, "first_token_s"),
        (slow("one token at a time, slowly", gap_s=0.6), {"idle_s": 0.2}, "idle_s"),
        (slow("a slow drip that resets every read timer " * 20, gap_s=0.1), {"total_s": 0.7}, "total_s"),
        (silence(), {"total_s": 0.3}, "total_s"),
    ],
    ids=["silence", "gap", "slow drip", "silence to the end"],
)
def test_every_deadline_ends_the_call(
    make_models: MakeModels, ollama_double: OllamaDouble, act: Act, limits: dict[str, float], said: str
) -> None:
    ollama_double.script("critic:1b", act)
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=said):
        make_models(**limits).ask(Role.CRITIC, ASKED)
    assert time.monotonic() - started < 5
    assert len(ollama_double.chats()) == 1


@pytest.mark.parametrize("unit", ["again and again ", "\n", "1234567890", "| a | b |\n", "x"])
def test_runaway_text_is_cut_while_it_runs(make_models: MakeModels, ollama_double: OllamaDouble, unit: str) -> None:
    ollama_double.script("critic:1b", runaway(unit, start="A fair beginning. "))
    with pytest.raises(ReplyRunaway, match="without end") as error:
        make_models().ask(Role.CRITIC, ASKED)
    assert len(error.value.text) < 20_000


def test_a_cut_reply_gets_more_room_once(make_models: MakeModels, ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", reply("Half", done_reason="length"), reply("A whole answer."))
    assert make_models().ask(Role.CRITIC, ASKED).text == "A whole answer."
    assert [body["options"]["num_predict"] for body in ollama_double.chats()] == [256, 512]


def test_a_reply_that_is_cut_again_is_refused(make_models: MakeModels, ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", *[reply("A plausible sentence.", done_reason="length")] * 2)
    with pytest.raises(ReplyCut, match="num_predict"):
        make_models().ask(Role.CRITIC, ASKED)


@pytest.mark.parametrize(
    "empty", [reply(""), reply(" \n"), reply("", thinking="long thoughts"), leaked_thinking("hm", "")]
)
def test_an_empty_reply_is_refused(make_models: MakeModels, ollama_double: OllamaDouble, empty: Act) -> None:
    ollama_double.script("critic:1b", *[empty] * 2)
    with pytest.raises(ReplyEmpty):
        make_models().ask(Role.CRITIC, ASKED)


def test_thinking_that_used_the_whole_budget_is_switched_off(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.models["critic:1b"] = ModelInfo(capabilities=("completion", "thinking"))
    ollama_double.script("critic:1b", reply("", thinking="thoughts", done_reason="length"), reply("An answer."))
    assert make_models(can_think=True, thinking="on").ask(Role.CRITIC, ASKED).text == "An answer."
    assert [body.get("think") for body in ollama_double.chats()] == [True, False]


@pytest.mark.parametrize(
    ("can_think", "thinking", "sent"),
    [(False, "on", None), (False, "off", None), (True, "off", False), (True, "on", True), (True, "high", "high")],
)
def test_thinking_is_sent_only_to_models_that_have_it(
    make_models: MakeModels, ollama_double: OllamaDouble, can_think: bool, thinking: str, sent: object
) -> None:
    ollama_double.models["critic:1b"] = ModelInfo(capabilities=("completion", "thinking"))
    ollama_double.script("critic:1b", reply("Something."))
    make_models(can_think=can_think, thinking=thinking).ask(Role.CRITIC, ASKED)
    assert ollama_double.chats()[0].get("think") == sent


def test_a_model_that_refuses_to_think_is_asked_without_and_remembered(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.script("critic:1b", reply("One."), reply("Two."))
    models = make_models(can_think=True, thinking="on")
    assert [models.ask(Role.CRITIC, ASKED).text for _ in range(2)] == ["One.", "Two."]
    assert [body.get("think") for body in ollama_double.chats()] == [True, None, None]


@pytest.mark.parametrize(
    "text",
    [
        VERDICT,
        f"```json\n{VERDICT}\n```",
        f"Sure! Here it is:\n{VERDICT}\nLet me know.",
        f"<think>it could be {{}} or</think>{VERDICT}",
        f"it could be {{}} or so</think>\n{VERDICT}",
        f'{{"name": "example", "arguments": {{}}}}\n{VERDICT}',
        f'Not {{"technical_accuracy": 1, "completeness": 1, "single_critical_fix": "x"}} but {VERDICT}',
    ],
)
def test_a_verdict_is_found_in_what_models_put_around_it(
    make_models: MakeModels, ollama_double: OllamaDouble, text: str
) -> None:
    ollama_double.script("critic:1b", reply(text))
    parsed = make_models().ask(Role.CRITIC, ASKED, Critique).parsed
    assert parsed == Critique.model_validate_json(VERDICT)


@pytest.mark.parametrize(
    "text",
    [
        "APPROVED",
        "null",
        "[]",
        "{}",
        '{"technical_accuracy": 100, "completeness": 100}',
        '{"technical_accuracy": 101, "completeness": 100, "single_critical_fix": ""}',
        '{"technical_accuracy": -1, "completeness": 100, "single_critical_fix": ""}',
        '{"technical_accuracy": true, "completeness": 100, "single_critical_fix": ""}',
        '{"technical_accuracy": "100", "completeness": 100, "single_critical_fix": ""}',
        '{"technical_accuracy": NaN, "completeness": 100, "single_critical_fix": ""}',
        '{"technical_accuracy": 100, "completeness": 100, "single_critical_fix": "cut',
        '{"name": "grade", "arguments": {"technical_accuracy": 100}}',
        '{"technical_accuracy": 1e400, "completeness": 100, "single_critical_fix": ""}',
        "{" * 5000,
    ],
    ids=lambda text: text[:40],
)
def test_what_is_no_verdict_is_asked_for_once_more_and_then_unscored(
    make_models: MakeModels, ollama_double: OllamaDouble, text: str
) -> None:
    ollama_double.script("critic:1b", *[reply(text)] * 2)
    answer = make_models().ask(Role.CRITIC, ASKED, Critique, repair="Answer in JSON.")
    assert answer.parsed is None
    assert answer.trouble
    assert "Answer in JSON." in ollama_double.chats()[1]["messages"][-1]["content"]


def test_a_schema_that_a_model_ignores_is_replaced_by_words_and_remembered(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.models["critic:1b"] = ModelInfo(capabilities=("completion", "thinking"))
    ollama_double.script("critic:1b", reply("I like it."), reply(VERDICT), reply(VERDICT))
    models = make_models(can_think=True)
    for _ in range(2):
        assert models.ask(Role.CRITIC, ASKED, Critique).parsed is not None
    sent = [("format" in body and body["format"] is not None, body.get("think")) for body in ollama_double.chats()]
    assert sent == [(True, False), (False, None), (False, False)]


def test_the_schema_holds_ranges_and_nothing_that_servers_choke_on(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.script("critic:1b", reply(VERDICT))
    make_models().ask(Role.CRITIC, ASKED, Critique)
    assert ollama_double.chats()[0]["format"] == {
        "type": "object",
        "description": Critique.__doc__,
        "properties": {
            "technical_accuracy": {"type": "integer", "minimum": 0, "maximum": 100},
            "completeness": {"type": "integer", "minimum": 0, "maximum": 100},
            "single_critical_fix": {"type": "string"},
        },
        "required": ["technical_accuracy", "completeness", "single_critical_fix"],
    }


def test_a_prompt_that_does_not_fit_is_never_sent(make_models: MakeModels, ollama_double: OllamaDouble) -> None:
    with pytest.raises(PromptTooLarge, match="too many for a window of 2048"):
        make_models(window=2048).ask(Role.CRITIC, [Message("user", "word " * 2000)])
    assert ollama_double.chats() == []


def test_a_prompt_cut_in_silence_is_noticed(make_models: MakeModels, ollama_double: OllamaDouble) -> None:
    long = [Message("user", "Every word of this counts, says the sender. " * 200)]
    ollama_double.script("critic:1b", reply("Fine.", prompt_eval_count=300))
    with pytest.raises(PromptTooLarge, match="it was cut"):
        make_models().ask(Role.CRITIC, long)


def test_a_server_that_counts_no_prompt_tokens_is_believed(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.script("critic:1b", reply("Fine.", prompt_eval_count=0))
    assert make_models().ask(Role.CRITIC, ASKED).text == "Fine."


def test_the_seed_moves_with_the_attempt(ollama_double: OllamaDouble) -> None:
    ollama_double.script("critic:1b", reply("One."), reply("Two."))
    settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 64, "seed": 7})
    models = Models({Role.CRITIC: Binding(Role.CRITIC, "critic:1b", settings, 4096)}, ollama_double.base_url)
    for attempt in (1, 2):
        models.ask(Role.CRITIC, ASKED, attempt=attempt)
    assert [body["options"]["seed"] for body in ollama_double.chats()] == [7, 8]


def test_calls_from_several_threads_keep_their_own_deadlines(
    make_models: MakeModels, ollama_double: OllamaDouble
) -> None:
    ollama_double.script("critic:1b", *[lambda body: silence() if "wait" in str(body) else reply("Quick.")] * 6)
    models = make_models(first_token_s=1.0)
    ended: list[str] = []

    def ask(text: str) -> None:
        try:
            ended.append(models.ask(Role.CRITIC, [Message("user", text)]).text)
        except DeadlineExceeded:
            ended.append("deadline")

    threads = [threading.Thread(target=ask, args=(text,)) for text in ("go", "wait", "go", "wait", "go", "wait")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(ended) == ["Quick."] * 3 + ["deadline"] * 3


def test_a_redirect_is_not_followed(make_models: MakeModels, ollama_double: OllamaDouble) -> None:
    """It could carry the prompt to another host."""
    ollama_double.script("critic:1b", status(307, "elsewhere"))
    with pytest.raises(ReflexionError):
        make_models().ask(Role.CRITIC, ASKED)
    assert len(ollama_double.chats()) == 1


def test_proxy_variables_do_not_catch_loopback(
    make_models: MakeModels, ollama_double: OllamaDouble, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port}")
    ollama_double.script("critic:1b", reply("Direct."))
    assert make_models().ask(Role.CRITIC, ASKED).text == "Direct."


def test_tracing_variables_are_gone_once_models_exist(
    make_models: MakeModels, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
    make_models()
    assert os.environ["LANGSMITH_TRACING"] == "false"
    assert "LANGCHAIN_TRACING_V2" not in os.environ
