"""Each fault of a model server in the middle of a batch: the right outcome for its file, and nothing else is lost."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reflexion import pages
from reflexion.runs import find_records, read_record
from tests.batch_double import Replies, name_in, write_sources
from tests.conftest import MakeDouble
from tests.failure_cases import BY_NAME, CASES, GOES_ON
from tests.ollama_double import (
    Act,
    ModelInfo,
    OllamaDouble,
    eof,
    error_record,
    half_json,
    html,
    leaked_thinking,
    no_final,
    refuse,
    reply,
    reset,
    runaway,
    silence,
    slow,
    status,
)
from tests.ollama_double.replies import Reply
from tests.support import MODELS, CommandLine

Body = dict[str, Any]
FILES = 5
JOBS = 3
STRUCK = "m00002"
OTHERS = {f"m{number:05d}" for number in range(FILES)} - {STRUCK}
ACCEPTED = "accepted"


@dataclass(frozen=True)
class Fault:
    """``act`` is played for the first ``times`` calls of ``role`` about one file; tests/failure_cases.py says what
    becomes of it.
    """

    act: Act
    times: int = 1
    role: str = "generator"


# Backoff sends a call five times at most, a cut or empty reply is asked for twice in each round.
EVER = 99
FAULTS = {
    "reset": Fault(reset()),
    "refused for a while": Fault(refuse(1.5)),
    "busy twice": Fault(status(503), times=2),
    "its process died": Fault(status(500, "llama runner process has terminated: EOF")),
    "stream ends early": Fault(eof("# Half a")),
    "no final record": Fault(no_final("# Half a page")),
    "a record cut": Fault(half_json("# Half a page")),
    "too long once": Fault(reply("# Cut", done_reason="length")),
    "empty once": Fault(reply("")),
    "only thinking once": Fault(reply("", thinking="Hm.", done_reason="length")),
    "runaway once": Fault(runaway()),
    "runaway verdict": Fault(runaway(), role="critic"),
    "verdict cut": Fault(reply('{"technical', done_reason="length"), role="critic"),
    "runaway at the end": Fault(runaway(), role="adjudicator"),
    "out of memory": Fault(status(500, "CUDA error: out of memory")),
    "an error in the stream": Fault(error_record("# Half", "unknown fault")),
    "a slow drip": Fault(slow("# A page that never comes", 1.5)),
    "no answer": Fault(silence()),
    "cut for ever": Fault(reply("# Cut", done_reason="length"), EVER),
    "empty for ever": Fault(reply(" \n"), EVER),
    "runaway for ever": Fault(runaway(), EVER),
    "out of memory at the end": Fault(status(500, "out of memory"), role="adjudicator"),
}
# These say that there is no server to go on with: the command ends with 3, and the rest is for another day.
GONE: dict[str, Act] = {"a proxy in the way": html(), "model gone": status(404, "model 'gen:1b' not found")}


class Struck:
    """The replies of a batch, but for the calls about one file that the fault is for."""

    def __init__(self, double: OllamaDouble, fault: Fault) -> None:
        self.fault = fault
        self.left = fault.times
        self.replies = Replies(most_rounds=1)
        for role, model in (("generator", "gen:1b"), ("critic", "critic:1b"), ("adjudicator", "adj:1b")):
            double.script(model, *[self._say(role)] * 100)

    def _say(self, role: str) -> Callable[[Body], Act]:
        usual: Callable[[Body], Act] = getattr(self.replies, role)

        def say(body: Body) -> Act:
            if role == self.fault.role and name_in(body) == STRUCK and self.left > 0:
                self.left -= 1
                return self.fault.act
            return usual(body)

        return say


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    line = CommandLine(tmp_path, capsys)
    limits = {"first_token_s": 1.2, "idle_s": 1, "total_s": 10}
    line.configure(ollama_double.base_url, server=limits, jobs=JOBS, max_attempts=2)
    write_sources(tmp_path / "src", FILES, per_folder=FILES)
    return line


def run(cli: CommandLine) -> tuple[int, str]:
    ended = cli.run("-i", "src")
    return ended.code, " ".join(f"{ended.out} {ended.err}".split())


def written(cli: CommandLine) -> dict[str, str]:
    found = {path.stem: path.read_text(encoding="utf-8") for path in (cli.folder / "output").rglob("m*.md")}
    assert all(map(pages.is_ours, found.values()))
    assert all(f"of {name}, edition" in text for name, text in found.items())
    return found


def outcomes(cli: CommandLine) -> dict[str, dict[str, Any]]:
    record = read_record(find_records(cli.folder / "output")[-1])
    return {Path(entry["source"]).stem: entry for entry in record["files"]}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_about_one_file_costs_no_other(cli: CommandLine, ollama_double: OllamaDouble, name: str) -> None:
    fault, case = FAULTS[name], BY_NAME[name]
    outcome = ACCEPTED if case.outcome == GOES_ON else case.outcome
    struck = Struck(ollama_double, fault)
    code, _ = run(cli)
    entry = outcomes(cli)[STRUCK]
    assert (entry["outcome"], code) == (outcome, case.code)
    assert re.fullmatch(case.pattern(), entry.get("error", "")), entry
    assert struck.left < fault.times
    assert set(written(cli)) == OTHERS | ({STRUCK} if outcome == ACCEPTED else set())
    struck.left, seen = 0, len(ollama_double.chats())
    assert run(cli)[0] == 0
    missing = set() if outcome == ACCEPTED else {STRUCK}
    assert {name_in(body) for body in ollama_double.chats()[seen:]} == missing
    assert set(written(cli)) == OTHERS | {STRUCK}
    assert not (cli.folder / "output" / ".reflexion" / "checkpoints.sqlite").exists()


@pytest.mark.parametrize("name", GONE)
def test_a_server_that_is_none_any_more_ends_the_run_and_a_rerun_takes_up_the_rest(
    cli: CommandLine, ollama_double: OllamaDouble, name: str
) -> None:
    case = BY_NAME[name]
    struck = Struck(ollama_double, Fault(GONE[name], times=EVER))
    code, _ = run(cli)
    assert code == case.code
    [failed] = [entry for entry in outcomes(cli).values() if entry["outcome"] == case.outcome]
    assert re.fullmatch(case.pattern(url=ollama_double.base_url), failed["error"])
    assert STRUCK not in written(cli)
    before, struck.left, seen = set(written(cli)), 0, len(ollama_double.chats())
    drafted = {name_in(body) for body in ollama_double.chats("gen:1b")} - {STRUCK}
    assert run(cli)[0] == 0
    assert set(written(cli)) == OTHERS | {STRUCK}
    again = [body for body in ollama_double.chats()[seen:] if body["model"].startswith("gen")]
    assert {name_in(body) for body in again} == (OTHERS | {STRUCK}) - drafted
    assert not before & {name_in(body) for body in ollama_double.chats()[seen:]}


def test_a_server_that_goes_away_for_good_ends_the_run_and_a_rerun_takes_up_the_rest(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    struck = Struck(ollama_double, Fault(refuse(40)))
    code, text = run(cli)
    assert code == 3
    assert "no model server at" in text
    ollama_double.listen_again()
    kept, seen = set(written(cli)), len(ollama_double.chats())
    assert struck.left == 0
    assert run(cli)[0] == 0
    assert set(written(cli)) == OTHERS | {STRUCK}
    assert not kept & {name_in(body) for body in ollama_double.chats()[seen:]}


def test_leaked_thinking_is_cut_off_and_nothing_of_it_ships(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    page = Replies().generator({"messages": [{"role": "user", "content": f"Add numbers of {STRUCK}."}]})
    assert isinstance(page, Reply)
    Struck(ollama_double, Fault(leaked_thinking("SECRET THOUGHT", page.text)))
    assert run(cli)[0] == 0
    assert set(written(cli)) == OTHERS | {STRUCK}
    assert "SECRET" not in "".join(written(cli).values())


def test_a_model_that_makes_no_text_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make_ollama_double: MakeDouble
) -> None:
    case = BY_NAME["model_cannot_write"]
    models = {name: ModelInfo() for name in MODELS.values()}
    double = make_ollama_double(models | {"critic:1b": ModelInfo(capabilities=("embedding",))})
    line = CommandLine(tmp_path, capsys)
    line.configure(double.base_url)
    line.source()
    ended = line.run("-i", "add.py")
    assert ended.code == case.code
    assert re.search(f"^reflexion: {case.pattern(model='critic:1b')}$", ended.err, re.MULTILINE)
    assert not double.chats()
    assert not (tmp_path / "output" / "add.md").exists()


def test_every_row_is_played() -> None:
    assert {*FAULTS, *GONE, "model_cannot_write"} == {case.name for case in CASES if case.played == "double"}
