"""Patterns that wait for their first use."""

import re

import pytest

from reflexion.patterns import regex


def test_a_pattern_that_waits_behaves_as_one_compiled_at_once() -> None:
    text = "one two, three"
    late, now = regex(r"(?P<first>\w)(\w+)", re.ASCII), re.compile(r"(?P<first>\w)(\w+)", re.ASCII)
    for _ in range(2):
        assert late.sub("-", text) == now.sub("-", text)
        assert late.findall(text) == now.findall(text)
        assert [found.span() for found in late.finditer(text, 4)] == [found.span() for found in now.finditer(text, 4)]
    assert (late.match(" "), late.pattern, late.flags) == (None, now.pattern, now.flags)


def test_a_broken_pattern_is_told_at_its_first_use() -> None:
    broken = regex("(")
    with pytest.raises(re.error, match="unterminated"):
        broken.search("a")
