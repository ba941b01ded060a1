"""What is an example of a page, how it is instrumented, and what its imports mean. Nothing is run."""

import ast
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.examples.imports import imports_of
from reflexion.evidence.examples.pages import Unparsed
from reflexion.evidence.examples.plan import Plan
from reflexion.evidence.examples.readings import is_value, read_announcement, read_comment
from tests.evidence.plan_support import NAMES, is_example, plans


@pytest.mark.parametrize("language", ["python", "py", "python3", "pycon", "doctest", "Python"])
def test_fences_that_are_marked_as_python_are_examples(language: str) -> None:
    assert len(plans(f"# R\n\n```{language}\nprint(ratio(1, 2))\n```\n")) == 1


def test_unmarked_fences_are_examples_where_they_use_the_source() -> None:
    assert is_example("x = ratio(1, 2)", "")
    assert is_example("from ratios import ratio", "")
    assert is_example(">>> 1 + 1\n2", "")
    assert not is_example("x = other(1, 2)", "")
    assert not is_example("a tree\n  of words", "")


@pytest.mark.parametrize("language", ["bash", "sh", "json", "text", "toml", "javascript", "console"])
def test_other_languages_are_no_examples(language: str) -> None:
    assert not is_example("x = ratio(1, 2)", language)


@pytest.mark.parametrize(
    "code",
    [
        "$ python -m ratios\n",
        "pip install ratios",
        "!pip install ratios\nimport ratios",
        "In [1]: ratio(1, 2)\nOut[1]: 0.5",
        "python -m ratios --help",
        "ratio(a: float, b: float) -> float",
        "ratio(a: float, b: float = 1) -> float\nother(x: int) -> None",
        "def ratio(a: float, b: float) -> float",
        "def ratio(a: float, b: float) -> float: ...",
        "class Account:\n    balance: float\n\n    def deposit(self, amount): ...",
        "@property\ndef size(self) -> int",
        "x = ratio(...)",
        "ratio(1, ...)",
        "ratio(a=...)",
        "x = ...\nratio(x, 1)",
        "x = ratio(1, 2)\n...\nprint(x)",
        "# ...\nratio(1, 2)",
        "with open('x') as f:\n    ...",
        "with open('x') as f:\n    # work with it here\n",
        "x = [1, ...]",
        "ratio(<a>, <b>)",
        "connect('<your key>')",
        "ratio(a, b, …)",
        "Traceback (most recent call last):\n  File 'x'\nValueError: no",
        'def ratio(a, b):\n    """Divide."""\n    return a / b',
        "return a / b",
        "ratio",
        "",
        "'just words'",
    ],
)
def test_what_only_looks_like_an_example(code: str) -> None:
    assert not is_example(code)


@pytest.mark.parametrize(
    "code",
    [
        "x: Callable[..., int] = ratio\nx(1, 2)",
        "def handler(event): ...\n\nsubscribe(handler)",
        "print(escape('<b>'))",
        "x = await ratio(1, 2)",
        "pip = ratio(1, 2)",
    ],
)
def test_dots_and_angles_that_leave_nothing_out(code: str) -> None:
    assert is_example(code)


@pytest.mark.parametrize(
    ("code", "line"),
    [("x = ratio(1, 2", 4), ("y = 1\nprint 'x'", 5), ("if x = 1:\n    pass", 4), (">>> 1 +\n2", 4)],
)
def test_marked_code_that_does_not_parse(code: str, line: int) -> None:
    (found,) = plans(f"# R\n\n```python\n{code}\n```\n")
    assert isinstance(found, Unparsed)
    assert found.line == line


@pytest.mark.parametrize(
    ("code", "aliases"),
    [
        ("from my.project.ratios import ratio", ("my.project.ratios",)),
        ("from utils import ratio", ("utils",)),
        ("from utils import ratio, invented", ()),
        ("from ratios import invented", ("ratios",)),
        ("import your_module\nyour_module.ratio(1, 2)", ("your_module",)),
        ("import tools\ntools.ratio(1, 2)", ("tools",)),
        ("import tools\ntools.other(1, 2)", ()),
        ("from package import ratios", ("package.ratios",)),
        ("from .ratios import ratio", ("ratios",)),
        ("from . import ratio", ("package",)),
        ("from json import ratio", ()),
        ("import a.b.ratios as r", ("a.b.ratios",)),
    ],
)
def test_imports_that_stand_for_the_source(code: str, aliases: tuple[str, ...]) -> None:
    found = imports_of(ast.parse(code), code, NAMES)
    assert found.aliases == aliases


def test_relative_imports_become_absolute() -> None:
    for code, wanted in (
        ("from .ratios import ratio", "from ratios import ratio"),
        ("from . import ratio", "from package import ratio"),
        ("x = 'ä'; from ..core.ratios import (ratio,)", "x = 'ä'; from core.ratios import (ratio,)"),
    ):
        ((start, end, new),) = imports_of(ast.parse(code), code, NAMES).edits
        assert code[:start] + new + code[end:] == wanted
    inside = replace(NAMES, module="shop.core.ratios")
    ((start, end, new),) = imports_of(ast.parse("from ..money import M"), "from ..money import M", inside).edits
    assert new == "from shop.money"


def test_names_of_the_standard_library_that_were_forgotten() -> None:
    def forgotten(code: str) -> set[str]:
        return {name for name, _, _ in imports_of(ast.parse(code), code, NAMES).prefill if name}

    assert forgotten("json.dumps(math.pi)") == {"json", "math"}
    assert forgotten("Path('x'); date(2024, 1, 1); Decimal(1)") == {"Path", "date"}
    assert forgotten("json = 1\njson.real") == set()
    assert forgotten("client.get(1)") == set()
    assert forgotten("ratios.ratio(1, 2)") == {"ratios"}


def test_the_source_says_which_names_it_has() -> None:
    assert {"ratio", "Account", "Decimal", "RatioError"} <= NAMES.top
    assert {"deposit", "amount", "a"} <= NAMES.all
    assert NAMES.exceptions == {"RatioError"}


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=80))
def test_no_comment_makes_the_reader_raise(text: str) -> None:
    read_comment(text)
    read_comment(text, printing=True)
    read_announcement(text)
    assert is_value(text) in (True, False)


PIECES = """x = ratio(1, 2)|print(x)|# 5|  # -> [1,|#  2]|for i in x:|    print(i)  # 1|try:|except E:|\t|'\''|>>> x
...|# Output:|# raises ValueError|ä = 'ö'; y|\f|from . import x|from .|\\|await x|class A: pass|    |\r|lambda: 0|@d|5|(
x: int = 5  # 6|def f(): yield|match x:|    case 1: x  # 5|if x: y  # 3|x = y = 4  # 4|a, *b = x  # 1|x[f(1)] = 1 + 1
... y|)"""
pieces = st.sampled_from([piece for line in PIECES.split("\n") for piece in line.split("|")])


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces | st.text(max_size=12), max_size=12), st.sampled_from(["python", "pycon", "", "doctest"]))
def test_no_code_makes_the_planner_raise(lines: list[str], language: str) -> None:
    code = "\n".join(lines).replace("```", "")
    for found in plans(f"# R\n\n```{language}\n{code}\n```\n\nOutput:\n\n```\n{code}\n```\n"):
        if isinstance(found, Plan) and not found.doctest:
            for step in found.steps:
                compile(ast.parse(step.code), "x", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize(
    "code",
    [
        "f(1)  # 5\n" * 3000,
        "f(1)\n# 5\n" * 3000,
        "f(1)\n" + "# [1,\n" * 5000,
        "f(1)  # (" + " " * 9000 + "\n",
        "f(1)  # 5" + " (a" * 3000 + "\n",
        "f(1)\n# Output:\n" + "# Words of it\n" * 3000,
    ],
    ids=["trailing", "own lines", "open", "blanks", "brackets", "prose"],
)
def test_long_examples_are_read_in_a_reasonable_time(code: str) -> None:
    begun = time.process_time()
    plans(f"# R\n\n```python\n{code}```\n")
    # A search through all statements for each comment would take far longer.
    assert time.process_time() - begun < 10
