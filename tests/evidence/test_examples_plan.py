"""What is an example, what its comments and the words around it state, and what its imports mean. Nothing is run."""

import ast
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.claims import Example
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.fences import read_code
from reflexion.evidence.examples.imports import SourceNames, imports_of, source_names
from reflexion.evidence.examples.pages import Unparsed, plan_page
from reflexion.evidence.examples.plan import Plan
from reflexion.evidence.examples.readings import is_value, read_announcement, read_comment
from reflexion.evidence.source import facts_of_python

SOURCE = '''"""Ratios."""
from decimal import Decimal


class RatioError(ValueError):
    """No ratio."""


class Account:
    """An account."""

    def deposit(self, amount):
        """Add."""
        return amount


def ratio(a, b):
    """Divide."""
    return a / b
'''
NAMES = source_names(facts_of_python(SOURCE, "ratios"), "ratios")


def plans(document: str, names: SourceNames = NAMES) -> list[Plan | Unparsed]:
    return plan_page(read_claims(document), names, SOURCE)


def plan(code: str, language: str = "python") -> Plan:
    (found,) = plans(f"# Ratios\n\n```{language}\n{code}\n```\n")
    assert isinstance(found, Plan)
    return found


def stated(code: str, language: str = "python") -> list[tuple[int, str]]:
    return [(one.line, one.texts[0]) for one in plan(code, language).stated if one.certainty != "guess"]


def expected(code: str) -> list[tuple[str, str | None, bool]]:
    return [(one.said.type, one.said.message, one.said.required) for one in plan(code).expected]


def is_example(code: str, language: str = "python") -> bool:
    example = Example(1, 9, 2, language, code)
    return read_code(example, frozenset(NAMES.top | {"ratios"}), SOURCE) is not None


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
    ("comment", "text"),
    [
        ("0.667", "0.667"),
        ("[1, 2]", "[1, 2]"),
        ("True", "True"),
        ("None", "None"),
        ("'abc'", "'abc'"),
        ("-> 0.5", "0.5"),
        ("=> 0.5", "0.5"),
        ("→ {'a': 1}", "{'a': 1}"),
        ("Returns 0.5", "0.5"),
        ("returns: 0.5", "0.5"),
        ("Output: 0.5", "0.5"),
        ("prints 0.5", "0.5"),
        ("This prints 0.5", "0.5"),
        ("Prints: 0.5", "0.5"),
        ("Result: 0.5", "0.5"),
        ("evaluates to 0.5", "0.5"),
        ("expected output: 0.5", "0.5"),
        ("0.5 (half)", "0.5"),
        ("True, since 2 > 1", "True"),
        ("0.5 - the half", "0.5"),
        ("approx. 0.67", "0.67"),
        ("about 0.67", "0.67"),
        ("~0.67", "0.67"),
        ("≈ 0.67", "0.67"),
        ("-> Account(rate=0.05)", "Account(rate=0.05)"),
        ("-> Color.RED", "Color.RED"),
        ("Output: Hello, World", "Hello, World"),
    ],
)
def test_comments_that_state_something(comment: str, text: str) -> None:
    reading = read_comment(comment)
    assert reading is not None
    assert (reading.text, reading.certainty in ("sure", "bare")) == (text, True)
    assert reading.loose == comment.startswith(("approx", "about", "~", "≈"))


@pytest.mark.parametrize(
    "comment",
    [
        "the final amount",
        "-> a list of metrics",
        "returns the balance",
        "-> float",
        "-> list[int]",
        "-> Account",
        "10 per second",
        "5 items",
        "5% a year",
        "seconds",
        "True if valid",
        "0.05 for the first year",
        "Output: the ratio",
        "Output: depends on the machine",
        "Output: something like 5",
        "(1)",
        "[2]",
        "a new account",
        "noqa: F401",
        "60 * 60",
        "add $2",
        "-> [a, b]",
        "Account(owner)",
        "step 1",
    ],
)
def test_comments_that_only_describe(comment: str) -> None:
    reading = read_comment(comment)
    assert reading is None or reading.certainty == "guess"


def test_a_value_of_a_name_is_stated_in_a_comment() -> None:
    assert stated("x = ratio(2, 3)\nx  # x == 0.667\n") == [(2, "0.667")]
    assert stated("x = ratio(2, 3)  # other == 0.667\n") == []


def test_where_comments_stand() -> None:
    code = (
        "a = ratio(1, 2)  # 0.5\n"
        "print(a)\n# Output: 0.5\n\n"
        "for i in range(2):\n    print(i)\n# Output:\n# 0\n# 1\n\n"
        "ratio(1, 4)\n# -> 0.25\n"
        "ratio(\n    1,  # 7\n    2,\n)  # 0.5\n"
        "limit = 5  # 10\n"
        "def f():\n    return 1  # 1\n"
        "if a:  # True\n    ratio(1, 5)  # 0.2\n"
    )
    assert stated(code) == [(1, "0.5"), (3, "0.5"), (8, "0\n1"), (12, "0.25"), (16, "0.5"), (21, "0.2")]


def test_literals_over_several_comment_lines() -> None:
    assert stated("ratio(1, 2)\n# {'a': 1,\n#  'b': 2}\n") == [(2, "{'a': 1, 'b': 2}")]
    assert stated("ratio(1, 2)  # [1,\n             #  2]\n") == [(1, "[1, 2]")]


def test_several_comments_about_one_statement() -> None:
    code = "x = ratio(1, 2)  # 0.5\n# -> 0.5\nprint(x)  # x == 0.5\n# Output: 0.5\n"
    assert stated(code) == [(1, "0.5"), (2, "0.5"), (3, "0.5"), (4, "0.5")]
    for step in plan(code).steps:
        ast.parse(step.code)


def test_numbers_that_count_steps_state_nothing() -> None:
    assert stated("# 1\nratio(1, 2)\n# 2\nratio(3, 4)\n") == []
    assert stated("ratio(1, 2)\n# 0.5\nratio(3, 4)\n# 0.75\n") == [(2, "0.5"), (4, "0.75")]


def test_a_comment_above_a_statement_states_nothing_of_the_one_before() -> None:
    assert stated("a = ratio(1, 2)\n\n# 5\nb = ratio(1, 3)\n") == []


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("raises ValueError", ("ValueError", None, True)),
        ("Raises: ValueError('no')", ("ValueError", "no", True)),
        ("ValueError: b is 0", ("ValueError", "b is 0", True)),
        ("-> RatioError", ("RatioError", None, True)),
        ("throws ZeroDivisionError", ("ZeroDivisionError", None, True)),
        ("this will raise errors.RatioError: no", ("errors.RatioError", "no", True)),
        ("may raise ValueError", ("ValueError", None, False)),
        ("raises ValueError if b is 0", ("ValueError", None, False)),
        ("does not raise ValueError", ("ValueError", None, False)),
        ("an error", ("", None, False)),
        ("Error: not enough", ("", None, False)),
    ],
)
def test_announced_exceptions(comment: str, said: tuple[str, str | None, bool]) -> None:
    found = read_announcement(comment)
    assert found is not None
    assert (found.type, found.message, found.required) == said
    assert read_announcement("the ratio of both") is None
    assert read_announcement("no error") is None


def test_announcements_above_below_and_inside_try() -> None:
    assert expected("# Raises ValueError\nratio(1, 0)\n") == [("ValueError", None, True)]
    assert expected("ratio(1, 0)\n# raises ValueError\n") == [("ValueError", None, True)]
    inside = plan("try:\n    ratio(1, 0)  # raises ValueError\nexcept ValueError:\n    pass\n")
    assert [one.mark for one in inside.expected] == [1]
    assert plan("x = 1\n\n# raises ValueError\na = 2\nratio(a, 0)\n\nb = 1\n").expected[0].steps == (1, 2)


def test_instrumented_code_keeps_its_lines_and_parses() -> None:
    code = "with open('x') as f: print(f)  # 5\nx = ratio(\n    1, 2\n)  # 0.5\ny = x; print('ä', y)  # ä 0.5\n"
    found = plan(code)
    for step in found.steps:
        ast.parse(step.code)
        assert step.code.count("\n") == step.end_line - step.line
    assert [step.line for step in found.steps] == [1, 2, 5, 5]


def test_doctests_state_their_outputs_and_tracebacks() -> None:
    code = (
        ">>> ratio(1, 2)\n0.5\n>>> ratio(1, 0)\nTraceback (most recent call last):\n    ...\n"
        "ZeroDivisionError: division by zero\n>>>ratio(1, 4)  # 0.25\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb\n"
    )
    found = plan(code, "pycon")
    assert found.doctest
    assert [(one.line, one.texts[0]) for one in found.stated] == [(2, "0.5"), (9, "a\n\nb")]
    assert [(one.line, one.said.type, one.said.message) for one in found.expected] == [
        (6, "ZeroDivisionError", "division by zero")
    ]
    assert stated(">>> ratio(1, 4)  # -> 0.25\n", "pycon") == [(1, "0.25")]


def test_output_blocks_and_sentences() -> None:
    (block,) = plans("# R\n\n```python\nprint(1)\n```\n\nOutput:\n\n```\n1\n```\n")
    assert isinstance(block, Plan)
    assert [(one.text.strip(), one.line) for one in block.wholes] == [("1", 10)]
    (in_python,) = plans("# R\n\n```python\nprint(ratio(1, 2))\n```\n\nOutput:\n\n```python\n0.5\n```\n")
    assert isinstance(in_python, Plan)
    assert [one.text.strip() for one in in_python.wholes] == ["0.5"]
    (told,) = plans("# R\n\n```python\nprint(1)\n```\n\nThis prints `1`.\n")
    assert isinstance(told, Plan)
    assert [(one.text, one.line, one.prose) for one in told.wholes] == [("1", 7, True)]
    (general,) = plans("# R\n\nIt returns `None` if there is nothing.\n\n```python\nratio(1, 2)\n```\n\nReturns `5`.\n")
    assert isinstance(general, Plan)
    assert general.wholes == ()
    (failing,) = plans(
        "# R\n\n```python\nratio(1, 0)\n```\n\nOutput:\n\n```\nZeroDivisionError: division by zero\n```\n"
    )
    assert isinstance(failing, Plan)
    assert [(one.said.type, one.said.message) for one in failing.expected] == [
        ("ZeroDivisionError", "division by zero")
    ]


def test_sentences_announce_exceptions() -> None:
    (led,) = plans("# R\n\nA zero raises `ZeroDivisionError`:\n\n```python\nratio(1, 0)\n```\n")
    assert isinstance(led, Plan)
    assert [(one.said.type, one.said.required, one.sure) for one in led.expected] == [
        ("ZeroDivisionError", True, False)
    ]
    (general,) = plans("# R\n\nIt raises `ZeroDivisionError` for a zero.\n\n```python\nratio(1, 2)\n```\n")
    assert isinstance(general, Plan)
    assert [one.said.required for one in general.expected] == [False]


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
