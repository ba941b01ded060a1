"""What a suite may use and still be isolated."""

import builtins
import re
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from random import Random

from reflexion.suite.isolation.proxy import EXCEPTIONS

ANY: frozenset[str] | None = None

MODULES: dict[str, frozenset[str] | None] = {
    "__future__": ANY,
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
    "copy": frozenset({"copy", "deepcopy"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "decimal": frozenset({"Decimal"}),
    "fractions": frozenset({"Fraction"}),
    "itertools": ANY,
    "json": frozenset({"dumps", "loads"}),
    "math": ANY,
    # Not is_ and the getters of attributes: they ask what is not asked by an operator.
    "operator": frozenset({"add", "eq", "ge", "gt", "itemgetter", "le", "lt", "mul", "ne", "sub", "truediv"}),
    # Not seed, getstate, setstate: they would reach what the candidate has of its own.
    "random": frozenset(
        {"Random", "choice", "choices", "randint", "random", "randrange", "sample", "shuffle", "uniform"}
    ),
    "re": ANY,
    "statistics": ANY,
    "string": ANY,
    "textwrap": ANY,
    "time": frozenset({"monotonic", "perf_counter", "sleep", "time"}),
    "typing": ANY,
    "pytest": frozenset({"approx", "fail", "fixture", "mark", "param", "raises"}),
}
"""What may be imported, and which of its names; None: all that is public."""

NOT_USED = frozenset(
    {
        *("BaseException", "BaseExceptionGroup", "ExceptionGroup", "GeneratorExit", "KeyboardInterrupt", "SystemExit"),
        *("breakpoint", "compile", "eval", "exec", "help", "input", "open", "memoryview", "object", "super"),
        *("callable", "delattr", "dir", "getattr", "globals", "hasattr", "id", "locals", "setattr", "vars"),
        *("classmethod", "property"),
    }
)
"""Names of builtins that would show what is not the same, or catch what must not be caught."""

TYPES = frozenset(name for name, kind in vars(builtins).items() if isinstance(kind, type) and name not in EXCEPTIONS)

_PLAIN: tuple[type, ...] = (
    *(str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range),
    *(Counter, OrderedDict, defaultdict, deque, Decimal, Fraction, date, datetime, time, timedelta, timezone),
    *(Random, re.Match, re.Pattern),
)
_PUBLIC = {name: getattr(kind, name) for kind in _PLAIN for name in dir(kind) if not name.startswith("_")}
METHODS = frozenset(name for name, item in _PUBLIC.items() if callable(item))
"""What may be called of a value."""
FIELDS = frozenset({*_PUBLIC, "args"} - METHODS)
"""What else may be asked of a value: of plain data, and of an exception."""
RAISED = frozenset({"match", "type", "typename", "value"})
"""What may be asked of what pytest.raises gives."""
