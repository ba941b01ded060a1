"""Headings and items in the many true forms that people give them: none is a false alarm."""

import pytest

from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

SOURCE = """
class A:
    @property
    def rate(self) -> float:
        return 1.0

    @classmethod
    def make(cls, text: str, size: int = 4) -> "A":
        return cls()


async def run(n: int) -> None: ...


def stats(values: list) -> int:
    return 1
"""
MAKE = """

Makes one.

Parameters:

- `text` (`str`): the text
- `size` (`int`, default `4`): the size
"""
PAGE = """# mod

## `A`

A thing.

### {rate}

The rate, a `float`.

### {make}
{below}

Returns `A`.

## {run}

Runs.

- `n` (`int`): how often

## {stats}

Counts.

- `values` (`list`): the values

Returns `int`.
"""
DEFAULT = {"rate": "`rate`", "make": "`make(text, size=4)`", "run": "`run(n)`", "stats": "`stats(values)`"}


def errors(text: str, source: str = SOURCE) -> list[Finding]:
    return [one for one in verify(text, facts_of_python(source, "mod")) if one.level == "error"]


def page(**heads: str) -> str:
    return PAGE.format(below=MAKE, **{**DEFAULT, **heads})


@pytest.mark.parametrize("head", ["`rate` (property)", "`A.rate` (property)", "`rate` (`float`)", "`rate` (float)"])
def test_brackets_after_a_property_are_no_call(head: str) -> None:
    assert errors(page(rate=head)) == []


@pytest.mark.parametrize(
    "head",
    [
        "`make()` (deprecated)",
        "`make()` *deprecated*",
        "`make()` ⚠️ *deprecated*",
        "`make(text: str, size: int = 4)` ⚠️",
        "`make()` 🔧",
        "`make(text, size=4)` `classmethod`",
        "*classmethod* `make`",
        "Creating: `make()`",
        "`make` / building",
        "`make` ([source](mod.py))",
        "`make()` [source](mod.py)",
        "`make` (text: str, size: int = 4)",
        "`make`([source](mod.py))",
        "`make()` ![badge](x.svg)",
        "`make()` `v2`",
        "Making one (`make`)",
        "Making one with `make()`",
        "*classmethod* `make()` / building",
    ],
)
def test_words_beside_a_method_keep_it(head: str) -> None:
    assert errors(page(make=head)) == []


@pytest.mark.parametrize("head", ["*async* `run(n: int) -> None`", "`await run(n)`", "Running: `run`"])
def test_words_beside_a_coroutine_keep_it(head: str) -> None:
    assert errors(page(run=head)) == []


@pytest.mark.parametrize("head", ["Computing statistics: `stats`", "`stats` / statistics", "`stats` (new)"])
def test_words_beside_a_function_keep_it(head: str) -> None:
    assert errors(page(stats=head)) == []


@pytest.mark.parametrize("head", ["`phantom` (static method)", "`phantom(text)`", "*classmethod* `phantom(text)`"])
def test_an_invented_name_is_still_found(head: str) -> None:
    assert "S102" in {one.rule for one in errors(page(make="`make`", stats=f"`stats`\n\n## {head}"))}


@pytest.mark.parametrize("head", ["`make` (text, length=4)", "`make(length)` (deprecated)"])
def test_a_wrong_signature_is_still_found(head: str) -> None:
    assert "P207" in {one.rule for one in errors(page(make=head))}


@pytest.mark.parametrize("after", ["*(static)*", "(static)", "*static*", "⚠️", "*deprecated*"])
def test_a_badge_after_the_signature_of_an_item_keeps_its_parameters(after: str) -> None:
    source = "class P:\n    @staticmethod\n    def parse(text: str) -> int:\n        return 1\n"
    text = f"# m\n\n## `P`\n\nA parser.\n\n- **`parse(text: str) -> int`** {after}\n  - `text` (`str`): the text\n"
    assert errors(text, source) == []


@pytest.mark.parametrize("name", ["Options", "Errors", "Attributes", "Parameters", "Examples", "Returns", "Version"])
@pytest.mark.parametrize("mark", ["", "`"])
def test_a_class_may_be_called_like_a_section(name: str, mark: str) -> None:
    source = f"class {name}:\n    def get(self, key: str) -> int:\n        return 1\n"
    text = f"# m\n\n## {mark}{name}{mark}\n\nHolds them.\n\n### `get(key)`\n\n- `key` (`str`): the key\n"
    assert errors(text, source) == []


@pytest.mark.parametrize(
    "lead",
    [
        "**`make(text, size=4)`** `classmethod`",
        "**`make(text, size=4)`** *(class method)*",
        "**`make(text: str, size: int = 4) -> A`** ⚠️ *deprecated*",
        "`make(text: str, size: int = 4)` ⚠️",
    ],
)
def test_a_badge_after_a_signature_that_stands_alone(lead: str) -> None:
    text = page().replace("### `make(text, size=4)`\n", f"{lead}\n")
    source = SOURCE.replace("        return cls()", '        raise ValueError("no")')
    text = text.replace("Returns `A`.", 'Raises `ValueError`: "no".')
    assert lead in text
    assert errors(text, source) == []


@pytest.mark.parametrize(
    "name",
    ["summary", "example", "usage", "parameters", "returns", "overview", "notes", "constants", "errors"],
)
@pytest.mark.parametrize("head", ["{}(xs)", "{}(xs):", "**{}(xs)**", "`{}(xs)`", "{}(xs: list) -> int", "1. {}(xs)"])
def test_a_call_is_no_title_of_a_section(name: str, head: str) -> None:
    source = f"def {name}(xs: list) -> int:\n    return 1\n"
    text = f"# m\n\n## {head.format(name)}\n\nCounts.\n\n- `xs` (`list`): what is counted\n\nReturns `int`.\n"
    assert errors(text, source) == []


@pytest.mark.parametrize("head", ["Parameter(s)", "parameter(s)", "Parameters (required)", "Parameters(optional)"])
def test_brackets_after_a_title_keep_it(head: str) -> None:
    source = "def tally(xs: list) -> int:\n    return 1\n"
    text = f"# m\n\n## `tally`\n\nCounts.\n\n### {head}\n\n- `xs` (`list`): what is counted\n"
    assert errors(text, source) == []
    assert errors(text.replace("`xs`", "`ys`"), source) != []
