"""A pipeline's graph, run from its start or from where its checkpoints hold it to its end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Durability

from reflexion.context import Context
from reflexion.errors import ReflexionError

Graph = CompiledStateGraph[Any, Any, Any, Any]


def run_graph(
    graph: Graph, start: Mapping[str, Any], context: Context, *, steps: int, thread: str, end_key: str, rounds_key: str
) -> dict[str, Any]:
    """Return the last state of a graph, which takes ``steps`` steps at most.

    With ``thread`` what its checkpoints hold is taken up; a state that has ``end_key`` is at its end. An error gets
    the finished rounds (``rounds_key`` in the state), so that work is never thrown away.
    """
    # Of our own: langgraph's limit is about ten thousand steps, and at it all state is lost.
    config: RunnableConfig = {"recursion_limit": steps}
    context = replace(context, models=context.models.at(thread))
    begin: Mapping[str, Any] | None = start
    end: dict[str, Any] = {}
    if thread:
        config["configurable"] = {"thread_id": thread}
        end = graph.get_state(config).values
        begin = None if end else start
    try:
        # Each step is on disk before the next begins; its answers are there since they came.
        how: Durability | None = "sync" if thread else None
        if not end.get(end_key):
            for end in graph.stream(begin, config, context=context, stream_mode="values", durability=how):  # noqa: B007
                pass
    except ReflexionError as error:
        error.rounds = end.get(rounds_key, [])
        raise
    return end
