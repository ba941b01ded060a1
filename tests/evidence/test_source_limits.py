"""Sources at the limits of what can be read: long numbers, newer syntax, a notebook's own commands."""

import json
import sys

import pytest

from reflexion.errors import InputError
from reflexion.evidence.source import facts_of_notebook, facts_of_python
from reflexion.evidence.verify import verify

LONG = "0x" + "f" * 10_000


@pytest.mark.parametrize(
    "source",
    [
        f"X = {LONG}",
        f"X = -{LONG}",
        f"def f(a={LONG}):\n    return {{'a': {LONG}}}",
        f"def f(a: {LONG}):\n    raise ValueError({LONG})",
        f"def f(a: int):\n    raise ValueError(f'no {{{LONG}}}')",
        f"import enum\nclass A(enum.Enum):\n    B = {LONG}",
    ],
)
def test_a_number_too_long_for_decimal_digits_is_read(source: str) -> None:
    facts = facts_of_python(source, "m")
    assert facts.symbols
    verify(f"# m\n\n## `f(a={LONG})`\n\nX = {LONG}\n", facts)


def test_a_long_number_keeps_its_digits_as_a_default() -> None:
    symbol = facts_of_python(f"def f(a=-{LONG}): ...", "m").symbols[0]
    assert symbol.signatures[0].parameters[0].default == f"-{LONG}"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads them")
@pytest.mark.parametrize("source", ["type X = int\n", "def f[T](a: T) -> T: ...", "class A[T]: ..."])
def test_newer_syntax_is_named_as_such(source: str) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    with pytest.raises(InputError, match=rf"^m\.py:1: not valid for Python {version} \("):
        facts_of_python(source, "m", "m.py")


@pytest.mark.parametrize("source", ["def f(:", " def", "type(X = 1"])
def test_a_plain_mistake_is_not_taken_for_newer_syntax(source: str) -> None:
    with pytest.raises(InputError, match="not valid Python"):
        facts_of_python(source, "m")


@pytest.mark.parametrize(
    "cell",
    [
        "%%bash\necho 'hi $(ls)\n",
        "%%bash --out x\nls -l",
        "x = !ls",
        "d['a'] = !ls",
        "x: list = !ls",
        "a?",
        "a.b??",
        "?a",
        "d[0]?",
        "f(1)?",
        "print(1); a?",
        "!echo \\\n  hi\nq = 1",
        "pip install x",
        "cd ..",
        "if 1:\n    !ls",
    ],
)
def test_commands_of_a_notebook_are_left_out(cell: str) -> None:
    cells = [{"cell_type": "code", "source": text} for text in (cell, "K = 1")]
    facts = facts_of_notebook(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}), "m")
    assert "K" in {symbol.name for symbol in facts.symbols}
    assert facts.text.count("\n") == cell.removesuffix("\n").count("\n") + 1


def test_the_message_about_an_invented_name_quotes_the_module() -> None:
    found = verify("# m\n\n## `gone(a)`\n\nGone.\n", facts_of_python("X = 1\n", "m"))
    assert "`gone` is documented, but `m` defines no such name" in {one.message for one in found}
