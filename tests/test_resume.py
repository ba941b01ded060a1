"""``reflexion resume``: a run goes on with the files that it was begun with, wherever its user stands by then."""

import json
from pathlib import Path
from typing import Any

import pytest

from reflexion.runs import find_records
from tests.code_support import patch
from tests.heal_support import BUG, FILES, FIXED, debugger, fix, lay_out
from tests.ollama_double import OllamaDouble, reply, status
from tests.sandbox_support import bubblewrap
from tests.support import SOURCE, CommandLine, scripted

OTHER = SOURCE.replace("add", "other")


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    line = CommandLine(tmp_path / "begun", capsys)
    line.folder.mkdir()
    line.configure(ollama_double.base_url)
    return line


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with a configuration and a source of the same names, which are not meant."""
    folder = tmp_path / "elsewhere"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text(OTHER, encoding="utf-8")
    (folder / "config.json").write_text('{"model_registry": {"GENERATOR": "none:1b"}}', encoding="utf-8")
    return folder


def begin(cli: CommandLine, double: OllamaDouble, monkeypatch: pytest.MonkeyPatch, *args: str) -> None:
    """Begin a run that fails, in the folder of the command line."""
    monkeypatch.chdir(cli.folder)
    double.script("gen:1b", *[reply("")] * 2)
    assert cli.run(*args, "--max-attempts", "1").code == 4
    scripted(double)


def old_record(folder: Path) -> None:
    """Make the only record as it was before it said where its run was begun."""
    [path] = find_records(folder)
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del record["begun_in"]
    path.write_text(json.dumps(record), encoding="utf-8")


@pytest.mark.parametrize("output", ["output", "../pages"])
def test_relative_paths_are_those_of_where_the_run_was_begun(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch, elsewhere: Path, output: str
) -> None:
    cli.source("src/a.py")
    cli.source("words/docs.toml", '[CRITIC]\nsystem = "Be a strict critic."\n')
    cli.configure(ollama_double.base_url, prompts="../words")
    (cli.folder / "settings").mkdir()
    (cli.folder / "config.json").rename(cli.folder / "settings" / "mine.json")
    begin(cli, ollama_double, monkeypatch, "-i", "src", "-o", output, "-c", "settings/mine.json")

    monkeypatch.chdir(elsewhere)
    ended = cli.run("resume", "-o", f"../begun/{output}")

    assert ended.code == 0, ended
    assert f"cd {cli.folder} && reflexion docs -i src -o {output}" in ended.err
    assert "source=src/a.py" in (cli.folder / output / "a.md").read_text(encoding="utf-8")
    assert "Be a strict critic." in str(ollama_double.chats("critic:1b"))
    assert sorted(path.name for path in elsewhere.iterdir()) == ["config.json", "src"]


def test_a_module_is_healed_where_the_run_was_begun(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    bubblewrap()
    cli.configure(ollama_double.base_url, code={"limit_s": 60.0})
    lay_out(cli, FILES)
    lay_out(CommandLine(elsewhere, cli.capsys), FILES)
    monkeypatch.chdir(cli.folder)
    ollama_double.script("gen:1b", status(500, "something broke"))
    assert fix(cli, "--apply").code == 4
    debugger(ollama_double, patch(FIXED))

    monkeypatch.chdir(elsewhere)
    [output] = (cli.folder / "output").iterdir()
    assert cli.run("resume", "-o", f"../begun/output/{output.name}").code == 0

    assert (cli.folder / "proj" / "bounds.py").read_text(encoding="utf-8") == FIXED
    assert (elsewhere / "proj" / "bounds.py").read_text(encoding="utf-8") == BUG


def test_a_folder_that_was_moved_with_its_pages_is_the_one_that_is_meant(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    cli.source("src/a.py")
    begin(cli, ollama_double, monkeypatch, "-i", "src")
    monkeypatch.chdir(elsewhere)
    moved = cli.folder.rename(cli.folder.with_name("moved"))

    assert cli.run("resume", "-o", str(moved / "output")).code == 0

    assert (moved / "output" / "a.md").is_file()


def test_where_the_folder_is_gone_the_command_is_told_and_nothing_is_done(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    cli.source("src/a.py")
    begin(cli, ollama_double, monkeypatch, "-i", "src", "-o", "../pages")
    monkeypatch.chdir(elsewhere)
    cli.folder.rename(cli.folder.with_name("moved"))

    ended = cli.run("resume", "-o", "../pages")

    assert ended.code == 2
    assert f"was begun in {cli.folder}, which is gone; where its files are, run reflexion docs -i src" in ended.err
    assert not (elsewhere.parent / "pages" / "a.md").exists()


def test_a_record_of_an_earlier_version_is_taken_up_from_where_its_user_stands(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    cli.source("src/a.py")
    begin(cli, ollama_double, monkeypatch, "-i", "src")
    old_record(cli.folder / "output")

    ended = cli.run("resume")

    assert ended.code == 0
    assert "cd " not in ended.err


def test_no_report_shows_where_a_run_was_begun(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.source("src/a.py")
    begin(cli, ollama_double, monkeypatch, "-i", "src", "-o", "../pages")
    [record] = find_records(cli.folder / "../pages")
    assert str(cli.folder) in record.read_text(encoding="utf-8")
    assert str(cli.folder) not in record.with_suffix(".html").read_text(encoding="utf-8")
