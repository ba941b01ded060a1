"""Sentences, lists and tables that say what is raised, returned, valued and inherited."""

import pytest

from reflexion.evidence.document import read_claims
from reflexion.evidence.typenames import is_known_type, is_type, normalise_type

SECTION = "## `pay(amount)`\n\n"

RAISES: list[tuple[str, list[tuple[int, str, str | None]]]] = [
    ('Raises `TypeError` with the message "Not a number."\n', [(3, "TypeError", "Not a number.")]),
    ("If it is negative, a `ValueError` is raised with the message\n`Too small`.\n",
     [(3, "ValueError", "Too small")]),
    ("It raises a ValueError if amount < 0.\n", [(3, "ValueError", None)]),
    ("Raises `TypeError`, `ValueError` or `KeyError`.\n",
     [(3, one, None) for one in ("TypeError", "ValueError", "KeyError")]),
    ('Raises `ValueError("Bad {x}")` for a bad x.\n', [(3, "ValueError", "Bad {x}")]),
    ("Raises `ValueError` (message: \u201cKey too short: {n}\u201d).\n", [(3, "ValueError", "Key too short: {n}")]),
    ("When it is empty it raises `EmptyPurse` with the message 'no cash'.\n", [(3, "EmptyPurse", "no cash")]),
    ("### Raises\n\n- `ValueError`: \"Too small\" if negative.\n", [(5, "ValueError", "Too small")]),
    ("**Exceptions:**\n\n* **ValueError** \u2013 raised when x\n\n* `KeyError`\n",
     [(5, "ValueError", None), (7, "KeyError", None)]),
    ("**Raises:** `ValueError` if x, with message `f\"Got {x} items\"`\n", [(3, "ValueError", "Got {x} items")]),
    ("Throws:\n\n- `TypeError` or `ValueError`: bad input\n", [(5, "TypeError", None), (5, "ValueError", None)]),
    ("#### Errors\n\n- `ValueError`\n  - Message: `Too small`\n", [(5, "ValueError", "Too small")]),
    ("#### Errors\n\n- `ValueError`\n  - \"Too small\" if low\n  - \"Too big\" if high\n",
     [(6, "ValueError", "Too small"), (7, "ValueError", "Too big")]),
    ("| Exception | Message | When |\n|---|---|---|\n| `ValueError` | \"a \\| b\" | always |\n",
     [(5, "ValueError", "a | b")]),
    ("**Raises**\n\n| Condition | Type |\n|---|---|\n| x is low | `ValueError`: `x is too low` |\n",
     [(7, "ValueError", "x is too low")]),
    ("Raises:\n    ValueError: If it says \"x\".\n    InsufficientFunds: If broke.\n",
     [(4, "ValueError", None), (5, "InsufficientFunds", None)]),
    (":raises ValueError: ``too small``\n", [(3, "ValueError", "too small")]),
    ("Raises\n------\nValueError\n    If low (\"too low today\").\n", [(5, "ValueError", "too low today")]),
    ("### Raises\n\n`ValueError`\n: \"too small\"\n", [(5, "ValueError", "too small")]),
    ("It raises `ValueError` with the message:\n\n```\nAmount must be positive\n```\n",
     [(3, "ValueError", "Amount must be positive")]),
    ("### Raises\n\n#### `ValueError`\n\nMessage: \"too small\"\n", [(5, "ValueError", "too small")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), RAISES)
def test_raises(text: str, expected: list[tuple[int, str, str | None]]) -> None:
    claims = read_claims(SECTION + text)
    assert [(one.line, one.type, one.message) for one in claims.raises] == expected
    assert {one.subject for one in claims.raises} == {"pay"}


@pytest.mark.parametrize(
    "text",
    ["If the callback raises `ValueError`, it is ignored.", "It handles `ValueError` raised by `open`.",
     "It never raises `ValueError`.", "Use it without raising `ValueError`.", "If `ValueError` is raised, try again.",
     "Unlike `int`, it returns `None` instead of raising `ValueError`.", "It should not raise `ValueError`.",
     "`ValueError` is a built-in exception.", "Any `ValueError` raised by the file is passed on."],
)  # fmt: skip
def test_what_is_no_raise(text: str) -> None:
    assert read_claims(SECTION + text).raises == ()


DENIALS = {
    "This function does not raise any exceptions.": [(3, None)],
    "It doesn\u2019t explicitly raise any errors, and returns 0.": [(3, None)],
    "No exceptions are raised.": [(3, None)],
    "It raises no exceptions.": [(3, None)],
    "It never raises `ValueError`.": [(3, "ValueError")],
    "### Raises\n\nNone.": [(5, None)],
    "**Exceptions:** None": [(3, None)],
    "**Raises:**\n\n- None": [(5, None)],
    "### Exceptions\n\nThis method does not raise any exceptions.": [(5, None)],
    "No exceptions are raised if the list is empty.": [],
    "For an empty list no exception is raised.": [],
    "It does not raise an exception unless x is low.": [],
    "The callback does not raise any exceptions.": [],
    "It does not raise `KeyError` for missing keys.": [],
}


@pytest.mark.parametrize("text", DENIALS)
def test_denials(text: str) -> None:
    assert [(one.line, one.type) for one in read_claims(SECTION + text).denials] == DENIALS[text]


RETURNS: dict[str, tuple[int, str | None, bool, tuple[str, ...] | None]] = {
    "**Returns:** `float` \u2013 the total": (3, "float", False, None),
    "Returns: list[str]: the names": (3, "list[str]", False, None),
    "### Return value\n\n- `dict[str, int]`: counts": (5, "dict[str, int]", False, None),
    "### Returns\n\n(`bool`) True if done.": (5, "bool", False, None),
    "### Output\n\nA `tuple` of two.": (5, "tuple", False, None),
    "### Returns\n\n`int` or `None`": (5, "int or None", False, None),
    "**Returns:** None": (3, None, True, None),
    "This function does not return a value.\n\n### Returns\n\nNothing": (7, None, True, None),
    "### Returns\n\n`None` if missing, else the name.": (5, None, False, None),
    "### Returns\n\nThe computed total.": (5, None, False, None),
    "Returns a `float`.": (3, "float", False, None),
    "### Returns\n\nA `dict` with the keys:\n\n- `low` (int): l\n- `\"high\"`: h": (5, "dict", False, ("low", "high")),
    "### Returns\n\n`dict` with keys `a`, `b` and `c`.": (5, "dict", False, ("a", "b", "c")),
    "| Return type | Description |\n|---|---|\n| `int` | x |\n": (5, "int", False, None),
    "Returns:\n    float: The total.": (4, "float", False, None),
}  # fmt: skip


@pytest.mark.parametrize("text", RETURNS)
def test_returns(text: str) -> None:
    [found] = read_claims(SECTION + text).returns
    assert (found.line, found.type, found.none, found.keys) == RETURNS[text]
    assert found.subject == "pay"


CONSTANTS = {
    "## Constants\n\n| Constant | Type | Value |\n|---|---|---|\n| `LIMIT` | int | `3` |\n": [(5, "LIMIT", None, "3")],
    '## Constants\n\n- `LIMIT` = `3`\n- **NAME**: `"x"`\n': [(3, "LIMIT", None, "3"), (4, "NAME", None, '"x"')],
    "## Constants\n\n```python\nLIMIT: int = 3\n```\n": [(4, "LIMIT", None, "3")],
    "### `LIMIT = 3`\n": [(1, "LIMIT", None, "3")],
    "`LIMIT` is `3`, and `RATE` (`0.5`) is small.\n": [(1, "LIMIT", None, "3"), (1, "RATE", None, "0.5")],
    "## Enum `Color`\n\n**Members:**\n\n- `RED` = `1`\n": [(5, "RED", "Color", "1")],
    "## Enum `Color`\n\n| Member | Value |\n|---|---|\n| `RED` | `1` |\n": [(5, "RED", "Color", "1")],
    "`amount` is `3` here.\n": [],
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants_and_members(text: str) -> None:
    found = read_claims(text).constants
    assert [(one.line, one.name, one.subject, one.value) for one in found] == CONSTANTS[text]


@pytest.mark.parametrize(
    ("text", "subject", "bases"),
    [
        ("## Class `Savings(Account)`\n", "Savings", ("Account",)),
        ("## class Savings(Account)\n", "Savings", ("Account",)),
        ("## Class `Savings`\n\nInherits from `Account` and `Log`.\n", "Savings", ("Account", "Log")),
        ("## `Savings`\n\n**Bases:** `Account`\n", "Savings", ("Account",)),
        ("## `Colour`\n\nAn `Enum`; lower values come first.\n", "Colour", ("Enum",)),
        ("`Broke` is a subclass of `ValueError`.\n", "Broke", ("ValueError",)),
    ],
)
def test_bases(text: str, subject: str, bases: tuple[str, ...]) -> None:
    assert [(one.subject, one.bases) for one in read_claims(text).bases] == [(subject, bases)]


def test_kinds_in_sentences_are_weak_claims() -> None:
    [heading, sentence] = read_claims("### `Account.total`\n\nA property of type `int`.\n").symbols
    assert (heading.sure, sentence.name, sentence.kind_word, sentence.sure) == (
        True,
        "Account.total",
        "property",
        False,
    )


def test_defaults_in_sentences_stand_in_no_list() -> None:
    [found] = read_claims("## `pay(amount, note)`\n\nThe `note` defaults to `None`.\n").parameters
    assert (found.line, found.name, found.default, found.list_id) == (3, "note", "None", -1)


def test_tables_of_symbols() -> None:
    text = "## Class `A`\n\n| Method | Returns | Raises |\n|---|---|---|\n| `b(x: int)` | `str` | `KeyError` |\n"
    claims = read_claims(text)
    assert [(one.line, one.name, one.subject) for one in claims.symbols] == [(1, "A", None), (5, "b", "A")]
    assert [(one.line, one.subject, one.type) for one in claims.returns] == [(5, "A.b", "str")]
    assert [(one.line, one.subject, one.type) for one in claims.raises] == [(5, "A.b", "KeyError")]


def test_lists_of_symbols_with_their_details() -> None:
    text = "## Functions\n\n- **`pay(a)`**: Pays.\n  - Returns: `int`\n  - Raises: `ValueError`\n- `stop()` - Stops.\n"
    claims = read_claims(text)
    assert [(one.line, one.name, one.kind_word) for one in claims.symbols] == [
        (3, "pay", "function"),
        (6, "stop", "function"),
    ]
    assert [(one.line, one.subject) for one in claims.returns] == [(4, "pay")]
    assert [(one.line, one.subject) for one in claims.raises] == [(5, "pay")]


def test_lines_after_a_code_span_over_two_lines() -> None:
    [found] = read_claims("Text with `code\nspan` and\nit raises `ValueError`.\n").raises
    assert found.line == 3


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("Optional[str]", "str | None"),
        ("str or None", "str | None"),
        ("Union[int, None, str]", "int | str | None"),
        ("List[Dict[str, Any]]", "list[dict[str, Any]]"),
        ("list of int", "list[int]"),
        ("dict of str to list of int", "dict[str, list[int]]"),
        ("a string", "str"),
        ("collections.abc.Iterable[str]", "Iterable[str]"),
        ("'Account'", "Account"),
        ("annual rate", None),
        ("", None),
    ],
)
def test_types_in_one_spelling(text: str, spelled: str | None) -> None:
    assert normalise_type(text) == spelled


def test_which_texts_are_types() -> None:
    assert [is_known_type(one) for one in ("int", "list of str", "Account", "True", "seconds")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert is_type("Account", coded=False)
    assert not is_type("seconds", coded=True)
