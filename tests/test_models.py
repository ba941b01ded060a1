"""``reflexion models`` and ``models pull``: what is missing is told, and fetched through whatever the line does."""

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

import reflexion
from reflexion.config import load_config
from reflexion.embedded.routes import VERSION
from reflexion.errors import PullBroken, ServerError
from reflexion.installing.display import PullDisplay, describe_results
from reflexion.installing.needs import find_needs
from reflexion.installing.pulling import Progress, pull, pull_missing
from reflexion.ollama.binding import nearest
from reflexion.ollama.server import Server
from tests.conftest import MakeDouble
from tests.ollama_double import ModelInfo, OllamaDouble, dropped, html, reset, silence, status
from tests.ollama_double.replies import Act
from tests.real_ollama import RealOllama
from tests.support import MODELS, CommandLine

SIZE = 1_000_000


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


@pytest.fixture
def double(make_ollama_double: MakeDouble) -> OllamaDouble:
    """A server with the generator's model, and a registry with the two others."""
    double = make_ollama_double({"gen:1b": ModelInfo(size=SIZE)})
    double.registry |= {name: ModelInfo(size=SIZE) for name in ("critic:1b", "adj:1b")}
    return double


def pulls(double: OllamaDouble) -> list[str]:
    """The names that were asked for, in order."""
    return [request.body["model"] for request in double.requests if request.path == "/api/pull"]


# ------------------------------------------------------------------ what is there


def test_what_is_needed_stands_beside_what_is_there(make_ollama_double: MakeDouble, command: CommandLine) -> None:
    names = ("gen:1b", "critic:latest", "other:1b")
    double = make_ollama_double({name: ModelInfo(size=2_500_000_000) for name in names})
    command.configure(double.base_url)
    ended = command.run("models")
    assert ended.code == 3
    digest = hashlib.sha256(b"gen:1b").hexdigest()[:12]
    assert ended.out.splitlines() == [
        "role         model      installed",
        f"GENERATOR    gen:1b     2.5 GB  {digest}",
        "CRITIC       critic:1b  no; you have critic:latest",
        "ADJUDICATOR  adj:1b     no",
        "",
        "also installed: critic:latest, other:1b",
        "",
        "2 missing; get them with: reflexion models pull",
    ]


def test_names_of_a_server_cannot_steer_a_terminal(ollama_double: OllamaDouble, command: CommandLine) -> None:
    page = {"models": [{"name": "gen:\x1b[2J\n", "digest": "\x1b[31m"}]}
    ollama_double.interfere("/api/tags", html(json.dumps(page)))
    command.configure(ollama_double.base_url)
    ended = command.run("models")
    assert ended.code == 3
    assert all(line.isprintable() for line in ended.out.splitlines())


def test_nothing_missing_is_exit_0(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    ended = command.run("models")
    assert (ended.code, ended.err) == (0, "")
    assert "missing" not in ended.out


def test_the_hint_repeats_what_was_asked_for(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    (command.folder / "config.json").rename(command.folder / "my config.json")
    ended = command.run("models", "--config", "my config.json", "--model", "CRITIC=critic:9b")
    hint = "reflexion models pull --config 'my config.json' --model CRITIC=critic:9b"
    assert ended.out.endswith(f"1 missing; get it with: {hint}\n")


def test_the_hint_keeps_the_engine_that_was_asked_for(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url, server={"engine": "embedded"})
    ended = command.run("models", "--engine", "ollama", "--model", "CRITIC=critic:9b")
    assert ended.out.endswith("with: reflexion models pull --engine ollama --model CRITIC=critic:9b\n")


@pytest.mark.parametrize("words", [("models",), ("doctor", "--no-calls"), ("--input", "a.py")], ids=" ".join)
def test_an_engine_of_ours_is_not_to_be_asked_for_a_pull(
    ollama_double: OllamaDouble, command: CommandLine, words: tuple[str, ...]
) -> None:
    ollama_double.version = VERSION
    command.configure(
        ollama_double.base_url, model_registry=MODELS | {"CRITIC": "qwen3:4b", "ADJUDICATOR": "llama3:8b"}
    )
    command.source("a.py")
    ended = command.run(*words)
    assert ended.code == 3
    assert "pull" not in ended.out + ended.err
    assert (ended.out + ended.err).count("reflexion engine serve --models FOLDER") == (2 if "doctor" in words else 1)


def test_a_name_after_pull_is_one_line_with_what_to_do(double: OllamaDouble, command: CommandLine) -> None:
    command.configure(double.base_url)
    ended = command.run("models", "pull", "llama3:8b", "a b")
    assert (ended.code, ended.out, pulls(double)) == (2, "", [])
    ollama = f"OLLAMA_HOST=127.0.0.1:{double.port} ollama"
    assert ended.err == (
        "reflexion: models pull takes no names: it gets what the roles need, such as with --model GENERATOR=llama3:8b;"
        f" to get a model alone: {ollama} pull llama3:8b && {ollama} pull 'a b'\n"
    )


@pytest.mark.parametrize(
    ("model", "installed", "near"),
    [
        ("llama3:8b", ["llama3:latest", "llama2:8b"], "llama3:latest"),
        ("llama3", ["llama3:8b"], "llama3:8b"),
        ("LLaMA3:8b", ["mistral:8b", "llama3:70b"], "llama3:70b"),
        ("qwen3:9b", ["qwen3.5:9b"], "qwen3.5:9b"),
        ("host:5000/team/llama3", ["host:5000/team/llama3:8b"], "host:5000/team/llama3:8b"),
        ("zephyr:7b", ["llama3:8b"], ""),
        ("llama3:8b", [], ""),
    ],
)
def test_the_near_name_is_the_same_model_first(model: str, installed: list[str], near: str) -> None:
    assert nearest(model, installed) == near


def test_a_server_that_is_not_there(command: CommandLine, closed_port: int) -> None:
    command.configure(f"http://127.0.0.1:{closed_port}")
    for words in (("models",), ("models", "pull")):
        ended = command.run(*words)
        assert (ended.code, ended.out) == (3, "")
        assert f"start it with `OLLAMA_HOST=127.0.0.1:{closed_port} ollama serve`" in ended.err


@pytest.mark.parametrize("words", [("models",), ("models", "pull")])
def test_nothing_leaves_the_machine_unless_it_is_allowed(
    ollama_double: OllamaDouble, command: CommandLine, words: tuple[str, ...]
) -> None:
    command.configure("http://192.0.2.7:11434")
    ended = command.run(*words)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    command.configure(ollama_double.base_url)
    ended = command.run(*words, "--model", "CRITIC=gpt-oss:120b-cloud")
    assert ended.code == 2
    assert "is a cloud model" in ended.err
    assert not ollama_double.requests


# ------------------------------------------------------------------ pull


def test_only_what_is_missing_is_pulled(double: OllamaDouble, command: CommandLine) -> None:
    command.configure(double.base_url)
    ended = command.run("models", "pull")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "there      gen:1b (GENERATOR), 1 MB"
    assert re.fullmatch(r"pulled     critic:1b \(CRITIC\), 1 MB in \d+ s", lines[1])
    assert re.fullmatch(r"pulled     adj:1b \(ADJUDICATOR\), 1 MB in \d+ s", lines[2])
    assert pulls(double) == ["critic:1b", "adj:1b"]
    again = command.run("models", "pull")
    assert (again.code, again.err) == (0, "")
    assert [line.split()[0] for line in again.out.splitlines()] == ["there"] * 3
    assert pulls(double) == ["critic:1b", "adj:1b"]
    assert command.run("models").code == 0


def test_a_model_of_two_roles_is_pulled_once(double: OllamaDouble, command: CommandLine) -> None:
    command.configure(double.base_url)
    ended = command.run("models", "pull", "--model", "ADJUDICATOR=Critic:1b")
    assert ended.code == 0
    assert pulls(double) == ["critic:1b"]
    assert "critic:1b (CRITIC, ADJUDICATOR)" in ended.out


def test_options_before_the_word_pull_count_as_well(double: OllamaDouble, command: CommandLine) -> None:
    command.configure(double.base_url)
    assert command.run("models", "--model", "ADJUDICATOR=gen:1b", "pull").code == 0
    assert pulls(double) == ["critic:1b"]


@pytest.mark.parametrize(
    "act",
    [
        reset(),
        dropped(0.4),
        dropped(0.4, "none"),
        dropped(0.4, "half_json"),
        dropped(0.4, "error", "max retries exceeded: unexpected EOF"),
        status(503),
    ],
    ids=["reset", "eof", "no success", "half a record", "error record", "503"],
)
def test_a_dropped_connection_is_asked_again_and_goes_on(double: OllamaDouble, command: CommandLine, act: Act) -> None:
    double.interfere("/api/pull", act)
    command.configure(double.base_url)
    ended = command.run("models", "pull")
    assert ended.code == 0
    assert pulls(double) == ["critic:1b", "critic:1b", "adj:1b"]
    assert ended.err.count("again: critic:1b") == 1
    assert "pulled     critic:1b" in ended.out


def test_a_line_that_drops_often_is_not_given_up_while_it_brings_something(double: OllamaDouble) -> None:
    shares = [number / 20 for number in range(1, 15)]
    double.interfere("/api/pull", *[dropped(share) for share in shares])
    told: list[Progress] = []
    with Server(double.base_url) as server:
        pull(server, "critic:1b", told.append, attempts=2, first_s=0.001)
    assert "critic:1b" in double.models
    bytes_told = [one.completed for one in told if not one.again]
    assert bytes_told[-1] == SIZE
    # Each try begins where the one before ended: nothing is told as lost.
    assert bytes_told == sorted(bytes_told)
    assert sum(bool(one.again) for one in told) == len(shares)


def test_tries_that_bring_nothing_come_to_an_end(double: OllamaDouble) -> None:
    double.interfere("/api/pull", *[dropped(0.3)] * 20)
    with Server(double.base_url) as server, pytest.raises(PullBroken, match="critic:1b"):
        pull(server, "critic:1b", lambda _: None, attempts=3, first_s=0.001)
    assert len(pulls(double)) == 4  # The first one brought something.


def test_a_model_that_the_registry_does_not_have_is_one_clear_line(double: OllamaDouble, command: CommandLine) -> None:
    command.configure(double.base_url)
    ended = command.run("models", "pull", "--model", "CRITIC=critik:1b")
    assert ended.code == 3
    [line] = [line for line in ended.out.splitlines() if line.startswith("failed")]
    assert line.startswith("failed     critik:1b (CRITIC): the registry has no such model (")
    assert line.endswith("check the name in model_registry")
    # The others are pulled all the same, and nothing was asked twice.
    assert "pulled     adj:1b" in ended.out
    assert pulls(double) == ["critik:1b", "adj:1b"]


def test_a_server_that_goes_away_ends_the_rest(double: OllamaDouble, command: CommandLine) -> None:
    def leave(_: object) -> Act:
        double.refuse_for(60)
        return reset()

    double.interfere("/api/pull", leave)
    command.configure(double.base_url)
    with Server(double.base_url) as server:
        needs = find_needs(load_config(None, {}, {}).config, server)
        results = pull_missing(server, needs.models, lambda _: None, attempts=2, first_s=0.01)
    assert [result.outcome for result in results] == ["there", "failed", "not tried"]
    assert results[1].error.startswith("no model server at")
    assert describe_results(results).endswith("not tried  adj:1b (ADJUDICATOR): the server went away\n")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (html(), "HTML page"),
        (html("[]"), "not its protocol"),
        (html(code=404), "HTML page"),
        (html('{"status": 3}'), "cut in the middle"),
        (status(500, "write blob: no space left on device"), "the server's disk is full"),
        (status(400, "invalid model name"), "the registry has no such model"),
        (status(500, "dial tcp: lookup nowhere: no such host"), "cannot reach its registry"),
        (status(500, "a word nobody knows"), "the server cannot pull it (a word nobody knows)"),
    ],
)
def test_what_cannot_be_mended_is_one_line(double: OllamaDouble, act: Act, words: str) -> None:
    double.interfere("/api/pull", *[act] * 8)
    with Server(double.base_url) as server, pytest.raises(ServerError) as caught:
        pull(server, "critic:1b", lambda _: None, attempts=2, first_s=0.001)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_server_that_only_says_that_it_has_it_is_not_believed(double: OllamaDouble, command: CommandLine) -> None:
    double.interfere("/api/pull", html('{"status":"success"}\n'), html('{"status":"success"}\n'))
    command.configure(double.base_url)
    ended = command.run("models", "pull")
    assert ended.code == 3
    assert ended.out.count("does not list it") == 2


def test_an_interrupt_is_130_and_says_that_nothing_is_lost(double: OllamaDouble, command: CommandLine) -> None:
    double.interfere("/api/pull", silence())
    command.configure(double.base_url)
    environment = os.environ | {"PYTHONPATH": str(Path(reflexion.__file__).parents[1])}
    arguments = [sys.executable, "-m", "reflexion", "models", "pull"]
    with subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while not pulls(double) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.endswith("reflexion: interrupted; the same command goes on where it was\n")


def test_a_terminal_gets_a_bar(double: OllamaDouble) -> None:
    double.interfere("/api/pull", dropped(0.5))
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    with Server(double.base_url) as server, PullDisplay(console) as display:
        pull(server, "critic:1b", display, first_s=0.3)
    assert "pulling critic:1b" in screen.getvalue()
    assert "again: critic:1b" in screen.getvalue()
    assert "1.0/1.0 MB" in screen.getvalue() or "0.5/1.0 MB" in screen.getvalue()


# ------------------------------------------------------------------ a real server


@pytest.mark.ollama
def test_a_real_server_without_a_way_to_its_registry(real_ollama: RealOllama, command: CommandLine) -> None:
    """The tests' own network is cut off at a registry that nobody can reach: this machine, at a closed port."""
    registry = dict(zip(MODELS, real_ollama.models, strict=True))
    unreachable = "127.0.0.1:9/nobody/nothing:1b"
    command.configure(real_ollama.base_url, model_registry=registry | {"CRITIC": unreachable})
    ended = command.run("models", "pull")
    assert ended.code == 3
    [line] = [line for line in ended.out.splitlines() if line.startswith("failed")]
    assert unreachable in line
    assert "cannot reach its registry" in line
    assert ended.out.count("there ") == 2


@pytest.mark.ollama
def test_the_doctor_finds_a_real_server_well(real_ollama: RealOllama, command: CommandLine) -> None:
    registry = dict(zip(MODELS, real_ollama.models, strict=True))
    command.configure(real_ollama.base_url, model_registry=registry)
    ended = command.run("doctor", "--format", "json")
    report = json.loads(ended.out)
    assert (ended.code, report["healthy"]) == (0, True)
    checks = {(one["check"], one["subject"]): one for one in report["checks"]}
    for role, name in registry.items():
        assert checks["model", role]["facts"]["model"] == name
        assert checks["model", role]["facts"]["size"] > 90_000_000
        assert checks["call", role]["level"] == "ok"
        assert checks["schema", role]["level"] in ("ok", "warning")  # What a model of this size writes is its own.
    real_ollama.unload()
