"""Histograms of numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping

DEFAULT_BINS = 10
BAR = "#"


class EmptyData(ValueError):
    """There are no numbers."""


def edges(low: float, high: float, bins: int = DEFAULT_BINS) -> list[float]:
    """Return the borders of bins."""
    if high <= low:
        raise ValueError("high must be above low")
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    width = (high - low) / bins
    return [low + index * width for index in range(bins + 1)]


def histogram(values: Iterable[float], bins: int = DEFAULT_BINS, *, normalise: bool = False) -> list[float]:
    """Count numbers by bin."""
    data = list(values)
    if not data:
        raise EmptyData("no values given")
    low, high = min(data), max(data)
    borders = edges(low, high if high > low else low + 1, bins)
    counts = [0.0] * bins
    for value in data:
        place = sum(1 for border in borders[1:-1] if value >= border)
        counts[place] += 1
    return [count / len(data) for count in counts] if normalise else counts


def render(counts: list[float], width: int = 40, char: str = BAR) -> str:
    """Draw bars."""
    top = max(counts, default=0) or 1
    return "\n".join(char * round(count / top * width) for count in counts)


def top_words(text: str, limit: int = 5) -> list[tuple[str, int]]:
    """Find the most frequent words."""
    if limit < 0:
        raise IndexError("limit must not be negative")
    return Counter(text.lower().split()).most_common(limit)


def describe(data: Mapping[str, float]) -> dict[str, float]:
    """Return extremes and sum."""
    if not data:
        raise EmptyData("mapping is empty")
    return {"low": min(data.values()), "high": max(data.values()), "sum": sum(data.values())}
