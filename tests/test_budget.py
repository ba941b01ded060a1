"""Budgets: what counts, when it is spent, and which error says so."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.budget import Budget
from reflexion.errors import BudgetSpent, UsageError


class Clock:
    """A clock that the test winds."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_without_limits_nothing_is_ever_spent() -> None:
    budget = Budget()
    budget.spend(10**12)
    budget.require_some()
    budget.check()
    assert budget.spent() == ""


@given(st.lists(st.integers(0, 500)), st.integers(1, 1000))
def test_tokens_are_spent_when_the_limit_is_reached(requests: list[int], limit: int) -> None:
    budget = Budget(max_tokens=limit)
    for tokens in requests:
        budget.spend(tokens)
    assert budget.tokens == sum(requests)
    assert bool(budget.spent()) == (sum(requests) >= limit)


def test_seconds_are_spent_when_the_limit_is_reached() -> None:
    clock = Clock()
    budget = Budget(max_seconds=60, clock=clock)
    clock.now += 59.9
    budget.check()
    clock.now += 0.1
    with pytest.raises(BudgetSpent, match=r"60 of 60 s are used up \(--max-seconds\); what is finished stays"):
        budget.check()


def test_spent_in_the_middle_is_a_failure_that_a_rerun_mends() -> None:
    budget = Budget(max_tokens=100)
    budget.require_some()
    budget.check()
    budget.spend(130)
    with pytest.raises(BudgetSpent, match=r"130 of 100 tokens are used up \(--max-tokens\)") as caught:
        budget.check()
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    "budget",
    [
        Budget(max_tokens=0),
        Budget(max_seconds=0, clock=Clock()),
        Budget(max_seconds=math.nan),
        Budget(max_tokens=100, tokens_before=100),
        Budget(max_seconds=60, clock=Clock(), seconds_before=61),
    ],
)
def test_spent_before_the_start_is_a_usage_error(budget: Budget) -> None:
    with pytest.raises(UsageError, match=r"budget already spent: .* raise the limit") as caught:
        budget.require_some()
    assert caught.value.exit_code == 2


def test_what_an_earlier_part_of_the_run_spent_counts() -> None:
    clock = Clock()
    budget = Budget(60, 100, clock, seconds_before=30, tokens_before=40)
    assert (budget.seconds, budget.tokens) == (30, 40)
    budget.spend(59)
    clock.now += 29
    budget.check()
    budget.spend(1)
    assert "--max-tokens" in budget.spent()


def test_threads_lose_no_token() -> None:
    budget = Budget()

    def spend() -> None:
        for _ in range(5_000):
            budget.spend(1)

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(spend) for _ in range(8)]:
            future.result()
    assert budget.tokens == 40_000
