"""One connection of the double: HTTP/1.1 with keep-alive, and as few writes as the script allows."""

import contextlib
import json
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, cast

from tests.ollama_double import forms, rules
from tests.ollama_double.decoding import Body, Refusal, decoded, keep_alive_s
from tests.ollama_double.forms import JSON, NANOSECONDS, NDJSON, PLAIN
from tests.ollama_double.models import ModelInfo
from tests.ollama_double.pulls import UNKNOWN, pull_lines
from tests.ollama_double.records import Request, full_name
from tests.ollama_double.replies import Act, Dropped, Page, Refuse, Reply, Runaway, Silence, Status

if TYPE_CHECKING:
    from tests.ollama_double.double import Listener, OllamaDouble

STEP_S = 0.02
NOT_FOUND, NOT_ALLOWED = (404, b"404 page not found"), (405, b"405 method not allowed")
# The paths that answer a HEAD as well.
HEADS = ("/", "/api/version", "/api/tags")


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

    def answer(self) -> None:
        """Any method: the base class calls ``do_`` and its name."""
        try:
            raw = self._body()
        except ValueError:
            self.close_connection = True
            self._error(400, "invalid byte in chunk length")
            return
        with self._recorded(raw):
            self._route()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer  # noqa: N815

    def _body(self) -> bytes:
        """The bytes of the body; ValueError when it does not say where it ends."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    @contextlib.contextmanager
    def _recorded(self, raw: bytes) -> Iterator[None]:
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

    def _route(self) -> None:
        path, method = self.record.path, "GET" if self.command == "HEAD" else self.command
        route = ROUTES.get((method, path))
        if route is None or (self.command == "HEAD" and path not in HEADS):
            known = any(path == other for _, other in ROUTES)
            self._send(*(NOT_ALLOWED if known else NOT_FOUND), PLAIN)
            return
        body = decoded(path, self.record.raw) if method == "POST" else {}
        if isinstance(body, tuple):
            self._error(*body)
        elif (act := self.double.interference(path, body)) is not None:
            self._play(act, body)
        else:
            route(self, body)

    def banner(self, _: Body) -> None:
        """``GET /``."""
        self._send(200, b"Ollama is running", "text/plain; charset=utf-8")

    def version(self, _: Body) -> None:
        """``GET /api/version``."""
        self._json({"version": self.double.version})

    def tags(self, _: Body) -> None:
        """``GET /api/tags``."""
        self._json({"models": [info.tag(name) for name, info in self.double.models.items()]})

    def ps(self, _: Body) -> None:
        """``GET /api/ps``."""
        known = self.double.models
        loaded = [held for held in self.double.memory.snapshot() if held.name in known]
        self._json({"models": [known[held.name].process(held) for held in loaded]})

    def show(self, body: Body) -> None:
        """``POST /api/show``."""
        found = self._find(body.get("model") or body.get("name") or "")
        if found is not None:
            self._json(found[1].show())

    def ask(self, body: Body) -> None:
        """``POST /api/chat`` and ``/api/generate``: what the script says, or a load or unload without a word."""
        found = None if self._refused(rules.early_refusal(body)) else self._find(body.get("model") or "")
        if found is None:
            return
        name, info = found
        asked = body.get("messages") if self.record.path == "/api/chat" else body.get("prompt")
        if not asked and keep_alive_s(body.get("keep_alive")) == 0:
            self.double.memory.unload(name)
            self._without_a_word(body, "unload")
        elif self._refused(rules.ability_refusal(body["model"], info, body)):
            return
        elif not asked:
            with self._hold(name, info, body):
                self._without_a_word(body, "load")
        elif not self._refused(rules.asked_refusal(info, body)):
            self._play(self.double.next_act(name, body), body, name)

    def embed(self, body: Body) -> None:
        """``POST /api/embed`` and its older form ``/api/embeddings``."""
        found = None if self._refused(rules.early_refusal(body)) else self._find(body.get("model") or "")
        if found is None or self._refused(rules.ability_refusal(body["model"], found[1], body)):
            return
        with self._hold(*found, body) as load_s:
            if self.record.path == "/api/embeddings":
                prompt = body.get("prompt") or ""
                self._json({"embedding": forms.embedding(prompt) if prompt else []})
            elif isinstance(body.get("input"), list) and "" in body["input"]:
                self._error(500, "Failed to create new sequence: no input provided")
            elif not self._refused(rules.length_refusal(found[1], body)):
                self._json(forms.embeddings(body, found[1], load_s))

    def pull(self, body: Body) -> None:
        """``POST /api/pull``: from the double's registry, going on where an earlier one ended."""
        self._fetch(body)

    def _fetch(self, body: Body, act: Dropped | None = None) -> None:
        asked = body.get("model") or body.get("name") or ""
        if not asked or " " in asked:
            self._error(400, "invalid model name")
            return
        name, double = full_name(asked), self.double
        info = double.models.get(name) or double.registry.get(name)
        self._write(forms.head(200, NDJSON))
        if info is None:
            lines = iter([forms.line({"status": "pulling manifest"}), forms.line({"error": UNKNOWN})])
        else:
            lines = pull_lines(name, info, double.downloaded, act)
        for line in lines:
            self._write(forms.chunk(line))
        if info is not None and act is None:
            double.models[name] = info
        if act is not None and act.end == "eof":
            self.close_connection = True
        else:
            self._write(b"0\r\n\r\n")

    def _find(self, asked: str) -> tuple[str, ModelInfo] | None:
        """The model's full name and data; None when the refusal has been sent."""
        named = [
            (name, info) for name, info in self.double.models.items() if name.casefold() == full_name(asked).casefold()
        ]
        self._refused(rules.name_refusal(self.record.path, asked, bool(named)))
        return named[0] if named else None

    def _without_a_word(self, body: Body, reason: str) -> None:
        form = body if self.record.path == "/api/chat" else body | {"prompt": ""}
        self._json(forms.record(form, "") | {"done": True, "done_reason": reason})

    def _hold(self, name: str, info: ModelInfo, body: Body) -> contextlib.AbstractContextManager[float]:
        keep_s = keep_alive_s(body.get("keep_alive"))
        return self.double.memory.hold(name, rules.window_of(info, body), keep_s)

    def _play(self, act: Act, body: Body, name: str = "") -> None:
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
                self._fetch(body, act)
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

    def _generate(self, act: Reply | Runaway, body: Body, name: str) -> None:
        info = self.double.models.get(name, ModelInfo())
        began = time.monotonic()
        with self._hold(name, info, body) as load_s:
            if isinstance(act, Runaway):
                self._run_away(act, body)
                return
            self._pause(act.load_s)
            final = forms.final(act, body, info, load_s + act.load_s)
            self._pause(act.wait_s)
            spent = int((time.monotonic() - began) * NANOSECONDS)
            final["total_duration"] = spent + final["prompt_eval_duration"] + final["eval_duration"]
            if body.get("stream") is not False:
                self._stream(act, body, final)
            else:
                self._whole(act, body, final)

    def _run_away(self, act: Runaway, body: Body) -> None:
        self._write(forms.head(200, NDJSON))
        if act.start:
            self._write(forms.chunk(forms.line(forms.record(body, act.start))))
        piece = forms.chunk(forms.line(forms.record(body, act.piece)))
        while True:
            self._write(piece)
            self._pause(act.gap_s)

    def _stream(self, act: Reply, body: Body, final: Body) -> None:
        lines = [forms.line(forms.record(body, "", piece)) for piece in act.pieces(act.thinking)]
        lines += [forms.line(forms.record(body, piece)) for piece in act.pieces(act.text)]
        lines += forms.ending(act, body, final)
        out = bytearray(forms.head(200, NDJSON))
        for number, line in enumerate(lines):
            if act.gap_s and number:
                self._write(bytes(out))
                out.clear()
                self._pause(act.gap_s)
            out += forms.chunk(line)
        if act.end == "eof":
            self.close_connection = True
        else:
            out += b"0\r\n\r\n"
        self._write(bytes(out))

    def _whole(self, act: Reply, body: Body, final: Body) -> None:
        if act.end == "error":
            self._error(500, act.error)
            return
        self._pause(act.gap_s * len(act.pieces(act.text)))
        data = forms.line(forms.whole(body, act, final))
        if act.end == "bad_utf8":
            data = data.replace(b'"content":"', b'"content":"\xff\xfe')
        kept = data[: len(data) // 2] if act.end in ("eof", "half_json") else data
        promised = len(data) if act.end == "eof" else len(kept)
        self.close_connection = act.end == "eof"
        self._write(forms.head(200, JSON, promised) + kept)

    def _pause(self, seconds: float) -> None:
        """Waits, and ends with ConnectionAbortedError when the client hangs up or the double closes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            readable = select.select([self.connection], [], [], min(STEP_S, left))[0]
            if self.double.closed.is_set() or (readable and not self.connection.recv(1, socket.MSG_PEEK)):
                raise ConnectionAbortedError
            if readable:
                time.sleep(min(STEP_S, left))

    def _json(self, data: Body) -> None:
        self._send(200, forms.line(data), JSON)

    def _refused(self, refusal: Refusal | None) -> bool:
        """Whether there was a refusal, which has then been sent."""
        if refusal is not None:
            self._error(*refusal)
        return refusal is not None

    def _error(self, code: int, message: str) -> None:
        self._send(code, forms.line({"error": message}), JSON)

    def _send(self, code: int, data: bytes, content_type: str) -> None:
        self._write(forms.head(code, content_type, len(data)) + (b"" if self.command == "HEAD" else data))

    def _write(self, data: bytes) -> None:
        self.connection.sendall(data)


ROUTES: Mapping[tuple[str, str], Callable[[Handler, Body], None]] = {
    ("GET", "/"): Handler.banner,
    ("GET", "/api/version"): Handler.version,
    ("GET", "/api/tags"): Handler.tags,
    ("GET", "/api/ps"): Handler.ps,
    ("POST", "/api/show"): Handler.show,
    ("POST", "/api/chat"): Handler.ask,
    ("POST", "/api/generate"): Handler.ask,
    ("POST", "/api/embed"): Handler.embed,
    ("POST", "/api/embeddings"): Handler.embed,
    ("POST", "/api/pull"): Handler.pull,
}


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None
