"""Doctests in fences: the same steps and statements as a script has, read by the standard library's own parser."""

import ast
import doctest
import re
from dataclasses import replace

from reflexion.evidence.claims import Example
from reflexion.evidence.examples.fences import Code, parse
from reflexion.evidence.examples.plan import Expected, Plan, Stated, Step
from reflexion.evidence.examples.readings import Announcement, read_announcement, read_comment
from reflexion.patterns import regex

_TIGHT = regex(r"^([ \t]*(?:>>>|\.\.\.))(?=[^\s.>])", re.MULTILINE)
_TYPE = regex(r"^(?P<type>[A-Za-z_][\w.]*)(?::\s*(?P<message>.*))?$", re.DOTALL)
_BLANK = regex(r"^<BLANKLINE>[ \t]*$", re.MULTILINE)
_COMMENT = regex(r"(?<!['\"\w])#(?P<words>[^'\"]*|\s*'[^']*'|\s*\"[^\"]*\")$")


def plan_doctest(example: Example, code: Code, known: frozenset[str]) -> Plan | tuple[str, int] | None:
    """Plan a doctest.

    Returns what is wrong and in which line where an entry does not parse, and None for what no doctest is.
    """
    try:
        # A prompt without its blank is an oversight that nobody trips over.
        entries = doctest.DocTestParser().get_examples(_TIGHT.sub(r"\1 ", code.text))
    except ValueError:
        return None
    steps: list[Step] = []
    stated: list[Stated] = []
    expected: list[Expected] = []
    for number, entry in enumerate(entries):
        # So is one blank too many.
        entry.source = entry.source.lstrip(" ")
        tree, error, line = parse(entry.source)
        if tree is None:
            return (error, entry.lineno + line) if error else None
        if entry.options.get(doctest.SKIP):
            return None
        length = entry.source.count("\n")
        first = entry.lineno + 1
        raises = entry.exc_msg is not None
        steps.append(Step(first, first + length - 1, entry.source, raises))
        if raises:
            message = entry.exc_msg or ""
            last = first + length + entry.want.count("\n") - message.count("\n")
            expected.append(Expected((number,), last, _announced(message)))
        elif entry.want.strip():
            stated.append(_wanted(entry, number, first + length, code.text))
        else:
            _read_comment(entry.source, number, first, known, stated, expected)
    announced = {step for one in expected for step in one.steps}
    steps = [replace(step, may_raise=number in announced) for number, step in enumerate(steps)]
    return (
        Plan(example, tuple(steps), tuple(stated), tuple(expected), tree=_joined(steps), doctest=True)
        if steps
        else None
    )


def _announced(words: str) -> Announcement:
    found = _TYPE.match(words.strip())
    if found is None:
        return Announcement("")
    message = (found["message"] or "").strip()
    return Announcement(found["type"], message or None, True, bool(message))


def _wanted(entry: doctest.Example, number: int, line: int, text: str) -> Stated:
    want = _BLANK.sub("", entry.want)
    lines = text.split("\n")[line - 1 : line - 1 + entry.want.count("\n")]
    indent = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
    raw = "\n".join([lines[0][indent:], *lines[1:]]) if lines else ""
    return Stated(number, line, (want.rstrip("\n"),), "output", raw=raw, prefix=" " * indent)


def _read_comment(
    source: str, number: int, line: int, known: frozenset[str], stated: list[Stated], expected: list[Expected]
) -> None:
    """An entry without an output may have it in a comment."""
    last = source.rstrip("\n").split("\n")
    found = _COMMENT.search(last[-1])
    if found is None or re.match(r"\s*doctest:", found["words"]):
        return
    place = line + len(last) - 1
    said = read_announcement(found["words"], known)
    reading = read_comment(found["words"], printing=last[0].startswith("print("))
    if said is not None and (reading is None or reading.certainty == "guess"):
        expected.append(Expected((number,), place, said))
    elif reading is not None and reading.certainty == "sure" and reading.text and not reading.subject:
        shown = Stated(number, place, (reading.text,), "output", loose=reading.loose, raw=reading.text)
        stated += [shown] if _displays(source) else []


def _displays(source: str) -> bool:
    tree, _, _ = parse(source)
    return tree is not None and len(tree.body) == 1 and type(tree.body[0]).__name__ == "Expr"


def _joined(steps: list[Step]) -> ast.Module | None:
    """Return all entries as one tree, for what is asked of a whole example."""
    return parse("".join(step.code for step in steps))[0]
