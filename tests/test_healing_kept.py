"""Of the modules of a folder that are healed in turn: which candidate may be kept, and which one passes."""

import sys
from pathlib import Path

import pytest

from reflexion.config import SandboxSettings
from reflexion.healing.blame import Blame
from reflexion.healing.folder import modules_below, runner_for
from reflexion.healing.judge import Judge
from reflexion.healing.module import load_module
from reflexion.healing.project import find_project
from reflexion.healing.runner import Runner, limits_for
from reflexion.sandbox import open_sandbox
from tests.heal_support import CART, INI, LIMIT_S, OF_CART, OF_TOTAL, SHOP, turns_of
from tests.sandbox_support import bubblewrap

RIGHT = """import os
import pytest

CASES = [1, 2]
READY = True


def plus(number):
    return number + 1


def twice(number):
    return 2 * number


def half(number):
    return number / 2
"""
# plus and twice raise, half passes.
FAILING = RIGHT.replace("number + 1", "number + None").replace("2 * number", "2 / 'two'")
ABOUT = """import pytest
import one


@pytest.mark.parametrize("number", one.CASES)
def test_plus(number):
    assert one.plus(number) == number + 1


@pytest.mark.skipif(not one.READY, reason="not ready")
def test_twice():
    assert one.twice(2) == 4


@pytest.mark.skipif(not one.READY, reason="not ready")
def test_half():
    assert one.half(4) == 2
"""
OTHER = "import two\n\n\ndef test_two():\n    assert two.two() == 2\n"
FILES = {
    "pytest.ini": INI,
    "src/two.py": "def two():\n    return 2\n",
    "tests/test_one.py": ABOUT,
    "tests/test_two.py": OTHER,
}
PLUS = FAILING.replace("number + None", "number + 1")
TWICE = FAILING.replace("2 / 'two'", "2 * number")


@pytest.mark.parametrize("broken", [False, True])
def test_no_hostile_candidate_is_further(tmp_path: Path, broken: bool) -> None:
    """What fails, or cannot be collected, in the user's project may only pass: by name, and with nothing lost."""
    text = RIGHT.replace("def plus(number):", "def plus(number:") if broken else FAILING
    turns = turns_of(tmp_path, FILES | {"src/one.py": text})
    assert turns.waiting() == ["src/one.py"]
    judge = turns.judge("src/one.py")
    hostile = {
        "no parameters": RIGHT.replace("[1, 2]", "[]").replace("2 * number", "number"),
        "skipped by a mark": RIGHT.replace("READY = True", "READY = False"),
        "the file skipped": RIGHT + "\npytest.skip('no', allow_module_level=True)\n",
        "skipped inside": RIGHT.replace("return number / 2", "pytest.skip('no')"),
        "not to be collected": RIGHT + "\nraise ValueError\n",
        "a name less": RIGHT.replace("CASES", "OTHERS"),
        "the session ended": RIGHT + "\npytest.exit('done', 0)\n",
        "the process ended": RIGHT + "\nos._exit(0)\n",
        "expected to fail": RIGHT.replace("return number / 2", "pytest.xfail('no')"),
        "one fixed, one lost": RIGHT.replace("number / 2", "number / 3"),
        "another import": "import socket\n" + RIGHT,
    }
    # Of a file that could not be collected no test passed before, so there is nothing to lose in it: then these make
    # more tests pass, and do not pass themselves. That a mark skips a test is then taken for the test's own.
    more = {"no parameters", "skipped inside", "expected to fail", "one fixed, one lost"} if broken else set()
    for what, candidate in hostile.items():
        if what != "skipped by a mark" or not broken:
            assert not judge(candidate).passed, what
            assert what in more or turns.keep("src/one.py", judge, [candidate]) == "", what
    assert (turns.kept, turns.passed) == ({}, {})
    assert judge(RIGHT).passed


def test_a_file_of_which_every_test_is_skipped_then_is_not_healed(tmp_path: Path) -> None:
    """That other files' tests pass says nothing about it."""
    about = ABOUT.partition("@pytest.mark.parametrize")[0] + ABOUT[ABOUT.index("@pytest.mark.skipif") :]
    broken = RIGHT.replace("def plus(number):", "def plus(number:")
    turns = turns_of(tmp_path, FILES | {"src/one.py": broken, "tests/test_one.py": about})
    judge = turns.judge("src/one.py")
    project = find_project(load_module(tmp_path / "src" / "one.py"), tmp_path / "tests")
    runner = Runner(project, bubblewrap(), limits_for(LIMIT_S, 512), sys.executable, (project.name,))
    for one in (judge, Judge(runner, frozenset())):
        done = one(RIGHT.replace("READY = True", "READY = False"))
        assert (done.passed, done.reason) == (False, "tests/test_one.py: no test of it passes")
        assert one(RIGHT).passed


def test_a_module_without_which_pytest_does_not_begin_and_another_that_cannot_be_parsed(tmp_path: Path) -> None:
    """What keeps a file from being collected is seen only after the first was kept, and has to pass all the same."""
    two = "READY = True\n\n\ndef two():\n    return 2\n"
    about = "import pytest\nimport two\n\n\n@pytest.mark.skipif(not two.READY, reason='x')\n"
    about += "def test_two():\n    assert two.two() == 2\n"
    files = {"pytest.ini": INI, "tests/conftest.py": "import one\n", "tests/test_two.py": about}
    files |= {"tests/test_one.py": "import one\n\n\ndef test_half():\n    assert one.half(4) == 2\n"}
    broken = RIGHT.replace("def plus(number):", "def plus(number:")
    turns = turns_of(tmp_path, files | {"src/one.py": broken, "src/two.py": two.replace("two():", "two(:")})
    assert turns.waiting() == ["src/one.py"]
    judge = turns.judge("src/one.py")
    assert not judge(RIGHT).passed
    assert turns.keep("src/one.py", judge, [RIGHT]) == "one more test passes with it"

    assert turns.waiting() == ["src/two.py"]
    judge = turns.judge("src/two.py")
    skipped = two.replace("READY = True", "READY = False")
    assert not judge(skipped).passed
    assert turns.keep("src/two.py", judge, [skipped]) == "1 more test can be collected with it"
    judge = turns.judge("src/two.py")
    assert (judge.text, judge.original.passed, judge(two).passed) == (skipped, False, True)
    turns.heal("src/two.py", judge, two)

    assert turns.waiting() == ["src/one.py"]
    judge = turns.judge("src/one.py")
    assert (judge.text, judge.original.passed) == (RIGHT, True)
    turns.heal("src/one.py", judge, RIGHT)
    assert [turns.last_run()[0].passed, turns.last_run()[1]] == [True, True]


def test_a_file_that_is_skipped_whatever_the_modules_say_keeps_nothing_from_being_healed(tmp_path: Path) -> None:
    elsewhere = "import sys\nimport pytest\nimport one\n\n"
    elsewhere += "pytestmark = pytest.mark.skipif(sys.version_info > (3,), reason='old')\n\n\n"
    elsewhere += "def test_old():\n    assert one.half(4) == 2\n"
    broken = RIGHT.replace("def plus(number):", "def plus(number:")
    turns = turns_of(tmp_path, FILES | {"src/one.py": broken, "tests/test_old.py": elsewhere})
    judge = turns.judge("src/one.py")
    assert judge(RIGHT).passed
    turns.heal("src/one.py", judge, RIGHT)
    assert turns.last_run()[1]


def test_what_is_kept_makes_no_skip_an_old_one(tmp_path: Path) -> None:
    """A module has its turn again once another one changed, and is measured by the user's project all the same."""
    turns = turns_of(tmp_path, FILES | {"src/one.py": FAILING, "src/two.py": "def two():\n    return 2 + None\n"})
    assert turns.waiting() == ["src/one.py", "src/two.py"]
    judge = turns.judge("src/one.py")
    assert not judge(PLUS).passed
    skipped = PLUS.replace("READY = True", "READY = False")
    assert turns.keep("src/one.py", judge, [FAILING, skipped, "x = 1\n", PLUS]) == "2 more tests pass with it"
    assert (turns.kept, turns.passed) == ({"src/one.py": PLUS.encode()}, {})

    assert turns.waiting() == ["src/two.py"]
    judge = turns.judge("src/two.py")
    right = "def two():\n    return 2\n"
    assert judge(right).passed
    turns.heal("src/two.py", judge, right)
    run, fits = turns.last_run()
    assert (run.passed, run.passes, fits) == (False, 2, True)

    assert turns.waiting() == ["src/one.py"]
    judge = turns.judge("src/one.py")
    assert (judge.text, judge.original.passed) == (PLUS, False)
    assert not judge(skipped).passed
    assert not judge(TWICE).passed
    assert judge(RIGHT).passed
    turns.heal("src/one.py", judge, RIGHT)
    assert turns.waiting() == []
    assert [turns.last_run()[0].passed, turns.last_run()[1]] == [True, True]


MIXED = (
    "from shop.cart import count\nfrom shop.price import price\n\n\ndef test_count():\n    assert count('a') == 1\n\n\n"
)
MIXED += "def test_tea():\n    assert price('tea') == 3\n"


@pytest.mark.parametrize(("tests", "passed"), [(MIXED, True), (OF_CART + OF_TOTAL, False)])
def test_a_test_that_another_module_fails_is_excused_where_it_does_not_use_this_one(
    tmp_path: Path, tests: str, passed: bool
) -> None:
    files = {name.removeprefix("shop/"): text for name, text in SHOP.items()}
    turns = turns_of(tmp_path, files | {"tests/test_cart.py": tests, "tests/test_price.py": "def test_x(): pass\n"})
    assert turns.waiting() == ["src/shop/cart.py"]
    judge = turns.judge("src/shop/cart.py")
    assert judge(CART).passed is passed
    assert not judge(CART.replace("len(things)", "price(things)")).passed


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("from pack import given\ndef test_x(): given()\n", {"src/pack/__init__.py", "src/pack/deep/one.py"}),
        ("from pack.deep import one\ndef test_x(): one.f()\n", {"src/pack/deep/one.py"}),
        ("import pack.deep.two as t\ndef test_x(): t.f()\n", {"src/pack/deep/two.py"}),
        ("from pack.deep.two import *\ndef test_x(): f()\n", {"src/pack/deep/two.py"}),
        (
            "import pack\ndef test_x(): pack.f()\n",
            {f"src/pack/{one}.py" for one in ("__init__", "deep/one", "deep/two")},
        ),
        ("import json, other\ndef test_x(): pass\n", set()),
        (
            "from pack.deep import one, two\ndef test_x(): one.f()\ndef test_y(): two.f()\n",
            {"src/pack/deep/one.py"},
        ),
        (
            "from pack.deep import one, two\nT = two\ndef test_x(): one.f()\n",
            {"src/pack/deep/one.py", "src/pack/deep/two.py"},
        ),
        ("def (", set()),
    ],
)
def test_which_modules_a_test_imports(tmp_path: Path, text: str, modules: set[str]) -> None:
    files = {
        "pytest.ini": INI,
        "src/pack/__init__.py": "from .deep.one import f as given\nfrom .deep import two\n",
        "src/pack/deep/one.py": "def f(): ...\n",
        "src/pack/deep/two.py": "from pack import given\ndef f(): ...\n",
        "tests/test_it.py": text,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = modules_below(tmp_path / "src", tmp_path / "tests")
    project = find_project(found[0], tmp_path / "tests", tmp_path / "src")
    sandbox = open_sandbox(SandboxSettings(mode="process"))
    blame = Blame(runner_for(project, Runner(project, sandbox, limits_for(LIMIT_S, 512), sys.executable, ()), found))
    assert blame.imported("tests/test_it.py::test_x") == modules
