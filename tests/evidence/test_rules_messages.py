"""Comparison of quoted messages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.facts import Raise
from reflexion.evidence.messages import best_match, compare_message

EXACT = [
    ("rate must be positive", "rate must be positive", "same"),
    ("rate must be positive.", "rate must be positive", "same"),
    ("Say “hi”", 'Say "hi"', "same"),
    ("Cannot open ...", "Cannot open the file", "same"),
    ("must be positive", "rate must be positive", "partial"),
    ("rate must be non-negative", "rate must be positive", "different"),
    ("...", "rate must be positive", "different"),
]
TEMPLATES = [
    ("bad value {v}", "bad value {value!r}", "same"),
    ("bad value 5", "bad value {value!r}", "same"),
    ("bad value <value>", "bad value {value!r}", "same"),
    ('f"bad {x}"', "bad {y}", "same"),
    ("expected {a} got {b}", "expected {len(x)} got {y['k']}", "same"),
    ("expected 3 got 4", "expected {len(x)} got {y['k']}", "same"),
    ("%s is bad", "{x} is bad", "same"),
    ("anything", "{text}", "unknown"),
    ("bad thing 5", "bad value {value!r}", "different"),
    ("expected {a} but got {b}", "expected {len(x)} got {y['k']}", "different"),
]


@pytest.mark.parametrize(("stated", "actual", "verdict"), EXACT)
def test_exact_messages(stated: str, actual: str, verdict: str) -> None:
    assert compare_message(stated, Raise("ValueError", actual, 1, literals=(actual,))) == verdict


@pytest.mark.parametrize(("stated", "actual", "verdict"), TEMPLATES)
def test_templates_match_by_their_fixed_parts(stated: str, actual: str, verdict: str) -> None:
    assert compare_message(stated, Raise("ValueError", actual, 1, template=True)) == verdict


def test_the_best_of_several_raises_counts() -> None:
    options = [Raise("ValueError", "too low", 3), Raise("ValueError", "too high", 5)]
    assert best_match("too high", options) == ("same", options[1])
    assert best_match("anything", []) == ("different", None)


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.booleans())
def test_no_text_raises(stated: str, actual: str, template: bool) -> None:
    assert compare_message(stated, Raise("E", actual, 1, template)) in {"same", "unknown", "partial", "different"}


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abc {}'.%s<>", min_size=1, max_size=30))
def test_a_message_equals_itself(text: str) -> None:
    assert compare_message(text, Raise("E", text, 1)) in {"same", "unknown"}
