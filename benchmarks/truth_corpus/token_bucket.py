"""Rate limiting by the token bucket method."""

import asyncio
import time
from collections.abc import Callable

REFILL_INTERVAL = 1.0
BURST_FACTOR = 2


class RateExceeded(Exception):
    """No token was left."""


class TokenBucket:
    """A bucket that refills steadily."""

    def __init__(self, rate: float, burst: int | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        if rate <= 0:
            raise ValueError("rate must be greater than zero")
        self.rate = rate
        self.burst = burst if burst is not None else int(rate * BURST_FACTOR)
        self._clock = clock
        self._tokens = float(self.burst)
        self._stamp = clock()

    @property
    def available(self) -> float:
        """Tokens there are now."""
        now = self._clock()
        gained = (now - self._stamp) / REFILL_INTERVAL * self.rate
        return min(float(self.burst), self._tokens + gained)

    def take(self, count: int = 1) -> None:
        """Take tokens or fail."""
        self._check(count)
        now = self.available
        if now < count:
            raise RateExceeded(f"{count} tokens asked, {now:.1f} left")
        self._tokens, self._stamp = now - count, self._clock()

    async def wait(self, count: int = 1, timeout: float | None = None) -> float:
        """Wait until tokens can be taken, and return the seconds waited."""
        self._check(count)
        started = self._clock()
        while self.available < count:
            if timeout is not None and self._clock() - started > timeout:
                raise TimeoutError("no token in time")
            await asyncio.sleep(REFILL_INTERVAL / self.rate)
        self.take(count)
        return self._clock() - started

    def _check(self, count: int) -> None:
        if count > self.burst:
            raise ValueError(f"count {count} is larger than the burst {self.burst}")
