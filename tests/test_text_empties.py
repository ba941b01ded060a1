"""Blocks with nothing in them: they go, and what a reader sees stays as it is."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reflexion.text import clean_markdown
from reflexion.text.empties import without_empty_blocks
from tests.test_text import EMPTIES, structure


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(structure, st.sampled_from(["", *EMPTIES])), min_size=1, max_size=5), st.booleans())
def test_blocks_with_nothing_in_them_go_and_all_else_stays(parts: list[tuple[str, str]], mark_left: bool) -> None:
    page = "\n\n".join(["# Page", *(body for body, _ in parts)]) + "\n"
    reply = "\n\n".join(["# Page", *(part for pair in parts for part in pair if part)])
    assert clean_markdown(reply + ("\n```\n" if mark_left else "\n")) == page


@pytest.mark.parametrize(
    "document",
    [
        "# A\n\n```python\nx = 1\n\n```\n```\n\nText.\n\n```python\n```\n",
        "# A\n\n- one\n\n  ```\n  ```\n\n- two\n",
        "# A\n\n- one\n```\n```\n    code\n",
        "# A\n\n> ```\n> ```\n",
        '# A\n\nHe said:\n"\nand left.\n',
        "# A\n\n````\n```\n```\n````\n",
        "# A\n\nExample:\n\n```python\n",
        "# A\n\n```python\nx = 1\n\n## B\n\n```python\ny = 1\n```\n```\n",
        "# A\n\n    ```\n    ```\n",
    ],
)
def test_marks_that_may_belong_to_something_stay(document: str) -> None:
    assert clean_markdown(document) == document


LINES = [
    "```",
    "```py",
    "~~~",
    "~~~~",
    "  ```",
    '"',
    "`",
    "",
    "- a",
    "1. b",
    "text",
    "    x",
    "> q",
    "---",
    "===",
    "## H",
]


def _shown(text: str) -> list[tuple[str, str]]:
    """What a reader sees by a CommonMark parser, block by block, but for blocks with nothing in them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    shown = [(one.type, one.content.strip("\n")) for one in tokens if one.content or one.type == "hr"]
    return [(kind, content) for kind, content in shown if kind == "hr" or content.strip(" `\"'\n")]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*LINES, "|a|b|", "|-|-|", "<div>", "<!-- x -->"]), max_size=14).map("\n".join))
@example('"\n"\n|-|-|')
@example("    x\n```\n```\n    x")
def test_what_a_reader_sees_is_the_same_without_empty_blocks(text: str) -> None:
    assert _shown(without_empty_blocks(text)) == _shown(text)


def test_what_an_empty_fence_parts_stays_apart() -> None:
    assert clean_markdown("# A\n\nOne.\n```\n```\nTwo.\n") == "# A\n\nOne.\n\nTwo.\n"
    assert clean_markdown("# A\n\nOne.\n```\n```\n---\n\nTwo.\n") == "# A\n\nOne.\n\n---\n\nTwo.\n"
