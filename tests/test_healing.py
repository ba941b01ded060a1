"""``reflexion code --fix``: a module that is there is healed against its user's own tests, in the real sandbox."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.config import SandboxSettings
from reflexion.errors import InputError
from reflexion.healing.folder import modules_below
from reflexion.healing.judge import Judge
from reflexion.healing.module import load_module
from reflexion.healing.project import find_project
from reflexion.healing.runner import Runner, limits_for
from reflexion.sandbox import Sandbox, open_sandbox
from reflexion.suite.relative import scan_beside
from reflexion.suite.scan import scan
from tests.code_support import patch, result
from tests.heal_support import BUG, FILES, FIXED, INI, TESTS, WRONG, debugger, fix, lay_out, mode_of, told
from tests.ollama_double import Act, OllamaDouble, reply
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine

LIMIT_S = 60.0


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    bubblewrap()
    line = CommandLine(tmp_path, capsys)
    # A machine may be busy with many other tests.
    line.configure(ollama_double.base_url, code={"limit_s": LIMIT_S})
    lay_out(line, FILES)
    return line


def test_a_module_that_passes_is_said_to_pass_and_needs_no_server(cli: CommandLine, closed_port: int) -> None:
    cli.configure(f"http://127.0.0.1:{closed_port}", code={"limit_s": LIMIT_S})
    lay_out(cli, {"proj/bounds.py": FIXED})
    ended = fix(cli, "--apply")
    assert (ended.code, ended.err) == (0, "")
    assert "proj/bounds.py: passes already, 3 of 3 tests pass" in ended.out
    assert not (cli.folder / "output").exists()


def test_healed_with_the_diff_shown_and_the_file_left(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    debugger(ollama_double, patch(WRONG), patch(FIXED))
    before = (cli.folder / "proj" / "bounds.py").stat()

    ended = fix(cli)

    assert ended.code == 0, ended
    assert "-    return min(value, high)\n+    return max(low, min(value, high))\n" in ended.out
    assert "left as it is; --apply writes what passes" in ended.out
    now = (cli.folder / "proj" / "bounds.py").stat()
    assert (now.st_ino, now.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(path.name for path in (cli.folder / "proj").iterdir()) == [
        "bounds.py",
        "pytest.ini",
        "test_bounds.py",
    ]
    folder = cli.folder / "output" / "fix-bounds"
    assert (folder / "bounds.py").read_text(encoding="utf-8") == FIXED
    assert "+    return max(low, min(value, high))" in (folder / "report.md").read_text(encoding="utf-8")
    run = result(cli, "output/fix-bounds")
    assert (run["outcome"], run["iterations"], run["tests"]["passed"]) == ("accepted", 3, 3)
    # Neither architect nor developer: the debugger sees the tests, the module and what failed.
    assert {chat["model"] for chat in ollama_double.chats()} == {"gen:1b", "critic:1b"}
    assert all(text in told(ollama_double) for text in (BUG.strip(), TESTS.strip(), "assert -3 == 0"))
    assert (ended.err, cli.folder.as_posix() in told(ollama_double)) == ("", False)


def test_applied_whole_with_mode_line_ends_and_encoding(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cookie = "# -*- coding: latin-1 -*-\n"
    text = (cookie + BUG).replace("in bounds", "in bo\u00fcnds")
    path = cli.folder / "proj" / "bounds.py"
    path.write_bytes(text.replace("\n", "\r\n").encode("latin-1"))
    path.chmod(0o751)
    healed = text.replace("min(value, high)", "max(low, min(value, high))")
    debugger(ollama_double, patch(healed))

    ended = fix(cli, "--apply")

    assert (ended.code, "proj/bounds.py: written" in ended.out) == (0, True), ended
    assert path.read_bytes() == healed.replace("\n", "\r\n").encode("latin-1")
    assert mode_of(path) == 0o751
    assert fix(cli).out.count("passes already") == 1


def test_a_candidate_that_leaves_the_declared_encoding_out_does_not_pass(tmp_path: Path) -> None:
    """Its import passes, for what is no UTF-8 stands in a comment; nothing else could read the file."""
    module = tmp_path / "one.py"
    cookie, text = "# coding: latin-1\n", "# \u00fc\ndef value():\n    return 1\n"
    for name, content in SIMPLE.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    module.write_bytes((cookie + text).encode("latin-1"))
    project = find_project(load_module(module), tmp_path / "test_one.py")
    one = Judge(Runner(project, bubblewrap(), limits_for(LIMIT_S, 512), sys.executable, ("one.py",)), frozenset())
    done = one(text.replace("1", "2"))
    assert (done.passed, done.reason) == (
        False,
        "one.py, line 1: another declared encoding than the file's, which is iso-8859-1",
    )
    assert one(cookie + text.replace("1", "2")).passed
    assert one(text.replace("1", "2").replace("\u00fc", "u")).passed


def test_a_file_that_changed_meanwhile_is_not_written(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    path = cli.folder / "proj" / "bounds.py"

    def edit_and_answer(_: dict[str, Any]) -> Act:
        path.write_text("mine = 1\n", encoding="utf-8")
        return patch(FIXED)

    debugger(ollama_double, edit_and_answer)
    ended = fix(cli, "--apply")
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert "proj/bounds.py: changed meanwhile, so it is not written" in ended.err
    assert path.read_text(encoding="utf-8") == "mine = 1\n"
    assert "max(low, min(value, high))" in (cli.folder / "output/fix-bounds/report.md").read_text(encoding="utf-8")


def test_tests_that_changed_meanwhile_end_the_run(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, {"proj/conftest.py": "x = 1\n"})

    def edit_and_answer(_: dict[str, Any]) -> Act:
        lay_out(cli, {"proj/conftest.py": "x = 2\n"})
        return patch(FIXED)

    debugger(ollama_double, edit_and_answer)
    ended = fix(cli, "--apply")
    assert ended.code == 4
    assert "conftest.py: changed while the tests ran, so their result does not count" in ended.out
    assert (cli.folder / "proj" / "bounds.py").read_text(encoding="utf-8") == BUG


def test_attempts_that_are_spent_leave_the_file_and_show_the_best_diff(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    """A reply with tests, one with another file as well, and one that is better and does not pass."""
    lay_out(cli, {"proj/test_bounds.py": TESTS + "\n\ndef test_text():\n    assert clamp('b', 'a', 'c') == 'B'\n"})
    tests = "def test_below():\n    assert True\n"
    other = f"### PATCHED_CODE\n`test_bounds.py`:\n```python\n{tests}```\n`bounds.py`:\n```python\n{FIXED}```\n"
    debugger(ollama_double, patch(tests), reply(other), patch(BUG.replace("high)\n", "high + 1)\n")))

    ended = fix(cli, "--apply")

    assert ended.code == 1, ended
    assert "the tests are locked" in ended.out
    assert "diff, NOT verified" in ended.out
    assert "+    return max(low, min(value, high))" in ended.out
    assert "failing: test_bounds.py::test_text" in ended.out
    assert (cli.folder / "proj" / "bounds.py").read_text(encoding="utf-8") == BUG
    assert (cli.folder / "proj" / "test_bounds.py").read_text(encoding="utf-8").startswith(TESTS)
    run = result(cli, "output/fix-bounds")
    assert (run["outcome"], run["stop"], run["tests"]["passed"]) == ("not accepted", "attempts spent", 3)


def test_events_for_machines(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    debugger(ollama_double, patch(FIXED))
    ended = fix(cli, "--format", "json")
    events = [json.loads(line) for line in ended.out.splitlines()]
    [shown] = [event for event in events if event["event"] == "diff_shown"]
    assert (shown["verified"], shown["diff"].startswith("--- a/bounds.py\n+++ b/bounds.py\n")) == (True, True)
    assert events[-1] == {"event": "run_finished", "exit_code": 0}


MANY = {
    "many/pytest.ini": INI,
    "many/src/shop/__init__.py": "",
    "many/src/shop/cart.py": "def half(number):\n    return 0 / number\n\n\ndef twice(value):\n    return 1 / value\n",
    "many/src/shop/names.py": "def title(text):\n    return text.upper()\n\n\ndef fail():\n    raise KeyError\n",
    "many/src/shop/fine.py": "def one():\n    return 1\n",
    "many/tests/test_cart.py": "from shop.cart import half, twice\n\n\ndef test_half():\n    assert half(0) == 0\n\n\n"
    "def test_twice():\n    assert twice(0) == 0\n",
    "many/tests/test_names.py": "from shop.fine import one\nfrom shop.names import fail\n\n\n"
    "def test_fail():\n    assert fail() is None\n\n\ndef test_one():\n    assert one() == 1\n",
}
CART = "def half(number):\n    return number / 2\n\n\ndef twice(number):\n    return number * 2\n"
NAMES = "def title(text):\n    return text.upper()\n\n\ndef fail():\n    return None\n"


def test_of_a_folder_what_failing_tests_go_through_is_healed(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, MANY)
    ollama_double.script("gen:1b", patch(CART), patch(NAMES))
    ollama_double.script("critic:1b", reply("One."), reply("Two."))

    ended = fix(cli, "--apply", module="many/src", tests="many/tests")

    assert ended.code == 0, ended
    # The worst first, and each is told of its own failures.
    assert ("test_half" in told(ollama_double), "test_fail" in told(ollama_double)) == (True, False)
    shop = cli.folder / "many" / "src" / "shop"
    assert (shop / "cart.py").read_text(encoding="utf-8") == CART
    assert (shop / "names.py").read_text(encoding="utf-8") == NAMES
    assert (shop / "fine.py").read_text(encoding="utf-8") == MANY["many/src/shop/fine.py"]
    assert {path.parent.name for path in (cli.folder / "output").glob("*/run.json")} == {
        "fix-cart-src-shop",
        "fix-names-src-shop",
    }
    again = fix(cli, module="many/src", tests="many/tests")
    assert (again.code, "many/src: passes already, 4 of 4 tests pass" in again.out) == (0, True)


def test_of_a_folder_only_what_passes_is_written(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, MANY)
    wrong = MANY["many/src/shop/names.py"].replace("KeyError", "ValueError")
    ollama_double.script("gen:1b", patch(CART), patch(wrong))
    ollama_double.script("critic:1b", reply("One."), reply("Two."))

    ended = fix(cli, "--apply", "--max-debug-iterations", "1", module="many/src", tests="many/tests")

    assert ended.code == 1, ended
    assert "3 of 4 tests pass with all that was healed: tests/test_names.py::test_fail did not pass" in ended.out
    shop = cli.folder / "many" / "src" / "shop"
    assert (shop / "cart.py").read_text(encoding="utf-8") == CART
    assert (shop / "names.py").read_text(encoding="utf-8") == MANY["many/src/shop/names.py"]


TOGETHER = {
    "pair/pytest.ini": INI,
    "pair/src/first.py": "import threading\n\nlock = threading.Lock()\n\n\ndef one():\n    return 0 / lock\n",
    "pair/src/second.py": "import first\n\n\ndef two():\n    return 1 / first.lock\n",
    "pair/tests/test_pair.py": "import first, second\n\n\ndef test_one():\n    assert first.one() == 1\n\n\n"
    "def test_two():\n    assert second.two() == 2\n",
}
FIRST = TOGETHER["pair/src/first.py"].replace("    return 0 / lock", "    lock.acquire()\n    return 1")
SECOND = TOGETHER["pair/src/second.py"].replace("    return 1 / first.lock", "    first.lock.acquire()\n    return 2")


def test_of_modules_that_pass_alone_and_hang_together_one_is_written(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    """No test fails then: the run does not come to its end."""
    cli.configure(ollama_double.base_url, code={"limit_s": 12})
    lay_out(cli, TOGETHER)
    debugger(ollama_double, patch(FIRST), patch(SECOND))
    ollama_double.script("critic:1b", reply("Two."))

    ended = fix(cli, "--apply", "--max-debug-iterations", "1", module="pair/src", tests="pair/tests")

    assert ended.code == 1, ended
    assert "1 of 2 tests pass with all that was healed: tests/test_pair.py::test_two did not pass" in ended.out
    assert (cli.folder / "pair/src/first.py").read_text(encoding="utf-8") == FIRST
    assert (cli.folder / "pair/src/second.py").read_text(encoding="utf-8") == TOGETHER["pair/src/second.py"]


def test_a_module_whose_neighbour_changed_meanwhile_is_not_written(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    lay_out(cli, {"proj/bounds.py": "import near\n" + BUG, "proj/near.py": "x = 1\n"})

    def edit_and_answer(_: dict[str, Any]) -> Act:
        lay_out(cli, {"proj/near.py": "raise ValueError\n"})
        return reply("All that was asked for works.")

    ollama_double.script("gen:1b", patch("import near\n" + FIXED))
    ollama_double.script("critic:1b", edit_and_answer)
    ended = fix(cli, "--apply")
    assert ended.code == 1, ended
    assert "it passed before, and does not any more: it is not written" in ended.out
    assert (cli.folder / "proj" / "bounds.py").read_text(encoding="utf-8") == "import near\n" + BUG


def test_tests_in_files_that_only_the_settings_name_are_told(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, {"app/pytest.ini": INI + "python_files = tests.py\n", "app/bounds.py": BUG, "app/tests.py": TESTS})
    debugger(ollama_double, patch(FIXED))
    ended = fix(cli, module="app/bounds.py", tests="app")
    assert (ended.code, TESTS.strip() in told(ollama_double)) == (0, True), ended


def test_modules_whose_paths_are_long_or_alike_get_folders_of_their_own(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    """And a module beside the tests' folder is not one of the same name below it."""
    deep = "deep/company_internal_services"
    lay_out(
        cli,
        {
            "deep/pytest.ini": INI,
            "deep/models.py": "x = 1\n",
            f"{deep}/orders/models.py": "def one():\n    return 1 / 0\n",
            f"{deep}/billing/models.py": "def two():\n    return 2 / 0\n",
            "deep/tests/test_all.py": "from company_internal_services.billing.models import two\n"
            "from company_internal_services.orders.models import one\nimport models\n\n\n"
            "def test_one():\n    assert one() == 1\n\n\ndef test_two():\n    assert two() == 2\n",
        },
    )
    ollama_double.script("gen:1b", patch("def two():\n    return 2\n"), patch("def one():\n    return 1\n"))
    ollama_double.script("critic:1b", reply("One."), reply("Two."))
    ended = fix(cli, module="deep", tests="deep/tests")
    assert ended.code == 0, ended
    assert len(list((cli.folder / "output").glob("fix-models-*/models.py"))) == 2


def test_a_failing_test_that_names_no_module_of_the_folder(cli: CommandLine) -> None:
    lay_out(cli, MANY | {"many/tests/test_cart.py": "def test_x():\n    assert 0\n", "many/tests/test_names.py": ""})
    ended = fix(cli, module="many/src", tests="many/tests")
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert "many/src: no module of it is in the traceback of a failing test or imported by its file" in ended.err
    assert "(tests/test_cart.py::test_x did not pass: assert 0)" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fix", "proj/bounds.py"), "--tests: is missing"),
        (("--tests", "proj/test_bounds.py"), "--fix: is missing"),
        (("--prompt", "x", "--apply"), "give one of them"),
        (("--fix", "tests", "--tests", "proj"), "tests: no such file"),
        (("--fix", "proj", "--tests", "gone"), "gone: no such file or folder"),
        (("--fix", "only", "--tests", "only"), "only: no Python modules in it besides the tests"),
        (("--fix", "gone.py", "--tests", "proj"), "gone.py: no such file"),
        (("--fix", "proj/bounds.py", "--tests", "gone"), "gone: no such file or folder"),
        (("--fix", "proj/pytest.ini", "--tests", "proj"), "whose names end in .py"),
        (("--fix", "proj/bounds.py", "--tests", "proj/bounds.py"), "is both the module and its tests"),
        (("--fix", "proj/bounds.py", "--tests", "proj/pytest.ini"), "takes a file of pytest tests"),
        (("--fix", "empty.py", "--tests", "proj"), "empty.py: is empty"),
        (("--fix", "mark.py", "--tests", "proj"), "mark.py: is empty"),
        (("--fix", "only/conftest.py", "--tests", "only"), "only/conftest.py: decides how the tests run"),
        (("--fix", "apart", "--tests", "skipped"), "skipped: every test is skipped"),
        (("--fix", "apart", "--tests", "proj/test_fine.py"), "apart: the tests never import anything of it"),
        (("--fix", "mixed.py", "--tests", "proj"), "line ends of several kinds"),
        (("--fix", "latin.py", "--tests", "proj"), "latin.py: cannot be decoded"),
        (("--fix", "proj/bounds.py", "--tests", "proj", "--output", "proj", "--overwrite"), "is an input"),
        (("--fix", "proj/bounds.py", "--tests", "proj", "--format", "xml"), '"xml" is unknown'),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_2(cli: CommandLine, arguments: tuple[str, ...], said: str) -> None:
    lay_out(cli, {"only/test_bounds.py": TESTS, "only/conftest.py": "x = 1\n", "only/pytest.ini": INI})
    lay_out(
        cli, {"pytest.ini": INI, "apart/one.py": "x = 1\n", "proj/test_fine.py": "def test_a():\n    assert True\n"}
    )
    lay_out(cli, {"skipped/test_all.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert False\n"})
    for name, data in (
        ("mark.py", b"\xef\xbb\xbf\n"),
        ("empty.py", b" \n"),
        ("mixed.py", b"a = 1\r\nb = 2\n"),
        ("latin.py", b"# \xfc\n"),
    ):
        (cli.folder / name).write_bytes(data)
    ended = cli.run("code", *arguments)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert said in ended.err


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"proj/test_bounds.py": "import no_such_package\n" + TESTS}, "and not because of the module: ModuleNotFoundE"),
        ({"proj/test_bounds.py": "x = 1\n"}, "test_bounds.py: no tests that pytest collects"),
        ({"proj/test_bounds.py": "def test_a():\n    assert True\n"}, "the tests never import it from there"),
        ({"proj/test_bounds.py": "import pytest, bounds\npytestmark = pytest.mark.skip\n" + TESTS}, "test is skipped"),
        ({"proj/pytest.ini": INI.replace("=", "= --no-such-option")}, "pytest cannot begin: pytest.main(): error:"),
    ],
)
def test_tests_that_cannot_judge_the_module_are_one_line_and_exit_2(
    cli: CommandLine, files: dict[str, str], said: str
) -> None:
    lay_out(cli, files)
    ended = fix(cli)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert said in ended.err


def test_an_interpreter_without_pytest_is_told_what_installs_it(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    import venv

    venv.create(cli.folder / "env", with_pip=False)
    python = str(cli.folder / "env" / "bin" / "python")
    cli.configure(ollama_double.base_url, sandbox={"python": python})
    ended = fix(cli)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended
    assert "pytest cannot be used there (ModuleNotFoundError" in ended.err
    assert f"`{python} -m pip install 'pytest>=8'` installs it" in ended.err


# The judge alone


def judge(folder: Path, files: dict[str, str], module: str, tests: str, where: Sandbox | None = None) -> Judge:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = find_project(load_module(folder / module), folder / tests)
    runner = Runner(project, where or bubblewrap(), limits_for(LIMIT_S, 512), sys.executable, (project.name,))
    return Judge(runner, frozenset())


PACKAGE = {
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x -v --ff -k keep --disable-plugin-autoload'\n"
    "python_functions = 'check_*'\n",
    "src/shop/__init__.py": "from .cart import half\n",
    "src/shop/parts.py": "DIVISOR = 2\n",
    "src/shop/cart.py": "from .parts import DIVISOR\n\n\ndef half(number):\n    return number // DIVISOR\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
    "tests/test_cart.py": """import sys
import unittest

import pytest

from shop import half


def check_keep_fixture(three, tmp_path):
    (tmp_path / "x").write_text("x")
    assert half(three) == 1.5


@pytest.mark.parametrize("number", [1, 2])
def check_keep_parameters(number):
    assert half(2 * number) == number


@pytest.mark.skipif(sys.version_info > (3,), reason="old")
def check_keep_skip():
    assert False


@pytest.mark.xfail
def check_keep_xfail():
    assert False


def check_keep_expected_failure():
    with pytest.raises(AssertionError):
        assert half(2) == 2


def check_left_out():
    assert False


class TestKeep(unittest.TestCase):
    def test_method(self):
        self.assertEqual(half(4), 2)
""",
    "node_modules/large.js": "x",
}


@pytest.mark.parametrize("where", ["bubblewrap", "process"])
def test_fixtures_settings_relative_imports_and_all_kinds_of_tests(tmp_path: Path, where: str) -> None:
    place = bubblewrap() if where == "bubblewrap" else open_sandbox(SandboxSettings(mode="process"))
    one = judge(tmp_path, PACKAGE, "src/shop/cart.py", "tests", place)
    assert (one.project.root, one.project.name) == (tmp_path, "src/shop/cart.py")
    run = one.original
    assert [item.test for item in run.failures] == ["tests/test_cart.py::check_keep_fixture"]
    assert (run.passed, run.passes, run.total) == (False, 5, 6), run
    healed = one(one.project.module.text.replace("//", "/"))
    assert (healed.passed, healed.passes, healed.total, healed.reason) == (True, 6, 6, "")
    assert {path.name for path in one.project.lock} == {"pyproject.toml", "conftest.py", "test_cart.py"}


SIMPLE = {"pytest.ini": INI, "test_one.py": "import one\n\n\ndef test_one():\n    assert one.value() == 2\n"}
USES = "import os\nimport sys\n\n\ndef value():\n    return len(sys.argv) + len(os.sep) - 1\n"


def test_what_the_module_does_itself_is_allowed_and_what_is_new_is_flagged(tmp_path: Path) -> None:
    one = judge(tmp_path, SIMPLE | {"one.py": USES}, "one.py", "test_one.py")
    assert not one.original.passed
    assert one(USES.replace("- 1", "")).passed
    for text, what in [
        ("import subprocess\n" + USES, "imports subprocess"),
        (USES.replace("- 1", "+ os.getpid() - os.getpid()"), "uses os.getpid"),
        (USES + "\n\nvalue.__globals__['value'] = lambda: 2\n", "uses the attribute __globals__"),
        ("# -*- coding: utf-7 -*-\n" + USES, "a codec of its own (utf-7)"),
    ]:
        done = one(text)
        assert (done.passed, [flag.what for flag in done.flags]) == (False, [what]), text
    assert {"os", "sys"} <= one.more_imports


@pytest.mark.parametrize("broken", [False, True])
def test_the_scan_beside_the_original(broken: bool) -> None:
    original = "import os\nimport numpy as np\nfrom .near import one\nx = os.sep\n" + "def (\n" * broken
    original += '"""Never\nimport requests\nor open \\""" it."""\n# ctypes\ny = "signal"\n' + "'''input\n" * broken
    fine = "import os\nimport numpy as np\nx = os.sep * 2\ny = np.zeros(3)\n"
    assert scan_beside(fine, original, frozenset()) == ()
    for line, what in [
        ("import socket", "imports socket"),
        ("z = os.getcwd()", "uses os.getcwd"),
        ("z = eval('1')", "uses eval"),
        ("z = x.__dict__", "uses the attribute __dict__"),
        ("import pandas", "imports pandas"),
        ("import ctypes", "imports ctypes"),
        ("import signal", "imports signal"),
        ("import requests", "imports requests"),
        ("z = open('x')", "uses open"),
        ("z = input('x')", "uses input"),
    ]:
        assert [flag.what for flag in scan_beside(f"{fine}{line}\n", original, frozenset())] == [what]
    if not broken:
        assert scan_beside("from .near import one, two\n", original, frozenset()) == ()
    assert scan_beside("def (", original, frozenset())[0].what.startswith("no Python that can be read")


@given(st.text(), st.text())
def test_the_scan_beside_takes_any_text(candidate: str, original: str) -> None:
    flags = scan_beside(candidate, original, frozenset())
    assert set(flags) <= set(scan(candidate, frozenset()))
    assert scan_beside(candidate, candidate, frozenset()) == () or not flags or flags[0].what.startswith("no Python")


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\0")), st.sampled_from(["\n", "\r\n"]))
def test_a_module_that_is_written_back_is_the_same(text: str, newline: str) -> None:
    data = ("x = 1\n" + text).replace("\n", newline).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "one.py")
        path.write_bytes(data)
        try:
            module = load_module(path)
        except InputError:
            return  # a cookie that names no codec
        assert module.encoded(module.text) == data or module.encoding != "utf-8"
        assert module.diff(module.text, "one.py") == ""


def test_what_ends_hides_or_skips_does_not_pass(tmp_path: Path) -> None:
    files = SIMPLE | {"one.py": "import os\nimport pytest\n\n\ndef value():\n    os._exit if 0 else pytest.skip\n"}
    one = judge(tmp_path, files, "one.py", "test_one.py")
    head = "import os\nimport pytest\n\n\ndef value():\n    "
    for body, reason in [
        ("os._exit(0)", "ended the process before the tests were over, in test_one.py::test_one"),
        ("pytest.skip('no')", "test_one.py::test_one did not pass: it is reported as skipped"),
        ("return 3", "test_one.py::test_one did not pass: assert 3 == 2"),
    ]:
        done = one(f"{head}{body}\n")
        assert (done.passed, done.reason.startswith(reason)) == (False, True), done
    assert one(f"{head}return 2\n").passed


@pytest.mark.parametrize(
    ("module", "test", "candidate", "reason"),
    [
        (
            "CASES = [1]\ndef f(n):\n    return n\n",
            "@pytest.mark.parametrize('n', one.CASES)\ndef test_f(n):\n    assert one.f(n) == 2\n",
            "CASES = []\ndef f(n):\n    return n\n",
            "did not pass: it is reported as skipped",
        ),
        (
            "READY = True\ndef f(n)\n",
            "pytestmark = pytest.mark.skipif(not one.READY, reason='x')\ndef test_f():\n    assert one.f(1) == 2\n",
            "READY = False\n",
            "every test is skipped, so none says whether the module works",
        ),
    ],
)
def test_a_candidate_that_has_its_tests_skipped_does_not_pass(
    tmp_path: Path, module: str, test: str, candidate: str, reason: str
) -> None:
    test = f"import pytest\nimport one\n{test}\ndef test_other():\n    assert one\n"
    judged = judge(tmp_path, {"pytest.ini": INI, "one.py": module, "test_one.py": test}, "one.py", "test_one.py")
    assert not judged.original.passed
    done = judged(candidate)
    assert (done.passed, done.reason.endswith(reason)) == (False, True), done


def test_tests_that_stand_in_the_module_are_the_candidates_own(tmp_path: Path) -> None:
    doctest = 'def value():\n    """Return it.\n\n    >>> value()\n    3\n    """\n    return 1\n'
    files = SIMPLE | {"pytest.ini": INI.replace("= ", "= --doctest-modules "), "one.py": doctest}
    one = judge(tmp_path, files, "one.py", ".")
    assert (one.original.passes, one.original.total) == (0, 1)
    assert one(doctest.replace("return 1", "return 2")).passed
    with pytest.raises(InputError, match="no tests that pytest collects besides those of the module itself"):
        judge(tmp_path, SIMPLE | {"one.py": "def value():\n    return 1\n"}, "test_one.py", ".")


# As pytest-cov does it, which is not installed here.
COVERAGE = """\
class Started:
    def pytest_sessionfinish(self):
        with open("coverage.xml", "w") as file:
            file.write("x")


def pytest_addoption(parser):
    parser.addoption("--no-cov", action="store_true", default=False)


def pytest_load_initial_conftests(early_config):
    if not early_config.known_args_namespace.no_cov:
        early_config.pluginmanager.register(Started())
"""


@pytest.mark.parametrize(
    "settings", ["addopts = --junitxml=report.xml", "log_file = tests.log\naddopts =", "addopts = -p coverer"]
)
def test_files_that_settings_ask_for_are_not_written(tmp_path: Path, settings: str) -> None:
    files = (
        SIMPLE
        | {"coverer.py": COVERAGE}
        | {"pytest.ini": f"[pytest]\n{settings} --disable-plugin-autoload\n", "one.py": "def value():\n    return 1\n"}
    )
    before = judge(tmp_path, files, "one.py", "test_one.py")
    assert before.original.reason == "test_one.py::test_one did not pass: assert 1 == 2"
    assert before("def value():\n    return 2\n").passed
    assert {path.name for path in tmp_path.iterdir()} == files.keys()


def test_many_failures_and_names_as_long_as_texts(tmp_path: Path) -> None:
    test = f"""import pytest
import one


@pytest.mark.parametrize("n", range(1100))
def test_many(n):
    assert one.value() == 2, "x" * 5000


@pytest.mark.parametrize("text", ["{"x" * 5000}1", "{"x" * 5000}2"])
def test_long(text):
    assert one.value() == 2
"""
    files = {"pytest.ini": INI, "one.py": "def value():\n    return 1\n", "test_one.py": test}
    one = judge(tmp_path, files, "one.py", "test_one.py")
    assert (one.original.passes, len(one.original.failures)) == (0, 1102)
    assert one.original.reason.startswith("test_one.py::test_many[0] did not pass: AssertionError: xxx")
    healed = one("def value():\n    return 2\n")
    assert (healed.passed, healed.total) == (True, 1102)


def test_a_test_that_hangs_is_killed_and_can_be_healed(tmp_path: Path) -> None:
    loop = "def value():\n    while True:\n        pass\n"
    for name, text in (SIMPLE | {"one.py": loop}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    project = find_project(load_module(tmp_path / "one.py"), tmp_path / "test_one.py")
    one = Judge(Runner(project, bubblewrap(), limits_for(6, 512), sys.executable, (project.name,)), frozenset())
    assert one.original.timed_out
    assert one.original.reason == "did not end within the time limit, in test_one.py::test_one"
    assert one("def value():\n    return 2\n").passed


@pytest.mark.parametrize(
    "broken", ["def value(:\n    return 2\n", "def other():\n    return 2\n", "import no_such_thing\n"]
)
def test_a_module_that_breaks_the_collection_can_be_healed(tmp_path: Path, broken: str) -> None:
    files = SIMPLE | {
        "one.py": broken,
        "test_one.py": "import pytest\nfrom one import value\n\n\n@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_one(n):\n    assert value() == 2\n\n\n@pytest.mark.skip\ndef test_two():\n    assert False\n",
    }
    one = judge(tmp_path, files, "one.py", "test_one.py")
    assert (one.original.passed, one.original.passes) == (False, 0)
    healed = one("def value():\n    return 2\n")
    assert (healed.passed, healed.total) == (True, 2), healed
    assert not one("def value():\n    return 3\n").passed


@pytest.mark.parametrize(
    "files",
    [
        {"pytest.ini": INI.replace("= ", "= -m 'not slow' ") + "markers = slow\n"},
        {".git/HEAD": "", "tests/pytest.ini": INI},
    ],
)
def test_what_the_settings_leave_out_or_name_otherwise_is_not_missed(tmp_path: Path, files: dict[str, str]) -> None:
    """Where the module breaks the collection, the tests there are come from their text."""
    test = "import pytest\nfrom one import value\n\n\ndef test_one():\n    assert value() == 2\n"
    slow = "\n\n@pytest.mark.slow\ndef test_slow():\n    assert value() == 3\n" if "pytest.ini" in files else ""
    one = judge(tmp_path, files | {"one.py": "def value(:\n", "tests/test_one.py": test + slow}, "one.py", "tests")
    assert not one.original.passed
    healed = one("def value():\n    return 2\n")
    assert (healed.passed, healed.total) == (True, 1), healed
    assert not one("def value():\n    return 3\n").passed


def test_a_change_of_what_decides_the_tests_ends_it(tmp_path: Path) -> None:
    files = SIMPLE | {"one.py": "def value():\n    return 1\n", "pytest.ini": INI[:-1] + " -p helper\n"}
    files |= {"conftest.py": "pytest_plugins = ['more.plugin']\n", "helper.py": "", "more/plugin.py": ""}
    one = judge(tmp_path, files, "one.py", "test_one.py")
    locked = {path.relative_to(tmp_path).as_posix() for path in one.project.lock}
    assert locked == {"pytest.ini", "conftest.py", "test_one.py", "helper.py", "more/plugin.py"}
    for name in sorted(locked):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).unlink()
        with pytest.raises(InputError, match=f"{name}: changed while the tests ran"):
            one("def value():\n    return 2\n")
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert one("def value():\n    return 2\n").passed


def test_a_home_folder_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "one.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "test_one.py").write_text("import one\n", encoding="utf-8")
    (tmp_path / ".git").mkdir()
    with pytest.raises(InputError, match="would be shown to the tests as a whole"):
        find_project(load_module(tmp_path / "one.py"), tmp_path / "test_one.py")


def test_links_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    real = tmp_path / "proj" / "one.py"
    real.write_text("def value():\n    return 1\n", encoding="utf-8")
    (tmp_path / "link.py").symlink_to(real)
    module = load_module(tmp_path / "link.py")
    module.write("def value():\n    return 2\n")
    assert (module.path, (tmp_path / "link.py").is_symlink()) == (real, True)
    assert real.read_text(encoding="utf-8") == "def value():\n    return 2\n"
    with pytest.raises(InputError, match="changed meanwhile"):
        module.write("x = 1\n")
    assert [path.name for path in (tmp_path / "proj").iterdir()] == ["one.py"]


def test_a_link_that_leads_in_a_circle_and_a_pipe_are_told_in_one_line(tmp_path: Path) -> None:
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text(BUG, encoding="utf-8")
    (tmp_path / "loop.py").symlink_to("loop.py")
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(InputError, match=r"loop\.py: cannot be read: Too many levels of symbolic links"):
        load_module(tmp_path / "loop.py")
    for tests in ("loop.py", "loop.py/x"):
        with pytest.raises(InputError, match="cannot be read: Too many levels of symbolic links"):
            find_project(load_module(tmp_path / "one.py"), tmp_path / tests)
    assert len(modules_below(tmp_path, tmp_path / "loop.py")) == 2
    with pytest.raises(InputError, match=r"pipe\.py: is not a regular file"):
        load_module(tmp_path / "pipe.py")
