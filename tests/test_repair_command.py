"""``reflexion repair``, and ``check`` where pages have examples: what is shown, written, left alone, and said."""

import json
from pathlib import Path

import pytest

from reflexion.commands.check import KEYS_OF_MODELS
from reflexion.config import Config
from reflexion.marker import Marker, read_marker
from reflexion.pages import is_ours, render
from tests.sandbox_support import bubblewrap
from tests.support import PAGE, CommandLine

WRONG = PAGE.replace("default `1`", "default `7`").replace("b: int = 1", "b: int = 7")
EXAMPLE = f"{PAGE}\n## Example\n\n```python\nadd(2, 3)  # 6\n```\n"


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    line = CommandLine(tmp_path, capsys)
    line.source()
    return line


def page_file(cli: CommandLine, text: str) -> Path:
    path = cli.folder / "add.md"
    path.write_text(text, encoding="utf-8")
    return path


def repair(cli: CommandLine, *more: str) -> tuple[int, str, str]:
    ended = cli.run("repair", "add.md", "--source", "add.py", *more)
    return ended.code, ended.out, ended.err


def test_without_write_the_change_is_shown_and_nothing_is_written(cli: CommandLine) -> None:
    path = page_file(cli, WRONG)
    code, out, err = repair(cli)
    assert code == 1
    assert out.startswith("--- add.md\n+++ add.md (repaired)\n@@ ")
    assert "-- `b` (`int`, default `7`)" in out
    assert "+- `b` (`int`, default `1`)" in out
    assert "(P204)" in err
    assert path.read_text(encoding="utf-8") == WRONG


def test_with_write_the_page_is_mended_and_a_backup_is_kept_on_request(cli: CommandLine) -> None:
    path = page_file(cli, WRONG)
    assert repair(cli, "--write", "--backup")[0] == 0
    assert path.read_text(encoding="utf-8") == PAGE
    assert (cli.folder / "add.md.bak").read_text(encoding="utf-8") == WRONG
    path.write_text(WRONG, encoding="utf-8")
    assert repair(cli, "--write", "--backup")[0] == 0
    assert (cli.folder / "add.md.bak1").exists()


def test_a_true_page_is_left_alone(cli: CommandLine) -> None:
    path = page_file(cli, PAGE)
    before = path.stat().st_mtime_ns
    assert repair(cli, "--write") == (0, "", "")
    assert path.stat().st_mtime_ns == before
    assert [name.name for name in cli.folder.iterdir() if "bak" in name.name] == []


def test_backup_without_write_is_refused(cli: CommandLine) -> None:
    page_file(cli, WRONG)
    code, _, err = repair(cli, "--backup")
    assert code == 2
    assert "--backup has no effect without --write" in err


def test_a_page_of_ours_stays_ours_and_is_marked(cli: CommandLine) -> None:
    path = page_file(cli, render(WRONG, Marker("accepted", 97, "add.py", "0" * 64)))
    assert cli.run("repair", "add.md", "--write").code == 0
    written = path.read_text(encoding="utf-8")
    text, marker = read_marker(written)
    assert text == PAGE
    assert marker is not None
    assert (marker.repaired, marker.outcome, marker.score) == (True, "accepted", 97)
    assert is_ours(written)


def test_a_page_that_somebody_edited_stays_an_edited_one(cli: CommandLine) -> None:
    edited = render(PAGE, Marker("accepted", 97, "add.py", "0" * 64)).replace("default `1`", "default `7`")
    path = page_file(cli, edited.replace("Returns the sum of both.", "Returns the sum of both numbers."))
    assert cli.run("repair", "add.md", "--write").code == 0
    assert not is_ours(path.read_text(encoding="utf-8"))
    assert "default `1`" in path.read_text(encoding="utf-8")


def test_two_folders_are_repaired_pair_by_pair(cli: CommandLine) -> None:
    cli.source("src/a.py")
    cli.source("src/b.py")
    for name, text in (("a", WRONG), ("b", PAGE)):
        path = cli.folder / "pages" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    ended = cli.run("repair", "pages", "--source", "src", "--write")
    assert (ended.code, ended.out) == (0, "pages/a.md: 2 mended\n")


def test_what_cannot_be_read_is_exit_2_and_the_others_are_done(cli: CommandLine) -> None:
    page_file(cli, WRONG)
    (cli.folder / "bad.md").write_bytes(b"\xff\xfe")
    ended = cli.run("repair", "bad.md", "add.md", "-s", "add.py", "-s", "add.py", "--write")
    assert ended.code == 2
    assert "bad.md: not UTF-8" in ended.err
    assert (cli.folder / "add.md").read_text(encoding="utf-8") == PAGE


def test_windows_line_ends_are_no_change_of_their_own(cli: CommandLine) -> None:
    path = page_file(cli, "")
    path.write_bytes(PAGE.replace("\n", "\r\n").encode())
    assert repair(cli, "--write")[:2] == (0, "")
    assert b"\r\n" in path.read_bytes()


def test_check_runs_examples_and_repair_states_the_real_output(cli: CommandLine) -> None:
    bubblewrap()
    path = page_file(cli, EXAMPLE)
    ended = cli.run("check", "add.md", "-s", "add.py", "--examples", "--format", "json")
    [finding] = json.loads(ended.out)
    assert (ended.code, finding["rule"], finding["line"]) == (1, "X603", 19)
    assert set(finding) == {"rule", "level", "document", "line", "message", "evidence", "fix"}
    unasked = cli.run("check", "add.md", "-s", "add.py")
    assert unasked.code == 0
    assert unasked.err == "reflexion: 1 Python example was not run; --examples runs them in the sandbox\n"
    assert repair(cli, "--write")[0] == 0
    assert path.read_text(encoding="utf-8") == EXAMPLE.replace("# 6", "# 5")


@pytest.mark.parametrize("command", ["check", "repair"])
def test_without_a_sandbox_examples_are_told_not_run_and_can_be_required(cli: CommandLine, command: str) -> None:
    page_file(cli, EXAMPLE)
    (cli.folder / "config.json").write_text(json.dumps({"sandbox": {"mode": "off"}}), encoding="utf-8")
    ended = cli.run(command, "add.md", "-s", "add.py", "--examples")
    assert ended.code == 0
    if command == "check":
        assert "add.md: examples: 0 of 1 ran; not run: " in ended.err
    assert cli.run(command, "add.md", "-s", "add.py", "--require-examples").code == 2


def test_the_sandbox_that_is_no_boundary_is_said_to_be_none(cli: CommandLine) -> None:
    page_file(cli, EXAMPLE)
    (cli.folder / "config.json").write_text(json.dumps({"sandbox": {"mode": "process"}}), encoding="utf-8")
    ended = cli.run("check", "add.md", "-s", "add.py", "--examples")
    assert ended.code == 1
    assert "no security boundary" in ended.err


def test_a_source_without_examples_opens_no_sandbox(cli: CommandLine) -> None:
    page_file(cli, PAGE)
    (cli.folder / "config.json").write_text(
        json.dumps({"sandbox": {"mode": "process", "python": "/nowhere/python"}}), encoding="utf-8"
    )
    assert cli.run("check", "add.md", "-s", "add.py", "--examples").code == 0


def test_kept_blocks_are_a_persons_and_stay_as_they_are(cli: CommandLine) -> None:
    block = "<!-- keep -->\n`add` never raises anything, and `b` defaults to `7`.\n<!-- /keep -->"
    path = page_file(cli, WRONG.replace("Returns the sum of both.\n", f"Returns the sum of both.\n\n{block}\n"))
    repair(cli, "--write")
    written = path.read_text(encoding="utf-8")
    assert written.count(block) == 1
    assert "default `1`" in written


def test_line_ends_stay_as_they_are_where_something_is_mended(cli: CommandLine) -> None:
    path = page_file(cli, "")
    path.write_bytes(WRONG.replace("\n", "\r\n").encode())
    assert repair(cli, "--write")[0] == 0
    assert path.read_bytes() == PAGE.replace("\n", "\r\n").encode()


def test_a_byte_order_mark_stays(cli: CommandLine) -> None:
    path = page_file(cli, "")
    path.write_bytes(WRONG.encode("utf-8-sig"))
    assert repair(cli, "--write")[0] == 0
    assert path.read_bytes() == PAGE.encode("utf-8-sig")


@pytest.mark.parametrize("content", ['{"rulez": 1}', "[]", "", '{"max_attempts": 4,}'])
def test_check_refuses_a_broken_configuration(cli: CommandLine, content: str) -> None:
    page_file(cli, PAGE)
    (cli.folder / "config.json").write_text(content, encoding="utf-8")
    ended = cli.run("check", "add.md", "-s", "add.py")
    assert ended.code == 2
    assert "config.json" in ended.err


def test_the_keys_that_check_passes_over_are_all_but_its_own() -> None:
    assert set(Config.model_fields) - {"rules", "sandbox"} == KEYS_OF_MODELS


def test_one_rule_is_explained(cli: CommandLine) -> None:
    assert "Wrong: `timeout` defaults to `30`" in cli.run("rules", "P204").out
    assert cli.run("rules", "wrong-default").out == cli.run("rules", "p204").out
    assert cli.run("rules", "P999").code == 2
