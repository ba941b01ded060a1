"""The answers' forms: heads, chunks, and the records of each endpoint."""

import hashlib
import json
import math
from typing import Any

from tests.ollama_double import rules
from tests.ollama_double.decoding import Body
from tests.ollama_double.models import ModelInfo
from tests.ollama_double.replies import Reply

JSON = "application/json; charset=utf-8"
NDJSON = "application/x-ndjson"
PLAIN = "text/plain"
CREATED_AT = "2026-01-01T00:00:00Z"
NANOSECONDS = 1_000_000_000
GENERATED_PER_S = 80
PROMPT_PER_S = 400
DIMENSIONS = 16


def head(code: int, content_type: str, length: int | None = None) -> bytes:
    """Status line and headers; without ``length`` the body comes in chunks."""
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return f"HTTP/1.1 {code} Status\r\nContent-Type: {content_type}\r\n{framing}\r\n\r\n".encode()


def chunk(data: bytes) -> bytes:
    """One chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def line(record: Body) -> bytes:
    """A record as a line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def record(body: Body, content: str, thinking: str = "") -> Body:
    """One record of a reply: of generate when the request had no messages, else of chat."""
    made = {"model": body.get("model", ""), "created_at": CREATED_AT, "done": False}
    thought = {"thinking": thinking} if thinking else {}
    if "messages" not in body and "prompt" in body:
        return made | {"response": content} | thought
    return made | {"message": {"role": "assistant", "content": content} | thought}


def whole(body: Body, act: Reply, final: Body) -> Body:
    """The one record of a reply that does not stream; without a final one it is left unfinished."""
    kept = (
        {} if act.end == "none" else {key: value for key, value in final.items() if key not in ("message", "response")}
    )
    return record(body, act.text, act.thinking) | kept


def final(act: Reply, body: Body, info: ModelInfo, load_s: float) -> Body:
    """The last record; ``total_duration`` is still to be set."""
    prompt, generated = act.prompt_eval_count, act.eval_count
    if prompt is None:
        prompt = min(rules.prompt_tokens(body), rules.window_of(info, body))
    if generated is None:
        generated = rules.text_tokens(act.text + act.thinking)
    made = record(body, "") | {
        "done": True,
        "done_reason": act.done_reason,
        "total_duration": 0,
        "load_duration": max(1, int(load_s * NANOSECONDS)),
        "prompt_eval_count": prompt,
        "prompt_eval_duration": prompt * NANOSECONDS // PROMPT_PER_S,
        "eval_count": generated,
        "eval_duration": generated * NANOSECONDS // GENERATED_PER_S,
    }
    return made | ({"context": list(range(prompt + generated))} if "response" in made and not body.get("raw") else {})


def ending(act: Reply, body: Body, last: Body) -> list[bytes]:
    """What follows the text: the final record, or what the script wants in its place."""
    match act.end:
        case "none" | "eof":
            return []
        case "error":
            return [line({"error": act.error})]
        case "half_json":
            return [line(record(body, "and then"))[:40]]
        case "bad_utf8":
            return [line(record(body, "@")).replace(b"@", b"\xff\xfe"), line(last)]
        case _:
            return [line(last)]


def embedding(text: str, dimensions: int = 0) -> list[float]:
    """A vector of length one that depends on nothing but the text."""
    numbers = [byte - 127.5 for byte in hashlib.sha256(text.encode("utf-8", "replace")).digest()[:DIMENSIONS]]
    kept = numbers[:dimensions] if 0 < dimensions < DIMENSIONS else numbers
    length = math.sqrt(sum(number * number for number in kept))
    return [number / length for number in kept]


def embeddings(body: Body, info: ModelInfo, load_s: float) -> Body:
    """The answer of ``/api/embed``; nothing but the model and an empty list when nothing was given."""
    given: Any = body.get("input") or []
    texts = given if isinstance(given, list) else [given]
    made: Body = {
        "model": body["model"],
        "embeddings": [embedding(text, body.get("dimensions") or 0) for text in texts],
    }
    if not texts:
        return made
    window = rules.window_of(info, body)
    return made | {
        "total_duration": max(1, int(load_s * NANOSECONDS)),
        "load_duration": max(1, int(load_s * NANOSECONDS)),
        "prompt_eval_count": sum(min(rules.text_tokens(text), window) for text in texts),
    }
