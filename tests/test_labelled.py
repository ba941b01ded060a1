"""Labelled sections: however a model writes a heading, what stands under it is found whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.text.labelled import labelled

LABELS = {"ONE": ("one", "first"), "TWO CODE": ("two code", "two")}
CODE = "```python\n# One\n## Two\nx = 1\n```"


@pytest.mark.parametrize(
    "heading",
    [
        "### TWO_CODE",
        "## Two Code",
        "# two-code",
        "#### TWO CODE:",
        "###TWO_CODE",
        "### 2. TWO_CODE ###",
        "### **Two code**",
        "### `TWO_CODE`",
        "### Section 2: The final two code",
        "**TWO CODE**",
        "**Two code:**",
        "TWO CODE",
        "Two code:",
        "[TWO CODE]",
        "=== TWO CODE ===",
        "2. **TWO CODE**",
        "Two code\n--------",
        "### \N{WRENCH} TWO CODE",
    ],
)
def test_headings_as_models_write_them(heading: str) -> None:
    sections = labelled(f"Sure!\n\n### ONE\nSome words.\n\n{heading}\n\n{CODE}\n", LABELS)
    assert sections["ONE"] == "Some words."
    assert sections["TWO CODE"] == CODE
    assert sections[""] == "Sure!"


@pytest.mark.parametrize(
    "line",
    [
        "Two code is what follows.",
        "two code",
        "### Two code and one more",
        "- two code",
        "    ### TWO CODE",
        "word " * 40,
    ],
)
def test_lines_that_say_more_or_less_are_no_heading(line: str) -> None:
    assert "TWO CODE" not in labelled(f"### ONE\nSome words.\n\n{line}\n", LABELS)


def test_a_comment_in_a_fence_is_no_heading() -> None:
    sections = labelled(f"### ONE\n{CODE}\n\n### TWO\nlast\n", LABELS)
    assert (sections["ONE"], sections["TWO CODE"]) == (CODE, "last")


def test_a_heading_that_an_open_fence_swallowed_is_found() -> None:
    sections = labelled("### ONE\n```text\nwords\n\n### TWO CODE\n```python\nx = 1\n```\n", LABELS)
    assert sections["TWO CODE"] == "```python\nx = 1\n```"


def test_the_louder_heading_counts() -> None:
    sections = labelled("## ONE\n#### Two\na part of one\n## Two\nlast\n", LABELS)
    assert (sections["ONE"], sections["TWO CODE"]) == ("#### Two\na part of one", "last")


def test_the_section_on_its_headings_line() -> None:
    assert labelled("**ONE:** all of it\n### TWO\nlast", LABELS)["ONE"] == "all of it"


def test_a_reply_in_a_markdown_fence_with_thinking_before_it() -> None:
    reply = f"<think>### ONE\nno</think>\n````markdown\n### ONE\nyes\n### TWO\n{CODE}\n````"
    assert labelled(reply, LABELS) == {"": "", "ONE": "yes", "TWO CODE": CODE}


marks = ["### ONE", "**TWO CODE**", "# two:", "```", "~~~~", "```python", "````md", "- 1. two", "<think>"]
pieces = st.lists(
    st.one_of(st.sampled_from(marks), st.text(alphabet="ab #*_:`\n\t\r\u2028<>|1.-=", max_size=30)), max_size=20
).map("\n".join)


@settings(deadline=None)
@given(pieces)
def test_no_text_raises_and_sections_are_parts_of_it(text: str) -> None:
    sections = labelled(text, LABELS)
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    assert set(sections) <= {"", "ONE", "TWO CODE"}
    for section in sections.values():
        assert all(line in whole for line in section.split("\n"))


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abc d.,(", min_size=1, max_size=40).map(str.strip).filter(bool), min_size=1))
def test_what_is_written_as_asked_is_read_whole(lines: list[str]) -> None:
    body = "\n".join(f"x {line}" for line in lines)
    sections = labelled(f"### ONE\n{body}\n\n### TWO CODE\n{CODE}\n", LABELS)
    assert sections == {"": "", "ONE": body, "TWO CODE": CODE}
    again = "\n\n".join(f"### {name}\n{section}" for name, section in sections.items() if name)
    assert labelled(again, LABELS) == sections
