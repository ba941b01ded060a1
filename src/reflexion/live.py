"""The live line of a terminal: what is at work, how fast, and how much is left. No printing; ``report.py`` shows it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from reflexion.events import Event, FileFinished, FileStarted, NodeStarted, TokensReceived
from reflexion.text.shown import visible

# An estimate from fewer files would be a guess.
FILES_FOR_ESTIMATE = 2
# How much is shown of a reply while it streams.
LINES_WRITTEN = 8
LINE_WIDTH = 100


Place = tuple[str, str]
"""A source, and which part of it, "" for all of it."""


def place_of(event: Event) -> Place:
    """Return what an event is about."""
    return getattr(event, "source", ""), getattr(event, "part", "")


@dataclass(slots=True)
class LiveState:
    """What a run is doing, put together from its events. ``clock`` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    total: int = 0
    done: int = 0
    failed: int = 0
    began: float | None = None
    at_work: dict[Place, NodeStarted] = field(default_factory=dict)
    tokens: dict[Place, TokensReceived] = field(default_factory=dict)
    latest: Place = ("", "")

    def feed(self, event: Event) -> None:
        """Take one event in."""
        if isinstance(event, FileStarted):
            self.total = event.count
            self.began = self.clock() if self.began is None else self.began
        elif isinstance(event, NodeStarted):
            self.latest = place_of(event)
            self.at_work[self.latest] = event
            self.tokens.pop(self.latest, None)
        elif isinstance(event, TokensReceived):
            self.latest = place_of(event)
            self.tokens[self.latest] = event
        elif isinstance(event, FileFinished):
            self.end_nodes((event.source, ""))
            self.done += 1
            self.failed += event.outcome == "failed"

    def end_nodes(self, place: Place) -> list[tuple[NodeStarted, TokensReceived | None]]:
        """Take out the node that has just ended at a place, with what was last heard of its model.

        Without a part in the place those of all parts of the source.
        """
        ended = [one for one in self.at_work if one == place or (one[0] == place[0] and not place[1])]
        return [(self.at_work.pop(one), self.tokens.pop(one, None)) for one in ended]

    def describe(self) -> str:
        """Return the live line: the node at work for one file, the whole batch for several."""
        node = self.at_work.get(self.latest)
        one = _describe_node(node, self.tokens.get(self.latest)) if node else "starting"
        if self.total <= 1:
            return "\n".join([one, *self._written()])
        parts = [f"{self.done} of {self.total} files"]
        in_flight = len({source for source, _ in self.at_work})
        parts += [f"{in_flight} in flight"] if in_flight > 1 else []
        parts += [f"{self.failed} failed"] if self.failed else []
        left = self.seconds_left()
        parts += [f"about {duration(left)} left"] if left is not None else []
        return f"{', '.join(parts)}; {one}"

    def _written(self) -> list[str]:
        """Return the last lines of what the model has written so far."""
        heard = self.tokens.get(self.latest)
        lines = visible(heard.tail).splitlines() if heard else []
        return [f"  {line[:LINE_WIDTH]}" for line in lines[-LINES_WRITTEN:]]

    def seconds_left(self) -> float | None:
        """Return how long the rest will take at the pace of the files so far; None while that would be a guess."""
        if self.began is None or self.done < FILES_FOR_ESTIMATE:
            return None
        return (self.clock() - self.began) / self.done * (self.total - self.done)


def _describe_node(node: NodeStarted, tokens: TokensReceived | None) -> str:
    text = f"round {node.round}: {node.node} {node.model}".rstrip()
    if tokens is None or tokens.elapsed_s <= 0:
        return text
    return f"{text}  {tokens.tokens} tokens, {tokens.tokens / tokens.elapsed_s:.0f}/s"


def duration(seconds: float) -> str:
    """Return seconds as people say them: ``40 s``, ``12 min``, ``3 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
