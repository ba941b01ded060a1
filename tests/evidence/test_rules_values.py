"""Comparison of defaults and constants."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.facts import Parameter
from reflexion.evidence.values import compare_values, default_text

KNOWN = {"DEFAULT": "30", "Color.RED": "'red'"}
SAME = [
    ("5", "5"),
    ("1_000", "1000"),
    ("1000", "1_000"),
    ("utf-8", "'utf-8'"),
    ('"utf-8"', "'utf-8'"),
    ("`'utf-8'`", "'utf-8'"),
    ("none", "None"),
    ("3600", "60 * 60"),
    ("1e3", "1000.0"),
    ("1", "1.0"),
    ("false", "False"),
    ("an empty list", "[]"),
    ("[]", "field(default_factory=list)"),
    ("30", "DEFAULT"),
    ("DEFAULT", "DEFAULT"),
    ("RED", "Color.RED"),
    ("'red'", "Color.RED"),
    ("INFO", "logging.INFO"),
    (",", "','"),
    ("''", '""'),
    ("float('inf')", "float('inf')"),
    ("=5", "5"),
]
DIFFERENT = [
    ("5", "6"),
    ("True", "1"),
    ("1", "True"),
    ("31", "DEFAULT"),
    ("Color.RED", "Color.BLUE"),
    ("latin-1", "'utf-8'"),
    ("usd", "'eur'"),
    ("None", "0"),
    ("true", "False"),
    ("[1, 2]", "(1, 2)"),
    ("-1", "7"),
    ("'a'", "'b'"),
    ("0.5", "0.05"),
]


@pytest.mark.parametrize(("stated", "actual"), SAME)
def test_same(stated: str, actual: str) -> None:
    assert compare_values(stated, actual, KNOWN) == "same"


@pytest.mark.parametrize(("stated", "actual"), DIFFERENT)
def test_different(stated: str, actual: str) -> None:
    assert compare_values(stated, actual, KNOWN) == "different"


@pytest.mark.parametrize(
    ("stated", "actual"), [("no limit", "None"), ("5%", "0.05"), ("10 seconds", "10.0"), ("-", "3"), ("3", "...")]
)
def test_words_and_fillers_contradict_nothing(stated: str, actual: str) -> None:
    assert compare_values(stated, actual, KNOWN) == "vague"


@pytest.mark.parametrize(
    ("stated", "actual", "verdict"),
    [
        ("30 seconds", "5.0", "different"),
        ("5 seconds", "5.0", "vague"),
        ("30 seconds", "30000", "vague"),
        ("60 seconds", "1", "vague"),
        ("2 hours", "7200", "vague"),
        ("30 seconds", "-1", "vague"),
        ("30 seconds", "None", "vague"),
        ("30 lines", "5", "vague"),
    ],
)
def test_a_time_contradicts_a_number_that_is_it_in_no_unit(stated: str, actual: str, verdict: str) -> None:
    assert compare_values(stated, actual) == verdict


def test_what_an_expression_gives_is_not_known_for_sure() -> None:
    assert compare_values("20", "logging.INFO") == "doubtful"


def test_a_factory_is_what_it_makes() -> None:
    assert default_text(Parameter("a", "positional", default="list", factory=True)) == "[]"
    assert default_text(Parameter("a", "positional", default="lambda: [1]", factory=True)) == "[1]"
    assert default_text(Parameter("a", "positional", default="list")) == "list"


def test_huge_arithmetic_is_not_carried_out() -> None:
    assert compare_values("5", "10 ** 10 ** 10") == "doubtful" or compare_values("5", "10 ** 10 ** 10") == "different"


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_raises(first: str, second: str) -> None:
    assert compare_values(first, second) in {"same", "vague", "doubtful", "different"}


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.text(), st.none(), st.lists(st.integers()))
)
def test_every_literal_equals_itself_in_any_spelling(value: object) -> None:
    assert compare_values(repr(value), repr(value)) in {"same", "vague"}
