"""Whole-graph tests of the code pipeline: command line, graph, client, a real HTTP server and the real sandbox."""

import json
from pathlib import Path

import pytest

from reflexion.config import Role
from reflexion.pipelines import code
from tests.code_support import (
    LIMIT_S,
    LIMITER,
    LIMITER_PROMPT,
    LIMITER_TESTS,
    PROMPT,
    RACY_LIMITER,
    SOLUTION,
    TEAM,
    TESTS,
    WRONG,
    design,
    loop,
    module,
    patch,
    result,
    team,
)
from tests.conftest import MakeDouble
from tests.ollama_double import Act, ModelInfo, OllamaDouble, reply, runaway, status
from tests.sandbox_support import bubblewrap
from tests.support import MODELS, CommandLine, Ended
from tests.test_events import DOCUMENTED


@pytest.fixture(autouse=True)
def _needs_the_sandbox() -> None:
    bubblewrap()


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    line = CommandLine(tmp_path, capsys)
    configure(line, ollama_double)
    return line


def configure(cli: CommandLine, double: OllamaDouble, **more: object) -> None:
    cli.configure(double.base_url, code={"limit_s": LIMIT_S}, **more)


def solve(cli: CommandLine, *args: str, prompt: str = PROMPT) -> Ended:
    return cli.run("code", "--prompt", prompt, "--output", "out", *args)


def written(cli: CommandLine, name: str = "solution.py") -> str:
    return (cli.folder / "out" / name).read_text(encoding="utf-8")


def asked(double: OllamaDouble, model: str, call: int = -1) -> str:
    return str(double.chats(model)[call]["messages"][-1]["content"])


def test_passes_the_first_time(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    team(ollama_double, [design()], [module()])

    ended = solve(cli)

    assert ended.code == 0, ended.out
    assert written(cli) == SOLUTION
    assert written(cli, "test_solution.py") == TESTS
    assert written(cli, "report.md").startswith("# Verified: A function clamp")
    run = result(cli)
    assert (run["outcome"], run["stop"], run["iterations"]) == ("accepted", "tests pass", 1)
    assert run["tests"] == {"total": 5, "passed": 5, "failing": []}
    assert run["mode"] in ("isolated", "in-process")
    assert run["mode"] in written(cli, "report.md")
    assert run["review"] == "All that was asked for works."
    assert sorted(path.name for path in (cli.folder / "out").iterdir() if path.name[0] != ".") == [
        "report.md",
        "run.json",
        "solution.py",
        "test_solution.py",
    ]
    ollama_double.assert_all_played()


def test_a_race_is_found_diagnosed_and_mended(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    why = "Stamps are pruned before the lock is taken, so one thread drops what another has added. I prune under it."
    team(ollama_double, [design(LIMITER_TESTS)], [module(RACY_LIMITER), patch(LIMITER, why)])

    ended = solve(cli, prompt=LIMITER_PROMPT)

    assert ended.code == 0, ended.out
    assert written(cli) == LIMITER
    first, second = result(cli)["attempts"]
    assert [item["test"] for item in first["failures"]] == ["test_threads_together_get_no_more_than_the_limit"]
    assert (second["diagnosis"], second["passed"]) == (why, 4)
    assert "test_threads_together_get_no_more_than_the_limit" in asked(ollama_double, "gen:1b")
    assert why in asked(ollama_double, "critic:1b")
    assert why in written(cli, "report.md")


def test_attempts_spent_names_the_failing_tests_and_keeps_the_best(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    team(ollama_double, [design()], [module(WRONG[1]), patch(WRONG[3]), patch(WRONG[2]), patch(WRONG[4])])

    ended = solve(cli)

    assert ended.code == 1
    assert "test_bounds_in_the_wrong_order" in ended.out
    assert (result(cli)["stop"], result(cli)["tests"]["failing"]) == (
        "attempts spent",
        ["test_bounds_in_the_wrong_order"],
    )
    assert written(cli) == WRONG[4]
    assert written(cli, "report.md").startswith("# Not verified")
    # The third reply was asked for the best candidate so far.
    assert WRONG[3] in asked(ollama_double, "gen:1b", 3)


def test_unsound_tests_go_back_with_the_reasons(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    unsound = "def test_nothing():\n    assert True\n"
    team(ollama_double, [design(unsound), design()], [module()])

    assert solve(cli).code == 0
    first, second = result(cli)["suites"]
    assert (bool(first["reasons"]), second["reasons"]) == (True, [])
    assert first["reasons"][0] in asked(ollama_double, "adj:1b")
    assert unsound in asked(ollama_double, "adj:1b")


def test_tests_that_stay_unsound_end_the_run_with_the_reasons(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    unsound = "def test_nothing():\n    assert True\n"
    ollama_double.script("adj:1b", *[design(unsound)] * 3)

    ended = solve(cli)

    assert ended.code == 1
    run = result(cli)
    assert run["stop"] == "unsound tests"
    assert run["suites"][-1]["reasons"][0] in " ".join(ended.out.split())
    assert run["suites"][-1]["reasons"][0] in run["why"]
    assert not (cli.folder / "out" / "test_solution.py").exists()
    assert not (cli.folder / "out" / "solution.py").exists()


def test_a_debugger_that_edits_the_tests_changes_nothing(ollama_double: OllamaDouble) -> None:
    weaker = TESTS.replace("assert clamp(-3, 0, 10) == 0", "assert clamp(-3, 0, 10) == -3")
    only_tests = reply(f"### DIAGNOSIS\nThe test is wrong.\n### PATCHED_CODE\n```python\n{weaker}```\n")
    both = reply(
        f"### DIAGNOSIS\nThe test is wrong.\n### PATCHED_CODE\n```python\n{WRONG[3]}```\n"
        f"And test_solution.py:\n```python\n{weaker}```\n"
    )

    state = loop(ollama_double, [module(WRONG[3]), only_tests, both])

    assert (state["tests"], code.accepted(state), state["stop"]) == (TESTS, False, "the same code once more")
    assert "the tests are locked" in state["attempts"][1]["trouble"]
    assert [item["draft"] for item in state["attempts"]] == [WRONG[3], "", WRONG[3]]


def test_no_gain_in_two_rounds_stops(ollama_double: OllamaDouble) -> None:
    again = WRONG[3].replace("min(value, high)", "min(high, value)")

    state = loop(ollama_double, [module(WRONG[3]), patch(WRONG[1]), patch(again)], iterations=9)

    assert (state["stop"], len(state["attempts"])) == ("no gain in two rounds", 3)
    # What was tried is told to the one who tries next.
    assert "1 of 5 tests passed" in asked(ollama_double, "gen:1b")


@pytest.mark.parametrize(("reply_of_big", "stop"), [(SOLUTION, "tests pass"), (WRONG[3], "the same code once more")])
def test_the_same_code_again_escalates_where_there_is_someone(
    make_ollama_double: MakeDouble, reply_of_big: str, stop: str
) -> None:
    double = make_ollama_double({name: ModelInfo() for name in ("gen:1b", "critic:1b", "big:9b")})
    double.script("big:9b", patch(reply_of_big))

    state = loop(
        double, [module(WRONG[3]), patch(WRONG[3])], models=TEAM | {Role.DEBUGGER_ESCALATION: "big:9b"}, iterations=9
    )

    assert state["stop"] == stop
    assert [item["role"] for item in state["attempts"]] == ["DEVELOPER", "DEBUGGER", "DEBUGGER_ESCALATION"]
    double.assert_all_played()


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (reply(f"```python\n{SOLUTION}", done_reason="length"), "cut"),
        (reply("   "), "empty"),
        (runaway("def clamp(): pass\n"), "repeat"),
        (reply("I cannot help with that."), "no python code"),
        (reply("```python\ndef clamp(:\n```"), "does not parse"),
    ],
    ids=["cut", "empty", "runaway", "chatter", "broken"],
)
def test_a_reply_that_cannot_be_used_costs_an_iteration_and_is_named(
    ollama_double: OllamaDouble, bad: Act, named: str
) -> None:
    again = [bad] if named in ("cut", "empty") else []  # Asked for once more by the client itself.

    state = loop(ollama_double, [bad, *again, module(WRONG[3]), bad, *again, patch()])

    assert code.accepted(state)
    assert [bool(item["draft"]) for item in state["attempts"]] == [False, True, False, True]
    assert all(named in state["attempts"][place]["trouble"] for place in (0, 2))
    assert state["attempts"][0]["trouble"] in asked(ollama_double, "gen:1b", 1 + len(again))


def test_a_candidate_that_is_given_is_tested_before_anyone_is_asked(ollama_double: OllamaDouble) -> None:
    state = loop(ollama_double, [patch()], candidate=WRONG[4])

    assert [item["role"] for item in state["attempts"]] == ["given", "DEBUGGER"]
    assert WRONG[4] in asked(ollama_double, "gen:1b")


def test_no_cut_reply_becomes_a_file(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cut = reply(f"```python\n{SOLUTION}```", done_reason="length")
    team(ollama_double, [design()], [cut] * 8)

    assert solve(cli).code == 1
    assert not (cli.folder / "out" / "solution.py").exists()
    assert (result(cli)["stop"], result(cli)["iterations"]) == ("attempts spent", 4)


def test_a_cut_suite_is_sent_back(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cut = reply(f"### SPECIFICATIONS\nText.\n### TESTS\n```python\n{TESTS}", done_reason="length")
    team(ollama_double, [cut, cut, design()], [module()])

    assert solve(cli).code == 0
    assert "cut" in result(cli)["suites"][0]["reasons"][0]


def test_chatter_and_fences_round_a_reply(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    suite = f"## 1. Specification:\n{PROMPT}\n\n**Tests**\n\n```py\n{TESTS}```"
    usage = "Use it like this:\n\n```python\nprint(clamp(1, 2, 3))\n```"
    team(
        ollama_double,
        [reply(f"Sure! Here it is:\n\n````markdown\n{suite}\n````\n")],
        [reply(f"Here is the module:\n\n~~~python3\n{SOLUTION}~~~\n\n{usage}\n")],
        [reply("Sure!\n\nIt works.\n\nLet me know if you need anything else!")],
    )

    assert solve(cli).code == 0
    assert (written(cli), written(cli, "test_solution.py")) == (SOLUTION, TESTS)
    assert result(cli)["review"] == "It works."


def test_a_reviewer_cannot_change_the_outcome(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    points = " ".join(f"I have looked at point {number} and it is verified." for number in range(40))
    praise = reply(f"Approved. {points}")
    team(ollama_double, [design()], [module(WRONG[4])], [praise])

    ended = solve(cli, "--max-debug-iterations", "0")

    assert ended.code == 1
    assert (result(cli)["outcome"], result(cli)["stop"]) == ("not accepted", "attempts spent")
    assert written(cli, "report.md").startswith("# Not verified")
    review = result(cli)["review"]
    assert len(review.split()) <= 150
    assert review.endswith("verified.")
    assert "NOT VERIFIED" in asked(ollama_double, "critic:1b")
    assert "test_bounds_in_the_wrong_order" in asked(ollama_double, "critic:1b")


def test_without_a_review_the_result_stands(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    team(ollama_double, [design()], [module()], [reply(""), reply("")])

    assert solve(cli).code == 0
    assert "There is none: REVIEWER (critic:1b): the reply is empty" in written(cli, "report.md")


def test_each_role_sees_what_its_job_needs_and_has_no_tool(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    team(ollama_double, [design()], [module(WRONG[3]), patch()])

    assert solve(cli).code == 0
    develop, debug = (chat["messages"][-1]["content"] for chat in ollama_double.chats("gen:1b"))
    reviewed = asked(ollama_double, "critic:1b")
    assert all(TESTS in text for text in (develop, debug))
    assert (PROMPT in develop, PROMPT in debug, PROMPT in reviewed) == (True, False, True)
    assert TESTS not in reviewed
    assert SOLUTION not in reviewed
    assert all(not chat.get("tools") for chat in ollama_double.chats())


def test_thinking_is_asked_only_of_models_that_have_it(cli: CommandLine, make_ollama_double: MakeDouble) -> None:
    models = {name: ModelInfo() for name in MODELS.values()}
    models["adj:1b"] = ModelInfo(capabilities=("completion", "thinking"))
    double = make_ollama_double(models)
    configure(cli, double)
    team(double, [design()], [module()])

    assert solve(cli).code == 0
    assert [chat.get("think") for chat in double.chats()] == ["high", None, None]
    assert [chat["options"]["temperature"] for chat in double.chats()] == [0.2, 0.2, 0.2]


def test_roles_of_their_own(cli: CommandLine, make_ollama_double: MakeDouble) -> None:
    names = {"ARCHITECT": "a:1b", "DEVELOPER": "d:1b", "DEBUGGER": "b:1b", "REVIEWER": "r:1b"}
    double = make_ollama_double({name: ModelInfo() for name in names.values()})
    configure(cli, double, model_registry=MODELS | names)
    double.script("a:1b", design())
    double.script("d:1b", module(WRONG[3]))
    double.script("b:1b", patch())
    double.script("r:1b", reply("Works."))

    assert solve(cli).code == 0
    assert [chat["model"] for chat in double.chats()] == ["a:1b", "d:1b", "b:1b", "r:1b"]


def test_a_server_that_fails_fails_the_task_and_finished_calls_are_not_repeated(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    team(ollama_double, [design()], [module(WRONG[3]), status(500, "something broke")], [])

    assert solve(cli).code == 4
    assert not (cli.folder / "out" / "solution.py").exists()

    team(ollama_double, [], [patch()])
    assert cli.run("resume", "--output", "out").code == 0
    assert [len(ollama_double.chats(model)) for model in ("adj:1b", "gen:1b", "critic:1b")] == [1, 3, 1]
    assert written(cli) == SOLUTION


def test_events_as_json(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    team(ollama_double, [design()], [module(WRONG[3]), patch()])

    ended = solve(cli, "--format", "json")

    events = [json.loads(line) for line in ended.out.splitlines()]
    kinds = [event["event"] for event in events]
    assert [kind for kind in kinds if kind not in ("note", "node_started")] == [
        "team_assembled",
        "file_started",
        "suite_vetted",
        "candidate_proposed",
        "suite_ran",
        "candidate_proposed",
        "suite_ran",
        "reviewed",
        "code_finished",
        "file_finished",
        "run_finished",
    ]
    for event in events:
        assert list(event)[1:] == DOCUMENTED[event["event"]]
    assert [event["node"] for event in events if event["event"] == "node_started"] == [
        "architect", "vet", "develop", "test", "debug", "test", "review",
    ]  # fmt: skip
    assert [member["role"] for member in events[kinds.index("team_assembled")]["members"]] == [
        "ARCHITECT", "DEVELOPER", "DEBUGGER", "REVIEWER",
    ]  # fmt: skip


def test_a_candidate_that_imports_what_it_may_not(ollama_double: OllamaDouble) -> None:
    state = loop(ollama_double, [module(f"import subprocess\n{SOLUTION}"), patch()])

    assert code.accepted(state)
    first = state["attempts"][0]["run"]
    assert first is not None
    assert (first["flags"][0]["line"], first["passed"]) == (1, False)
    assert "subprocess" in asked(ollama_double, "gen:1b")


def test_imports_are_allowed_by_name(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    team(ollama_double, [design()], [module(f"import curses.ascii\n{SOLUTION}")])

    assert solve(cli, "--allow-import", "curses.ascii").code == 0
    assert "curses.ascii" in asked(ollama_double, "gen:1b")
