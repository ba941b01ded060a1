"""What an example states in its comments, doctests, output blocks, and the sentences around it. Nothing is run."""

import ast

import pytest

from reflexion.evidence.examples.plan import Plan
from reflexion.evidence.examples.readings import read_announcement, read_comment
from tests.evidence.plan_support import expected, plan, plans, stated


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
