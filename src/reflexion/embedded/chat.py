"""``/api/chat``: fit the messages into the window, let llama.cpp write, put its records into Ollama's words."""

import bisect
import json
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from reflexion.embedded.catalog import Catalog, Model
from reflexion.embedded.options import Options, parse_options
from reflexion.embedded.pool import Loaded, Pool
from reflexion.embedded.runner import TERMINATED, Call, Session
from reflexion.embedded.schema import INVALID, Schema, schema_of_format
from reflexion.embedded.wire import ApiError, ChatRequest, timestamp

Record = dict[str, Any]

# Ollama ends a reply without a limit of its own at ten windows.
REPLY_WINDOWS = 10
NANOSECONDS_PER_MS = 1_000_000

# How long the first token of a structured reply is held back, since llama.cpp tells only its log of a dropped schema.
LOG_S = 0.15


def chat(catalog: Catalog, pool: Pool, request: ChatRequest, call: Call) -> Generator[Record]:
    """The records of one chat call, the last with ``done`` set; nothing runs before the first is asked for.

    Raises:
        ApiError: the answer is an error (before the first record, or instead of the next).
        ClientGone: the client hung up.
    """
    started = time.perf_counter_ns()
    model = catalog.find(request.model)
    if model is None:
        raise ApiError(404, f"model '{request.model}' not found")
    if not request.messages and request.keep_s == 0:
        pool.unload(model)
        yield _preload_record(request, "unload")
        return
    _check_capabilities(request)
    options = parse_options(request.options)
    schema = schema_of_format(request.format) if request.messages else None
    with pool.use(model, options.window(model.header.window), request.keep_s, call) as loaded:
        if not request.messages:
            yield _preload_record(request, "load")
            return
        times = {"started": started, "loaded": time.perf_counter_ns()}
        with loaded.runner.session(call) as session:
            yield from _reply(session, loaded, request, options, schema, times)


def _reply(
    session: Session,
    loaded: Loaded,
    request: ChatRequest,
    options: Options,
    schema: Schema | None,
    times: Mapping[str, int],
) -> Iterator[Record]:
    tokens, count = _fit(session, request, loaded, options.num_keep)
    text: list[str] = []
    for record in session.complete(_completion(tokens, options, schema, loaded.window)):
        if schema is not None and loaded.runner.drops_schema(0.0 if text else LOG_S):
            raise ApiError(500, INVALID)
        if record["content"]:
            text.append(record["content"])
            yield _record(request, record["content"])
        if record["stop"]:
            _check_kept(record, schema, "".join(text))
            yield _final_record(request, record, count, times)


def _check_capabilities(request: ChatRequest) -> None:
    if request.thinking:
        raise ApiError(400, f'"{request.model}" does not support thinking')
    if request.tools:
        raise ApiError(400, f"{request.model} does not support tools")


def _fit(session: Session, request: ChatRequest, loaded: Loaded, keep: int) -> tuple[list[int], int]:
    """The prompt's tokens, cut to the window as Ollama cuts, and how many Ollama would count.

    The oldest messages go first (system messages stay, and so does the last message); if that is not enough, tokens
    behind the first ``keep`` go, so the end of the prompt stays.
    """
    window = loaded.window
    tokens = _tokens(session, request.messages, 0)
    if len(tokens) > window:
        if not request.truncate:
            raise ApiError(400, "the input length exceeds the context length")
        last = len(request.messages) - 1
        first = bisect.bisect_left(
            range(last), True, lo=min(1, last), key=lambda i: len(_tokens(session, request.messages, i)) <= window
        )
        tokens = _tokens(session, request.messages, first)
    count = min(len(tokens), window)
    # At the model's own full window llama.cpp still wants one cell for the reply: one token less than is counted.
    room = min(window, loaded.runner.cells - 1)
    if len(tokens) > room:
        kept = min(len(tokens) if keep < 0 else keep, room - 1)
        tokens = tokens[:kept] + tokens[len(tokens) - (room - kept) :]
    return tokens, count


def _tokens(session: Session, messages: list[dict[str, str]], first: int) -> list[int]:
    kept = [message for message in messages[:first] if message["role"] == "system"] + messages[first:]
    return session.tokens(session.prompt(kept))


def _completion(tokens: list[int], options: Options, schema: Schema | None, window: int) -> Record:
    longest = REPLY_WINDOWS * window
    body: Record = {
        **options.sampling(),
        "prompt": tokens,
        "stream": True,
        "return_progress": True,
        "cache_prompt": True,
        "n_predict": options.num_predict if 0 < options.num_predict < longest else longest,
        "n_keep": max(options.num_keep, -1),
    }
    return body if schema is None else {**body, "json_schema": schema}


def _check_kept(record: Record, schema: Schema | None, text: str) -> None:
    # llama.cpp drops a schema that it cannot compile without telling; free text must not pass for a structured reply.
    if schema is None or record.get("stop_type") != "eos":
        return
    try:
        json.loads(text)
    except ValueError as error:
        raise ApiError(500, INVALID) from error


def _record(request: ChatRequest, content: str) -> Record:
    message = {"role": "assistant", "content": content}
    return {"model": request.model, "created_at": timestamp(), "message": message, "done": False}


def _preload_record(request: ChatRequest, reason: str) -> Record:
    return {**_record(request, ""), "done": True, "done_reason": reason}


def _final_record(request: ChatRequest, record: Record, count: int, times: Mapping[str, int]) -> Record:
    timings = record["timings"]
    return {
        **_record(request, ""),
        "done": True,
        "done_reason": "length" if record.get("stop_type") == "limit" else "stop",
        "total_duration": time.perf_counter_ns() - times["started"],
        "load_duration": times["loaded"] - times["started"],
        "prompt_eval_count": count,
        "prompt_eval_duration": round(timings["prompt_ms"] * NANOSECONDS_PER_MS),
        "eval_count": record["tokens_predicted"],
        "eval_duration": round(timings["predicted_ms"] * NANOSECONDS_PER_MS),
    }


def whole_reply(records: Iterator[Record]) -> Record:
    """The one record of a call that does not stream."""
    content = []
    for record in records:
        content.append(record["message"]["content"])
        if record["done"]:
            return {**record, "message": {"role": "assistant", "content": "".join(content)}}
    raise ApiError(500, TERMINATED)


def describe(model: Model) -> Record:
    """The body of ``/api/show``. Array values of the metadata are ``null``, as Ollama answers without ``verbose``."""
    header = model.header
    return {
        "modelfile": f"FROM {model.path.name}\n",
        "template": header.template,
        "details": model.details(),
        "model_info": {**header.metadata, "general.parameter_count": header.parameters},
        "capabilities": ["completion"],
        "modified_at": timestamp(model.modified),
    }
