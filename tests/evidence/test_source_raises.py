"""Which exceptions leave a function: caught, re-raised, chained, and through what it calls."""

from textwrap import dedent

import pytest

from reflexion.evidence.facts import Raise, Symbol
from reflexion.evidence.source import facts_of_python


def symbol(source: str, name: str = "f") -> Symbol:
    found = [each for each in facts_of_python(dedent(source), "m").walk() if each.qualname == name]
    assert len(found) == 1, f"{name} is there {len(found)} times"
    return found[0]


def brief(raises: tuple[Raise, ...]) -> list[str]:
    return [
        " ".join(
            [each.type, *([] if each.message is None else [repr(each.message)]), *(f"<{name}>" for name in each.via)]
        )
        for each in raises
    ]


CERTAIN = {
    "own": ("def f():\n raise ValueError('a')", ["ValueError 'a'"]),
    "class only": ("def f():\n raise NotImplementedError", ["NotImplementedError"]),
    "dotted": ("import errors\ndef f():\n raise errors.Bad('a')", ["errors.Bad 'a'"]),
    "lower-case dotted": ("import struct\ndef f():\n raise struct.error('a')", ["struct.error 'a'"]),
    "async": ("async def f():\n raise ValueError('a')", ["ValueError 'a'"]),
    "generator": ("def f():\n yield 1\n raise ValueError('a')", ["ValueError 'a'"]),
    "two branches": ("def f(x):\n if x: raise KeyError\n raise ValueError", ["KeyError", "ValueError"]),
    "behind return": ("def f():\n return 1\n raise ValueError", []),
    "behind raise": ("def f():\n raise KeyError\n raise ValueError", ["KeyError"]),
    "under False": ("def f():\n if False:\n  raise ValueError", []),
    "behind an endless loop": ("def f():\n while True:\n  pass\n raise ValueError", []),
    "behind a loop with break": ("def f(x):\n while True:\n  if x: break\n raise ValueError", ["ValueError"]),
    "loop else": ("def f(x):\n for _ in x: pass\n else:\n  raise ValueError", ["ValueError"]),
    "match": ("def f(x):\n match x:\n  case 1: raise KeyError\n  case _: raise ValueError", ["KeyError", "ValueError"]),
    "elif": (
        "def f(x):\n if x: pass\n elif x > 1: raise KeyError\n else: raise ValueError",
        ["KeyError", "ValueError"],
    ),
    "finally": ("def f(x):\n try: x()\n finally: raise ValueError", ["ValueError"]),
    "with": ("def f(x):\n with x: raise ValueError", ["ValueError"]),
    "caught": ("def f():\n try: raise ValueError\n except ValueError: pass", []),
    "caught by a base": ("def f():\n try: raise KeyError\n except LookupError: pass", []),
    "caught by a tuple": ("def f():\n try: raise KeyError\n except (OSError, KeyError): pass", []),
    "caught by a named tuple": ("E = (OSError, KeyError)\ndef f():\n try: raise KeyError\n except E: pass", []),
    "caught by a bare except": ("def f():\n try: raise KeyError\n except: pass", []),
    "an alias of the same class": ("def f():\n try: raise IOError\n except OSError: pass", []),
    "another type is not caught": ("def f():\n try: raise KeyError('a')\n except OSError: pass", ["KeyError 'a'"]),
    "a child does not catch": ("def f():\n try: raise OSError('a')\n except FileNotFoundError: pass", ["OSError 'a'"]),
    "an import cannot catch a built-in": (
        "import m\ndef f():\n try: raise KeyError('a')\n except m.Bad: pass",
        ["KeyError 'a'"],
    ),
    "caught outside": ("def f(x):\n try:\n  try: raise KeyError\n  except OSError: pass\n except KeyError: pass", []),
    "else is not guarded": ("def f():\n try: pass\n except KeyError: pass\n else: raise KeyError", ["KeyError"]),
    "handler is not guarded": (
        "def f(x):\n try: x()\n except KeyError: raise KeyError('a')\n except OSError: pass",
        ["KeyError 'a'"],
    ),
    "suppress": (
        "from contextlib import suppress\ndef f():\n with suppress(KeyError): raise KeyError\n raise ValueError",
        ["ValueError"],
    ),
    "suppress another": (
        "import contextlib\ndef f():\n with contextlib.suppress(OSError): raise KeyError('a')",
        ["KeyError 'a'"],
    ),
    "class of this file caught": (
        "class A(Exception): pass\nclass B(A): pass\ndef f():\n try: raise B\n except A: pass",
        [],
    ),
    "bare raise": ("def f(x):\n try: x()\n except KeyError: raise", ["KeyError"]),
    "bare raise of several": ("def f(x):\n try: x()\n except (KeyError, OSError): raise", ["KeyError", "OSError"]),
    "raise of the caught": ("def f(x):\n try: x()\n except KeyError as e: raise e", ["KeyError"]),
    "with traceback": ("def f(x):\n try: x()\n except KeyError as e: raise e.with_traceback(None)", ["KeyError"]),
    "re-raised keeps its message": (
        "def f():\n try: raise KeyError('a')\n except KeyError:\n  print()\n  raise",
        ["KeyError 'a'", "KeyError"],
    ),
    "broad re-raise is no type": ("def f(x):\n try: x()\n except Exception: raise", []),
    "broad re-raise lets through": (
        "def f():\n try: raise KeyError('a')\n except Exception: raise",
        ["KeyError 'a'"],
    ),
    "conditional re-raise": (
        "def f(x):\n try: raise KeyError('a')\n except KeyError:\n  if x: raise",
        ["KeyError 'a'", "KeyError"],
    ),
    "chained": (
        "def f(x):\n try: x()\n except KeyError as e: raise ValueError('a') from e",
        ["ValueError 'a'"],
    ),
    "variable": ("def f():\n e = ValueError('a')\n raise e", ["ValueError 'a'"]),
    "variable class": (
        "def f(x):\n kind = KeyError if x else OSError\n raise kind('a')",
        ["KeyError 'a'", "OSError 'a'"],
    ),
    "conditional": ("def f(x):\n raise KeyError('a') if x else OSError('b')", ["KeyError 'a'", "OSError 'b'"]),
    "parameter is unknown": ("def f(error):\n raise error", []),
    "factory from elsewhere": ("from m import make\ndef f():\n raise make()", []),
    "factory": ("def make(n): return ValueError(f'no {n}')\ndef f():\n raise make('x')", ["ValueError 'no x'"]),
    "factory that makes several": (
        "def make(n):\n if n: return KeyError('a')\n return n\ndef f(n):\n raise make(n)",
        ["KeyError 'a'"],
    ),
    "factory that calls itself": ("def make(): raise make()\ndef f():\n raise make()", []),
    "helper": ("def f():\n _h()\ndef _h(): raise ValueError('a')", ["ValueError 'a' <_h>"]),
    "two helpers": ("def f(): _g()\ndef _g(): _h()\ndef _h(): raise KeyError('a')", ["KeyError 'a' <_g> <_h>"]),
    "helper in a guard": ("def f():\n try: _h()\n except KeyError: pass\ndef _h(): raise KeyError", []),
    "helper in a comprehension": ("def f(x): return [_h(y) for y in x]\ndef _h(y): raise KeyError", ["KeyError <_h>"]),
    "awaited helper": ("async def f(): await _h()\nasync def _h(): raise KeyError", ["KeyError <_h>"]),
    "shadowed helper": ("def f(_h): _h()\ndef _h(): raise KeyError", []),
    "nearest way counts": ("def f():\n _g()\n _h()\ndef _g(): _h()\ndef _h(): raise KeyError", ["KeyError <_h>"]),
    "called nested function": (
        "def f():\n def inner(): raise KeyError('a')\n inner()",
        ["KeyError 'a' <f.<locals>.inner>"],
    ),
    "handed out nested function": ("def f():\n def inner(): raise KeyError('a')\n return inner", []),
    "lambda": ("def f(): return lambda: _h()\ndef _h(): raise KeyError", []),
    "recursion": (
        "def f(n):\n _g(n)\n raise KeyError('a')\ndef _g(n):\n f(n)\n raise OSError('b')",
        ["KeyError 'a'", "OSError 'b' <_g>"],
    ),
    "context manager of this file": (
        """
        from contextlib import contextmanager
        @contextmanager
        def _turned():
            try:
                yield
            except KeyError as error:
                raise ValueError("a") from error
        def f():
            with _turned():
                raise KeyError
        """,
        ["ValueError 'a' <_turned>"],
    ),
    "decorator of this file": (
        """
        import functools
        def _turned(func):
            @functools.wraps(func)
            def wrapper(*args):
                try:
                    return func(*args)
                except KeyError:
                    raise ValueError("a")
            return wrapper
        @_turned
        def f():
            raise KeyError
        """,
        ["ValueError 'a' <_turned>"],
    ),
    "decorator with arguments": (
        """
        def _limited(n):
            def decorate(func):
                async def wrapper():
                    if n: raise ValueError("a")
                    return await func()
                return wrapper
            return decorate
        @_limited(3)
        async def f(): raise KeyError("b")
        """,
        ["KeyError 'b'", "ValueError 'a' <_limited>"],
    ),
    "constructor": (
        "class A:\n def __init__(self): raise KeyError('a')\ndef f(): return A()",
        ["KeyError 'a' <A>"],
    ),
    "method of a new object": (
        "class _A:\n def go(self): raise KeyError\ndef f():\n a = _A()\n a.go()\n",
        ["KeyError <_A.go>"],
    ),
    "method of a call": ("class _A:\n def go(self): raise KeyError\ndef f(): _A().go()", ["KeyError <_A.go>"]),
    "either alternative": (
        "try:\n import x\n def f(): raise KeyError\nexcept ImportError:\n def f(): raise OSError",
        ["KeyError", "OSError"],
    ),
    "later definition counts": ("def f(): raise KeyError\ndef f(): raise OSError", ["OSError"]),
}


@pytest.mark.parametrize(("source", "expected"), CERTAIN.values(), ids=CERTAIN.keys())
def test_certain_raises(source: str, expected: list[str]) -> None:
    assert brief(symbol(source).raises) == expected


METHODS = """
class Base:
    def __init__(self, n):
        self._check(n)
    def _check(self, n):
        raise TypeError("base")
    def _hook(self):
        raise NotImplementedError("hook")
    def outer(self):
        self._hook()
    @property
    def limit(self):
        raise KeyError("get")
    @limit.setter
    def limit(self, value):
        raise ValueError("set")
    @staticmethod
    def _static():
        raise OSError("static")
    @classmethod
    def _class(cls):
        cls._static()
class Child(Base):
    def _check(self, n):
        super()._check(n)
        raise ValueError("child")
    def call_class(self):
        self._class()
    def by_name(self):
        Base._static()
    def by_type(self):
        type(self)._static()
    def read(self):
        return self.limit
    def write(self):
        self.limit = 3
    def mention(self, run):
        run(self._class)
    @classmethod
    def make(cls):
        return cls(1)
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Base", ["TypeError 'base' <Base._check>"]),
        ("Base.__init__", ["TypeError 'base' <Base._check>"]),
        ("Base.outer", []),
        ("Base.limit", ["KeyError 'get'", "ValueError 'set'"]),
        ("Child._check", ["ValueError 'child'", "TypeError 'base' <Base._check>"]),
        ("Child.call_class", ["OSError 'static' <Base._class> <Base._static>"]),
        ("Child.by_name", ["OSError 'static' <Base._static>"]),
        ("Child.by_type", ["OSError 'static' <Base._static>"]),
        ("Child.read", ["KeyError 'get' <Base.limit>"]),
        ("Child.write", ["ValueError 'set' <Base.limit>"]),
        ("Child.mention", []),
        ("Child.make", ["TypeError 'base' <Child> <Base> <Base._check>"]),
    ],
)
def test_raises_through_methods(name: str, expected: list[str]) -> None:
    assert brief(symbol(METHODS, name).raises) == expected


POSSIBLE = {
    "assert": ("def f(x):\n assert x, 'no x'", ["AssertionError 'no x'"]),
    "assert in a helper": ("def f(x): _h(x)\ndef _h(x):\n assert x", ["AssertionError <_h>"]),
    "handed out": ("def f():\n def inner(): raise KeyError\n return inner", ["KeyError <f.<locals>.inner>"]),
    "method of a local class": (
        "def f():\n class A:\n  def go(self): raise KeyError\n return A",
        ["KeyError <f.<locals>.A.go>"],
    ),
    "callback": ("def f(x): return map(_h, x)\ndef _h(y): raise KeyError", ["KeyError <_h>"]),
    "lambda": ("def f(): return lambda: _h()\ndef _h(): raise KeyError", ["KeyError <_h>"]),
    "may be caught": (
        "import m\ndef f():\n try: raise m.Bad('a')\n except m.Base: pass",
        ["m.Bad 'a'"],
    ),
    "broad re-raise": ("def f(x):\n try: x()\n except Exception: raise", ["Exception"]),
    "abstract hook": (
        "def f(): _hook()\ndef _hook():\n 'Do it.'\n raise NotImplementedError",
        ["NotImplementedError <_hook>"],
    ),
}


@pytest.mark.parametrize(("source", "expected"), POSSIBLE.values(), ids=POSSIBLE.keys())
def test_possible_raises(source: str, expected: list[str]) -> None:
    found = symbol(source)
    assert brief(found.possible_raises) == expected
    assert found.raises == ()


@pytest.mark.parametrize(
    ("source", "unknown"),
    [
        ("def f(error): raise error", True),
        ("def f(): raise make()", True),
        ("def f(): _h()\ndef _h(e): raise e", True),
        ("def f():\n try: g()\n except Exception: raise", True),
        ("def f(): raise", True),
        ("def make(n):\n if n: return KeyError('a')\n return n\ndef f(n):\n raise make(n)", True),
        ("def make(): return KeyError('a')\ndef f():\n raise make()", False),
        ("def f(): raise ValueError", False),
        ("def f():\n try: g()\n except KeyError: raise", False),
    ],
)
def test_unknown_raises_are_told(source: str, unknown: bool) -> None:
    assert symbol(source).raises_unknown is unknown


@pytest.mark.parametrize(
    ("source", "public"),
    [
        ("def f(): _h()\ndef _h(): raise KeyError", False),
        ("def f(): h()\ndef h(): raise KeyError", True),
        ("def f(): _g()\ndef _g(): h()\ndef h(): raise KeyError", True),
        ("__all__ = ['f']\ndef f(): h()\ndef h(): raise KeyError", False),
        ("def f():\n h()\n _h()\ndef h(): _h()\ndef _h(): raise KeyError", False),
        ("def f():\n def inner(): raise KeyError\n inner()", False),
    ],
)
def test_raises_through_public_functions_are_marked(source: str, public: bool) -> None:
    assert [each.through_public for each in symbol(source).raises] == [public]


@pytest.mark.parametrize(
    ("source", "bases"),
    [
        ("def f(): raise KeyError", ("LookupError", "Exception", "BaseException")),
        ("def f(): raise IOError", ("Exception", "BaseException")),
        ("import json\ndef f(): raise json.JSONDecodeError('a', '', 0)", ("ValueError", "Exception", "BaseException")),
        (
            "class A(ValueError): pass\nclass B(A): pass\ndef f(): raise B",
            ("A", "ValueError", "Exception", "BaseException"),
        ),
        ("import m\ndef f(): raise m.Bad", ()),
        ("import m\nclass A(m.Bad): pass\ndef f(): raise A", ("m.Bad",)),
    ],
)
def test_bases_of_a_raised_type(source: str, bases: tuple[str, ...]) -> None:
    assert symbol(source).raises[0].bases == bases


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("def f(x):\n try: x()\n except KeyError as e: raise ValueError from e", "KeyError"),
        ("def f(x):\n raise ValueError from OSError('a')", "OSError"),
        ("def f(x):\n raise ValueError from None", None),
        ("def f(x):\n raise ValueError", None),
    ],
)
def test_cause(source: str, cause: str | None) -> None:
    assert symbol(source).raises[0].cause == cause


def test_dataclass_checks_belong_to_the_class() -> None:
    source = """
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: int
            def __post_init__(self):
                if self.x < 0:
                    raise ValueError("negative")
    """
    assert brief(symbol(source, "Point").raises) == ["ValueError 'negative'"]


def test_lines_are_those_of_the_statement() -> None:
    source = """
        def f(x):
            if x:
                raise ValueError(
                    "a"
                )
            _h()
        def _h():
            raise KeyError
    """
    assert [each.line for each in symbol(source).raises] == [4, 9]


def test_a_long_chain_of_helpers_is_followed_in_little_time() -> None:
    chain = "\n".join(f"def _h{n}():\n    _h{n + 1}()\n    raise ValueError('{n}')" for n in range(600))
    last = f"{chain}\ndef _h600(): pass\ndef f(): _h0()"
    assert [each.message for each in symbol(last).raises][:20] == [str(n) for n in range(20)]
