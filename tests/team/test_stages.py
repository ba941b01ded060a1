"""How the stages are shown: panels and highlighted code on a terminal, plain lines elsewhere."""

import io

import pytest
from rich.console import Console

from reflexion.events import (
    CandidateProposed,
    CodeFinished,
    Event,
    FileFinished,
    FileStarted,
    Member,
    NodeStarted,
    Reviewed,
    SuiteRan,
    SuiteVetted,
    TeamAssembled,
)
from reflexion.report import ConsoleReporter
from tests.code_support import SOLUTION, SPECIFICATION, TESTS

EVENTS: tuple[Event, ...] = (
    TeamAssembled(
        (Member("ARCHITECT", "a:1b", "high", "specification and tests"), Member("REVIEWER", "r:1b", "", "w"))
    ),
    FileStarted("prompt", 1, 1),
    SuiteVetted("prompt", 1, False, ("Write tests.",), SPECIFICATION, "x = 1\n"),
    SuiteVetted("prompt", 2, True, (), SPECIFICATION, TESTS),
    NodeStarted("prompt", "develop", 1, "d:1b"),
    CandidateProposed("prompt", 1, "DEVELOPER", "d:1b", "", "", "the reply was cut"),
    CandidateProposed("prompt", 2, "DEBUGGER", "d:1b", "The bound is [red]wrong[/red].", SOLUTION, ""),
    SuiteRan("prompt", 2, False, "one failed", 5, 4, ("test_one",), (), "isolated"),
    SuiteRan("prompt", 3, False, "line 1", 0, 0, (), ("line 1: imports os",), "in-process"),
    SuiteRan("prompt", 4, True, "", 5, 5, (), (), "isolated"),
    Reviewed("prompt", "All works."),
    Reviewed("prompt", "", "the reply is empty"),
    CodeFinished("prompt", "accepted", SOLUTION, "", 4, 5, 5, (), "isolated", 12.3, 4567, 890),
    FileFinished("prompt", "accepted", "out", (None, 80, 0, 100), 4, "tests pass", 11.0, 890),
)


def shown(*, terminal: bool, verbose: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=100, force_terminal=terminal, color_system="standard" if terminal else None)
    with ConsoleReporter(console, verbose=verbose) as reporter:
        for event in EVENTS:
            reporter(event)
        reporter.finish(0)
    return stream.getvalue()


def test_plain_lines_elsewhere() -> None:
    lines = [line.strip() for line in shown(terminal=False).splitlines()]
    for line in (
        "suite 1: sent back",
        "Write tests.",
        "suite 2: sound",
        "candidate 1 of DEVELOPER: not usable: the reply was cut",
        "diagnosis: The bound is [red]wrong[/red].",
        "candidate 2 of DEBUGGER: 8 lines",
        "tests of candidate 2: 4 of 5 tests pass (isolated)",
        "FAILED test_one",
        "tests of candidate 3: not run",
        "scan: line 1: imports os",
        "tests of candidate 4: 5 of 5 tests pass (isolated)",
        "review: All works.",
        "review left out: the reply is empty",
        "% passed -, 80, 0, 100; candidates 4; stopped: tests pass; model 11.0 s, 890 tokens",
    ):
        assert line in lines
    assert "def clamp" not in "\n".join(lines)
    assert "\x1b" not in "\n".join(lines)


@pytest.mark.parametrize("terminal", [True, False])
def test_tables_of_the_team_and_of_the_result(terminal: bool) -> None:
    text = shown(terminal=terminal)
    for word in ("ARCHITECT", "high", "specification and tests", "12.3 s", "5 of 5, isolated", "4567", "890"):
        assert word in text


def test_panels_with_highlighted_code_on_a_terminal() -> None:
    text = shown(terminal=True)
    assert "\x1b[" in text
    for title in ("specification 2", "suite 2: sound", "diagnosis, DEBUGGER", "candidate 2 of DEBUGGER", "solution.py"):
        assert title in text


def test_long_code_is_cut_unless_asked_for() -> None:
    global_lines = "".join(f"x_{number} = {number}\n" for number in range(99))
    event = CandidateProposed("prompt", 1, "DEVELOPER", "d:1b", "", global_lines, "")
    texts = []
    for verbose in (False, True):
        stream = io.StringIO()
        with ConsoleReporter(Console(file=stream, width=100, force_terminal=True), verbose=verbose) as reporter:
            reporter(event)
        texts.append(stream.getvalue())
    assert "99 lines in all" in texts[0]
    assert "98" not in texts[0]
    assert "98" in texts[1]
