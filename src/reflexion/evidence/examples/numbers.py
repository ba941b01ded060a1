"""Numbers as a document shows them, alone and inside other text, against the real ones."""

import re
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation, localcontext

from reflexion.patterns import regex

GAP = "..."
# What "about" allows: a twentieth.
LOOSE = Decimal("0.05")
MAX_TOKENS = 20_000
# Decimal works with exponents far beyond those of floats; powers that nobody reads are not worth their digits.
MAX_EXPONENT = 330
PRECISION = 1100
FLOAT_DIGITS = 15

_NUMBER = regex(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?")
_BASED = regex(r"[-+]?0[xXoObB][\da-fA-F_]+")
_TOKEN = regex(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\.?\d)|\.\.\.|\S", re.ASCII)
_PLAIN = regex(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)


def number_of(text: str) -> Decimal | None:
    """Return the value of a text that is one Python number, or None."""
    if _BASED.fullmatch(text):
        try:
            return Decimal(int(text.replace("_", ""), 0))
        except ValueError:
            return None
    if len(text) > MAX_EXPONENT or not _NUMBER.fullmatch(text):
        return None
    try:
        value = Decimal(text.replace("_", ""))
    except InvalidOperation:
        return None
    return value if abs(value.adjusted()) <= MAX_EXPONENT else None


def same_number(stated: str, actual: str, loose: bool = False) -> bool:
    """Say whether a number is shown rightly: rounded or cut after the digits that are shown.

    A whole number, and a power of ten without a point (``1e-3``), has to be exact; ``5`` and ``5.0`` are the same.
    """
    said, true = number_of(stated), number_of(actual)
    if said is None or true is None:
        return stated.replace("_", "") == actual.replace("_", "")
    with localcontext() as context:
        context.prec = PRECISION
        # More digits than a float has are another way to write it.
        if said == true or (len(said.as_tuple().digits) > FLOAT_DIGITS and float(said) == float(true)):
            return True
        if loose:
            return abs(said - true) <= LOOSE * max(abs(said), abs(true))
        if "." not in stated:
            return False
        return _is_rounded(said, true)


def _is_rounded(said: Decimal, true: Decimal) -> bool:
    exponent = said.as_tuple().exponent
    unit = Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(0)
    if abs(said - true) <= unit / 2:
        return True
    same_side = said == 0 or (said < 0) == (true < 0)
    return same_side and 0 <= abs(true) - abs(said) < unit


def shown_as(stated: str, actual: str) -> str:
    """Return the real number with as many places behind the point as the stated one shows; at least as exact a text."""
    said, true = number_of(stated), number_of(actual)
    if said is None or true is None or "." not in stated or "e" in stated.lower() or "e" in actual.lower():
        return actual
    exponent, own = said.as_tuple().exponent, true.as_tuple().exponent
    if not isinstance(exponent, int) or not isinstance(own, int) or own >= exponent:
        return actual
    with localcontext() as context:
        context.prec = PRECISION
        return str(true.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_EVEN))


def same_tokens(stated: str, actual: str, loose: bool = False) -> bool:
    """Compare two texts without their white space, the numbers in them by shown digits, ``...`` as any text."""
    said, true = _TOKEN.findall(stated), _TOKEN.findall(actual)
    if max(len(said), len(true)) > MAX_TOKENS:
        return "".join(stated.split()) == "".join(actual.split())
    runs = _runs(said)
    if len(runs) == 1:
        return len(said) == len(true) and _fits(said, true, 0, loose)
    # A line of nothing but "..." would be right for everything, and so states nothing.
    return _fill(runs, true, loose)


def _runs(tokens: list[str]) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for token in tokens:
        if token == GAP:
            runs.append([])
        else:
            runs[-1].append(token)
    return runs


def _fill(runs: list[list[str]], true: list[str], loose: bool) -> bool:
    """Find the runs in order: the first at the start, the last at the end, each other one as early as it fits."""
    if not _fits(runs[0], true, 0, loose, cut=True):
        return False
    place, last = len(runs[0]), len(true) - len(runs[-1])
    for run in runs[1:-1]:
        found = next((start for start in range(place, last + 1) if _fits(run, true, start, loose, cut=True)), None)
        if found is None:
            return False
        place = found + len(run)
    return place <= last and _fits(runs[-1], true, last, loose)


def _fits(run: list[str], true: list[str], start: int, loose: bool, *, cut: bool = False) -> bool:
    """Say whether a run stands at a place; with ``cut`` its last number may go on behind the gap."""
    if start < 0 or start + len(run) > len(true):
        return False
    for place, token in enumerate(run):
        other = true[start + place]
        if token == other or (_PLAIN.fullmatch(token) and _PLAIN.fullmatch(other) and same_number(token, other, loose)):
            continue
        if not (cut and place == len(run) - 1 and token.isdigit() and other.startswith(token)):
            return False
    return True
