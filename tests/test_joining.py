"""Pages about pieces become one page: as code writes the whole, and as models write parts."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.assemble import render
from reflexion.evidence.facts import Facts
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from reflexion.joining import join_pages
from reflexion.ollama.window import estimate_tokens
from reflexion.pieces import facts_of_piece, split_source
from reflexion.sections import read_parts

CORPUS = sorted((Path(__file__).parents[1] / "benchmarks" / "truth_corpus").glob("*.py"))
SOURCE = '''"""Accounts of a bank."""

LIMIT = 100
FEE = 2


class Account:
    """An account."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def pay(self, amount: int) -> int:
        """Pay in."""
        if amount < 0:
            raise ValueError("amount must not be negative")
        return amount

    def close(self) -> None:
        """Close it."""


class Branch:
    """A branch."""

    def close(self, at: int = 17) -> int:
        """Close it."""
        return at


RATE = 3


def transfer(amount: int, fee: int = FEE) -> int:
    """Move money."""
    if amount > LIMIT:
        raise KeyError("too much")
    return amount - fee
'''
FIRST = """# Bank

Accounts of a bank.

## Overview

What the module is for.

## Constants

| Name | Value |
|---|---|
| `LIMIT` | `100` |
| `FEE` | `2` |

## Classes

The class is described below.

### Class `Account`

An account, made by `Account(owner: str)`.

#### Parameters

- `owner` (`str`): whose it is.

#### Methods

##### `pay(amount: int) -> int`

Pays in.

- `amount` (`int`): how much.

###### Raises

- `ValueError`: "amount must not be negative"

## Conclusion

This module helps with accounts.
"""
SECOND = """# The second part of bank

This part closes accounts and branches.

## `Account`

### `close()`

Closes the account.

---

## `Branch`

A branch.

### close(at: int = 17) -> int

Closes the branch and returns the hour.

Parameters
----------

- `at` (`int`, default `17`): the hour.

## Examples

```python
# Not a heading
Branch().close()
```

---

That is all there is about branches.
"""
THIRD = """# bank

The rest.

| Name | Value |
|---|---|
| `RATE` | `3` |

# Function `transfer(amount: int, fee: int = FEE) -> int`

Moves money.

## Parameters

- `amount` (`int`): how much.
- `fee` (`int`, default `FEE`): what it costs.

## Raises

- `KeyError`: "too much"

## Examples

```python
transfer(3)
```
"""
OWNED = (
    ["LIMIT", "FEE", "Account", "Account.owner", "Account.pay"],
    ["Account.close", "Branch", "Branch.close"],
    ["RATE", "transfer"],
)


def bank() -> Facts:
    return facts_of_python(SOURCE, "bank")


def headings(page: str) -> list[str]:
    return [f"{'#' * part.level} {part.title}" for part in read_parts(page) if part.title]


def errors(page: str, facts: Facts) -> list[str]:
    return [f"{one.rule} {one.message}" for one in verify(page, facts) if one.level == "error"]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(CORPUS), st.integers(150, 3_000))
def test_pages_that_code_writes_of_the_pieces_join_to_the_page_that_it_writes_of_the_whole(
    path: Path, budget: int
) -> None:
    text = path.read_text(encoding="utf-8")
    facts = facts_of_python(text, path.stem)
    pieces = split_source(text, facts, budget, estimate_tokens)
    pages = [render(facts_of_piece(facts, piece)) for piece in pieces]
    assert join_pages(pages, facts, [piece.symbols for piece in pieces]) == render(facts)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(CORPUS), st.data())
def test_any_parts_of_the_facts_without_findings_join_to_a_page_without_findings(
    path: Path, data: st.DataObject
) -> None:
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    names = [symbol.qualname for symbol in required_symbols(Source(facts)) if "." not in symbol.qualname]
    home = {name: data.draw(st.integers(0, 3)) for name in names}
    pages = []
    for number in range(4):
        kept = tuple(symbol for symbol in facts.symbols if home.get(symbol.qualname, number) == number)
        pages.append(
            render(facts._replace(symbols=kept))
            if any(home[one.qualname] == number for one in kept if one.qualname in home)
            else ""
        )
    joined = join_pages(pages, facts)
    assert verify(joined, facts) == []
    assert len(set(headings(joined))) == len(headings(joined))


def test_pages_as_models_write_them_are_brought_to_one_scheme() -> None:
    joined = join_pages([FIRST, SECOND, THIRD], bank(), OWNED)
    assert headings(joined) == [
        "# Bank",
        "## Overview",
        "## Constants",
        "## Class `Account`",
        "### Parameters",
        "### `Account.pay(amount: int) -> int`",
        "#### Raises",
        "### `Account.close()`",
        "## `Branch`",
        "### Branch.close(at: int = 17) -> int",
        "#### Parameters",
        "## Function `transfer(amount: int, fee: int = FEE) -> int`",
        "### Parameters",
        "### Raises",
        "### Examples",
        "## Examples",
    ]
    assert errors(joined, bank()) == []
    assert joined.startswith(
        "# Bank\n\nAccounts of a bank.\n\n## Overview\n\nWhat the module is for.\n\n## Constants\n"
    )
    assert "| `FEE` | `2` |\n| `RATE` | `3` |\n\n## Class" in joined
    assert joined.endswith(
        "```python\ntransfer(3)\n```\n\n## Examples\n\n```python\n# Not a heading\nBranch().close()\n```\n"
    )


@pytest.mark.parametrize(
    "gone",
    [
        "That is all",
        "second part",
        "The rest.",
        "closes accounts and branches",
        "helps with accounts",
        "---\n\n",
        "below.",
    ],
)
def test_closing_remarks_and_later_introductions_are_dropped(gone: str) -> None:
    assert gone in FIRST + SECOND + THIRD
    assert gone not in join_pages([FIRST, SECOND, THIRD], bank(), OWNED)


def test_each_page_is_without_errors_alone() -> None:
    """Or the test above would show nothing."""
    facts = bank()
    for page, names in zip((FIRST, SECOND, THIRD), OWNED, strict=True):
        kept = tuple(
            symbol._replace(
                public=symbol.qualname in names,
                members=tuple(one._replace(public=one.qualname in names) for one in symbol.members),
            )
            for symbol in facts.symbols
        )
        assert errors(page, facts._replace(symbols=kept)) == []


def test_of_two_sections_about_one_symbol_the_owners_is_kept() -> None:
    early = "# Bank\n\n## `transfer`\n\nThe early one.\n\n## `LIMIT`\n\nIs `100`.\n"
    late = "# Bank\n\n## `transfer`\n\nThe late one.\n"
    owned = [["LIMIT"], ["transfer"]]
    assert "early one" not in join_pages([early, late], bank(), owned)
    assert "late one" not in join_pages([early, late], bank())
    for joined in (join_pages([early, late], bank(), owned), join_pages([early, late], bank())):
        assert headings(joined) == ["# Bank", "## Constants", "### `LIMIT`", "## `transfer`"]


def test_a_page_about_one_function_under_the_modules_title_becomes_its_section() -> None:
    page = "# bank\n\n```python\ndef transfer(amount: int, fee: int = FEE) -> int\n```\n\nMoves money.\n\n"
    page += "## Parameters\n\n- `amount` (`int`): how much.\n- `fee` (`int`, default `FEE`): the fee.\n\n"
    page += '## Raises\n\n- `KeyError`: "too much"\n'
    joined = join_pages([FIRST, SECOND, page, "# Bank\n\n## `RATE`\n\nIs `3`.\n"], bank())
    assert headings(joined)[-6:] == [
        "### Branch.close(at: int = 17) -> int", "#### Parameters",
        "## `transfer`", "### Parameters", "### Raises", "## Examples",
    ]  # fmt: skip
    assert errors(joined, bank()) == []


@pytest.mark.parametrize("kind", ["def words(a): return a", "class Other:\n    words: int = 1", "words = 1"])
def test_a_title_that_is_also_the_name_of_a_symbol_is_a_title(kind: str) -> None:
    facts = facts_of_python(f"LIMIT = 1\n\n\n{kind}\n", "words")
    pages = ["# `words`\n\nAll about words.\n\n## Constants\n\n| Name | Value |\n| --- | --- |\n| `LIMIT` | `1` |\n"]
    assert join_pages([*pages, "# words\n\nThe rest.\n"], facts) == pages[0]


def test_a_class_right_under_the_title_has_its_section() -> None:
    page = "# Branch\n\nA branch.\n\n```python\nclass Branch:\n    ...\n```\n\n## `close(at: int = 17)`\n\nCloses.\n"
    joined = join_pages([FIRST, page], bank())
    assert headings(joined)[-2:] == ["## Branch", "### `Branch.close(at: int = 17)`"]


def test_a_list_that_alone_documents_functions_is_kept_under_its_heading() -> None:
    page = (
        "# bank\n\n## Functions\n\n- `transfer(amount: int, fee: int = FEE) -> int`: moves `amount`, less the `fee`.\n"
    )
    assert "## Functions\n\n- `transfer(" in join_pages(["# Bank\n\nWords.\n", page], bank())


def test_pages_of_another_language_are_joined_by_their_titles() -> None:
    first = "# stack.go\n\nA stack.\n\n## Functions\n\n### Push\n\nPuts one on.\n\n## Notes\n\nNot safe.\n"
    second = "# stack.go\n\nThe rest of it.\n\n## Functions\n\n### Pop\n\nTakes one off.\n\n## Notes\n\nNot safe.\n"
    assert join_pages([first, second], None) == (
        "# stack.go\n\nA stack.\n\n## Functions\n\n### Push\n\nPuts one on.\n\n### Pop\n\nTakes one off.\n\n"
        "## Notes\n\nNot safe.\n"
    )


def test_nothing_joins_to_nothing_and_blank_pages_are_passed_over() -> None:
    assert join_pages([], None) == ""
    assert join_pages(["", " \n"], bank()) == ""
    assert join_pages(["", "# A\n\nWords.\n"], None, [(), ()]) == "# A\n\nWords.\n"


def test_what_is_joined_once_stays_as_it_is() -> None:
    joined = join_pages([FIRST, SECOND, THIRD], bank(), OWNED)
    assert join_pages([joined], bank()) == joined


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([*re.split(r"(?<=\n)", FIRST + SECOND + THIRD), "```\n", "> # no\n"]), max_size=60),
    st.booleans(),
)
def test_no_page_is_refused(lines: list[str], known: bool) -> None:
    third = len(lines) // 3
    pages = ["".join(lines[:third]), "".join(lines[third:])]
    joined = join_pages(pages, bank() if known else None)
    assert joined.endswith("\n") or not joined
