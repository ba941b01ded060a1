"""Budget: how long a run may go on and how many tokens it may cost."""

import math
import threading
import time
from collections.abc import Callable

from reflexion.errors import BudgetSpent, UsageError


class Budget:
    """The limits of one run, shared by its threads. None is no limit.

    ``max_seconds`` is wall time since the budget was made. ``max_tokens`` counts what every request read and wrote,
    retries and replies that could not be used included. ``seconds_before`` and ``tokens_before`` are what an earlier
    part of a resumed run has spent. A call under way is not cut short, so up to one reply for each call that runs at
    the same time can go beyond the limit.
    """

    def __init__(
        self,
        max_seconds: float | None = None,
        max_tokens: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        seconds_before: float = 0.0,
        tokens_before: int = 0,
    ) -> None:
        self._max_seconds = math.inf if max_seconds is None else max_seconds
        self._max_tokens = math.inf if max_tokens is None else max_tokens
        self._clock = clock
        self._started = clock() - seconds_before
        self._tokens = tokens_before
        self._lock = threading.Lock()

    @property
    def tokens(self) -> int:
        """Tokens spent so far."""
        return self._tokens

    @property
    def seconds(self) -> float:
        """Seconds spent so far."""
        return self._clock() - self._started

    def spend(self, tokens: int) -> None:
        """Count the tokens of one request, prompt and reply, whatever came of it."""
        with self._lock:
            self._tokens += tokens

    def spent(self) -> str:
        """Return which limit is reached and what sets it, or "" while something is left."""
        # Written so that a limit that is no number counts as reached, not as absent.
        if not self.tokens < self._max_tokens:
            return f"{self.tokens} of {self._max_tokens} tokens are used up (--max-tokens)"
        if not self.seconds < self._max_seconds:
            return f"{self.seconds:.0f} of {self._max_seconds:g} s are used up (--max-seconds)"
        return ""

    def require_some(self) -> None:
        """Raise UsageError when nothing is left before the run has begun."""
        if reason := self.spent():
            raise UsageError(f"budget already spent: {reason}; raise the limit")

    def check(self) -> None:
        """Raise BudgetSpent when nothing is left for another call; to be asked before each."""
        if reason := self.spent():
            left = "what is finished stays; the same command with a higher limit takes up the rest"
            raise BudgetSpent(f"budget spent: {reason}; {left}")
