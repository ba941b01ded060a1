"""What people see: on a terminal, elsewhere, and with names that look like markup."""

import io
from collections.abc import Sequence

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


def closing_table(outcomes: Sequence[str]) -> str:
    stream = io.StringIO()
    with ConsoleReporter(Console(file=stream, width=200), quiet=True) as reporter:
        for number, outcome in enumerate(outcomes):
            reporter(FileFinished(f"f{number}.py", outcome, "", (), 0, "", 0.0, 0))
        reporter.finish(4)
    return stream.getvalue()


def test_the_table_of_a_large_batch_has_counts_and_what_was_not_accepted() -> None:
    shown = closing_table(["accepted"] * 500 + ["failed"] + ["not accepted"] * 2)
    assert "500 accepted, 2 not accepted, 1 failed" in shown
    assert "f500.py" in shown
    assert "f502.py" in shown
    assert "f1.py" not in shown


def test_the_table_stays_short_when_everything_failed() -> None:
    shown = closing_table(["failed"] * 900)
    assert "900 failed; the first 200 of 900 not accepted" in shown
    assert len(shown.splitlines()) < 220


def test_the_table_of_a_small_batch_has_every_file() -> None:
    assert "f199.py" in closing_table(["accepted"] * 200)
