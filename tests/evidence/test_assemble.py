"""A page assembled from facts and surviving prose: every fact is there, every true word, and nothing else."""

import sysconfig
from functools import partial
from pathlib import Path

import pytest

from benchmarks.repair import claims_of, keeps, sentences_of
from reflexion.evidence.assemble import assemble_page, render
from reflexion.evidence.finding import Finding
from reflexion.evidence.repair import repair
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from tests.evidence.repair_support import CORPUS, MARKER, corpus_facts, errors

SOURCE = '''"""Bank."""

RATE = 0.05


class Account:
    """An account."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def pay(self, amount: float, note: str = "") -> bool:
        """Pay."""
        if amount < 0:
            raise ValueError("amount must not be negative")
        if amount > 100:
            raise ValueError("amount is too high")
        return True


def close(account: Account) -> None:
    """Close."""
'''
PAGE = """# The bank

Money matters here. It was written by Jane Roe.

## Account

Holds money.

- `owner` (`str`): whose it is

### pay(amount, note)

Pays from the account. It does not raise any exceptions. A payment cannot be undone.

- `amount` (`str`): what to pay, in euros
- `note` (`str`): a word | for the books
- `colour` (`str`): of the paper

Returns a `str`. It raises `KeyError` at night.

**Raises:**

- `ValueError`: "amount is too high" above one hundred
- `ValueError`: on Sundays

> A note for tellers.

```python
account.pay(5)
```

## refund(amount)

Gives money back.

- `amount` (`float`): what to give back

## Hints

Keep the books closed.
"""
FACTS = facts_of_python(SOURCE, "bank")


def _check(text: str) -> list[Finding]:
    return verify(text, FACTS)


def test_what_survives_stands_where_its_subject_is() -> None:
    page = assemble_page(PAGE, FACTS, _check)
    assert errors(_check(page)) == []
    order = [
        "# The bank", "Money matters here.", "## Class `Account`", "Holds money.", "whose it is",
        "### Method `Account.pay`", "Pays from the account. A payment cannot be undone.", "what to pay, in euros |",
        "a word \\| for the books |", "**Returns:** `bool`",
        '- `ValueError` with the message `"amount is too high"`: above one hundred', "> A note for tellers.",
        "account.pay(5)", "## Function `close`", "## Hints", "Keep the books closed.",
    ]  # fmt: skip
    places = [page.find(words) for words in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


@pytest.mark.parametrize("words", ["Jane Roe", "colour", "refund", "Gives money back", "`str`. It", "does not raise"])
def test_what_is_wrong_does_not(words: str) -> None:
    assert words in PAGE
    assert words not in assemble_page(PAGE, FACTS, _check)


def test_a_condition_goes_to_no_message_that_it_was_not_said_of() -> None:
    page = assemble_page(PAGE, FACTS, _check)
    assert 'negative"`\n' in page
    assert "`ValueError`: on Sundays" in page


def test_the_closing_comment_stays() -> None:
    page = assemble_page(f"{PAGE}\n{MARKER}\n", FACTS, _check)
    assert page.endswith(f"\n\n{MARKER}\n")


def test_an_empty_page_gives_the_facts_alone() -> None:
    assert assemble_page("", FACTS, _check) == render(FACTS)


def test_checks_are_bounded_however_much_is_wrong() -> None:
    calls = []

    def check(text: str) -> list[Finding]:
        calls.append(text)
        return _check(text)

    wrong = "".join(f"`RATE` is `{number}` on some days.\n\n" for number in range(2, 300))
    assert len(errors(_check(PAGE + wrong))) > 290
    page = assemble_page(PAGE + wrong, FACTS, check)
    assert errors(_check(page)) == []
    assert len(calls) <= 260


def test_a_check_that_nothing_passes_ends() -> None:
    """Rules of the text that no page from facts has: the page is written, the finding stands and is told."""
    stands = Finding("T001", "error", 1, "always", "always", "")
    found = repair(PAGE, FACTS, lambda _: [stands])
    assert found.findings == (stands,)
    assert found.assembled


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.md"))[::3], ids=lambda path: path.stem)
def test_each_true_page_keeps_at_least_three_quarters(path: Path) -> None:
    facts, text = corpus_facts(path.stem), path.read_text(encoding="utf-8")
    page = assemble_page(text, facts, lambda page: verify(page, facts))
    assert errors(verify(page, facts)) == []
    words, claims = sentences_of(text), {claim for claim in claims_of(text) if claim[0] != "signature"}
    assert sum(keeps(page, one) for one in words) >= 0.75 * len(words)
    assert len(claims & claims_of(page)) >= 0.75 * len(claims)


def test_over_all_true_pages_nine_of_ten_words_survive() -> None:
    words, kept = 0, 0
    for path in sorted(CORPUS.glob("*.md")):
        facts, text = corpus_facts(path.stem), path.read_text(encoding="utf-8")
        page = assemble_page(text, facts, partial(verify, facts=facts))
        said = sentences_of(text)
        words += len(said)
        kept += sum(keeps(page, one) for one in said)
    assert kept >= 0.9 * words


STDLIB = Path(sysconfig.get_path("stdlib"))
# Decorators whose first parameter is `cls`, functions that become methods elsewhere, a class with the name of its
# module, messages with braces in braces, types with commas in brackets, functions with nothing to say of.
MODULES = ("json/__init__", "json/decoder", "dataclasses", "datetime", "enum", "typing", "functools", "abc", "inspect",
           "email/headerregistry", "email/iterators", "unittest/util", "this", "antigravity", "zipfile",
           "argparse", "asyncio/tasks", "__future__", "concurrent/futures/_base")  # fmt: skip


@pytest.mark.parametrize("name", [name for name in MODULES if (STDLIB / f"{name}.py").exists()])
def test_the_page_of_facts_of_a_real_module_has_no_error(name: str) -> None:
    source = (STDLIB / f"{name}.py").read_text(encoding="utf-8")
    facts = facts_of_python(source, Path(name).name)
    assert errors(verify(render(facts), facts, source_text=source)) == []
