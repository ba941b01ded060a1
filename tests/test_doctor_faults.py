"""Whatever a server does, the doctor comes to its end in bounded time, with a report and without a traceback."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.doctor.memory import available_bytes, gigabytes, read_meminfo
from tests.conftest import MakeDouble
from tests.ollama_double import (
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
from tests.ollama_double.replies import Act
from tests.support import MODELS, CommandLine
from tests.test_doctor import found, report_of, script_calls

NESTED = "[" * 100_000
ACTS: dict[str, Act] = {
    "500": status(500, "panic"),
    "503": status(503),
    "404": status(404, "not here"),
    "html": html(),
    "html 502": html(code=502),
    "reset": reset(),
    "silence": silence(),
    "endless": runaway(gap_s=0.01),
    "slow": slow("a drip of text that takes its time " * 20, gap_s=0.05),
    "eof": eof("some text"),
    "no final record": no_final("some text"),
    "error record": error_record("some", "out of memory"),
    "half a record": half_json("some"),
    "no UTF-8": bad_utf8("some"),
    "empty": html(""),
    "an empty object": html("{}"),
    "a list": html("[]"),
    "null": html("null"),
    "a number": html("12"),
    "nested": html(NESTED),
    "odd values": html(json.dumps({"version": 3, "models": 3, "model_info": [], "capabilities": {}, "message": 1})),
    "odd items": html(json.dumps({"version": "x", "models": [1, None], "model_info": {"a.context_length": "x"}})),
    "odd names": html(json.dumps({"version": "", "models": [{"name": None, "size": "x"}], "capabilities": [1, None]})),
}
LIMITS = {"connect_s": 1, "first_token_s": 0.4, "idle_s": 0.4, "total_s": 0.6, "away_s": 0}
# Two requests, tried twice each, of three models; each in less than a second.
BOUND_S = 12.0


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("path", ["/api/version", "/api/tags", "/api/show", "/api/ps"])
def test_answers_about_the_server(make_ollama_double: MakeDouble, command: CommandLine, path: str, act: Act) -> None:
    double = make_ollama_double()
    double.interfere(path, *[act] * 8)
    command.configure(double.base_url, server=LIMITS)
    begun = time.monotonic()
    report = report_of(command, "--no-calls")
    assert time.monotonic() - begun < BOUND_S
    assert report.exit_code in (0, 3)
    assert {one.subject for one in report.checks if one.check == "model"} == set(MODELS)
    for check in report.checks:
        assert "\n" not in check.message
        assert check.help or check.level in ("ok", "note")


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_answers_of_a_model(make_ollama_double: MakeDouble, command: CommandLine, act: Act) -> None:
    double = make_ollama_double(repeat_last=True)
    script_calls(double, ["gen:1b", "adj:1b"])
    double.script("critic:1b", act)
    command.configure(double.base_url, server=LIMITS)
    begun = time.monotonic()
    report = report_of(command)
    assert time.monotonic() - begun < BOUND_S
    assert found(report, "call", "GENERATOR").level == "ok"
    check = found(report, "call", "CRITIC")
    if check.level == "ok":
        assert found(report, "schema", "CRITIC").level == "warning"
    else:
        assert check.help
        assert report.exit_code == (3 if check.level == "error" else 0)


@pytest.mark.parametrize("act", [reply(""), leaked_thinking("hm", "")], ids=["empty", "thinking only"])
def test_an_empty_answer_is_a_warning(make_ollama_double: MakeDouble, command: CommandLine, act: Act) -> None:
    double = make_ollama_double(repeat_last=True)
    script_calls(double, ["gen:1b", "adj:1b"])
    double.script("critic:1b", act)
    command.configure(double.base_url, server=LIMITS)
    report = report_of(command)
    assert (found(report, "call", "CRITIC").level, report.exit_code) == ("warning", 0)


def test_a_server_that_goes_away_is_not_called_again(make_ollama_double: MakeDouble, command: CommandLine) -> None:
    double = make_ollama_double()
    command.configure(double.base_url, server=LIMITS)

    def leave(_: object) -> Act:
        double.refuse_for(60)
        return reset()

    double.script("gen:1b", leave)
    report = report_of(command)
    assert found(report, "call", "GENERATOR").exit_code == 3
    assert [found(report, "call", role).level for role in ("CRITIC", "ADJUDICATOR")] == ["note", "note"]


# ------------------------------------------------------------------ /proc/meminfo


def test_this_machine_tells_its_memory_or_says_nothing() -> None:
    free = available_bytes()
    assert free is None or free > 1_000_000


@given(st.binary() | st.binary().map(lambda data: b"MemAvailable:" + data + b" kB"))
def test_no_text_raises(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert read_meminfo(text) is None or "MemAvailable" in text


@given(st.integers(0, 10**15), st.binary(), st.binary())
def test_what_the_kernel_writes_is_read_whatever_stands_around_it(size: int, before: bytes, after: bytes) -> None:
    around = before.replace(b"MemAvailable", b"").decode("latin-1")
    text = f"{around}\nMemTotal:  1 kB\nMemAvailable:   {size} kB\n{after.decode('latin-1')}"
    assert read_meminfo(text) == size * 1024


@given(st.integers(1, 10**14))
def test_a_size_keeps_its_order(size: int) -> None:
    number, unit = gigabytes(size).split()
    assert abs(float(number) * {"GB": 1e9, "MB": 1e6}[unit] - size) <= max(0.06 * size, 0.6e6)
