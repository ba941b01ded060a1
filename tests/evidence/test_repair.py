"""Repair, fault by fault: what is wrong is mended in its place, and nothing else moves."""

import pytest

from reflexion.evidence.finding import Finding
from reflexion.evidence.repair import repair
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from tests.evidence.repair_support import MARKER, errors, repaired

SOURCE = '''"""Shop."""

import enum

LIMIT = 1_000


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


class Broke(ValueError):
    """No money."""


def pay(amount: float, note: str = "none", *, fast: bool = False) -> bool:
    """Pay an amount."""
    if amount < 0:
        raise ValueError("amount must not be negative")
    if amount > LIMIT:
        raise Broke(f"cannot pay {amount}")
    return True


async def fetch(url: str, retries: int = 3) -> str:
    """Fetch a page."""
    return url


def clear() -> None:
    """Clear the till."""


def totals(name: str) -> dict[str, float]:
    """Sum up."""
    return {"sum": 1.0, "count": 2.0}
'''
PAGE = """# Shop

What a till does.

`LIMIT` is `1_000`, the most that can be paid.

## Level

An `Enum` of levels.

| Member | Value |
| --- | --- |
| `LOW` | `1` |
| `HIGH` | `2` |

## Broke

Extends `ValueError`. There is no money left.

## pay

```python
def pay(amount: float, note: str = "none", *, fast: bool = False) -> bool
```

Pays an amount. A note may be given.

| Name | Type | Default | Meaning |
| --- | --- | --- | --- |
| `amount` | `float` | required | what to pay |
| `note` | `str` | `"none"` | a word for the books |
| `fast` | `bool` | `False` | do not wait |

Returns `bool`: whether it worked.

**Raises:**

- `ValueError`: "amount must not be negative" for less than nothing
- `Broke`: "cannot pay {amount}" above the limit

## fetch(url, retries=3)

An async function. Loads a page.

- `url` (`str`): where it is
- `retries` (`int`, default `3`): how often to try

Returns a `str`.

## clear()

Empties the till.

## totals(name)

Sums up. Returns a `dict[str, float]` with the keys `sum` and `count`.

- `name` (`str`): which till
"""
FACTS = facts_of_python(SOURCE, "shop")


def test_the_page_is_true() -> None:
    assert errors(verify(PAGE, FACTS)) == []


# What is planted, and that the page is as it was after repair: (true words, wrong words).
SWAPS = {
    "constant": ("`LIMIT` is `1_000`", "`LIMIT` is `500`"),
    "enum value": ("| `HIGH` | `2` |", "| `HIGH` | `7` |"),
    "base class": ("Extends `ValueError`", "Extends `KeyError`"),
    "default in a table": ('| `str` | `"none"` |', '| `str` | `"all"` |'),
    "type in a table": ("| `amount` | `float` |", "| `amount` | `bytes` |"),
    "default in a list": ("default `3`", "default `5`"),
    "type in a list": ("`retries` (`int`,", "`retries` (`str`,"),
    "default in a signature": ("fast: bool = False)", "fast: bool = True)"),
    "type in a signature": ("(amount: float,", "(amount: bytes,"),
    "result in a signature": (") -> bool\n", ") -> str\n"),
    "result in words": ("Returns `bool`:", "Returns `str`:"),
    "order in a signature": (
        'def pay(amount: float, note: str = "none", *',
        'def pay(note: str = "none", amount: float = 0, *',
    ),
    "name in a signature": ("def pay(amount: float", "def pay(sum: float"),
    "parameter left out of a signature": ("## fetch(url, retries=3)", "## fetch(retries=3)"),
    "kind of a parameter": (', *, fast: bool = False) -> bool\n', ', fast: bool = False) -> bool\n'),
    "async that is not": ("## clear()", "## async clear()"),
    "exception": ("- `Broke`: \"cannot", "- `KeyError`: \"cannot"),
    "message": ("amount must not be negative", "amount may not be negative"),
    "key": ("keys `sum` and `count`", "keys `sum` and `mean`"),
    "name of a symbol": ("## totals(name)", "## totals_of(name)"),
    "name of a parameter": ("| `note` |", "| `notes` |"),
}  # fmt: skip


@pytest.mark.parametrize(("true", "wrong"), SWAPS.values(), ids=SWAPS)
def test_wrong_words_become_the_right_ones_in_their_place(true: str, wrong: str) -> None:
    assert PAGE.count(true) == 1
    found = repaired(PAGE.replace(true, wrong), FACTS)
    assert found.text == PAGE
    assert errors(found.findings) == []
    assert not found.assembled
    assert found.mended


# What is planted behind the words, and goes again.
REMOVALS = {
    "phantom parameter in a table": ("| do not wait |\n", "| `colour` | `str` | required | of the note |\n"),
    "phantom parameter in a list": (": how often to try\n", "- `proxy` (`str`): what to ask\n"),
    "phantom symbol": ("Empties the till.\n", "\n## refund(amount)\n\nPays back.\n\n- `amount` (`float`): how much\n"),
    "phantom member": ("| `HIGH` | `2` |\n", "| `HUGE` | `3` |\n"),
    "denied exception": ("A note may be given.", " It does not raise any exceptions."),
    "author": ("- `name` (`str`): which till\n", "\n## Author\n\nWritten by Jane Roe.\n"),
    "versions": (
        "- `name` (`str`): which till\n",
        "\n## Versions\n\n| Version | Change |\n| --- | --- |\n| 0.1 | initial |\n",
    ),
    "sign-off": ("- `name` (`str`): which till\n", "\nI hope this helps! Let me know if you need anything else.\n"),
    "verdict": ("- `name` (`str`): which till\n", "\nNo formatting errors or contradictions were found.\n"),
    "loop": ("- `name` (`str`): which till\n", "\n" + "and the value of " * 40 + "\n"),
    "repeated line": ("- `name` (`str`): which till\n", "\n" + "There is no money left in it.\n" * 9),
    "cut sentence": ("- `name` (`str`): which till\n", "\nThe result is always the\n"),
}  # fmt: skip


@pytest.mark.parametrize(("after", "planted"), REMOVALS.values(), ids=REMOVALS)
def test_what_has_no_place_goes_and_the_rest_stays(after: str, planted: str) -> None:
    assert PAGE.count(after) == 1
    found = repaired(PAGE.replace(after, after + planted), FACTS)
    kept = found.text.replace("There is no money left in it.\n", "").rstrip("\n") + "\n"
    assert kept == PAGE
    assert errors(found.findings) == []


# What is missing, and a line that stands in the page afterwards.
ADDITIONS = {
    "row": ('| `note` | `str` | `"none"` | a word for the books |\n', '| `note` | `str` | `"none"` |  |\n'),
    "item": ("- `retries` (`int`, default `3`): how often to try\n", "- `retries` (`int`, default `3`)\n"),
    "exception": (
        '- `ValueError`: "amount must not be negative" for less than nothing\n',
        '- `ValueError`: "amount must not be negative"\n',
    ),
    "member": ("| `LOW` | `1` |\n", "| `LOW` | `1` |\n"),
    "key": (" and `count`.", " `sum`, `count`."),
}


@pytest.mark.parametrize(("gone", "written"), ADDITIONS.values(), ids=ADDITIONS)
def test_what_is_missing_is_added_in_the_style_of_its_siblings(gone: str, written: str) -> None:
    assert PAGE.count(gone) == 1
    page = PAGE.replace(gone, "." if gone.endswith(".") else "")
    found = repaired(page, FACTS)
    assert errors(found.findings) == []
    assert written in found.text
    assert all(line in found.text for line in page.splitlines() if "keys" not in line)


def test_a_missing_exception_without_a_list_gets_one() -> None:
    first = PAGE.index("**Raises:**")
    page = PAGE[:first] + PAGE[PAGE.index("## fetch(") :]
    found = repaired(page, FACTS)
    assert '**Raises:**\n\n- `ValueError` with the message `"amount must not be negative"`' in found.text
    assert '`Broke` with the message `"cannot pay {amount}"`' in found.text
    assert found.text.index("**Raises:**") < found.text.index("## fetch(")
    assert errors(found.findings) == []


def test_a_missing_symbol_comes_after_its_sibling() -> None:
    page = PAGE[: PAGE.index("## fetch(")] + PAGE[PAGE.index("## clear()") :]
    found = repaired(page, FACTS)
    order = [found.text.index(name) for name in ("## pay", "## Async function `fetch`", "## clear()")]
    assert order == sorted(order)
    assert errors(found.findings) == []


def test_a_default_that_does_not_exist_goes_with_its_words() -> None:
    for true, wrong in (
        ("`url` (`str`)", "`url` (`str`, default `None`)"),
        ("`url` (`str`)", "`url` (`str`, default `5`)"),
    ):
        found = repaired(PAGE.replace(true, wrong), FACTS)
        assert errors(found.findings) == []
        assert "default `5`" not in found.text
    found = repaired(PAGE.replace("| `float` | required |", "| `float` | `5` |"), FACTS)
    assert found.text == PAGE


def test_a_mark_that_is_left_at_the_end_goes() -> None:
    assert repaired(PAGE + "\n```\n", FACTS).text.rstrip() == PAGE.rstrip()


def test_an_unclosed_fence_is_closed_where_its_code_ends() -> None:
    page = PAGE.replace("-> bool\n```\n", "-> bool\n")
    found = repaired(page, FACTS)
    assert found.text == PAGE


def test_a_page_in_a_fence_is_unwrapped() -> None:
    found = repaired(f"````markdown\n{PAGE}````\n", FACTS)
    assert found.text == PAGE


def test_python_in_the_text_is_put_into_a_fence() -> None:
    code = "def till(name: str) -> float:\n    # What is in it.\n\n    return totals(name)['sum']\n"
    page = PAGE.replace("Sums up.", f"{code}\nSums up.")
    found = repaired(page, FACTS)
    assert found.text == PAGE.replace("Sums up.", f"```python\n{code}```\n\nSums up.")


def test_what_only_looks_like_python_goes_from_the_text() -> None:
    page = PAGE.replace("Sums up.", "def till(x):\n    x = 1 1\n    return x\n\nSums up.")
    assert "T009" in {finding.rule for finding in verify(page, FACTS)}
    assert repaired(page, FACTS).text == PAGE


def test_a_function_shown_with_another_signature_gets_its_own() -> None:
    shown = "\n```python\ndef clear(hard=False):\n    print('cleared')\n```\n"
    found = repaired(PAGE.replace("Empties the till.\n", f"Empties the till.\n{shown}"), FACTS)
    assert "hard" not in found.text
    assert errors(found.findings) == []


def test_hundreds_of_faults_take_few_checks() -> None:
    calls = []

    def check(text: str) -> list[Finding]:
        calls.append(text)
        return verify(text, FACTS)

    phantoms = "".join(f"\n## make_{number}(x)\n\nMakes number {number}.\n" for number in range(150))
    found = repair(PAGE + phantoms, FACTS, check)
    assert found.text.rstrip("\n") == PAGE.rstrip("\n")
    assert len(found.mended) == 150
    assert len(calls) < 30


def test_a_true_page_comes_back_byte_for_byte() -> None:
    page = PAGE.replace("\n", "\r\n") + "\r\n \r\n"
    found = repaired(page, FACTS)
    assert found.text == page
    assert found.mended == ()


def test_the_closing_comment_and_silencing_comments_stay() -> None:
    comment = "<!-- reflexion: off P204 -->"
    page = PAGE.replace("- `retries`", f"{comment}\n- `retries`").replace("default `3`", "default `5`")
    page = page.replace("Extends `ValueError`", "Extends `KeyError`") + f"\nWritten by Jane Roe.\n\n{MARKER}\n"
    found = repaired(page, FACTS)
    assert f"{comment}\n- `retries` (`int`, default `5`)" in found.text
    assert "Extends `ValueError`" in found.text
    assert "Jane Roe" not in found.text
    assert found.text.endswith(f"\n\n{MARKER}\n")


def test_what_was_mended_is_told_with_the_line_of_the_first_page() -> None:
    page = "Sure! Here is the documentation:\n\n" + PAGE.replace("default `3`", "default `5`")
    found = repaired(page, FACTS)
    line = page.splitlines().index("- `retries` (`int`, default `5`): how often to try") + 1
    assert f'line {line}: "5" became "3" (P204)' in found.mended
    assert any(text.startswith("line 1: ") and "T001" in text for text in found.mended)


def test_without_facts_only_the_text_is_mended() -> None:
    true = "# Tool\n\nIt does its work well.\n"
    found = repaired(f"Here is the documentation:\n\n{true}\nLet me know if you need anything else!\n", None)
    assert found.text == true
    assert not found.assembled


def test_an_empty_page_is_written_from_the_facts() -> None:
    found = repaired("", FACTS)
    assert found.assembled
    assert errors(found.findings) == []
    assert "## Function `pay`" in found.text


EXAMPLE = "```python\nprint(total(2))  # 5\n```\n"


def _running(text: str) -> list[Finding]:
    """The rules, and a runner that has run the one example that is there."""
    found = verify(text, FACTS)
    for number, row in enumerate(text.splitlines(), 1):
        if "# 5" in row:
            found.append(Finding("X603", "error", number, "the example states 5; it is 4", "", "", "5", "4"))
        if row.startswith("total("):
            found.append(Finding("X602", "error", number, "the example raises NameError", "", ""))
    return found


def test_a_wrong_output_becomes_the_real_one() -> None:
    found = repair(f"{PAGE}\n{EXAMPLE}", FACTS, _running)
    assert found.text == f"{PAGE}\n{EXAMPLE}".replace("# 5", "# 4")


def test_an_example_that_raises_goes_with_what_announces_it() -> None:
    found = repair(f"{PAGE}\nFor example:\n\n```python\ntotal(2)\n```\n", FACTS, _running)
    assert found.text == PAGE


def test_what_announces_several_examples_goes_with_the_last_of_them() -> None:
    fence = "```python\ntotal({})\n```\n"
    found = repair(f"{PAGE}\nFor example:\n\n{fence.format(1)}\n{fence.format(2)}", FACTS, _running)
    assert found.text == PAGE


@pytest.mark.parametrize(
    ("echo", "left"),
    [
        ("<<<BEGIN DOCUMENT a4df44fbf6ef>>\n", ""),
        ('<<<END DOCUMENT a83406969c7a>>"\n', ""),
        ("<<<Title 61f42b5d07e3>>>\n\n", ""),
        ("It is quick. <<<END SOURCE 61f42b5d07e3>>\n", "It is quick.\n"),
        ("<<<BEGIN A 61f42b5d07e3>>> It is quick. <<<END A 61f42b5d07e3>>>\n", "It is quick.\n"),
    ],
)
def test_an_echo_of_the_prompt_goes_and_the_words_beside_it_stay(echo: str, left: str) -> None:
    head, title, rest = PAGE.partition("\n## ")
    after = repaired(f"{head}\n{echo}{title}{rest}", FACTS)
    assert errors(after.findings) == []
    assert after.text.split() == f"{head}\n{left}{title}{rest}".split()
