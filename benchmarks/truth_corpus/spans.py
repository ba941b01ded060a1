"""Half-open spans of numbers."""

from collections.abc import Iterable
from typing import NamedTuple

OPEN_END = 2**31 - 1


class SpanError(ValueError):
    """A span makes no sense."""


class Span(NamedTuple):
    """From start up to, but without, end."""

    start: int
    end: int = OPEN_END

    def overlaps(self, other: "Span") -> bool:
        """Say whether two spans share a number."""
        return self.start < other.end and other.start < self.end

    def intersect(self, other: "Span") -> "Span":
        """Return what two spans share."""
        if not self.overlaps(other):
            raise SpanError(f"{self} and {other} do not overlap")
        return Span(max(self.start, other.start), min(self.end, other.end))

    @classmethod
    def parse(cls, text: str, separator: str = "-") -> "Span":
        """Read a span."""
        start, found, end = text.partition(separator)
        if not found:
            raise SpanError("span needs a separator")
        return cls(int(start), int(end) if end else OPEN_END)


def merge(spans: Iterable[Span], gap: int = 0) -> list[Span]:
    """Join spans that touch."""
    if gap < 0:
        raise ValueError("gap must be zero or more")
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.start <= result[-1].end + gap:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return result


def covered(spans: Iterable[Span]) -> int:
    """Count the numbers in spans."""
    return sum(span.end - span.start for span in merge(spans))
