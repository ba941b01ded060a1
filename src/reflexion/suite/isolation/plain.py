"""Plain data as JSON, with its exact types, both ways. Runs on both sides, with the standard library alone.

A form is what JSON has for a value. None, bool, str and small int stand for themselves; all else is a list that
begins with a tag. Containers that can change have a number, under which both sides know them: the sender of a new one
gives it, trusted even ones, the candidate odd ones. ``["r", number]`` is one that is known. So a container that stands
twice comes back as one, and what a function does to its arguments can be done to the caller's.
"""

import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

from .frames import Data

DEPTH = 100
NODES = 400_000
SMALL = 10**17
KNOWN = "r"
FACTORIES: dict[str | None, Data] = {None: None}
FACTORIES |= {kind.__name__: kind for kind in (int, float, str, bool, bytes, list, dict, set, tuple)}


class NotPlain(Exception):
    """A value that cannot be handed over; the text begins with what it is."""


class Irregular(Exception):
    """What came is no form of a value."""


def _time_parts(value: datetime | time) -> list[Data]:
    if value.tzinfo is not None and value.tzinfo is not UTC:
        raise NotPlain(f"a {type(value).__name__} with a time zone other than timezone.utc")
    clock = [value.hour, value.minute, value.second, value.microsecond, value.fold]
    return [*clock, None if value.tzinfo is None else "utc"]


def _zone(word: object) -> timezone | None:
    return {None: None, "utc": UTC}[word]  # type: ignore[index]


def _bits(value: float) -> str:
    return struct.pack(">d", value).hex()


def _float(bits: Data) -> float:
    if len(bits) != 16:
        raise Irregular("a float of another length")
    value: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return value


# Values that cannot change, of more than one part: how each is taken apart, and made again.
_TAKE: dict[type, tuple[str, Callable[[Data], list[Data]]]] = {
    int: ("i", lambda v: [format(v, "x")]),
    float: ("f", lambda v: [_bits(v)]),
    complex: ("c", lambda v: [_bits(v.real), _bits(v.imag)]),
    bytes: ("b", lambda v: [v.hex()]),
    range: ("R", lambda v: [format(part, "x") for part in (v.start, v.stop, v.step)]),
    Decimal: ("D", lambda v: [str(v)]),
    Fraction: ("F", lambda v: [format(v.numerator, "x"), format(v.denominator, "x")]),
    date: ("d", lambda v: [v.year, v.month, v.day]),
    datetime: ("T", lambda v: [v.year, v.month, v.day, *_time_parts(v)]),
    time: ("h", _time_parts),
    timedelta: ("y", lambda v: [v.days, v.seconds, v.microseconds]),
}
_MAKE: dict[str, tuple[type, Callable[..., Data]]] = {
    "i": (int, lambda text: int(text, 16)),
    "f": (float, _float),
    "c": (complex, lambda real, imag: complex(_float(real), _float(imag))),
    "b": (bytes, bytes.fromhex),
    "R": (range, lambda *parts: range(*(int(part, 16) for part in parts))),
    "D": (Decimal, Decimal),
    "F": (Fraction, lambda above, below: Fraction(int(above, 16), int(below, 16))),
    "d": (date, date),
    "T": (datetime, lambda y, m, d, h, i, s, u, fold, zone: datetime(y, m, d, h, i, s, u, _zone(zone), fold=fold)),
    "h": (time, lambda h, i, s, u, fold, zone: time(h, i, s, u, _zone(zone), fold=fold)),
    "y": (timedelta, timedelta),
}
_ITEMS: dict[type, str] = {tuple: "t", frozenset: "z"}
_CHANGING: dict[type, str] = {
    list: "l",
    dict: "m",
    set: "s",
    bytearray: "a",
    OrderedDict: "O",
    Counter: "C",
    defaultdict: "E",
    deque: "q",
}
_EMPTY: dict[str, Callable[[Data], Data]] = {
    "E": lambda head: defaultdict(FACTORIES[head]),
    "q": lambda head: deque(maxlen=head),
}
_KINDS = {tag: kind for kind, tag in _CHANGING.items()}
_DICTS = (dict, OrderedDict, Counter, defaultdict)


class Known:
    """The containers that one side knows by number. ``first`` is the first number it gives itself."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._numbers: dict[int, int] = {}
        self.objects: dict[int, Data] = {}

    def number(self, container: object) -> int | None:
        """Return the container's number, None when it has none."""
        return self._numbers.get(id(container))

    def new(self, container: object) -> int:
        """Give the container a number."""
        number = self._next
        self._next += 2
        self.add(number, container)
        return number

    def add(self, number: int, container: object) -> None:
        """Take the container under the other side's number."""
        self.objects[number] = container
        self._numbers[id(container)] = number

    def is_foreign(self, number: object) -> bool:
        """Return whether the other side may give this number now."""
        return type(number) is int and number > 0 and number % 2 != self._next % 2 and number not in self.objects

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all containers but these."""
        self.objects = {number: self.objects[number] for number in sorted(numbers)}
        self._numbers = {id(container): number for number, container in self.objects.items()}


class Writer:
    """Makes forms of values. One for a message."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._left = NODES

    def form(self, value: Data, depth: int = 0) -> Data:
        """Return the form of a value. Raises NotPlain."""
        kind = type(value)
        self._left -= 1
        if self._left < 0 or depth > DEPTH:
            raise NotPlain(f"data of more than {DEPTH} levels or {NODES} values")
        if value is None or kind is bool or kind is str or (kind is int and -SMALL < value < SMALL):
            return value
        if kind in _TAKE:
            tag, take = _TAKE[kind]
            return [tag, *take(value)]
        if kind in _ITEMS:
            return [_ITEMS[kind], *(self.form(item, depth + 1) for item in value)]
        if kind in _CHANGING:
            return self._container(value, depth)
        raise NotPlain(f"a {kind.__qualname__}")

    def _container(self, value: Data, depth: int) -> list[Data]:
        number = self._known.number(value)
        if number is not None:
            return [KNOWN, number]
        number = self._known.new(value)
        return [_CHANGING[type(value)], number, *self.content(value, depth)]

    def content(self, value: Data, depth: int = 0) -> list[Data]:
        """Return what is in a container, as forms; first what does not change, or None."""
        kind = type(value)
        if kind is bytearray:
            return [None, value.hex()]
        head = None
        if kind is defaultdict:
            head = _factory_name(value.default_factory)
        elif kind is deque:
            head = value.maxlen
        flat = _flat(value) if kind in _DICTS else value
        return [head, *(self.form(item, depth + 1) for item in flat)]


def _flat(mapping: dict[Data, Data]) -> Iterator[Data]:
    for key, value in mapping.items():
        yield key
        yield value


def _factory_name(factory: object) -> str | None:
    for name, known in FACTORIES.items():
        if factory is known:
            return name
    raise NotPlain("a defaultdict with a factory of its own")


class Reader:
    """Makes values of forms that nobody vouches for. One for a message; ``known`` changes as it reads.

    Raises Irregular, or whatever Python raises for a form that is none: the caller takes every exception for that.
    """

    def __init__(self, known: Known) -> None:
        self._known = known

    def value(self, form: Data, depth: int = 0) -> Data:
        """Return the value of a form."""
        if form is None or type(form) in (bool, str, int):
            return form
        if type(form) is not list or depth > DEPTH + 1:
            raise Irregular("neither a form nor flat enough")
        tag, *rest = form
        if type(tag) is not str:
            raise Irregular("a form without a tag")
        if tag == KNOWN:
            (number,) = rest
            return self._known.objects[number]
        if tag in _MAKE:
            return _made(tag, rest)
        items = [self.value(item, depth + 1) for item in rest] if tag in ("t", "z") else []
        if tag == "t":
            return tuple(items)
        if tag == "z":
            return _whole(frozenset(items), len(items))
        return self._container(tag, rest, depth)

    def _container(self, tag: str, rest: list[Data], depth: int) -> Data:
        number, head, *forms = rest
        kind = _KINDS[tag]
        if not self._known.is_foreign(number):
            raise Irregular("a number that is not to be given")
        container = _EMPTY[tag](head) if tag in _EMPTY else kind()
        self._known.add(number, container)
        self.content([head, *forms], container, depth)()
        return container

    def content(self, forms: Data, container: Data, depth: int = 0) -> Callable[[], None]:
        """Read what is to be in a container; what comes back puts it there."""
        head, *rest = forms
        _same_head(container, head)
        kind = type(container)
        if kind is bytearray:
            (text,) = rest
            return lambda: _fill(container, bytes.fromhex(text))
        items = [self.value(form, depth + 1) for form in rest]
        if kind in _DICTS:
            if len(items) % 2:
                raise Irregular("a key without a value")
            mapping = dict(zip(items[::2], items[1::2], strict=True))
            _whole(mapping, len(items) // 2)
            return lambda: _fill(container, mapping)
        if kind is set:
            _whole(set(items), len(items))
        if kind is deque and container.maxlen is not None and len(items) > container.maxlen:
            raise Irregular("more than a deque takes")
        return lambda: _fill(container, items)


def _whole(container: Data, size: int) -> Data:
    if len(container) != size:
        raise Irregular("equal keys")
    return container


def _made(tag: str, parts: list[Data]) -> Data:
    kind, make = _MAKE[tag]
    if not all(part is None or type(part) in (int, str) for part in parts):
        raise Irregular("a part that is neither a number nor a text")
    value = make(*parts)
    if type(value) is not kind or _TAKE[kind][1](value) != parts:
        raise Irregular(f"a {kind.__name__} written in another way")
    return value


def _same_head(container: Data, head: object) -> None:
    own: Data = None
    if type(container) is defaultdict:
        own = _factory_name(container.default_factory)
    elif type(container) is deque:
        own = container.maxlen
    if type(head) is not type(own) or head != own:
        raise Irregular("a container of another make")


def _fill(container: Data, content: Data) -> None:
    kind = type(container)
    if kind in (list, bytearray):
        container[:] = content
        return
    container.clear()
    if kind is deque:
        container.extend(content)
    elif kind is Counter:
        dict.update(container, content)
    else:
        container.update(content)
