"""The command line: what people type, what they read, and the exit code."""

import io
import json
import re
import socket
from typing import Any

import pytest

from reflexion import __version__, pages
from reflexion.marker import Marker
from reflexion.writing import NOT_VERIFIED
from tests.ollama_double import OllamaDouble, refuse, reply, status
from tests.support import PAGE, SOURCE, CommandLine, approve, page, tree, verdict


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["docs", "--help"], ["-i", "x", "--help"]])
def test_help_and_version(cli: CommandLine, args: list[str]) -> None:
    ended = cli.run(*args)
    assert ended.code == 0
    assert __version__ in ended.out or "Usage" in ended.out


def test_no_arguments_is_help_and_exit_2(cli: CommandLine) -> None:
    ended = cli.run()
    assert ended.code == 2
    assert "Usage" in ended.out + ended.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--input", "gone.py"], "gone.py: no such file"),
        (["--input", "empty.py"], "empty"),
        (["--input", "binary.py"], "binary"),
        (["--input", "latin.py"], "decoded"),
        (["--input", "python2.py"], "not Python 3"),
        (["--input", "add.py", "--output", "add.py"], "is an input"),
        (["--input", "add.py", "--output", "./sub/../add.py"], "is an input"),
        (["--input", "add.py", "--output", "empty.py/x.md"], "not a folder"),
        (["--input", "add.py", "--output", "sub", "--output", "mine.md"], "--overwrite"),
        (["--input", "add.py", "--bar", "950"], "quality_score_bar"),
        (["--input", "add.py", "--max-attempts", "0"], "max_attempts"),
        (["--input", "add.py", "--max-attempts", "many"], "max-attempts"),
        (["--input", "add.py", "--model", "CRITIC"], "ROLE=NAME"),
        (["--input", "add.py", "--model", "CRITICS=x"], 'did you mean "CRITIC"?'),
        (["--input", "add.py", "--engine", "llama"], "engine"),
        (["--input", "add.py", "--format", "yaml"], "valid are text, json"),
        (["--input", "add.py", "--config", "gone.json"], "gone.json"),
        (["--input", "add.py", "-o", "-", "--format", "json"], "cannot hold both"),
        (["--input", "add.py", "-i", "sub", "-o", "out"], "not both"),
        (["--input", "add.py", "-i", "copy/add.py"], "would both be written"),
        (["--input", "add.py", "-i", "copy/ADD.py"], "would both be written"),
        (["--input", "sub"], "no source files"),
        (["--input", "sub", "--output", "mine.md"], "is a file"),
        (["--input", "add.py", "-i", "copy/add.py", "-o", "-"], "one page"),
        (["--input", "x" * 5000], "cannot be read"),
        (["--output", "x.md"], "input"),
        (["--inptu", "x.md"], "inptu"),
    ],
)
def test_what_cannot_be_used_is_one_line_exit_2_and_nothing_happens(
    cli: CommandLine, ollama_double: OllamaDouble, args: list[str], said: str
) -> None:
    cli.source("add.py")
    cli.source("copy/add.py")
    cli.source("copy/ADD.py")
    (cli.folder / "sub").mkdir()
    (cli.folder / "mine.md").write_text("# Mine\n", encoding="utf-8")
    (cli.folder / "empty.py").touch()
    (cli.folder / "binary.py").write_bytes(b"\0\1\2")
    (cli.folder / "latin.py").write_bytes(b"x = '\xe9'")
    (cli.folder / "python2.py").write_text("print 'x'\n", encoding="utf-8")
    before = tree(cli.folder)

    ended = cli.run(*args)

    assert ended.code == 2
    assert said in re.sub(r"\s+", " ", ended.out + ended.err)
    assert ended.err.startswith("reflexion: ") or "Usage" in ended.err
    assert "Traceback" not in ended.err
    assert tree(cli.folder) == before
    assert ollama_double.requests == []


def test_a_broken_config_is_exit_2(cli: CommandLine) -> None:
    cli.source()
    (cli.folder / "config.json").write_text('{"quality_scor_bar": 9}', encoding="utf-8")
    ended = cli.run("-i", "add.py")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert 'config.json: line 1: unknown key "quality_scor_bar"; did you mean "quality_score_bar"?' in ended.err


def test_no_server_is_exit_3_with_the_command_that_helps(cli: CommandLine, closed_port: int) -> None:
    cli.source()
    cli.configure(f"http://127.0.0.1:{closed_port}")
    ended = cli.run("-i", "add.py")
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert f"http://127.0.0.1:{closed_port}" in ended.err
    assert "ollama serve" in ended.err
    assert not (cli.folder / "output").exists()


def test_a_missing_model_is_exit_3_before_any_file(cli: CommandLine) -> None:
    cli.source()
    ended = cli.run("-i", "add.py", "--model", "CRITIC=critic:7b")
    assert ended.code == 3
    assert "CRITIC critic:7b (you have critic:1b)" in ended.err
    assert "ollama pull critic:7b" in ended.err
    assert not (cli.folder / "output").exists()


def test_a_remote_host_is_refused(cli: CommandLine) -> None:
    cli.source()
    cli.configure("http://192.0.2.7:11434")
    ended = cli.run("-i", "add.py")
    assert ended.code == 2
    assert "allow_remote" in ended.err


@pytest.mark.parametrize(
    ("args", "where"),
    [
        ([], "output/add.md"),
        (["-o", "new/page.md"], "new/page.md"),
        (["-o", "new/"], "new/add.md"),
        (["-o", "folder"], "folder/add.md"),
    ],
)
def test_where_the_page_goes(cli: CommandLine, ollama_double: OllamaDouble, args: list[str], where: str) -> None:
    cli.source()
    (cli.folder / "folder").mkdir()
    approve(ollama_double)
    ended = cli.run("-i", "add.py", *args)
    assert ended.code == 0
    assert (cli.folder / where).read_text(encoding="utf-8").startswith(page(1))
    assert f"add.py -> {where}" in ended.out


def test_the_closing_lines_say_scores_attempts_and_model_seconds(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double, rounds=2)
    ended = cli.run("-i", "add.py")
    assert "round 1  accuracy 80, completeness 70: 75 (-20 against the bar of 95)" in ended.out
    assert "fix: Fix number 1." in ended.out
    assert re.search(r"scores 75, 100; attempts 2; stopped: approved; model [\d.]+ s, \d+ tokens", ended.out)
    assert "\x1b" not in ended.out


def test_standard_output_holds_the_page_and_nothing_else(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double)
    ended = cli.run("-i", "add.py", "-o", "-")
    assert ended.code == 0
    assert ended.out.startswith(page(1))
    assert ended.out.rstrip().endswith("-->")
    assert "accepted" in ended.err
    assert not (cli.folder / "output").exists()


def test_standard_input_goes_to_standard_output(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(ollama_double)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
    ended = cli.run("-i", "-")
    assert ended.code == 0
    assert ended.out.startswith(page(1))
    assert "def add" in ollama_double.chats("gen:1b")[0]["messages"][1]["content"]


def test_quiet_shows_only_how_it_ended(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double)
    assert cli.run("-i", "add.py", "--quiet").out == "accepted  add.py -> output/add.md\n"


def test_json_lines_tell_the_run(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double, rounds=2)
    ended = cli.run("-i", "add.py", "--format", "json")
    events: list[dict[str, Any]] = [json.loads(line) for line in ended.out.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds.count("round_scored") == 2
    assert kinds[-2:] == ["file_finished", "run_finished"]
    assert events[-2]["outcome"] == "accepted"
    assert events[-1] == {"event": "run_finished", "exit_code": 0}


def test_command_line_settings_lie_over_the_config(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    ollama_double.script("critic:1b", reply(PAGE))
    ollama_double.script("gen:1b", verdict(60, 60))
    ollama_double.script("adj:1b", reply(PAGE))
    args = ["--bar", "60", "--max-attempts", "1", "--model", "GENERATOR=critic:1b", "--model", "critic=gen:1b"]
    assert cli.run("-i", "add.py", *args).code == 0


def test_other_text_is_documented_and_said_not_to_be_verified(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("add.js", "export function add(a, b) { return a + b; }\n")
    approve(ollama_double)
    ended = cli.run("-i", "add.js")
    assert ended.code == 0
    assert "claims not verified" in ended.out
    assert NOT_VERIFIED in (cli.folder / "output" / "add.md").read_text(encoding="utf-8")


def test_pages_that_people_edited_are_safe(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    for _ in range(3):
        approve(ollama_double)
    path = cli.folder / "output" / "add.md"
    assert cli.run("-i", "add.py").code == 0
    assert cli.run("-i", "add.py").code == 0
    path.write_text(path.read_text(encoding="utf-8").replace("numbers", "integers"), encoding="utf-8")
    ended = cli.run("-i", "add.py")
    assert ended.code == 2
    assert "integers" in path.read_text(encoding="utf-8")
    assert cli.run("-i", "add.py", "--overwrite").code == 0


def test_an_accepted_page_survives_a_worse_run(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double)
    assert cli.run("-i", "add.py").code == 0
    ollama_double.script("gen:1b", reply(page(2)))
    ollama_double.script("critic:1b", verdict(10, 10))
    ollama_double.script("adj:1b", reply(page(2)))
    ended = cli.run("-i", "add.py", "--max-attempts", "1")
    assert ended.code == 1
    assert (cli.folder / "output" / "add.md").read_text(encoding="utf-8").startswith(page(1))
    assert (cli.folder / "output" / "add.draft.md").read_text(encoding="utf-8").startswith(page(2))


def test_a_folder_mirrors_its_tree_and_one_bad_file_is_one_line(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a/utils.py")
    cli.source("src/b/utils.py")
    cli.source("src/bad.py", "def f(:\n")
    cli.source("src/__init__.py", "")
    (cli.folder / "src" / "latin.py").write_bytes(b"x = '\xe9'")
    for _ in range(2):
        approve(ollama_double)

    ended = cli.run("-i", "src", "-o", "docs")

    assert ended.code == 4
    written = [name for name in tree(cli.folder / "docs") if name.endswith(".md")]
    assert written == ["a/utils.md", "b/utils.md"]
    assert "bad.py:1: not valid Python" in re.sub(r"\s+", " ", ended.out)
    assert "Left out, since empty: __init__.py" in ended.out
    record: Any = cli.record("docs")
    assert [entry["outcome"] for entry in record["files"]] == ["accepted", "accepted", "failed", "failed"]


def test_one_file_that_is_not_accepted_makes_exit_1(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    cli.source("src/b.py")
    approve(ollama_double)
    ollama_double.script("gen:1b", reply(page(2)))
    ollama_double.script("critic:1b", verdict(10, 10))
    ollama_double.script("adj:1b", reply(page(2)))
    assert cli.run("-i", "src", "--max-attempts", "1").code == 1


def test_a_server_error_in_one_file_leaves_the_others(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    for name in ("src/a.py", "src/b.py", "src/c.py"):
        cli.source(name)
    approve(ollama_double)
    ollama_double.script("gen:1b", status(500, "cudaMalloc failed: out of memory"))
    approve(ollama_double)
    ended = cli.run("-i", "src")
    assert ended.code == 4
    assert [name for name in tree(cli.folder / "output") if name.endswith(".md")] == ["a.md", "c.md"]
    assert "out of memory" in ended.out


def test_a_server_that_is_gone_for_good_stops_the_run_with_exit_3(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    for name in ("src/a.py", "src/b.py", "src/c.py"):
        cli.source(name)
    approve(ollama_double)
    ollama_double.script("gen:1b", refuse(60))
    ended = cli.run("-i", "src")
    assert ended.code == 3
    assert "1 file not started" in ended.out
    assert [name for name in tree(cli.folder / "output") if name.endswith(".md")] == ["a.md"]


def test_the_record_holds_every_round_and_is_for_its_owner_alone(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double, rounds=2)
    cli.run("-i", "add.py")
    record: Any = cli.record()
    [entry] = record["files"]
    assert [item["score"] for item in entry["rounds"]] == [75, 100]
    assert entry["rounds"][0]["fix"] == "Fix number 1."
    assert entry["rounds"][0]["draft"] == page(1)
    for call in entry["calls"]:
        assert {"load_s", "prompt_s", "generation_s", "prompt_tokens", "reply_tokens"} <= set(call)
    assert set(record["models"]) == {"GENERATOR", "CRITIC", "ADJUDICATOR"}
    folder = cli.folder / "output" / ".reflexion"
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}


def test_own_prompts_are_in_force(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    cli.configure(ollama_double.base_url, prompts="words")
    (cli.folder / "words").mkdir()
    (cli.folder / "words" / "docs.toml").write_text('[CRITIC]\nsystem = "Be a strict critic."\n', encoding="utf-8")
    approve(ollama_double)
    assert cli.run("-i", "add.py").code == 0
    assert ollama_double.chats("critic:1b")[0]["messages"][0]["content"] == "Be a strict critic."
    assert "Be a strict critic." in cli.run("prompts", "show").out


def test_nothing_reaches_a_tracing_host(
    cli: CommandLine, ollama_double: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With these variables langchain-core would post whole prompts."""
    cli.source()
    approve(ollama_double)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(1.5)
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for prefix in ("LANGSMITH", "LANGCHAIN"):
            for name, value in (
                ("TRACING", "true"),
                ("TRACING_V2", "true"),
                ("ENDPOINT", endpoint),
                ("API_KEY", "key"),
                ("PROJECT", "p"),
            ):
                monkeypatch.setenv(f"{prefix}_{name}", value)
        assert cli.run("-i", "add.py").code == 0
        with pytest.raises(TimeoutError):
            listener.accept()


def test_files_of_one_name_in_a_folder_keep_their_endings(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/x.c", "int x;\n")
    cli.source("src/x.h", "extern int x;\n")
    cli.source("src/y.py")
    cli.source("src/__init__.py", "\n")
    for _ in range(3):
        approve(ollama_double)
    assert cli.run("-i", "src").code == 0
    assert [name for name in tree(cli.folder / "output") if name.endswith(".md")] == ["x.c.md", "x.h.md", "y.md"]


def test_an_input_is_never_replaced_by_a_draft_beside_the_page(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("notes.draft.md", "# Notes to document\n")
    (cli.folder / "notes.md").write_text(pages.render("# Notes", Marker("accepted", 99, "x", "0")), encoding="utf-8")
    ended = cli.run("-i", "notes.draft.md", "-o", "notes.md", "--overwrite")
    assert (ended.code, "is an input" in ended.err) == (2, True)
    assert ollama_double.requests == []


def test_rounds_that_were_finished_survive_a_failure(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    approve(ollama_double, adj=[status(500, "out of memory")])
    ended = cli.run("-i", "add.py", "-q")
    assert ended.code == 4
    assert "failed  add.py" in ended.out
    assert "out of memory" in ended.out
    record: Any = cli.record()
    [entry] = record["files"]
    assert (entry["outcome"], entry["rounds"][0]["draft"], entry["rounds"][0]["score"]) == ("failed", page(1), 100)


def test_a_record_that_cannot_be_written_is_one_line(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    cli.source("output/.reflexion", "a file in the way")
    approve(ollama_double)
    ended = cli.run("-i", "add.py")
    assert ended.code == 2
    assert ended.err.startswith("reflexion: output/.reflexion")
    assert "Traceback" not in ended.err


def test_json_lines_end_with_the_exit_code_when_nothing_ran(cli: CommandLine, closed_port: int) -> None:
    cli.source()
    cli.configure(f"http://127.0.0.1:{closed_port}")
    ended = cli.run("-i", "add.py", "--format", "json")
    assert json.loads(ended.out.splitlines()[-1]) == {"event": "run_finished", "exit_code": 3}
