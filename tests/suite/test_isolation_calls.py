"""An honest candidate in the other sandbox: everything comes through as if it had been imported."""

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings

from reflexion.suite.isolation.frames import Data
from reflexion.suite.isolation.proxy import Broken
from tests.suite.isolation_support import called
from tests.suite.test_isolation_plain import PLAIN, told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")

CANDIDATE = """
import collections, copy, functools, itertools, json, sys

class Base(Exception):
    pass

class TooLow(Base, ValueError):
    def __init__(self, value, least=0):
        super().__init__(value)
        self.value, self.least, self.odd, self._own = value, least, object(), 1

    def __str__(self):
        return f"{self.value} is below {self.least}"

class Hidden(Base):
    pass

Alias = KeyError

def fresh(x):
    return copy.deepcopy(x)

def same(x):
    return x

def both(*args, **kwargs):
    return args, kwargs

def fail(kind, *args):
    raise {"TooLow": TooLow, "Hidden": Hidden, **vars(__import__("builtins"))}[kind](*args)

def fail_oddly():
    raise ValueError(object())

def open_missing():
    open("/nowhere/at all")

def parse(text):
    return json.loads(text)

def decode(data):
    return data.decode()

def recurse(n=0):
    return recurse(n + 1)

def fail_in_middle(items):
    items.append(1)
    raise LookupError("half way")

def change(x):
    x["list"][0].append(3)
    x["list"].append(x["list"][0])
    x["set"] |= {9}
    x["bytes"][:1] = b"zz"
    x["deque"].appendleft(0)
    x["count"]["a"] += 1
    x["map"].clear()
    x["default"][5].append(1)
    x["order"].move_to_end("a")
    return x["list"][0]

kept = []

def keep(x):
    kept.append(x)
    return len(kept)

def touch():
    kept[-1].append("touched")

def last():
    return kept[-1]

def grow(item, into=[]):
    into.append(item)
    return into

pair = ([],)

def held_in_a_tuple():
    return pair

def grow_the_held():
    pair[0].append(1)

@functools.lru_cache
def cached(n):
    return [n]

def count(n):
    for i in range(n):
        yield i

def forever():
    return itertools.count()

def fail_late():
    yield 1
    raise TooLow(3)

def groups(text):
    return itertools.groupby(text)

def odd(what):
    return {"object": object(), "class": TooLow, "nested": [1, {"k": object()}], "lambda": lambda: 1,
            "keys": {}.keys(), "iterator": [iter([])], "deep": functools.reduce(lambda a, _: [a], range(150), []),
            "named": collections.namedtuple("Point", "x")(1), "large": ["x" * 1000] * 9000}[what]

def leave(kind):
    raise {"SystemExit": SystemExit, "KeyboardInterrupt": KeyboardInterrupt, "GeneratorExit": GeneratorExit,
           "BaseException": BaseException}[kind](0)

def group():
    raise ExceptionGroup("many", [ValueError(1)])

def talk():
    print("said")
    print("told", file=sys.stderr)

def closure(n):
    found = []
    def inner(i):
        if i < n:
            found.append(i)
            inner(i + 1)
    inner(0)
    return found
"""
NAMES = (
    *("TooLow", "Base", "Alias", "fresh", "same", "both", "fail", "fail_oddly", "open_missing", "parse", "decode"),
    *(
        "recurse",
        "fail_in_middle",
        "change",
        "keep",
        "touch",
        "last",
        "grow",
        "held_in_a_tuple",
        "grow_the_held",
        "cached",
    ),
    *("count", "forever", "fail_late", "groups", "odd", "leave", "group", "talk", "closure"),
)


@pytest.fixture(scope="module")
def solution() -> Iterator[SimpleNamespace]:
    with called(CANDIDATE, *NAMES, "missing") as there:
        yield there


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PLAIN)
def test_every_plain_value_goes_there_and_comes_back(solution: SimpleNamespace, value: Data) -> None:
    assert told(solution.fresh(value)) == told(value)
    args, kwargs = solution.both(value, key=value, **{"": value})
    assert told(args) == told((value,))
    assert told(kwargs) == told({"key": value, "": value})


def test_what_the_candidate_has(solution: SimpleNamespace) -> None:
    assert not hasattr(solution, "missing")
    assert solution.Alias is KeyError
    assert solution.TooLow.__mro__[1:4] == (solution.Base, ValueError, Exception)
    assert (solution.fresh.__name__, solution.TooLow.__name__) == ("fresh", "TooLow")


def test_a_container_that_comes_back_is_the_same_one(solution: SimpleNamespace) -> None:
    inner: list[int] = []
    outer = {"inner": inner, "again": (inner,)}
    assert solution.same(outer) is outer
    assert outer["inner"] is inner
    assert solution.same((inner, 1))[0] is inner
    assert solution.fresh(outer) is not outer


def test_arguments_change_in_place(solution: SimpleNamespace) -> None:
    first, some, data, ends = [1, 2], {1}, bytearray(b"a"), deque([1], 4)
    count, order, plain = Counter("ab"), OrderedDict(a=1, b=2), {1: 2}
    default: defaultdict[int, list[int]] = defaultdict(list)
    listed = [first]
    whole = {
        "list": listed,
        "set": some,
        "bytes": data,
        "deque": ends,
        "count": count,
        "map": plain,
        "default": default,
        "order": order,
    }
    assert solution.change(whole) is first
    assert whole["list"] is listed
    assert listed == [[1, 2, 3], [1, 2, 3]]
    assert listed[0] is listed[1] is first
    assert (some, bytes(data), list(ends), plain) == ({1, 9}, b"zz", [0, 1], {})
    assert (count, list(order), default) == (Counter({"a": 2, "b": 1}), ["b", "a"], {5: [1]})
    assert [type(item) for item in whole.values()] == [
        list,
        set,
        bytearray,
        deque,
        Counter,
        dict,
        defaultdict,
        OrderedDict,
    ]


def test_arguments_change_when_it_raises_as_well(solution: SimpleNamespace) -> None:
    items: list[int] = []
    with pytest.raises(LookupError, match="half way"):
        solution.fail_in_middle(items)
    assert items == [1]


def test_what_the_candidate_keeps_stays_the_same(solution: SimpleNamespace) -> None:
    mine = [1]
    solution.keep(mine)
    mine.append(2)
    assert solution.last() is mine
    solution.touch()
    assert mine == [1, 2, "touched"]
    mine.clear()
    assert solution.last() == []
    first = solution.grow(1)
    second = solution.grow(2)
    assert first is second
    assert first == [1, 2]
    first.append(3)
    assert solution.grow(4) == [1, 2, 3, 4]
    held = solution.held_in_a_tuple()
    solution.grow_the_held()
    assert held == ([1],)
    assert solution.cached(1) is solution.cached(1)


def test_what_it_does_not_keep_is_forgotten(solution: SimpleNamespace) -> None:
    before = len(solution.channel._known.objects)
    for n in range(100):
        assert solution.closure(5) == [0, 1, 2, 3, 4]
        assert solution.fresh([[n], {"k": [n]}]) == [[n], {"k": [n]}]
        with pytest.raises(LookupError):
            solution.fail_in_middle([n])
    # Functions that call themselves hold what they use until the garbage collector comes.
    assert len(solution.channel._known.objects) <= before + 64


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        *(
            ("ValueError", ("no", 1)),
            ("KeyError", ("k",)),
            ("KeyError", ()),
            ("StopIteration", (3,)),
            ("Exception", ()),
        ),
        *(("ZeroDivisionError", ("by",)), ("UnicodeDecodeError", ("utf-8", b"\xff", 0, 1, "bad")), ("Warning", ("w",))),
        *(("FileNotFoundError", (2, "gone")), ("OSError", ("just text",)), ("SyntaxError", ("s", ("f", 1, 2, "t")))),
        *(("AssertionError", ([1, {"k": 2}],)), ("TimeoutError", ()), ("ImportError", ("i",)), ("MemoryError", ())),
    ],
)
def test_builtin_exceptions(solution: SimpleNamespace, kind: str, args: tuple[Data, ...]) -> None:
    expected = vars(__import__("builtins"))[kind](*args)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        solution.fail(kind, *args)
    assert type(caught.value) is type(expected)
    assert (caught.value.args, str(caught.value)) == (expected.args, str(expected))


def test_exceptions_of_its_own(solution: SimpleNamespace) -> None:
    for kind in (solution.TooLow, solution.Base, ValueError, Exception):
        with pytest.raises(kind, match=r"^-1 is below 0$") as caught:
            solution.fail("TooLow", -1)
        assert type(caught.value) is solution.TooLow
        assert caught.value.args == (-1,)
        assert (caught.value.value, caught.value.least) == (-1, 0)
        assert set(vars(caught.value)) == {"value", "least", "_said"}
    with pytest.raises(solution.Base, match="h") as hidden:
        solution.fail("Hidden", "h")
    assert type(hidden.value).__name__ == "Hidden"
    assert not isinstance(hidden.value, solution.TooLow)
    with pytest.raises(solution.Alias):
        solution.fail("KeyError")


def test_exceptions_that_are_not_only_plain(solution: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="object object at"):
        solution.fail_oddly()
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '/nowhere/at all'"):
        solution.open_missing()
    with pytest.raises(ValueError, match=r"Expecting value: line 1 column 1 \(char 0\)"):
        solution.parse("x")
    with pytest.raises(UnicodeDecodeError, match="can't decode byte 0xff in position 0"):
        solution.decode(b"\xff")
    with pytest.raises(RecursionError):
        solution.recurse()
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        solution.fresh()


def test_iterators_go_step_by_step(solution: SimpleNamespace) -> None:
    assert list(solution.count(3)) == [0, 1, 2]
    endless = solution.forever()
    assert [next(endless) for _ in range(3)] == [0, 1, 2]
    late = solution.fail_late()
    assert next(late) == 1
    with pytest.raises(solution.TooLow, match="3 is below"):
        next(late)
    with pytest.raises(StopIteration):
        next(late)
    one, two = solution.count(2), solution.count(2)
    assert list(zip(one, two, strict=True)) == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("name", "argument", "why"),
    [
        *(("odd", "object", "returned a object"), ("odd", "class", "a type"), ("odd", "nested", "a object")),
        *(("odd", "lambda", "a function"), ("odd", "keys", "a dict_keys"), ("odd", "iterator", "a list_iterator")),
        *(
            ("odd", "named", "a Point"),
            ("odd", "deep", "levels"),
            ("odd", "large", "8 MiB"),
            ("leave", "SystemExit", "SystemExit"),
        ),
        *(
            ("leave", "KeyboardInterrupt", "raised"),
            ("leave", "GeneratorExit", "raised"),
            ("leave", "BaseException", "raised"),
        ),
    ],
)
def test_what_is_not_plain_is_no_exception_that_a_test_can_expect(
    solution: SimpleNamespace, name: str, argument: str, why: str
) -> None:
    with pytest.raises(Broken, match=why):
        getattr(solution, name)(argument)
    assert not issubclass(Broken, Exception)
    assert solution.channel._trouble
    assert solution.fresh([1]) == [1]  # the other tests still tell something


def test_groups_are_no_plain_exceptions(solution: SimpleNamespace) -> None:
    with pytest.raises(Broken, match="ExceptionGroup"):
        solution.group()
    with pytest.raises(Broken, match="_grouper"):
        next(solution.groups("ab"))


def test_a_suite_that_makes_the_candidates_exception_itself(solution: SimpleNamespace) -> None:
    with pytest.raises(Broken, match="of its own"):
        solution.TooLow(1)


def test_an_argument_that_is_not_plain_ends_it() -> None:
    with called("def f(x): return 1", "f") as solution:
        with pytest.raises(Broken, match="an argument of f cannot be handed over"):
            solution.f([object()])
        with pytest.raises(Broken):
            solution.f(1)


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        ("import nowhere", "ModuleNotFoundError: No module"),
        ("raise SystemExit(0)", "SystemExit"),
        ("def", "SyntaxError"),
    ],
)
def test_a_candidate_that_cannot_be_imported(candidate: str, why: str) -> None:
    with pytest.raises(Broken, match=f"cannot be imported: {why}"), called(candidate, "f"):
        pass
