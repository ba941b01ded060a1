"""A call to a model and what comes back of it, as plain records."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel

from reflexion.config import Role, RoleSettings
from reflexion.errors import ReplyCut, ReplyEmpty, StreamBroken
from reflexion.ollama.window import check_read_whole

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk

NANOSECONDS = 1e9
# Of the final record, what is made use of.
_KEPT = (
    "done_reason",
    "prompt_eval_count",
    "eval_count",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
)
# Records that are shown of a reply that is under way.
TAIL_RECORDS = 120

Progress = Callable[[int, float, str], None]
"""Called with the records received so far, the seconds since the call started, and the end of what was received."""


class Message(NamedTuple):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


class Binding(NamedTuple):
    """A role bound to an installed model. ``window`` is the num_ctx of every call, in tokens."""

    role: Role
    model: str
    settings: RoleSettings
    window: int
    can_think: bool = False
    digest: str = ""


class CallStats(NamedTuple):
    """One request to the server, whatever came of it. Times in seconds, as the server counts them.

    ``waited_s`` is what it waited at the gate before ``wall_s`` began.
    """

    role: str
    model: str
    outcome: str
    prompt_tokens: int = 0
    reply_tokens: int = 0
    load_s: float = 0.0
    prompt_s: float = 0.0
    generation_s: float = 0.0
    wall_s: float = 0.0
    waited_s: float = 0.0


class Reply(NamedTuple):
    """A whole reply. ``parsed`` is set for structured calls, or ``trouble`` says why nothing could be read."""

    text: str
    thinking: str
    stats: CallStats
    parsed: BaseModel | None = None
    trouble: str = ""


@dataclass(slots=True)
class Request:
    """One planned request; ``think`` None leaves the choice to the server."""

    binding: Binding
    messages: Sequence[Message]
    num_predict: int
    seed: int | None
    think: bool | str | None
    schema: Mapping[str, Any] | None = None
    progress: Progress | None = None
    log: list[CallStats] = field(default_factory=list)
    waited_s: float = 0.0

    @property
    def what(self) -> str:
        """Who is asked, as messages name it."""
        return f"{self.binding.role} ({self.binding.model})"


class Received:
    """What has arrived of one reply. ``wall_s`` is how long it took, 0 until it is whole.

    ``is_kept``: it came out of a journal, and no server was asked.
    """

    def __init__(self) -> None:
        self.records = 0
        self.wall_s = 0.0
        self.is_kept = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._final: dict[str, Any] = {}

    @classmethod
    def from_json(cls, kept: str) -> "Received":
        """Return what ``as_json`` was made of. Raises ValueError, KeyError, TypeError for any other text."""
        plain = json.loads(kept)
        received = cls()
        received.records, received.wall_s, received.is_kept = int(plain["records"]), float(plain["wall_s"]), True
        received._text, received._thinking = [str(plain["text"])], [str(plain["thinking"])]
        received._final = dict(plain["final"])
        return received

    def as_json(self) -> str:
        """Return all of it as JSON, for a journal."""
        final = {key: self._final[key] for key in _KEPT if key in self._final}
        plain = {"records": self.records, "wall_s": self.wall_s, "text": self.text, "thinking": self.thinking}
        return json.dumps({**plain, "final": final})

    @property
    def is_whole(self) -> bool:
        """Whether the final record is here."""
        return bool(self._final)

    @property
    def text(self) -> str:
        """The content so far, without what came as thinking."""
        return "".join(self._text)

    @property
    def tail(self) -> str:
        """The end of what came so far, thinking where nothing else came yet."""
        return "".join((self._text or self._thinking)[-TAIL_RECORDS:])

    @property
    def prompt_tokens(self) -> int:
        """What the server counted of the prompt, 0 where it did not."""
        return self._final.get("prompt_eval_count") or 0

    @property
    def thinking(self) -> str:
        """What came as thinking so far."""
        return "".join(self._thinking)

    def take(self, chunk: "AIMessageChunk") -> str:
        """Keep one record and return what it adds, thinking included."""
        self.records += 1
        piece = str(chunk.content)
        thought = str(chunk.additional_kwargs.get("reasoning_content", ""))
        self._text.append(piece)
        self._thinking.append(thought)
        if chunk.response_metadata.get("done_reason"):
            self._final = chunk.response_metadata
        return piece + thought

    def stats(self, request: Request, outcome: str, wall_s: float) -> CallStats:
        """Return the request's figures, whatever came of it."""

        def seconds(key: str) -> float:
            return (self._final.get(key) or 0) / NANOSECONDS

        return CallStats(
            role=request.binding.role.value,
            model=request.binding.model,
            outcome=outcome,
            prompt_tokens=self._final.get("prompt_eval_count") or 0,
            # Without a final record nobody counted: every record is one token.
            reply_tokens=self._final.get("eval_count") or self.records,
            load_s=seconds("load_duration"),
            prompt_s=seconds("prompt_eval_duration"),
            generation_s=seconds("eval_duration"),
            wall_s=self.wall_s or wall_s,
            waited_s=request.waited_s,
        )

    def check(self, request: Request) -> None:
        """Raise what is wrong with the reply: StreamBroken, PromptTooLarge, ReplyCut or ReplyEmpty."""
        binding, what = request.binding, request.what
        if not self.is_whole:
            raise StreamBroken(f"{what}: the stream ended without its final record", self.text)
        counted = self._final.get("prompt_eval_count")
        if counted:
            check_read_whole([message.text for message in request.messages], counted, binding.window, what)
        if self._final["done_reason"] == "length":
            raise ReplyCut(
                f"{what}: the reply was cut at {request.num_predict} tokens; a larger num_predict may help", self.text
            )
        from reflexion.text import strip_thinking  # Whoever looks at the server alone reads no text.

        if not strip_thinking(self.text).strip():
            raise ReplyEmpty(f"{what}: the reply is empty; another model may do better", self.text)


def plain_calls(stats: Sequence[CallStats]) -> list[dict[str, Any]]:
    """Return calls as plain values, for a graph's state and for the record."""
    return [item._asdict() for item in stats]


def total(stats: Sequence[CallStats], name: str) -> float:
    """Return the sum of one numeric field over calls."""
    return sum(float(getattr(item, name)) for item in stats)
