"""A real Ollama that is killed, stopped, starved and broken under a run: docs/failures.md is what comes of it."""

import contextlib
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reflexion.runs import find_records, read_record
from tests.conftest import REAL_OLLAMA
from tests.failure_cases import BY_NAME, CASES, GOES_ON
from tests.own_ollama import OwnOllama
from tests.real_ollama import MODELS, demanded, model_store
from tests.support import CommandLine, small_disk
from tests.terminal import Terminal

# One model for all roles, so that nothing but the fault costs a load.
MODEL = MODELS[0]
MISSING = "zz:1b"
SOURCE = 'def one() -> int:\n    """Return 1."""\n    return 1\n'
WORDS = """
[GENERATOR]
system = "You write."
draft = '''
$name

$source

$facts

{draft}
'''
revise = '''
$standing $fix

{draft}
'''

[CRITIC]
system = "You grade."
review = '''
$name $source $document

Answer with {{"technical_accuracy": 90, "completeness": 80, "single_critical_fix": "Say it shorter."}}
'''

[ADJUDICATOR]
system = "You repeat."
settle = '''
$name $source $document $concern

Say yes.
'''
"""
SHORT = "Say yes."
STORY = "Tell a very long story about a dog."
STREAMING = r"generate \S+  \d+ tokens"


Shown = tuple[int, list[str]]


@dataclass
class Bench:
    """A folder with a source, the command, and the server that it is to meet."""

    cli: CommandLine
    ollama: OwnOllama
    binary: Path
    models: Path
    url: str = ""

    def configure(
        self,
        draft: str = SHORT,
        most: int = 800,
        rounds: int = 1,
        window: int = 2048,
        critic: str = MODEL,
        server: dict[str, float] | None = None,
    ) -> None:
        """No draft has a section for the function, so the critic is never asked, and ADJUDICATOR has hardly a word."""
        words = self.cli.folder / "words" / "docs.toml"
        words.parent.mkdir(exist_ok=True)
        words.write_text(WORDS.format(draft=draft), encoding="utf-8")
        writer = {"temperature": 0, "seed": 1, "num_ctx": window}
        self.cli.configure(
            self.url or self.ollama.base_url,
            server={"first_token_s": 300, "idle_s": 300, "total_s": 600} | (server or {}),
            model_registry={"GENERATOR": MODEL, "CRITIC": critic, "ADJUDICATOR": MODEL},
            roles={
                "GENERATOR": writer | {"num_predict": most},
                "CRITIC": {"num_ctx": window, "num_predict": 16},
                "ADJUDICATOR": writer | {"num_predict": 32},
            },
            critic="when_clean",
            prompts="words",
            max_attempts=rounds,
            sandbox={"mode": "off"},
        )
        self.cli.source("one.py", SOURCE)

    def run(self) -> Shown:
        """The command in this process."""
        ended = self.cli.run("-i", "one.py")
        return ended.code, [line.strip() for line in (ended.out + ended.err).splitlines()]

    def terminal(self, output: str = "output/") -> Terminal:
        """The command as a process."""
        return Terminal(self.cli.folder, "-i", "one.py", "-o", output)

    def outcome(self) -> str:
        """What the record of the last run says."""
        records = find_records(self.cli.folder / "output")
        return str(read_record(records[-1])["files"][0]["outcome"]) if records else "refused"

    def break_off(
        self, strike: Callable[[], None], draft: str = SHORT, *, rounds: int = 1, server: dict[str, float] | None = None
    ) -> Shown:
        """Strike in the middle of the first reply."""
        self.configure(draft, rounds=rounds, server=server)
        with self.terminal() as terminal:
            terminal.await_shown(STREAMING)
            strike()
            return terminal.ended()

    def restart(self) -> None:
        """Kill the server and start it again."""
        self.ollama.kill()
        self.ollama.start()


def never_started(bench: Bench) -> Shown:
    bench.configure()
    bench.ollama.close()
    return bench.run()


def killed_for_good(bench: Bench) -> Shown:
    return bench.break_off(bench.ollama.kill, STORY)


def killed_and_back(bench: Bench) -> Shown:
    bench.configure(server={"away_s": 200})
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        bench.ollama.kill()
        terminal.await_shown("waiting up to")
        bench.ollama.start()
        return terminal.ended()


def restarted_at_once(bench: Bench) -> Shown:
    return bench.break_off(bench.restart, server={"away_s": 200})


def restarted_between_rounds(bench: Bench) -> Shown:
    bench.configure(rounds=2)
    with bench.terminal() as terminal:
        terminal.await_shown("round 1  no score")
        terminal.process.send_signal(signal.SIGSTOP)
        bench.restart()
        terminal.process.send_signal(signal.SIGCONT)
        return terminal.ended()


def runner_killed(bench: Bench) -> Shown:
    return bench.break_off(lambda: os.kill(bench.ollama.runner(), signal.SIGKILL))


def a_web_server(bench: Bench) -> Shown:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        bench.url = f"http://127.0.0.1:{server.server_port}"
        bench.configure()
        ended = bench.run()
        server.shutdown()
    return ended


def another_protocol(bench: Bench) -> Shown:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            with listener.accept()[0] as caller:
                caller.recv(1000)
                caller.sendall(b"SSH-2.0-OpenSSH\r\n")

        threading.Thread(target=greet, daemon=True).start()
        bench.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        bench.configure()
        return bench.run()


def stopped_mid_stream(bench: Bench) -> Shown:
    ended = bench.break_off(lambda: bench.ollama.signal(signal.SIGSTOP), STORY, server={"idle_s": 2})
    bench.ollama.signal(signal.SIGCONT)
    assert bench.ollama.chat(MODEL).status_code == 200
    return ended


def stopped_before_the_first_token(bench: Bench) -> Shown:
    bench.configure(server={"first_token_s": 2})
    bench.ollama.chat(MODEL, num_ctx=2048)
    bench.ollama.stop_runner()
    ended = bench.run()
    bench.ollama.signal(signal.SIGCONT)
    assert bench.ollama.chat(MODEL, num_ctx=2048).status_code == 200
    return ended


def total_deadline(bench: Bench) -> Shown:
    bench.configure(STORY, server={"total_s": 3})
    bench.ollama.chat(MODEL, num_ctx=2048)
    ended = bench.run()
    # The call that was given up would take many times as long as this one.
    began = time.monotonic()
    assert bench.ollama.chat(MODEL, num_ctx=2048).status_code == 200
    assert time.monotonic() - began < 15
    return ended


def model_missing(bench: Bench) -> Shown:
    bench.configure(critic=MISSING)
    return bench.run()


def model_deleted(bench: Bench) -> Shown:
    return bench.break_off(lambda: bench.ollama.delete(MODEL), rounds=2)


def model_damaged(bench: Bench) -> Shown:
    bench.configure()
    bench.ollama.damage(MODEL, 50_000_000)
    return bench.run()


def model_damaged_in_a_run(bench: Bench) -> Shown:
    return bench.break_off(lambda: bench.ollama.damage(MODEL, 50_000_000), rounds=2, server={"keep_alive": 0})


def model_emptied(bench: Bench) -> Shown:
    bench.configure()
    bench.ollama.damage(MODEL, 0)
    return bench.run()


def model_file_gone(bench: Bench) -> Shown:
    bench.configure()
    bench.ollama.damage(MODEL, None)
    return bench.run()


def out_of_memory(bench: Bench) -> Shown:
    bench.configure(window=8192)
    bench.ollama.close()
    bench.ollama.start(OLLAMA_NUM_PARALLEL="8192")
    return bench.run()


def store_full(bench: Bench) -> Shown:
    with small_disk(bench.cli.folder / "disk") as disk:
        bench.ollama.close()
        bench.ollama = OwnOllama(bench.binary, disk, bench.models)
        bench.ollama.start()
        try:
            with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
                while True:
                    filler.write(bytes(4096))
            bench.configure()
            return bench.run()
        finally:
            bench.ollama.close()


def window_too_small(bench: Bench) -> Shown:
    bench.configure(window=512, most=400)
    (bench.cli.folder / "words" / "docs.toml").write_text("", encoding="utf-8")
    return bench.run()


def in_pieces(bench: Bench) -> Shown:
    bench.configure(window=1024, most=200)
    long = SOURCE.replace("Return 1.", "Return 1. " + "One is the first number. " * 16)
    bench.cli.source("one.py", long + long.replace("one", "two"))
    return bench.run()


def cut_at_its_limit(bench: Bench) -> Shown:
    bench.configure(STORY, most=32)
    return bench.run()


def runaway(bench: Bench) -> Shown:
    line = "The dog likes to run in the park. "
    bench.configure(f"Write this sentence again and again, for ever: {line * 8}")
    return bench.run()


def two_folders(bench: Bench) -> Shown:
    bench.configure()
    with bench.terminal() as one, bench.terminal("other/") as other:
        code, lines = other.ended()
        assert code in (0, 1)
        assert f"{OUTCOMES[code]} (repaired)  one.py -> other/one.md" in lines
        return one.ended()


def one_folder(bench: Bench) -> Shown:
    bench.configure(STORY)
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        return bench.run()


OUTCOMES = ("accepted", "not accepted")
PLAYS: tuple[Callable[[Bench], Shown], ...] = (
    never_started, killed_for_good, killed_and_back, restarted_at_once, restarted_between_rounds, runner_killed,
    a_web_server, another_protocol, stopped_mid_stream, stopped_before_the_first_token, total_deadline, model_missing,
    model_deleted, model_damaged, model_emptied, model_file_gone, model_damaged_in_a_run, out_of_memory, store_full,
    window_too_small, in_pieces, cut_at_its_limit, runaway, two_folders, one_folder,
)  # fmt: skip


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Bench]:
    found, cache = request.config.stash[REAL_OLLAMA]
    binary = demanded(found)
    folder = tmp_path / "ollama"
    folder.mkdir()
    models = model_store(binary, cache)
    ollama = OwnOllama(binary, folder, models)
    try:
        ollama.start()
        yield Bench(CommandLine(tmp_path, capsys), ollama, binary, models)
    finally:
        ollama.close()


@pytest.mark.ollama
@pytest.mark.parametrize("play", PLAYS)
def test_a_fault_ends_as_its_row_says(bench: Bench, play: Callable[[Bench], Shown]) -> None:
    case = BY_NAME[play.__name__]
    code, lines = play(bench)
    lines = [line.removeprefix("reflexion: ") for line in lines]
    known = {"url": bench.url or bench.ollama.base_url, "model": MISSING if play is model_missing else MODEL}
    pattern = re.compile(case.pattern(**known))
    if case.message:
        assert any(pattern.fullmatch(line) for line in lines), "\n".join([case.name, pattern.pattern, *lines])
    else:
        assert not [line for line in lines if line.startswith("failed") or "model server" in line], lines
    if case.outcome == GOES_ON:
        assert bench.outcome() == OUTCOMES[code], lines
        return
    assert code == case.code, lines
    if play is not one_folder:  # There the record is the other run's.
        assert bench.outcome() == case.outcome


def test_every_row_is_played() -> None:
    assert {play.__name__ for play in PLAYS} == {case.name for case in CASES if case.played == "real"}
