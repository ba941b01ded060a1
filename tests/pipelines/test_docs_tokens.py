"""The whole graph on real tokens: three small models, as they answer. What they say is theirs; what ships is ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from reflexion import pages
from reflexion.marker import read_marker
from tests.real_ollama import RealOllama
from tests.support import SOURCE, CommandLine, Ended

SMALL = {"num_ctx": 2048, "num_predict": 160, "seed": 7}
ROLES = dict.fromkeys(("GENERATOR", "CRITIC", "ADJUDICATOR"), SMALL)
OTHER = 'def double(x: int) -> int:\n    """Return twice x."""\n    return 2 * x\n'


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


def check(cli: CommandLine, ended: Ended, expected: int) -> None:
    """What must hold whatever the models wrote: outcome, page, record and exit code agree."""
    record: Any = cli.record()
    files = record["files"]
    assert len(files) == expected
    outcomes = [entry["outcome"] for entry in files]
    assert ended.code == (4 if "failed" in outcomes else 1 if "not accepted" in outcomes else 0)
    for entry in files:
        if entry["outcome"] == "failed":
            assert entry["error"]
            continue
        page = (cli.folder / entry["output"]).read_text(encoding="utf-8")
        body, marker = read_marker(page)
        assert marker is not None
        assert (marker.outcome, marker.score) == (entry["outcome"], entry["score"])
        assert body.strip()
        assert pages.is_ours(page)
        assert len({call["model"] for call in entry["calls"]}) == 3
        assert all(call["prompt_tokens"] > 0 for call in entry["calls"] if call["outcome"] == "ok")
        scores = [item["score"] for item in entry["rounds"] if item["score"] is not None]
        assert all(0 <= score <= 100 for score in scores)
        if entry["outcome"] == "accepted":
            assert max(scores) >= 95
            assert not [item for item in entry["findings"] if item["level"] == "error"]


@pytest.mark.embedded
def test_a_file_on_the_embedded_engine(cli: CommandLine) -> None:
    cli.source()
    (cli.folder / "config.json").write_text(json.dumps({"roles": ROLES, "max_attempts": 2}), encoding="utf-8")
    ended = cli.run("--engine", "embedded", "-i", "add.py")
    assert "one small demo model" in ended.out
    check(cli, ended, 1)


@pytest.mark.embedded
def test_a_folder_on_the_embedded_engine(cli: CommandLine) -> None:
    cli.source("src/add.py", SOURCE)
    cli.source("src/deep/double.py", OTHER)
    config = {"roles": ROLES, "max_attempts": 1, "server": {"engine": "embedded"}}
    (cli.folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    check(cli, cli.run("-i", "src"), 2)


@pytest.mark.ollama
def test_a_file_on_a_real_ollama_with_room_for_one_model(cli: CommandLine, real_ollama: RealOllama) -> None:
    cli.source()
    configure(cli, real_ollama, max_attempts=2)
    check(cli, cli.run("-i", "add.py"), 1)


@pytest.mark.ollama
def test_a_folder_on_a_real_ollama_with_room_for_one_model(cli: CommandLine, real_ollama: RealOllama) -> None:
    cli.source("src/add.py", SOURCE)
    cli.source("src/deep/double.py", OTHER)
    configure(cli, real_ollama, max_attempts=1)
    check(cli, cli.run("-i", "src"), 2)


def configure(cli: CommandLine, real_ollama: RealOllama, max_attempts: int) -> None:
    registry = dict(zip(("GENERATOR", "CRITIC", "ADJUDICATOR"), real_ollama.models, strict=True))
    config = {
        "model_registry": registry,
        "roles": ROLES,
        "max_attempts": max_attempts,
        "server": {"base_url": real_ollama.base_url},
    }
    (cli.folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
