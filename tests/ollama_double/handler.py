"""One connection of the double: HTTP/1.1 with keep-alive, and as few writes as the script allows."""

import contextlib
import json
import select
import socket
import struct
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, cast

from tests.ollama_double import rules
from tests.ollama_double.models import ModelInfo
from tests.ollama_double.pulls import UNKNOWN, pull_lines
from tests.ollama_double.records import Request, full_name
from tests.ollama_double.replies import Act, Dropped, Page, Refuse, Reply, Runaway, Silence, Status

if TYPE_CHECKING:
    from tests.ollama_double.double import Listener, OllamaDouble

JSON = "application/json; charset=utf-8"
NDJSON = "application/x-ndjson"
CREATED_AT = "2026-01-01T00:00:00Z"
STEP_S = 0.02
NANOSECONDS = 1_000_000_000
GENERATED_PER_S = 80
PROMPT_PER_S = 400


class Handler(BaseHTTPRequestHandler):
    """Answers what is fixed, and plays acts for what is scripted."""

    protocol_version = "HTTP/1.1"
    # A write that waits for the acknowledgement of the one before costs 40 ms.
    disable_nagle_algorithm = True
    record: Request

    @property
    def double(self) -> "OllamaDouble":
        return cast("Listener", self.server).double

    def log_message(self, *_: object) -> None:
        """Nothing: the double records requests itself."""

    def do_GET(self) -> None:
        with self._recorded():
            self._get()

    def do_HEAD(self) -> None:
        with self._recorded():
            self._send(200, b"", "text/plain; charset=utf-8")

    def do_POST(self) -> None:
        with self._recorded():
            self._post()

    @contextlib.contextmanager
    def _recorded(self) -> Iterator[None]:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.record = Request(self.command, self.path.split("?")[0], headers, raw, _parsed(raw))
        self.double.note(self.record)
        try:
            yield
        except ConnectionError:
            self.record.hung_up = True
            self.close_connection = True
        finally:
            self.record.ended_at = time.monotonic()

    def _get(self) -> None:
        act = self.double.interference(self.record.path, {})
        if act is not None:
            self._play(act, {})
        elif self.record.path == "/":
            self._send(200, b"Ollama is running", "text/plain; charset=utf-8")
        elif self.record.path == "/api/version":
            self._json({"version": self.double.version})
        elif self.record.path == "/api/tags":
            self._json({"models": [info.tag(name) for name, info in self.double.models.items()]})
        elif self.record.path == "/api/ps":
            self._json({"models": self._loaded()})
        else:
            self._send(404, b"404 page not found", "text/plain")

    def _post(self) -> None:
        body = self.record.body
        if not isinstance(body, dict):
            self._error(400, "missing request body" if not self.record.raw else _decoder_words(self.record.raw))
            return
        act = self.double.interference(self.record.path, body)
        if act is not None:
            self._play(act, body)
        elif self.record.path == "/api/show":
            self._show(body)
        elif self.record.path == "/api/generate":
            self._preload(body)
        elif self.record.path == "/api/chat":
            self._chat(body)
        elif self.record.path == "/api/pull":
            self._pull(body)
        else:
            self._send(404, b"404 page not found", "text/plain")

    def _loaded(self) -> list[dict[str, Any]]:
        return [
            {
                **self.double.models[name].tag(name),
                "expires_at": "2099-01-01T00:00:00Z",
                "size_vram": self.double.models[name].size_vram,
                "context_length": window,
            }
            for name, window in self.double.memory.snapshot().items()
            if name in self.double.models
        ]

    def _model(self, asked: str) -> tuple[str, ModelInfo] | None:
        """The model's full name and data; None when the refusal has been sent."""
        if not asked or " " in asked:
            self._error(400, "model is required")
            return None
        for name, info in self.double.models.items():
            if name.casefold() == full_name(asked).casefold():
                return name, info
        self._error(404, f"model '{asked}' not found")
        return None

    def _show(self, body: dict[str, Any]) -> None:
        found = self._model(body.get("model") or body.get("name") or "")
        if found is not None:
            self._json(found[1].show())

    def _chat(self, body: dict[str, Any]) -> None:
        refusal = rules.keep_alive_refusal(body.get("keep_alive"))
        if refusal is not None:
            self._error(*refusal)
            return
        found = self._model(body.get("model") or "")
        if found is None:
            return
        name, info = found
        refusal = rules.refusal(body["model"], info, body)
        if refusal is not None:
            self._error(*refusal)
        elif not body.get("messages"):
            self._json({**_record(body, ""), "done": True, "done_reason": self._load_or_unload(name, info, body)})
        else:
            self._play(self.double.next_act(name, body), body, name)

    def _preload(self, body: dict[str, Any]) -> None:
        """`/api/generate` without a prompt, which is how `ollama stop` empties the memory; the only use so far."""
        found = self._model(body.get("model") or "")
        if found is None:
            return
        if body.get("prompt"):
            self._error(501, "the double has no scripted replies for /api/generate")
            return
        record = {"model": body["model"], "created_at": CREATED_AT, "response": "", "done": True}
        self._json({**record, "done_reason": self._load_or_unload(*found, body)})

    def _pull(self, body: dict[str, Any], act: Dropped | None = None) -> None:
        asked = body.get("model") or body.get("name") or ""
        if not asked or " " in asked:
            self._error(400, "invalid model name")
            return
        name, double = full_name(asked), self.double
        info = double.models.get(name) or double.registry.get(name)
        self._write(_head(200, NDJSON))
        if info is None:
            self._write(b"".join(map(_chunk, (_line({"status": "pulling manifest"}), _line({"error": UNKNOWN})))))
        else:
            for line in pull_lines(name, info, double.downloaded, act):
                self._write(_chunk(line))
        if info is not None and act is None:
            double.models[name] = info
        if act is not None and act.end == "eof":
            self.close_connection = True
        else:
            self._write(b"0\r\n\r\n")

    def _load_or_unload(self, name: str, info: ModelInfo, body: dict[str, Any]) -> str:
        if body.get("keep_alive") in (0, "0", "0s"):
            self.double.memory.unload(name)
            return "unload"
        with self.double.memory.hold(name, rules.window_of(info, body)):
            return "load"

    def _play(self, act: Act, body: dict[str, Any], name: str = "") -> None:
        match act:
            case Status():
                self._error(act.code, act.message)
            case Page():
                self._send(act.code, act.body.encode(), act.content_type)
            case Refuse():
                self._refuse(act)
            case Silence():
                self._wait_for_release()
            case Dropped():
                self._pull(body, act)
            case Reply() | Runaway():
                self._generate(act, body, name or full_name(body.get("model") or ""))

    def _refuse(self, act: Refuse) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        if act.seconds:
            self.double.refuse_for(act.seconds)

    def _wait_for_release(self) -> None:
        self.close_connection = True
        while not self.double.released.is_set():
            self._pause(STEP_S)

    def _generate(self, act: Reply | Runaway, body: dict[str, Any], name: str) -> None:
        info = self.double.models.get(name, ModelInfo())
        began = time.monotonic()
        with self.double.memory.hold(name, rules.window_of(info, body)) as load_s:
            if isinstance(act, Runaway):
                self._run_away(act, body)
                return
            self._pause(act.load_s)
            final = _final(act, body, info, load_s + act.load_s)
            self._pause(act.wait_s)
            final["total_duration"] = int((time.monotonic() - began) * NANOSECONDS)
            if body.get("stream", True):
                self._stream(act, body, final)
            else:
                self._whole(act, body, final)
        if body.get("keep_alive") in (0, "0", "0s"):
            self.double.memory.unload(name)

    def _run_away(self, act: Runaway, body: dict[str, Any]) -> None:
        self._write(_head(200, NDJSON))
        if act.start:
            self._write(_chunk(_line(_record(body, act.start))))
        piece = _chunk(_line(_record(body, act.piece)))
        while True:
            self._write(piece)
            self._pause(act.gap_s)

    def _stream(self, act: Reply, body: dict[str, Any], final: dict[str, Any]) -> None:
        lines = [_line(_record(body, "", piece)) for piece in act.pieces(act.thinking)]
        lines += [_line(_record(body, piece)) for piece in act.pieces(act.text)]
        lines += _ending(act, body, final)
        out = bytearray(_head(200, NDJSON))
        for line in lines:
            out += _chunk(line)
            if act.gap_s:
                self._write(bytes(out))
                out.clear()
                self._pause(act.gap_s)
        if act.end == "eof":
            self.close_connection = True
        else:
            out += b"0\r\n\r\n"
        self._write(bytes(out))

    def _whole(self, act: Reply, body: dict[str, Any], final: dict[str, Any]) -> None:
        if act.end == "error":
            self._error(500, act.error)
            return
        self._pause(act.gap_s * len(act.pieces(act.text)))
        record = {**_record(body, act.text, act.thinking)} | ({} if act.end == "none" else _without_message(final))
        data = _line(record)
        if act.end == "bad_utf8":
            data = data.replace(b'"content":"', b'"content":"\xff\xfe')
        kept = data[: len(data) // 2] if act.end in ("eof", "half_json") else data
        promised = len(data) if act.end == "eof" else len(kept)
        self.close_connection = act.end == "eof"
        self._write(_head(200, JSON, promised) + kept)

    def _pause(self, seconds: float) -> None:
        """Waits, and ends with ConnectionAbortedError when the client hangs up or the double closes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            readable = select.select([self.connection], [], [], min(STEP_S, left))[0]
            if self.double.closed.is_set() or (readable and not self.connection.recv(1, socket.MSG_PEEK)):
                raise ConnectionAbortedError
            if readable:
                time.sleep(min(STEP_S, left))

    def _json(self, data: dict[str, Any]) -> None:
        self._send(200, _line(data), JSON)

    def _error(self, code: int, message: str) -> None:
        self._send(code, _line({"error": message}), JSON)

    def _send(self, code: int, data: bytes, content_type: str) -> None:
        self._write(_head(code, content_type, len(data)) + data)

    def _write(self, data: bytes) -> None:
        self.connection.sendall(data)


def _head(code: int, content_type: str, length: int | None = None) -> bytes:
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return f"HTTP/1.1 {code} Status\r\nContent-Type: {content_type}\r\n{framing}\r\n\r\n".encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _record(body: dict[str, Any], content: str, thinking: str = "") -> dict[str, Any]:
    message = {"role": "assistant", "content": content} | ({"thinking": thinking} if thinking else {})
    return {"model": body.get("model", ""), "created_at": CREATED_AT, "message": message, "done": False}


def _without_message(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "message"}


def _ending(act: Reply, body: dict[str, Any], final: dict[str, Any]) -> list[bytes]:
    """What follows the text: the final record, or what the script wants in its place."""
    match act.end:
        case "none" | "eof":
            return []
        case "error":
            return [_line({"error": act.error})]
        case "half_json":
            return [_line(_record(body, "and then"))[:40]]
        case "bad_utf8":
            return [_line(_record(body, "@")).replace(b"@", b"\xff\xfe"), _line(final)]
        case _:
            return [_line(final)]


def _final(act: Reply, body: dict[str, Any], info: ModelInfo, load_s: float) -> dict[str, Any]:
    prompt, generated = act.prompt_eval_count, act.eval_count
    if prompt is None:
        prompt = min(rules.prompt_tokens(body), rules.window_of(info, body))
    if generated is None:
        generated = -(-len(act.text + act.thinking) // rules.CHARACTERS_PER_TOKEN)
    return {
        **_record(body, ""),
        "done": True,
        "done_reason": act.done_reason,
        "total_duration": 0,
        "load_duration": int(load_s * NANOSECONDS),
        "prompt_eval_count": prompt,
        "prompt_eval_duration": prompt * NANOSECONDS // PROMPT_PER_S,
        "eval_count": generated,
        "eval_duration": generated * NANOSECONDS // GENERATED_PER_S,
    }


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def _decoder_words(raw: bytes) -> str:
    try:
        json.loads(raw)
    except ValueError as error:
        return f"invalid JSON: {error}"
    return "json: cannot unmarshal into Go value of type api.ChatRequest"
