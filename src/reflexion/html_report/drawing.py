"""What is drawn: score curves and bars as coordinates of inline SVG, and the difference between two drafts."""

import difflib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

CURVE_WIDTH = 132
CURVE_HEIGHT = 36
_MARGIN = 5
_MOST_POINTS = 40

LONGEST_DRAFT = 1_500
LONGEST_LINE = 500
MOST_LINES = 300


class Point(NamedTuple):
    """A point of a curve, in pixels from the top left; ``reached`` says whether it is at the bar."""

    x: float
    y: float
    reached: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores of rounds from 0 to 100 against a bar. ``path`` is SVG, broken where a round has no score."""

    path: str
    points: tuple[Point, ...]
    bar_y: float
    label: str


def curve(scores: Sequence[float | None], bar: float) -> Curve:
    """Return the curve of the last 40 scores."""
    shown = scores[-_MOST_POINTS:]
    step = (CURVE_WIDTH - 2 * _MARGIN) / max(1, len(shown) - 1)
    pieces, points, draw = [], [], "M"
    for place, value in enumerate(shown):
        if value is None:
            draw = "M"
            continue
        point = Point(round(_MARGIN + place * step, 1), _height(value), value >= bar)
        points.append(point)
        pieces.append(f"{draw}{point.x:g} {point.y:g}")
        draw = "L"
    said = history(scores[-_MOST_POINTS:])
    return Curve("".join(pieces), tuple(points), _height(bar), f"Scores by round: {said}; the bar is {bar:g}")


def _height(value: float) -> float:
    return round(_MARGIN + (100 - value) / 100 * (CURVE_HEIGHT - 2 * _MARGIN), 1)


def history(scores: Sequence[float | None]) -> str:
    """Return ``70, none, 96`` for scores."""
    return ", ".join("none" if value is None else f"{value:g}" for value in scores)


class Segment(NamedTuple):
    """A part of a bar: its start and width in percent of the bar's length."""

    name: str
    start: float
    width: float


def segments(parts: Sequence[tuple[str, float]], whole: float) -> list[Segment]:
    """Return parts laid end to end, in percent of ``whole``; those too small to be seen are left out."""
    made, start = [], 0.0
    for name, size in parts:
        width = 100 * size / whole if whole > 0 else 0.0
        if width >= 0.05:
            made.append(Segment(name, round(start, 2), round(width, 2)))
        start += width
    return made


@dataclass(frozen=True, slots=True)
class Difference:
    """How one draft became the next. ``note`` says why lines are left out, or why there are none.

    ``blocks`` are runs of lines of one kind: "+" added, "-" removed, "@" a place, " " the same in both.
    """

    title: str
    added: int
    removed: int
    blocks: tuple[tuple[str, str], ...]
    note: str


def difference(before: str, after: str, title: str) -> Difference:
    """Return the unified difference of two drafts: at most 300 lines, each of at most 500 characters.

    Drafts of more than 1,500 lines are not compared, since that can take long.
    """
    if before == after:
        return Difference(title, 0, 0, (), "The drafts are the same.")
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > LONGEST_DRAFT:
        return Difference(title, 0, 0, (), f"Not compared: a draft has more than {LONGEST_DRAFT:,} lines.")
    lines = list(_changes(old, new))
    note = f"{len(lines) - MOST_LINES:,} more lines are left out." if len(lines) > MOST_LINES else ""
    return Difference(
        title=title,
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        blocks=tuple(
            (kind, "\n".join(_shortened(line) for line in run))
            for kind, run in itertools.groupby(lines[:MOST_LINES], key=lambda line: line[0])
        ),
        note=note,
    )


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    lines = difflib.unified_diff(old, new, lineterm="", n=2)
    # The first two lines name files, of which there are none.
    next(lines)
    next(lines)
    return lines


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]} … (and {len(line) - LONGEST_LINE:,} more characters)"
