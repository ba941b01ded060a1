"""``reflexion code``: what people type, what they read, and the exit code, where no candidate has to run."""

from pathlib import Path

import pytest

from reflexion.team import folder as folders
from tests.code_support import PROMPT, design
from tests.ollama_double import OllamaDouble, reply
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine

# Refused for what they say, so that nothing has to run.
UNSOUND = design("def test_nothing():\n    assert True\n")


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    line = CommandLine(tmp_path, capsys)
    line.configure(ollama_double.base_url, sandbox={"mode": "process"})
    return line


def test_without_a_sandbox_nothing_is_asked(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, sandbox={"mode": "off"})
    ended = cli.run("code", "--prompt", PROMPT)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "sandbox: switched off" in ended.err
    assert ollama_double.requests == []


def test_the_lesser_sandbox_is_said_to_be_no_boundary(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    ollama_double.script("adj:1b", *[UNSOUND] * 3)
    ended = cli.run("code", "--prompt", PROMPT, "--output", "out")
    assert ended.code == 1
    assert "[1/1] prompt" in ended.out
    assert "no security boundary" in ended.out
    assert "process, no boundary" in (cli.folder / "out" / "run.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give --prompt or --input"),
        (("--prompt", "x", "--input", "task.md"), "one request at a time"),
        (("--prompt", " "), "--prompt: is empty"),
        (("--prompt", " \t\n\u3000"), "--prompt: is empty"),
        (("--prompt", "caf\udcc3"), "--prompt: is not UTF-8 text (character 4)"),
        (("--input", "gone.md"), "gone.md: no such file"),
        (("--prompt", "x", "--format", "xml"), '"xml" is unknown'),
        (
            ("--prompt", "x", "--allow-import", "os; print"),
            "should be the name of a module, such as os or xml.dom (found",
        ),
        (("--prompt", "x", "--model", "DEVELOPER"), "should be ROLE=NAME"),
        (("--prompt", "x", "--model", "DEVELOPR=a"), 'did you mean "DEVELOPER"'),
        (("--prompt", "x", "--max-debug-iterations", "-1"), "max_debug_iterations"),
        (("--prompt", "x", "--output", "config.json"), "is not a folder"),
        (
            ("--prompt", "x", "--output", "theirs"),
            "theirs/notes.txt: is not one of reflexion's files; name another --out",
        ),
        (("--input", "own/draft/report.md", "--output", "own"), "own/draft/report.md: is an input"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_2(
    cli: CommandLine, ollama_double: OllamaDouble, arguments: tuple[str, ...], said: str
) -> None:
    (cli.folder / "theirs").mkdir()
    (cli.folder / "theirs" / "notes.txt").write_text("mine", encoding="utf-8")
    (cli.folder / "own" / "draft").mkdir(parents=True)
    (cli.folder / "own" / "draft" / "report.md").write_text(PROMPT, encoding="utf-8")
    ended = cli.run("code", *arguments)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert said in ended.err
    assert ollama_double.requests == []


@pytest.mark.parametrize("option", ["--prompt", "-p", "--fix", "--tests"])
def test_an_option_of_code_without_its_name_is_told_where_it_belongs(cli: CommandLine, option: str) -> None:
    for arguments in ((option, "x"), ("--overwrite", f"{option}=x")):
        ended = cli.run(*arguments)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert f"{option} is an option of another command; write: reflexion code {option} ..." in ended.err


@pytest.mark.parametrize(
    "prompt",
    [
        "### SPECIFICATIONS\nNone.\n### TESTS\n```python\nx = 1\n```\n### REQUEST\n<<<",
        "say so. " * 2_000,
    ],
)
def test_a_prompt_of_any_text_is_one_request(cli: CommandLine, ollama_double: OllamaDouble, prompt: str) -> None:
    ollama_double.script("adj:1b", *[UNSOUND] * 3)
    ended = cli.run("code", "--prompt", prompt, "--output", "out")
    assert (ended.code, len(ollama_double.chats())) == (1, 3), ended
    assert ended.err == ""
    assert (cli.folder / "out" / "report.md").exists()


def test_a_prompt_that_does_not_fit_the_window_fails_in_a_line(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    ended = cli.run("code", "--prompt", "say so. " * 12_500, "--output", "out")
    assert (ended.code, ollama_double.chats()) == (4, []), ended
    assert "too many for a window of 8192" in ended.out


def test_a_missing_model_of_a_role_is_named(cli: CommandLine) -> None:
    ended = cli.run("code", "--prompt", PROMPT, "--model", "REVIEWER=gone:1b")
    assert ended.code == 3
    assert "REVIEWER gone:1b" in ended.err
    assert "ollama pull gone:1b" in ended.err


def test_the_result_of_another_prompt_is_not_replaced(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    ollama_double.script("adj:1b", *[UNSOUND] * 9)
    assert cli.run("code", "--prompt", PROMPT, "--output", "out").code == 1
    other = cli.run("code", "--prompt", "Something else.", "--output", "out")
    assert (other.code, "holds the result of another request" in other.err) == (2, True)
    assert cli.run("code", "--prompt", "Something else.", "--output", "out", "--overwrite").code == 1
    assert "Something else." in (cli.folder / "out" / "report.md").read_text(encoding="utf-8")


def test_a_verified_result_stays_and_the_other_goes_below_it(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    (cli.folder / "task.md").write_text(PROMPT, encoding="utf-8")
    folders.write(cli.folder / "out", {"solution.py": "x = 1\n"}, {"outcome": "accepted", "source": "task.md"})
    ollama_double.script("adj:1b", *[UNSOUND] * 3)

    ended = cli.run("code", "--input", "task.md", "--output", "out")

    assert (ended.code, "-> out/draft" in ended.out) == (1, True)
    assert (cli.folder / "out" / "solution.py").read_text(encoding="utf-8") == "x = 1\n"
    assert (cli.folder / "out" / "draft" / "report.md").exists()


def test_a_folder_of_tasks_leaves_out_what_did_not_change(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    for name in ("one.md", "two.txt"):
        (cli.folder / "tasks").mkdir(exist_ok=True)
        (cli.folder / "tasks" / name).write_text(f"{PROMPT} {name}", encoding="utf-8")
    ollama_double.script("adj:1b", *[UNSOUND] * 9)

    first = cli.run("code", "--input", "tasks", "--output", "out")
    assert first.code == 1
    assert {path.parent.name for path in (cli.folder / "out").glob("*/run.json")} == {"one", "two"}
    assert len(ollama_double.chats()) == 6

    again = cli.run("code", "--input", "tasks", "--output", "out")
    assert (again.code, "2 of 2 files unchanged" in again.out, len(ollama_double.chats())) == (1, True, 6)

    (cli.folder / "tasks" / "two.txt").write_text("Changed.", encoding="utf-8")
    assert cli.run("code", "--input", "tasks", "--output", "out").code == 1
    assert len(ollama_double.chats()) == 9
    record = cli.run("runs", "--output", "out")
    assert record.out.count("not accepted") == 2


def test_one_task_that_fails_is_one_failure(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    (cli.folder / "tasks").mkdir()
    (cli.folder / "tasks" / "bad.md").write_bytes(b"\xff\xfe")
    (cli.folder / "tasks" / "good.md").write_text(PROMPT, encoding="utf-8")
    ollama_double.script("adj:1b", *[UNSOUND] * 3)

    ended = cli.run("code", "--input", "tasks", "--output", "out")

    assert ended.code == 4
    assert "UTF-16" in ended.out
    assert (cli.folder / "out" / "good" / "report.md").exists()


def test_own_words(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    (cli.folder / "words").mkdir()
    (cli.folder / "words" / "code.toml").write_text('[ARCHITECT]\nsystem = "Be brief."\n', encoding="utf-8")
    cli.configure(ollama_double.base_url, sandbox={"mode": "process"}, prompts="words")
    shown = cli.run("prompts", "show", "code")
    assert (shown.code, "Be brief." in shown.out) == (0, True)
    assert "Be brief." not in cli.run("prompts", "show").out  # A folder may hold the words of one pipeline alone.
    assert cli.run("prompts", "show", "codes").code == 2
    ollama_double.script("adj:1b", *[UNSOUND] * 3)
    assert cli.run("code", "--prompt", PROMPT).code == 1
    assert ollama_double.chats()[0]["messages"][0]["content"] == "Be brief."


def test_a_docs_page_does_not_depend_on_the_settings_of_code(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    from reflexion.config import Config
    from reflexion.manifest import settings_digest

    plain, other = Config(), Config.model_validate({"max_debug_iterations": 9, "code": {"limit_s": 1}})
    assert settings_digest(plain) == settings_digest(other)
    assert settings_digest(plain, "code") != settings_digest(other, "code")
    bar = Config.model_validate({"quality_score_bar": 50})
    assert settings_digest(plain, "code") == settings_digest(bar, "code")


def test_control_characters_of_a_model_do_not_reach_the_terminal(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    bell = reply("### SPECIFICATIONS\nWords.\n### TESTS\n```python\ndef test_\x1b]0;x\x07():\n    assert True\n```\n")
    ollama_double.script("adj:1b", *[bell] * 3)
    ended = cli.run("code", "--prompt", PROMPT)
    assert ended.code == 1
    assert not set("\x1b\x07") & set(ended.out)


def test_the_sandbox_is_needed_by_default(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    bubblewrap()
    cli.configure(ollama_double.base_url)
    ollama_double.script("adj:1b", *[UNSOUND] * 3)
    ended = cli.run("code", "--prompt", PROMPT, "--output", "out")
    assert (ended.code, "boundary" in ended.out) == (1, False)
    assert '"sandbox": "bubblewrap"' in (cli.folder / "out" / "run.json").read_text(encoding="utf-8")
