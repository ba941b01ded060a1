"""Which suites are isolated: those whose text shows that nothing but plain data goes to and fro."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.suite.isolation import decide, target_names

ISOLABLE = {
    "plain": """
from solution import add
def test_add():
    assert add(1, 2) == 3
""",
    "module": """
import solution
import pytest
def test_add():
    assert solution.add(1, 2) == 3
    with pytest.raises(solution.Low):
        solution.add(None, 1)
""",
    "aliases": """
import solution as s, pytest
from solution import add as plus, Low as Error
def test_add():
    assert plus(1, *[2], **{}) == s.add(1, y=2)
    with pytest.raises((Error, TypeError), match="x") as caught:
        plus()
    assert caught.value.value == 1 and str(caught.value) == "x" and caught.type is not None
""",
    "parametrize": '''
"""Docstring."""
from __future__ import annotations
import math
import pytest
from solution import add

CASES = [(1, 2, 3), (1.5, -0.0, float("nan"))]

@pytest.mark.parametrize("x, y, expected", CASES)
@pytest.mark.parametrize(("error", "text"), [(ValueError, "a"), (KeyError, "b")], ids=["a", "b"])
def test_add(x, y, expected, error, text):
    assert add(x, y) == pytest.approx(expected) or math.isnan(expected)
    with pytest.raises(error):
        add(text, None)
''',
    "class": """
import pytest
from solution import add
class TestAdd:
    def setup_method(self):
        self.items = [1, 2]
    @pytest.fixture
    def more(self):
        return {"k": 1}
    def test_add(self, more):
        assert add(self.items, more) is None
        assert isinstance(add(1, 2), int) and type(add(1, 2)) is int
""",
    "helpers": """
import copy, itertools, random
from collections import Counter, defaultdict
from solution import add
def check(result, wanted):
    assert sorted(result, key=lambda row: row["k"]) == wanted
def test_add():
    rng = random.Random(1)
    data = [rng.randint(0, 9) for _ in range(3)]
    before = copy.deepcopy(data)
    check(add(data, Counter("ab")), [])
    assert data == before
    assert all(x > 0 for x in add(1, 2)) and list(itertools.islice(add(1, 2), 3)) == []
    assert add("a", "b").upper().split(",")[0].startswith("A"), f"{add(1, 2)!r}"
""",
    "try": """
from solution import add, Low
def test_add():
    try:
        add(1, 2)
    except (Low, ValueError) as error:
        assert error.least == 1 and error.args == (1,)
    else:
        raise AssertionError("not raised")
""",
    "main": """
from solution import add
def test_add():
    assert add(1, 2) == 3
if __name__ == "__main__":
    import pytest, sys
    sys.exit(pytest.main([__file__]))
""",
}

HEAD = "import pytest\nimport solution\nfrom solution import f, g, Low\n"
NOT = {
    "no call": ("from solution import f\ndef test(): pass", "calls nothing"),
    "no target": ("def test(): assert 1", "calls nothing"),
    "no python": ("def", "does not parse"),
    "null": ("\0", "does not parse"),
    **{
        f"import {name}": (f"import {name}\nfrom solution import f\ndef test(): f()", f"imports {name}")
        for name in (
            *("os", "sys", "inspect", "importlib", "threading", "asyncio", "subprocess", "unittest.mock", "contextlib"),
            *("builtins", "types", "gc", "warnings", "io", "pathlib", "ctypes", "pickle", "hypothesis", "functools"),
        )
    },
    "star": ("from solution import *\ndef test(): f()", "imports *"),
    "relative": ("from . import f\nfrom solution import g\ndef test(): g()", "imports from"),
    "two of one name": ("from solution import f\nfrom solution import g as f\ndef test(): f()", "name f to two things"),
    "instance": (HEAD + "def test():\n    with pytest.raises(Low): raise Low(1)", "both calls and expects Low"),
    "isinstance": (HEAD + "def test(): assert isinstance(f(), Low)", "uses Low other than"),
    "callback": (HEAD + "def test(): assert list(map(f, [1])) == [1]", "uses f other than"),
    "alias": (HEAD + "def test():\n    h = f\n    assert h(1)", "uses f other than"),
    "module as a value": (HEAD + "def test(): f(solution)", "the module solution as a value"),
    "constant": (HEAD + "def test(): assert f() == solution.LIMIT", "uses LIMIT other than"),
    "attribute of a function": (HEAD + "def test(): assert f.__name__ == 'f'", "attribute __name__"),
    "callable": (HEAD + "def test(): assert callable(f)", "uses"),
    "parametrized functions": (
        HEAD + "@pytest.mark.parametrize('h', [f, g])\ndef test(h): assert h(1)",
        "uses f other",
    ),
    "raises with a function": (HEAD + "def test(): pytest.raises(ValueError, f, 1)", "unusual way"),
    "patched": (HEAD + "def test():\n    solution.f = 1\n    f(1)", "uses f other than"),
    "monkeypatch": (HEAD + "def test(monkeypatch): f(1)", "fixture monkeypatch"),
    "capsys": (HEAD + "def test(capsys): f(1)", "fixture capsys"),
    "tmp_path": (HEAD + "class TestX:\n    def test(self, tmp_path): f(1)", "fixture tmp_path"),
    "of a fixture": (HEAD + "@pytest.fixture\ndef a(request): return 1\ndef test(a): f(a)", "fixture request"),
    "lambda": (HEAD + "def test(): f(lambda x: x)", "lambda"),
    "lambda as a key": (HEAD + "def test(): f([1], key=lambda x: x)", "lambda"),
    "function": (HEAD + "def h(x): return x\ndef test(): f(h)", "the function h as a value"),
    "generator": (HEAD + "def test(): f(x for x in [1])", "gives f a generator"),
    "class": (HEAD + "class Thing: pass\ndef test(): f(Thing())", "defines the class Thing"),
    "made class": (HEAD + "def test(): f(type('X', (), {}))", "makes a class"),
    "base class": (HEAD + "class TestX(dict):\n    def test(self): f(1)", "defines the class TestX"),
    "identity": (HEAD + "def test(): assert f(1) is f(1)", "same object"),
    "not identity": (HEAD + "def test():\n    x = []\n    assert f(x) is not x", "same object"),
    "identity by a function": (
        HEAD + "from operator import is_\ndef test(): assert not is_(f(1), 1)",
        "is_ from operator",
    ),
    "id": (HEAD + "def test(): assert id(f(1)) != 1", "uses id"),
    "bare except": (HEAD + "def test():\n    try:\n        f(1)\n    except:\n        pass", "neither built in"),
    "except all": (
        HEAD + "def test():\n    try:\n        f(1)\n    except BaseException:\n        pass",
        "neither built in",
    ),
    "raises all": (HEAD + "def test():\n    with pytest.raises(BaseException): f(1)", "neither built in"),
    "raises exit": (HEAD + "def test():\n    with pytest.raises(SystemExit): f(1)", "neither built in"),
    "raises all by a name": (
        HEAD + "@pytest.mark.parametrize('e', [BaseException])\ndef test(e):\n    with pytest.raises(e): f(1)",
        "uses BaseException",
    ),
    "raises another's": (
        HEAD + "import json\ndef test():\n    with pytest.raises(json.JSONDecodeError): f(1)",
        "neither built in",
    ),
    "a name for all": (HEAD + "E = Exception\ndef test():\n    with pytest.raises(E): f(1)", "neither built in"),
    "with": (HEAD + "def test():\n    with f(1): pass", "with statement"),
    "warns": (HEAD + "def test():\n    with pytest.warns(UserWarning): f(1)", "with statement"),
    "skip": (HEAD + "def test(): pytest.skip('x') or f(1)", "skip of pytest"),
    "mark": (HEAD + "@pytest.mark.xfail\ndef test(): f(1)", "decorates test"),
    "usefixtures": (HEAD + "@pytest.mark.usefixtures('capsys')\ndef test(): f(1)", "decorates test"),
    "pytestmark": (HEAD + "pytestmark = pytest.mark.usefixtures('capsys')\ndef test(): f(1)", "usefixtures"),
    "plugins": (HEAD + "def pytest_runtest_makereport(item): pass\ndef test(): f(1)", "pytest_runtest_makereport"),
    "pytest_plugins": (HEAD + "pytest_plugins = ['x']\ndef test(): f(1)", "pytest_plugins"),
    "async": (HEAD + "async def test(): await f(1)", "asynchronous"),
    "seed": (HEAD + "import random\ndef test():\n    random.seed(1)\n    assert f(1)", "seed of random"),
    "from random": (HEAD + "from random import seed\ndef test(): f(1)", "seed from random"),
    "rebound": (HEAD + "def test():\n    f = 1\n    g(f)", "gives the name f"),
    "argument": (HEAD + "@pytest.mark.parametrize('f', [1])\ndef test(f): g(f)", "gives the name f"),
    "redefined": (HEAD + "def f(): pass\ndef test(): g(1)", "gives the name f"),
    "rebound pytest": (HEAD + "pytest = None\ndef test(): g(1)", "gives the name pytest"),
    "caught as": (HEAD + "def test():\n    try: g(1)\n    except ValueError as f: pass", "gives the name f"),
    "matched as": (HEAD + "def test():\n    match g(1):\n        case f: pass", "gives the name f"),
    "imported over": (HEAD + "from math import floor as f\ndef test(): g(1)", "name f to two things"),
    "field of a result": (HEAD + "def test(): assert f(1).amount == 3", "attribute amount"),
    "value of a result": (HEAD + "def test(): assert f(1).value == 3", "attribute value"),
    "field like a method": (HEAD + "def test(): assert f(1).count == 3", "attribute count"),
    "method of a result": (HEAD + "def test(): assert f(1).run() == 3", "attribute run"),
    "class of a result": (HEAD + "def test(): assert f(1).__class__ is int", "attribute __class__"),
    "set on a result": (HEAD + "def test(): f(1).real = 3", "attribute real"),
    "getattr": (HEAD + "def test(): assert getattr(f(1), 'x')", "uses getattr"),
    "globals": (HEAD + "def test(): assert globals()['f'](1)", "uses globals"),
    "file": (HEAD + "def test(): assert f(__file__)", "uses __file__"),
    "open": (HEAD + "def test(): assert f(open('x'))", "uses open"),
    "deep": (HEAD + "def test(): assert f(" + "-" * 3000 + "1)", ""),
}


@pytest.mark.parametrize("name", ISOLABLE)
def test_plain_suites_are_isolated(name: str) -> None:
    assert decide(ISOLABLE[name]) == ""


@pytest.mark.parametrize("name", NOT)
def test_others_are_not(name: str) -> None:
    text, why = NOT[name]
    said = decide(text)
    assert said
    assert why in said
    assert (said[0].isupper(), said[-1]) == (True, ".")


def test_the_names_of_the_target() -> None:
    assert target_names(ISOLABLE["aliases"]) == {"add", "Low"}
    assert target_names(ISOLABLE["module"]) == {"add", "Low"}
    assert target_names("def") == frozenset()


@given(st.text(max_size=60))
def test_any_text_is_decided(text: str) -> None:
    assert decide(text) or "solution" in text


PIECES = st.lists(st.sampled_from([line for text in ISOLABLE.values() for line in text.splitlines()]), max_size=12)


@given(PIECES)
def test_any_lines_are_decided(lines: list[str]) -> None:
    text = "\n".join(lines)
    if not decide(text):
        ast.parse(text)
        assert target_names(text)
