"""What each role of the code pipeline is told: the words of code.toml around request, tests, candidate and results.

Each sees what its job needs and no more. What stays the same from call to call comes first, for the server's prompt
cache; what changes comes last.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reflexion.config import Role
from reflexion.ollama.reply import Message
from reflexion.suite.modules import DEFAULT as ALLOWED_IMPORTS
from reflexion.team.attempts import Attempt, best_attempt, failing
from reflexion.text import delimit

if TYPE_CHECKING:
    from reflexion.context import CodeContext
    from reflexion.healing.judge import Judge
    from reflexion.pipelines.code import CodeState

MOST_FAILURES_TOLD = 10
# What is sent back to the architect may take up to this share of the window.
FULL = 0.5


def architect_messages(state: "CodeState", context: "CodeContext") -> list[Message]:
    """Return what the architect is told: the request and, when a suite was sent back, the suite and the reasons."""
    words = context.prompts
    messages = [
        Message("system", words.fill("ARCHITECT", "system")),
        Message("user", words.fill("ARCHITECT", "design", request=delimit(state["request"], "REQUEST"))),
    ]
    if not state["drafts"]:
        return messages
    last = state["drafts"][-1]
    reasons = "\n".join(f"- {reason}" for reason in last["reasons"])
    asked = words.fill("ARCHITECT", "redesign", reasons=reasons)
    short = [*messages, Message("user", asked)]
    whole = [*messages, Message("user", f"{delimit(last['tests'], 'YOUR LAST TESTS')}\n{asked}")]
    # The answer is as long again as the suite that is sent back.
    return whole if last["tests"] and context.models.fits(Role.ARCHITECT, whole, FULL) else short


def developer_messages(state: "CodeState", context: "CodeContext") -> list[Message]:
    """Return what the developer is told: request, specification, tests, and what was wrong with a reply before."""
    words = context.prompts
    text = words.fill(
        "DEVELOPER",
        "develop",
        request=delimit(state["request"], "REQUEST"),
        specification=delimit(state["specification"], "SPECIFICATION"),
        tests=delimit(state["tests"], "TESTS"),
        imports=_imports(context.allow),
    )
    if state["attempts"]:
        text += f"\n\n{words.fill('DEVELOPER', 'redevelop', trouble=state['attempts'][-1]['trouble'])}"
    return [Message("system", words.fill("DEVELOPER", "system")), Message("user", text)]


def debugger_messages(state: "CodeState", context: "CodeContext", best: Attempt) -> list[Message]:
    """Return what a debugger is told: the best candidate, what failed, and what was tried before."""
    run = best["run"] or {}
    if context.judge is not None:
        return _heal_messages(state, context, context.judge, best)
    text = context.prompts.fill(
        "DEBUGGER",
        "debug",
        specification=delimit(state["specification"], "SPECIFICATION"),
        tests=delimit(state["tests"], "TESTS"),
        code=delimit(best["draft"], "MODULE"),
        summary=delimit(told(run), "RESULT"),
        history=_tried(state["attempts"], best),
        imports=_imports(context.allow),
    )
    return [Message("system", context.prompts.fill("DEBUGGER", "system")), Message("user", text)]


def _heal_messages(state: "CodeState", context: "CodeContext", judge: "Judge", best: Attempt) -> list[Message]:
    """Return what a debugger is told of a module that is there: no specification, and what it imports is allowed."""
    text = context.prompts.fill(
        "DEBUGGER",
        "heal",
        name=judge.project.name,
        tests=delimit(state["tests"], "TESTS"),
        code=delimit(best["draft"], "MODULE"),
        summary=delimit(told(best["run"] or {}), "RESULT"),
        history=_tried(state["attempts"], best),
        imports=_imports(judge.more_imports),
    )
    return [Message("system", context.prompts.fill("DEBUGGER", "system")), Message("user", text)]


def reviewer_messages(state: "CodeState", context: "CodeContext") -> list[Message]:
    """Return what the reviewer is told: the request, the real results, and the history of diagnoses."""
    best = best_attempt(state["attempts"])
    text = context.prompts.fill(
        "REVIEWER",
        "review",
        request=delimit(state["request"], "REQUEST"),
        results=delimit(results(state["stop"], best), "RESULTS"),
        history=delimit(history(state["attempts"]), "HISTORY"),
    )
    return [Message("system", context.prompts.fill("REVIEWER", "system")), Message("user", text)]


def told(run: dict[str, Any]) -> str:
    """Return what a debugger is shown of a run: why it did not pass, what the scan flags, and the error summary."""
    flags = [f"line {flag['line']}: {flag['what']}" for flag in run.get("flags", ())]
    parts = [str(run.get("reason", "")), *flags, str(run.get("summary", ""))]
    return "\n".join(part for part in parts if part)


def results(stop: str, best: Attempt | None) -> str:
    """Return the real results in words: verdict, counts, and the failing tests with why."""
    run = best["run"] if best else None
    if run is None:
        return f"NOT VERIFIED: there is no module that could be tested ({stop})."
    if run["passed"]:
        return f"VERIFIED: all {run['total']} tests pass."
    lines = [f"NOT VERIFIED ({stop}): {run['passes']} of {run['total']} tests pass. {run['reason']}"]
    lines += [f"- {item['test']}: {item['why']}" for item in run["failures"][:MOST_FAILURES_TOLD]]
    lines += [f"- line {flag['line']}: {flag['what']}" for flag in run["flags"][:MOST_FAILURES_TOLD]]
    return "\n".join(lines)


def history(attempts: Sequence[Attempt]) -> str:
    """Return what each reply was: its diagnosis, and how the tests went, a line each."""
    return "\n".join(f"{item['number']}. {item['role']}: {_line(item)}" for item in attempts)


def _line(item: Attempt) -> str:
    said = f"{item['diagnosis']} " if item["diagnosis"] else ""
    if item["run"] is None:
        return f"{said}The reply could not be used: {item['trouble']}"
    names = ", ".join(failing(item["run"])[:MOST_FAILURES_TOLD])
    return (
        f"{said}{item['run']['passes']} of {item['run']['total']} tests passed{f'; failing: {names}' if names else ''}."
    )


def _tried(attempts: Sequence[Attempt], best: Attempt) -> str:
    """Return what was tried on the best candidate and did not help; "" for nothing."""
    later = [item for item in attempts if item["number"] > best["number"] or (item["trouble"] and item is not best)]
    if not later:
        return ""
    lines = "\n".join(f"- {_line(item)}" for item in later)
    return f"Tried before, and no better:\n\n{delimit(lines, 'TRIED')}\n"


def _imports(allow: frozenset[str]) -> str:
    """Return what a candidate may import: a model that is not told is refused for what it could not know."""
    return f"Only these modules may be imported: {', '.join(sorted(ALLOWED_IMPORTS | allow))}."
