"""Edits of a text: what is proposed to mend a finding, and how several are applied at once."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """``text[start:end]`` becomes ``new``. Of insertions at one place the one with the lower ``order`` comes first."""

    start: int
    end: int
    new: str
    order: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes that belong together, none of which overlap.

    ``what`` says for people what is done, as in "`5` became `3`". ``rough`` edits may take true words along and are
    tried last. One that ``uncovers`` shows a piece of the page in its true light, where other errors may be seen.
    """

    changes: tuple[Change, ...]
    what: str
    rough: bool = False
    uncovers: bool = False

    @property
    def start(self) -> int:
        """Where the first change begins."""
        return min(change.start for change in self.changes)

    def effect(self, text: str) -> tuple[tuple[str, str], ...]:
        """What the edit does, apart from the place: pairs of old and new text with the words around them."""
        return tuple((text[max(0, c.start - 30) : c.end + 30], c.new) for c in self.changes)


@dataclass(frozen=True, slots=True)
class Draft:
    """A text on its way, and for each of its lines the line of the first text that it comes from (from 1)."""

    text: str
    origins: tuple[int, ...]

    def origin(self, offset: int) -> int:
        """The line of the first text that stands at an offset, or before it."""
        line = self.text.count("\n", 0, offset)
        return self.origins[min(line, len(self.origins) - 1)]


def first_draft(text: str) -> Draft:
    """The draft of a text that nobody has touched."""
    return Draft(text, tuple(range(1, text.count("\n") + 2)))


def overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits touch the same characters; insertions side by side do not."""
    return any(_clash(first, second) for first in one.changes for second in other.changes)


def _clash(one: Change, other: Change) -> bool:
    if one.start == one.end and other.start == other.end:
        return one == other
    return one.start < other.end and other.start < one.end


def compatible(edits: Iterable[Edit]) -> list[Edit]:
    """The edits that can be applied together, earlier ones first; an edit that overlaps a kept one is left out."""
    kept: list[Edit] = []
    for edit in edits:
        if not any(overlap(edit, other) for other in kept):
            kept.append(edit)
    return kept


def applied(draft: Draft, edits: Sequence[Edit]) -> Draft:
    """The draft with all edits made; lines that an edit writes come from the line where it begins."""
    changes = sorted(
        (change for edit in edits for change in edit.changes),
        key=lambda change: (change.start, change.end, change.order),
    )
    starts = _line_starts(draft.text)
    pieces: list[str] = []
    origins = [draft.origins[0]]
    position = 0
    for change in (*changes, Change(len(draft.text), len(draft.text), "")):
        for start, piece in ((position, draft.text[position : change.start]), (None, change.new)):
            pieces.append(piece)
            origins += _origins(draft, starts, start, piece, change.start)
        position = max(position, change.end)
    return Draft("".join(pieces), tuple(origins))


def _origins(draft: Draft, starts: list[int], start: int | None, piece: str, at: int) -> list[int]:
    """For each line that begins in a piece, where it comes from."""
    breaks = piece.count("\n")
    if start is None:
        return [draft.origins[bisect_right(starts, at) - 1]] * breaks
    first = bisect_right(starts, start)
    return list(draft.origins[first : first + breaks])


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for row in text.split("\n")[:-1]:
        starts.append(starts[-1] + len(row) + 1)
    return starts
