"""A real Ollama that is killed, stopped, starved and broken under a run: what a person gets, as docs/failures.md says."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import REAL_OLLAMA
from tests.own_ollama import OwnOllama
from tests.real_ollama import MODELS, demanded, model_store
from tests.support import CommandLine
from tests.terminal import Terminal

pytestmark = pytest.mark.ollama

GEN, CRITIC, ADJUDICATOR = MODELS
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


@dataclass
class Bench:
    """A folder with a source, the command, and the server that it is to meet."""

    cli: CommandLine
    ollama: OwnOllama

    def configure(self, draft: str = SHORT, most: int = 800, rounds: int = 1, window: int = 2048, **server: object) -> None:
        """The critic's verdict is always cut, so that a page that comes is not accepted, whatever models say."""
        words = self.cli.folder / "words" / "docs.toml"
        words.parent.mkdir(exist_ok=True)
        words.write_text(WORDS.format(draft=draft), encoding="utf-8")
        writer = {"temperature": 0, "seed": 1, "num_ctx": window}
        roles = {
            "GENERATOR": writer | {"num_predict": most},
            "CRITIC": {"num_ctx": window, "num_predict": 16},
            "ADJUDICATOR": writer | {"num_predict": 32},
        }
        self.cli.configure(
            self.ollama.base_url,
            server={"first_token_s": 300, "idle_s": 300, "total_s": 600} | server,
            model_registry=dict(zip(("GENERATOR", "CRITIC", "ADJUDICATOR"), MODELS, strict=True)),
            prompts="words", roles=roles, max_attempts=rounds, sandbox={"mode": "off"},
        )
        self.cli.source("one.py", SOURCE)

    def run(self, *args: str) -> tuple[int, list[str]]:
        ended = self.cli.run(*(args or ("-i", "one.py")))
        return ended.code, [line.strip() for line in (ended.out + ended.err).splitlines()]

    def terminal(self, *args: str) -> Terminal:
        return Terminal(self.cli.folder, *(args or ("-i", "one.py")))


def killed_for_good(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(STORY)
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        bench.ollama.kill()
        return terminal.ended()


def killed_and_back(bench: Bench) -> tuple[int, list[str]]:
    bench.configure("Write a recipe for bread with a list of ingredients.", away_s=100)
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        bench.ollama.kill()
        terminal.await_shown("waiting up to")
        bench.ollama.start()
        return terminal.ended()


def restarted_at_once(bench: Bench) -> tuple[int, list[str]]:
    bench.configure("Write a recipe for bread with a list of ingredients.")
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        bench.ollama.kill()
        bench.ollama.start()
        return terminal.ended()


def restarted_between_rounds(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(rounds=2)
    with bench.terminal() as terminal:
        terminal.await_shown("round 1  no score")
        terminal.process.send_signal(signal.SIGSTOP)
        bench.ollama.kill()
        bench.ollama.start()
        terminal.process.send_signal(signal.SIGCONT)
        return terminal.ended()


def runner_killed(bench: Bench) -> tuple[int, list[str]]:
    bench.configure("Write a recipe for bread with a list of ingredients.")
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        [runner] = bench.ollama.runners()
        os.kill(runner, signal.SIGKILL)
        return terminal.ended()


def stopped_mid_stream(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(STORY, idle_s=2)
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        bench.ollama.signal(signal.SIGSTOP)
        ended = terminal.ended()
    bench.ollama.signal(signal.SIGCONT)
    assert bench.ollama.chat(GEN).status_code == 200
    return ended


def stopped_before_the_first_token(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(first_token_s=2)
    bench.ollama.chat(GEN, num_ctx=2048)
    [runner] = bench.ollama.runners()
    os.kill(runner, signal.SIGSTOP)
    ended = bench.run()
    os.kill(runner, signal.SIGCONT)
    assert bench.ollama.chat(GEN, num_ctx=2048).status_code == 200
    return ended


def total_deadline(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(STORY, total_s=3)
    bench.ollama.chat(GEN, num_ctx=2048)
    ended = bench.run()
    began = time.monotonic()
    bench.ollama.chat(GEN, num_ctx=2048)
    print("next call", time.monotonic() - began)
    return ended


def cut_at_its_limit(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(STORY, most=16)
    return bench.run()


def runaway(bench: Bench) -> tuple[int, list[str]]:
    line = "The dog likes to run in the park. "
    bench.configure(f"Write this sentence again and again, for ever: {line * 8}")
    return bench.run()


def model_deleted(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(rounds=2)
    with bench.terminal() as terminal:
        terminal.await_shown("round 1: critique")
        bench.ollama.delete(GEN)
        return terminal.ended()


def model_damaged(bench: Bench) -> tuple[int, list[str]]:
    bench.configure()
    bench.ollama.damage(GEN, 50_000_000)
    return bench.run()


def model_header_damaged(bench: Bench) -> tuple[int, list[str]]:
    bench.configure()
    bench.ollama.damage(GEN, 100_000)
    return bench.run()


def model_emptied(bench: Bench) -> tuple[int, list[str]]:
    bench.configure()
    bench.ollama.damage(GEN, 0)
    return bench.run()


def model_file_gone(bench: Bench) -> tuple[int, list[str]]:
    bench.configure()
    bench.ollama.damage(GEN, None)
    return bench.run()


def out_of_memory(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(window=8192)
    bench.ollama.close()
    bench.ollama.start(OLLAMA_NUM_PARALLEL="4096")
    return bench.run()


def window_too_small(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(window=512, most=400)
    bench.cli.source("one.py", SOURCE * 30)
    (bench.cli.folder / "words" / "docs.toml").write_text("")
    return bench.run()


def in_pieces(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(window=512, most=200)
    bench.cli.source("one.py", "".join(SOURCE.replace("one", f"one{n}") for n in range(12)))
    return bench.run()


def two_folders(bench: Bench) -> tuple[int, list[str]]:
    bench.configure()
    with bench.terminal("-i", "one.py", "-o", "a/") as a, bench.terminal("-i", "one.py", "-o", "b/") as b:
        code, lines = a.ended()
        code2, lines2 = b.ended()
        return code, [str(code2), *lines, "---", *lines2]


def one_folder(bench: Bench) -> tuple[int, list[str]]:
    bench.configure(STORY)
    with bench.terminal() as terminal:
        terminal.await_shown(STREAMING)
        return bench.run()


PLAYS: list[Callable[[Bench], tuple[int, list[str]]]] = [
    killed_for_good, killed_and_back, restarted_at_once, restarted_between_rounds, runner_killed, stopped_mid_stream,
    stopped_before_the_first_token, total_deadline, cut_at_its_limit, runaway, model_deleted, model_damaged,
    model_header_damaged, model_emptied, model_file_gone, out_of_memory, window_too_small, in_pieces, two_folders, one_folder,
]


@pytest.fixture
def bench(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Bench]:
    found, cache = request.config.stash[REAL_OLLAMA]
    binary = demanded(found)
    folder = tmp_path / "ollama"
    folder.mkdir()
    ollama = OwnOllama(binary, folder, model_store(binary, cache))
    try:
        ollama.start()
        yield Bench(CommandLine(tmp_path, capsys), ollama)
    finally:
        ollama.close()


@pytest.mark.parametrize("play", PLAYS)
def test_fault(bench: Bench, play: Callable[[Bench], tuple[int, list[str]]]) -> None:
    code, lines = play(bench)
    lines = [l for l in lines if l and l[0] not in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"]
    with open("/tmp/w/faults/probe.txt", "a") as f:
        print("=====", play.__name__, code, *lines, sep="\n", file=f)
