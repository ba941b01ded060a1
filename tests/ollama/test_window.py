"""The token estimate: where it starts, what it learns of a server's counts, and what it must not learn."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.errors import PromptTooLarge
from reflexion.ollama.window import (
    LEAST_SHARE,
    LEAST_TO_LEARN_FROM,
    MARGIN,
    MOST_SHARE,
    PROMPTS_KEPT,
    PROMPTS_TO_LOWER,
    SMALLEST_REPLY,
    TOKENS_PER_MESSAGE,
    TokenEstimate,
    TokenEstimates,
    check_read_whole,
    estimate_tokens,
    room_for_reply,
)

WINDOW = 100_000
# About 4,000 tokens by the first estimate.
CODE = "total = total + amount\n" * 520


def prompt(number: int) -> list[str]:
    """A prompt that begins as no other."""
    return ["You write.", f"File {number}\n{CODE}"]


def taught(estimate: TokenEstimate, shares: Sequence[float]) -> TokenEstimate:
    """Teach an estimate that each of several prompts took this share of what ``estimate_tokens`` says."""
    for number, share in enumerate(shares):
        estimate.learn(prompt(number), int(estimate_tokens(prompt(number)) * share), WINDOW)
    return estimate


def share_of(estimate: TokenEstimate) -> float:
    return estimate(prompt(0)) / estimate_tokens(prompt(0))


@pytest.mark.parametrize(
    ("texts", "tokens"),
    [
        ([], 1),
        ([""], 1 + TOKENS_PER_MESSAGE),
        (["x" * 300], 101 + TOKENS_PER_MESSAGE),
        (["x" * 300, "y" * 30], 111 + 2 * TOKENS_PER_MESSAGE),
        (["\u00e4\u4e16" + "x" * 300 + "\U0001f600"], 104 + TOKENS_PER_MESSAGE),
    ],
)
def test_three_characters_are_a_token_and_one_outside_of_ascii(texts: list[str], tokens: int) -> None:
    assert estimate_tokens(texts) == tokens


@given(st.lists(st.text(max_size=400), max_size=5))
def test_it_starts_as_the_plain_estimate(texts: list[str]) -> None:
    assert TokenEstimate()(texts) == estimate_tokens(texts)


def test_it_is_lowered_after_several_prompts_to_their_largest_share_and_a_margin() -> None:
    few = taught(TokenEstimate(), [0.75] * (PROMPTS_TO_LOWER - 1))
    assert share_of(few) == 1.0
    enough = taught(TokenEstimate(), [0.7, 0.8, 0.75])
    assert share_of(enough) == pytest.approx(0.8 * MARGIN, abs=0.01)


def test_a_prompt_that_took_more_than_thought_raises_it_at_once() -> None:
    assert share_of(taught(TokenEstimate(), [1.2])) == pytest.approx(1.2 * MARGIN, abs=0.01)
    lowered = taught(TokenEstimate(), [0.7, 0.7, 0.7, 0.9])
    assert share_of(lowered) == pytest.approx(0.9 * MARGIN, abs=0.01)


def test_what_raised_it_is_forgotten_after_many_prompts() -> None:
    estimate = taught(TokenEstimate(), [1.5, *[0.8] * PROMPTS_KEPT])
    assert share_of(estimate) == pytest.approx(0.8 * MARGIN, abs=0.01)


def test_a_prompt_that_begins_as_an_earlier_one_may_be_cached_and_lowers_nothing() -> None:
    estimate = TokenEstimate()
    for turn in range(10):
        messages = [*prompt(0), "A page.", f"Correct this: {turn}"]
        estimate.learn(messages, int(estimate_tokens(messages) * 0.7), WINDOW)
    assert share_of(estimate) == 1.0
    estimate.learn(prompt(0), int(estimate_tokens(prompt(0)) * 1.3), WINDOW)
    assert share_of(estimate) == pytest.approx(1.3 * MARGIN, abs=0.01)


@pytest.mark.parametrize(
    ("share", "window"),
    [(0.3, WINDOW), (0.0, WINDOW), (0.7, 2_000), (1.5, 2_000)],
    ids=["counted without its cache", "not counted", "cut", "cut and larger"],
)
def test_nothing_is_learned_of_a_prompt_that_was_cut_or_not_counted_whole(share: float, window: int) -> None:
    estimate = TokenEstimate()
    for number in range(8):
        estimate.learn(prompt(number), min(window, int(estimate_tokens(prompt(number)) * share)), window)
    assert share_of(estimate) == 1.0


def test_nothing_is_learned_of_a_short_prompt() -> None:
    estimate = TokenEstimate()
    short = "x" * (LEAST_TO_LEARN_FROM * 2)
    for number in range(8):
        estimate.learn(["You write.", f"{number} {short}"], 900, WINDOW)
    assert share_of(estimate) == 1.0


@settings(max_examples=60)
@given(st.lists(st.floats(0.01, 20), min_size=1, max_size=60))
def test_it_stays_within_its_bounds_and_above_what_was_counted_last(shares: list[float]) -> None:
    estimate = taught(TokenEstimate(), shares)
    assert LEAST_SHARE - 0.01 <= share_of(estimate) <= MOST_SHARE + 0.01
    if LEAST_SHARE <= shares[-1] <= MOST_SHARE:
        assert share_of(estimate) >= shares[-1] - 0.01


def test_each_model_has_its_own_whatever_thread_asks() -> None:
    estimates = TokenEstimates()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: estimates.of(f"model-{number % 2}"), range(64)))
        list(pool.map(lambda number: found[0].learn(prompt(number), 3_000, WINDOW), range(64)))
    assert len({id(one) for one in found}) == 2
    assert share_of(estimates.of("model-0")) == pytest.approx(3_000 / estimate_tokens(prompt(10)) * MARGIN, abs=0.01)
    assert share_of(estimates.of("model-1")) == 1.0


def test_the_room_for_a_reply_follows_the_estimate_it_is_given() -> None:
    learned = taught(TokenEstimate(), [0.7, 0.7, 0.7])
    first = estimate_tokens(prompt(0))
    window = first + 500
    with pytest.raises(PromptTooLarge, match=f"about {first} tokens, too many for a window of {window}"):
        room_for_reply(prompt(0), window, 2_000, "GENERATOR (gen)")
    assert room_for_reply(prompt(0), window, 1_200, "GENERATOR (gen)", learned) == 1_200


@pytest.mark.parametrize("wanted", [100, SMALLEST_REPLY, 4_000])
def test_the_least_room_is_what_was_asked_for_or_a_useful_reply(wanted: int) -> None:
    least = min(wanted, SMALLEST_REPLY)
    window = estimate_tokens(prompt(0)) + least
    assert room_for_reply(prompt(0), window, wanted, "CRITIC (critic)") == least
    with pytest.raises(PromptTooLarge, match=f"room for a reply of {least}; raise num_ctx"):
        room_for_reply(prompt(0), window - 1, wanted, "CRITIC (critic)")


@pytest.mark.parametrize(("share", "begun"), [(0.7, 0.7), (0.1, LEAST_SHARE), (9.0, MOST_SHARE)])
def test_what_another_run_learned_is_a_beginning_and_no_more(share: float, begun: float) -> None:
    estimate = TokenEstimate()
    estimate.expect(share)
    assert estimate.share == begun
    taught(estimate, [0.8] * PROMPTS_TO_LOWER)
    learned = estimate.share
    assert learned == pytest.approx(0.8 * MARGIN, abs=0.01)
    estimate.expect(share)
    assert estimate.share == learned


@pytest.mark.parametrize(("counted", "said"), [(8192, "filled the window"), (50, "it was cut")])
def test_a_prompt_that_the_server_cut_is_told(counted: int, said: str) -> None:
    with pytest.raises(PromptTooLarge, match=said):
        check_read_whole(prompt(0), counted, 8192, "CRITIC (critic)")


@pytest.mark.parametrize("counted", [3_500, 8191])
def test_a_prompt_that_was_read_whole_passes(counted: int) -> None:
    check_read_whole(prompt(0), counted, 8192, "CRITIC (critic)")


def test_a_token_is_ten_characters_at_most_and_white_space_counts_once() -> None:
    text = "x" * 500 + " \n" * 900 + "y" * 499
    check_read_whole([text], 100, 8192, "CRITIC (critic)")
    with pytest.raises(PromptTooLarge, match="read 99 tokens of a prompt of at least 100: it was cut"):
        check_read_whole([text], 99, 8192, "CRITIC (critic)")
