"""The one place where a ChatOllama is built and its stream is opened."""

import os
import threading
from collections.abc import Generator, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import httpx
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage

from reflexion.config import Role, ServerSettings
from reflexion.ollama.address import is_loopback
from reflexion.ollama.guard import Watchdog
from reflexion.ollama.reply import Binding, Message, Request

if TYPE_CHECKING:
    from langchain_ollama import ChatOllama

FOR_ANOTHER_CLIENT = ("OLLAMA_HOST", "SSL_CERT_FILE", "SSL_CERT_DIR")


def switch_tracing_off(environ: MutableMapping[str, str]) -> None:
    """Remove every tracing variable: with one set, langchain would post whole prompts to another host."""
    for name in list(environ):
        if name.upper().startswith(("LANGSMITH_", "LANGCHAIN_")):
            del environ[name]
    environ["LANGSMITH_TRACING"] = "false"


@contextmanager
def without_addresses(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Hide what the module ``ollama`` makes a client of its own from while it is imported: nobody uses that client,
    and its address, proxy or certificates may be such that the import fails.
    """
    names = [name for name in environ if name in FOR_ANOTHER_CLIENT or name.lower().endswith("_proxy")]
    hidden = {name: environ.pop(name) for name in names}
    try:
        yield
    finally:
        environ.update(hidden)


class Clients:
    """One ChatOllama a role, built when it is first needed. Safe to use from several threads."""

    def __init__(self, base_url: str, server: ServerSettings) -> None:
        switch_tracing_off(os.environ)
        with without_addresses(os.environ):
            from langchain_ollama import ChatOllama
        self._made_by = ChatOllama
        self._url = base_url
        self._server = server
        self._by_role: dict[Role, ChatOllama] = {}
        self._lock = threading.Lock()
        self._running = threading.local()

    def stream(self, request: Request, watchdog: Watchdog) -> Generator[AIMessageChunk, None, None]:
        """Open the request's stream of chunks; its socket is handed to ``watchdog`` once connected."""
        self._running.watchdog = watchdog
        settings = request.binding.settings
        options = {
            "temperature": settings.temperature,
            "num_ctx": request.binding.window,
            "num_predict": request.num_predict,
        }
        if request.seed is not None:
            options["seed"] = request.seed
        keywords: dict[str, Any] = {"options": options, "reasoning": request.think}
        if request.schema is not None:
            keywords["format"] = request.schema
        messages = [_langchain(message) for message in request.messages]
        # The generator behind stream() can be closed, which hangs up on the server; its declared type cannot.
        stream = self._client(request.binding).stream(messages, **keywords)
        return cast("Generator[AIMessageChunk, None, None]", stream)

    def _client(self, binding: Binding) -> "ChatOllama":
        with self._lock:
            if binding.role not in self._by_role:
                self._by_role[binding.role] = self._build(binding)
            return self._by_role[binding.role]

    def _build(self, binding: Binding) -> "ChatOllama":
        local = is_loopback(self._url)
        plain = local and self._url.startswith("http://")
        return self._made_by(
            model=binding.model,
            base_url=self._url,
            keep_alive=self._server.keep_alive,
            client_kwargs={
                # A redirect could carry the prompt to another host.
                "follow_redirects": False,
                # Proxy variables must not catch loopback; loading certificates costs 36 ms and serves https only.
                "trust_env": not local,
                "verify": not plain,
            },
            sync_client_kwargs={
                "timeout": httpx.Timeout(None, connect=self._server.connect_s),
                # One connection a call: nothing stale is reused after the server restarts.
                "limits": httpx.Limits(max_keepalive_connections=0),
                "event_hooks": {"request": [self._trace_socket]},
            },
        )

    def _trace_socket(self, request: httpx.Request) -> None:
        watchdog: Watchdog = self._running.watchdog

        def trace(event: str, info: Mapping[str, Any]) -> None:
            # TLS wraps the socket in another one, and the first is dead from then on.
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                watchdog.attach(info["return_value"].get_extra_info("socket"))

        request.extensions["trace"] = trace


def _langchain(message: Message) -> BaseMessage:
    if message.role == "system":
        return SystemMessage(message.text)
    return HumanMessage(message.text) if message.role == "user" else AIMessage(message.text)
