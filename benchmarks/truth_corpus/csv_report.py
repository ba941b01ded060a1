"""Summaries of delimited text."""

import csv
import io
from collections.abc import Iterable, Iterator

DELIMITERS = (",", ";", "\t")
MAX_COLUMNS = 256


class ReportError(Exception):
    """The text cannot be summarised."""


def sniff_delimiter(line: str) -> str:
    """Guess the delimiter from the first line."""
    best = max(DELIMITERS, key=line.count)
    if line.count(best) == 0:
        raise ReportError("no known delimiter found")
    return best


def read_rows(text: str, delimiter: str | None = None, skip_blank: bool = True) -> Iterator[list[str]]:
    """Yield the rows of a text."""
    chosen = delimiter or _delimiter_of(text)
    for row in csv.reader(io.StringIO(text), delimiter=chosen):
        if len(row) > MAX_COLUMNS:
            raise ReportError(f"row has {len(row)} columns, limit is {MAX_COLUMNS}")
        if row or not skip_blank:
            yield row


def summarise(rows: Iterable[list[str]], column: int = 0) -> dict[str, float]:
    """Return count, total and mean of one numeric column."""
    values = [float(row[column]) for row in rows]
    if not values:
        raise ReportError("no rows to summarise")
    total = sum(values)
    return {"count": len(values), "total": total, "mean": total / len(values)}


def to_markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    """Render rows as a Markdown table."""
    lines = [" | ".join(header), " | ".join("---" for _ in header)]
    lines.extend(" | ".join(row) for row in rows)
    return "\n".join(f"| {line} |" for line in lines)


def _delimiter_of(text: str) -> str:
    first, _, _ = text.partition("\n")
    if not first:
        raise ValueError("text is empty")
    return sniff_delimiter(first)
