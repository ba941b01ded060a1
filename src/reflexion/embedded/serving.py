"""``reflexion engine serve``: the engine in the foreground, for any client of Ollama, until it is told to end."""

import contextlib
import errno
import ipaddress
import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from reflexion.embedded.catalog import Catalog
from reflexion.embedded.packages import check_installed, demo_file
from reflexion.embedded.pool import Pool
from reflexion.embedded.routes import Engine
from reflexion.embedded.server import EngineServer
from reflexion.errors import InputError, UsageError

GRACE_S = 5.0
NAMES_SHOWN = 8
END_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Settings:
    """Where to listen and what to serve. ``remote``: hosts beyond loopback may be named, and their clients answered."""

    host: str
    port: int
    max_loaded: int
    models: Path | None
    remote: bool


def serve(settings: Settings, say: Callable[[str], None], warn: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C. Then running calls get a few seconds, a second signal ends them at once.

    Raises:
        UsageError: the settings cannot be used, or the address is taken.
        ServerError: an optional package is missing.
    """
    _check(settings)
    check_installed(settings.models)
    engine = Engine(Catalog(demo_file(), settings.models), Pool(settings.max_loaded))
    server = _listen(settings, engine)
    with _signals() as told_to_end:
        listening = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        listening.start()
        if not _is_loopback(settings.host):
            warn(f"every machine that reaches {settings.host} can use this engine; it asks for no password")
        if left_out := engine.catalog.left_out():
            warn(f"left out of --models {settings.models}: {_shortened(left_out)}; no whole GGUF file, or not readable")
        say(_greeting(server, [model.name for model in engine.catalog.models()]))
        told_to_end(None)
        with contextlib.suppress(OSError):  # Nobody may be reading any more, which is no reason not to end in order.
            say("ending; calls under way have a few seconds, Ctrl-C again ends them at once")
        server.shutdown()
        server.server_close()
        server.calls.end(GRACE_S, lambda: told_to_end(0))
        engine.pool.close()


def _check(settings: Settings) -> None:
    if not _is_loopback(settings.host):
        _check_far(settings)
    if settings.models is not None and not settings.models.is_dir():
        raise InputError(f"--models {settings.models} is not a folder; name one that holds GGUF files")


def _check_far(settings: Settings) -> None:
    try:
        socket.getaddrinfo(settings.host, settings.port)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f'--host "{settings.host}" is no address that is known here; leave it out for 127.0.0.1'
        ) from error
    if not settings.remote:
        raise UsageError(f"--host {settings.host} is not this machine alone; --allow-remote allows it")


def _listen(settings: Settings, engine: Engine) -> EngineServer:
    # The name can mean ::1, where clients that try 127.0.0.1 find nobody.
    host = "127.0.0.1" if settings.host.casefold() == "localhost" else settings.host
    try:
        return EngineServer(host, settings.port, engine, remote=settings.remote)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"port {settings.port} of {settings.host} is taken, perhaps by an Ollama; choose another with --port"
            ) from error
        raise UsageError(
            f"cannot listen on {settings.host}, port {settings.port}: {error.strerror or error}"
        ) from error


def _greeting(server: EngineServer, names: Sequence[str]) -> str:
    host = server.server_name
    where = f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}"
    return f"listening on {where}; models: {_shortened(names) or 'none yet'}; Ctrl-C ends it"


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _is_loopback(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@contextmanager
def _signals() -> Iterator[Callable[[float | None], bool]]:
    """A function that waits for a signal to end, so many seconds at most (``None``: for ever); true when one came."""
    # Written to by the interpreter itself: a signal may come to any thread, and this one would not wake up for it.
    heard, noted = os.pipe()
    os.set_blocking(noted, False)

    def handle(_signal: int, _frame: FrameType | None) -> None:
        pass

    def wait(seconds: float | None) -> bool:
        came = bool(select.select([heard], [], [], seconds)[0])
        return came and bool(os.read(heard, 1))

    before = {number: signal.signal(number, handle) for number in END_SIGNALS}
    woken = signal.set_wakeup_fd(noted, warn_on_full_buffer=False)
    try:
        yield wait
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(heard)
        os.close(noted)
