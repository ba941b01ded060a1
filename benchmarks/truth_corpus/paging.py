"""Cursors over long lists."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class BadCursor(ValueError):
    """A cursor was not made by this module."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list."""

    items: list[T]
    cursor: str | None = None
    total: int = 0

    @property
    def has_next(self) -> bool:
        """Whether there is more."""
        return self.cursor is not None


def encode_cursor(offset: int) -> str:
    """Hide an offset."""
    if offset < 0:
        raise ValueError("offset must not be negative")
    return base64.urlsafe_b64encode(f"o:{offset}".encode()).decode()


def decode_cursor(cursor: str) -> int:
    """Get an offset back."""
    try:
        mark, _, number = base64.urlsafe_b64decode(cursor).decode().partition(":")
        offset = int(number)
    except ValueError as error:
        raise BadCursor("cursor cannot be read") from error
    if mark != "o":
        raise BadCursor(f"cursor has mark {mark!r}, expected 'o'")
    return offset


def paginate(items: Sequence[T], limit: int = DEFAULT_LIMIT, cursor: str | None = None) -> Page[T]:
    """Cut a page out of a list."""
    if not 1 <= limit <= MAX_LIMIT:
        raise ValueError(f"limit must be from 1 to {MAX_LIMIT}")
    start = decode_cursor(cursor) if cursor else 0
    end = start + limit
    following = encode_cursor(end) if end < len(items) else None
    return Page(list(items[start:end]), following, len(items))
