"""Claims of documents: many ways to write the same thing, with exact lines, and any text at all."""

import dataclasses
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.claims import Claims
from reflexion.evidence.document import read_claims

SECTION = "## `pay(amount, note)`\n\n"


def parameters(claims: Claims) -> list[tuple[int, str, str | None, str | None, bool | None]]:
    return [(one.line, one.name, one.type, one.default, one.optional) for one in claims.parameters]


def raises(text: str) -> list[tuple[int, str | None, str, str | None]]:
    return [(one.line, one.subject, one.type, one.message) for one in read_claims(text).raises]


PARAMETER_STYLES = {
    "table": (
        (
            "### Parameters\n\n| Name | Type | Default | Description |\n|---|---|---|---|\n"
            "| `amount` | `int` | — | How much |\n| `note` | `str \\| None` | `None` | Why |\n"
        ),
        [(7, "amount", "int", None, None), (8, "note", "str | None", "None", True)],
        "table",
    ),
    "table, other order and words": (
        (
            "#### Args\n\n| Description | Required? | Argument | Data type | Default value |\n|---|---|---|---|---|\n"
            "| How much | Yes | amount | int | - |\n| Why | No | note | str | `''` |\n"
        ),
        [(7, "amount", "int", None, False), (8, "note", "str", "''", True)],
        "table",
    ),
    "table with optional in the type": (
        (
            "**Arguments**\n\n| Parameter | Type | Description |\n|:--|:--|:--|\n"
            "| `amount` | int | How much |\n| `note` | str, optional | Why. Defaults to `None`. |\n"
        ),
        [(7, "amount", "int", None, None), (8, "note", "str", "None", True)],
        "table",
    ),
    "code and brackets": (
        "**Parameters:**\n\n- `amount` (int): How much.\n- `note` (`str`, optional): Why. Defaults to `None`.\n",
        [(5, "amount", "int", None, None), (6, "note", "str", "None", True)],
        "list",
    ),
    "bold and dashes": (
        (
            "Parameters:\n\n* **amount** (*int*) \u2013 How much,\n  in cents.\n"
            "* **note** (*str*, *optional*, default `None`) — Why.\n"
        ),
        [(5, "amount", "int", None, None), (7, "note", "str", "None", True)],
        "list",
    ),
    "annotations": (
        "### 📥 Inputs\n\n- `amount: int`\n- `note: str | None = None` - Why\n",
        [(5, "amount", "int", None, None), (6, "note", "str | None", "None", None)],
        "list",
    ),
    "plain words": (
        "### Input Parameters\n\n- amount: int \u2013 how much\n- note: str = None \u2013 why\n",
        [(5, "amount", "int", None, None), (6, "note", "str", "None", None)],
        "list",
    ),
    "nested details": (
        (
            "- **Parameters:**\n  - `amount`\n    - Type: `int`\n    - Required: yes\n  - `note`\n    - Type: `str`\n"
            "    - Default: `None`\n"
        ),
        [(4, "amount", "int", None, False), (7, "note", "str", "None", None)],
        "list",
    ),
    "definition list": (
        "### Parameters\n\n`amount` (`int`)\n: How much.\n\n`note` (`str`, default `None`)\n: Why.\n",
        [(5, "amount", "int", None, None), (8, "note", "str", "None", None)],
        "definition",
    ),
    "lines of one paragraph": (
        "**Parameters:**  \n`amount` (int): How much.  \n`note` (str): Why. Default: `None`\n",
        [(4, "amount", "int", None, None), (5, "note", "str", "None", None)],
        "prose",
    ),
    "google": (
        (
            "Pays.\n\nArgs:\n    amount (int): How much.\n        In cents.\n"
            "    note (str, optional): Why. Defaults to None.\n"
        ),
        [(6, "amount", "int", None, None), (8, "note", "str", "None", True)],
        "google",
    ),
    "rst": (
        ":param int amount: How much.\n:param note: Why, defaults to None\n:type note: str, optional\n",
        [(3, "amount", "int", None, None), (4, "note", "str", "None", True)],
        "rst",
    ),
    "numpy": (
        "Parameters\n----------\namount : int\n    How much.\nnote : str, optional\n    Why. Default is None.\n",
        [(5, "amount", "int", None, None), (7, "note", "str", "None", True)],
        "numpy",
    ),
    "html table": (
        (
            "### Parameters\n\n<table>\n<tr><th>Name</th><th>Type</th></tr>\n"
            "<tr><td><code>amount</code></td><td>int</td></tr>\n"
            "<tr><td><code>note</code></td><td>str</td></tr>\n</table>\n"
        ),
        [(7, "amount", "int", None, None), (8, "note", "str", None, None)],
        "table",
    ),
    "no lead-in under the signature": (
        "- `amount` (`int`): how much\n- `note` (`str`): why\n",
        [(3, "amount", "int", None, None), (4, "note", "str", None, None)],
        "list",
    ),
}


@pytest.mark.parametrize("style", PARAMETER_STYLES)
def test_parameters_in_every_style(style: str) -> None:
    text, expected, list_style = PARAMETER_STYLES[style]
    claims = read_claims(SECTION + text)
    assert parameters(claims) == expected
    [found] = claims.parameter_lists
    assert (found.subject, found.names, found.style) == ("pay", ("amount", "note"), list_style)


@pytest.mark.parametrize(
    "text",
    [
        "## Configuration\n\n### Parameters\n\n- `timeout` (int): seconds\n",
        "# Tool\n\n## Command-line arguments\n\n| Argument | Default |\n|---|---|\n| `verbose` | `False` |\n",
        "## Parameters\n\n- `retries` (int): how often\n",
        SECTION + "### Notes\n\n- Amounts are cents: mind that.\n- Note: the note is free text.\n",
        SECTION + "### See also\n\n- `refund` (function): the way back\n",
    ],
)
def test_what_is_no_parameter_of_a_symbol(text: str) -> None:
    claims = read_claims(text)
    assert [one for one in claims.parameter_lists if one.subject in ("pay", "Parameters", "Configuration")] == []
    assert not [one for one in claims.parameters if one.subject is not None and one.subject != "Tool"]


@pytest.mark.parametrize("text", ["**Parameters:** None\n", "### Parameters\n\nNone.\n", "It takes no arguments.\n"])
def test_a_statement_that_there_are_no_parameters(text: str) -> None:
    [found] = read_claims("## `pay()`\n\n" + text).parameter_lists
    assert (found.subject, found.names) == ("pay", ())


HEADINGS = {
    "## `pay`": ("pay", None, True),
    "## 1. `pay(a)`": ("pay", None, True),
    "### Function: `pay`": ("pay", "function", True),
    "### `async pay(url)`": ("pay", "async function", True),
    "## Class `Account`": ("Account", "class", True),
    "## The `Account` class": ("Account", "class", True),
    "#### Account.pay(amount: int) -> None": ("Account.pay", None, True),
    "#### Static method: `Account.make`": ("Account.make", "static method", True),
    "### `balance` *(property)*": ("balance", "property", True),
    "### `@property balance`": ("balance", "property", True),
    "## pay_all": ("pay_all", None, True),
    "## [`pay`](#pay) {#pay}": ("pay", None, True),
    "## 🚀 `pay()` function": ("pay", "function", True),
    "## `pay` - moves money": ("pay", None, True),
    "## pay\\_all(accounts)": ("pay_all", None, True),
    "## Account": ("Account", None, False),
    "# `bank`": ("bank", None, False),
}


@pytest.mark.parametrize("heading", HEADINGS)
def test_headings_that_name_a_symbol(heading: str) -> None:
    [found] = read_claims(heading + "\n").symbols
    assert (found.name, found.kind_word, found.sure, found.line) == (*HEADINGS[heading], 1)


@pytest.mark.parametrize(
    "heading",
    ["## Overview", "## Using `pay` with files", "## `utils.py`", "## `pip install bank`", "## Error Handling",
     "## Class Methods", "## Getting started", "## Step 1", "## `--verbose`", "## Why `pay` matters", "## `None`"],
)  # fmt: skip
def test_headings_that_name_none(heading: str) -> None:
    assert read_claims(heading + "\n").symbols == ()


def test_several_symbols_in_one_heading() -> None:
    assert [one.name for one in read_claims("## `pay` and `refund`\n").symbols] == ["pay", "refund"]


def test_an_object_of_an_example_is_no_module_name() -> None:
    text = "```python\nspinner = Halo()\n```\n\n## `spinner.stop()`\n\n## `Halo.start()`\n"
    assert [(one.name, one.sure) for one in read_claims(text).symbols] == [
        ("spinner.stop", False),
        ("Halo.start", True),
    ]


def test_subjects_follow_headings_signatures_and_leads() -> None:
    text = (
        "## Class `Account`\n\n### `pay`\n\n**Raises:** `ValueError`\n\n## Functions\n\n**`close(a)`**\n\n"
        "**Raises:** `KeyError`\n\n```python\ndef open_it(b: int) -> int\n```\n\n**Raises:** `TypeError`\n"
    )
    assert raises(text) == [
        (5, "Account.pay", "ValueError", None),
        (11, "close", "KeyError", None),
        (17, "open_it", "TypeError", None),
    ]


def test_sections_beside_their_symbol() -> None:
    text = "## `pay(a)`\n\n## Parameters\n\n- `a` (int): x\n\n## Raises\n\n- `ValueError`: never\n"
    claims = read_claims(text)
    assert ([(one.line, one.subject) for one in claims.parameters], raises(text)) == (
        [(5, "pay")],
        [(9, "pay", "ValueError", None)],
    )


def test_a_page_about_one_function() -> None:
    text = "# Payments\n\n## Signature\n\n```python\ndef pay(a: int) -> int\n```\n\n## Raises\n\n- `ValueError`: bad\n"
    assert raises(text) == [(11, "pay", "ValueError", None)]


def test_signatures_from_fences() -> None:
    text = (
        "```python\n@dataclass\nclass Point(Base):\n    x: int\n    y: int = 0\n\n"
        "    async def move(self, by: int, /, *rest: int) "
        "-> None: ...\n```\n"
    )
    claims = read_claims(text)
    point, move = claims.signatures
    assert (point.line, point.name, point.is_class, point.decorators) == (3, "Point", True, ("dataclass",))
    assert [(one.name, one.default) for one in point.parameters] == [("x", None), ("y", "0")]
    assert (move.line, move.subject, move.is_async, move.bound, move.returns) == (7, "Point", True, "self", "None")
    assert [(one.name, one.kind) for one in move.parameters] == [("by", "positional-only"), ("rest", "var-positional")]
    assert [(one.line, one.subject, one.bases) for one in claims.bases] == [(3, "Point", ("Base",))]
    assert claims.examples == ()


def test_a_bare_call_form_is_abridged() -> None:
    bare, full, old = read_claims("## `a()`\n\n## `b(x, ...)`\n\n## `c(x[, y])`\n").signatures
    assert (bare.abridged, full.abridged, old.abridged) == (True, True, False)
    assert [(one.name, one.optional) for one in old.parameters] == [("x", False), ("y", True)]


def test_docstring_of_a_stub() -> None:
    text = '```python\ndef pay(a: int):\n    """Pay.\n\n    Raises:\n        ValueError: "too little"\n    """\n```\n'
    assert raises(text) == [(6, "pay", "ValueError", "too little")]


def test_examples_and_their_output() -> None:
    text = "## `pay`\n\n```{.python title=x}\nprint(pay(1))\n```\n\nOutput:\n\n```text\n1\n```\n\n```bash\nls\n```\n"
    first, second = read_claims(text).examples
    assert (first.line, first.end_line, first.code_line, first.language, first.subject) == (3, 5, 4, "python", "pay")
    assert (first.output, first.output_line) == ("1\n", 9)
    assert (second.line, second.language, second.output) == (13, "bash", None)


def test_history_links_and_placeholders() -> None:
    text = (
        "# Bank\n\nAuthor: John Doe\n\n| Version | Date | Changes |\n|---|---|---|\n| 0.1 | TBD | initial version |\n\n"
        "**Last updated:** 2023-01-01\n\nAdded in version 1.2.\n\nSee [docs](https://x.example/a_b) or <https://y.example>.\n\n"
        "## License\n\nMIT\n"
    )
    claims = read_claims(text)
    assert [(one.line, one.kind) for one in claims.history] == [
        (3, "author"), (7, "changelog"), (9, "date"), (11, "version"), (17, "license"),
    ]  # fmt: skip
    assert [(one.line, one.url) for one in claims.links] == [(13, "https://x.example/a_b"), (13, "https://y.example")]


def test_no_history_in_ordinary_words() -> None:
    assert read_claims("The version of Python matters.\n\nIt is updated by calling `run`.\n").history == ()


def test_comments_silence_a_line_or_a_block() -> None:
    off = "<!-- reflexion: off -->"
    text = f"# A <!-- reflexion: off S102 -->\n\n{off}\n\nTwo\nlines.\n\n```\n{off}\n```\n"
    claims = read_claims(text)
    assert dict(claims.silenced) == {1: frozenset({"S102"}), 5: frozenset({"*"}), 6: frozenset({"*"})}
    assert claims.is_silenced(1, "S102")
    assert not claims.is_silenced(1, "P201")
    assert claims.is_silenced(6, "P201")


PIECES = "# |## `a.b(c)`|- |  - |`x`|**Parameters:**|```|def f(a|class A(B):|:param x: |Args:|Raises|----|(|)|[|](|<td>"
MORE = (
    "<!--|-->|\\|&amp;|*|_|~~~|> |1. |: |= 3|None|'m s'|raises `ValueError` |```python|\n|\n\n|\n    |\t|\u2028|a: int"
)
MARKDOWN = st.lists(
    st.sampled_from([*PIECES.split("|"), *MORE.split("|"), "| a | b |\n|---|---|\n| c | d |"]) | st.text(max_size=8),
    max_size=40,
)


def lines_of(claims: Claims) -> Iterable[tuple[int, int]]:
    for field in dataclasses.fields(claims):
        records = getattr(claims, field.name)
        if isinstance(records, tuple):
            for record in records:
                yield record.line, getattr(record, "end_line", record.line)


@settings(max_examples=300, deadline=None)
@given(MARKDOWN.map("".join))
def test_any_text_gives_the_same_claims_with_lines_in_range(text: str) -> None:
    claims = read_claims(text)
    last = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert all(1 <= first <= end <= last for first, end in lines_of(claims))
    assert read_claims(text) == claims
    assert claims.text == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    assert read_claims(text).text == text


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5), st.sampled_from(sorted(PARAMETER_STYLES)))
def test_lines_move_with_what_stands_before(count: int, style: str) -> None:
    text = SECTION + PARAMETER_STYLES[style][0]
    moved = read_claims("Words.\n\n" * count + text)
    assert [(line - 2 * count, *rest) for line, *rest in parameters(moved)] == parameters(read_claims(text))
