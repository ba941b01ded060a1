"""What hostile candidates for modules of a folder tried, and layouts that are out of the ordinary."""

from pathlib import Path

import pytest

from reflexion.healing.turns import MOST_TURNS
from tests.heal_support import INI, answering, fix, in_sandbox, lay_out, turns_of
from tests.ollama_double import OllamaDouble
from tests.support import CommandLine

RIGHT = "import pytest\n\n\ndef half(number):\n    return number / 2\n\n\ndef twice(number):\n    return 2 * number\n"
BROKEN = RIGHT.replace("def half(number):", "def half(number:")
OF_UNITTEST = """import unittest
import pytest
import one


class TestOne(unittest.TestCase):
    def test_half(self):
        self.assertEqual(one.half(4), 2)

    def test_twice(self):
        self.assertEqual(one.twice(2), 4)

    @unittest.skipIf(one.half, "by a mark of unittest")
    def test_skipped(self):
        self.fail()

    @pytest.mark.skipif(True, reason="by a mark of pytest")
    def test_skipped_too(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(one.half(4), 3)
"""
OF_FIXTURE = """import pytest
import one


@pytest.fixture
def half():
    return one.half(4)


@pytest.fixture
def skipped():
    pytest.skip("the tests' own")


def test_half(half):
    assert half == 2


def test_skipped(skipped):
    assert skipped


def test_twice():
    assert one.twice(2) == 4
"""


@pytest.fixture
def cli(cli: CommandLine, ollama_double: OllamaDouble) -> CommandLine:
    return in_sandbox(cli, ollama_double)


@pytest.mark.parametrize("tests", [OF_UNITTEST, OF_FIXTURE])
def test_a_skip_that_a_module_raises_outside_of_a_test_function_is_no_pass(tmp_path: Path, tests: str) -> None:
    """In a test of unittest, or in a fixture; the module could not be parsed, so they did not come to run before."""
    turns = turns_of(tmp_path, {"pytest.ini": INI, "src/one.py": BROKEN, "tests/test_one.py": tests})
    judge = turns.judge("src/one.py")
    for end in ("pytest.skip('no')", "pytest.xfail('no')"):
        assert not judge(RIGHT.replace("return number / 2", end)).passed, end
    assert judge(RIGHT).passed


def test_a_failing_test_is_not_hidden_among_skipped_ones_by_other_parameters(tmp_path: Path) -> None:
    """The module has the names that the tests are made of; one of them is skipped, as before."""
    right = "NAMES = ['a', 'b']\nREADY = {'b'}\n\n\ndef double(text):\n    return text + text\n"
    about = "import pytest\nimport one\n\n\n@pytest.mark.parametrize('name', one.NAMES)\ndef test_double(name):\n"
    about += "    if name not in one.READY:\n        pytest.skip('no')\n    assert one.double(name) == 2 * name\n"
    about += "\n\ndef test_names():\n    assert one.NAMES\n"
    failing = right.replace("text + text", "text + 1")
    turns = turns_of(tmp_path, {"pytest.ini": INI, "src/one.py": failing, "tests/test_one.py": about})
    judge = turns.judge("src/one.py")
    assert not judge(failing.replace("'b'", "'c'", 1)).passed
    assert judge(right.replace("'a'", "'c'")).passed
    assert judge(right).passed


def test_turns_end_though_each_candidate_makes_one_more_test_pass(tmp_path: Path) -> None:
    """Two modules have the cases that tests are made of, in a file that could not be collected at first."""
    about = "import pytest\nimport one\nimport two\n\n\n@pytest.mark.parametrize('case', one.CASES + two.CASES)\n"
    about += "def test_case(case):\n    pass\n\n\ndef test_one():\n    one.run()\n\n\ndef test_two():\n    two.run()\n"
    text = "CASES = [0]\n\n\ndef run():\n    raise ValueError\n"
    files = {"src/one.py": text.replace("run():", "run(:"), "src/two.py": text, "tests/test_one.py": about}
    turns = turns_of(tmp_path, files | {"pytest.ini": INI})
    had: list[str] = []
    while turns.waiting() and len(had) < 3 * MOST_TURNS:
        had += turns.waiting()[:1]
        judge = turns.judge(had[-1])
        assert turns.keep(had[-1], judge, [text.replace("[0]", f"[0] * {len(had) + 1}")])
    assert had == ["src/one.py", "src/two.py"] * MOST_TURNS
    assert turns.passed == {}


@pytest.mark.parametrize("hostile", [True, False])
def test_a_doctest_of_a_module_that_is_not_healed_counts(
    cli: CommandLine, ollama_double: OllamaDouble, hostile: bool
) -> None:
    """The candidate makes the only test pass, and the doctest of a module that uses it fail."""
    failing = "def height():\n    return 2\n\n\ndef width():\n    return 2 + None\n"
    right = failing.replace("2 + None", "2")
    area = "from sizes import height\n\n\ndef area():\n    '''Tell.\n\n    >>> area()\n    4\n    '''\n"
    files = {
        "flat/pytest.ini": f"{INI.strip()} --doctest-modules\n",
        "flat/area.py": f"{area}    return 2 * height()\n",
        "flat/sizes.py": failing,
        "flat/test_sizes.py": "from sizes import width\n\n\ndef test_width():\n    assert width() == 2\n",
    }
    lay_out(cli, files)
    answering(ollama_double, {"sizes.py": [right.replace("2", "5", 1) if hostile else right]})
    ended = fix(cli, "--apply", "--max-debug-iterations", "2", module="flat", tests="flat")
    assert ended.code == int(hostile), ended
    assert ("area.py::area.area passed before, and does not any more" in ended.out) is hostile
    assert (cli.folder / "flat" / "sizes.py").read_text(encoding="utf-8") == (failing if hostile else right)
