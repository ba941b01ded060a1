"""An asynchronous client for a paged feed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any, Self

Fetch = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

PAGE_SIZE = 50
DEFAULT_TIMEOUT = 10.0


class FeedError(Exception):
    """The feed did not answer as it should."""


class FeedClosed(FeedError):
    """The client is closed."""


class FeedClient:
    """Reads a feed page by page."""

    def __init__(self, fetch: Fetch, *, timeout: float = DEFAULT_TIMEOUT, retries: int = 2) -> None:
        if timeout <= 0:
            raise ValueError("timeout must be positive")
        self._fetch = fetch
        self._timeout = timeout
        self._retries = retries
        self._open = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def page(self, number: int, size: int = PAGE_SIZE) -> list[dict[str, Any]]:
        """Get one page."""
        if not self._open:
            raise FeedClosed("client is closed")
        if number < 1:
            raise ValueError(f"page numbers start at 1, got {number}")
        for _ in range(self._retries + 1):
            try:
                answer = await asyncio.wait_for(self._fetch("items", {"page": number, "size": size}), self._timeout)
            except TimeoutError:
                continue
            if "items" not in answer:
                raise FeedError("answer has no items")
            return list(answer["items"])
        raise FeedError(f"no answer after {self._retries} retries")

    async def items(self, limit: int | None = None) -> AsyncIterator[dict[str, Any]]:
        """Go through all pages."""
        count, number = 0, 1
        while batch := await self.page(number):
            for item in batch:
                if limit is not None and count >= limit:
                    return
                yield item
                count += 1
            number += 1

    async def close(self) -> None:
        """Stop answering."""
        self._open = False


def item_url(base: str, item_id: int, trailing_slash: bool = False) -> str:
    """Build the address of an item."""
    return f"{base.rstrip('/')}/{item_id}" + ("/" if trailing_slash else "")
