"""The double itself: scripts, records and the life of its listening socket."""

import contextlib
import json
import socket
import socketserver
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, cast

from tests.ollama_double.handler import Handler
from tests.ollama_double.models import Memory, ModelInfo
from tests.ollama_double.records import Request, ScriptExhausted, full_name
from tests.ollama_double.replies import Act, Scripted, Status

POLL_S = 0.02
# What socketserver calls a request: for TCP always the connection's socket.
Connection = socket.socket | tuple[bytes, socket.socket]


class Listener(socketserver.ThreadingTCPServer):
    """Bound from its construction; refuses connections until ``server_activate``."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, double: "OllamaDouble", port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler, bind_and_activate=False)
        self.double = double
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self.server_bind()

    def start(self) -> None:
        """Listens and serves, in a thread."""
        self.server_activate()
        self._thread = threading.Thread(target=self.serve_forever, args=(POLL_S,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends serving, if it began, and gives the port back."""
        if self._thread is not None:
            self.shutdown()
        self.server_close()

    def process_request(self, request: Connection, client_address: object) -> None:
        with self._guard:
            self._connections.add(cast("socket.socket", request))
        super().process_request(request, client_address)

    def shutdown_request(self, request: Connection) -> None:
        connection = cast("socket.socket", request)
        with self._guard:
            self._connections.discard(connection)
        connection.close()

    def handle_error(self, request: Connection, client_address: object) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.double.failures.append(error)

    def hang_up(self) -> None:
        """Ends every open connection."""
        with self._guard:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class OllamaDouble:
    """A server with scripted models; listens from its construction to `close`.

    ``max_loaded`` models fit together (None: all) and each load takes ``load_s`` seconds. With ``repeat_last`` the
    last reply of a script is played again and again instead of being the end. ``record``, if given, is a file to
    which every chat is appended as one JSON line, so that another process can count them.
    """

    def __init__(
        self,
        models: Mapping[str, ModelInfo] | None = None,
        *,
        port: int = 0,
        max_loaded: int | None = None,
        load_s: float = 0.0,
        repeat_last: bool = False,
        record: Path | None = None,
    ) -> None:
        self.models: dict[str, ModelInfo] = {full_name(name): info for name, info in (models or {}).items()}
        self.registry: dict[str, ModelInfo] = {}
        self.downloaded: dict[str, int] = {}
        self.version = "0.17.4"
        self.requests: list[Request] = []
        self.failures: list[BaseException] = []
        self.memory = Memory(max_loaded, load_s)
        self.closed = threading.Event()
        self.released = threading.Event()
        self._repeat_last = repeat_last
        self._record = record
        self._scripts: dict[str, deque[Scripted]] = defaultdict(deque)
        self._interferences: dict[str, deque[Scripted]] = defaultdict(deque)
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._listener = Listener(self, port)
        self.port: int = self._listener.server_address[1]
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def script(self, model: str, *replies: Scripted) -> None:
        """Appends to what ``model`` will answer, one entry a chat (a `Status` as often as its ``times``)."""
        name = full_name(model)
        if name not in self.models:
            raise KeyError(f"the double has no model {name}; it has {', '.join(self.models)}")
        with self._lock:
            self._scripts[name].extend(_spread(replies))

    def replace_script(self, model: str, *replies: Scripted) -> None:
        """`script`, but in place of what ``model`` still had to say."""
        with self._lock:
            self._scripts[full_name(model)].clear()
            self.script(model, *replies)

    def interfere(self, path: str, *acts: Scripted) -> None:
        """Plays ``acts`` for the next requests of ``path`` (such as "/api/tags"), before its normal answers."""
        with self._lock:
            self._interferences[path].extend(_spread(acts))

    def chats(self, model: str | None = None) -> list[dict[str, Any]]:
        """The bodies of all chats, or of those for ``model``, in order of arrival."""
        bodies = [request.body for request in list(self.requests) if request.path == "/api/chat" and request.body]
        wanted = None if model is None else full_name(model).casefold()
        return [body for body in bodies if wanted in (None, full_name(body.get("model") or "").casefold())]

    @property
    def loads(self) -> list[str]:
        """The models loaded so far, one entry a load."""
        return self.memory.loads

    def remaining(self) -> dict[str, int]:
        """How many scripted replies each model still has."""
        with self._lock:
            return {name: len(script) for name, script in self._scripts.items() if script}

    def assert_all_played(self) -> None:
        """Fails when a scripted reply was never asked for."""
        if left := self.remaining():
            raise AssertionError(f"scripted replies never asked for: {left}")

    def check(self) -> None:
        """Raises the first thing that went wrong inside: `ScriptExhausted`, or a fault of the double."""
        if self.failures:
            raise self.failures[0]

    def stop_listening(self) -> None:
        """Ends all connections and refuses new ones; the port stays ours."""
        with self._lock:
            old = self._listener
            old.stop()
            self._listener = Listener(self, self.port)
        old.hang_up()

    def listen_again(self) -> None:
        """Ends what `stop_listening` began."""
        with self._lock:
            if not self.closed.is_set():
                self._listener.start()

    @contextlib.contextmanager
    def down(self) -> Iterator[None]:
        """Refuses connections inside the block."""
        self.stop_listening()
        try:
            yield
        finally:
            self.listen_again()

    def refuse_for(self, seconds: float) -> None:
        """`stop_listening`, and `listen_again` by itself after ``seconds``."""
        self.stop_listening()
        self._timer = threading.Timer(seconds, self.listen_again)
        self._timer.daemon = True
        self._timer.start()

    def release(self) -> None:
        """Ends every `silence`, the present and the coming ones, with EOF."""
        self.released.set()

    def close(self) -> None:
        """Stops listening and ends all connections, also the silent ones."""
        if self.closed.is_set():
            return
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self.closed.set()
            self._listener.stop()
        self._listener.hang_up()

    def note(self, request: Request) -> None:
        """Records a request; called by the handler."""
        with self._lock:
            self.requests.append(request)
            if self._record is not None and request.path == "/api/chat":
                with self._record.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(json.dumps(request.body) + "\n")

    def interference(self, path: str, body: dict[str, Any]) -> Act | None:
        """What to do instead of the normal answer of ``path``; called by the handler."""
        with self._lock:
            waiting = self._interferences.get(path)
            act = waiting.popleft() if waiting else None
        return _resolved(act, body)

    def next_act(self, name: str, body: dict[str, Any]) -> Act:
        """The next scripted reply of a model; called by the handler."""
        with self._lock:
            script = self._scripts[name]
            keep = self._repeat_last and len(script) == 1
            act = (script[0] if keep else script.popleft()) if script else None
        resolved = _resolved(act, body)
        if resolved is None:
            self.failures.append(ScriptExhausted(f"{name} was asked {len(self.chats(name))} times, more than scripted"))
            return Status(500, f"the double's script for {name} has no reply left")
        return resolved


def _resolved(act: Scripted | None, body: dict[str, Any]) -> Act | None:
    return act(body) if callable(act) else act


def _spread(replies: tuple[Scripted, ...]) -> Iterator[Scripted]:
    for entry in replies:
        yield from [entry] * (entry.times if isinstance(entry, Status) else 1)
