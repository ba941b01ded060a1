"""What the double can be told to do with one request. Times are in seconds, sizes in characters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

End = Literal["final", "none", "eof", "error", "half_json", "bad_utf8"]


@dataclass(frozen=True)
class Reply:
    """A text in several pieces, and how it ends. Counts left None are computed from the request and the text."""

    text: str
    thinking: str = ""
    done_reason: str = "stop"
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    wait_s: float = 0.0
    gap_s: float = 0.0
    load_s: float = 0.0
    chunk: int | None = None
    end: End = "final"
    error: str = ""

    def pieces(self, text: str) -> list[str]:
        """``text`` cut into records: ``chunk`` characters each, else 4 characters or a 24th of it."""
        size = self.chunk or max(4, -(-len(text) // 24))
        return [text[at : at + size] for at in range(0, len(text), size)]


@dataclass(frozen=True)
class Status:
    """An HTTP error with Ollama's ``{"error": message}``, for this and the next ``times - 1`` requests."""

    code: int
    message: str
    times: int = 1


@dataclass(frozen=True)
class Page:
    """A body of any type, as a proxy in the way would send."""

    body: str
    code: int = 200
    content_type: str = "text/html"


@dataclass(frozen=True)
class Refuse:
    """The connection is reset; with ``seconds`` above 0 new ones are refused for that long."""

    seconds: float = 0.0


@dataclass(frozen=True)
class Silence:
    """The request is read and nothing is sent until ``release()`` (then EOF), hang-up or the double's end."""


@dataclass(frozen=True)
class Runaway:
    """``piece`` again and again until the client hangs up; ``gap_s`` between two."""

    piece: str
    gap_s: float = 0.0
    start: str = field(default="")


@dataclass(frozen=True)
class Dropped:
    """A pull that ends early, when ``share`` of the model is there; what is there stays for the next one."""

    share: float
    end: Literal["eof", "none", "error", "half_json"] = "eof"
    error: str = ""


Act = Reply | Status | Page | Refuse | Silence | Runaway | Dropped
Scripted = Act | Callable[[dict[str, Any]], Act]


def reply(
    text: str,
    *,
    thinking: str = "",
    done_reason: str = "stop",
    prompt_eval_count: int | None = None,
    eval_count: int | None = None,
    wait_s: float = 0.0,
    gap_s: float = 0.0,
    load_s: float = 0.0,
    chunk: int | None = None,
) -> Reply:
    """A good reply, or one with a chosen ``done_reason`` or counts; ``load_s`` is waited and reported as load."""
    return Reply(text, thinking, done_reason, prompt_eval_count, eval_count, wait_s, gap_s, load_s, chunk)


def leaked_thinking(thinking: str, text: str, *, opening: bool = False) -> Reply:
    """Reasoning inside the content, ended by a closing tag, by default without an opening one."""
    return Reply(f"{'<think>' if opening else ''}{thinking}</think>\n\n{text}")


def slow(text: str, gap_s: float, chunk: int = 4) -> Reply:
    """A drip: ``chunk`` characters every ``gap_s``."""
    return Reply(text, gap_s=gap_s, chunk=chunk)


def no_final(text: str) -> Reply:
    """A stream that ends in good order but without its final record."""
    return Reply(text, end="none")


def eof(text: str) -> Reply:
    """The connection ends in the middle of the stream."""
    return Reply(text, end="eof")


def error_record(text: str, message: str) -> Reply:
    """``text``, then an error record inside the 200 stream."""
    return Reply(text, end="error", error=message)


def half_json(text: str) -> Reply:
    """``text``, then half a record, then the stream ends in good order."""
    return Reply(text, end="half_json")


def bad_utf8(text: str) -> Reply:
    """``text``, then a record with bytes that are not UTF-8, then the final record."""
    return Reply(text, end="bad_utf8")


def status(code: int, message: str = "server busy, please try again", times: int = 1) -> Status:
    """An HTTP error, ``times`` requests in a row."""
    return Status(code, message, times)


def html(body: str = "<html><body>Sign in to the proxy</body></html>", code: int = 200) -> Page:
    """A web page instead of Ollama."""
    return Page(body, code)


def reset() -> Refuse:
    """The connection is reset when the request has been read."""
    return Refuse()


def refuse(seconds: float) -> Refuse:
    """As `reset`, and new connections are refused for ``seconds``."""
    return Refuse(seconds)


def silence() -> Silence:
    """Never an answer."""
    return Silence()


def runaway(piece: str = "again and again ", *, gap_s: float = 0.0, start: str = "") -> Runaway:
    """``start``, then ``piece`` without end."""
    return Runaway(piece, gap_s, start)


def dropped(share: float, end: Literal["eof", "none", "error", "half_json"] = "eof", error: str = "") -> Dropped:
    """A pull that ends when ``share`` of the model is there: connection cut, stream ended, error or half a record."""
    return Dropped(share, end, error)


# The names that a script file uses; its other keys are the function's arguments.
KINDS: dict[str, Callable[..., Act]] = {
    kind.__name__: kind
    for kind in (
        reply,
        leaked_thinking,
        slow,
        no_final,
        eof,
        error_record,
        half_json,
        bad_utf8,
        status,
        html,
        reset,
        refuse,
        silence,
        runaway,
        dropped,
    )
}
