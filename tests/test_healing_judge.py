"""Who judges a candidate for a module that is there: the scan beside the original, then the project's own tests."""

import os
import sys
import tempfile
from pathlib import Path

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
from tests.heal_support import BUG, INI
from tests.sandbox_support import bubblewrap

LIMIT_S = 60.0


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
