"""Twenty small modules, each with its tests and one bug of a kind that public trackers are full of."""

import re
from typing import NamedTuple

# What an expression has to be; an exception's name says that it is raised.
Cases = tuple[tuple[str, str], ...]


class Bug(NamedTuple):
    """A module that is right, and the edit that plants the bug. ``hidden`` cases are never shown to a model."""

    kind: str
    name: str
    right: str
    edit: tuple[str, str]
    cases: Cases
    hidden: Cases

    @property
    def wrong(self) -> str:
        """The module with its bug."""
        assert self.right.count(self.edit[0]) == 1, self.kind
        return self.right.replace(*self.edit)

    def suite(self, *, hidden: bool = False) -> str:
        """A pytest file with a test for each case, and one for the hidden ones where they are wanted."""
        known = re.findall(r"^def (\w+)", self.right, re.MULTILINE)
        used = [name for name in known if any(f"{name}(" in call for call, _ in (*self.cases, *self.hidden))]
        lines = ["import pytest", "", f"from solution import {', '.join(used)}", ""]
        for number, (call, expected) in enumerate(self.hidden if hidden else self.cases, 1):
            lines += ["", f"def test_{number}():"]
            if expected.isidentifier() and expected.endswith("Error"):
                lines += [f"    with pytest.raises({expected}):", f"        {call}", ""]
            else:
                lines += [f"    assert {call} == {expected}", ""]
        return "\n".join(lines)


BUGS = (
    Bug(
        "off by one at the end",
        "countdown",
        "def countdown(start):\n    return list(range(start, -1, -1))\n",
        ("-1, -1)", "0, -1)"),
        (("countdown(3)", "[3, 2, 1, 0]"), ("countdown(0)", "[0]"), ("countdown(-2)", "[]")),
        (("countdown(1)", "[1, 0]"), ("countdown(5)", "[5, 4, 3, 2, 1, 0]")),
    ),
    Bug(
        "off by one in pages",
        "pages",
        "def pages(items, size):\n    if size < 1:\n"
        "        raise ValueError('size')\n    return (items + size - 1) // size\n",
        ("(items + size - 1) // size", "items // size"),
        (("pages(10, 3)", "4"), ("pages(9, 3)", "3"), ("pages(0, 3)", "0"), ("pages(1, 0)", "ValueError")),
        (("pages(1, 10)", "1"), ("pages(11, 10)", "2")),
    ),
    Bug(
        "wrong comparison at a boundary",
        "grade",
        "def grade(points):\n    if points >= 90:\n        return 'A'\n    return 'B' if points >= 60 else 'C'\n",
        ("points >= 90", "points > 90"),
        (("grade(90)", "'A'"), ("grade(89)", "'B'"), ("grade(59)", "'C'")),
        (("grade(91)", "'A'"), ("grade(60)", "'B'"), ("grade(0)", "'C'")),
    ),
    Bug(
        "comparison turned round",
        "largest",
        "def largest(values):\n    best = values[0]\n    for value in values:\n"
        "        if value > best:\n            best = value\n"
        "    return best\n",
        ("value > best", "value < best"),
        (("largest([1, 5, 2])", "5"), ("largest([-3, -1])", "-1"), ("largest([])", "IndexError")),
        (("largest([7])", "7"), ("largest([2, 2, 1])", "2")),
    ),
    Bug(
        "swallowed exception",
        "to_int",
        "def to_int(text):\n    try:\n        return int(text)\n    except TypeError:\n        return None\n",
        ("except TypeError", "except Exception"),
        (("to_int('4')", "4"), ("to_int(None)", "None"), ("to_int('x')", "ValueError")),
        (("to_int(' 7 ')", "7"), ("to_int('')", "ValueError")),
    ),
    Bug(
        "mutable default",
        "collect",
        "def collect(value, into=None):\n    into = [] if into is None else into\n"
        "    into.append(value)\n    return into\n",
        ("into=None):\n    into = [] if into is None else into\n", "into=[]):\n"),
        (("[collect(1), collect(2)]", "[[1], [2]]"), ("collect(3, [1])", "[1, 3]")),
        (("[collect('a'), collect('b'), collect('c')]", "[['a'], ['b'], ['c']]"),),
    ),
    Bug(
        "input changed in place",
        "sorted_copy",
        "def sorted_copy(values):\n    values = list(values)\n    values.sort()\n    return values\n",
        ("values = list(values)\n", "pass\n"),
        (("sorted_copy([2, 1])", "[1, 2]"), ("sorted_copy((3, 1))", "[1, 3]")),
        (("sorted_copy((2,))", "[2]"), ("sorted_copy(())", "[]")),
    ),
    Bug(
        "and for or",
        "is_weekend",
        "def is_weekend(day):\n    name = day.lower()\n    return name == 'saturday' or name == 'sunday'\n",
        (" or ", " and "),
        (("is_weekend('Saturday')", "True"), ("is_weekend('monday')", "False"), ("is_weekend(1)", "AttributeError")),
        (("is_weekend('SUNDAY')", "True"), ("is_weekend('')", "False")),
    ),
    Bug(
        "integer division",
        "mean",
        "def mean(values):\n    if not values:\n"
        "        raise ValueError('no values')\n    return sum(values) / len(values)\n",
        ("sum(values) / len", "sum(values) // len"),
        (("mean([1, 2])", "1.5"), ("mean([4])", "4"), ("mean([])", "ValueError")),
        (("mean([1, 1, 2, 2])", "1.5"), ("mean([-1, 0])", "-0.5")),
    ),
    Bug(
        "empty input forgotten",
        "longest",
        "def longest(words):\n    return max((len(word) for word in words), default=0)\n",
        (", default=0", ""),
        (("longest(['a', 'bcd'])", "3"), ("longest([])", "0"), ("longest([1])", "TypeError")),
        (("longest([''])", "0"), ("longest(())", "0")),
    ),
    Bug(
        "zero taken for missing",
        "price",
        "def price(amount, discount=None):\n    rate = 10 if discount is None else discount\n"
        "    return amount - amount * rate // 100\n",
        ("10 if discount is None else discount", "discount or 10"),
        (("price(200)", "180"), ("price(200, 0)", "200"), ("price(200, 50)", "100")),
        (("price(100, 0)", "100"), ("price(100, 100)", "0")),
    ),
    Bug(
        "early return in a loop",
        "all_positive",
        "def all_positive(values):\n    for value in values:\n"
        "        if value <= 0:\n            return False\n    return True\n",
        ("            return False\n    return True", "            return False\n        return True"),
        (("all_positive([1, 2])", "True"), ("all_positive([1, -2])", "False"), ("all_positive([])", "True")),
        (("all_positive([1, 1, 0])", "False"), ("all_positive([-1])", "False")),
    ),
    Bug(
        "late binding",
        "adders",
        "def adders(count):\n    return [lambda value, step=step: value + step for step in range(count)]\n\n\n"
        "def applied(count, value):\n    return [add(value) for add in adders(count)]\n",
        ("value, step=step:", "value:"),
        (("applied(3, 10)", "[10, 11, 12]"), ("applied(0, 1)", "[]")),
        (("applied(2, -1)", "[-1, 0]"),),
    ),
    Bug(
        "list multiplied",
        "grid",
        "def grid(rows, columns):\n    made = [[0] * columns for _ in range(rows)]\n    if rows and columns:\n"
        "        made[0][0] = 1\n    return made\n",
        ("[[0] * columns for _ in range(rows)]", "[[0] * columns] * rows"),
        (("grid(2, 2)", "[[1, 0], [0, 0]]"), ("grid(0, 2)", "[]")),
        (("grid(3, 1)", "[[1], [0], [0]]"), ("grid(1, 0)", "[[]]")),
    ),
    Bug(
        "removed while iterating",
        "without",
        "def without(values, unwanted):\n    values = list(values)\n"
        "    for value in list(values):\n        if value == unwanted:\n"
        "            values.remove(value)\n    return values\n",
        ("in list(values):", "in values:"),
        (("without([1, 1, 2], 1)", "[2]"), ("without([], 1)", "[]"), ("without([3], 1)", "[3]")),
        (("without([1, 1, 1, 1], 1)", "[]"), ("without([2, 1, 1], 1)", "[2]")),
    ),
    Bug(
        "string method's result dropped",
        "slug",
        "def slug(title):\n    title = title.strip().lower()\n    title = title.replace(' ', '-')\n    return title\n",
        ("title = title.replace", "title.replace"),
        (("slug(' A B ')", "'a-b'"), ("slug('x')", "'x'"), ("slug('')", "''"), ("slug(1)", "AttributeError")),
        (("slug('One Two Three')", "'one-two-three'"),),
    ),
    Bug(
        "operator precedence",
        "celsius",
        "def celsius(fahrenheit):\n    return (fahrenheit - 32) * 5 / 9\n",
        ("(fahrenheit - 32) * 5", "fahrenheit - 32 * 5"),
        (("celsius(212)", "100"), ("celsius(32)", "0"), ("celsius(None)", "TypeError")),
        (("celsius(-40)", "-40"), ("celsius(50)", "10")),
    ),
    Bug(
        "key that may be missing",
        "counts",
        "def counts(words):\n    found = {}\n    for word in words:\n"
        "        found[word] = found.get(word, 0) + 1\n    return found\n",
        ("found.get(word, 0) + 1", "1"),
        (("counts(['a', 'b', 'a'])", "{'a': 2, 'b': 1}"), ("counts([])", "{}")),
        (("counts('xx')", "{'x': 2}"), ("counts(['q'])", "{'q': 1}")),
    ),
    Bug(
        "shallow copy",
        "with_tag",
        "import copy\n\n\ndef with_tag(record, tag):\n    made = copy.deepcopy(record)\n"
        "    made['tags'].append(tag)\n    return made\n\n\n"
        "def pair(record, tag):\n    return [with_tag(record, tag), record]\n",
        ("copy.deepcopy(record)", "copy.copy(record)"),
        (("pair({'tags': []}, 1)", "[{'tags': [1]}, {'tags': []}]"), ("pair({}, 1)", "KeyError")),
        (("pair({'tags': [0]}, 1)", "[{'tags': [0, 1]}, {'tags': [0]}]"),),
    ),
    Bug(
        "leap years of centuries",
        "is_leap",
        "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
        (" and (year % 100 != 0 or year % 400 == 0)", ""),
        (("is_leap(2024)", "True"), ("is_leap(1900)", "False"), ("is_leap(2000)", "True"), ("is_leap(2023)", "False")),
        (("is_leap(2100)", "False"), ("is_leap(1600)", "True"), ("is_leap(2)", "False")),
    ),
)
