"""A folder at a time: what is left out, taken up again, side by side, and stopped; against a real server each time."""

import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from reflexion.checkpoints import Checkpoints, thread_of
from reflexion.manifest import Manifest
from reflexion.runs import find_records, read_record
from tests.ollama_double import Act, OllamaDouble, reply, status
from tests.support import PAGE, SOURCE, CommandLine, approve, scripted, sources, verdict

Body = dict[str, Any]


def pages_of(cli: CommandLine) -> list[str]:
    return sorted(path.name for path in (cli.folder / "output").glob("*.md") if path.name != "index.md")


def start(cli: CommandLine, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reflexion", *args]
    return subprocess.Popen(command, cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# ------------------------------------------------------------------ the unchanged


def test_what_did_not_change_costs_no_call(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double)
    assert cli.run("-i", "src").code == 0
    asked = len(ollama_double.chats())
    ended = cli.run("-i", "src")
    assert ended.code == 0
    assert "2 of 2 files unchanged and left out." in ended.out
    assert len(ollama_double.chats()) == asked


def test_a_changed_source_is_done_anew_and_only_that(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double)
    cli.run("-i", "src")
    asked = len(ollama_double.chats())
    cli.source("src/b.py", f"{SOURCE}\n# A comment.\n")
    assert "1 of 2 files unchanged" in cli.run("-i", "src").out
    assert len(ollama_double.chats()) == asked + 3


@pytest.mark.parametrize("change", [{"quality_score_bar": 94}, {"max_attempts": 3}])
def test_another_setting_makes_every_page_anew(
    cli: CommandLine, ollama_double: OllamaDouble, change: dict[str, object]
) -> None:
    sources(cli, "a")
    scripted(ollama_double)
    cli.run("-i", "src")
    cli.configure(ollama_double.base_url, **change)
    cli.run("-i", "src")
    assert len(ollama_double.chats("gen:1b")) == 2


def test_not_accepted_is_left_out_too_but_still_exit_1(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a")
    approve(ollama_double, critic=[verdict(10, 10)])
    assert cli.run("-i", "src", "--max-attempts", "1").code == 1
    assert cli.run("-i", "src", "--max-attempts", "1").code == 1
    approve(ollama_double)
    assert cli.run("-i", "src", "--max-attempts", "1", "--retry").code == 0
    approve(ollama_double)
    assert cli.run("-i", "src", "--max-attempts", "1", "--force").code == 0


def test_a_page_that_a_person_edited_does_not_stop_a_batch_in_which_it_is_unchanged(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double)
    cli.run("-i", "src")
    edited = cli.folder / "output" / "a.md"
    edited.write_text(edited.read_text(encoding="utf-8").replace("adds numbers", "adds two numbers"), encoding="utf-8")
    cli.source("src/b.py", f"{SOURCE}\n# A comment.\n")
    assert cli.run("-i", "src").code == 0
    assert "adds two numbers" in edited.read_text(encoding="utf-8")


def test_one_named_file_is_always_done(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    scripted(ollama_double)
    cli.run("-i", "add.py")
    cli.run("-i", "add.py")
    assert len(ollama_double.chats("gen:1b")) == 2


# ------------------------------------------------------------------ taken up again


def test_after_a_kill_no_finished_call_is_repeated(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    reached, released = threading.Event(), threading.Event()

    def wait(_: Body) -> Act:
        reached.set()
        released.wait(20)
        return verdict(100, 100)

    ollama_double.script("gen:1b", *[reply(PAGE)] * 2)
    ollama_double.script("critic:1b", verdict(100, 100), wait, verdict(100, 100))
    ollama_double.script("adj:1b", *[reply(PAGE)] * 2)
    with start(cli, "-i", "src") as process:
        assert reached.wait(30)
        process.kill()
    released.set()
    assert cli.run("-i", "src").code == 0
    # Both drafts were finished before the kill; the verdict that was under way is asked for once more.
    assert len(ollama_double.chats("gen:1b")) == 2
    assert len(ollama_double.chats("critic:1b")) == 3
    assert pages_of(cli) == ["a.md", "b.md"]
    assert not (cli.folder / "output" / ".reflexion" / "checkpoints.sqlite").exists()


def test_what_a_kill_leaves_of_a_file_that_is_done_goes_with_the_next_run(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double)
    cli.run("-i", "src")
    output = cli.folder / "output"
    entry = Manifest(output).entry("b.py")
    assert entry is not None
    with Checkpoints(output) as kept:
        for thread in (thread_of("b.py", entry.basis), f"{thread_of('b.py', entry.basis)}/1-9"):
            place: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
            kept.saver.put(place, empty_checkpoint(), {}, {})
    assert (output / ".reflexion" / "checkpoints.sqlite").exists()
    assert cli.run("-i", "src").code == 0
    assert not (output / ".reflexion" / "checkpoints.sqlite").exists()


def test_resume_takes_up_the_last_run_with_its_own_command(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double, 1)
    ollama_double.script("gen:1b", lambda _: reply(PAGE, wait_s=20))
    with start(cli, "-i", "src", "--jobs", "1") as process:
        while len(ollama_double.chats("gen:1b")) < 2:
            time.sleep(0.05)
        process.kill()
    scripted(ollama_double)
    ended = cli.run("resume")
    assert ended.code == 0
    assert pages_of(cli) == ["a.md", "b.md"]


def test_a_failure_that_would_come_again_is_not_taken_up(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    ollama_double.script("gen:1b", *[reply("")] * 4)
    assert cli.run("-i", "add.py", "--max-attempts", "1").code == 4
    ollama_double.script("gen:1b", *[reply("")] * 4)
    asked = len(ollama_double.chats("gen:1b"))
    assert cli.run("-i", "add.py", "--max-attempts", "1").code == 4
    assert len(ollama_double.chats("gen:1b")) == 2 * asked


def test_two_runs_on_one_folder_are_refused(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    reached = threading.Event()

    def wait(_: Body) -> Act:
        reached.set()
        return reply(PAGE, wait_s=20)

    ollama_double.script("gen:1b", wait)
    with start(cli, "-i", "add.py") as process:
        assert reached.wait(30)
        ended = cli.run("-i", "add.py")
        process.kill()
    assert ended.code == 2
    assert f"another run is writing here (process {process.pid})" in ended.err


# ------------------------------------------------------------------ stopping


def test_ctrl_c_once_finishes_the_call_under_way_and_the_rest_can_be_taken_up(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    sources(cli, "a", "b")
    reached, released = threading.Event(), threading.Event()

    def wait(_: Body) -> Act:
        reached.set()
        released.wait(20)
        return reply(PAGE)

    ollama_double.script("gen:1b", wait, reply(PAGE))
    process = start(cli, "-i", "src", "--jobs", "1")
    assert reached.wait(30)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    released.set()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "waiting for 1 call under way" in out
    assert "1 file not started: interrupted." in out
    assert "the same command takes up the rest" in err
    ollama_double.script("critic:1b", *[verdict(100, 100)] * 2)
    ollama_double.script("adj:1b", *[reply(PAGE)] * 2)
    assert cli.run("-i", "src", "--jobs", "1").code == 0
    assert len(ollama_double.chats("gen:1b")) == 2


def test_fail_fast_stops_at_the_first_failure(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    cli.source("src/a.py", "def broken(:\n")
    ended = cli.run("-i", "src", "--fail-fast")
    assert ended.code == 4
    assert "1 file not started: a file failed (--fail-fast)." in ended.out
    assert ollama_double.chats() == []


def test_fail_fast_side_by_side_is_a_failure_and_no_interrupt(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "b", "c")
    cli.source("src/a.py", "def broken(:\n")
    scripted(ollama_double)
    assert cli.run("-i", "src", "--fail-fast", "--jobs", "3").code == 4


def test_a_refused_output_is_no_run_to_take_up(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a")
    (cli.folder / "output").mkdir()
    (cli.folder / "output" / "a.md").write_text("# Mine\n", encoding="utf-8")
    assert cli.run("-i", "src").code == 2
    assert find_records(cli.folder / "output") == []
    assert cli.run("resume").code == 2
    assert ollama_double.chats() == []


@pytest.mark.parametrize("option", ["--max-tokens", "--max-seconds"])
def test_a_spent_budget_keeps_what_is_finished_and_the_rest_for_later(
    cli: CommandLine, ollama_double: OllamaDouble, option: str
) -> None:
    sources(cli, "a", "b")
    ollama_double.script("gen:1b", lambda _: reply(PAGE, wait_s=1.2))  # One second is over when it has answered.
    scripted(ollama_double)
    ended = cli.run("-i", "src", option, "1")
    assert ended.code == 4
    assert f"are used up ({option})" in ended.out
    assert len(ollama_double.chats()) <= 1
    assert cli.run("-i", "src").code == 0
    assert pages_of(cli) == ["a.md", "b.md"]


def test_a_budget_of_nothing_is_refused_before_anything(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    ended = cli.run("-i", "add.py", "--max-tokens", "0")
    assert ended.code == 2
    assert "budget already spent" in ended.err
    assert ollama_double.requests == []


def test_a_server_that_comes_back_is_waited_for(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, server={"away_s": 30})
    cli.source()
    went_away = threading.Event()

    def go(_: Body) -> Act:
        went_away.set()
        ollama_double.refuse_for(3)
        return reply(PAGE)

    ollama_double.script("gen:1b", go, reply(PAGE))
    ollama_double.script("critic:1b", *[verdict(100, 100)] * 2)
    ollama_double.script("adj:1b", *[reply(PAGE)] * 2)
    assert cli.run("-i", "add.py").code == 0
    assert went_away.is_set()


def test_a_model_that_is_gone_is_not_waited_for(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, server={"away_s": 60})
    cli.source()
    ollama_double.script("gen:1b", reply(PAGE))
    ollama_double.script("critic:1b", *[status(404, "model 'critic:1b' not found")] * 3)
    began = time.monotonic()
    assert cli.run("-i", "add.py").code == 3
    assert time.monotonic() - began < 30
    assert len(ollama_double.chats("critic:1b")) == 1


# ------------------------------------------------------------------ side by side


def test_files_side_by_side_load_each_model_once_a_stage(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, *"abcdef")
    scripted(ollama_double)
    assert cli.run("-i", "src", "--jobs", "6").code == 0
    models = [body["model"].removesuffix(":latest") for body in ollama_double.chats()]
    assert models == ["gen:1b"] * 6 + ["critic:1b"] * 6 + ["adj:1b"] * 6
    record = read_record(find_records(cli.folder / "output")[0])
    assert sorted(entry["source"] for entry in record["files"]) == [f"src/{name}.py" for name in "abcdef"]
    assert record["exit_code"] == 0


def test_lines_of_files_side_by_side_name_their_file(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double)
    out = cli.run("-i", "src", "--jobs", "2").out
    assert re.search(r"^  src/a\.py  round 1  generate", out, re.MULTILINE)
    assert re.search(r"^  src/b\.py  round 1  generate", out, re.MULTILINE)


def test_one_file_that_fails_side_by_side_is_one_failure(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, *"abcd")
    cli.source("src/c.py", "def broken(:\n")
    scripted(ollama_double)
    assert cli.run("-i", "src", "--jobs", "4").code == 4
    assert pages_of(cli) == ["a.md", "b.md", "d.md"]


# ------------------------------------------------------------------ what is beside the pages


def test_kept_blocks_survive_the_next_run(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source()
    scripted(ollama_double)
    cli.run("-i", "add.py")
    path = cli.folder / "output" / "add.md"
    block = "<!-- keep -->\nAsk Ada before you change this.\n<!-- /keep -->"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("Returns the sum of both.\n", f"Returns the sum of both.\n\n{block}\n"), encoding="utf-8"
    )
    assert cli.run("-i", "add.py").code == 0
    assert path.read_text(encoding="utf-8").count(block) == 1


def test_the_index_links_every_page_and_is_not_written_over_a_persons(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    sources(cli, "a", "sub/b")
    scripted(ollama_double)
    cli.run("-i", "src")
    index = cli.folder / "output" / "index.md"
    text = index.read_text(encoding="utf-8")
    assert "(a.md)" in text
    assert "(sub/b.md)" in text
    assert "A module that adds numbers." in text
    index.write_text("# Mine\n", encoding="utf-8")
    ended = cli.run("-i", "src", "--force")
    assert index.read_text(encoding="utf-8") == "# Mine\n"
    assert "is left alone" in ended.out


def test_include_exclude_and_ignore_files(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b", "c", "d")
    (cli.folder / "src" / ".gitignore").write_text("b.py\n", encoding="utf-8")
    (cli.folder / "src" / ".reflexionignore").write_text("c.py\n", encoding="utf-8")
    scripted(ollama_double)
    ended = cli.run("-i", "src", "--exclude", "d.py")
    assert pages_of(cli) == ["a.md"]
    assert "Passed over: 1 excluded by --exclude, 2 ignored" in ended.out


def test_a_dry_run_asks_nobody_and_writes_nothing(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    ended = cli.run("-i", "src", "--dry-run")
    assert ended.code == 0
    assert re.search(r"src/a\.py -> output/a\.md: 1 symbol, about \d+ tokens", ended.out)
    assert "2 files, 2 symbols" in ended.out
    assert "model loads at most" in ended.out
    assert ollama_double.requests == []
    assert not (cli.folder / "output").exists()
