"""What a run shows: live lines on a terminal, plain lines elsewhere, JSON lines for machines."""

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from types import TracebackType
from typing import IO, Any, NoReturn

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from reflexion.events import (
    CodeEvent,
    Event,
    FileFinished,
    FileStarted,
    NodeStarted,
    Note,
    RoundScored,
    RunFinished,
    TeamAssembled,
    TokensReceived,
    name_of,
)
from reflexion.live import LiveState, Place, place_of
from reflexion.summary import CODE, STYLES, Summary, history, outcome_text
from reflexion.wording import counted

_REFRESH_S = 0.2
MENDED_SHOWN = 5


class JsonReporter:
    """Writes every event but token counts as one JSON object a line: ``event`` names its kind."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __enter__(self) -> "JsonReporter":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.flush()

    def __call__(self, event: Event) -> None:
        """Write one event."""
        if not isinstance(event, TokensReceived):
            self._write(event)

    def finish(self, exit_code: int) -> None:
        """Write the closing line."""
        self._write(RunFinished(exit_code))

    def _write(self, event: Event | RunFinished) -> None:
        # ASCII alone, so that a line is valid JSON whatever encoding the stream has.
        line = json.dumps({"event": name_of(type(event)), **asdict(event)})
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()


class ConsoleReporter:
    """Lines for people. On a terminal the node at work is shown live, with seconds and tokens per second."""

    def __init__(self, console: Console, *, quiet: bool = False, verbose: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._verbose = verbose
        self._live: Progress | None = None
        self._task = TaskID(0)
        self._state = LiveState()
        self._shown_at = 0.0
        self._at_work: set[str] = set()
        self._side_by_side = False
        self._summary = Summary()
        # Files that run side by side emit from threads of their own.
        self._lock = threading.Lock()

    def __enter__(self) -> "ConsoleReporter":
        if self._console.is_terminal and not self._quiet:
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._live = Progress(*columns, console=self._console, transient=True)
            self._task = self._live.add_task("starting", total=None)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        with self._lock:
            self._show(event)

    def _show(self, event: Event) -> None:
        if isinstance(event, FileFinished):
            self._summary.add(event)
        elif isinstance(event, TeamAssembled):
            self._summary.headings = CODE
        if not self._quiet and not isinstance(event, Note | TokensReceived | TeamAssembled):
            self._close_nodes(place_of(event))
        self._state.feed(event)
        if isinstance(event, TokensReceived):
            self._show_progress()
        elif not self._quiet:
            shows: dict[type, Callable[[Any], None]] = {
                Note: self._show_note,
                FileStarted: self._show_start,
                NodeStarted: self._show_node,
                RoundScored: self._show_round,
                FileFinished: self._show_file,
            }
            shows.get(type(event), self._show_stage)(event)

    def finish(self, exit_code: int) -> None:
        """Show the closing table of several files, or the one line of a quiet run."""
        if self._live:
            self._live.stop()
        if self._summary.count > 1:
            self._console.print(self._summary.table())
        elif self._quiet:
            for item in self._summary.first:
                self._line(_closing_line(item))
                if item.outcome == "failed":
                    self._line(f"  {escape(item.detail)}")

    def _line(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, highlight=False)

    def _show_note(self, event: Note) -> None:
        self._line(f"[dim]{escape(event.text)}[/dim]")

    def _show_start(self, event: FileStarted) -> None:
        self._at_work.add(event.source)
        self._side_by_side = self._side_by_side or len(self._at_work) > 1
        self._line(f"[bold]{escape(f'[{event.index}/{event.count}]')} {escape(event.source)}[/bold]")

    def _show_node(self, event: NodeStarted) -> None:
        if not self._live:
            return
        if self._state.total <= 1:
            # The clock starts anew, so that a model that is still loading is seen to be waited for.
            self._live.reset(self._task, total=None)
        self._live.update(self._task, description=self._state.describe(), refresh=True)

    def _show_progress(self) -> None:
        now = time.monotonic()
        if self._live and now - self._shown_at >= _REFRESH_S:
            self._shown_at = now
            self._live.update(self._task, description=self._state.describe())

    def _close_nodes(self, place: Place) -> None:
        """Write the line of the node that has just ended; nodes of plain code are not worth one."""
        for node, tokens in self._state.end_nodes(place):
            if node.model:
                speed = _speed(tokens) if tokens else "no answer"
                lead = f"  {self._whose(place_of(node))}round {node.round}"
                self._line(f"{lead}  {node.node:<10} {escape(node.model)}  [dim]{speed}[/dim]")

    def _whose(self, place: Place) -> str:
        """The source in front of a line, where several are at work and nothing else would tell them apart."""
        source, part = place
        return (f"{escape(source)}  " if self._side_by_side else "") + (f"{part}  " if part else "")

    def _show_stage(self, event: CodeEvent) -> None:
        from reflexion.team.stages import render

        for part in render(event, terminal=self._console.is_terminal, verbose=self._verbose):
            if isinstance(part, str):
                self._line(f"  {self._whose(place_of(event))}{escape(part)}")
            else:
                self._console.print(part, soft_wrap=isinstance(part, Text))

    def _show_round(self, event: RoundScored) -> None:
        own = (("contract", event.contract), ("examples", event.examples))
        scores = "".join(f"{name} {value}, " for name, value in own if value is not None)
        whose = self._whose(place_of(event))
        found = f"{scores}{counted(event.errors, 'error')}, {counted(event.warnings, 'warning')}"
        if event.score is None:
            self._line(f"  {whose}round {event.round}  [yellow]no score[/yellow]: {escape(event.trouble)}; {found}")
        else:
            net = event.score - event.bar
            self._line(
                f"  {whose}round {event.round}  accuracy {event.technical_accuracy}, completeness {event.completeness}:"
                f" [bold]{event.score}[/bold] ({net:+d} against the bar of {event.bar}); {found}"
            )
        if event.score is not None and event.score >= event.bar and not event.errors:
            return
        fix = event.fix if self._verbose or len(event.fix) <= 200 else f"{event.fix[:197]}..."
        self._line(f"  [dim]fix: {escape(fix)}[/dim]")

    def _show_file(self, event: FileFinished) -> None:
        self._at_work.discard(event.source)
        self._line(_closing_line(event))
        if event.detail:
            self._line(f"  {escape(event.detail)}")
        if event.examples:
            self._line(f"  examples: {escape(event.examples)}")
        self._show_mended(event)
        if event.attempts:
            scores, attempts, _ = self._summary.headings
            self._line(
                f"  {scores} {history(event.scores)}; {attempts} {event.attempts}; stopped: {event.stop};"
                f" model {event.model_s:.1f} s, {event.tokens} tokens"
            )

    def _show_mended(self, event: FileFinished) -> None:
        """Say what code changed: all of it with ``--verbose``, else the first few."""
        if not event.mended:
            return
        how = "assembled from the facts and the prose that survived" if event.assembled else "repaired"
        self._line(f"  {how}: {counted(len(event.mended), 'thing')} mended by code")
        shown = event.mended if self._verbose else event.mended[:MENDED_SHOWN]
        for line in shown:
            self._line(f"    [dim]{escape(line)}[/dim]")
        if len(shown) < len(event.mended):
            self._line(f"    [dim]and {len(event.mended) - len(shown)} more, in the record[/dim]")


def _closing_line(event: FileFinished) -> str:
    style = STYLES[event.outcome]
    where = f" -> {escape(event.output)}" if event.output else ""
    return f"[{style}]{outcome_text(event)}[/{style}]  {escape(event.source)}{where}"


def _speed(event: TokensReceived) -> str:
    rate = event.tokens / event.elapsed_s if event.elapsed_s > 0 else 0.0
    return f"{event.tokens} tokens, {event.elapsed_s:.1f} s, {rate:.0f} tokens/s"


class _Console(Console):
    """A console whose reader may go away: that is told to the caller, where rich would end the process with 1."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


Reporter = JsonReporter | ConsoleReporter


def make_reporter(form: str, *, to_stderr: bool, quiet: bool, verbose: bool) -> Reporter:
    """Return the reporter for ``form`` ("text" or "json"), on stderr when stdout holds the page."""
    if form == "json":
        return JsonReporter(sys.stdout)
    console = _Console(stderr=to_stderr, emoji=False)
    if not console.is_terminal:
        console = _Console(stderr=to_stderr, emoji=False, width=160)
    return ConsoleReporter(console, quiet=quiet, verbose=verbose)
