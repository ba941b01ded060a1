"""What went wrong in a call, in our own words: library exceptions become the errors of ``reflexion.errors``."""

import json
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import httpx
import pydantic

from reflexion.errors import (
    ModelMissing,
    NotOllama,
    PromptTooLarge,
    ReflexionError,
    ServerFault,
    ServerUnreachable,
    StreamBroken,
)
from reflexion.ollama.address import is_loopback, ollama_command, without_credentials
from reflexion.patterns import regex

if TYPE_CHECKING:
    import ollama

_OUT_OF_MEMORY = regex(
    r"out of memory|requires more system memory|cudaMalloc|insufficient memory|unable to allocate", re.IGNORECASE
)
_TOO_LONG = regex(
    r"exceeds? the (available )?context|input length exceeds|too many tokens|context (size|length) exceeded",
    re.IGNORECASE,
)
_RUNNER_DIED = regex(
    r"EOF|runner process (no longer running|has terminated)|connection (reset|refused)|unexpectedly stopped",
    re.IGNORECASE,
)
# Of a file that is cut short, and of one whose beginning cannot be read: every role's model could chat at the start.
_DAMAGED = regex(r"exceeds file size|invalid file magic|does not support chat", re.IGNORECASE)
_LOAD_TIMEOUT = regex(r"timed out waiting for .*(runner|server) to start", re.IGNORECASE)
_UNREADABLE = (
    json.JSONDecodeError,
    UnicodeDecodeError,
    httpx.DecodingError,
    pydantic.ValidationError,
    RecursionError,
)


class Fault(NamedTuple):
    """An error, and whether the same call may succeed if it is sent again after a pause."""

    error: ReflexionError
    passing: bool = False


class ThinkingUnsupported(Exception):
    """The server says that the model cannot think; the call can be repeated without asking for it."""


def unreachable(url: str, cause: object) -> ServerUnreachable:
    """Describe a connection that could not be made, with the URL really used and the command that helps."""
    shown = without_credentials(url)
    parts = urlsplit(url)
    if is_loopback(url) and parts.scheme == "http" and not parts.path:  # Else something stands in front of it.
        start = ollama_command("serve", url)
        return ServerUnreachable(
            f"no model server at {shown} ({cause}): start it with `{start}`, or use --engine embedded"
        )
    return ServerUnreachable(f"no model server at {shown} ({cause}): check that address and that the host is up")


def not_ollama(url: str, seen: str) -> NotOllama:
    """Describe an answer that is not the protocol's."""
    what = "an HTML page" if seen.lstrip().startswith("<") else "something that is not its protocol"
    return NotOllama(
        f"{without_credentials(url)} answers with {what}: not Ollama, maybe a proxy; check server.base_url"
    )


def unanswered(url: str, seconds: float) -> ServerUnreachable:
    """Describe a server that takes connections and says nothing."""
    return ServerUnreachable(
        f"{without_credentials(url)} takes connections but has not answered for {seconds:g} s:"
        f" look at that server's log, or restart it"
    )


def not_installed(model: str, url: str) -> ModelMissing:
    """Describe a model that the server does not have, with the command that gets it."""
    return ModelMissing(f"model {model} is not installed: {ollama_command(f'pull {model}', url)}")


def damaged(model: str, said: str, url: str) -> str:
    """Describe a model whose file the server cannot read, with the command that helps: a pull alone keeps the file."""
    again = " && ".join(ollama_command(f"{verb} {model}", url) for verb in ("rm", "pull"))
    return f"{model}: the server cannot read this model ({_one_line(said)}); get it again: {again}"


def translate(error: Exception, url: str, model: str) -> Fault:
    """Turn what the client libraries raise during a call into a Fault. Unknown exceptions are raised as they are."""
    import ollama  # Only a call needs it, and it is slow to import.

    if isinstance(error, ollama.ResponseError):
        return _from_response(error, url, model)
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        return Fault(unreachable(url, _cause(error)), passing=True)
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError | httpx.CloseError):
        return Fault(
            StreamBroken(f"{model}: the server closed the connection before the reply was whole"), passing=True
        )
    if isinstance(error, httpx.TransportError):
        return Fault(StreamBroken(f"{model}: the connection to the server failed ({_cause(error)})"), passing=True)
    if isinstance(error, json.JSONDecodeError) and error.doc.lstrip().startswith("{"):
        return Fault(StreamBroken(f"{model}: a record of the reply was cut in the middle"), passing=True)
    if isinstance(error, ValueError) and "No generation chunks" in str(error):
        return Fault(StreamBroken(f"{model}: the reply holds no record"), passing=True)
    if isinstance(error, _UNREADABLE) or _is_of_client(error):
        return Fault(not_ollama(url, error.doc if isinstance(error, json.JSONDecodeError) else ""))
    raise error


def _is_of_client(error: Exception) -> bool:
    """Return whether the client stumbled over a record that is JSON, but no object: it takes that for granted."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = trace.tb_frame.f_globals.get("__name__", "") if trace else ""
    return isinstance(error, AttributeError | TypeError) and where.partition(".")[0] in ("ollama", "langchain_ollama")


def _from_response(error: "ollama.ResponseError", url: str, model: str) -> Fault:
    text, status = str(error.error), error.status_code
    if status == 400 and "does not support thinking" in text:
        raise ThinkingUnsupported(text) from error
    if status == 404:
        return Fault(not_installed(model, url) if "model" in text else not_ollama(url, text))
    if status == 503 or status == 429:
        return Fault(ServerFault(f"{model}: the server is busy ({status})"), passing=True)
    if _TOO_LONG.search(text):
        return Fault(PromptTooLarge(f"{model}: the prompt does not fit its window ({text})"))
    return _from_text(text, status, url, model)


def _from_text(text: str, status: int, url: str, model: str) -> Fault:
    if text.lstrip().startswith("<"):
        return Fault(not_ollama(url, text), passing=status in (502, 504))
    if _OUT_OF_MEMORY.search(text):
        return Fault(ServerFault(f"{model}: out of memory; use a smaller model or num_ctx ({_one_line(text)})"))
    if _DAMAGED.search(text):
        return Fault(ServerFault(damaged(model, text, url)))
    if _LOAD_TIMEOUT.search(text):
        return Fault(ServerFault(f"{model}: loading took too long; raise OLLAMA_LOAD_TIMEOUT on the server"))
    if status in (-1, 500, 502, 504) and _RUNNER_DIED.search(text):
        advice = "if it happens again, use a smaller num_ctx or model"
        return Fault(ServerFault(f"{model}: the model's process died ({_one_line(text)}); {advice}"), passing=True)
    return Fault(ServerFault(f"{model}: the server answered {status if status > 0 else 'an error'}: {_one_line(text)}"))


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:197]}..."


def _cause(error: Exception) -> str:
    return _one_line(str(error)) or type(error).__name__
