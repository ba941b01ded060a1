"""The code pipeline on real tokens: three small models, as they answer. What is called verified is for code to say."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reflexion.config import Role, RoleSettings
from reflexion.context import CodeContext
from reflexion.errors import CallFailed
from reflexion.loaders import Source
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Models
from reflexion.pipelines import code
from reflexion.prompts import load_prompts
from reflexion.sandbox import Sandbox
from reflexion.suite.run import run_suite
from reflexion.team.attempts import Attempt
from tests.real_ollama import RealOllama
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine

SMALL = {"num_ctx": 2048, "num_predict": 80, "seed": 7}
TEAM = ("ARCHITECT", "DEVELOPER", "DEBUGGER", "REVIEWER")
PROMPT = "A function add(a, b) that returns the sum of two integers."

SUITE = """import pytest

from solution import add


def test_two_numbers():
    assert add(2, 3) == 5


def test_a_negative_one():
    assert add(-2, 1) == -1


def test_no_number():
    with pytest.raises(TypeError):
        add("a", 1)
"""
LIMIT_S = 60.0


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    bubblewrap()
    return CommandLine(tmp_path, capsys)


def check(cli: CommandLine, arguments: Sequence[str] = ()) -> None:
    """Run a task; whatever the models wrote, outcome, files, record and exit code agree."""
    ended = cli.run("code", "--prompt", PROMPT, "--output", "out", *arguments)
    record: Any = cli.record("out")
    (entry,) = record["files"]
    assert ended.code == {"accepted": 0, "not accepted": 1, "failed": 4}[entry["outcome"]]
    calls = entry.get("calls") or []
    assert "ARCHITECT" in {call["role"] for call in calls} or entry["outcome"] == "failed"
    if entry["outcome"] == "failed":
        assert entry["error"]
        return
    told = json.loads((cli.folder / "out" / "run.json").read_text(encoding="utf-8"))
    assert told["outcome"] == entry["outcome"]
    assert (cli.folder / "out" / "report.md").read_text(encoding="utf-8").strip()
    solved = (cli.folder / "out" / "solution.py").exists() and (cli.folder / "out" / "test_solution.py").exists()
    assert solved or entry["outcome"] != "accepted"


@pytest.mark.embedded
def test_a_task_on_the_embedded_engine(cli: CommandLine) -> None:
    (cli.folder / "config.json").write_text(json.dumps({"roles": dict.fromkeys(TEAM, SMALL)}), encoding="utf-8")
    check(cli, ("--engine", "embedded"))


@pytest.mark.ollama
def test_a_task_on_a_real_ollama_with_room_for_one_model(cli: CommandLine, real_ollama: RealOllama) -> None:
    registry = dict(zip(("GENERATOR", "CRITIC", "ADJUDICATOR"), real_ollama.models, strict=True))
    config = {
        "model_registry": registry,
        "roles": dict.fromkeys(TEAM, SMALL),
        "server": {"base_url": real_ollama.base_url},
    }
    (cli.folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    check(cli)


@pytest.mark.ollama
def test_the_loop_on_a_real_ollama_passes_nothing_that_does_not_pass(real_ollama: RealOllama) -> None:
    """No architect of this size writes a sound suite, so the other three get one."""
    sandbox = bubblewrap()
    for attempt in attempts(real_ollama, sandbox):
        if attempt["score"] == 100:
            assert run_suite(attempt["draft"], SUITE, sandbox, limit_s=LIMIT_S).passed


def attempts(real_ollama: RealOllama, sandbox: Sandbox) -> list[Attempt]:
    """What the three models made of the task; nothing when no reply could be used."""
    settings = RoleSettings.model_validate(SMALL | {"temperature": 0.2})
    roles = dict(zip((Role.DEVELOPER, Role.DEBUGGER, Role.REVIEWER), real_ollama.models, strict=True))
    context = CodeContext(
        models=Models(
            {role: Binding(role, name, settings, 2048) for role, name in roles.items()}, real_ollama.base_url
        ),
        prompts=load_prompts("code", None),
        emit=lambda _: None,
        sandbox=sandbox,
        max_debug_iterations=1,
        limit_s=LIMIT_S,
    )
    try:
        state = code.solve(code.build(), Source("prompt", "prompt", PROMPT, "0" * 64, None), context, suite=SUITE)
    except CallFailed:
        return []
    assert state["stop"]
    assert state["attempts"]
    return state["attempts"]
