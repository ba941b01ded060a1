"""Candidates and what became of them: which one is best, whether the loop is stuck, when to stop. Pure functions."""

from collections.abc import Sequence
from typing import Any, TypedDict

PASSED = "tests pass"
SPENT = "attempts spent"
SAME = "the same code once more"
NO_GAIN = "no gain in two rounds"
UNSOUND = "unsound tests"
# The role of a candidate that no model of this run wrote.
GIVEN = "given"
# How often an unsound suite is sent back to the architect.
MOST_SENT_BACK = 2


class Draft(TypedDict):
    """A suite that the architect proposed. ``reasons`` say why it is not sound; empty: it is."""

    number: int
    specification: str
    tests: str
    reasons: list[str]
    calls: list[dict[str, Any]]


class Attempt(TypedDict):
    """One reply of the developer or a debugger, and how the tests went.

    ``draft`` is "" when the reply could not be used; ``trouble`` then says why, and ``run`` is None. ``run`` is a
    ``SuiteRun`` as plain values. ``score`` is the share of tests that passed, 0 to 100; 100 only for what passed.
    """

    number: int
    role: str
    model: str
    diagnosis: str
    draft: str
    trouble: str
    run: dict[str, Any] | None
    score: int | None
    calls: list[dict[str, Any]]


def new_attempt(
    number: int,
    role: str,
    model: str = "",
    diagnosis: str = "",
    draft: str = "",
    trouble: str = "",
    calls: Sequence[dict[str, Any]] = (),
) -> Attempt:
    """Return an attempt that was not tested yet."""
    return Attempt(
        number=number,
        role=role,
        model=model,
        diagnosis=diagnosis,
        draft=draft,
        trouble=trouble,
        run=None,
        score=None,
        calls=list(calls),
    )


def score_of(run: dict[str, Any] | None) -> int | None:
    """Return the share of tests that passed in percent; what did not pass as a whole has 99 at most."""
    if run is None:
        return None
    if run["passed"]:
        return 100
    return min(99, 100 * run["passes"] // run["total"]) if run["total"] else 0


def rank(attempt: Attempt) -> tuple[bool, int, int, int]:
    """Return how good a candidate is: passed, most tests, fewest failures, fewest lines that the scan flags."""
    run = attempt["run"]
    if run is None:
        return False, -1, 0, 0
    return bool(run["passed"]), run["passes"], -len(run["failures"]), -len(run["flags"])


def best_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the best candidate, the latest of equals; None without any."""
    return max((item for item in reversed(attempts) if item["draft"]), key=rank, default=None)


def stuck(attempts: Sequence[Attempt], since: int) -> str:
    """Say why another try of the same model would not help, or return "".

    ``since`` attempts were another model's. Without any candidate nothing is stuck: there is nothing to gain on.
    """
    last, before = attempts[-1], attempts[:-1]
    if last["draft"] and any(_is_same(last, item) for item in before):
        return SAME
    best = best_attempt(attempts[:-2])
    recent = attempts[max(since, 1) :][-2:]
    if best is None or len(recent) < 2:
        return ""
    return NO_GAIN if all(rank(item) <= rank(best) for item in recent) else ""


def stop_reason(attempts: Sequence[Attempt], most: int, since: int, *, can_escalate: bool) -> str:
    """Name the reason to stop, or return "" to go on. No field that a model wrote can keep the loop alive."""
    last = attempts[-1]
    if last["run"] is not None and last["run"]["passed"]:
        return PASSED
    if len(attempts) >= most:
        return SPENT
    return "" if can_escalate else stuck(attempts, since)


def failing(run: dict[str, Any] | None) -> list[str]:
    """Return the names of the tests that did not pass."""
    return [item["test"] for item in run["failures"]] if run else []


def _is_same(one: Attempt, other: Attempt) -> bool:
    return one["draft"].strip() == other["draft"].strip() and failing(one["run"]) == failing(other["run"])
