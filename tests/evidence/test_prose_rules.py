"""Text rules: each finds what it is for, on the right line, and good documentation has no error."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.assemble import render
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.prose import TEXT_RULES, check_prose
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from reflexion.text import clean_markdown

PAGE = """# interest

Computes compound interest for savings plans.

## `grow(balance, rate=0.05, years=1)`

Returns the balance after `years` years.

| Parameter | Type | Default |
|-----------|------|---------|
| `balance` | `float` | required |
| `rate` | `float` | `0.05` |

### Raises

- `ValueError`: "rate must not be negative", if `rate` is below 0.

### Example

```python
# one year
>>> grow(100.0)
105.0
```

Note: amounts are not rounded (see `round_up`).
"""
LAST = PAGE.count("\n")


def found(document: str) -> list[tuple[str, str, int]]:
    return [(finding.rule, finding.level, finding.line) for finding in check_prose(document)]


def added(text: str) -> list[tuple[str, str, int]]:
    """What ``text`` below a good page is found for; lines count from the first added one."""
    return [(rule, level, line - LAST) for rule, level, line in found(PAGE + text)]


def test_a_good_page_has_no_finding() -> None:
    assert check_prose(PAGE) == []
    assert check_prose(PAGE.replace("\n", "\r\n")) == []
    assert check_prose("\ufeff" + PAGE) == []
    assert check_prose(PAGE + "\n<!-- reflexion: accepted, score 97, APPROVED -->\n") == []


BLATANT = [
    ("\ndef area(width, height):\n    return width * height\n\nIt is an area.\n", ("T009", "error", 2)),
    ("\nThe class:\nclass Area(Base):  # one\n\n    def __init__(self):\n        pass\n\nEnd.\n", ("T009", "error", 3)),
    ("\nasync def area(\n    width) -> int: return 1\n\ndef area(w): return w\n\nEnd.\n", ("T009", "error", 5)),
    ("\nI hope this helps!\n", ("T001", "error", 2)),
    ("\nLet me know if you need\nany changes.\n", ("T001", "error", 2)),
    ("\nNo formatting errors or contradictions were found.\n", ("T002", "error", 2)),
    ("\nTechnical accuracy: 100/100\n", ("T002", "error", 2)),
    ("\n- Technical accuracy: 100\n", ("T002", "error", 2)),
    ("\nAPPROVED\n\n<!-- marker -->\n", ("T002", "error", 2)),
    ('\n{"technical_accuracy": 100, "completeness": 1, "single_critical_fix": ""}\n', ("T002", "error", 2)),
    ("\n" + "../" * 300 + "\n\nEnd.\n", ("T003", "error", 2)),
    ("\n" + "the same words again " * 20 + ".\n", ("T003", "error", 2)),
    ("\n" + "It adds numbers.\n\n" * 4, ("T003", "error", 2)),
    ("\n# interest\n\nText one.\n\n# interest\n\nText two.\n", ("T003", "error", 6)),
    ("\n```python\n" + "x = 1\n" * 50 + "```\n", ("T003", "error", 3)),
    ("\n```python\nx = 1\n", ("T004", "error", 2)),
    ("\nMore.\n\n```\n", ("T004", "error", 4)),
    ("\nThe function returns the\n", ("T005", "error", 2)),
    ("\n- one\n-\n", ("T005", "error", 3)),
    ("\nIt calls `grow(\n", ("T005", "error", 2)),
    ("\nIt grows (as the name\n", ("T005", "error", 2)),
    ("\n## `grow(items: list[int\n", ("T005", "error", 2)),
    ('\nIt raises `ValueError` with the message "too\n', ("T005", "error", 2)),
    ("\nIt grows. This function does not\n", ("T005", "error", 2)),
    ("\n| a | b |\n|---|---|\n| 1 | 2\n", ("T005", "error", 4)),
    ("\n<!-- open\nhidden\n", ("T005", "error", 2)),
    ("\n<think>\nplan\n", ("T007", "error", 2)),
    ("\n</think>\n\nText.\n", ("T007", "error", 2)),
    ("\n<<<BEGIN SOURCE 0123456789ab>>>\n\nText.\n", ("T007", "error", 2)),
    ("\n<<<BEGIN DOCUMENT a4df44fbf6ef>>\n\nText.\n", ("T007", "error", 2)),
    ('\n<<<END DOCUMENT a83406969c7a>>"\n\nText.\n', ("T007", "error", 2)),
    ("\n<<<Title 61f42b5d07e3>>>\n\nText.\n", ("T007", "error", 2)),
    ("\nIt grows. <<<END SOURCE 61f42b5d>\n\nText.\n", ("T007", "error", 2)),
    ("\nText.<|im_end|>\n", ("T007", "error", 2)),
]


@pytest.mark.parametrize(("text", "finding"), BLATANT)
def test_what_is_blatant_is_an_error_on_its_line(text: str, finding: tuple[str, str, int]) -> None:
    assert [item for item in added(text) if item[1] == "error"] == [finding]


UNSURE = [
    ("\nIf you have any questions, let me know.\n\n## More\n\nText.\n", ("T001", "warning", 2)),
    ("\nAPPROVED\n\n## More\n\nText.\n", ("T002", "warning", 2)),
    ('\n```json\n{"technical_accuracy": 9, "completeness": 9}\n```\n', ("T002", "warning", 2)),
    ("\n```text\n" + "tick\n" * 20 + "```\n", ("T003", "warning", 3)),
    ("\n- Like this:\n  ```python\n  x = 1\n\nMore text.\n", ("T004", "warning", 3)),
    ("\n## More\n", ("T005", "warning", 2)),
    ('\nThe screen is one of 5" and it is kept\n', ("T005", "warning", 2)),
    ("\nReturns `False` if it grows well and does not\n", ("T005", "warning", 2)),
    ("\nThe value is good and it is kept\n", ("T005", "warning", 2)),
    ("\nThe values are:\n", ("T005", "warning", 2)),
    ("\nassistant:\n\nText.\n", ("T007", "warning", 2)),
    ("\nYou are an expert technical writer.\n", ("T007", "warning", 2)),
]


@pytest.mark.parametrize(("text", "finding"), UNSURE)
def test_what_could_be_meant_is_a_warning(text: str, finding: tuple[str, str, int]) -> None:
    assert added(text) == [finding]


FINE = [
    "\nThe line `<<<BEGIN DOCUMENT a4df44fbf6ef>>` is code.\n",
    "\n```text\n<<<Title 61f42b5d07e3>>>\n```\n",
    "\nThe form <<<NAME TOKEN>>> and the shift 1 <<< 2 are no echo.\n",
    "\nWorks from C# too.\n",
    "\nNo errors are raised for an empty list.\n",
    "\nReturns `None` if no errors were found.\n",
    "\nFeel free to pass any iterable.\n",
    "\nIf you ask for a negative rate, `grow` raises.\n",
    f"\n```text\nSure! Here is the documentation:\n<think>\n{'../' * 20}\n```\n",
    "\nThe tags `<think>` and `<|im_end|>` are removed.\n",
    f"\nPaths such as `{'../' * 18}x` are refused.\n",
    "\n----------------------------------------------------------------\n\nMore.\n",
    "\nThe default is 0x00000000000000000000000000000000.\n",
    "".join(f"\n## `f{n}()`\n\n### Returns\n\nReturns `None`.\n" for n in range(30)),
    "\n| a |\n|---|\n" + "".join(f"| same {n} |\n" for n in range(9)),
    "\n- `grow`\n- `shrink`\n",
    "\n[docs](https://example.org)\n",
    "\nGrows by steps (yearly), and [monthly](#m).\n",
    "\n````markdown\n```python\nx = 1\n```\n````\n",
    "\n## Scores\n\n- Score: 97\n- Quality: high\n",
    "\n<!-- a comment -->\n",
]


@pytest.mark.parametrize("text", FINE)
def test_good_documentation_is_left_alone(text: str) -> None:
    assert added(text) == []


def test_chatter_at_the_start() -> None:
    assert found("Sure! Here is the documentation:\n\n" + PAGE) == [("T001", "error", 1)]
    long = "Certainly! This first paragraph says a lot about the module and about how it is used. " * 3
    assert found(f"{long}\n\n{PAGE}") == [("T001", "warning", 1)]


def test_a_loop_of_several_lines() -> None:
    rows = ["The function adds two numbers.", "It returns the sum of them.", "It never raises anything."]
    (error,) = [item for item in added("\n" + "\n".join(rows * 12) + "\n") if item[1] == "error"]
    assert error == ("T003", "error", 2)


def test_sections_that_are_copies() -> None:
    section = "\n## `grow`\n\nReturns the balance after some years, as a number, without rounding it at all.\n\nMore.\n"
    assert ("T003", "error", 8) in added(section * 4)


@pytest.mark.parametrize(
    "body",
    [
        "    'Do what the base class says.'\n    raise NotImplementedError\n",
        "    'Read.'\n    return checked(a)\n",
    ],
)
def test_what_many_functions_have_in_common_is_no_loop(body: str) -> None:
    checked = (
        "def checked(a: int) -> dict[str, int]:\n"
        "    if a:\n        raise ValueError('a is set')\n    raise KeyError('a')\n"
    )
    functions = "".join(f"def read_{number}(a: int) -> dict[str, int]:\n{body}" for number in range(200))
    facts = facts_of_python(checked + functions, "readers")
    assert verify(render(facts), facts) == []


def test_a_loop_under_a_few_headings_is_one() -> None:
    loop = "The function adds two numbers.\nIt returns the sum of them.\nIt never raises anything.\n" * 10
    for headings in ("## `one`\n{}\n## `two`\n{}", "## `one`\n{}\n## `one`\n{}"):
        assert ("T003", "error") in {item[:2] for item in added("\n" + headings.format(loop, loop))}


def test_an_empty_page() -> None:
    assert found("") == found(" \n\n") == [("T006", "error", 1)]
    assert ("T006", "error", 1) in found("# interest\n")
    assert ("T006", "error", 1) in found("# interest\n\n## Parameters\n\n## Returns\n")
    assert found("Computes interest for savings plans.\n") == [("T006", "warning", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "\n```python\ndef area(width):\n    return width\n```\n",
        "\nFor instance:\n\n    def area(width):\n        return width\n",
        "\n.. testcode::\n\n   def area(width):\n       return width\n\nEnd.\n",
        "\ndef area(width):\nReturns the area.\n",
        "\nclass Area:\n    An area, in square metres.\n",
        "\n- def area(width):\n    - returns the area\n",
        "\nWrite `def area(width):`\nand `    return width` below it.\n",
    ],
)
def test_code_in_its_place_and_words_that_look_like_code(text: str) -> None:
    assert "T009" not in {rule for rule, _, _ in found(PAGE + text)}


def test_one_finding_for_one_run_of_code() -> None:
    code = "class Area:\n    width = 1\n\n    def size(self):\n        return 1\n\ndef area(w):\n    return w\n"
    assert [rule for rule, _, _ in added(f"\n{code}\nEnd.\n\n{code}\nEnd.\n")] == ["T009", "T009"]


def test_a_page_in_a_fence() -> None:
    assert ("T008", "error", 1) in found(f"```markdown\n{PAGE}```\n")
    assert ("T008", "error", 3) in found(f"Some words first.\n\n````md\n{PAGE}````\n")
    assert "T008" not in {rule for rule, _, _ in found(f"{PAGE}\n````markdown\n# Title\n````\n")}


@pytest.mark.parametrize("text", [text for text, finding in BLATANT if finding[0] in ("T001", "T002")])
def test_what_the_rules_call_chatter_the_cleaner_removes(text: str) -> None:
    if "- Technical" not in text and "<!--" not in text:
        assert clean_markdown(PAGE + text) == PAGE


def test_evidence_and_fix_are_there_and_short() -> None:
    for text, _ in BLATANT + UNSURE:
        for finding in check_prose(PAGE + text):
            assert finding.fix.endswith(".")
            assert 0 < len(finding.evidence) <= 300
            assert len(finding.message) < 250


def test_rules_are_documented_and_complete() -> None:
    codes = [rule.code for rule in TEXT_RULES]
    assert codes == [f"T00{number}" for number in range(1, 10)]
    assert {finding[0] for _, finding in BLATANT} | {"T006", "T008"} == set(codes)
    for rule in TEXT_RULES:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
        assert all(f"\n{word}: " in rule.explanation for word in ("Wrong", "Right", "Why"))


def test_a_rules_own_page_has_no_error() -> None:
    for rule in TEXT_RULES:
        errors = [f for f in check_prose(f"# {rule.code}\n\n{rule.explanation}\n") if f.level == "error"]
        assert errors == [], rule.code


pieces = st.sampled_from(
    ["# T", "```", "~~~py", "- ", "1. a", "> b", "| a | b |", "|---|---|", "<think>", "<!--", "`", "(", "[x", "the", ""]
)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.lists(pieces, max_size=12).map("\n".join), st.text(), st.text(st.sampled_from("\ud800\0\r\n`|<#- a")))
)
def test_no_text_raises_and_lines_are_real(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for finding in check_prose(text):
        assert isinstance(finding, Finding)
        assert 1 <= finding.line <= len(lines)
        assert finding.rule in {rule.code for rule in TEXT_RULES}


def test_what_the_source_holds_is_no_echo_of_a_prompt() -> None:
    line = "<<<BEGIN DOCUMENT a4df44fbf6ef>>"
    assert [one.rule for one in check_prose(f"{PAGE}\n{line}\n\nText.\n")] == ["T007"]
    assert check_prose(f"{PAGE}\n{line}\n\nText.\n", f"MARK = '{line}'\n") == []
