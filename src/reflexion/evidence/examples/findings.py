"""From a plan and what its run told to Findings, or to the reason why there are none. Pure functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from reflexion.evidence.examples import catalogue
from reflexion.evidence.examples.compare import matches, written_like
from reflexion.evidence.examples.imports import SourceNames
from reflexion.evidence.examples.plan import Expected, Plan, Stated
from reflexion.evidence.examples.protocol import Outcome, Raised
from reflexion.evidence.examples.reasons import why_not_run
from reflexion.evidence.examples.verdicts import Real, judge_stated, judge_whole
from reflexion.evidence.facts import Raise
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.messages import compare_message

WIDTH = 160
GIVES = "running it gives: "
# A text longer than this is no swap: nobody wants it in a page.
MAX_SWAP = 2_000
_ALIASES = {"IOError": "OSError", "EnvironmentError": "OSError", "WindowsError": "OSError"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the run of an example shows: findings, and why it could not be run to its end, or ""."""

    findings: tuple[Finding, ...] = ()
    not_run: str = ""


def syntax_finding(line: int, error: str, code: str) -> Finding:
    """Return the finding for code that does not parse; ``line`` is the document's, ``code`` the line of code."""
    return Finding(
        catalogue.SYNTAX.code,
        catalogue.SYNTAX.level,
        line,
        f"the example does not parse: {error}",
        f"example: {short(code.strip())}",
        "Correct the example, so that Python can read it.",
    )


def judge(plan: Plan, outcome: Outcome, source: SourceNames) -> Judgement:
    """Judge one run."""
    if outcome.problem:
        return Judgement(not_run=outcome.problem)
    found: list[Finding] = []
    reached, reason = len(plan.steps), ""
    for number in range(len(plan.steps)):
        raised = outcome.raised.get(number)
        if raised is None and number in outcome.steps:
            continue
        more, reason, goes_on = _of_step(plan, outcome, number, source)
        found += more
        if not goes_on:
            reached = number
            break
    done = frozenset(range(reached))
    found += _missing(plan, outcome, done)
    found += _stated(plan, outcome, done)
    if reached == len(plan.steps):
        found += _wholes(plan, outcome)
    return Judgement(tuple(found), reason)


def _of_step(plan: Plan, outcome: Outcome, number: int, source: SourceNames) -> tuple[list[Finding], str, bool]:
    """Return what a step that raised shows, or why it shows nothing, and whether the example went on."""
    raised = outcome.raised.get(number)
    if raised is None:
        return [], "it told nothing of one of its statements", False
    if _follows(plan, outcome, number, raised):
        return [], "", False
    found, reason = _of_raised(plan, number, raised, source)
    return found, reason, number in outcome.steps and not reason


def _of_raised(plan: Plan, number: int, raised: Raised, source: SourceNames) -> tuple[list[Finding], str]:
    """Return what an exception shows, or why it shows nothing."""
    said = [one for one in plan.expected if number in one.steps and _covers(one, raised)]
    if any(_fits(one, raised) for one in said):
        return list(_announced(plan, number, raised, said)), _ended(raised, said)
    reason = why_not_run(raised, plan, source)
    if reason:
        return [], reason
    # Words about the function in general are none about this call.
    sure = [one for one in said if one.sure]
    return list(_announced(plan, number, raised, sure)) if sure else [_unannounced(plan, number, raised, source)], ""


def _covers(one: Expected, raised: Raised) -> bool:
    """An error that nobody names is none of a name, attribute or import that is not there."""
    return bool(one.said.type) or not raised.is_a("NameError", "AttributeError", "ImportError", "SystemExit")


def _follows(plan: Plan, outcome: Outcome, number: int, raised: Raised) -> bool:
    """Say whether a name is unknown only since the statement that gives it a value raised what was announced."""
    if raised.types[0] != "builtins.NameError" or not any(step in outcome.raised for step in range(number)):
        return False
    before = "\n".join(step.code for step in plan.steps[:number])
    return re.search(rf"\b{re.escape(raised.name)}\b", before) is not None


def _ended(raised: Raised, said: list[Expected]) -> str:
    """An announced end of the interpreter is none that the rest of the example could follow."""
    ends = raised.is_a("SystemExit", "KeyboardInterrupt", "MemoryError")
    return (
        "" if not ends or any(_fits(one, raised) for one in said if one.said.type) else f"it ended ({raised.last_line})"
    )


def _unannounced(plan: Plan, number: int, raised: Raised, source: SourceNames) -> Finding:
    line = _line_of(plan, number, raised)
    message, fix = (
        f"the example raises {short(raised.last_line)}, which the document does not announce",
        (f"Correct the example so that it runs, or say in a comment that it raises {raised.type}."),
    )
    if raised.types[0] == "builtins.NameError":
        message = f"the example calls `{raised.name}`, which neither the document nor the source defines"
        fix = f"Use a name that `{source.stem}` defines, or define `{raised.name}` in the example."
    elif raised.is_a("ImportError") and raised.origin == "example":
        message = f"the example imports what `{source.stem}` does not have: {short(raised.message.partition(' (')[0])}"
        fix = f"Import only what `{source.stem}` defines."
    elif raised.is_a("AttributeError") and raised.origin == "example":
        message = f"the example uses an attribute that is not there: {short(raised.message)}"
        fix = "Use what the source defines."
    elif raised.is_a("AssertionError") and raised.origin == "example":
        message, fix = "an assertion of the example fails", "State in the example what is true."
    return Finding(catalogue.RAISES.code, catalogue.RAISES.level, line, message, _evidence(raised), fix)


def _line_of(plan: Plan, number: int, raised: Raised) -> int:
    step = plan.steps[number]
    inside = step.line <= raised.line <= step.end_line
    return document_line(plan, raised.line if inside else step.line)


def document_line(plan: Plan, line: int) -> int:
    """Return the document's line of a line of the example's code."""
    return plan.example.code_line + line - 1


def _evidence(raised: Raised) -> str:
    return f"running it ends with: {short(raised.last_line)}"


def _announced(plan: Plan, number: int, raised: Raised, said: list[Expected]) -> Iterator[Finding]:
    """Compare what came with what is announced; any one of several announcements may be right."""
    typed = [one for one in said if one.said.type]
    if not typed or any(_fits(one, raised) and _says(one, raised) for one in typed):
        return
    required = next((one for one in typed if one.said.required), None)
    if required is None:
        if len(typed) == len(said):
            yield _other_type(typed[0], raised, _line_of(plan, number, raised), "warning")
        return
    line = document_line(plan, required.line)
    if not _fits(required, raised):
        yield _other_type(required, raised, line, "error" if required.sure else "warning")
        return
    level: Level = "error" if required.sure and required.said.exact else "warning"
    said_message, real = required.said.message or "", raised.message
    yield Finding(
        catalogue.MISSING_EXCEPTION.code,
        level,
        line,
        f"the example announces {raised.type} with the message {short(said_message)!r}; it is {short(real)!r}",
        _evidence(raised),
        f"Quote the real message: {short(real)}",
        said_message,
        real if "\n" not in real else "",
    )


def _other_type(one: Expected, raised: Raised, line: int, level: Level) -> Finding:
    real = raised.type
    return Finding(
        catalogue.MISSING_EXCEPTION.code,
        level,
        line,
        f"the example announces {one.said.type}; what comes is {short(raised.last_line)}",
        _evidence(raised),
        f"Name {real} as the exception.",
        one.said.type,
        real,
    )


def _fits(one: Expected, raised: Raised) -> bool:
    name = one.said.type.rpartition(".")[2]
    return not name or raised.is_a(_ALIASES.get(name, name))


def _says(one: Expected, raised: Raised) -> bool:
    if one.said.message is None:
        return True
    real = Raise(raised.type, raised.message, 0)
    return compare_message(one.said.message, real) in ("same", "partial", "unknown")


def _missing(plan: Plan, outcome: Outcome, done: frozenset[int]) -> Iterator[Finding]:
    """Announced exceptions that did not come, where all the statements that could raise them have ended."""
    for one in plan.expected:
        if not one.said.required or not set(one.steps) <= done:
            continue
        came = one.mark is None and any(step in outcome.raised for step in one.steps)
        caught = one.mark is not None and (one.mark not in outcome.begun or one.mark not in outcome.ended)
        if not (came or caught):
            yield _not_raised(plan, one.line, one.said.type, one.sure)


def _not_raised(plan: Plan, line: int, name: str, sure: bool) -> Finding:
    what = name or "an exception"
    return Finding(
        catalogue.MISSING_EXCEPTION.code,
        "error" if sure else "warning",
        document_line(plan, line),
        f"the example announces {what}; nothing is raised",
        "running it ends without an exception",
        f"Take the words about {what} out, or show a call that raises it.",
    )


def _stated(plan: Plan, outcome: Outcome, done: frozenset[int]) -> Iterator[Finding]:
    for one in plan.stated:
        if one.step not in done or one.step in outcome.raised:
            continue
        if one.handler is not None and one.mark is not None and one.mark not in outcome.begun:
            if one.certainty == "sure" and not one.looped:
                yield _not_raised(plan, one.line, one.handler, sure=True)
            continue
        verdict = judge_stated(plan, outcome, one)
        if verdict.wrong is not None:
            yield _wrong_output(plan, one, verdict.wrong)


def _wrong_output(plan: Plan, one: Stated, real: Real) -> Finding:
    text = written_like(one.texts[0], real.text)
    if len(one.texts) > 1 and one.prefix:
        one = _without_prose(one, text.count("\n") + 1)
    swap = "" if not one.raw or len(text) > MAX_SWAP else f"\n{one.prefix}".join(text.split("\n"))
    if "\n" in swap and not one.prefix.strip(" ") and "\n" not in one.raw and not plan.doctest:
        swap = ""
    if one.kind == "value" and real.printed:
        swap = ""
    line = document_line(plan, one.line)
    finding = _output_finding(line, one.texts[0], text, real, one.shown)
    return replace(finding, stated=one.raw if swap else "", actual=swap)


def _without_prose(one: Stated, height: int) -> Stated:
    """Return a statement without the lines of prose behind it, where one of its readings is as long as what is real."""
    said = next((text for text in one.texts[1:] if text.count("\n") + 1 == height), None)
    if said is None:
        return one
    return replace(one, raw="\n".join(one.raw.split("\n")[:height]), texts=(said,))


def _output_finding(line: int, said: str, text: str, real: Real, subject: str = "") -> Finding:
    what = f"`{subject}`" if subject else "the output" if real.printed else "the value"
    return Finding(
        catalogue.OUTPUT.code,
        catalogue.OUTPUT.level,
        line,
        f"the example states {short(said)}; {what} is {short(text) or 'empty'}",
        f"{GIVES}{short(real.text) or 'nothing'}",
        f"State the real one: {short(text) or 'nothing is printed'}",
    )


def _wholes(plan: Plan, outcome: Outcome) -> Iterator[Finding]:
    if outcome.raised and any(step in outcome.raised for step in range(len(plan.steps))):
        return
    for whole in plan.wholes:
        verdict = judge_whole(plan, outcome, whole)
        if verdict.wrong is None:
            continue
        text = written_like(whole.text, verdict.wrong.text)
        finding = _output_finding(whole.line, whole.text.strip("\n"), text, verdict.wrong)
        swappable = len(text) <= MAX_SWAP and ("\n" not in text or not whole.prose)
        yield replace(finding, stated=whole.text.strip("\n"), actual=text) if swappable else finding


def short(text: str) -> str:
    """Return a text in one line of at most ``WIDTH`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def placed(finding: Finding, lines: list[str]) -> Finding:
    """Return a finding without its swap where the document does not hold the stated words at its line."""
    if not finding.stated:
        return finding if not finding.actual else replace(finding, actual="")
    height = finding.stated.count("\n") + 1
    there = "\n".join(lines[finding.line - 1 : finding.line - 1 + height + 2])
    return finding if finding.stated in there else replace(finding, stated="", actual="")


def same_finding(first: Finding, second: Finding) -> bool:
    """Say whether two runs of one example show the same fault; a set may come in another order."""
    if (first.rule, first.line) != (second.rule, second.line):
        return False
    real = [one.evidence.removeprefix(GIVES) for one in (first, second)]
    if first.evidence.startswith(GIVES):
        return matches(real[0], real[1])
    return first.message == second.message
