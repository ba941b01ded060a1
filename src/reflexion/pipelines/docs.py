"""The documentation pipeline: generate -> verify -> critique -> judge -> (again | adjudicate -> settle).

Models write and review; every decision is plain Python. The drawing is in docs/architecture.md.
"""

import operator
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from reflexion.config import Role
from reflexion.context import DocsContext
from reflexion.errors import CallFailed, PromptTooLarge, ReplyRejected, StreamBroken
from reflexion.evidence.finding import Finding
from reflexion.evidence.verify import score as code_scores
from reflexion.evidence.verify import verify as check_document
from reflexion.evidence.verify import worst
from reflexion.graphs import Graph, run_graph
from reflexion.loaders import Source
from reflexion.marker import without_own_comments
from reflexion.ollama.reply import CallStats, Message, Progress, plain_calls
from reflexion.outcome import Result, Verdict
from reflexion.prompts.docs import adjudicator_messages, critic_messages, generator_messages
from reflexion.rounds import Round, best_round, scored, stop_reason
from reflexion.settle import Candidate
from reflexion.settle import settle as choose_and_mend
from reflexion.text import clean_markdown
from reflexion.verdict import Critique, average, choose_fix, errors_in


class DocsState(TypedDict, total=False):
    """Plain values only, so that a checkpoint of any version can be read."""

    name: str
    source: str
    rounds: Annotated[list[Round], operator.add]
    conversation: list[dict[str, str]]
    draft: str
    findings: list[dict[str, Any]]
    critique: dict[str, Any] | None
    critic_skipped: bool
    trouble: str
    calls: list[dict[str, Any]]
    stop: str
    adjudicated: str
    adjudication: str
    adjudication_calls: list[dict[str, Any]]
    outcome: Verdict
    text: str
    score: int | None
    shipped_findings: list[dict[str, Any]]
    mended: list[str]
    assembled: bool


State = DocsState
Update = dict[str, Any]


def document(graph: Graph, source: Source, context: DocsContext, thread: str = "") -> Result:
    """Run the pipeline on one source; with ``thread``, take up what its checkpoints hold.

    Raises CallFailed and its kinds when no usable page came out of it, ServerError when the server is gone.
    """
    context = context.for_source(source)
    end = run_graph(
        graph,
        {"name": source.label, "source": source.text, "rounds": []},
        context,
        steps=4 * context.max_attempts + 5,  # Four nodes a round and two at the end.
        thread=thread,
        end_key="outcome",
        rounds_key="rounds",
    )
    calls = [CallStats(**call) for item in end["rounds"] for call in item["calls"]]
    calls += [CallStats(**call) for call in end.get("adjudication_calls", [])]
    return Result(
        outcome=end["outcome"],
        text=end["text"],
        score=end["score"],
        stop=end["stop"],
        adjudication=end.get("adjudication", ""),
        findings=tuple(Finding(**item) for item in end["shipped_findings"]),
        rounds=tuple(end["rounds"]),
        calls=tuple(calls),
        mended=tuple(end["mended"]),
        assembled=end["assembled"],
        examples=context.run_examples(end["text"]),
    )


def build(saver: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return the compiled graph; it holds no state of its own and serves any number of sources at once.

    With ``saver`` each source that has a thread is checkpointed there.
    """
    graph = StateGraph(DocsState, context_schema=DocsContext)
    for node in (generate, verify, critique, judge, adjudicate, settle):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "generate")
    graph.add_conditional_edges("generate", lambda state: "verify" if state["draft"] else "judge", ["verify", "judge"])
    graph.add_conditional_edges("verify", review_or_judge, ["critique", "judge"])
    graph.add_edge("critique", "judge")
    graph.add_conditional_edges("judge", route, ["generate", "adjudicate"])
    graph.add_edge("adjudicate", "settle")
    graph.add_edge("settle", END)
    return graph.compile(checkpointer=saver)


def generate(state: State, runtime: Runtime[DocsContext]) -> Update:
    """GENERATOR drafts from the source and its facts, or revises with the one fix."""
    context, number = runtime.context, len(state["rounds"]) + 1
    conversation = generator_messages(state, context)
    log: list[CallStats] = []
    update: Update = {"draft": "", "trouble": "", "findings": [], "critique": None, "critic_skipped": False, "stop": ""}
    try:
        reply = context.models.ask(
            Role.GENERATOR,
            conversation,
            attempt=number,
            progress=_starting(state, context, "generate", Role.GENERATOR),
            log=log,
        )
        update["draft"] = without_own_comments(clean_markdown(reply.text))
        update["trouble"] = "" if update["draft"].strip() else "the reply holds no document"
    except StreamBroken:
        raise
    except ReplyRejected as error:
        update["trouble"] = str(error)
    except PromptTooLarge as error:
        if not state["rounds"]:
            raise
        update |= {"trouble": str(error), "stop": "window too small"}
    if update["draft"]:
        conversation = [*conversation, Message("assistant", update["draft"])]
    context.tell_failed(log)
    return update | {"calls": plain_calls(log), "conversation": [message._asdict() for message in conversation]}


def verify(state: State, runtime: Runtime[DocsContext]) -> Update:
    """Code checks the draft; no model."""
    _starting(state, runtime.context, "verify")
    findings = _check(state, runtime.context, state["draft"])
    skipped = runtime.context.critic_when_clean and bool(errors_in(findings))
    trouble = "the critic was not asked: code has proof already" if skipped else ""
    return {"findings": [asdict(finding) for finding in findings], "critic_skipped": skipped, "trouble": trouble}


def review_or_judge(state: State) -> Literal["critique", "judge"]:
    """Leave the critic out where its settings say so and code has proof already."""
    return "judge" if state["critic_skipped"] else "critique"


def critique(state: State, runtime: Runtime[DocsContext]) -> Update:
    """CRITIC, another model, returns two sub-scores and one fix."""
    context, log = runtime.context, list[CallStats]()
    try:
        reply = context.models.ask(
            Role.CRITIC,
            critic_messages(state, context),
            Critique,
            repair=context.prompts.fill("CRITIC", "repair"),
            progress=_starting(state, context, "critique", Role.CRITIC),
            log=log,
        )
        verdict, trouble = (reply.parsed.model_dump() if reply.parsed else None), reply.trouble
    except PromptTooLarge as error:
        verdict, trouble = None, str(error)
    context.tell_failed(log)
    return {"critique": verdict, "trouble": trouble, "calls": state["calls"] + plain_calls(log)}


def judge(state: State, runtime: Runtime[DocsContext]) -> Update:
    """Code scores the round, chooses the one fix, and decides whether there is another round."""
    context = runtime.context
    verdict = Critique(**state["critique"]) if state["critique"] else None
    findings = _findings(state["findings"])
    number = len(state["rounds"]) + 1
    this = Round(
        number=number,
        draft=state["draft"],
        technical_accuracy=verdict.technical_accuracy if verdict else None,
        completeness=verdict.completeness if verdict else None,
        score=average(verdict) if verdict else None,
        contract=code_scores(findings, context.facts).contract if context.facts and state["draft"] else None,
        examples=report.score if state["draft"] and (report := context.run_examples(state["draft"])) else None,
        skipped=state["critic_skipped"],
        findings=state["findings"],
        fix=choose_fix(worst(findings), verdict),
        trouble=state["trouble"],
        calls=state["calls"],
    )
    context.emit(scored(state["name"], this, context.quality_score_bar))
    stop = state["stop"] or stop_reason([*state["rounds"], this], context.quality_score_bar, context.max_attempts)
    return {"rounds": [this], "stop": stop}


def route(state: State) -> Literal["generate", "adjudicate"]:
    """Go on only when judge found no reason to stop."""
    return "adjudicate" if state["stop"] else "generate"


def adjudicate(state: State, runtime: Runtime[DocsContext]) -> Update:
    """ADJUDICATOR, a third model, resolves contradictions in the best draft and adds nothing."""
    context, log = runtime.context, list[CallStats]()
    best = best_round(state["rounds"])
    if best is None:
        last = state["rounds"][-1]
        raise CallFailed(f"no usable draft in {last['number']} rounds; the last trouble: {last['trouble']}")
    progress = _starting(state, context, "adjudicate", Role.ADJUDICATOR)
    try:
        reply = context.models.ask(
            Role.ADJUDICATOR, adjudicator_messages(state, context, best), progress=progress, log=log
        )
        text, said = without_own_comments(clean_markdown(reply.text)), "done"
    except StreamBroken:
        raise
    except (PromptTooLarge, ReplyRejected) as error:
        text, said = "", f"skipped: {error}"
    context.tell_failed(log)
    return {"adjudicated": text, "adjudication": said, "adjudication_calls": plain_calls(log)}


def settle(state: State, runtime: Runtime[DocsContext]) -> Update:
    """Code keeps the best candidate, mends it, verifies it as it ships, and names the outcome."""
    context = runtime.context
    _starting(state, context, "settle")
    drafts = [item for item in state["rounds"] if item["draft"]]
    candidates = [Candidate(item["draft"], item["score"], _findings(item["findings"])) for item in drafts]
    given = best_round(drafts)
    if given and state["adjudicated"].strip():
        findings = _check(state, context, state["adjudicated"])
        if _keeps_the_facts(findings, context, given):
            candidates.append(Candidate(state["adjudicated"], given["score"], findings))
    settled = choose_and_mend(candidates, context.facts, lambda text: _check(state, context, text))
    reached = any(item["score"] is not None and item["score"] >= context.quality_score_bar for item in drafts)
    return {
        "text": settled.text,
        "score": settled.score,
        "outcome": "accepted" if reached and not errors_in(settled.findings) else "not accepted",
        "shipped_findings": [asdict(finding) for finding in settled.findings],
        "mended": list(settled.mended),
        "assembled": settled.assembled,
    }


def _findings(plain: Sequence[dict[str, Any]]) -> list[Finding]:
    return [Finding(**item) for item in plain]


def _check(state: State, context: DocsContext, text: str) -> list[Finding]:
    return check_document(
        text, context.facts, off=context.rules_off, source_text=state["source"], examples=context.examples
    )


def _keeps_the_facts(findings: Sequence[Finding], context: DocsContext, given: Round) -> bool:
    """Return whether the text with these findings states no fewer of the facts than the draft it was made from."""
    return context.facts is None or code_scores(findings, context.facts).contract >= (given["contract"] or 0)


def _starting(state: State, context: DocsContext, node: str, role: Role | None = None) -> Progress:
    done = len(state["rounds"])
    number = done if node in ("adjudicate", "settle") else done + 1
    return context.starting(state["name"], node, number, role)
