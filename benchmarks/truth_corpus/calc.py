"""A calculator for arithmetic text."""

import operator
import re
from collections.abc import Callable

OPERATORS: dict[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
MAX_DEPTH = 50


class CalcError(Exception):
    """A text cannot be calculated."""


class UnknownName(CalcError):
    """A variable has no value."""


def tokenize(text: str) -> list[str]:
    """Split a text into tokens."""
    tokens = re.findall(r"\d+\.?\d*|\w+|[()+*-]", text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise CalcError("text holds a character that is not understood")
    return tokens


def evaluate(text: str, names: dict[str, float] | None = None, *, precision: int = 6) -> float:
    """Calculate a text."""
    tokens = tokenize(text)
    value = _sum(tokens, names or {}, 0)
    if tokens:
        raise CalcError(f"did not expect {tokens[0]!r}")
    return round(value, precision)


def variables(text: str) -> set[str]:
    """Find the names that a text uses."""
    return {token for token in tokenize(text) if token[0].isalpha()}


def _sum(tokens: list[str], names: dict[str, float], depth: int) -> float:
    value = _term(tokens, names, depth)
    while tokens and tokens[0] in OPERATORS:
        value = OPERATORS[tokens.pop(0)](value, _term(tokens, names, depth))
    return value


def _term(tokens: list[str], names: dict[str, float], depth: int) -> float:
    if depth > MAX_DEPTH:
        raise CalcError("brackets are nested too deeply")
    if not tokens:
        raise CalcError("text ends too early")
    token = tokens.pop(0)
    if token == "(":
        value = _sum(tokens, names, depth + 1)
        if not tokens or tokens.pop(0) != ")":
            raise CalcError("bracket is not closed")
        return value
    if token[0].isdigit():
        return float(token)
    if token not in names:
        raise UnknownName(f"{token} has no value")
    return names[token]
