"""What a run tells about itself while it runs. Nodes emit events; ``report.py`` shows them; nothing else prints."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """Something the user should know, in one line."""

    text: str


@dataclass(frozen=True, slots=True)
class FileStarted:
    """Work on a source begins. ``index`` counts from 1 to ``count``."""

    source: str
    index: int
    count: int


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A node of the graph begins. ``model`` is "" for nodes that are plain code."""

    source: str
    node: str
    round: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class TokensReceived:
    """A model is answering: records so far, and seconds since the call started."""

    source: str
    node: str
    tokens: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class RoundScored:
    """A round was judged. ``score`` is None when it is unscored, and ``trouble`` then says why.

    ``contract`` and ``examples`` are code's own sub-scores beside the critic's two; None for what is not Python, and
    where no example ran.
    """

    source: str
    round: int
    technical_accuracy: int | None
    completeness: int | None
    contract: int | None
    score: int | None
    bar: int
    errors: int
    warnings: int
    fix: str
    trouble: str = ""
    examples: int | None = None


@dataclass(frozen=True, slots=True)
class FileFinished:
    """A source is done. ``outcome`` is accepted, not accepted or failed; ``detail`` says what else there is to say.

    ``mended`` says line by line what code changed; ``repaired`` that it did, ``assembled`` that the page was put
    together from the facts and the prose that survived. ``examples`` says how
    many of its examples ran and why others did not ("" without any).
    """

    source: str
    outcome: str
    output: str
    scores: tuple[int | None, ...]
    attempts: int
    stop: str
    model_s: float
    tokens: int
    detail: str = ""
    mended: tuple[str, ...] = ()
    repaired: bool = False
    assembled: bool = False
    examples: str = ""


Event = Note | FileStarted | NodeStarted | TokensReceived | RoundScored | FileFinished
Emit = Callable[[Event], None]
