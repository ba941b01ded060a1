"""Whether what is stated of a statement, or of an example as a whole, is what it really gave. Pure functions."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reflexion.evidence.examples.compare import matches_output, matches_value, similar
from reflexion.evidence.examples.plan import Plan, Stated, Whole
from reflexion.evidence.examples.protocol import Outcome, Shown
from reflexion.evidence.examples.readings import is_value
from reflexion.evidence.expressions import parse_expression
from reflexion.patterns import regex

_OPAQUE = regex(r"^<.* at 0x[0-9a-f]+>$|^<(?:function|bound method|module|class|built-in)\b", re.DOTALL)
_LAZY = frozenset(
    {"generator", "map", "filter", "zip", "enumerate", "reversed", "async_generator", "list_iterator", "dict_keys",
     "dict_values", "dict_items", "chain", "islice"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Real:
    """What came in the place of what is stated: ``text`` as it would be written, ``printed`` where it is output."""

    text: str
    printed: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """``wrong`` holds what is real where the statement is proved wrong; None where it is right or cannot be judged."""

    wrong: Real | None = None


RIGHT = Verdict()


def judge_stated(plan: Plan, outcome: Outcome, stated: Stated) -> Verdict:
    """Judge one statement of a step that ended."""
    values = outcome.values.get(stated.mark, []) if stated.mark is not None else []
    outputs = list(_outputs(plan, outcome, stated))
    if outcome.printed_cut or any(value.cut for value in values):
        return RIGHT
    if stated.mark is not None and not values and stated.mark not in outcome.ended:
        return RIGHT
    if any(_shows(text, stated, values, outputs) for text in stated.texts):
        return RIGHT
    real = _real(stated, values, outputs)
    if real is None or not _is_certain(stated, values, real):
        return RIGHT
    return Verdict(real)


def _outputs(plan: Plan, outcome: Outcome, stated: Stated) -> Iterator[str]:
    """Yield the outputs that can be meant: the statement's own first, then those of statements before it as well."""
    if stated.shown:
        return
    own = outcome.ended.get(stated.mark, []) if stated.mark is not None else [outcome.steps.get(stated.step, (0, 0))]
    for start, end in own:
        yield outcome.text(start, end)
    if len(own) > 1:
        yield outcome.text(own[0][0], own[-1][1])
    if stated.since is not None and stated.step in outcome.steps:
        end = outcome.steps[stated.step][1]
        for step in range(stated.step - 1, stated.since - 1, -1):
            if step in outcome.steps:
                yield outcome.text(outcome.steps[step][0], end)


def _shows(text: str, stated: Stated, values: Sequence[Shown], outputs: Sequence[str]) -> bool:
    quiet = not values or all(value.representation == "None" for value in values)
    if stated.kind != "output" or not any(outputs):
        if any(matches_value(text, one.representation, one.text, loose=stated.loose) for one in values):
            return True
        joined = " ".join(one.representation for one in values)
        if len(values) > 1 and matches_output(text.replace(",", " "), joined, loose=stated.loose):
            return True
    if stated.kind == "value" and not quiet:
        return False
    return any(matches_output(text, one, loose=stated.loose) for one in outputs)


def _real(stated: Stated, values: Sequence[Shown], outputs: Sequence[str]) -> Real | None:
    """Return what is real, in the form that the statement has; None where nothing was given or printed at all."""
    lines = max(text.count("\n") for text in stated.texts) + 1
    same = next((one for one in reversed(outputs) if one.strip() and one.strip().count("\n") + 1 == lines), None)
    printed = next((one for one in outputs if one.strip()), None) if stated.since is None or not same else same
    value = values[-1] if values else None
    if printed is not None and (value is None or value.representation == "None" or stated.kind == "output"):
        return Real(printed.strip("\n"), True)
    return Real(value.representation, False) if value is not None else None


def _is_certain(stated: Stated, values: Sequence[Shown], real: Real) -> bool:
    """Say whether a difference proves the statement wrong, rather than that words were taken for one."""
    text = stated.texts[0]
    if stated.looped and len(values) > 1:
        return False
    if stated.certainty == "guess":
        return any(similar(one, real.text) for one in stated.texts)
    if real.printed:
        return stated.certainty == "sure" or is_value(text)
    if values and values[-1].type in _LAZY:
        return False
    if stated.certainty == "bare":
        return _is_certain_alone(text, stated, real)
    return not (_OPAQUE.match(real.text) and _kind(text) in ("call", "other"))


def _is_certain_alone(text: str, stated: Stated, real: Real) -> bool:
    """A lone literal may be about something else than the value beside it, unless both are of one kind."""
    if real.text == "None" or _OPAQUE.match(real.text):
        return False
    return not stated.plain or _kind(text) == _kind(real.text)


def _kind(text: str) -> str:
    node = parse_expression(text)
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant):
        return (
            "number"
            if isinstance(node.value, int | float) and not isinstance(node.value, bool)
            else repr(type(node.value))
        )
    if isinstance(node, ast.Call):
        return "call"
    known = isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set)
    return type(node).__name__ if known else "other"


def judge_whole(plan: Plan, outcome: Outcome, whole: Whole) -> Verdict:
    """Judge what is stated of the whole example: against all that it prints, its end, and its last value."""
    shown = list(outcome.displayed.values())
    if outcome.printed_cut or any(one.cut for one in shown):
        return RIGHT
    text = whole.text.strip("\n")
    outputs = list(dict.fromkeys(_transcripts(plan, outcome)))
    last = shown[-1] if shown else None
    if not text.strip() or any(matches_output(text, one) for one in outputs):
        return RIGHT
    if last is not None and any(
        matches_value(one, last.representation, last.text) for one in (text, *_as_python(text))
    ):
        return RIGHT
    printed = outcome.text(0, len(outcome.printed)).strip("\n")
    if any(matches_output(one, printed) for one in _as_python(text)):
        return RIGHT
    if printed.strip():
        lines = text.count("\n")
        alike = next((one for one in outputs if one.strip("\n").count("\n") == lines and one.strip()), printed)
        return Verdict(Real((alike if not whole.prose else printed).strip("\n"), True))
    if last is None or last.representation == "None" or _OPAQUE.match(last.representation) or last.type in _LAZY:
        return RIGHT
    return Verdict(Real(last.representation, False))


def _as_python(text: str) -> Iterator[str]:
    """Yield the Python spelling of a text in JSON."""
    try:
        yield repr(json.loads(text))
    except (ValueError, RecursionError):
        return


def _transcripts(plan: Plan, outcome: Outcome) -> Iterator[str]:
    """Yield what a script prints, what a session would show, and the ends of both."""
    steps = sorted(outcome.steps)
    for first in steps:
        yield outcome.text(outcome.steps[first][0], len(outcome.printed))
    for first in steps if outcome.displayed and not plan.doctest else ():
        parts: list[str] = []
        for step in steps[steps.index(first) :]:
            shown = outcome.displayed.get(step)
            parts.append(outcome.text(*outcome.steps[step]))
            if shown is not None and shown.representation != "None":
                parts.append(f"{shown.representation}\n")
        yield "".join(parts)
