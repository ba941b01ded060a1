"""The closing table of a batch: every file of a small one; of a large one counts and what was not accepted."""

from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from reflexion.events import FileFinished

STYLES = {"accepted": "green", "not accepted": "yellow", "failed": "red", "stopped": "yellow"}
# What the columns "scores", "attempts" and "page" are called, of pages and of modules.
DOCS = ("scores", "attempts", "page")
CODE = ("% passed", "candidates", "result")
# Nobody reads a longer table on a terminal, and laying out thousands of rows takes minutes; the record has them all.
MOST_ROWS = 200


class Summary:
    """Collects what became of files, in memory that does not grow with their number.

    ``headings`` are those of the scores, the attempts, and what was written.
    """

    def __init__(self) -> None:
        self.headings = DOCS
        self.counts: Counter[str] = Counter()
        self.first: list[FileFinished] = []
        self._worse: list[FileFinished] = []

    def add(self, event: FileFinished) -> None:
        """Take one file in."""
        self.counts[event.outcome] += 1
        for rows, wanted in ((self.first, True), (self._worse, event.outcome != "accepted")):
            if wanted and len(rows) < MOST_ROWS:
                rows.append(event)

    @property
    def count(self) -> int:
        """How many files there were."""
        return self.counts.total()

    def table(self) -> Table:
        """Return the table; its title has the counts where it does not have every file."""
        if self.count <= MOST_ROWS:
            return _table("Summary", self.first, self.headings)
        counts = ", ".join(f"{self.counts[outcome]:,} {outcome}" for outcome in STYLES if self.counts[outcome])
        worse = self.count - self.counts["accepted"]
        shown = "" if worse <= len(self._worse) else f"; the first {len(self._worse)} of {worse:,} not accepted"
        return _table(f"Summary: {counts}{shown}", self._worse, self.headings)


def outcome_text(event: FileFinished) -> str:
    """Return the outcome and, in brackets, what code had to do for it."""
    how = "assembled" if event.assembled else "repaired" if event.repaired else ""
    return f"{event.outcome} ({how})" if how else event.outcome


def history(scores: Sequence[int | None]) -> str:
    """Return the scores of the rounds, a dash for a round without one."""
    return ", ".join("-" if score is None else str(score) for score in scores)


def _table(title: str, finished: Sequence[FileFinished], headings: tuple[str, str, str]) -> Table:
    table = Table(title=title, title_justify="left")
    scores, attempts, page = headings
    for heading in ("source", "outcome", scores, attempts, "model s", page):
        table.add_column(heading, overflow="fold", justify="right" if heading in (attempts, "model s") else "left")
    for item in finished:
        style = STYLES[item.outcome]
        page = item.output or item.detail
        table.add_row(
            escape(item.source),
            f"[{style}]{outcome_text(item)}[/{style}]",
            history(item.scores),
            str(item.attempts),
            f"{item.model_s:.1f}",
            escape(page),
        )
    return table
