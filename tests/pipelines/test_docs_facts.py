"""What code knows of the source, in the loop: findings decide the fix and the bar, facts reach the generator."""

import pytest

from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from reflexion.verdict import errors_in
from tests.ollama_double import OllamaDouble, reply
from tests.support import PAGE, SOURCE, CommandLine, approve, page, verdict

WRONG_TYPE = PAGE.replace("`ValueError`", "`TypeError`")
INCIDENTS = {
    "wrong exception type": (WRONG_TYPE, "E303", 14),
    "invented message": (PAGE.replace("must not be negative", "is out of range"), "E304", 14),
    "no exceptions are raised": (PAGE[: PAGE.index("Raises")] + "No exceptions are raised.\n", "E306", 14),
    "exception left out": (PAGE[: PAGE.index("Raises")], "E301", 5),
    "wrong default": (PAGE.replace("default `1`", "default `2`"), "P204", 10),
    "parameter left out": ("\n".join(line for line in PAGE.split("\n") if "(`int`, default" not in line), "P201", 9),
    "phantom symbol": (f"{PAGE}\n## `subtract(a, b)`\n\nReturns the difference.\n", "S102", 16),
    "invented history": (
        f"{PAGE}\n## History\n\n| Version | Change | Date |\n| --- | --- | --- |\n| 0.1 | initial version | TBD |\n",
        "H504",
        20,
    ),
    "leftover verdict": (f"{PAGE}\nNo formatting errors or contradictions were found.\n", "T002", 16),
}


def test_the_good_page_has_no_finding() -> None:
    assert verify(PAGE, facts_of_python(SOURCE, "add")) == []


@pytest.mark.parametrize("name", INCIDENTS)
def test_what_the_first_tool_shipped_is_an_error_at_its_line(name: str) -> None:
    document, rule, line = INCIDENTS[name]
    found = [
        (item.rule, item.line) for item in verify(document, facts_of_python(SOURCE, "add")) if item.level == "error"
    ]
    assert (rule, line) in found


def test_an_exact_message_that_is_left_out_is_said(cli: CommandLine) -> None:
    document = PAGE.replace(' with the message "a must not be negative"', "")
    found = [(item.rule, item.level) for item in verify(document, facts_of_python(SOURCE, "add"))]
    assert found == [("E305", "warning")]


def test_a_proven_error_is_the_fix_and_keeps_full_marks_from_the_bar(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    approve(ollama_double, gen=[reply(WRONG_TYPE), reply(PAGE)], critic=[verdict(100, 100), verdict(100, 100)])

    assert cli.run("-i", "add.py").code == 0

    first, second = cli.rounds()
    assert first["contract"] < 100
    assert second["contract"] == 100
    asked = ollama_double.chats("gen:1b")[1]["messages"][-1]["content"]
    assert first["fix"] in asked
    assert "ValueError" in asked
    assert "a must not be negative" in asked


def test_the_facts_reach_the_generator(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    approve(ollama_double)
    cli.run("-i", "add.py")
    asked = ollama_double.chats("gen:1b")[0]["messages"][1]["content"]
    assert '- add(a, b=1) raises ValueError "a must not be negative"' in asked


def test_models_that_approve_everything_cannot_ship_an_error(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    drafts = [document for document, _, _ in list(INCIDENTS.values())[:4]]
    ollama_double.script("gen:1b", *map(reply, drafts))
    ollama_double.script("critic:1b", *[verdict(100, 100)] * 4)
    ollama_double.script("adj:1b", reply(WRONG_TYPE))

    ended = cli.run("-i", "add.py")

    written = (cli.folder / "output" / "add.md").read_text(encoding="utf-8")
    assert ended.code == 0
    assert "repaired=yes" in written
    assert errors_in(verify(written, facts_of_python(SOURCE, "add", "add.py"))) == []


def test_an_adjudicator_that_adds_an_error_loses_to_its_draft(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    approve(ollama_double, adj=[reply(WRONG_TYPE)])
    assert cli.run("-i", "add.py").code == 0
    assert (cli.folder / "output" / "add.md").read_text(encoding="utf-8").startswith(page(1))


def test_the_critic_is_spared_while_code_has_proof(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, critic="when_clean")
    approve(ollama_double, gen=[reply(WRONG_TYPE), reply(PAGE)], critic=[verdict(100, 100)])

    ended = cli.run("-i", "add.py")

    assert ended.code == 0
    first, second = cli.rounds()
    assert (first["skipped"], first["score"], second["skipped"], second["score"]) == (True, None, False, 100)
    assert len(ollama_double.chats("critic:1b")) == 1
    assert "the critic was not asked" in ended.out


def test_rounds_without_a_critic_are_not_unscored(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, critic="when_clean")
    drafts = [document for document, _, _ in list(INCIDENTS.values())[:4]]
    ollama_double.script("gen:1b", *map(reply, drafts))
    ollama_double.script("adj:1b", reply(PAGE))
    ended = cli.run("-i", "add.py")
    assert (ended.code, "stopped: attempts spent" in ended.out) == (1, True)


def test_rules_that_are_off_do_not_block(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, rules={"off": ["E303", "E301", "impossible-exception"]})
    approve(ollama_double, gen=[reply(WRONG_TYPE)], adj=[reply(WRONG_TYPE)])
    assert cli.run("-i", "add.py").code == 0


def test_an_unknown_rule_is_refused_with_the_nearest(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.configure(ollama_double.base_url, rules={"off": ["wrong-defualt"]})
    ended = cli.run("-i", "add.py")
    assert ended.code == 2
    assert 'did you mean "wrong-default"?' in ended.err


def test_a_written_page_names_its_source_and_tells_drift(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    approve(ollama_double)
    cli.run("-i", "add.py")
    assert cli.run("check", "output").out == "1 document: 0 errors, 0 warnings\n"
    cli.source(text=SOURCE.replace("return a + b", "return b + a"))
    ended = cli.run("check", "output/add.md")
    assert ended.code == 0
    assert "D101" in ended.out
    assert "changed: add" in ended.out
    assert cli.run("check", "output", "--strict").code == 1


def test_check_on_the_command_line(cli: CommandLine) -> None:
    (cli.folder / "add.md").write_text(WRONG_TYPE, encoding="utf-8")
    ended = cli.run("check", "add.md", "--source", "add.py", "--format", "json")
    assert ended.code == 1
    assert '"rule": "E303"' in ended.out
    assert cli.run("check", "gone.md", "--source", "add.py").code == 2
    assert cli.run("check", "add.md").code == 2
    assert cli.run("check", "add.md", "--known-only").code == 0
    assert cli.run("check", "add.md", "--format", "xml").code == 2


def test_the_rules_are_listed(cli: CommandLine) -> None:
    ended = cli.run("rules")
    assert ended.code == 0
    assert "E303  error" in ended.out
    assert "T001" in ended.out
