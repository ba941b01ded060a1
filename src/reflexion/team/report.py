"""report.md and run.json of a result: what was asked, what came of it, and how."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reflexion import __version__
from reflexion.loaders import Source
from reflexion.ollama.reply import Binding
from reflexion.team.attempts import UNSOUND, Attempt, best_attempt, failing
from reflexion.text import fence_for

if TYPE_CHECKING:
    from reflexion.config import Role
    from reflexion.pipelines.code import CodeState

RUN_VERSION = 1
_MODES = {
    "isolated": "isolated: the tests ran in a process that never imported the candidate",
    "in-process": "in-process: the candidate was imported by the process that ran the tests, so a program written to"
    " cheat could have forged what it says",
}


def calls_of(state: "CodeState") -> list[dict[str, Any]]:
    """Return all calls of a task, in the order in which they were made."""
    rounds: list[Any] = [*state["drafts"], *state["attempts"]]
    return [call for item in rounds for call in item["calls"]] + state.get("review_calls", [])


def why_not(state: "CodeState") -> str:
    """Return in a line why a task is not accepted."""
    if state["stop"] == UNSOUND:
        return f"the tests are unsound: {'; '.join(state['drafts'][-1]['reasons'])}"
    best = best_attempt(state["attempts"])
    if best is None or best["run"] is None:
        return f"no module could be tested: {state['attempts'][-1]['trouble']}"
    names = failing(best["run"])
    if names:
        return f"{best['run']['passes']} of {best['run']['total']} tests pass; failing: {', '.join(names)}"
    return str(best["run"]["reason"])


def run_json(
    state: "CodeState", source: Source, outcome: str, bindings: Mapping["Role", Binding], seconds: float, boundary: str
) -> dict[str, Any]:
    """Return what run.json holds but the digests of the files."""
    best = best_attempt(state["attempts"])
    run = best["run"] if best else None
    calls = calls_of(state)
    return {
        "run_version": RUN_VERSION,
        "reflexion": __version__,
        "source": source.label,
        "request_sha256": source.sha256,
        "outcome": outcome,
        "stop": state["stop"],
        "why": "" if outcome == "accepted" else why_not(state),
        "mode": run["mode"] if run and run["total"] else None,
        "why_in_process": run["why_in_process"] if run else "",
        "sandbox": boundary,
        "tests": {"total": run["total"], "passed": run["passes"], "failing": failing(run)} if run else None,
        "tests_sha256": state.get("tests_sha256"),
        "iterations": len(state["attempts"]),
        "seconds": round(seconds, 3),
        "tokens": {
            "prompt": sum(call["prompt_tokens"] for call in calls),
            "reply": sum(call["reply_tokens"] for call in calls),
        },
        "models": {role.value: {"model": item.model, "digest": item.digest} for role, item in bindings.items()},
        "suites": [{"number": item["number"], "reasons": item["reasons"]} for item in state["drafts"]],
        "attempts": [_short(item) for item in state["attempts"]],
        "review": state.get("review", ""),
    }


def report_md(state: "CodeState", source: Source, outcome: str, boundary: str, diff: str = "") -> str:
    """Return report.md: the outcome first, then the tests' results, the diff, the review, the history, the request."""
    best = best_attempt(state["attempts"])
    run = best["run"] if best else None
    title = "Verified" if outcome == "accepted" else "Not verified"
    parts = [f"# {title}: {_one_line(source.text)}"]
    if outcome != "accepted":
        parts.append(f"Stopped: {state['stop']}. {_sentence(why_not(state))}")
    if run:
        parts.append(_counts(run, boundary))
        parts += ["## What failed", _failures(run)] if run["failures"] or run["flags"] else []
    parts += ["## Diff", fence_for(diff, "diff").rstrip()] if diff else []
    review = state.get("review") or f"There is none: {state.get('review_trouble') or 'there was nothing to review'}."
    parts += ["## Review", review]
    parts += ["## How it came about", _history(state)]
    parts += ["## Request", fence_for(source.text.strip(), "text").rstrip()]
    if state["specification"]:
        parts += ["## Specification", fence_for(state["specification"], "text").rstrip()]
    if state["stop"] == UNSOUND and state["tests"]:
        parts += ["## The tests that were not used", fence_for(state["tests"], "python").rstrip()]
    return "\n\n".join(parts) + "\n"


def entry(state: "CodeState", source: Source, outcome: str, output: str) -> dict[str, Any]:
    """Return a task's entry in the record of the run."""
    best = best_attempt(state["attempts"])
    return {
        "source": source.label,
        "outcome": outcome,
        "output": output,
        "score": best["score"] if best else None,
        "stop": state["stop"],
        "why": "" if outcome == "accepted" else why_not(state),
        "suites": list(state["drafts"]),
        "rounds": list(state["attempts"]),
        "review": state.get("review", ""),
        "calls": calls_of(state),
    }


def _short(item: Attempt) -> dict[str, Any]:
    run = item["run"] or {}
    return {
        "number": item["number"],
        "role": item["role"],
        "model": item["model"],
        "diagnosis": item["diagnosis"],
        "trouble": item["trouble"],
        "passed": run.get("passes"),
        "total": run.get("total"),
        "reason": run.get("reason"),
        "failures": run.get("failures", []),
        "flags": run.get("flags", []),
    }


def _counts(run: Mapping[str, Any], boundary: str) -> str:
    if not run["total"]:
        return f"Nothing was run: {_sentence(_one_line(run['reason'], 300))}"
    why = f" ({_one_line(run['why_in_process'], 200)})" if run["why_in_process"] else ""
    counts = f"{run['passes']} of {run['total']} tests pass."
    return f"{counts} Checked {_MODES[run['mode']]}{why}. Sandbox: {boundary}."


def _failures(run: Mapping[str, Any]) -> str:
    rows = [f"- {_code(item['test'])}: {_one_line(item['why'], 300)}" for item in run["failures"]]
    rows += [f"- line {flag['line']} of the module: {_one_line(flag['what'], 300)}" for flag in run["flags"]]
    return "\n".join(rows)


def _history(state: "CodeState") -> str:
    rows = []
    for suite in state["drafts"]:
        said = f"sent back: {'; '.join(suite['reasons'])}" if suite["reasons"] else "sound"
        rows.append(f"- Suite {suite['number']}: {_one_line(said, 600)}")
    for item in state["attempts"]:
        run = item["run"]
        said = f"{_one_line(item['diagnosis'], 600)} " if item["diagnosis"] else ""
        how = (
            f"{run['passes']} of {run['total']} tests passed"
            if run
            else f"the reply could not be used: {_one_line(item['trouble'], 300)}"
        )
        who = ", ".join(filter(None, (item["role"], item["model"])))
        rows.append(f"- Candidate {item['number']} ({who}): {said}{_sentence(how)}")
    return "\n".join(rows)


def _one_line(text: str, most: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()} ..."


def _code(text: str) -> str:
    return f"`{text}`" if "`" not in text else text


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "...")) else f"{text}."
