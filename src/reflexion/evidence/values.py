"""Whether a value that a document states (a default, a constant) is the source's. Pure functions on texts."""

import ast
import math
import re
from collections.abc import Mapping

from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.facts import Facts, Parameter
from reflexion.evidence.types import Verdict
from reflexion.patterns import regex

_UNREADABLE = object()
_MAX_POWER = 10_000

EMPTY_WORDS = {
    "empty string": "''", "an empty string": "''", "empty list": "[]", "an empty list": "[]", "empty dict": "{}",
    "an empty dict": "{}", "empty dictionary": "{}", "an empty dictionary": "{}", "empty tuple": "()",
    "an empty tuple": "()", "empty set": "set()", "an empty set": "set()", "none": "None", "null": "None",
    "true": "True", "false": "False", "new list": "[]", "a new list": "[]", "new dict": "{}", "a new dict": "{}",
    "a new empty list": "[]", "a new empty dict": "{}", "zero": "0", "one": "1",
}  # fmt: skip
FACTORIES = {"list": "[]", "dict": "{}", "tuple": "()", "str": "''"}
CONSTRUCTORS: dict[str, object] = {
    "list()": [],
    "dict()": {},
    "tuple()": (),
    "str()": "",
    "int()": 0,
    "float()": 0.0,
    "bool()": False,
}

EVALUATED = frozenset({"float", "int", "Decimal", "frozenset", "set", "tuple"})
UNSAID = frozenset({"", "-", "\u2013", "\u2014", "n/a", "na", "...", "…", "optional"})
REQUIRED = frozenset({"required", "no default", "mandatory", "(required)", "*required*", "none (required)"})

_FACTORY = regex(r"^(?:\w+\.)*(?:[Ff]ield|attrib|ib|Factory|Parameter|Query|Option)\((?P<inside>.*)\)$", re.DOTALL)
_NAME = regex(r"^[A-Za-z_][\w.]*$")
_WORD = regex(r"^[A-Za-z0-9_]+(?:[-./][A-Za-z0-9_]+)*$")
_PLAIN_WORD = regex(r"^[\w.\-/:+%*@#, ]*$")


def constant_values(facts: Facts) -> dict[str, str]:
    """The value text of every constant, field and enum member, by qualified and by last name."""
    found: dict[str, str] = {}
    for symbol in facts.walk():
        if symbol.value is not None and symbol.kind in {"constant", "enum member", "field"}:
            found[symbol.qualname] = symbol.value
            if symbol.kind != "field":
                found.setdefault(symbol.name, symbol.value)
    return found


def says_nothing(stated: str | None) -> bool:
    """Whether the text is a filler for "no value given", such as a dash."""
    return stated is None or stated.strip().strip("`").lower() in UNSAID


def says_required(stated: str) -> bool:
    """Whether the text says that there is no default."""
    return stated.strip().strip("`").lower() in REQUIRED


def default_text(parameter: Parameter) -> str | None:
    """The default as a caller meets it: what a factory makes, else the source's text."""
    if parameter.default is None or not parameter.factory:
        return parameter.default
    made = re.fullmatch(r"lambda: (.*)", parameter.default, re.DOTALL)
    return made[1] if made else FACTORIES.get(parameter.default, f"{parameter.default}()")


def compare_values(stated: str, actual: str, constants: Mapping[str, str] | None = None) -> Verdict:
    """Compare the value a document states with the source text of the real one.

    Names of the module's constants stand for their values on either side.
    """
    known = constants or {}
    said, true = _tidy(stated), _unwrap(_tidy(actual))
    if says_nothing(said) or actual.strip() == "...":
        return "vague"
    if _same_text(said, actual) or _same_text(said, true):
        return "same"
    named = _compare_names(said, true)
    if named:
        return named
    options = [_read(text) for text in _meanings(true, known)]
    spoken = [_read(text) for text in _meanings(_unwrap(said), known)]
    if any(_equal(a, b) for a in spoken for b in options):
        return "same"
    measured = _compare_measured(said, options[-1])
    return measured or _without_equality(said, true, spoken, options)


_MEASURED = regex(r"^(-?\d[\d_]*(?:\.\d+)?) (?:(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|ms)$")
_SCALES = (1, 24, 60, 1440, 3600, 86_400)


def _compare_measured(said: str, value: object) -> Verdict | None:
    """Compare "30 seconds" with a number, whose unit nobody knows; numbers that stand for "no limit" say nothing."""
    found = _MEASURED.match(said)
    if not found or not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        return None
    stated = float(found[1].replace("_", ""))
    ratio = max(stated / value, value / stated) if stated > 0 else math.inf
    scaled = any(math.isclose(ratio, scale * 1000**power, rel_tol=1e-9) for scale in _SCALES for power in range(4))
    return "vague" if scaled or not math.isfinite(ratio) else "different"


def _compare_names(said: str, true: str) -> Verdict | None:
    """``RED`` is ``Color.RED`` and ``Color.BLUE`` is not; None where the two are not both such names."""
    if not _NAME.match(said) or not _NAME.match(true) or true in {"None", "True", "False"}:
        return None
    if said.rpartition(".")[2] == true.rpartition(".")[2]:
        return "same"
    owners = (said.rpartition(".")[0], true.rpartition(".")[0])
    return "different" if owners[0] and owners[0] == owners[1] else None


def _without_equality(said: str, true: str, spoken: list[object], options: list[object]) -> Verdict:
    value = next((option for option in options if option is not _UNREADABLE), _UNREADABLE)
    heard = next((word for word in spoken if word is not _UNREADABLE), _UNREADABLE)
    if isinstance(value, str) and _PLAIN_WORD.match(said) and heard is _UNREADABLE:
        return "same" if said == value else _other_word(said, value)
    if heard is _UNREADABLE and value is _UNREADABLE:
        return _compare_expressions(said, true)
    if heard is _UNREADABLE:
        return _prose_or_different(said)
    return "different" if value is not _UNREADABLE else _literal_for_expression(heard, true)


def _other_word(said: str, value: str) -> Verdict:
    """One word against another: a description would not be given for a default that is a word itself."""
    both_words = _WORD.match(said) and _WORD.match(value)
    return "different" if both_words else _prose_or_different(said)


def _literal_for_expression(heard: object, true: str) -> Verdict:
    """A literal is stated where the source has an expression: only a container's display can be judged."""
    tree = parse_expression(true)
    if isinstance(tree, ast.Call | ast.Attribute | ast.Name) or tree is None:
        return "doubtful" if heard is not None else "vague"
    return "different"


def _prose_or_different(said: str) -> Verdict:
    """A code-like text that is no literal contradicts a literal; words may describe it."""
    tree = parse_expression(said)
    if tree is None or (isinstance(tree, ast.Name) and said.islower() and not re.search(r"[_\d]", said)):
        return "vague" if " " in said or tree is None else "doubtful"
    return "different" if isinstance(tree, ast.Name | ast.Attribute | ast.Call) else "doubtful"


def _compare_expressions(said: str, true: str) -> Verdict:
    first, second = parse_expression(said), parse_expression(true)
    if first is None or second is None or " " in said:
        return "vague"
    if isinstance(first, ast.Name | ast.Attribute) and isinstance(second, ast.Name | ast.Attribute):
        return "different"
    return "vague" if type(first) is not type(second) else "doubtful"


def _tidy(text: str) -> str:
    bare = text.strip().strip("`").replace("\\|", "|").replace("“", '"').replace("”", '"').strip()
    bare = re.sub(r"^(?:=|defaults? (?:to|is)\b:?)\s*", "", bare)
    bare = bare.rstrip(",;") if len(bare) > 1 else bare
    if bare.endswith(".") and not re.fullmatch(r"-?\d+\.|\.+", bare):
        bare = bare[:-1]
    return EMPTY_WORDS.get(bare.lower(), bare)


def _unwrap(text: str) -> str:
    """``field(default_factory=list)`` is ``[]``; ``field(default=3)`` is ``3``."""
    match = _FACTORY.match(text)
    tree = parse_expression(text) if match else None
    if not isinstance(tree, ast.Call):
        return text
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in tree.keywords}
    if "default" in given:
        return given["default"]
    factory = given.get("default_factory") or given.get("factory")
    if factory is None:
        return ast.unparse(tree.args[0]) if tree.args else text
    made = re.fullmatch(r"lambda: (.*)", factory, re.DOTALL)
    return made[1] if made else f"{factory}()"


def _meanings(text: str, constants: Mapping[str, str]) -> list[str]:
    """The text itself, and what it stands for when it names a constant of the module."""
    found = [text]
    for _ in range(5):
        name = found[-1].removeprefix("self.").removeprefix("cls.").removesuffix(".value")
        target = constants.get(name) or constants.get(".".join(name.split(".")[-2:]))
        if target is None or target in found:
            break
        found.append(target)
    return found


def _same_text(first: str, second: str) -> bool:
    return _squeeze(first) == _squeeze(second)


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'")


def _read(text: str) -> object:
    """The value of a literal or of arithmetic on literals, or ``_UNREADABLE``."""
    if text in CONSTRUCTORS:
        return CONSTRUCTORS[text]
    if text in {"set()", "frozenset()"}:
        return text
    tree = parse_expression(text)
    try:
        return _UNREADABLE if tree is None else _evaluate(tree)
    except (ValueError, TypeError, ArithmeticError, RecursionError, MemoryError):
        return _UNREADABLE


def _evaluate(tree: ast.expr) -> object:
    if isinstance(tree, ast.BinOp):
        return _arithmetic(tree.op, _evaluate(tree.left), _evaluate(tree.right))
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) in EVALUATED:
        return _constructed(tree)
    return ast.literal_eval(tree)


def _constructed(tree: ast.Call) -> object:
    name = ast.unparse(tree.func)
    if len(tree.args) != 1 or tree.keywords:
        raise ValueError(name)
    value = ast.literal_eval(tree.args[0])
    if name in {"float", "int"} and isinstance(value, str | int | float):
        return float(value) if name == "float" else int(value)
    return (name, repr(value))


def _arithmetic(operator: ast.operator, left: object, right: object) -> object:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        raise TypeError("not numbers")
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Div):
        return left / right
    return _whole_arithmetic(operator, left, right)


def _whole_arithmetic(operator: ast.operator, left: float, right: float) -> object:
    if isinstance(operator, ast.FloorDiv):
        return left // right
    if isinstance(operator, ast.LShift) and isinstance(left, int) and isinstance(right, int) and right < _MAX_POWER:
        return left << right
    if isinstance(operator, ast.Pow) and abs(left) < _MAX_POWER and abs(right) < 100:
        return pow(left, right)
    raise ValueError("operator")


def _equal(first: object, second: object) -> bool:
    """Equal, and not a bool beside a number: ``True`` is no way to write ``1``."""
    if first is _UNREADABLE or second is _UNREADABLE:
        return False
    if isinstance(first, bool) != isinstance(second, bool):
        return False
    try:
        return bool(first == second)
    except RecursionError:
        return False
