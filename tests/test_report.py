"""What people see: on a terminal, elsewhere, and with names that look like markup."""

import io

from rich.console import Console

from reflexion.events import FileFinished, FileStarted, NodeStarted, RoundScored, TokensReceived
from reflexion.report import ConsoleReporter

NAME = "[bold]:key:[/bold].py"


def show(*, terminal: bool, verbose: bool = False, fix: str = "Mend it.", score: int | None = 80) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=200, emoji=False)
    with ConsoleReporter(console, verbose=verbose) as reporter:
        reporter(FileStarted(NAME, 1, 2))
        reporter(NodeStarted(NAME, "generate", 1, "gen:1b"))
        reporter(TokensReceived(NAME, "generate", 50, 2.0))
        reporter(NodeStarted(NAME, "critique", 1, "critic:1b"))
        reporter(RoundScored(NAME, 1, score, score, 70, score, 95, 1, 2, fix, "cut short"))
        reporter(FileFinished(NAME, "not accepted", "out.md", (score,), 1, "plateau", 2.5, 60, "a detail"))
        reporter(FileFinished("b.py", "failed", "", (), 0, "", 0.0, 0, "binary"))
        reporter.finish(4)
    return stream.getvalue()


def test_a_terminal_shows_the_node_at_work_with_time_and_speed() -> None:
    shown = show(terminal=True)
    assert "generate gen:1b" in shown
    assert "50 tokens, 2.0 s, 25 tokens/s" in shown
    assert "0:00:0" in shown


def test_elsewhere_there_are_plain_lines_and_a_table() -> None:
    shown = show(terminal=False)
    assert "\x1b" not in shown
    assert "  round 1  generate   gen:1b  50 tokens, 2.0 s, 25 tokens/s\n" in shown
    assert "accuracy 80, completeness 80: 80 (-15 against the bar of 95); contract 70, 1 error, 2 warnings" in shown
    assert "scores 80; attempts 1; stopped: plateau; model 2.5 s, 60 tokens" in shown
    assert "Summary" in shown
    assert "binary" in shown


def test_names_and_fixes_are_shown_as_they_are() -> None:
    shown = show(terminal=False, fix="Use [link=x]:smile:[/link].")
    assert NAME in shown
    assert "Use [link=x]:smile:[/link]." in shown


def test_a_round_without_a_score_says_why() -> None:
    assert "round 1  no score: cut short" in show(terminal=False, score=None)


def test_long_fixes_are_shortened_unless_asked_for() -> None:
    assert "x" * 300 not in show(terminal=False, fix="x" * 300)
    assert "x" * 300 in show(terminal=False, fix="x" * 300, verbose=True)
