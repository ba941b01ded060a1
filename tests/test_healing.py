"""``reflexion code --fix``: a module that is there is healed against its user's own tests, in the real sandbox."""

import json
from pathlib import Path
from typing import Any

import pytest

from reflexion.errors import InputError
from reflexion.healing.module import load_module, write_all
from tests.code_support import patch, result
from tests.heal_support import BUG, FILES, FIXED, INI, TESTS, WRONG, debugger, fix, in_sandbox, lay_out, mode_of, told
from tests.ollama_double import Act, OllamaDouble, reply
from tests.support import CommandLine

LIMIT_S = 60.0


@pytest.fixture
def cli(cli: CommandLine, ollama_double: OllamaDouble) -> CommandLine:
    in_sandbox(cli, ollama_double)
    lay_out(cli, FILES)
    return cli


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


def test_modules_are_written_all_or_none(tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("first.py", "second.py"))
    for path in (first, second):
        path.write_text("x = 1\n", encoding="utf-8")
        path.chmod(0o640)
    modules = [(load_module(path), "x = 2\n") for path in (first, second)]
    second.write_text("x = 'by a person meanwhile'\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"second\.py: changed meanwhile"):
        write_all(modules)
    assert first.read_text(encoding="utf-8") == "x = 1\n"
    assert mode_of(first) == 0o640
    second.write_text("x = 1\n", encoding="utf-8")
    write_all(modules)
    assert [path.read_text(encoding="utf-8") for path in (first, second)] == ["x = 2\n"] * 2
