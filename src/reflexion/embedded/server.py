"""The engine's HTTP side: connections, bodies, answers, and who may ask."""

import ipaddress
import json
import re
import socket
import socketserver
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from reflexion.embedded.calls import Calls
from reflexion.embedded.routes import Engine, answer
from reflexion.embedded.runner import Call, ClientGone
from reflexion.embedded.wire import ApiError

Record = dict[str, Any]

LARGEST_BODY = 64 << 20
# int() alone also takes a sign, "0x" and "_".
NUMBERS = {10: re.compile("[0-9]{1,20}"), 16: re.compile("[0-9a-fA-F]{1,20}")}


class EngineServer(ThreadingHTTPServer):
    """A listening socket, and the engine behind it. ``remote``: other machines may ask too.

    Raises:
        OSError: it cannot listen there.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, host: str, port: int, engine: Engine, *, remote: bool = False) -> None:
        self.engine = engine
        self.remote = remote
        self.calls = Calls(engine.pool.wake)
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = family
        super().__init__(address, Handler)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Bind without asking a name server what this machine is called, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """A client that went away is daily business; anything else goes to the log with its traceback."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection. Every answer is written in one piece, since two small packets cost 40 ms on a quiet line."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    error_message_format = "%(code)d %(message)s"
    error_content_type = "text/plain; charset=utf-8"
    server: EngineServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet: the log is for llama.cpp."""

    def call(self) -> AbstractContextManager[Call]:
        """The call that this request is."""
        return self.server.calls.begin(self.connection)

    def send_text(self, status: int, text: str, kind: str = "text/plain") -> None:
        """Answer with plain text."""
        self._send(status, text.encode(), kind)

    def send_json(self, status: int, body: object) -> None:
        """Answer with one JSON value."""
        self._send(status, _encoded(body), "application/json; charset=utf-8")

    def send_stream(self, records: Iterator[Record]) -> None:
        """Answer with a record a line. The status line waits for the first: until then an error has its own."""
        first = next(records)
        # Clients of HTTP/1.0 know no chunks: for them the end of the connection is the end of the answer.
        chunked = self.request_version != "HTTP/1.0"
        self.close_connection = self.close_connection or not chunked
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("Connection", "close")))
        self.end_headers()
        self._send_record(first, chunked)
        try:
            for record in records:
                self._send_record(record, chunked)
        except ApiError as error:
            self._send_record({"error": str(error)}, chunked)
        self.wfile.write(b"0\r\n\r\n" if chunked else b"")
        self.wfile.flush()

    def _answer(self) -> None:
        try:
            body = self._read_body()
            self._check_host()
            path = _parts(self.path, "the address of the request").path.rstrip("/")
            answer(self.server.engine, self, self.command, path or "/", body)
        except ApiError as error:
            self.send_json(error.status, {"error": str(error)})
        except ClientGone:
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer  # noqa: N815 - the base class's

    def _check_host(self) -> None:
        # A web page that the user visits must not reach the engine through a name that resolves to loopback.
        asked = _parts(f"//{self.headers.get('Host', '')}", "Host").hostname
        origin = _parts(self.headers.get("Origin", ""), "Origin")
        # A frame without an origin of its own says "null", whoever's it is.
        page = origin.hostname or origin.path
        if not (_is_local(asked) or self.server.remote):
            raise ApiError(403, "only requests from this machine are answered")
        if not (_is_local(page) or (self.server.remote and page == asked)):
            raise ApiError(403, "web pages of other origins are not answered")

    def _read_body(self) -> bytes:
        coding = self.headers.get("Transfer-Encoding", "").lower()
        if coding == "chunked":
            return b"".join(self._chunks())
        if coding:
            self.close_connection = True
            raise ApiError(501, f"a body in the transfer encoding {coding} is not read")
        return self.rfile.read(self._size(self.headers.get("Content-Length") or "0", 10))

    def _chunks(self) -> Iterator[bytes]:
        left = LARGEST_BODY
        while size := self._size(self.rfile.readline().split(b";")[0].decode("latin-1"), 16, left):
            left -= size
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue

    def _size(self, text: str, base: int, most: int = LARGEST_BODY) -> int:
        if not NUMBERS[base].fullmatch(text.strip()):
            self.close_connection = True
            raise ApiError(400, "the length of the body is not a number")
        size = int(text, base)
        if size > most:
            self.close_connection = True
            raise ApiError(413, f"the body is longer than {LARGEST_BODY >> 20} MiB")
        return size

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def _send_record(self, record: Record, chunked: bool) -> None:
        data = _encoded(record) + b"\n"
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        self.wfile.flush()


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _parts(address: str, what: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError as error:
        raise ApiError(400, f"{what} is no address") from error


def _is_local(name: str | None) -> bool:
    if not name or name.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    # Clients that share OLLAMA_HOST with a server ask for the address that it listens on, 0.0.0.0.
    return address.is_loopback or address.is_unspecified
