"""The code pipeline: architect -> vet -> develop -> run tests -> (debug -> run tests)* -> review.

Models write tests, code, diagnoses and a review; the sandbox and plain Python decide. No role gets a tool.
"""

import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from reflexion.config import Role
from reflexion.context import CodeContext
from reflexion.errors import PromptTooLarge, ReplyRejected, StreamBroken
from reflexion.events import CandidateProposed, Reviewed, SuiteRan, SuiteVetted
from reflexion.graphs import Graph, run_graph
from reflexion.loaders import Source
from reflexion.ollama.reply import CallStats, Message, plain_calls
from reflexion.prompts.code import architect_messages, debugger_messages, developer_messages, reviewer_messages
from reflexion.suite.vet import vet as judge_suite
from reflexion.team.attempts import (
    GIVEN,
    MOST_SENT_BACK,
    PASSED,
    UNSOUND,
    Attempt,
    Draft,
    best_attempt,
    failing,
    new_attempt,
    score_of,
    stop_reason,
    stuck,
)
from reflexion.team.judging import digest, judged, names_of
from reflexion.team.replies import MOST_REVIEW_WORDS, Patch, read_code, read_design, read_patch, shortened
from reflexion.text import clean_markdown


class CodeState(TypedDict, total=False):
    """Plain values only, so that a checkpoint of any version can be read.

    ``tests_sha256`` is there once a suite is locked, ``collected`` names its tests as pytest does, and ``candidate``
    is what is to be tested next.
    """

    name: str
    request: str
    drafts: Annotated[list[Draft], operator.add]
    specification: str
    tests: str
    tests_sha256: str
    collected: list[str]
    candidate: Attempt | None
    attempts: Annotated[list[Attempt], operator.add]
    escalated: int
    trouble: str
    calls: list[dict[str, Any]]
    stop: str
    review: str
    review_trouble: str
    review_calls: list[dict[str, Any]]
    ended: bool


State = CodeState
Update = dict[str, Any]


def solve(
    graph: Graph, source: Source, context: CodeContext, thread: str = "", *, suite: str = "", candidate: str = ""
) -> State:
    """Run the pipeline on one request; with ``thread``, take up what its checkpoints hold. Returns the last state.

    With ``suite`` the architect is left out, and with ``candidate`` that is tested first. Raises CallFailed and its
    kinds when nothing came of it, ServerError when the server is gone, SandboxError.
    """
    start: State = {"name": source.label, "request": source.text, "drafts": [], "attempts": [], "escalated": 0}
    start |= {"specification": "", "stop": "", "collected": [], "candidate": None}
    if suite:
        start |= {"tests": suite, "tests_sha256": digest(suite)}
    if suite and candidate:
        start["candidate"] = new_attempt(1, GIVEN, draft=candidate)
    # Two nodes for each suite and each candidate, and the review.
    steps = 2 * (1 + MOST_SENT_BACK) + 2 * (2 + context.max_debug_iterations) + 1
    end: Any = run_graph(graph, start, context, steps=steps, thread=thread, end_key="ended", rounds_key="attempts")
    state: State = end
    return state


def build(saver: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return the compiled graph; it holds no state of its own and serves any number of requests at once."""
    graph = StateGraph(CodeState, context_schema=CodeContext)
    for node in (architect, vet, develop, run_tests, debug, review):
        graph.add_node(node.__name__, node)
    graph.add_conditional_edges(START, first, ["architect", "develop", "run_tests"])
    graph.add_edge("architect", "vet")
    graph.add_conditional_edges("vet", after_vet, ["architect", "develop", END])
    graph.add_edge("develop", "run_tests")
    graph.add_conditional_edges("run_tests", after_tests, ["develop", "debug", "review"])
    graph.add_edge("debug", "run_tests")
    graph.add_edge("review", END)
    return graph.compile(checkpointer=saver)


def first(state: State) -> Literal["architect", "develop", "run_tests"]:
    """Begin where there is something to do: a suite and a candidate that were given are not asked for."""
    if state.get("candidate"):
        return "run_tests"
    return "develop" if state.get("tests_sha256") else "architect"


def architect(state: State, runtime: Runtime[CodeContext]) -> Update:
    """ARCHITECT writes specification and tests, or both again with the reasons why the last were sent back."""
    context, log = runtime.context, list[CallStats]()
    number = len(state["drafts"]) + 1
    update: Update = {"specification": "", "tests": "", "trouble": ""}
    try:
        reply = context.models.ask(
            Role.ARCHITECT,
            architect_messages(state, context),
            attempt=number,
            progress=context.starting(state["name"], "architect", number, Role.ARCHITECT),
            log=log,
        )
        update["specification"], update["tests"] = read_design(reply.text)
    except StreamBroken:
        raise
    except ReplyRejected as error:
        update["trouble"] = str(error)
    context.tell_failed(log)
    return update | {"calls": plain_calls(log)}


def vet(state: State, runtime: Runtime[CodeContext]) -> Update:
    """Code judges the suite; no model. A sound one is locked by its hash."""
    context, number = runtime.context, len(state["drafts"]) + 1
    context.starting(state["name"], "vet", number)
    tests = state["tests"]
    reasons = [state["trouble"]] if state["trouble"] else list(judge_suite(tests, context.sandbox))
    draft = Draft(
        number=number, specification=state["specification"], tests=tests, reasons=reasons, calls=state["calls"]
    )
    context.emit(SuiteVetted(state["name"], number, not reasons, tuple(reasons), state["specification"], tests))
    if reasons:
        spent = number > MOST_SENT_BACK
        return {"drafts": [draft], "stop": UNSOUND if spent else "", "ended": spent}
    return {"drafts": [draft], "tests_sha256": digest(tests), "stop": ""}


def after_vet(state: State) -> str:
    """Develop against a sound suite, send an unsound one back, or end when that was done often enough."""
    if state.get("tests_sha256"):
        return "develop"
    return END if state["stop"] else "architect"


def develop(state: State, runtime: Runtime[CodeContext]) -> Update:
    """DEVELOPER writes the module from request, specification and tests."""
    names = names_of(state, runtime.context)
    return _candidate(
        state,
        runtime.context,
        "develop",
        Role.DEVELOPER,
        developer_messages(state, runtime.context),
        lambda text: Patch("", read_code(text, names)),
    )


def debug(state: State, runtime: Runtime[CodeContext]) -> Update:
    """DEBUGGER, or who it escalates to, says what is wrong with the best candidate and writes it anew."""
    best = best_attempt(state["attempts"])
    assert best is not None
    names = names_of(state, runtime.context)
    return _candidate(
        state,
        runtime.context,
        "debug",
        Role.DEBUGGER_ESCALATION if state["escalated"] else Role.DEBUGGER,
        debugger_messages(state, runtime.context, best),
        lambda text: read_patch(text, names),
    )


def run_tests(state: State, runtime: Runtime[CodeContext]) -> Update:
    """Code runs the locked suite against the candidate, and decides what comes next; no model."""
    context, this, collected = runtime.context, state["candidate"], state["collected"]
    assert this is not None
    if this["draft"]:
        context.starting(state["name"], "test", this["number"])
        done, collected = judged(this["draft"], state, context)
        run = done._asdict() | {
            "failures": [item._asdict() for item in done.failures],
            "flags": [item._asdict() for item in done.flags],
        }
        this = Attempt({**this, "run": run, "score": score_of(run)})
        context.emit(_ran(state["name"], this["number"], run))
    attempts = [*state["attempts"], this]
    can_escalate = Role.DEBUGGER_ESCALATION in context.models.bindings and not state["escalated"]
    most = 1 + context.max_debug_iterations
    stop = state["stop"] or stop_reason(attempts, most, state["escalated"], can_escalate=can_escalate)
    update: Update = {"attempts": [this], "candidate": None, "stop": stop, "collected": collected}
    if not stop and can_escalate and stuck(attempts, 0):
        update["escalated"] = len(attempts)
    return update


def after_tests(state: State) -> Literal["develop", "debug", "review"]:
    """Go on only when there is no reason to stop; without any candidate it is the developer's turn again."""
    if state["stop"]:
        return "review"
    return "debug" if best_attempt(state["attempts"]) else "develop"


def review(state: State, runtime: Runtime[CodeContext]) -> Update:
    """REVIEWER puts the real results into words. The outcome is settled before, and stays."""
    context, log = runtime.context, list[CallStats]()
    text, trouble = "", ""
    try:
        reply = context.models.ask(
            Role.REVIEWER,
            reviewer_messages(state, context),
            progress=context.starting(state["name"], "review", len(state["attempts"]), Role.REVIEWER),
            log=log,
        )
        text = shortened(clean_markdown(reply.text), MOST_REVIEW_WORDS)
        trouble = "" if text else "the reply holds no review"
    except StreamBroken:
        raise
    except (PromptTooLarge, ReplyRejected) as error:
        trouble = str(error)
    context.tell_failed(log)
    context.emit(Reviewed(state["name"], text, trouble))
    return {"review": text, "review_trouble": trouble, "review_calls": plain_calls(log), "ended": True}


def accepted(state: State) -> bool:
    """Return whether the code that ships passed the suite that was found sound."""
    return state["stop"] == PASSED


def _candidate(
    state: State, context: CodeContext, node: str, role: Role, messages: list[Message], read: Callable[[str], Patch]
) -> Update:
    """Ask for a module. A reply that cannot be used is an attempt without one; it says what was wrong."""
    number, log = len(state["attempts"]) + 1, list[CallStats]()
    patch, trouble, stop = Patch("", ""), "", ""
    progress = context.starting(state["name"], node, number, role)
    try:
        patch = read(context.models.ask(role, messages, attempt=number, progress=progress, log=log).text)
    except StreamBroken:
        raise
    except ReplyRejected as error:
        trouble = str(error)
    except PromptTooLarge as error:
        if not state["attempts"]:
            raise
        trouble, stop = str(error), "window too small"
    context.tell_failed(log)
    model = context.models.bindings[role].model
    context.emit(CandidateProposed(state["name"], number, role.value, model, *patch, trouble))
    attempt = new_attempt(number, role.value, model, patch.diagnosis, patch.code, trouble, plain_calls(log))
    return {"candidate": attempt, "stop": stop}


def _ran(name: str, number: int, run: dict[str, Any]) -> SuiteRan:
    flags = tuple(f"line {flag['line']}: {flag['what']}" for flag in run["flags"])
    counts = (run["passed"], run["reason"], run["total"], run["passes"])
    return SuiteRan(name, number, *counts, tuple(failing(run)), flags, run["mode"])
