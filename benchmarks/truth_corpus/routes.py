"""Shortest routes in weighted graphs."""

import heapq
from collections import deque
from collections.abc import Hashable, Mapping
from typing import TypeAlias

Graph: TypeAlias = Mapping[Hashable, Mapping[Hashable, float]]

INFINITY = float("inf")
MAX_HOPS = 64


class NoRoute(Exception):
    """Two nodes are not connected."""


class NegativeWeight(ValueError):
    """An edge has a weight below zero."""


def shortest_route(graph: Graph, start: Hashable, goal: Hashable, max_cost: float = INFINITY) -> list[Hashable]:
    """Find the cheapest route."""
    queue: list[tuple[float, int, list[Hashable]]] = [(0.0, 0, [start])]
    done: set[Hashable] = set()
    order = 0
    while queue:
        cost, _, route = heapq.heappop(queue)
        node = route[-1]
        if node == goal:
            return route
        if node in done or cost > max_cost:
            continue
        done.add(node)
        for neighbour, weight in _edges(graph, node):
            order += 1
            heapq.heappush(queue, (cost + weight, order, [*route, neighbour]))
    raise NoRoute(f"no route from {start} to {goal}")


def hops(graph: Graph, start: Hashable, goal: Hashable) -> int:
    """Count edges on the shortest way, ignoring weights."""
    queue = deque([(start, 0)])
    seen = {start}
    while queue:
        node, count = queue.popleft()
        if node == goal:
            return count
        if count >= MAX_HOPS:
            raise RecursionError("too many hops")
        for neighbour in graph.get(node, {}):
            if neighbour not in seen:
                seen.add(neighbour)
                queue.append((neighbour, count + 1))
    return -1


def reverse(graph: Graph) -> dict[Hashable, dict[Hashable, float]]:
    """Turn every edge around."""
    turned: dict[Hashable, dict[Hashable, float]] = {node: {} for node in graph}
    for node, edges in graph.items():
        for neighbour, weight in edges.items():
            turned.setdefault(neighbour, {})[node] = weight
    return turned


def _edges(graph: Graph, node: Hashable) -> list[tuple[Hashable, float]]:
    edges = list(graph.get(node, {}).items())
    for _, weight in edges:
        if weight < 0:
            raise NegativeWeight(f"edge weight {weight} is negative")
    return edges
