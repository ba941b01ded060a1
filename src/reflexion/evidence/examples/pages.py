"""All examples of a page as plans, with what the page says around them. Pure; nothing is run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reflexion.evidence.claims import Claims, Example
from reflexion.evidence.examples.doctests import plan_doctest
from reflexion.evidence.examples.fences import MARKED, is_lone_value, read_code
from reflexion.evidence.examples.imports import SourceNames, imports_of
from reflexion.evidence.examples.plan import Expected, Plan, Whole, plan_script
from reflexion.evidence.examples.prose import Around, words_around
from reflexion.evidence.examples.readings import Announcement
from reflexion.patterns import regex

_EXCEPTION_LINE = regex(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt))(?::\s*(?P<message>.*))?$"
)
_TRACEBACK = regex(r"^\s*Traceback \(most recent call last\)", re.MULTILINE)
_DEFINES = regex(
    r"^[ \t>.]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|\bimport[ \t]+([\w, \t]+)"
    r"|^[ \t>.]*(\w+)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.MULTILINE,
)
_OUTPUT_LEAD = regex(r"\b(?:outputs?|prints?|displays?|results?)\b[^.`]{0,60}:\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unparsed:
    """An example that is marked as Python and does not parse; ``line`` is the document's."""

    example: Example
    line: int
    error: str
    code: str


def plan_page(claims: Claims, names: SourceNames, source: str) -> list[Plan | Unparsed]:
    """Return a plan for every Python example of a page, in order."""
    lines = claims.text.split("\n")
    wanted = names.top | {names.stem, *names.module.split(".")}
    found: list[Plan | Unparsed] = []
    defined = frozenset(_defined(claims))
    for example in _with_outputs(claims.examples, lines):
        planned = _planned(example, frozenset(wanted), names, source, lines)
        if planned is not None:
            found.append(replace(planned, page_names=defined) if isinstance(planned, Plan) else planned)
    return found


def _defined(claims: Claims) -> Iterator[str]:
    """Yield the names that any fence of the page gives a value, those included that are no examples."""
    for example in claims.examples:
        for one in _DEFINES.finditer(example.code):
            yield from re.findall(r"\w+", next(group for group in one.groups() if group))


def _with_outputs(examples: Sequence[Example], lines: Sequence[str]) -> Iterator[Example]:
    """Yield examples; a Python fence that holds one value below "Output:" is the output of the one before it."""
    pending: Example | None = None
    for example in examples:
        shows = pending is not None and pending.output is None and example.language in MARKED
        if shows and is_lone_value(example.code) and _OUTPUT_LEAD.search(_line_above(lines, example.line)):
            assert pending is not None
            yield _with_output(pending, example)
            pending = None
            continue
        if pending is not None:
            yield pending
        pending = example
    if pending is not None:
        yield pending


def _with_output(example: Example, output: Example) -> Example:
    return Example(
        example.line, example.end_line, example.code_line, example.language, example.code, example.subject,
        output.code, output.line,
    )  # fmt: skip


def _line_above(lines: Sequence[str], fence: int) -> str:
    return next((line for line in reversed(lines[max(0, fence - 3) : fence - 1]) if line.strip()), "")


def _planned(
    example: Example, wanted: frozenset[str], names: SourceNames, source: str, lines: Sequence[str]
) -> Plan | Unparsed | None:
    code = read_code(example, wanted, source)
    if code is None:
        return None
    if code.error is not None:
        return _unparsed(example, code.text, code.error, code.error_line)
    around = words_around(lines, example, names.exceptions)
    wholes = tuple(_wholes(example, around))
    if code.doctest:
        planned = plan_doctest(example, code, names.exceptions)
        if isinstance(planned, tuple):
            return _unparsed(example, code.text, *planned)
        if planned is None or planned.tree is None:
            return None
        imports = replace(imports_of(planned.tree, "\n" * planned.tree.body[-1].lineno, names), edits=())
        return _completed(replace(planned, imports=imports), around, wholes)
    assert code.tree is not None
    imports = imports_of(code.tree, code.text, names)
    script = plan_script(example, code, imports.edits, names.exceptions, shown=bool(wholes))
    return _completed(replace(script, imports=imports), around, wholes)


def _unparsed(example: Example, text: str, error: str, line: int) -> Unparsed:
    lines = text.split("\n")
    return Unparsed(example, example.code_line + line - 1, error, lines[line - 1] if 0 < line <= len(lines) else "")


def _wholes(example: Example, around: Around) -> Iterator[Whole]:
    if example.output is not None and _traceback(example.output) is None:
        yield Whole(example.output, (example.output_line or example.end_line) + 1)
    if around.whole is not None and example.output is None:
        yield around.whole


def _completed(plan: Plan, around: Around, wholes: tuple[Whole, ...]) -> Plan:
    """Add what stands around the example: outputs of the whole, and exceptions that any of its steps may raise."""
    steps = tuple(range(len(plan.steps)))
    expected = list(plan.expected)
    raised = _traceback(plan.example.output) if plan.example.output is not None else None
    if raised is not None:
        line = (plan.example.output_line or plan.example.end_line) - plan.example.code_line + 2
        expected.append(Expected(steps, line, raised))
    if around.announced is not None:
        handled = any(one.said.required for one in plan.expected)
        tried = (
            any(type(node).__name__ in ("Try", "TryStar", "With") for node in plan.tree.body) if plan.tree else False
        )
        said = around.announced
        required = said.required and bool(said.type) and not handled and not tried and not plan.stated
        line = plan.example.line - plan.example.code_line + 1
        expected.append(Expected(steps, line, replace(said, required=required), sure=False))
    return replace(plan, expected=tuple(expected), wholes=wholes)


def _traceback(output: str) -> Announcement | None:
    """Return the exception that an output block shows, or None."""
    lines = [line for line in output.strip().split("\n") if line.strip()]
    found = _EXCEPTION_LINE.match(lines[-1]) if lines else None
    if found is None or not (len(lines) == 1 or _TRACEBACK.match(output)):
        return None
    return Announcement(found["type"], found["message"] or None, True, bool(found["message"]))
