"""The engine's HTTP side: Ollama's endpoints on loopback. Started by ``engine.py`` in a process of its own."""

import argparse
import ipaddress
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from reflexion.embedded.catalog import Catalog, Model, demo_file
from reflexion.embedded.chat import Record, chat, describe, whole_reply
from reflexion.embedded.pool import Loaded, Pool
from reflexion.embedded.runner import Call, ClientGone
from reflexion.embedded.wire import ApiError, model_name, parse_body, parse_chat, timestamp

# The protocol is that of this release of Ollama; the suffix says who really answers.
VERSION = "0.17.4+embedded"
HANG_UP_CHECK_S = 0.1
PARENT_CHECK_S = 0.5


class EngineServer(ThreadingHTTPServer):
    """A listening socket, the catalog and the pool behind it."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], catalog: Catalog, pool: Pool) -> None:
        super().__init__(address, Handler)
        self.catalog = catalog
        self.pool = pool

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """A client that went away is daily business; anything else goes to the log with its traceback."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection. Every answer is written in one piece, since two small packets cost 40 ms on a quiet line."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: EngineServer

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer a HEAD."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a POST."""
        self._answer()

    def do_DELETE(self) -> None:
        """Answer a DELETE, which no endpoint has."""
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet: the log is for llama.cpp."""

    def _answer(self) -> None:
        path = urlsplit(self.path).path.rstrip("/") or "/"
        method = "GET" if self.command == "HEAD" else self.command
        try:
            body = self._read_body()
            self._check_host()
            route = ROUTES.get((method, path))
            if route is not None:
                route(self, body)
            elif any(known == path for _, known in ROUTES):
                self._send(405, b"405 method not allowed", "text/plain")
            else:
                self._send(404, b"404 page not found", "text/plain")
        except ApiError as error:
            self._send_json(error.status, {"error": str(error)})
        except ClientGone:
            self.close_connection = True

    def _check_host(self) -> None:
        # A web page that the user visits must not reach the engine through a name that resolves to loopback.
        names = [urlsplit(f"//{self.headers.get('Host', '')}").hostname]
        if self.headers.get("Origin"):
            names.append(urlsplit(self.headers["Origin"]).hostname)
        if not all(_is_local(name) for name in names):
            raise ApiError(403, "only requests from this machine are answered")

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        try:
            return self.rfile.read(max(0, int(self.headers.get("Content-Length") or 0)))
        except ValueError as error:
            self.close_connection = True
            raise ApiError(400, "Content-Length is not a number") from error

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def _send_json(self, status: int, body: object) -> None:
        self._send(status, _encoded(body), "application/json; charset=utf-8")

    def _send_stream(self, records: Iterator[Record]) -> None:
        # The status line waits for the first record: until then an error can still have its own status.
        first = next(records)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._send_chunk(first)
        try:
            for record in records:
                self._send_chunk(record)
        except ApiError as error:
            self._send_chunk({"error": str(error)})
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _send_chunk(self, record: Record) -> None:
        data = _encoded(record) + b"\n"
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def banner(self, _: bytes) -> None:
        """``GET /``: the words by which clients know a server of this kind."""
        self._send(200, b"Ollama is running", "text/plain; charset=utf-8")

    def version(self, _: bytes) -> None:
        """``GET /api/version``."""
        self._send_json(200, {"version": VERSION})

    def tags(self, _: bytes) -> None:
        """``GET /api/tags``: what can be asked for."""
        models = [{**_identity(m), "modified_at": timestamp(m.modified)} for m in self.server.catalog.models()]
        self._send_json(200, {"models": models})

    def show(self, body: bytes) -> None:
        """``POST /api/show``: one model."""
        name = model_name(parse_body(body))
        model = self.server.catalog.find(name)
        if model is None:
            raise ApiError(404, f"model '{name}' not found")
        self._send_json(200, describe(model))

    def ps(self, _: bytes) -> None:
        """``GET /api/ps``: what is loaded."""
        self._send_json(200, {"models": [_process(loaded) for loaded in self.server.pool.loaded()]})

    def chat(self, body: bytes) -> None:
        """``POST /api/chat``."""
        request = parse_chat(parse_body(body))
        call = Call(self.server.pool.wake)
        records = chat(self.server.catalog, self.server.pool, request, call)
        with _watched(self.connection, call):
            try:
                if request.stream and request.messages:
                    self._send_stream(records)
                else:
                    self._send_json(200, whole_reply(records))
            finally:
                records.close()


Route = Callable[[Handler, bytes], None]

ROUTES: Mapping[tuple[str, str], Route] = {
    ("GET", "/"): Handler.banner,
    ("GET", "/api/version"): Handler.version,
    ("GET", "/api/tags"): Handler.tags,
    ("GET", "/api/ps"): Handler.ps,
    ("POST", "/api/show"): Handler.show,
    ("POST", "/api/chat"): Handler.chat,
}


def _identity(model: Model) -> Record:
    return {
        "name": model.name,
        "model": model.name,
        "size": model.size,
        "digest": model.digest,
        "details": model.details(),
    }


def _process(loaded: Loaded) -> Record:
    return {
        **_identity(loaded.model),
        "size": loaded.size(),
        "expires_at": timestamp(loaded.expires_at()),
        "size_vram": 0,
        "context_length": loaded.window,
    }


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _is_local(name: str | None) -> bool:
    if not name or name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@contextmanager
def _watched(connection: socket.socket, call: Call) -> Iterator[None]:
    """Cancel the call when its client hangs up; only a thread sees that while the call waits for something else."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(HANG_UP_CHECK_S):
            if _hung_up(connection):
                call.cancel()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _hung_up(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def main() -> None:
    """Serve until stdin closes (so also when the parent is killed) or SIGTERM; print the port when ready."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--max-loaded", type=int, default=3)
    parser.add_argument("--models", type=Path)
    arguments = parser.parse_args()
    pool = Pool(arguments.max_loaded)
    server = EngineServer((arguments.host, arguments.port), Catalog(demo_file(), arguments.models), pool)

    def end(_signal: int, _frame: FrameType | None) -> None:
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    # Ctrl-C in a terminal reaches the whole group; the parent decides when the engine goes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 3600}, daemon=True).start()
    sys.stdout.write(json.dumps({"port": server.server_address[1]}) + "\n")
    sys.stdout.flush()
    _wait_for_the_end_of_the_parent()
    # The workers end by themselves: their stdin closes with this process.
    os._exit(0)


def _wait_for_the_end_of_the_parent() -> None:
    # A process that the parent forked can hold the other end of stdin open, so that alone is no sign of life.
    parent = os.getppid()
    while os.getppid() == parent:
        if select.select([sys.stdin], [], [], PARENT_CHECK_S)[0] and not os.read(sys.stdin.fileno(), 1):
            return


if __name__ == "__main__":
    main()
