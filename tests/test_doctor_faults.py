"""Whatever a server does, the doctor comes to its end in bounded time, with a report and without a traceback."""

import contextlib
import json
import socket
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.doctor.memory import available_bytes, gigabytes, read_meminfo
from reflexion.errors import ServerUnreachable
from reflexion.ollama.server import Server
from tests.conftest import MakeDouble
from tests.doctor_support import found, report_of, script_calls
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
    "flood": runaway("x" * 100_000),
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
    "escapes": html(json.dumps({"version": "\x1b[31m\n", "models": [{"name": "gen:1b"}, {"name": "gen:\x1b[2J\n"}]})),
    "odd names": html(json.dumps({"version": "", "models": [{"name": None, "size": "x"}], "capabilities": [1, None]})),
}
LIMITS = {"connect_s": 1, "first_token_s": 0.3, "idle_s": 0.3, "total_s": 0.4, "away_s": 0}
# A call of a healthy model has to come through where other processes use the same cores.
CALL_LIMITS = LIMITS | {"first_token_s": 0.8, "idle_s": 0.8, "total_s": 1.0}
# Every answer has one reader; what is particular to these two is the list of models.
OF_LISTS = ("silence", "500", "html", "a number", "odd values", "odd items", "odd names", "escapes")
ANSWERS = [(path, name) for path in ("/api/version", "/api/show") for name in ACTS]
ANSWERS += [(path, name) for path in ("/api/tags", "/api/ps") for name in OF_LISTS]
# Two requests, tried twice each, of three models; each in less than a second.
BOUND_S = 12.0


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


@pytest.mark.parametrize(("path", "name"), ANSWERS)
def test_answers_about_the_server(make_ollama_double: MakeDouble, command: CommandLine, path: str, name: str) -> None:
    double = make_ollama_double()
    double.interfere(path, *[ACTS[name]] * 8)
    command.configure(double.base_url, server=LIMITS)
    begun = time.monotonic()
    report = report_of(command, "--no-calls")
    assert time.monotonic() - begun < BOUND_S
    assert report.exit_code in (0, 3)
    if path == "/api/ps":  # What is loaded is no condition of a run.
        assert report.exit_code == 0
        assert [one.level for one in report.checks if one.check == "model"] == ["ok"] * 3
    assert {one.subject for one in report.checks if one.check == "model"} == set(MODELS)
    for check in report.checks:
        assert (check.message + check.help).isprintable()
        assert check.help or check.level in ("ok", "note")


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_answers_of_a_model(make_ollama_double: MakeDouble, command: CommandLine, act: Act) -> None:
    double = make_ollama_double(repeat_last=True)
    script_calls(double, ["gen:1b", "adj:1b"])
    double.script("critic:1b", act)
    command.configure(double.base_url, server=CALL_LIMITS)
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
    command.configure(double.base_url, server=CALL_LIMITS)
    report = report_of(command)
    assert (found(report, "call", "CRITIC").level, report.exit_code) == ("warning", 0)


def test_a_server_that_goes_away_is_not_called_again(make_ollama_double: MakeDouble, command: CommandLine) -> None:
    double = make_ollama_double()
    command.configure(double.base_url, server=CALL_LIMITS)

    def leave(_: object) -> Act:
        double.refuse_for(60)
        return reset()

    double.script("gen:1b", leave)
    report = report_of(command)
    assert found(report, "call", "GENERATOR").exit_code == 3
    assert [found(report, "call", role).level for role in ("CRITIC", "ADJUDICATOR")] == ["note", "note"]


def test_headers_that_come_byte_by_byte_have_a_limit_too() -> None:
    """Each byte is in time for the client's own limit, which begins anew with it."""
    ended = threading.Event()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while not ended.wait(0.05):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        begun = time.monotonic()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Server(url, request_s=0.5) as server, pytest.raises(ServerUnreachable, match="has not answered"):
            server.version()
        assert time.monotonic() - begun < 5
        ended.set()
        thread.join()


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
