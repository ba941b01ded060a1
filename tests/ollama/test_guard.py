"""Runaway text and window estimates: certain, never hasty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.errors import PromptTooLarge, ReplyRunaway
from reflexion.ollama.guard import LONGEST_UNIT, RunawayDetector, repeated_unit
from reflexion.ollama.window import check_read_whole, estimate_tokens, room_for_reply

TABLE = "| name | value |\n| --- | --- |\n" + "".join(f"| ERROR_{n} | {n} |\n" for n in range(300))


def feed(text: str, size: int = 7) -> None:
    detector = RunawayDetector()
    for start in range(0, len(text), size):
        detector.feed(text[start : start + size])


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "-" * 400,
        " " * 300 + "x",
        "Fine.\n\n" + "=" * 1000,
        "".join(f"{n}. step {n}\n" for n in range(500)),
        ("def f() -> None:\n    pass\n\n\n" * 7),
        "../" * 900,
    ],
    ids=["table", "rule", "padding", "long rule", "steps", "stubs", "garbled fix"],
)
def test_what_ends_by_itself_is_not_cut(text: str) -> None:
    feed(text)


@pytest.mark.parametrize("unit", ["x", "\n", " \t", "1234567890", "No. ", "and so on, and so on; ", "| a | b |\n" * 3])
def test_endless_units_are_found(unit: str) -> None:
    with pytest.raises(ReplyRunaway, match="without end"):
        feed("A fair beginning.\n" + unit * 4000)


@pytest.mark.parametrize(
    ("unit", "certain"),
    [
        (" ", 400),
        (" \n", 400),
        ("../", 3_000),
        ("x" * 14 + "y", 3_000),
        ("x" * 15 + "y", 1_200),
        ("x" * 199 + "y", 1_600),
    ],
    ids=["blank", "blank lines", "short", "fifteen", "sixteen", "long"],
)
def test_how_much_of_a_unit_is_certain(unit: str, certain: int) -> None:
    endless = unit * 4_000
    assert repeated_unit("A fair beginning." + endless[: certain - 1]) == ""
    found = repeated_unit("A fair beginning." + endless[:certain])
    assert len(found) == len(unit)
    assert found in endless


@pytest.mark.parametrize(("length", "found"), [(LONGEST_UNIT, True), (LONGEST_UNIT + 1, False)])
def test_the_longest_unit_that_is_looked_for(length: int, found: bool) -> None:
    unit = "".join(chr(0x4E00 + number) for number in range(length))
    assert bool(repeated_unit(unit * 20)) == found


def test_what_is_repeated_is_shown_in_short() -> None:
    with pytest.raises(ReplyRunaway, match=r"^the model: the reply repeats '.{37}\.\.\.' without end and was cut"):
        feed("a sentence that is longer than forty characters; " * 40)


def test_few_lines_are_no_runaway_before_there_are_many_of_them() -> None:
    lines = [f"- `{name}` is a number.\n" for name in "abcd"]
    watched = RunawayDetector.lines_watched
    mixed = "".join(lines[(number * number + number // 3) % 4] for number in range(watched - 1))
    feed(mixed + " " * 200, 1)
    five = "".join([*lines, "- none is.\n"][(number * number + number // 3) % 5] for number in range(watched * 4))
    feed(five, 1)


def test_a_handful_of_lines_in_any_order_is_found() -> None:
    lines = ["- `a` is a number.", "- `b` is a number.", "- both are numbers.", ""]
    with pytest.raises(ReplyRunaway, match=r"is a number|are numbers"):
        feed("# Title\n\n" + "".join(f"{lines[(n * n + n // 3) % 4]}\n" for n in range(400)))


@given(st.text(min_size=1, max_size=40), st.integers(100, 400))
def test_a_unit_that_fills_the_end_is_found_whatever_it_is(unit: str, times: int) -> None:
    tail = (unit * times * 40)[-3000:]
    found = repeated_unit(tail)
    assert found
    assert tail.endswith(found * 4)


@given(st.lists(st.text(min_size=1, max_size=30), unique=True, min_size=80, max_size=120))
def test_text_of_unlike_lines_is_never_cut(lines: list[str]) -> None:
    feed("".join(f"{number}: {line}\n" for number, line in enumerate(lines)))


def test_the_estimate_errs_on_the_large_side() -> None:
    assert estimate_tokens(["word " * 300]) >= 300
    assert estimate_tokens(["\u6587" * 300]) >= 300
    assert estimate_tokens([]) <= 1


def test_the_reply_gets_what_the_prompt_leaves() -> None:
    assert room_for_reply(["x" * 300], 8192, 1024, "m") == 1024
    assert room_for_reply(["x" * 15_000], 8192, 4096, "m") == 8192 - estimate_tokens(["x" * 15_000])
    with pytest.raises(PromptTooLarge, match="num_ctx"):
        room_for_reply(["x" * 24_000], 8192, 4096, "m")


def test_a_prompt_read_in_part_is_noticed() -> None:
    check_read_whole(["x y " * 1000], 1000, 8192, "m")
    check_read_whole([" " * 100_000], 200, 8192, "m")
    with pytest.raises(PromptTooLarge, match="was cut"):
        check_read_whole(["x y " * 1000], 200, 8192, "m")
    with pytest.raises(PromptTooLarge, match="filled the window"):
        check_read_whole(["x y " * 1000], 2048, 2048, "m")
