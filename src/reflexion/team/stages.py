"""How the stages of the code pipeline are shown: panels and tables on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from reflexion.events import (
    CandidateProposed,
    CodeEvent,
    CodeFinished,
    DiffShown,
    Reviewed,
    SuiteRan,
    SuiteVetted,
    TeamAssembled,
)
from reflexion.text.shown import visible

Part = RenderableType
THEME = "ansi_dark"
# Lines of a suite or candidate that are shown; with --verbose all of them.
MOST_LINES = 40
_DIFF = {"+": "green", "-": "red", "@": "cyan"}


def render(event: CodeEvent, *, terminal: bool, verbose: bool) -> Iterator[Part]:
    """Yield what is shown of an event: texts are lines, everything else is for a terminal."""
    shows: dict[type, Callable[[Any], Iterator[Part]]] = {
        TeamAssembled: _team,
        SuiteVetted: lambda one: _suite(one, terminal=terminal, verbose=verbose),
        CandidateProposed: lambda one: _candidate(one, terminal=terminal, verbose=verbose),
        SuiteRan: lambda one: _ran(one, terminal=terminal),
        Reviewed: lambda one: _review(one, terminal=terminal),
        DiffShown: _diff,
        CodeFinished: lambda one: _finished(one, terminal=terminal),
    }
    return shows[type(event)](event)


def _team(event: TeamAssembled) -> Iterator[Part]:
    table = Table(title="Team", title_justify="left")
    for heading in ("role", "model", "thinking", "duty"):
        table.add_column(heading, overflow="fold")
    for member in event.members:
        table.add_row(member.role, escape(member.model), member.thinking or "-", member.duty)
    yield table


def _suite(event: SuiteVetted, *, terminal: bool, verbose: bool) -> Iterator[Part]:
    title = f"suite {event.round}: {'sound' if event.sound else 'sent back'}"
    if terminal and event.tests:
        yield _panel(Text(visible(event.specification)), f"specification {event.round}")
        yield _panel(_code(event.tests, all_of_it=verbose), title, "green" if event.sound else "yellow")
    else:
        yield title
    yield from (f"  {visible(reason)}" for reason in event.reasons)


def _candidate(event: CandidateProposed, *, terminal: bool, verbose: bool) -> Iterator[Part]:
    title = f"candidate {event.round} of {event.role}"
    if event.diagnosis:
        yield (
            _panel(Text(visible(event.diagnosis)), f"diagnosis, {event.role}")
            if terminal
            else (f"diagnosis: {visible(event.diagnosis)}")
        )
    if event.trouble:
        yield f"{title}: not usable: {visible(event.trouble)}"
    elif terminal:
        yield _panel(_code(event.code, all_of_it=verbose), title)
    else:
        yield f"{title}: {len(event.code.splitlines())} lines"


def _ran(event: SuiteRan, *, terminal: bool) -> Iterator[Part]:
    counts = f"{event.passes} of {event.total} tests pass ({event.mode})" if event.total else "not run"
    lines = [f"FAILED {visible(name)}" for name in event.failing] + [f"scan: {visible(flag)}" for flag in event.flags]
    if not event.passed and not lines:
        lines = [visible(event.reason)]
    if terminal:
        style = "green" if event.passed else "red"
        yield _panel(Text("\n".join([counts, *lines])), f"tests of candidate {event.round}", style)
    else:
        yield f"tests of candidate {event.round}: {counts}"
        yield from (f"  {line}" for line in lines)


def _review(event: Reviewed, *, terminal: bool) -> Iterator[Part]:
    if event.trouble:
        yield f"review left out: {visible(event.trouble)}"
    elif terminal:
        yield _panel(Text(visible(event.text)), "review")
    else:
        yield f"review: {visible(event.text)}"


def _diff(event: DiffShown) -> Iterator[Part]:
    """Yield a text, which is shown without a margin and never broken: it can be given to ``git apply``."""
    if not event.diff:
        yield "no candidate was better than the module"
        return
    yield f"diff, {'verified' if event.verified else 'NOT verified: the tests do not pass'}:"
    text = Text()
    for line in visible(event.diff).splitlines(keepends=True):
        kind = line[:1] if not line.startswith(("---", "+++")) else ""
        text.append(line, style=_DIFF.get(kind, "bold" if not kind else ""))
    text.rstrip()
    yield text


def _finished(event: CodeFinished, *, terminal: bool) -> Iterator[Part]:
    if terminal and event.code:
        yield _panel(
            _code(event.code, all_of_it=True), "solution.py", "green" if event.outcome == "accepted" else "yellow"
        )
    table = Table(title="Result", title_justify="left")
    for heading in ("outcome", "time", "iterations", "tests", "tokens read", "tokens written"):
        table.add_column(heading)
    tests = f"{event.passes} of {event.total}{f', {event.mode}' if event.mode else ''}"
    counts = (f"{event.seconds:.1f} s", str(event.iterations), tests, f"{event.prompt_tokens}", f"{event.reply_tokens}")
    table.add_row(event.outcome, *counts)
    yield table


def _panel(content: Part, title: str, style: str = "none") -> Panel:
    return Panel(content, title=escape(title), title_align="left", border_style=style)


def _code(text: str, *, all_of_it: bool) -> Syntax:
    lines = visible(text).splitlines()
    shown = (
        lines if all_of_it or len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"# ... {len(lines)} lines in all"]
    )
    return Syntax("\n".join(shown), "python", theme=THEME, word_wrap=True)
