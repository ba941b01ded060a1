"""Examples through the real sandbox: what is a finding, what is only not run, and what a page's examples share."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.runner import ExampleRunner
from reflexion.evidence.source import facts_of_python
from reflexion.importable import importable
from tests.evidence.examples_support import SHORT, each, fenced, found, reasons, run_page, sandbox


def test_true_examples_have_no_findings() -> None:
    values = (
        "from bank import ratio\nratio(2, 3)  # 0.667\nx = ratio(2, 3)  # -> 0.66\nprint(ratio(1, 2))  # Output: 0.5\n"
        "words('a b')  # {'b', 'a'}\nAccount()  # Account(balance=0.0, rate=0.05)\nColor.RED  # Color.RED\n"
        "show(3)  # prints value: 3\nPlain()  # <bank.Plain object at 0x7f00>\nx  # x == 0.667"
    )
    descriptions = (
        "a = Account()  # a new account\na.deposit(5)  # returns the balance\nx = a.balance  # the final amount\n"
        "x = ratio(2, 3)  # -> a list of metrics\na.withdraw(2)  # -> float\nprint(x)  # Output: the ratio"
    )
    exceptions = (
        "a = Account()\na.deposit(-1)  # raises ValueError\na.withdraw(99)  # BankError: not enough money\n\n"
        "# Raises ValueError\na.deposit(0)\n\ntry:\n    a.deposit(-3)\nexcept ValueError as e:\n"
        "    print(e)  # Output: amount must be positive, not -3"
    )
    waiting = (
        "x = await fetch(2)\nprint(x)  # 4\nimport asyncio\nasyncio.create_task(fetch(1))\nawait asyncio.sleep(0)\n"
        "print(asyncio.run.__name__)  # run"
    )
    lines = (
        "for i in range(3):\n    print(i)\n# Output:\n# 0\n# 1\n# 2\n"
        "{'a': [1, 2], 'b': 3}.copy()\n# {'a': [1, 2],\n#  'b': 3}"
    )
    imports = (
        "from my.project.bank import Account\nfrom .bank import ratio\nfrom . import bank\nimport your_module as y\n"
        "y.ratio(1, 2)  # 0.5\nbank.ratio(1, 2)  # 0.5\nimport a.b.bank\na.b.bank.ratio(1, 4)  # 0.25\n"
        "from utils import ratio, words\nmath.floor(1.5)  # 1\njson.dumps([1])  # '[1]'"
    )
    others = (
        "if __name__ == '__main__':\n    print(ratio(1, 2))  # 0.5\n",
        "assert ratio(1, 2) == 0.5",
        "print(max(1, 2)); print(ratio(1, 4))  # 0.25",
    )
    scripts = (values, descriptions, exceptions, waiting, lines, imports, *others)
    assert found(fenced(*scripts)) == []
    doctest = (
        ">>> ratio(1, 2)\n0.5\n>>> ratio(1, 0)\nTraceback (most recent call last):\n    ...\n"
        "ZeroDivisionError: division by zero\n>>> words('b a')\n{'b', 'a'}\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb"
    )
    assert found(fenced(doctest, language="pycon")) == []


def test_each_kind_of_fault_is_found_at_its_line() -> None:
    report = run_page(
        fenced(
            "a = Account(1, 2",
            "a = Account()\na.deposit(-1)\na.deposit(0)",
            "ratio(2, 3)  # 0.86",
            "a = Account()\na.deposit(1)  # raises ValueError",
            "x = 1\ndef f():\n    return ratio(1, 0)\n\nf()",
        )
    )
    places = [(one.rule, one.line) for one in report.findings]
    assert places == [("X601", 6), ("X602", 13), ("X603", 20), ("X604", 27), ("X602", 37)]
    assert (report.total, report.ran, report.not_run) == (5, 5, ())


def test_wrong_outputs_carry_both_texts() -> None:
    code = (
        "ratio(2, 3)  # 0.86\nprint(ratio(1, 2))  # Output: 0.6\nx = ratio(2, 3)  # -> 0.68\nwords('a')  # {'c'}\n"
        "Account()  # Account(balance=0.0, rate=0.06)\nColor.RED  # Color.BLUE\nshow(3)  # prints value: 4\n"
        "print('Hello, Bob')  # Hello, Rob\nx  # x == 0.7"
    )
    report = run_page(fenced(code))
    swaps = [(one.stated, one.actual) for one in report.findings]
    assert swaps == [
        ("0.86", "0.67"),
        ("0.6", "0.5"),
        ("0.68", "0.67"),
        ("{'c'}", "{'a'}"),
        ("Account(balance=0.0, rate=0.06)", "Account(balance=0.0, rate=0.05)"),
        ("Color.BLUE", "Color.RED"),
        ("value: 4", "value: 3"),
        ("Hello, Rob", "Hello, Bob"),
        # 0.7 is 0.667 with one digit.
    ]
    first = report.findings[0]
    assert (first.level, first.evidence) == ("error", "running it gives: 0.6666666666666666")
    assert "0.86" in first.message
    assert "0.67" in first.fix


def test_outputs_over_lines_and_in_blocks() -> None:
    code = "for i in range(3):\n    print(i)\n# Output:\n# 0\n# 1\n# 3\n{'a': 1}.copy()\n# {'a':\n#  2}"
    report = run_page(
        fenced(code) + "\nOutput:\n\n```\n0\n1\n7\n```\n\n```python\nratio(1, 4)\n```\n\nThis prints `0.3`.\n"
    )
    swaps = [(one.rule, one.line, one.stated, one.actual) for one in report.findings]
    assert swaps == [
        ("X603", 9, "0\n# 1\n# 3", "0\n# 1\n# 2"),
        ("X603", 13, "{'a':\n#  2}", "{'a': 1}"),
        ("X603", 20, "0\n1\n7", "0\n1\n2"),
    ]
    prose = "print(5)\n# Output:\n# {said}\n# Now the next one\nprint(6)\n# Output:\n# 6\n# 7"
    report = run_page(fenced(prose.replace("{said}", "5"), prose.replace("{said}", "4")))
    places = [(one.line, one.stated, one.actual) for one in report.findings]
    assert places == [(12, "6\n# 7", "6"), (21, "4", "5"), (25, "6\n# 7", "6")]
    other_call = "# bank\n\n```python\nratio(1, 5)\n```\n\nOutput:\n\n```\n0.35\n```\n"
    assert [(one.line, one.actual) for one in run_page(other_call).findings] == [(10, "0.2")]


def test_the_incidents_that_this_is_for() -> None:
    report = run_page(
        fenced("ratio(2, 3)  # 0.86", "print(Account().withdraw(5))  # prints 5", "total = ratio(1, 2\nprint(total)")
        + "\nNext:\n\n```python\nprint(ratio(1, 2))\n```\n\nOutput:\n\n```\n[34, 33, 33]\n```\n"
    )
    assert [(one.rule, one.line) for one in report.findings] == [("X603", 6), ("X602", 12), ("X601", 18), ("X603", 31)]
    assert (report.findings[0].stated, report.findings[0].actual) == ("0.86", "0.67")
    assert (report.findings[3].stated, report.findings[3].actual) == ("[34, 33, 33]", "0.5")


def test_exceptions_that_are_announced_wrongly() -> None:
    code = (
        "a = Account()\na.deposit(-1)  # raises KeyError\na.withdraw(99)  # BankError: too poor\n\n"
        "# Raises ValueError\na.deposit(1)\n\n"
        "try:\n    a.deposit(3)\nexcept ValueError as e:\n    print(e)  # Output: amount must be positive\n\n"
        "try:\n    a.deposit(3)  # raises ValueError\nexcept ValueError:\n    pass\na.deposit(-1)  # raises Exception"
    )
    report = run_page(fenced(code))
    assert [(one.rule, one.line, one.stated, one.actual) for one in report.findings] == [
        ("X604", 7, "KeyError", "ValueError"),
        ("X604", 8, "too poor", "not enough money"),
        ("X604", 10, "", ""),
        ("X604", 16, "", ""),
        ("X604", 19, "", ""),
    ]
    led = "# bank\n\nThis raises `ValueError`:\n\n```python\nAccount().deposit(1)\n```\n"
    assert [(one.rule, one.level) for one in run_page(led).findings] == [("X604", "warning")]
    doctest = ">>> Account().deposit(-1)\nTraceback (most recent call last):\nKeyError: 'x'"
    assert found(fenced(doctest, language="pycon")) == [("X604", 8)]


def test_what_the_source_does_not_have_and_what_it_raises_itself() -> None:
    by_example = each(
        "from bank import invented", "Account().invented()", "make_account(5)", "from bank.extra import x",
        "assert ratio(1, 2) == 0.6", "find('x')",
    )  # fmt: skip
    assert [[one.rule for one in found] for found in by_example] == [["X602"]] * 6
    messages = [found[0].message for found in by_example]
    for message, part in zip(
        messages,
        ("cannot import name 'invented' from 'bank'", "no attribute 'invented'", "calls `make_account`", "bank.extra",
         "assertion", "no account file"),
        strict=True,
    ):  # fmt: skip
        assert part in message


NOT_RUN = [
    ("connect('example.com')", "network"),
    ("load('data.csv')", "file"),
    ("import nonexistentpackage", "package nonexistentpackage"),
    ("x = input('name')", "standard input"),
    ("client.get(5)", "`client`"),
    ("ratio(*my_numbers())", "`my_numbers`"),
    ("deposit(5)", "`deposit`"),
    ("import os\nos._exit(0)", "ended the interpreter"),
    ("import sys\nsys.exit(1)", "ended the interpreter"),
    ("import os\nos.kill(os.getpid(), 9)", "signal 9"),
    ("x = bytearray(10 ** 10)", "memory"),
    ("while True: print('x' * 1000)", "prints or writes more"),
    ("import os\nos.write(3, b'x'); os.close(4); os._exit(3)", "ended the interpreter"),
    ("import os\nos.kill(os.getppid(), 9)", "ended the run"),
    ("while True: pass", "time limit"),
]


def test_what_is_only_not_run() -> None:
    told = reasons(*(code for code, _ in NOT_RUN), limits=SHORT)
    for (_, reason), real in zip(NOT_RUN, told, strict=True):
        assert reason in real


def test_what_differs_between_runs_is_not_judged() -> None:
    code = "import random, time, datetime\nrandom.random()  # 0.5123\nstamp()  # 5\n"
    code += "id(object())  # 5\nprint(datetime.datetime.now())  # Output: 1"
    assert found(fenced(code)) == []
    assert found(fenced("import datetime\ndatetime.date.today()  # datetime.date(2020, 1, 1)")) == []


def test_examples_share_what_they_need() -> None:
    page = fenced(
        "a = Account(5)\nimport bank as ratio", "a.deposit(5)  # 10.0", "remember(1)  # [1]", "remember(2)  # [2]",
        "remember(3)  # [1, 2, 3]", "remember(4)  # [1, 2, 3, 5]", "a.deposit(1)\nratio(1, 2)  # 0.6",
    )  # fmt: skip
    report = run_page(page)
    assert (report.total, report.ran) == (7, 7)
    assert [(one.rule, one.stated) for one in report.findings] == [("X603", "[1, 2, 3, 5]"), ("X603", "0.6")]


values = st.one_of(
    st.integers(-999, 9999), st.floats(-1e4, 1e4, allow_nan=False).map(lambda value: round(value, 3)), st.booleans(),
    st.lists(st.integers(0, 99), max_size=4), st.dictionaries(st.sampled_from("abc"), st.integers(0, 99), max_size=3),
    st.text(alphabet="abc xyzé", max_size=8), st.frozensets(st.integers(0, 9), min_size=1, max_size=3).map(set),
)  # fmt: skip


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(values, min_size=1, max_size=5), st.data())
def test_real_outputs_are_right_and_one_changed_digit_is_one_finding(
    given_values: list[object], data: st.DataObject
) -> None:
    lines = [f"same({value!r})  # {value!r}" for value in given_values]
    lines += [f"print(same({value!r}))  # Output: {value!r}" for value in given_values]
    source = "def same(value):\n    return value\n"
    facts = facts_of_python(source, "echo")
    runner = ExampleRunner(sandbox(), importable(None, source, "echo"))
    page = "# echo\n\n```python\n" + "\n".join(lines) + "\n```\n"
    assert runner.run(read_claims(page), facts).findings == ()
    numbers = [place for place, value in enumerate(given_values) if type(value) in (int, float)]
    if not numbers:
        return
    place = data.draw(st.sampled_from(numbers))
    code, _, said = lines[place].rpartition("# ")
    digit = data.draw(st.sampled_from([index for index, letter in enumerate(said) if letter.isdigit()]))
    changed = f"{said[:digit]}{(int(said[digit]) + data.draw(st.integers(2, 8))) % 10}{said[digit + 1 :]}"
    if changed.lstrip("-").lstrip("0")[:1].isdigit() and changed.lstrip("-")[:1] == "0":
        return
    lines[place] = f"{code}# {changed}"
    wrong = "# echo\n\n```python\n" + "\n".join(lines) + "\n```\n"
    assert [(one.rule, one.line) for one in runner.run(read_claims(wrong), facts).findings] == [("X603", 4 + place)]
