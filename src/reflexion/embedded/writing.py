"""From a prompt to a reply: what chat and generate have in common."""

import bisect
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from reflexion.embedded.catalog import Model
from reflexion.embedded.options import Options, parse_options
from reflexion.embedded.pool import Loaded
from reflexion.embedded.requests import WriteRequest
from reflexion.embedded.runner import TERMINATED, Session
from reflexion.embedded.schema import INVALID, Schema, schema_of_format
from reflexion.embedded.wire import ApiError

Record = dict[str, Any]
Messages = Sequence[dict[str, str]]

# Ollama ends a reply without a limit of its own at ten windows.
REPLY_WINDOWS = 10
NANOSECONDS_PER_MS = 1_000_000
TOO_LONG = "the input length exceeds the context length"

# How long the first token of a structured reply is held back, since llama.cpp tells only its log of a dropped schema.
LOG_S = 0.15


@dataclass(frozen=True)
class Orders:
    """How a reply is to be written."""

    options: Options
    schema: Schema | None
    truncate: bool
    shift: bool


@dataclass
class Clock:
    """Moments of a call in nanoseconds: begun, and the model there."""

    started: int = field(default_factory=time.perf_counter_ns)
    loaded: int = 0

    def model_is_there(self) -> None:
        """Note the moment at which waiting and loading end."""
        self.loaded = time.perf_counter_ns()

    def durations(self) -> Record:
        """The two durations that a final record tells of the whole call."""
        return {
            "total_duration": time.perf_counter_ns() - self.started,
            "load_duration": self.loaded - self.started,
        }


@dataclass(frozen=True)
class Prompt:
    """Tokens to send, and how many of them Ollama would count."""

    tokens: list[int]
    count: int


def orders_of(request: WriteRequest, model: Model, verb: str, *, writes: bool) -> Orders:
    """Check what is asked of the model. Where it is loaded and writes nothing, nobody reads the format.

    Raises:
        ApiError: 400 where the model cannot do it, 500 for options or a schema that cannot be used.
    """
    if model.header.embeds:
        raise ApiError(400, f'"{request.model}" does not support {verb}')
    if request.think:
        raise ApiError(400, f'"{request.model}" does not support thinking')
    options = parse_options(request.options)
    return Orders(options, schema_of_format(request.format) if writes else None, request.truncate, request.shift)


def fit_messages(session: Session, messages: Messages, loaded: Loaded, orders: Orders) -> list[int]:
    """The tokens of a conversation. The oldest messages go until the rest fits; system messages stay, and so does the
    last one, also where it alone is too long. All stay where nothing may be cut.
    """
    window = loaded.window
    tokens = _tokens(session, messages, 0)
    if len(tokens) <= window or not orders.truncate:
        return tokens
    last = len(messages) - 1
    first = bisect.bisect_left(
        range(last), True, lo=min(1, last), key=lambda i: len(_tokens(session, messages, i)) <= window
    )
    return _tokens(session, messages, first)


def cut(tokens: list[int], loaded: Loaded, orders: Orders) -> Prompt:
    """The prompt, cut behind its first ``num_keep`` tokens where it is longer than the window, so that its end stays.

    Raises:
        ApiError: 400 when it is too long and must not be cut.
    """
    window, keep = loaded.window, orders.options.num_keep
    if len(tokens) > window and not orders.truncate:
        raise ApiError(400, TOO_LONG)
    count = min(len(tokens), window)
    # At the model's own full window llama.cpp still wants one cell for the reply: one token less than is counted.
    room = min(window, loaded.runner.cells - 1)
    if len(tokens) > room:
        kept = min(len(tokens) if keep < 0 else keep, room - 1)
        tokens = tokens[:kept] + tokens[len(tokens) - (room - kept) :]
    return Prompt(tokens, count)


def write(session: Session, loaded: Loaded, prompt: Prompt, orders: Orders) -> Iterator[str | Record]:
    """The pieces of a reply as they come, and at the end what the final record tells of it.

    Raises:
        ApiError: llama.cpp's error, or 500 when the schema was not kept.
    """
    text: list[str] = []
    for record in session.complete(_completion(prompt, orders, loaded.window)):
        if orders.schema is not None and loaded.runner.drops_schema(0.0 if text else LOG_S):
            raise ApiError(500, INVALID)
        if record["content"]:
            text.append(record["content"])
            yield record["content"]
        if record["stop"]:
            _check_kept(record, orders.schema, "".join(text))
            yield _counts(record, prompt)


def whole_reply(records: Iterator[Record]) -> Record:
    """The one record of a call that does not stream."""
    content: list[str] = []
    for record in records:
        said = record.get("message", record)
        key = "content" if "message" in record else "response"
        content.append(said[key])
        if record["done"]:
            said[key] = "".join(content)
            return record
    raise ApiError(500, TERMINATED)


def _tokens(session: Session, messages: Messages, first: int) -> list[int]:
    kept = [message for message in messages[:first] if message["role"] == "system"] + list(messages[first:])
    return session.tokens(session.prompt(kept))


def _completion(prompt: Prompt, orders: Orders, window: int) -> Record:
    options = orders.options
    longest = REPLY_WINDOWS * window if orders.shift else max(1, window - prompt.count)
    body: Record = {
        **options.sampling(),
        "prompt": prompt.tokens,
        "stream": True,
        "return_progress": True,
        "cache_prompt": True,
        "n_predict": options.num_predict if 0 < options.num_predict < longest else longest,
        "n_keep": max(options.num_keep, -1),
    }
    return body if orders.schema is None else {**body, "json_schema": orders.schema}


def _check_kept(record: Record, schema: Schema | None, text: str) -> None:
    # llama.cpp drops a schema that it cannot compile without telling; free text must not pass for a structured reply.
    if schema is None or record.get("stop_type") != "eos":
        return
    try:
        json.loads(text)
    except ValueError as error:
        raise ApiError(500, INVALID) from error


def _counts(record: Record, prompt: Prompt) -> Record:
    timings = record["timings"]
    return {
        "done_reason": "length" if record.get("stop_type") == "limit" else "stop",
        "prompt_eval_count": prompt.count,
        "prompt_eval_duration": round(timings["prompt_ms"] * NANOSECONDS_PER_MS),
        "eval_count": record["tokens_predicted"],
        "eval_duration": round(timings["predicted_ms"] * NANOSECONDS_PER_MS),
    }
