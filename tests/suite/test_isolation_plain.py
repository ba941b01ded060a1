"""Plain data over the channel: exactly what was sent, and nothing else from whatever is sent."""

import json
import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflexion.suite.isolation.frames import LARGEST, Data, Ended, packed, read_message
from reflexion.suite.isolation.plain import Irregular, Known, NotPlain, Reader, Writer

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
ZONES = st.sampled_from([None, UTC])
KEYS = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), TEXT, st.binary(max_size=8)),
        *(
            st.decimals(allow_nan=False),
            st.fractions(),
            st.dates(),
            st.datetimes(timezones=ZONES),
            st.times(),
            st.timedeltas(),
        ),
        st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9)),
    ),
    lambda keys: st.one_of(st.lists(keys, max_size=3).map(tuple), st.frozensets(keys, max_size=3)),
    max_leaves=6,
)


def _containers(values: st.SearchStrategy[Data]) -> st.SearchStrategy[Data]:
    mappings = st.dictionaries(KEYS, values, max_size=3)
    factories = st.sampled_from([None, int, list, dict, set, str, float])
    lists = st.lists(values, max_size=4)
    return st.one_of(
        *(lists, lists.map(tuple), mappings, mappings.map(OrderedDict), st.builds(defaultdict, factories, mappings)),
        *(
            st.sets(KEYS, max_size=4),
            st.binary(max_size=8).map(bytearray),
            st.builds(Counter, st.lists(KEYS, max_size=3)),
        ),
        st.builds(deque, lists, st.one_of(st.none(), st.integers(4, 9))),
    )


PLAIN = st.recursive(KEYS, _containers, max_leaves=12)
HUGE = 10**5000


def told(value: Data) -> Data:
    """All that can be seen of a value: types, bits of floats, order of dicts; sets as what is in them."""
    kind = type(value)
    if kind is float:
        return kind, math.copysign(1, value), "nan" if math.isnan(value) else value
    if kind is complex:
        return kind, told(value.real), told(value.imag)
    if kind is set or kind is frozenset:
        return kind, sorted(map(repr, map(told, value)))
    if kind is defaultdict:
        return kind, value.default_factory, told(list(value.items()))
    if isinstance(value, dict):
        return kind, told(list(value.items()))
    if isinstance(value, (list, tuple, deque)):
        return kind, getattr(value, "maxlen", 0), [told(item) for item in value]
    return kind, repr(value) if isinstance(value, Decimal) else value, getattr(value, "fold", 0)


def across(value: Data) -> Data:
    """Send a value to the other side, as bytes."""
    left = bytearray(packed(Writer(Known(first=2)).form(value)))

    def receive(size: int) -> bytes:
        part = bytes(left[:size])
        del left[:size]
        return part

    form = read_message(receive)
    assert not left
    return Reader(Known(first=1)).value(form)


@settings(max_examples=200, deadline=None)
@given(PLAIN)
@example("\ud800\udc00")
@example(["\ud83d\ude00", "\U0001f600"])
@example([HUGE, -HUGE, 10**17, -(10**17), 10**17 - 1, 0])
@example([math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324])
@example({1: "a", "1": 1, 1.5: None, (1, (2,)): True, frozenset({1}): b"\0"})
@example([True, 1, 1.0, Decimal("1.0"), Fraction(1)])
@example([Decimal("sNaN"), Decimal("-0E+5"), datetime(2000, 1, 1, fold=1, tzinfo=UTC), time(1, fold=1)])
@example([date.max, timedelta.min, timedelta.max])
def test_what_arrives_is_what_was_sent(value: Data) -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert told(across(value)) == told(value)
    finally:
        sys.set_int_max_str_digits(limit)


def test_one_container_stays_one_and_holds_itself_if_it_did() -> None:
    inner: list[Data] = [1]
    value = across([inner, inner, (inner,), {"k": inner}])
    assert value[0] is value[1] is value[2][0] is value[3]["k"]
    inner.append(inner)
    (held,) = across([inner])
    assert held[1] is held
    assert held[0] == 1


class Number(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Text(str):
    __slots__ = ()


class Mapping(dict[Data, Data]):
    pass


class Point(NamedTuple):
    x: int


class Lying:
    @property
    def __class__(self) -> type:
        return int

    @__class__.setter
    def __class__(self, kind: type) -> None:
        pass


@pytest.mark.parametrize(
    "value",
    [
        *(Number(1), Text("x"), Mapping(), Point(1), Lying(), object(), int, len, iter([]), (i for i in [1]), Ellipsis),
        *(defaultdict(lambda: 1), datetime.now(timezone(timedelta(hours=1))), memoryview(b""), {}.keys()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_plain_is_not_sent(value: Data) -> None:
    for holder in (value, [value], (1, (value,)), {"k": value}, {"k": [1, value]}):
        with pytest.raises(NotPlain):
            across(holder)


def test_too_deep_and_too_much_is_not_sent() -> None:
    deep: list[Data] = []
    for _ in range(150):
        deep = [deep]
    for value in (deep, [0] * 500_000):
        with pytest.raises(NotPlain, match="data of more than"):
            across(value)
    with pytest.raises(ValueError, match="more than 8 MiB"):
        across("x" * (LARGEST + 1))


FORMS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 10**17), TEXT, st.sampled_from(list("ifcbRDFdThytzlmsaOCEqr"))),
    lambda forms: st.one_of(
        st.lists(forms, max_size=5),
        st.tuples(st.sampled_from(list("ifcbRDFdThytzlmsaOCEqr")), st.integers(-2, 9), forms, forms).map(list),
    ),
    max_leaves=12,
)
KINDS = {
    *(type(None), bool, int, float, complex, str, bytes, bytearray, range, list, tuple, dict, set, frozenset),
    *(Counter, OrderedDict, defaultdict, deque, Decimal, Fraction, date, datetime, time, timedelta),
}


def kinds_in(value: Data, seen: set[int]) -> set[type]:
    """The types of all that is in a value."""
    if id(value) in seen:
        return set()
    seen.add(id(value))
    inner: list[Data] = []
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        inner = list(value)
    return {type(value)}.union(*(kinds_in(item, seen) for item in inner))


@settings(max_examples=300, deadline=None)
@given(FORMS)
@example(["l", 1, None, ["r", 1]])
@example(["E", 1, "list", "k", ["l", 3, None]])
def test_no_form_makes_anything_but_plain_data(form: Data) -> None:
    known = Known(first=2)
    try:
        value = Reader(known).value(form)
    except Exception:  # noqa: BLE001 (as the channel does)
        return
    assert kinds_in(value, set()) <= KINDS


@pytest.mark.parametrize(
    "form",
    [
        *(
            1.5,
            {},
            [],
            [[]],
            [1],
            ["x"],
            ["i"],
            ["i", "0x1"],
            ["i", "1_0"],
            ["i", "01"],
            ["i", "-0"],
            ["i", " 1"],
            ["i", 1],
        ),
        *(["i", "F"], ["f", "00"], ["f", "7FF0000000000000"], ["f", "nan"], ["b", "0 0"], ["b", "AA"], ["b", "0"]),
        *(
            ["z", 1, 1],
            ["z", True, 1],
            ["z", ["l", 1, None]],
            ["s", 1, None, 1, 1],
            ["m", 1, None, 1],
            ["m", 1, None, 1, 2, 1, 2],
        ),
        *(["l", 2, None], ["l", 0, None], ["l", -1, None], ["l", True, None], ["l", 1, 5], ["l", 1], ["l", "1", None]),
        *(["t", ["l", 1, None], ["l", 1, None]], ["r", 1], ["r", True], ["r", 1, 2], ["r", "1"], ["r", []]),
        *(["E", 1, "eval"], ["E", 1, 5], ["E", 1, []], ["q", 1, -1], ["q", 1, 1, 1, 2], ["q", 1, "x"], ["q", 1, True]),
        *(
            ["D", "x"],
            ["D", " 1"],
            ["D", "1_0"],
            ["D", 1],
            ["F", "1", "0"],
            ["F", "2", "4"],
            ["F", "1"],
            ["R", "1", "2", "0"],
        ),
        *(["d", 0, 1, 1], ["d", "2000", 1, 1], ["T", 2000, 1, 1, 0, 0, 0, 0, 2, None], ["h", 1, 1, 1, 1, 0, "gmt"]),
        *(["y", 0, 86400, 0], ["y", 10**12, 0, 0], ["c", "0", "0"], ["a", 1, None, "zz"], ["a", 1, None], ["t", 1.5]),
    ],
    ids=repr,
)
def test_a_form_that_is_none(form: Data) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (whatever it is, the channel is closed for it)
        Reader(Known(first=2)).value(form)
    assert isinstance(caught.value, (Irregular, ValueError, TypeError, LookupError, ArithmeticError))


def bytes_of(text: bytes) -> Data:
    parts = [len(text).to_bytes(4, "big"), text]
    return lambda size: parts.pop(0) if parts else b""


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"x", b"[", b"[1", b"NaN", b"Infinity", b"-Infinity", b"1.5", b"1e5", b"{}", b'{"a": 1}', b"[1] [2]"),
        *(
            b"\xff",
            b'"\xff"',
            b"1" * 30,
            b"[" * 100_000,
            b"[" * 500 + b"]" * 500 + b"x",
            b"[1,]",
            b"'a'",
            b"[" + b"," * 3_000_000,
        ),
    ],
    ids=lambda text: text[:12],
)
def test_a_message_that_is_none(text: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read_message(bytes_of(text))


def test_a_message_that_ends_early_or_is_too_long() -> None:
    for parts in ([], [b"\0\0"], [b"\0\0\0\5", b"[1"]):
        with pytest.raises(Ended):
            read_message(lambda size, left=list(parts): left.pop(0) if left else b"")  # type: ignore[misc]
    with pytest.raises(ValueError, match="too long"):
        read_message(lambda size: b"\xff\xff\xff\xff")


@settings(max_examples=300)
@given(st.binary(max_size=40))
def test_no_bytes_do_anything_else(text: bytes) -> None:
    try:
        message = read_message(bytes_of(text))
    except (ValueError, RecursionError, Ended):
        return
    json.dumps(message)
