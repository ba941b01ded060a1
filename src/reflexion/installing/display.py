"""Shows a pull: a bar on a terminal, plain lines elsewhere; and what it came to at the end."""

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bars

from reflexion.doctor.memory import gigabytes
from reflexion.doctor.report import plain
from reflexion.installing.pulling import Progress, Pulled
from reflexion.live import duration


class PullDisplay:
    """Takes progress in. A context manager, since a bar has to be taken off the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "PullDisplay":
        if self._console.is_terminal:
            columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
            what = TextColumn("{task.description}", markup=False)
            self._bars = Bars(what, *columns, console=self._console, transient=True)
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._bars:
            self._bars.stop()

    def __call__(self, progress: Progress) -> None:
        """Show how far a pull is."""
        if progress.model not in self._tasks:
            self._tasks[progress.model] = self._bars.add_task(progress.model, total=None) if self._bars else TaskID(0)
            self._line(f"pulling {progress.model}")
        if progress.again:
            self._line(f"again: {progress.again}")
        elif self._bars:
            what = f"{progress.model} {progress.status.partition(' ')[0]}"
            task = self._tasks[progress.model]
            self._bars.update(task, description=what, completed=progress.completed, total=progress.total or None)

    def _line(self, text: str) -> None:
        self._console.print(plain(text), markup=False, highlight=False, soft_wrap=True)


def describe_results(results: Sequence[Pulled]) -> str:
    """Return what became of each model, a line each."""
    return "".join(f"{result.outcome:<9}  {plain(_describe(result))}\n" for result in results)


def _describe(result: Pulled) -> str:
    text = f"{result.need.model} ({', '.join(result.need.roles)})"
    size = f", {gigabytes(result.size)}" if result.size else ""
    if result.outcome == "pulled":
        return f"{text}{size} in {duration(result.seconds)}"
    error = result.error.removeprefix(f"{result.need.model}: ")
    return f"{text}: {error}" if error else f"{text}{size}"
