"""Working days, deadlines and quarters."""

from collections.abc import Collection, Iterator
from datetime import date, timedelta

WEEKEND = (5, 6)
DAYS_PER_WEEK = 7


def is_workday(day: date, holidays: Collection[date] = ()) -> bool:
    """Say whether people work on a day."""
    return day.weekday() not in WEEKEND and day not in holidays


def add_workdays(start: date, days: int, holidays: Collection[date] = ()) -> date:
    """Move forward by working days."""
    if days < 0:
        raise ValueError(f"days must not be negative: {days}")
    current = start
    while days:
        current += timedelta(days=1)
        if is_workday(current, holidays):
            days -= 1
    return current


def quarter(day: date, /, fiscal_start: int = 1) -> int:
    """Return the quarter of a day."""
    if not 1 <= fiscal_start <= 12:
        raise ValueError("fiscal_start must be a month from 1 to 12")
    return (day.month - fiscal_start) % 12 // 3 + 1


def iter_weeks(start: date, end: date, step: int = DAYS_PER_WEEK) -> Iterator[tuple[date, date]]:
    """Yield spans of days."""
    if end < start:
        raise ValueError("end lies before start")
    while start <= end:
        last = min(start + timedelta(days=step - 1), end)
        yield start, last
        start = last + timedelta(days=1)


def parse_iso(text: str) -> date:
    """Read a date in ISO form."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"not a date: {text}") from error
