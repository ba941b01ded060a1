"""Whether a stated value or output is the real one: the digits that are shown, content, words, and what is ignored."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.examples.compare import (
    matches,
    matches_output,
    matches_value,
    similar,
    string_of,
    written_like,
)
from reflexion.evidence.examples.numbers import number_of, same_number, same_tokens, shown_as

RIGHT = [
    ("0.67", "0.6666666666666666"),
    ("0.66", "0.6666666666666666"),
    ("0.667", "0.6666666666666666"),
    ("65536.827031966066", "65536.82703196607"),
    ("-0.67", "-0.6666"),
    ("5", "5.0"),
    ("5.0", "5"),
    ("1e-3", "0.001"),
    ("1.2e6", "1234567"),
    ("1_000", "1000"),
    ("0x10", "16"),
    ("nan", "nan"),
    ("{'b', 'a'}", "{'a', 'b'}"),
    ("{'x': 1.5, 'y': [1, 2.33]}", "{'y': [1, 2.3333], 'x': 1.5}"),
    ("Account(rate=0.05, owner='x')", "Account(owner='x', rate=0.0499999)"),
    ("date(2024, 5, 6)", "datetime.date(2024, 5, 6)"),
    ("[1, 2, ...]", "[1, 2, 3, 4]"),
    ("[..., 4]", "[1, 2, 3, 4]"),
    ("{1, ...}", "{1, 2}"),
    ("Point(1, ...)", "Point(1, 2)"),
    ("'a'", '"a"'),
    ("Color.RED", "<Color.RED: 1>"),
    ("<Account object at 0x7f...>", "<Account object at 0x7f12ab34cd56>"),
    ("<__main__.Account object at 0x10e>", "<bank.Account object at 0x7f12ab34cd56>"),
    ("Total: 5.3 of 10", "Total: 5.31 of 10"),
    ("It is “fine”", "It is 'fine'"),
    ("a  b\n c", "a b c"),
    ("The first 0.66... of it", "The first 0.6666 of it"),
    ("12...", "12345"),
    ("(1+2j)", "(1+2j)"),
    ("[1,2]", "[1, 2]"),
    ("set()", "set()"),
    ("b'x'", 'b"x"'),
]
WRONG = [
    ("0.6667", "0.667"),
    ("0.86", "0.6666666666666666"),
    ("0.65", "0.6666666666666666"),
    ("0.68", "0.6666666666666666"),
    ("-0.67", "0.6667"),
    ("5", "5.3"),
    ("1e-3", "0.0012"),
    ("True", "1"),
    ("None", "0"),
    ("'5'", "5"),
    ("{'a', 'c'}", "{'a', 'b'}"),
    ("{'a'}", "{'a', 'b'}"),
    ("{'x': 1}", "{'x': 2}"),
    ("{'x': 1}", "{'x': 1, 'y': 2}"),
    ("[1, 2]", "[2, 1]"),
    ("[1, 2]", "(1, 2)"),
    ("[1, 2, ...]", "[1]"),
    ("Account(rate=0.06)", "Account(rate=0.05)"),
    ("Account(1)", "Account(1, 2)"),
    ("Other(1)", "Account(1)"),
    ("Color.BLUE", "<Color.RED: 1>"),
    ("Total: 6", "Total: 5"),
    ("1.10.0", "1.1.0"),
    ("1 2", "12"),
    ("abc", "abd"),
    ("a ... z", "a b c"),
    ("x + 1", "x + 2"),
]


@pytest.mark.parametrize(("stated", "real"), RIGHT)
def test_right_ways_to_show_a_value(stated: str, real: str) -> None:
    assert matches(stated, real)


@pytest.mark.parametrize(("stated", "real"), WRONG)
def test_wrong_ways_to_show_a_value(stated: str, real: str) -> None:
    assert not matches(stated, real)


def test_about_right_is_loose_and_not_boundless() -> None:
    assert matches("1600", "1628.89", loose=True)
    assert matches("costs 10", "costs 10.4", loose=True)
    assert not matches("1600", "1728.89", loose=True)


def test_output_may_be_quoted_and_a_value_may_be_shown_as_text() -> None:
    assert matches_output("'hello'", "hello\n")
    assert not matches_output("'hello'", "hallo\n")
    assert matches_value("hello", "'hello'", "hello")
    assert matches_value("5 EUR", "Money(5)", "5 EUR")
    assert not matches_value("6 EUR", "Money(5)", "5 EUR")


def test_near_misses_are_told_from_other_words() -> None:
    assert similar("Hello, World", "Hello, Bob")
    assert not similar("Show the greeting", "Hello, Bob")


def test_the_real_number_is_written_with_the_digits_that_the_document_shows() -> None:
    assert written_like("0.86", "0.6666666666666666") == "0.67"
    assert written_like("7", "0.5") == "0.5"
    assert written_like("Color.BLUE", "<Color.RED: 1>") == "Color.RED"
    assert written_like("<Color.BLUE: 2>", "<Color.RED: 1>") == "<Color.RED: 1>"
    assert written_like("[1]", " [2] ") == "[2]"
    assert shown_as("1.000", "0.5") == "0.5"


def test_numbers_beyond_any_reader_cost_nothing() -> None:
    assert number_of("1e999999999") is None
    assert number_of("9" * 10_000) is None
    assert not same_number("1.5", "1" * 9_000)
    assert same_tokens("x " * 30_000, "x " * 30_000)
    assert matches("[" * 900 + "]" * 900, "[" * 900 + "]" * 900)
    assert string_of("'a' 'b'") == "ab"
    assert string_of("5") is None


literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, width=32)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers(0, 9), min_size=1, max_size=4).map(set)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(literals)
def test_a_value_is_its_own_right_statement(value: object) -> None:
    assert matches(repr(value), repr(value))
    assert matches_value(repr(value), repr(value), str(value))


@settings(max_examples=150, deadline=None)
@given(st.floats(-1e6, 1e6, allow_nan=False), st.integers(1, 8))
def test_a_rounded_number_is_right_and_another_last_digit_is_wrong(value: float, digits: int) -> None:
    stated = f"{value:.{digits}f}"
    assert matches(stated, repr(value))
    assert matches(f"x={stated},", f"x={value!r},") or "e" in repr(value)
    changed = stated[:-1] + str((int(stated[-1]) + 5) % 10)
    assert not matches(changed, repr(value))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_makes_a_comparison_raise(first: str, second: str) -> None:
    assert matches(first, first)
    assert matches(first, second) in (True, False)
    assert isinstance(similar(first, second), bool)
    assert isinstance(written_like(first, second), str)


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet="0123456789.eE+-_xjJ,[]{}()'\" :", max_size=30),
    st.text(alphabet="0123456789.e-[]', ", max_size=30),
)
def test_no_near_literal_makes_a_comparison_raise(first: str, second: str) -> None:
    assert matches(first, first)
    assert matches_output(first, second) in (True, False)
