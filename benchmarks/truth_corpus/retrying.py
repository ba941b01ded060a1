"""Call something again until it works."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

logger = logging.getLogger(__name__)
T = TypeVar("T")

MAX_DELAY = 60.0


class GaveUp(Exception):
    """All attempts failed."""

    def __init__(self, attempts: int) -> None:
        super().__init__(f"gave up after {attempts} attempts")
        self.attempts = attempts


def backoff(attempt: int, base: float = 0.5, factor: float = 2.0, jitter: bool = False) -> float:
    """Return the pause in seconds before an attempt."""
    if attempt < 1:
        raise ValueError("attempt counts from 1")
    delay = min(base * factor ** (attempt - 1), MAX_DELAY)
    return delay * random.random() if jitter else delay


def retry(
    action: Callable[[], T],
    attempts: int = 3,
    on: tuple[type[BaseException], ...] = (OSError,),
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call an action until it returns."""
    if attempts < 1:
        raise ValueError("attempts must be at least 1")
    for attempt in range(1, attempts + 1):
        try:
            return action()
        except on as error:
            logger.info("attempt %d failed: %s", attempt, error)
            sleep(backoff(attempt))
    raise GaveUp(attempts)
