"""Candidates: which is best, when the loop is stuck, when it stops."""

from typing import Any

import pytest

from reflexion.team.attempts import (
    NO_GAIN,
    PASSED,
    SAME,
    SPENT,
    Attempt,
    best_attempt,
    new_attempt,
    score_of,
    stop_reason,
    stuck,
)


def run(passes: int, total: int = 5, flags: int = 0) -> dict[str, Any]:
    return {
        "passed": passes == total,
        "passes": passes,
        "total": total,
        "failures": [{"test": f"test_{number}", "why": ""} for number in range(passes, total)],
        "flags": [{"line": 1, "what": "x"}] * flags,
    }


def attempts(*passes: int | None, same: bool = False) -> list[Attempt]:
    """Attempts that passed so many tests; None is a reply without a candidate."""
    made = []
    for number, count in enumerate(passes, 1):
        attempt = new_attempt(number, "DEBUGGER", draft="" if count is None else "x" if same else f"x = {number}")
        made.append(Attempt({**attempt, "run": None if count is None else run(count)}))
    return made


def test_the_best_candidate_is_the_latest_of_equals() -> None:
    assert best_attempt([]) is None
    assert best_attempt(attempts(None)) is None
    for counts, number in [((1, 3, 2), 2), ((3, 3, None), 2), ((None, 0), 2), ((2, 5, 5), 3)]:
        best = best_attempt(attempts(*counts))
        assert best is not None
        assert best["number"] == number


@pytest.mark.parametrize(
    ("counts", "since", "why"),
    [
        ((3,), 0, ""),
        ((3, 3), 0, ""),
        ((3, 3, 2), 0, NO_GAIN),
        ((3, None, None), 0, NO_GAIN),
        ((3, 2, 4), 0, ""),
        ((1, 2, 2), 0, ""),
        ((1, 2, 2, 2), 0, NO_GAIN),
        ((None, None, None), 0, ""),
        ((3, 3, 2, 1), 3, ""),
        ((3, 3, 2, 1, 1), 3, NO_GAIN),
        ((3, 3, 2, 1, 4), 3, ""),
    ],
)
def test_no_gain_in_two_rounds_of_one_model(counts: tuple[int | None, ...], since: int, why: str) -> None:
    assert stuck(attempts(*counts), since) == why


def test_the_same_code_is_stuck_at_once() -> None:
    assert stuck(attempts(3, 3, same=True), 0) == SAME
    assert stuck(attempts(3, 2, same=True), 0) == ""  # It failed otherwise, as code with threads may.


@pytest.mark.parametrize(
    ("counts", "can_escalate", "why"),
    [
        ((5,), False, PASSED),
        ((1, 2, 3, 5), False, PASSED),
        ((1, 2, 3, 4), True, SPENT),
        ((3, 3, 3), True, ""),
        ((3, 3, 3), False, NO_GAIN),
    ],
)
def test_reasons_to_stop(counts: tuple[int, ...], can_escalate: bool, why: str) -> None:
    assert stop_reason(attempts(*counts), 4, 0, can_escalate=can_escalate) == why


def test_only_what_passed_has_full_marks() -> None:
    assert [score_of(run(count)) for count in (0, 3, 5)] == [0, 60, 100]
    assert score_of(run(5) | {"passed": False}) == 99
    assert score_of(run(0, total=0) | {"passed": False}) == 0
    assert score_of(None) is None
