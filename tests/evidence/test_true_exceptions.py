"""Exceptions told of in the many true forms that people give them: none is a false alarm."""

import pytest

from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

SOURCE = """
def parse(values: list) -> int:
    if not values:
        raise ValueError("values must not be empty")
    return 1


def stop(code: int) -> None:
    raise SystemExit(code)
"""
STOP = "## `stop(code)`\n\nExits with `SystemExit`.\n\n- `code` (`int`): the code\n"


def findings(said: str, head: str = "# m\n\n## `parse(values)`\n\n", source: str = SOURCE) -> list[Finding]:
    text = f"{head}Parses.\n\n- `values` (`list`): the values\n\n{said}\n\n{STOP if source is SOURCE else ''}"
    return verify(text, facts_of_python(source, "m"))


def errors(said: str) -> list[Finding]:
    return [one for one in findings(said) if one.level == "error"]


@pytest.mark.parametrize(
    "said",
    [
        "An empty list is refused with a `ValueError`.",
        "An empty list is rejected with `ValueError`.",
        "An empty list causes a `ValueError`.",
        "An empty list triggers `ValueError`.",
        "An empty list leads to a `ValueError`.",
        "An empty list results in a ValueError.",
        "An empty list produces a `ValueError`.",
        "Fails with `ValueError` if the list is empty.",
        "A `ValueError` occurs if the list is empty.",
        "You get a `ValueError` for an empty list.",
        "Expect a `ValueError` when the list is empty.",
        "An empty list is an error (`ValueError`).",
        "Signals an empty list by `ValueError`.",
        "Callers should catch `ValueError`.",
        "⚠️ ValueError: values must not be empty",
        "Lists that are not filled give a `ValueError`.",
        "- empty lists → `ValueError`",
        "### Errors\n\nAn empty list is refused with a\n`ValueError`.",
        "## Errors\n\nEmpty lists: `ValueError`.",
    ],
)
def test_an_exception_is_told_of_by_any_verb(said: str) -> None:
    assert errors(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "",
        "It takes a list.",
        "It never ends in a `ValueError`.",
        "It catches `ValueError`.",
        "There is no `ValueError`.",
        "`ValueError` is never raised.",
        "## `other`\n\nFails with `ValueError`.",
        "## Other things\n\nA `ValueError` is a class.",
    ],
)
def test_an_exception_that_the_section_does_not_tell_of_is_an_error(said: str) -> None:
    assert {"E301", "E306"} & {one.rule for one in errors(said)}


@pytest.mark.parametrize(
    "said",
    [
        "Raises `ValueError`. No other exceptions are raised.",
        "Raises `ValueError`. It raises no other exception.",
        "Raises `ValueError`. It does not raise any other exceptions.",
        "Raises `ValueError`. Nothing else is raised: it does not raise anything else.",
        "Raises no exceptions other than `ValueError`.",
        "Does not raise anything except `ValueError` for empty lists.",
        "Besides `ValueError`, no exceptions are raised.",
    ],
)
def test_a_denial_of_others_denies_nothing(said: str) -> None:
    assert not {"E301", "E306"} & {one.rule for one in findings(said) if one.level == "error"}


@pytest.mark.parametrize(
    "said", ["Raises no exceptions other than `ValueError`.", "Does not raise anything except `ValueError`."]
)
def test_a_denial_of_others_claims_the_one(said: str) -> None:
    assert "E301" not in {one.rule for one in findings(said) if "`parse`" in one.message}


@pytest.mark.parametrize(
    "said", ["It raises no exceptions.", "No exceptions are raised.", "It does not raise `ValueError`."]
)
def test_a_plain_denial_is_an_error(said: str) -> None:
    assert "E306" in {one.rule for one in errors(said)}


KEYED = """
class E(ValueError):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")


def parse(values: list) -> int:
    raise E("expected key", 3)
"""
CLASS = "# m\n\n## `E(message, line)`\n\n- `message` (`str`): text\n- `line` (`int`): line\n\n## `parse(values)`\n\n"


@pytest.mark.parametrize(
    "said",
    [
        'Raises `E`: "expected key".',
        "**Raises**\n\n- `E`: `expected key`",
        'Raises `E` with the message "line 3: expected key".',
    ],
)
def test_the_words_of_the_raise_itself_are_no_misquote(said: str) -> None:
    assert [one for one in findings(said, CLASS, KEYED) if one.level == "error"] == []


def test_other_words_are_a_misquote() -> None:
    said = 'Raises `E` with the message "expected value".'
    assert "E304" in {one.rule for one in findings(said, CLASS, KEYED) if one.level == "error"}


@pytest.mark.parametrize(
    "said",
    [
        'Raises `ValueError` with the message "Values must not be empty".',
        'Raises `ValueError` with the message "values must not be empty!"',
        'Raises `ValueError` with the message "Values must not be empty."',
        'Raises `ValueError` saying that "values" must not be empty.',
    ],
)
def test_case_and_punctuation_at_the_ends_are_no_misquote(said: str) -> None:
    assert errors(said) == []
