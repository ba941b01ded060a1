"""Has the server fetch what is missing, through dropped connections, model by model."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random

from reflexion.errors import NotOllama, PullBroken, ReflexionError, ServerError, ServerUnreachable
from reflexion.installing.needs import Need
from reflexion.ollama.pull import PullRecord
from reflexion.ollama.server import Server

# Tries in a row that brought nothing.
ATTEMPTS = 5
FIRST_S, LONGEST_S = 0.5, 8.0


class Progress(NamedTuple):
    """How far a pull is: bytes of all parts that the server has named so far, or ``again``: why it is asked anew."""

    model: str
    status: str
    completed: int = 0
    total: int = 0
    again: str = ""


Tell = Callable[[Progress], None]


class Pulled(NamedTuple):
    """What became of one model."""

    need: Need
    outcome: Literal["there", "pulled", "failed", "not tried"]
    seconds: float = 0.0
    size: int = 0
    error: str = ""


@dataclass(slots=True)
class _Attempts:
    """Counts the tries that brought nothing: a slow line that drops now and then is no reason to give up."""

    limit: int
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)
    best: int = 0
    in_vain: int = 0

    def take(self, record: PullRecord) -> None:
        """Note how far a part is."""
        if record.digest:
            self.parts[record.digest] = (record.completed, record.total)

    @property
    def completed(self) -> int:
        """Bytes that are there."""
        return sum(completed for completed, _ in self.parts.values())

    @property
    def total(self) -> int:
        """Bytes of the parts that were named."""
        return sum(total for _, total in self.parts.values())

    def note_failed(self, _: RetryCallState) -> None:
        """Count a try that failed."""
        self.in_vain = 0 if self.completed > self.best else self.in_vain + 1
        self.best = max(self.best, self.completed)

    def stop(self, _: RetryCallState) -> bool:
        """Say whether the try that failed was the last one."""
        return self.in_vain >= self.limit

    def pause(self, first_s: float) -> float:
        """Return the seconds until the next try: longer with each one that brought nothing."""
        return min(LONGEST_S, first_s * 2.0**self.in_vain)


def pull_missing(
    server: Server, needs: Sequence[Need], tell: Tell, attempts: int = ATTEMPTS, first_s: float = FIRST_S
) -> list[Pulled]:
    """Pull every model that is not installed; trouble with one does not keep the others, a server that is gone does."""
    results = []
    gone = ""
    for need in needs:
        if need.installed:
            results.append(Pulled(need, "there", size=need.size))
        elif gone:
            results.append(Pulled(need, "not tried", error=gone))
        else:
            result, gone = _pull_one(server, need, tell, attempts, first_s)
            results.append(result)
    return results


def _pull_one(server: Server, need: Need, tell: Tell, attempts: int, first_s: float) -> tuple[Pulled, str]:
    begun = time.monotonic()
    try:
        pull(server, need.model, tell, attempts, first_s)
        size = _size_of(server, need.model)
    except ReflexionError as error:
        gone = "the server went away" if isinstance(error, ServerUnreachable | NotOllama) else ""
        return Pulled(need, "failed", time.monotonic() - begun, error=str(error)), gone
    return Pulled(need, "pulled", time.monotonic() - begun, size), ""


def pull(server: Server, name: str, tell: Tell, attempts: int = ATTEMPTS, first_s: float = FIRST_S) -> None:
    """Have the server fetch a model; what breaks off is asked for again, where the server goes on from where it was.

    Gives up after ``attempts`` tries in a row that brought no byte more. Raises ServerError and its kinds.
    """
    counted = _Attempts(attempts)

    def once() -> None:
        for record in server.pull(name):
            counted.take(record)
            tell(Progress(name, record.status, counted.completed, counted.total))

    def again(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        tell(Progress(name, "", counted.completed, counted.total, again=str(error)))

    jitter = wait_random(0, first_s)
    Retrying(
        after=counted.note_failed,
        stop=counted.stop,
        wait=lambda state: counted.pause(first_s) + jitter(state),
        retry=retry_if_exception_type((PullBroken, ServerUnreachable)),
        before_sleep=again,
        reraise=True,
    )(once)


def _size_of(server: Server, name: str) -> int:
    """Return the bytes of a model that was pulled. Raises ServerError when the server does not have it after all."""
    from reflexion.ollama.names import full_name

    sizes = {full_name(there): model.size for there, model in server.installed().items()}
    if full_name(name) not in sizes:
        raise ServerError(f"{name}: the server says that it has it, and does not list it; see `ollama list`")
    return sizes[full_name(name)]
