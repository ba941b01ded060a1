"""Whether the vetting lets sound suites through, and says of the others what to change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.sandbox import Sandbox
from reflexion.suite.source import read_suite
from reflexion.suite.suite_scan import scan_suite
from reflexion.suite.vet import vet
from tests.suite.corpus import SUITE

CLASSES = """\
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from solution import MAX_SIZE, Cache, CacheError, make_cache


@pytest.fixture
def cache():
    return Cache(2)


class FakeClock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class TestCache:
    @pytest.fixture(autouse=True)
    def clock(self, monkeypatch):
        self.clock = FakeClock()

    def test_put(self, cache):
        cache.put("a", 1)
        assert cache.get("a") == 1
        assert len(cache) == 1

    def test_evicts(self, cache):
        for number, key in enumerate("abc"):
            cache.put(key, number)
        assert cache.get("a") is None
        assert [cache.get(key) for key in "bc"] == [1, 2]

    @pytest.mark.parametrize("size", [0, -1, MAX_SIZE + 1 if isinstance(MAX_SIZE, int) else 3])
    def test_size(self, size):
        with pytest.raises(CacheError, match="size"):
            Cache(size)


def check(one, key):
    assert one.get(key) == key


def test_made(tmp_path):
    (tmp_path / "cache.txt").write_text("a")
    made = make_cache(["a", "b"], size=MAX_SIZE)
    check(made, "a")
    assert MAX_SIZE == 100


def test_threads():
    cache = Cache(50)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: cache.put(n, n), range(50)))
    assert len(cache) == 50
    assert threading.active_count() >= 1
"""
ASYNC = """\
import asyncio

import pytest
from solution import Limiter, fetch_all


def test_fetch_all():
    async def job(number):
        return number * 2

    async def main():
        return await fetch_all([1, 2], job)

    assert asyncio.run(main()) == [2, 4]


def test_limiter():
    async def main():
        limiter = Limiter(1)
        async with limiter:
            assert await limiter.waiting() == 0

    asyncio.run(main())


def test_wrong():
    with pytest.raises(ValueError):
        asyncio.run(fetch_all([1], None))
"""
HEAD = "import pytest\nfrom solution import f\n\n\n"
GOOD = "def test_one():\n    assert f(1) == 17\n\n\ndef test_two():\n    assert f(2) == 18\n\n\n"


@pytest.mark.parametrize("suite", [SUITE, CLASSES, ASYNC, HEAD + GOOD], ids=["functions", "classes", "async", "short"])
def test_sound_suites_are_let_through(suite: str, sandbox: Sandbox) -> None:
    assert vet(suite, sandbox) == ()


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("def test_a(:", "cannot be read"),
        ("", "from solution"),
        ("from other import f\ndef test_a():\n    assert f(1) == 2\n", "not from other"),
        ("def f(x): return x\ndef test_a():\n    assert f(2) == 2\n", "Import what is tested from solution"),
        ("from solution import *\ndef test_a():\n    assert f(2) == 2\n", "by name"),
        (HEAD, "Write tests"),
        (HEAD + GOOD + GOOD, "the 2 tests named test_one"),
        (HEAD + "def test_a():\n    f(1)\n", "Give test_a an assertion"),
        (HEAD + "def test_a():\n    return f(1) == 2\n", "Give test_a an assertion"),
        (HEAD + "def test_a():\n    if False:\n        assert f(1) == 2\n", "Give test_a an assertion"),
        (HEAD + "def test_a():\n    while 0:\n        assert f(1) == 2\n", "Give test_a an assertion"),
        (HEAD + "def test_a():\n    assert True\n", "line 6, which is always the same"),
        (HEAD + "def test_a():\n    assert (f(1) == 2, 'wrong')\n", "always the same"),
        (HEAD + "def test_a():\n    x = f(1)\n    assert x == x\n", "with itself"),
        (HEAD + "def test_a():\n    assert 1 == 1\n    f(1)\n", "which compares"),
        (HEAD + "def test_a():\n    assert f(1) == 2 or True\n", "always true"),
        (
            HEAD + "def test_a():\n    try:\n        assert f(1) == 2\n    except Exception:\n        pass\n",
            "Do not catch",
        ),
        (HEAD + "async def test_a():\n    assert f(1) == 2\n", "asyncio.run"),
        (HEAD + "@pytest.mark.skip\n" + GOOD, "mark skip"),
        (HEAD + "@pytest.mark.xfail(strict=False)\n" + GOOD, "mark xfail"),
        (HEAD + "def test_a():\n    pytest.skip('x')\n    assert f(1) == 2\n", "pytest.skip"),
        (HEAD + "pytest_plugins = ['x']\n" + GOOD, "sets pytest_plugins"),
        (HEAD + "def pytest_runtest_makereport(item): pass\n" + GOOD, "hook pytest_runtest_makereport"),
        (HEAD + "import socket\n" + GOOD, "imports socket"),
        (HEAD + "import subprocess\n" + GOOD, "imports subprocess"),
        (HEAD + "import os\nos.system('x')\n" + GOOD, "os.system"),
        (HEAD + "import sys\nsys.exit(0)\n" + GOOD, "sys.exit"),
        (HEAD + "import _pytest.runner\n" + GOOD, "imports _pytest.runner"),
        (HEAD + "x = open('/etc/passwd')\n" + GOOD, "tmp_path"),
        (HEAD + "from pathlib import Path\nx = Path('data.txt')\n" + GOOD, "tmp_path"),
        (HEAD + "import time\ntime.sleep(30)\n" + GOOD, "Do not sleep 30 s"),
        (HEAD + "exec('x = 1')\n" + GOOD, "uses exec"),
        (HEAD + "x = f.__globals__\n" + GOOD, "__globals__"),
        (
            HEAD + "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.len', f)\n    assert f(1) == 2\n",
            "patches",
        ),
    ],
)
def test_by_text_alone_it_says_what_to_change(suite: str, said: str, sandbox: Sandbox) -> None:
    reasons = vet(suite, sandbox)
    assert said in "\n".join(reasons)
    assert all(reason.endswith((".", ".)")) and "\n" not in reason for reason in reasons)


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        (HEAD + "def test_a():\n    assert f(1) != 17\n", "passes the suite"),
        (HEAD + "def test_a():\n    assert f(1) is None\n", "return None passes the suite"),
        (HEAD + "def test_a():\n    assert f(1) == 1\n", "their first argument passes the suite"),
        (HEAD.replace("f\n", "f, g\n") + GOOD + "def test_g():\n    assert g(1) != 2\n", "Test g more"),
        (HEAD.replace("f\n", "f, g\n") + GOOD, "Test g, or do not import it"),
        (HEAD + "import nothing_of_that_name\n" + GOOD, "nothing_of_that_name"),
    ],
)
def test_against_stubs_it_says_what_to_test(suite: str, said: str, sandbox: Sandbox) -> None:
    assert said in "\n".join(vet(suite, sandbox))


def test_only_other_errors_prove_nothing(sandbox: Sandbox) -> None:
    suite = HEAD + "def test_a():\n    assert 1 / len(f(1)) == 17\n"
    assert "by an assertion" in "\n".join(vet(suite, sandbox))


def test_facts_of_a_suite() -> None:
    facts = read_suite(CLASSES)
    assert facts.names == ("MAX_SIZE", "Cache", "CacheError", "make_cache")
    uses = {test.name: test.uses for test in facts.tests}
    assert uses["TestCache::test_put"] == {"Cache"}
    assert uses["TestCache::test_size"] == {"Cache", "CacheError", "MAX_SIZE"}
    assert uses["test_made"] == {"make_cache", "MAX_SIZE"}
    certain = {test.name: test.certain for test in facts.tests}
    lines = CLASSES.splitlines()
    assert [lines[line - 1].strip() for line in certain["TestCache::test_put"]] == [
        'assert cache.get("a") == 1',
        "assert len(cache) == 1",
    ]
    assert certain["TestCache::test_size"] == ()


def test_facts_by_the_module() -> None:
    facts = read_suite("import solution as s\nimport numpy\ndef test_a():\n    assert s.add(1) == s.sub(2)\n")
    assert (facts.target, facts.names, facts.star) == ("solution", ("add", "sub"), False)
    assert facts.tests[0].uses == {"add", "sub"}


@given(st.text() | st.lists(st.sampled_from(SUITE.split(" ") + CLASSES.split(" "))).map(" ".join))
@settings(deadline=None)
def test_no_text_makes_reading_raise(text: str) -> None:
    facts = read_suite(text)
    if not facts.error:
        assert isinstance(scan_suite(facts.tree, facts.target), tuple)
