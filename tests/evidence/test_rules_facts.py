"""The rules between a document and its source: each fault gives its finding, each fair wording none."""

import pytest

from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

SOURCE = '''"""Accounts."""

import enum
import logging
from typing import Optional

__version__ = "2.1"
LIMIT = 1_000
log = logging.getLogger(__name__)


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


class Broke(ValueError):
    """No money."""


class Account(dict):
    """An account."""

    def __init__(self, owner: str, balance: float = 0.0) -> None:
        if not owner:
            raise ValueError("owner must not be empty")
        self.owner = owner

    @property
    def total(self) -> float:
        return 1.0

    @staticmethod
    def parse(text: str) -> "Account":
        return _read(text)

    async def pay(self, amount: float, *, note: Optional[str] = None) -> bool:
        """Pay."""
        _check(amount)
        if amount > LIMIT:
            raise Broke(f"cannot pay {amount}, limit is {LIMIT}")
        return True


def _check(amount: float) -> None:
    if amount < 0:
        raise TypeError("amount must not be negative")


def totals(accounts: list[Account], name: str = "all") -> dict[str, float]:
    return {"sum": 1.0, "count": 2.0}
'''

DOCUMENT = """# `accounts`

## Constants

- `LIMIT` = `1000`

## Enum `Level`

| Member | Value |
| --- | --- |
| `LOW` | `1` |
| `HIGH` | `2` |

## Exception `Broke`

Bases: `ValueError`

## Class `Account`

```python
class Account(dict):
    def __init__(self, owner: str, balance: float = 0.0) -> None
```

Bases: `dict`

**Parameters:**

- `owner` (`str`): who has it.
- `balance` (`float`, default `0.0`): money.

**Raises:**

- `ValueError`: "owner must not be empty"

### Property `Account.total`

**Returns:** `float`

### Static method `Account.parse`

```python
def parse(text: str) -> Account
```

**Parameters:**

- `text` (`str`): what to read.

**Returns:** `Account`

### Async method `Account.pay`

```python
async def pay(self, amount: float, *, note: str | None = None) -> bool
```

**Parameters:**

| Name | Type | Default |
| --- | --- | --- |
| `amount` | `float` | required |
| `note` | `str`, optional | `None` |

**Returns:** `bool`

**Raises:**

- `TypeError`: "amount must not be negative"
- `Broke`: "cannot pay {amount}, limit is {LIMIT}"

## Function `totals`

```python
def totals(accounts: list[Account], name: str = "all") -> dict[str, float]
```

**Parameters:**

- `accounts` (`list[Account]`): what to add up.
- `name` (`str`, default `"all"`): a label.

**Returns:** `dict[str, float]` with the keys `sum` and `count`.
"""


@pytest.fixture(scope="module")
def facts() -> Facts:
    return facts_of_python(SOURCE, "accounts")


def _errors(facts: Facts, document: str) -> list[Finding]:
    return [finding for finding in verify(document, facts) if finding.level == "error"]


def _section(title: str) -> str:
    start = DOCUMENT.index(title)
    end = DOCUMENT.find("\n#", start + 1)
    return DOCUMENT[start : end + 1 if end >= 0 else len(DOCUMENT)]


def test_the_true_document_has_no_finding(facts: Facts) -> None:
    assert verify(DOCUMENT, facts) == []


FAULTS = [
    ("S101", _section("## Function `totals`"), ""),
    ("S101", "## Constants\n\n- `LIMIT` = `1000`\n", ""),
    ("S102", "## Function `totals`", "## Function `export(path)`\n\nExports.\n\n## Function `totals`"),
    ("S102", "### Property `Account.total`", "### Method `totals.close()`\n\nCloses.\n\n### Property `Account.total`"),
    ("S103", "`LIMIT` = `1000`", "`LIMIT` = `2000`"),
    ("S104", "| `HIGH` | `2` |\n", ""),
    ("S104", "| `HIGH` | `2` |", "| `HIGH` | `2` |\n| `HUGE` | `3` |"),
    ("S103", "| `HIGH` | `2` |", "| `HIGH` | `9` |"),
    ("S105", "Bases: `ValueError`", "Bases: `KeyError`"),
    ("P201", "- `balance` (`float`, default `0.0`): money.\n", ""),
    ("P201", "| `note` | `str`, optional | `None` |\n", ""),
    ("P203", "`): a label.", "`): a label.\n- `colour` (`str`): a tint."),
    ("P204", 'default `"all"`', 'default `"none"`'),
    ("P204", "| `amount` | `float` | required |", "| `amount` | `float` | `5` |"),
    ("P204", "balance: float = 0.0", "balance: float = 1.0"),
    ("P204", 'name: str = "all"', "name: str"),
    ("P205", "- `owner` (`str`)", "- `owner` (`int`)"),
    ("P205", "owner: str,", "owner: int,"),
    ("P206", "async def pay", "def pay"),
    ("P206", "### Static method", "### Class method"),
    ("P206", "### Property", "### Method"),
    ("P207", "(accounts: list[Account], name", "(name"),
    ("P207", "amount: float, *, note", "amount: float, note"),
    ("P207", "(accounts: list[Account], name: str =", "(name: str, accounts: list[Account] ="),
    ("E301", '- `TypeError`: "amount must not be negative"\n', ""),
    ("E301", '- `Broke`: "cannot pay {amount}, limit is {LIMIT}"\n', ""),
    ("E303", '- `TypeError`: "amount must not be negative"', '- `OSError`: "amount must not be negative"'),
    ("E304", '"amount must not be negative"', '"amount is negative"'),
    ("E304", '"cannot pay {amount}, limit is {LIMIT}"', '"can not pay 5, limit is 7"'),
    ("E306", '- `TypeError`: "amount must not be negative"\n- `Broke`: "cannot pay {amount}, limit is {LIMIT}"\n',
     "Does not raise any exceptions.\n"),
    ("R401", "**Returns:** `bool`", "**Returns:** `int`"),
    ("R401", "note: str | None = None) -> bool", "note: str | None = None) -> str"),
    ("R402", "`sum` and `count`", "`sum` and `mean`"),
    ("R402", "the keys `sum` and `count`", "the keys `sum`"),
    ("H501", "# `accounts`\n", "# `accounts`\n\n**Version:** 7.3\n"),
    ("H502", "# `accounts`\n", "# `accounts`\n\n**Author:** Jane Roe\n"),
    ("H503", "# `accounts`\n", "# `accounts`\n\n**Last updated:** 2024-05-01\n"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "true", "false"), FAULTS)
def test_each_fault_gives_its_error(facts: Facts, rule: str, true: str, false: str) -> None:
    assert true in DOCUMENT
    found = _errors(facts, DOCUMENT.replace(true, false))
    assert rule in {finding.rule for finding in found}
    assert all(finding.fix and finding.evidence and finding.line >= 1 for finding in found)


FAIR = [
    ("`LIMIT` = `1000`", "`LIMIT` = `1_000`"),
    ("- `Broke`: \"cannot pay {amount}, limit is {LIMIT}\"", "- `Broke`: \"cannot pay <n>, limit is <m>\""),
    ("- `Broke`: \"cannot pay {amount}, limit is {LIMIT}\"", "- `Broke`: `cannot pay 5000, limit is 1000`"),
    ("- `TypeError`: \"amount must not be negative\"", "- `TypeError`: \"amount must not be negative.\""),
    ("- `ValueError`: \"owner must not be empty\"", "- `Exception`: \"owner must not be empty\""),
    ("| `note` | `str`, optional | `None` |", "| `note` | `Optional[str]` | `None` |"),
    ("| `note` | `str`, optional | `None` |", "| `note` | str or None | None |"),
    ("- `balance` (`float`, default `0.0`)", "- `balance` (number, default `0`)"),
    ("- `accounts` (`list[Account]`)", "- `accounts` (`List[Account]`)"),
    ("- `accounts` (`list[Account]`)", "- `accounts` (list of `Account`)"),
    ("default `\"all\"`", "default `'all'`"),
    ("default `\"all\"`", "default `all`"),
    ("### Async method `Account.pay`", "### `Account.pay`"),
    ("## Function `totals`", "## `totals()`"),
    ("# `accounts`\n", "# `accounts`\n\n**Version:** 2.1\n"),
    ("# `accounts`\n", "# `accounts`\n\nSee also `str.format` and `logging.getLogger`.\n"),
]  # fmt: skip


@pytest.mark.parametrize(("true", "fair"), FAIR)
def test_fair_wordings_give_no_error(facts: Facts, true: str, fair: str) -> None:
    assert true in DOCUMENT
    assert _errors(facts, DOCUMENT.replace(true, fair)) == []


WARNINGS = [
    ("E305", '- `TypeError`: "amount must not be negative"', "- `TypeError`: if it is too small."),
    ("H506", "# `accounts`\n", "# `accounts`\n\nSee <https://example.org/accounts>.\n"),
    ("E307", "- `ValueError`: \"owner must not be empty\"",
     "- `ValueError`: \"owner must not be empty\"\n- `BlockingIOError`: \"the device is busy\""),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "true", "doubtful"), WARNINGS)
def test_what_is_not_sure_only_warns(facts: Facts, rule: str, true: str, doubtful: str) -> None:
    found = verify(DOCUMENT.replace(true, doubtful), facts)
    assert rule in {finding.rule for finding in found if finding.level == "warning"}


def test_the_fix_holds_the_real_value(facts: Facts) -> None:
    found = _errors(facts, DOCUMENT.replace('"amount must not be negative"', '"amount is negative"'))
    assert [finding.rule for finding in found] == ["E304"]
    assert "amount must not be negative" in found[0].fix
    assert found[0].evidence.startswith("line ")
    assert 'raise TypeError("amount must not be negative")' in found[0].evidence


def test_a_class_that_is_only_named_as_a_base_is_not_documented() -> None:
    source = 'class Base:\n    """A base."""\n\n\nclass Wait(Base):\n    """Waits."""\n'
    page = "# `waits`\n\n## Class `Wait`\n\nWaits as long as it is told to.\n\nBases: `Base`\n"
    found = verify(page, facts_of_python(source, "waits"), source_text=source)
    assert [(one.rule, one.level, one.symbol) for one in found] == [("S101", "error", "Base")]


def test_a_number_of_the_source_vouches_for_no_licence() -> None:
    page = "# a\n\nReleased under the Apache License 2.0.\n"
    assert [one.rule for one in verify(page, None, source_text="RATE = 2.0\n")] == ["H505"]
    assert verify(page, None, source_text="# Apache License 2.0\n") == []
