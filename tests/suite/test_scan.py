"""The static scan: ordinary solutions are clean, hostile ones are not, and no text makes it raise."""

import ast
import importlib
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.suite import modules
from reflexion.suite.scan import scan
from tests.suite.corpus import HONEST, hostile, solutions

ORDINARY = solutions("ordinary.txt")
# Nothing of these can be seen in their text without running it: the run has to refuse them.
FOR_THE_RUN = frozenset(
    {"endless_loop", "endless_loop_at_import", "endless_print", "prints_a_summary", "exception_that_matches"}
    | {"hook_in_solution", "daemon_thread", "swallowing_exit", "recursion", "memory", "nested", "generator_answers"}
    | {"nearly_right", "wrong_exception"}
)


EQUAL = """    def __eq__(self, other):
        if not isinstance(other, Equal):
            return NotImplemented
        return True
"""


def flags(code: str, *allowed: str) -> list[str]:
    return [flag.what for flag in scan(code, frozenset(allowed))]


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_solutions_are_clean(name: str) -> None:
    assert scan(ORDINARY[name], frozenset()) == ()


def test_the_corpora_are_as_large_as_they_should_be() -> None:
    assert len(ORDINARY) >= 40
    assert len(hostile()) >= 60
    assert scan(HONEST, frozenset()) == ()


@pytest.mark.parametrize("name", sorted(hostile().keys() - FOR_THE_RUN))
def test_hostile_solutions_are_flagged(name: str) -> None:
    found = scan(hostile()[name], frozenset())
    lines = hostile()[name].splitlines()
    assert found
    assert all(1 <= flag.line <= len(lines) for flag in found)


@pytest.mark.parametrize("name", sorted(FOR_THE_RUN))
def test_what_only_a_run_shows_is_not_flagged(name: str) -> None:
    assert scan(hostile()[name], frozenset()) == ()


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import math\n\nmath.sqrt = abs", 3),
        ("import math\nm = math\nm.sqrt", 2),
        ("import math\ndef f():\n    return [math for math in ()], math", 3),
        ("import threading as t\nt._sys", 2),
        ("from threading import _sys", 1),
        ("from . import other", 1),
        ("from math import *", 1),
        ("import os.path", 1),
        ("import concurrent.futures\nconcurrent.futures.thread.sys", 2),
        ("import collections\ncollections._sys", 2),
        ("import json\njson.decoder.scanner", 2),
        ("import json\njson.JSONEncoder.encode = None", 2),
        ("from json import JSONEncoder\nJSONEncoder.encode = None", 2),
        ("x = (1).__class__", 1),
        ("def f(): pass\nf.__code__ = f", 2),
        ("f'{(1).__class__.__mro__}'", 1),
        ("getattr(object, '__sub' + 'classes__')", 1),
        ("getattr(object, '__subclasses__')", 1),
        ("setattr(object, *['x', 1])", 1),
        ("g = getattr", 1),
        ("print(getattr)", 1),
        ("def f(x=getattr): pass", 1),
        ("type('X', (), {})", 1),
        ("type(*['X', (), {}])", 1),
        ("t = type", 1),
        ("class M(type): pass", 1),
        ("from enum import EnumMeta\nclass M(EnumMeta): pass", 2),
        ("class A(metaclass=print): pass", 1),
        ("class A(**{'metaclass': print}): pass", 1),
        ("def isinstance(a, b): return True", 1),
        ("def f():\n    isinstance = print", 2),
        ("def f():\n    global getattr", 2),
        ("type = print", 1),
        ("class A:\n    __eq__ = lambda a, b: True", 2),
        ("class A:\n    __eq__: object = print", 2),
        ("class A:\n    def __lt__(self, other):\n        return True", 2),
        ("class A:\n    def __ne__(self, other):\n        return not self.x or other.real", 2),
        ("class A:\n    def __eq__(self, other):\n        return other.year or True", 2),
        ("class A:\n    def __eq__(self, other):\n        return self.real == other.real", 2),
        ("class A:\n    async def __eq__(self, other):\n        return self.x == other.x", 2),
        ("class A:\n    @staticmethod\n    def __eq__(self, other):\n        return self.x == other.x", 3),
        ("class A:\n    def __contains__(self, item):\n        return True", 2),
        ("class A:\n    def __reduce__(self): pass", 2),
        ("class A:\n    def __getattribute__(self, name): pass", 2),
        ("class A:\n    def f(self): return super().__getattribute__('x')", 2),
        ("class A:\n    def f(self, n): object.__setattr__(self, n, 1)", 2),
        ("class A:\n    def f(self, n): object.__setattr__(self, '__class__', 1)", 2),
        ("class A(int):\n    def __sub__(self, other): return 0", 1),
        ("match 1:\n    case object(__class__=c): pass", 2),
        ("match 1:\n    case object(gi_frame=c): pass", 2),
        ("class A:\n    __match_args__ = '__class__',", 2),
        ("import logging\nlogging.basicConfig(filename='x')", 2),
        ("x = lambda: eval", 1),
        ("if True:\n    __builtins__", 2),
        ("__name__ = '__main__'", 1),
        ("def __getattr__(name): pass", 1),
        ("try: pass\nexcept ValueError as isinstance: pass", 2),
        ("async def f(t):\n    t.get_stack()", 2),
        ("def f(loop):\n    loop.subprocess_exec()", 2),
        ("from functools import wraps\nw = wraps", 2),
        ("from functools import singledispatch\ndef f(x: print('now')): pass", 2),
        (
            "from functools import singledispatch\nclass T:\n  def __class_getitem__(c, i): pass\ndef f(x: T[1]): pass",
            4,
        ),
        ("def f(x: 'open'): pass", 1),
        ("def f(x: 'list[\"open\"]'): pass", 1),
        ("def f(\n", 1),
        ("x = 1\x00", 1),
        ("x = '\ud800'", 1),
        ("#\u2028\n#\u2028\u2028 coding: utf-7\n", 2),
        ("\r# coding: utf-7\r", 2),
        ("class A(x=eval('1')): pass", 1),
        ("from abc import ABCMeta\nABCMeta('X', (), {})", 2),
        ("import abc\nm = abc.ABCMeta", 2),
        ("class A:\n    match print:\n        case __eq__: pass", 3),
        ("match {}:\n    case {**isinstance}: pass", 2),
        ("def f(callback):\n    callback.assert_called_once_with = print", 2),
        ("def f(callback):\n    callback.called = True", 2),
        ("def f():\n    import dataclasses\n    dataclasses.sys", 3),
        ("def f():\n    from functools import wraps\n    return wraps", 3),
        ("def f(string):\n    def g():\n        import string\n        string.Formatter", 4),
        ("def f(string):\n    class A:\n        import string\n        string.Formatter", 3),
        ("def f(eval):\n    class A:\n        eval = 1\n        del eval\n        eval('1')", 5),
        ("def f(eval: eval('1')): pass", 1),
        ("def f(x, *, open=1, y: open('1')): pass", 1),
        ("import string as m\nimport logging as m\nm.Formatter", 1),
        ("from functools import wraps as w\nfrom functools import partial as w\nx = w", 1),
        ("# vim: set fileencoding=utf-7 :\n", 1),
    ],
)
def test_each_way_out_is_flagged(code: str, line: int) -> None:
    assert line in [flag.line for flag in scan(code, frozenset())]


@pytest.mark.parametrize(
    "code",
    [
        f"from abc import ABCMeta\nclass Equal(metaclass=ABCMeta):\n{EQUAL}Equal.register(int)",
        f"from abc import ABC\nclass Equal(ABC):\n{EQUAL}getattr(Equal, 'register')(int)",
        f"from abc import ABC\nclass Equal(ABC):\n{EQUAL}match Equal:\n    case object(register=r): r(int)",
        f"from typing import Protocol\nBase = Protocol\nclass Equal(Base):\n{EQUAL}",
        f"from typing import Protocol\nclass Equal(*[Protocol]):\n{EQUAL}",
        f"from typing import Protocol\nclass P(Protocol): pass\nclass Equal(P):\n    _is_protocol = True\n{EQUAL}",
        f"import typing\nclass Equal(typing.SupportsInt):\n    _is_protocol = True\n{EQUAL}",
        "class Outer:\n    class int:\n" + EQUAL.replace("Equal", "int").replace("    ", "        "),
        f"from typing import final\ndef final(one): return object\n@final\nclass Equal:\n{EQUAL}",
        f"from abc import ABC\nfrom typing import Protocol\nABC = Protocol\nclass Equal(ABC):\n{EQUAL}",
        f"from typing import Protocol\n@(lambda one: Protocol)\nclass Base: pass\nclass Equal(Base):\n{EQUAL}",
        "from abc import ABCMeta\nfrom typing import Sized\nABCMeta = type(Sized)\nclass A(metaclass=ABCMeta): 1",
        "class A:\n    def __eq__(self, other, *, type=bool): return type(self) is type(other) and True",
        "def f(type):\n  class A:\n    def __eq__(self, other): return type(self) is type(other) and True",
        "class A:\n def __eq__(s, o):\n  if NotImplemented if type(s) is not type(o) else 1: return 1\n  return False",
        "class A:\n    def __eq__(self, other): return self.one == (other.as_tuple, 1)[1]",
        "class A:\n    def __eq__(self, other): return self.one == (other.year, 1)[1]",
        "from enum import Enum\nclass A(float, Enum):\n    X = 0.0\n    def __rsub__(self, other): return 0",
        "from enum import IntEnum\nclass A(IntEnum):\n    X = 0\n    def __rsub__(self, other): return 0",
        "class A: _make_subprocess_transport = None\nasync def f(loop): await loop._make_subprocess_transport()",
    ],
)
def test_what_passed_once_by_the_scan_is_flagged(code: str) -> None:
    """Each of these passed a suite, in one process with it: equal to all, or with the tests in hand."""
    ast.parse(code)
    assert len(flags(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        f"from abc import ABC\nclass Equal(ABC):\n{EQUAL}",
        f"from collections import namedtuple\nclass Equal(namedtuple('E', 'x y')):\n{EQUAL}",
        f"from typing import Generic as G, T\nclass Base(G[T]): pass\nclass Equal(Base[T]):\n{EQUAL}".replace(
            ", T\n", "\n"
        ),
        f"class Equal(Exception):\n{EQUAL}",
        f"class Equal:\n    type: str = ''\n{EQUAL}\nx = getattr(Equal, 'register', None)",
        "class T:\n  def f(self, type): self.type = type\n  def __eq__(self, o): return type(self) is type(o) and o.x",
        "class Outer:\n  class In:\n    def __eq__(self, o): return type(self) is type(o) and self.x == o.x",
        "from enum import IntEnum\nclass A(IntEnum):\n    X = 1\n    def __str__(self): return 'x'",
        "import time\ndef f(time): return time.anything",
        "def f(input, dir, vars): return input + dir + vars",
        "class A:\n    def type(self): return type(self).__name__\n    id: int = 0\n    input = 1",
        "def f(x: type[int], y: 'type[int]') -> type: return type(x)",
        "class A:\n    def __eq__(self, other): return type(self) is type(other) and self.x == other.x",
        "class A:\n    def __eq__(self, o): return o.__class__ is self.__class__ and o.x == self.x",
        "class A:\n    def __eq__(self, other): return self.x == other.x and self.y == other.y",
        "class A:\n    def __ne__(self, other): return not self == other",
        "class A:\n    def __le__(self, other): return self < other or self == other",
        "class A:\n  def __eq__(self, o):\n    if isinstance(o, A):\n      return self.x == o.x\n    return False",
        "class A:\n  def __eq__(self, o):\n    if type(o) is not type(self):\n      return False\n    return True",
        "class A:\n    def f(self, g):\n        self.called = True\n        g.x = 1",
        "def d(f):\n    def w(): w.call_count += 1\n    w.call_count = 0\n    return w",
        "from abc import ABCMeta\nclass A(metaclass=ABCMeta): pass",
        "import abc\nclass A(metaclass=abc.ABCMeta): pass",
        "import re\nrx = re.compile('a', re.I)\nrx.match('a').group()",
        "# -*- coding: utf-8 -*-\nx = 1",
        "x = '{name!r:>{width}}'.format(name=1, width=2)",
        "def f(e): raise e from e.__cause__",
        "from collections import abc, Counter\nabc.Mapping",
        "import collections.abc\ncollections.abc.Mapping, collections.Counter",
    ],
)
def test_what_looks_alike_is_clean(code: str) -> None:
    assert scan(code, frozenset()) == ()


def test_modules_can_be_allowed() -> None:
    code = "import pathlib\nimport xml.dom.minidom\npathlib.Path('x')\nxml.dom.minidom.parseString('')\n"
    assert flags(code) != []
    assert flags(code, "pathlib", "xml") == []
    assert flags("import xml\nxml._x", "xml") == ["uses xml._x"]


@pytest.mark.parametrize("module", sorted(modules.DEFAULT))
def test_no_allowed_name_is_a_module_or_a_way_to_one(module: str) -> None:
    found = importlib.import_module(module)
    policy = modules.Policy()
    names = [name for name in dir(found) if policy.may_use(module, name)]
    assert names
    assert [name for name in names if isinstance(getattr(found, name), ModuleType)] == []
    assert [name for name in names if name.startswith("__")] == []


@given(st.text())
@settings(deadline=None)
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(scan(text, frozenset()), tuple)


@given(st.sampled_from(sorted(ORDINARY)), st.data())
@settings(deadline=None, max_examples=60)
def test_no_change_of_a_solution_makes_it_raise(name: str, data: st.DataObject) -> None:
    tokens = ORDINARY[name].split(" ")
    at = data.draw(st.integers(0, len(tokens) - 1))
    tokens[at] = data.draw(
        st.sampled_from(["__class__", "getattr", "(", "type", "*", "**", ":", "lambda:", "exec", "\n"])
    )
    assert isinstance(scan(" ".join(tokens), frozenset()), tuple)


@given(st.sampled_from(sorted(hostile().keys() - FOR_THE_RUN)), st.sampled_from(sorted(ORDINARY)))
@settings(deadline=None, max_examples=60)
def test_what_is_hostile_stays_so_among_ordinary_code(bad: str, good: str) -> None:
    parts = [part for part in (ORDINARY[good], hostile()[bad]) if "from __future__" not in part and bad != "codec"]
    if len(parts) == 2:
        ast.parse("\n".join(parts))
        assert scan("\n".join(parts), frozenset())


def test_deep_nesting_is_said() -> None:
    deep = "x = " + "-" * 5000 + "1"
    assert flags(deep) == [] or "nested too deeply" in flags(deep)[0]
    assert flags("(" * 500 + ")" * 500)
