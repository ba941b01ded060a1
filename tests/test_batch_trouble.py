"""What can happen around a batch while it runs, and to what it left: one clear line, and nothing lost."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflexion.checkpoints import Checkpoints
from reflexion.errors import InputError
from reflexion.runs import RunRecord, find_records, read_record
from tests.ollama_double import Act, OllamaDouble, reply
from tests.support import PAGE, SOURCE, CommandLine, Ended, scripted, verdict

Body = dict[str, Any]


def run_with(cli: CommandLine, double: OllamaDouble, meanwhile: Callable[[], object], *args: str) -> Ended:
    """Run on one file, and let something happen while its last call is under way."""

    def happen(_: Body) -> Act:
        meanwhile()
        return reply(PAGE)

    double.script("gen:1b", reply(PAGE))
    double.script("critic:1b", verdict(100, 100))
    double.script("adj:1b", happen)
    return cli.run("-i", "src", *args)


# ------------------------------------------------------------------ while it runs


def test_a_page_that_a_person_edits_during_the_run_is_left_alone_and_its_calls_are_kept(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    cli.source("src/a.py")
    page = cli.folder / "output" / "a.md"
    scripted(ollama_double, 1)
    assert cli.run("-i", "src").code == 0
    cli.source("src/a.py", f"{SOURCE}\n# Changed.\n")
    ended = run_with(cli, ollama_double, lambda: page.write_text("# By hand\n", encoding="utf-8"))
    assert ended.code == 4
    assert "output/a.md: was edited while the run went on" in " ".join(ended.out.split())
    assert page.read_text(encoding="utf-8") == "# By hand\n"
    asked = len(ollama_double.chats())
    assert cli.run("-i", "src", "--overwrite").code == 0
    assert len(ollama_double.chats()) == asked
    assert "# Add numbers" in page.read_text(encoding="utf-8")


def test_a_page_that_could_not_be_written_costs_no_call_once_it_can(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    cli.source("src/a.py")
    page = cli.folder / "output" / "a.md"
    ended = run_with(cli, ollama_double, lambda: (page / "x").mkdir(parents=True))
    assert ended.code == 4
    page.joinpath("x").rmdir()
    page.rmdir()
    asked = len(ollama_double.chats())
    assert cli.run("-i", "src").code == 0
    assert len(ollama_double.chats()) == asked


def test_a_record_whose_folder_was_taken_away_is_whole_all_the_same(tmp_path: Path) -> None:
    record = RunRecord(tmp_path, {}, {}, ["-i", "src"])
    record.begin()
    assert record.path is not None
    record.path.with_suffix(".jsonl").unlink()
    record.add({"source": "a.py", "outcome": "accepted"})
    record.finish(0)
    [path] = find_records(tmp_path)
    found = read_record(path)
    assert found["arguments"] == ["-i", "src"]
    assert [entry["source"] for entry in found["files"]] == ["a.py"]


def test_what_ends_after_the_record_was_closed_makes_no_second_one(tmp_path: Path) -> None:
    record = RunRecord(tmp_path, {}, {})
    record.begin()
    record.finish(130)
    record.add({"source": "late.py", "outcome": "failed"})
    assert [path.suffix for path in (tmp_path / ".reflexion").iterdir()] == [".json"]


def test_half_a_line_that_a_full_disk_left_is_written_over(tmp_path: Path) -> None:
    record = RunRecord(tmp_path, {}, {})
    record.begin()
    assert record.path is not None
    with record.path.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
        file.write('{"source": "ha')
    record.add({"source": "a.py"})
    record.finish(0)
    assert [entry["source"] for entry in read_record(record.path)["files"]] == ["a.py"]


def test_a_reader_that_goes_away_stops_the_run_with_a_line_and_everything_to_take_up(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    for name in "abcd":
        cli.source(f"src/{name}.py")
    reached, gone = threading.Event(), threading.Event()

    def wait(_: Body) -> Act:
        reached.set()
        gone.wait(60)
        return reply(PAGE)

    ollama_double.script("gen:1b", wait)
    scripted(ollama_double)
    command = [sys.executable, "-m", "reflexion", "-i", "src", "--jobs", "2"]
    with subprocess.Popen(command, cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert reached.wait(60)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        gone.set()
        said = process.stderr.read().decode()
    assert process.returncode == 4
    assert said == "reflexion: standard output: closed by its reader; what is finished is kept\n"
    [record] = find_records(cli.folder / "output")
    assert read_record(record)["exit_code"] == 4
    assert cli.run("-i", "src", "--jobs", "2").code == 0
    assert len(ollama_double.chats("gen:1b")) == 4


# ------------------------------------------------------------------ what is left from before


def test_the_index_forgets_a_source_that_is_gone_and_no_other(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    for name in "abc":
        cli.source(f"src/{name}.py")
    scripted(ollama_double)
    index = cli.folder / "output" / "index.md"
    assert cli.run("-i", "src").code == 0
    (cli.folder / "src" / "b.py").unlink()
    assert "2 of 2 files unchanged" in cli.run("-i", "src").out
    assert "2 sources: 2 accepted." in index.read_text(encoding="utf-8")
    cli.source("src/a.py", f"{SOURCE}\n# Changed.\n")
    assert cli.run("-i", "src", "--include", "a.py").code == 0
    text = index.read_text(encoding="utf-8")
    assert "(a.md)" in text
    assert "(c.md)" in text


def test_an_index_that_a_kill_left_behind_is_made_up_for(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    scripted(ollama_double)
    assert cli.run("-i", "src").code == 0
    index = cli.folder / "output" / "index.md"
    before = index.read_bytes()
    cli.source("src/b.py")
    assert cli.run("-i", "src").code == 0
    after = index.read_bytes()
    index.write_bytes(before)  # As it is when a kill comes between the last page and the index.
    assert cli.run("-i", "src").code == 0
    assert index.read_bytes() == after


def test_an_index_that_cannot_be_written_is_told_and_costs_no_page(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    cli.source("src/a.py")
    scripted(ollama_double)
    (cli.folder / "output" / "index.md").mkdir(parents=True)
    ended = cli.run("-i", "src")
    assert ended.code == 4
    assert "output/index.md: cannot be read: Is a directory" in ended.out
    assert (cli.folder / "output" / "a.md").is_file()


@pytest.mark.parametrize("damage", ["foreign", "torn"])
def test_checkpoints_that_are_damaged_are_refused_in_one_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / ".reflexion" / "checkpoints.sqlite"
    if damage == "foreign":
        path.parent.mkdir()
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE checkpoints (x)")
        other.close()
    else:
        with Checkpoints(tmp_path) as kept:
            for number in range(300):
                kept.keep_cut(f"thread {number}", "x" * 200)
            with kept.saver.cursor() as cursor:
                cursor.execute("INSERT INTO checkpoints (thread_id, checkpoint_id) VALUES ('a', 'b')")
        data = bytearray(path.read_bytes())
        for page in range(12 * 4096, len(data), 4096):
            data[page : page + 200] = b"\xff" * 200
        path.write_bytes(data)
    with pytest.raises(InputError, match=r"checkpoints\.sqlite: cannot be used: .*; remove it to begin anew"):
        Checkpoints(tmp_path)


def test_a_process_file_that_cannot_be_written_is_named(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    (cli.folder / "output" / ".reflexion" / "run.pid").mkdir(parents=True)
    ended = cli.run("-i", "src")
    assert ended.code == 2
    assert ended.err == "reflexion: output/.reflexion/run.pid: cannot be written: Is a directory\n"
    assert ollama_double.chats() == []


def record_in(folder: Path, name: str, text: str) -> None:
    path = folder / "output" / ".reflexion" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_kill_beside_the_end_of_a_record_leaves_one_run_and_none_that_had_not_begun(cli: CommandLine) -> None:
    run = "20260101-000000-abcdef"
    head = json.dumps({"record_version": 2, "run": run, "arguments": ["-i", "src"]})
    ended = json.dumps({"record_version": 2, "run": run, "exit_code": 0, "finished": "x", "files": []})
    record_in(cli.folder, f"{run}.json", ended)
    record_in(cli.folder, f"{run}.jsonl", f"{head}\n")
    record_in(cli.folder, "20260102-000000-abcdef.jsonl", "")
    record_in(cli.folder, "20260103-000000-abcdef.jsonl", head[:20])
    assert cli.run("runs").out.count("20260") == 1
    assert cli.run("runs", "show", run).code == 0
    assert "came to its end" in cli.run("resume").err


@pytest.mark.parametrize("content", ['{"record_version": 2, "files": 3}', '{"record_version": 2, "files": [3]}'])
def test_a_record_of_something_else_is_named(cli: CommandLine, content: str) -> None:
    record_in(cli.folder, "20260101-000000-abcdef.json", content)
    for command in (["runs"], ["runs", "show", "2026"]):
        ended = cli.run(*command)
        assert ended.code == 2
        assert "is not a record of a run" in ended.err


# ------------------------------------------------------------------ names and files


def test_a_link_that_leads_in_a_circle_is_passed_over(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    for name in ("loop.py", "loop"):
        (cli.folder / "src" / name).symlink_to(name)
    scripted(ollama_double)
    assert cli.run("-i", "src").code == 0
    assert (cli.folder / "output" / "a.md").is_file()


@pytest.mark.parametrize("into", ["", "pages"])
def test_a_page_whose_name_would_be_too_long_is_the_failure_of_its_source_alone(
    cli: CommandLine, ollama_double: OllamaDouble, into: str
) -> None:
    long, longest = "x" * 252, "y" * 253
    for name in ("a.py", f"{long}.py", f"{longest}.c"):
        cli.source(f"src/{name}")
    scripted(ollama_double)
    (cli.folder / "output").mkdir()
    ended = cli.run("-i", "src", "-o", f"output/{into}")
    assert ended.code == 4
    told = f"{longest}.md: is too long a name for the file system; rename the source"
    assert [line for line in ended.out.splitlines() if told in line] != []
    assert sorted(path.stem for path in (cli.folder / "output" / into).glob("*.md")) == ["a", "index", long]
    assert len(ollama_double.chats("gen:1b")) == 2  # Nothing was asked for the page that could not be.
    assert told in cli.run("-i", "src", "--dry-run").out
    assert cli.run("-i", f"src/{longest}.c", "-o", "short.md").code == 0


def test_where_a_draft_would_have_too_long_a_name_the_accepted_page_stays_and_that_is_told(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    name = "x" * 252
    cli.source(f"src/{name}.py")
    scripted(ollama_double)
    assert cli.run("-i", "src").code == 0
    accepted = (cli.folder / "output" / f"{name}.md").read_text(encoding="utf-8")
    ollama_double.replace_script("critic:1b", *[verdict(50, 50)] * 4)
    ended = cli.run("-i", "src", "--force", "--max-attempts", "2")
    assert ended.code == 4
    assert f"output/{name}.draft.md: is too long a name for the file system; rename the source" in ended.out
    assert (cli.folder / "output" / f"{name}.md").read_text(encoding="utf-8") == accepted


def test_resume_gives_a_name_that_is_no_text_as_it_was(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    folder = os.fsdecode(b"caf\xe9")
    cli.source(f"{folder}/a.py")
    ollama_double.script("gen:1b", *[reply("")] * 2)
    assert cli.run("-i", folder, "--max-attempts", "1").code == 4
    scripted(ollama_double)
    assert cli.run("resume").code == 0
    assert (cli.folder / "output" / "a.md").is_file()


def test_no_name_of_a_file_ends_a_line_or_steers_a_terminal(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/one\ntwo\x1b[2J.py")
    scripted(ollama_double)
    ended = cli.run("-i", "src")
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert "accepted  src/one\\ntwo\\x1b[2J.py -> output/one\\ntwo\\x1b[2J.md" in ended.out
    assert (cli.folder / "output" / "one\ntwo\x1b[2J.md").is_file()
    assert "\x1b" not in cli.run("-i", "src", "--dry-run").out
    (cli.folder / "output" / "one\ntwo\x1b[2J.md").write_text("# Mine\n", encoding="utf-8")
    refused = cli.run("-i", "src", "--force")
    assert refused.err == (
        "reflexion: output/one\\ntwo\\x1b[2J.md: is not as reflexion wrote it; --overwrite replaces it\n"
    )


def test_sources_that_all_lie_in_the_output_folder_are_missed_with_the_reason(cli: CommandLine) -> None:
    cli.source("src/a.py")
    ended = cli.run("-i", ".", "-o", "src")
    assert ended.code == 2
    assert "no source files in it (src is the output folder)" in ended.err


@pytest.mark.parametrize("dangling", [False, True])
def test_something_else_where_the_record_belongs_is_told_with_what_to_do(cli: CommandLine, dangling: bool) -> None:
    cli.source("src/a.py")
    kept = cli.folder / "output" / ".reflexion"
    kept.parent.mkdir()
    if dangling:
        kept.symlink_to("nowhere")
    else:
        kept.touch()
    ended = cli.run("-i", "src")
    assert ended.code == 2
    assert ended.err == "reflexion: output/.reflexion: is not a folder; move it away, or name another --output\n"


def test_a_working_folder_that_was_removed_is_told(cli: CommandLine) -> None:
    (cli.folder / "gone").mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from reflexion.cli import main; main(['-i', '..'])"
    ended = subprocess.run([sys.executable, "-c", code], cwd=cli.folder / "gone", capture_output=True, text=True)
    assert ended.stderr == "reflexion: the working folder: No such file or directory\n"


def test_json_lines_are_json_on_a_stream_of_any_encoding(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/ü€😀.py")
    scripted(ollama_double)
    command = [sys.executable, "-m", "reflexion", "-i", "src", "--format", "json"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, cwd=cli.folder, env=environment, capture_output=True, check=True)
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert "src/ü€😀.py" in {event.get("source") for event in events}


def test_a_byte_order_mark_alone_is_an_empty_file(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    (cli.folder / "src" / "mark.py").write_bytes(b"\xef\xbb\xbf\n")
    scripted(ollama_double)
    ended = cli.run("-i", "src")
    assert ended.code == 0
    assert "Left out, since empty: mark.py" in ended.out
    assert "is empty" in cli.run("-i", "src/mark.py").err


def test_a_kept_block_in_another_encoding_keeps_its_bytes(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    scripted(ollama_double)
    assert cli.run("-i", "src").code == 0
    page = cli.folder / "output" / "a.md"
    block = b"<!-- keep -->\ncaf\xe9 \xe2\x82\xac\n<!-- /keep -->\n"
    page.write_bytes(page.read_bytes().replace(b"Returns the sum of both.\n", b"Returns the sum of both.\n\n" + block))
    assert cli.run("-i", "src", "--force").code == 0
    assert block in page.read_bytes()


@pytest.mark.parametrize("arguments", [["-i", ""], ["-i", "src", "-o", ""]])
def test_a_variable_that_is_not_set_is_no_folder(cli: CommandLine, arguments: list[str]) -> None:
    cli.source("src/a.py")
    ended = cli.run(*arguments)
    assert ended.code == 2
    assert "is empty; name a file" in ended.err
    assert not (cli.folder / "output").exists()
