"""Replies of the code pipeline's roles: read as they come, refused with the reason, never cut at an inner fence."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.errors import ReplyRejected
from reflexion.team.replies import defines, read_code, read_design, read_patch, shortened
from tests.code_support import SOLUTION, SPECIFICATION, TESTS

NAMES = ("clamp",)
FENCED = 'def clamp(value, low, high):\n    """Example:\n\n```python\nclamp(1, 2, 3)\n```\n    """\n    return value\n'


def test_the_form_that_was_asked_for() -> None:
    reply = f"### SPECIFICATIONS\n{SPECIFICATION}\n\n### TESTS\n```python\n{TESTS}```\n"
    assert read_design(reply) == (SPECIFICATION, TESTS)


@pytest.mark.parametrize(
    "reply",
    [
        f"{SPECIFICATION}\n\n```python\n{TESTS}```\n",
        f"{SPECIFICATION}\n\n### Test suite\n{TESTS}",
        f"## Spec\n{SPECIFICATION}\n## test_solution.py\n~~~py\n{TESTS}~~~\nRun it:\n```bash\npytest\n```\n",
        f"## Spec\n{SPECIFICATION}\n## Tests\n```python\n{TESTS}",
        f"## Spec\n{SPECIFICATION}\n## Tests\n```\n{TESTS}```\nAn implementation:\n```\n{SOLUTION}```\n",
    ],
    ids=["no headings", "no fence", "other fences", "fence left open", "an implementation too"],
)
def test_other_forms(reply: str) -> None:
    design = read_design(reply)
    assert (design.tests.strip(), design.specification) == (TESTS.strip(), SPECIFICATION)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "no text"),
        ("### SPECIFICATIONS\nWords.\n### TESTS\n", "no python code"),
        (f"### TESTS\n```python\n{TESTS}```", "no specification"),
        (
            f"### SPECIFICATIONS\nWords.\n### TESTS\n```python\n{TESTS}```\n```python\n{TESTS}\n\nx = 1\n```",
            "2 blocks of code",
        ),
        ("### SPECIFICATIONS\nWords.\n### TESTS\n```python\ndef test_one(:\n```", "does not parse"),
    ],
)
def test_what_is_missing_is_said(reply: str, why: str) -> None:
    with pytest.raises(ReplyRejected, match=why):
        read_design(reply)


def test_code_with_a_fence_in_its_docstring_is_whole() -> None:
    assert read_code(f"```python\n{FENCED}```\n", NAMES) == FENCED
    assert read_patch(f"### DIAGNOSIS\nWhy.\n### PATCHED_CODE\n```python\n{FENCED}```\n", NAMES) == ("Why.", FENCED)


def test_the_module_is_told_from_an_example_of_its_use() -> None:
    reply = f"```python\n{SOLUTION}```\n\n```python\nfrom solution import clamp\nprint(clamp(1, 2, 3))\n```\n"
    assert read_code(reply, NAMES) == SOLUTION


def test_two_modules_are_refused() -> None:
    with pytest.raises(ReplyRejected, match="2 blocks of code, 2 of them modules"):
        read_code(f"```python\n{SOLUTION}```\n```python\n{FENCED}```\n", NAMES)


def test_tests_in_place_of_the_module_are_refused() -> None:
    with pytest.raises(ReplyRejected, match="the tests are locked"):
        read_patch(f"### DIAGNOSIS\nWhy.\n### PATCHED_CODE\n```python\n{TESTS}```\n", NAMES)


def test_a_diagnosis_is_two_or_three_sentences() -> None:
    said = " ".join(f"Sentence number {number} is here." for number in range(9))
    patch = read_patch(f"## Diagnosis\n{said}\n## Patched code\n```python\n{SOLUTION}```", NAMES)
    assert patch.diagnosis == "Sentence number 0 is here. Sentence number 1 is here. Sentence number 2 is here."
    assert read_patch(f"```python\n{SOLUTION}```", NAMES).diagnosis == ""


@pytest.mark.parametrize(
    ("code", "known"),
    [
        ("def clamp(): pass", True),
        ("async def clamp(): pass", True),
        ("class clamp: pass", True),
        ("clamp = min", True),
        ("a, (clamp, b) = 1, (2, 3)", True),
        ("from math import floor as clamp", True),
        ("from solution import clamp", False),
        ("def other():\n    clamp = 1", False),
        ("clamp(1, 2)", False),
    ],
)
def test_names_that_a_module_binds(code: str, known: bool) -> None:
    assert defines(code, NAMES) is known


@settings(deadline=None)
@given(st.text(alphabet="ab. !\n", max_size=400), st.integers(1, 20))
def test_shortened_keeps_whole_sentences_from_the_start(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short.removesuffix(" ...").split()) <= most
    assert " ".join(text.split()).startswith(short.removesuffix(" ..."))
    assert bool(short) is bool(text.strip())
    if not short.endswith(" ..."):
        assert shortened(short, most) == short


lines = ["### TESTS", "### SPECIFICATIONS", "```python", "```", "~~~", "def test_a(): assert 1", "x = 1", "text", ""]
noise = st.lists(st.sampled_from(lines), max_size=14).map("\n".join)


@settings(deadline=None)
@given(noise)
def test_any_reply_is_read_or_refused(text: str) -> None:
    try:
        design = read_design(text)
    except ReplyRejected:
        return
    ast.parse(design.tests)
    assert design.specification
    assert all(line in text for line in design.tests.split("\n"))


names = st.text(alphabet="abcxyz", min_size=1, max_size=8)
values = st.integers(-999, 999)


@settings(deadline=None)
@given(st.lists(st.tuples(names, values), min_size=1, max_size=6), st.sampled_from(["```", "````", "~~~"]))
def test_code_comes_back_byte_for_byte(parts: list[tuple[str, int]], mark: str) -> None:
    module = "".join(f"def f_{name}():\n    # ## TESTS\n    return {value}\n\n\n" for name, value in parts)
    wanted = tuple(f"f_{name}" for name, _ in parts)
    patch = read_patch(f"### DIAGNOSIS\nWhy so.\n\n### PATCHED_CODE\n{mark}python\n{module}{mark}\nDone!\n", wanted)
    assert patch == ("Why so.", module)
