"""Constants, ``__all__`` and imports: which names documentation is expected to name, and which values they have."""

from textwrap import dedent

import pytest

from reflexion.evidence.facts import Facts, Import, Symbol
from reflexion.evidence.source import facts_of_python


def facts(source: str) -> Facts:
    return facts_of_python(dedent(source), "m")


def symbol(source: str, name: str) -> Symbol:
    return next(each for each in facts(source).walk() if each.qualname == name)


CONSTANTS = {
    "MAX = 3": True,
    "MAX: int = 3": True,
    "timeout: float = 2.5": True,
    "app = Flask()": False,
    "_MAX = 3": False,
    "__version__ = '1'": False,
    "logger = logging.getLogger(__name__)": False,
    "LOG = structlog.get_logger()": False,
    "LOGGER: logging.Logger = make()": False,
    "T = TypeVar('T')": False,
    "P = ParamSpec('P')": False,
    "UserId = NewType('UserId', int)": False,
    "JSON = dict[str, Any]": False,
    "Handler = Callable[[int], None]": False,
    "NUMBER = int | float": False,
    "Name: TypeAlias = str": False,
    "FLAGS = re.M | re.S": True,
    "SLICE = TABLE[0]": True,
    "MAX = 3\n__all__ = []": False,
    "_max = 3\n__all__ = ['_max']": True,
    "logger = getLogger()\n__all__ = ('logger',)": True,
    "if __name__ == '__main__':\n ARGS = 1": False,
    "if sys.platform == 'win32':\n SEP = 1": True,
    "double = lambda x: 2 * x": True,
    "Point = namedtuple('Point', 'x y')": True,
}


@pytest.mark.parametrize(("source", "public"), CONSTANTS.items())
def test_public_constants(source: str, public: bool) -> None:
    assert next(each for each in facts(source).symbols if each.name != "__all__").public is public


@pytest.mark.parametrize(
    ("source", "public"),
    [
        ("def f(): pass", True),
        ("def _f(): pass", False),
        ("def f(): pass\n__all__ = ['g']", False),
        ("def _f(): pass\n__all__ = ['_f']", True),
        ("class _A:\n def f(self): pass", False),
        ("class A:\n def f(self): pass", True),
        ("class A:\n def _f(self): pass", False),
        ("class A:\n def __len__(self): pass", False),
        ("class A:\n class _B:\n  def f(self): pass", False),
        ("class A:\n def f(self): pass\n__all__ = ['B']", False),
        ("if __name__ == '__main__':\n def f(): pass", False),
    ],
)
def test_public_functions_and_methods(source: str, public: bool) -> None:
    assert next(each for each in facts(source).walk() if each.kind in {"function", "method"}).public is public


@pytest.mark.parametrize(
    ("source", "exports"),
    [
        ("x = 1", None),
        ("__all__ = ['a', 'b']", ("a", "b")),
        ("__all__ = ('a',)", ("a",)),
        ("__all__: list[str] = ['a']", ("a",)),
        ("__all__ = []", ()),
        ("__all__ = ['a'] + ['b'] + other.__all__", ("a", "b")),
        ("__all__ = ['a']\n__all__ += ['b']", ("a", "b")),
        ("__all__ = ['a']\n__all__.extend(['b', 'c'])", ("a", "b", "c")),
        ("__all__ = ['a']\n__all__.append('b')", ("a", "b")),
        ("__all__ = sorted(['a', 'a'])", ("a",)),
        ("__all__ = ['a']\nif x:\n __all__ += ['b']", ("a", "b")),
    ],
)
def test_exports(source: str, exports: tuple[str, ...] | None) -> None:
    assert facts(source).exports == exports


def test_imports() -> None:
    found = facts(
        """
        import os, os.path
        import numpy as np
        from . import sibling
        from ..up import one as uno, two as two
        from pkg.mod import shown
        from everything import *
        __all__ = ["shown"]
        """
    )
    assert found.imports == (
        Import("os", "os", 2),
        Import("np", "numpy", 3),
        Import("sibling", ".sibling", 4),
        Import("uno", "..up.one", 5),
        Import("two", "..up.two", 5, public=True),
        Import("shown", "pkg.mod.shown", 6, public=True),
    )
    assert found.star_imports == ("everything",)


@pytest.mark.parametrize(
    ("source", "value", "alternatives"),
    [
        ("A = 3", "3", ()),
        ("A: int = 3", "3", ()),
        ("A: int", None, ()),
        ("A = {'x': [1, 2]}", "{'x': [1, 2]}", ()),
        ("A = B = 4", "4", ()),
        ("A, B = 1, 2", "1", ()),
        ("A, B = pair()", None, ()),
        ("(A, (B, C)) = 1, (2, 3)", "1", ()),
        ("A = 1\nA = 2", "2", ()),
        ("A = [1]\nA += [2]", None, ()),
        ("if x:\n A = 1\nelse:\n A = 2", None, ("1", "2")),
        ("try:\n A = 1\nexcept E:\n A = 1", "1", ()),
        ("A = 1\nif x:\n A = 2", None, ("1", "2")),
        ("A = (" + "1,\n" * 100 + ")", None, ()),
        ("A = '" + "x" * 3000 + "'", None, ()),
    ],
)
def test_value_of_a_constant(source: str, value: str | None, alternatives: tuple[str, ...]) -> None:
    found = symbol(source, "A")
    assert (found.kind, found.value, found.alternatives) == ("constant", value, alternatives)


def test_a_deleted_name_is_no_symbol() -> None:
    assert [each.name for each in facts("A = 1\nB = 2\ndel A").symbols] == ["B"]


def test_docstrings() -> None:
    found = facts('"""The module."""\nA = 1\n"""The constant."""\ndef f():\n    """Do.\n\n    More.\n    """')
    assert [found.docstring, *(each.docstring for each in found.symbols)] == [
        "The module.",
        "The constant.",
        "Do.\n\nMore.",
    ]


@pytest.mark.parametrize(
    ("body", "keys", "values"),
    [
        ("return {'a': 1, 'b': x}", ("a", "b"), None),
        ("return dict(a=1, b=2)", ("a", "b"), None),
        ("if x: return {'a': 1}\n    return {'a': 2}", ("a",), None),
        ("if x: return {'a': 1}\n    return {'b': 2}", None, None),
        ("return {'a': 1, **x}", None, None),
        ("return {x: 1}", None, None),
        ("return {}", None, None),
        ("return x", None, None),
        ("if x: return 'a'\n    return -1", None, ("'a'", "-1")),
        ("if x: return True", None, ("True", "None")),
        ("if x: return 1\n    return x", None, None),
        ("print(x)", None, None),
        ("yield 1\n    return {'a': 1}", None, None),
        ("def g(): return {'z': 1}\n    return {'a': g}", ("a",), None),
    ],
)
def test_returned_literals(body: str, keys: tuple[str, ...] | None, values: tuple[str, ...] | None) -> None:
    found = symbol(f"def f(x):\n    {body}\n", "f")
    assert (found.returned_keys, found.returned_values) == (keys, values)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): yield 1", (False, True)),
        ("async def f(): yield 1", (True, True)),
        ("async def f(): return 1", (True, False)),
        ("def f():\n def g(): yield 1\n return g", (False, False)),
        ("def f(): return (x for x in y)", (False, False)),
    ],
)
def test_async_and_generators(source: str, expected: tuple[bool, bool]) -> None:
    found = symbol(source, "f")
    assert (found.is_async, found.is_generator) == expected


def test_decorators_are_their_text() -> None:
    source = "@app.get('/x', status=201)\n@functools.wraps(g)\ndef f(): pass"
    assert symbol(source, "f").decorators == ("app.get('/x', status=201)", "functools.wraps(g)")
