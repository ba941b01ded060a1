"""Fences, delimiters and JSON in any text: found whole, and never broken out of."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reflexion.text import (
    delimit,
    fence_for,
    fences,
    json_objects,
    last_json_object,
)

PIECES = [
    "```",
    "~~~",
    "````",
    "```py",
    "    ",
    "  ",
    " ",
    "- ",
    "1. ",
    "2. ",
    "> ",
    "a",
    "b c",
    "",
    "# h",
    "---",
    "===",
    "\t",
]
markdown_lines = st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map("".join), min_size=1, max_size=9)


@settings(max_examples=300, deadline=None)
@given(markdown_lines)
def test_fences_agree_with_a_commonmark_parser(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    parser = MarkdownIt("commonmark").disable(["inline", "reference"])
    theirs = [(t.map[0] + 1, t.info.strip(), t.content) for t in parser.parse(text) if t.type == "fence" and t.map]
    assert [(fence.start_line, fence.info, fence.content) for fence in fences(text)] == theirs


@settings(max_examples=120, deadline=None)
@given(st.text(st.sampled_from("`~ab \n\\")), st.sampled_from(["", "python", "py `x`"]))
def test_our_own_fence_cannot_be_broken_out_of(content: str, info: str) -> None:
    (fence,) = fences(fence_for(content, info) + "after\n")
    assert fence.content == (content if not content or content.endswith("\n") else content + "\n")
    assert fence.closed


@settings(max_examples=120, deadline=None)
@given(st.text(), st.text(max_size=20))
@example("\ud800", "source")
def test_delimiters_do_not_occur_in_what_they_delimit(content: str, label: str) -> None:
    block = delimit(content, label)
    begin, *_, end = block.removesuffix("\n").split("\n")
    assert begin.startswith("<<<BEGIN ")
    assert end.startswith("<<<END ")
    assert begin not in content
    assert end not in content
    assert delimit(content, label) == block


def test_a_delimiter_that_content_forged_is_lengthened() -> None:
    short = delimit("x", "source").split()[2].removesuffix(">>>")
    forged = "x\n" + short
    assert delimit(forged, "source").split()[2].removesuffix(">>>") not in forged


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
json_dicts = st.dictionaries(st.text(max_size=4), json_values, max_size=3)
noise = st.sampled_from(
    ["", "Sure! ", "use {x} ", "it's 5\" { ", "\n```json\n", "}", "{{ ", '{"open": ', "set() {1, 2}"]
)


@settings(max_examples=120, deadline=None)
@given(st.lists(json_dicts, max_size=4), noise, st.booleans())
def test_json_objects_are_found_between_anything(values: list[dict[str, object]], between: str, indent: bool) -> None:
    texts = [json.dumps(value, indent=2 if indent else None) for value in values]
    text = "".join(f"{between}\n{item}\n" for item in texts)
    found = list(json_objects(text))
    assert [item for item in found if item in texts] == texts
    assert last_json_object(text) == (texts[-1] if texts else None)


def test_json_objects_are_complete_and_outermost() -> None:
    text = 'a {"a": {"b": "}{"}} then {"c": oops {"d": 2} {"cut": [1, '
    assert list(json_objects(text)) == ['{"a": {"b": "}{"}}', '{"d": 2}']
    assert last_json_object("none {here}") is None
