"""``reflexion code --fix FOLDER``: modules are healed in turn, each beside what was healed before it."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflexion.config import SandboxSettings
from reflexion.healing.blame import Blame
from reflexion.healing.folder import modules_below, runner_for, survey
from reflexion.healing.judge import Judge
from reflexion.healing.module import load_module
from reflexion.healing.project import find_project
from reflexion.healing.runner import Runner, limits_for
from reflexion.healing.turns import Turns
from reflexion.sandbox import open_sandbox
from tests.code_support import patch, result
from tests.heal_support import INI, fix, lay_out
from tests.ollama_double import Act, OllamaDouble, reply
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine, Ended

LIMIT_S = 60.0
CALLS = 40
# cart.py cannot be parsed, price.py has a bug.
CART = "from shop.price import price\n\n\ndef count(things):\n    return len(things)\n\n\ndef total(things):\n"
CART += "    return sum(price(one) for one in things)\n"
PRICE = "PRICES = {'tea': 3, 'jam': 4}\n\n\ndef price(thing):\n    return PRICES[thing]\n"
BROKEN = CART.replace("def count(things):", "def count(things:")
BUG = PRICE.replace("PRICES[thing]", "PRICES[thing.upper()]")
WRONG = PRICE.replace("PRICES[thing]", "PRICES[thing] + 1")
OF_CART = "from shop.cart import count, total\n\n\ndef test_count():\n    assert count(['tea']) == 1\n"
OF_TOTAL = "\n\ndef test_total():\n    assert total(['tea', 'jam']) == 7\n"
OF_PRICE = "from shop.price import price\n\n\ndef test_tea():\n    assert price('tea') == 3\n"
SHOP = {
    "shop/pytest.ini": INI,
    "shop/src/shop/__init__.py": "",
    "shop/src/shop/cart.py": BROKEN,
    "shop/src/shop/price.py": BUG,
    "shop/tests/test_cart.py": OF_CART,
    "shop/tests/test_price.py": OF_PRICE,
}


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    bubblewrap()
    line = CommandLine(tmp_path, capsys)
    # A machine may be busy with many other tests.
    line.configure(ollama_double.base_url, code={"limit_s": LIMIT_S})
    return line


def answering(double: OllamaDouble, answers: Mapping[str, Sequence[str]]) -> None:
    """Have the debugger answer with these texts, by the module that it is asked about; the last one again and again."""
    left = {name: list(texts) for name, texts in answers.items()}

    def answer(body: dict[str, Any]) -> Act:
        name = asked_about(body)
        texts = left[name]
        return patch(texts.pop(0) if len(texts) > 1 else texts[0])

    double.script("gen:1b", *[answer] * CALLS)
    double.script("critic:1b", *[reply("All that was asked for works.")] * CALLS)


def asked_about(body: dict[str, Any]) -> str:
    found = re.search(r"The module \S*?(\w+\.py), which they fail", str(body["messages"][-1]["content"]))
    assert found
    return found[1]


def asked(double: OllamaDouble) -> list[str]:
    """Which modules the debugger was asked about, in order."""
    return [asked_about(chat) for chat in double.chats("gen:1b")]


def heal(cli: CommandLine, *more: str) -> Ended:
    return fix(cli, "--apply", "--max-debug-iterations", "2", *more, module="shop/src", tests="shop/tests")


def text_of(cli: CommandLine, name: str) -> str:
    return (cli.folder / "shop" / "src" / "shop" / name).read_text(encoding="utf-8")


def test_a_syntax_error_in_one_module_and_a_bug_in_another(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP)
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE)
    assert asked(ollama_double) == ["cart.py", "price.py"]


def test_a_syntax_error_that_hides_the_bug_of_another_module(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    """The only file of tests needs both."""
    lay_out(cli, SHOP | {"shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": ""})
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE)


def test_what_was_healed_is_written_and_what_fails_is_named(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP | {"shop/src/shop/__init__.py": "from shop.cart import count\n"})
    answering(ollama_double, {"cart.py": [CART], "price.py": [WRONG]})
    ended = heal(cli)
    assert ended.code == 1, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, BUG)
    assert "1 of 2 tests pass with all that was healed: tests/test_price.py::test_tea did not pass" in ended.out
    assert [f"{name}.py: written" in ended.out for name in ("cart", "price")] == [True, False]


def test_a_failure_that_needs_two_modules_changed(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    bug = CART.replace("for one in things", "for one in things.all()")
    lay_out(
        cli,
        SHOP
        | {"shop/src/shop/cart.py": bug, "shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": ""},
    )
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE)


def test_what_passes_only_beside_what_does_not_is_not_written(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    """The cart has another bug, which its candidate leaves; without it no test of the price can be collected."""
    other = CART.replace("len(things)", "len(things) + 1")
    fine = "def test_fine():\n    assert True\n"
    files = {"shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": fine}
    lay_out(cli, SHOP | files)
    answering(ollama_double, {"cart.py": [other], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 1, ended
    assert "the next modules are healed beside its best candidate: 2 more tests can be collected" in ended.out
    assert "what was healed does not pass without what was not: nothing is written" in ended.out
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (BROKEN, BUG)
    assert [result(cli, f"output/fix-{one}-src-shop")["outcome"] for one in ("cart", "price")] == [
        "not accepted",
        "accepted",
    ]


def test_a_module_that_comes_up_later_and_whose_result_cannot_be_written_is_left_out(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    lay_out(cli, SHOP | {"shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": ""})
    lay_out(cli, {"output/fix-price-src-shop/mine.txt": "mine\n"})
    answering(ollama_double, {"cart.py": [CART]})
    ended = heal(cli)
    assert ended.code == 1, ended
    assert "price.py: left out: output/fix-price-src-shop/mine.txt: is not one of reflexion's files" in ended.out
    assert (text_of(cli, "cart.py"), asked(ollama_double)) == (BROKEN, ["cart.py", "cart.py"])


def test_a_wrong_value_in_a_folder(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP | {"shop/src/shop/cart.py": CART, "shop/src/shop/price.py": WRONG})
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert text_of(cli, "price.py") == PRICE
    assert asked(ollama_double) == ["price.py"]


# Who may be kept, and who passes


def turns_of(folder: Path, files: Mapping[str, str]) -> Turns:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    modules = modules_below(folder / "src", folder / "tests")
    project = find_project(modules[0], folder / "tests", folder / "src")
    runner = runner_for(project, Runner(project, bubblewrap(), limits_for(LIMIT_S, 512), sys.executable, ()), modules)
    return survey(runner, modules, folder / "tests", folder / "src", frozenset())[1]


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
