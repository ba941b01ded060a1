"""The model server: find it, and check before the first call that every role can be served."""

import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import httpx

from reflexion.errors import ConfigError, DeadlineExceeded, PullBroken, ServerError
from reflexion.ollama.address import is_loopback, ollama_command, without_credentials
from reflexion.ollama.faults import damaged, not_installed, not_ollama, unanswered, unreachable
from reflexion.ollama.guard import Deadlines, Watchdog
from reflexion.ollama.names import ENGINE
from reflexion.ollama.pull import PullRecord, refused, required_record

REQUEST_S = 30.0
# What a server may stay silent for in the middle of a pull: it reads tens of gigabytes to verify them.
PULL_IDLE_S = 600.0
LARGEST_ANSWER = 32_000_000
SHOWN = 200


class ModelInfo(NamedTuple):
    """What the server says of one installed model. ``context_length`` is its own window in tokens, 0 if unknown."""

    name: str
    digest: str
    context_length: int
    capabilities: frozenset[str]
    remote_host: str = ""


class Installed(NamedTuple):
    """An installed model: digest, and bytes on the server's disk (0 if unknown)."""

    digest: str
    size: int


class Loaded(NamedTuple):
    """A model in memory: bytes in all, bytes of them on a GPU, and its window in tokens (0 if unknown)."""

    name: str
    size: int
    size_vram: int
    window: int


class Server:
    """A model server at a base URL. A context manager, since it holds connections.

    ``request_s`` is how long one answer may take in all, however it arrives.
    """

    def __init__(self, base_url: str, connect_s: float = 5.0, request_s: float = REQUEST_S) -> None:
        local = is_loopback(base_url)
        self.base_url = base_url
        self._version = ""
        self._connect_s = min(connect_s, request_s)
        self._request_s = request_s
        try:
            self._client = httpx.Client(
                base_url=base_url,
                timeout=httpx.Timeout(request_s, connect=self._connect_s),
                trust_env=not local,
                verify=not (local and base_url.startswith("http://")),
                # One connection a request: nothing stale is reused after the server restarts.
                limits=httpx.Limits(max_keepalive_connections=0),
            )
        # A socks proxy in the environment needs a package that is not there; another one can be no address.
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            raise ConfigError(
                f"a proxy variable cannot be used for {without_credentials(base_url)}: {error}"
            ) from error

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def version(self) -> str:
        """Return the server's version. Raises ServerUnreachable or NotOllama; a server built without says 0.0.0."""
        answer = self._request("GET", "/api/version")
        if not isinstance(answer.get("version"), str):
            raise not_ollama(self.base_url, json.dumps(answer))
        self._version = str(answer["version"])
        return self._version

    @property
    def is_engine(self) -> bool:
        """Whether it is an engine of ours, by the version that it told; such a one pulls no models."""
        return self._version.endswith(ENGINE)

    def how_to_get(self, model: str) -> str:
        """Return the command that gets a model for this server, once it has told its version."""
        if self.is_engine:
            return "reflexion engine serve --models FOLDER   (with its GGUF file in it)"
        return ollama_command(f"pull {shlex.quote(model)}", self.base_url)

    def installed(self) -> dict[str, Installed]:
        """Return every installed model by its full name."""
        return {
            _text(item, "name"): Installed(_text(item, "digest"), _number(item, "size"))
            for item in self._models("/api/tags")
        }

    def loaded(self) -> list[str]:
        """Return the names of the models that are in memory now."""
        return [model.name for model in self.in_memory()]

    def in_memory(self) -> list[Loaded]:
        """Return the models that are in memory now, with what the server says of the room that they take."""
        return [
            Loaded(
                _text(item, "name"), _number(item, "size"), _number(item, "size_vram"), _number(item, "context_length")
            )
            for item in self._models("/api/ps")
        ]

    def show(self, name: str, digest: str = "") -> ModelInfo:
        """Return what the server says of the model. Raises ModelMissing when it is not installed."""
        answer = self._request("POST", "/api/show", {"model": name})
        info, capabilities = answer.get("model_info") or {}, answer.get("capabilities") or []
        if not isinstance(info, dict) or not isinstance(capabilities, list):
            raise not_ollama(self.base_url, json.dumps(answer)[:SHOWN])
        lengths = [_number(info, key) for key in info if key.endswith(".context_length")]
        return ModelInfo(
            name=name,
            digest=digest,
            context_length=lengths[0] if lengths else 0,
            capabilities=frozenset(item for item in capabilities if isinstance(item, str)),
            remote_host=_text(answer, "remote_host"),
        )

    def pull(self, name: str) -> Iterator[PullRecord]:
        """Have the server fetch a model, and yield what it says until it has it; asked again it goes on where it was.

        Raises PullBroken where asking again may help (the connection or the stream ended early), ServerUnreachable,
        NotOllama, and ServerError with the reason for what asking again does not mend.
        """
        timeout = httpx.Timeout(PULL_IDLE_S, connect=self._connect_s)
        done = False
        try:
            with self._client.stream("POST", "/api/pull", json={"model": name}, timeout=timeout) as response:
                if response.status_code >= 400:
                    raise refused(name, self._error_in(response), response.status_code)
                for line in response.iter_lines():
                    record = required_record(line, name, self.base_url)
                    done = done or record.done
                    yield record
        except httpx.ConnectError as error:
            raise unreachable(self.base_url, _words(error)) from error
        except httpx.HTTPError as error:
            raise PullBroken(f"{name}: the connection to the server ended in the middle ({_words(error)})") from error
        if not done:
            raise PullBroken(f"{name}: the server ended the pull without saying that it is done")

    def _models(self, path: str) -> list[dict[str, Any]]:
        answer = self._request("GET", path)
        models = answer.get("models") or []
        if not isinstance(models, list) or not all(isinstance(item, dict) for item in models):
            raise not_ollama(self.base_url, json.dumps(answer)[:SHOWN])
        return models

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            status, text = self._exchange(method, path, body)
        except DeadlineExceeded as error:
            raise unanswered(self.base_url, self._request_s) from error
        except httpx.HTTPError as error:
            raise self._no_answer(error) from error
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise not_ollama(self.base_url, text[:SHOWN]) from error
        if not isinstance(answer, dict):
            raise not_ollama(self.base_url, text[:SHOWN])
        if status >= 400:
            model = _text(body, "model") if body else ""
            raise self._refused(path, status, answer, model)
        return answer

    def _refused(self, path: str, status: int, answer: Mapping[str, Any], model: str) -> ServerError:
        """Describe an error's answer; ``model`` is the one that was asked about, "" where it was none."""
        said = " ".join(_text(answer, "error").split())
        if status == 404 and model:
            return not_installed(model, self.base_url)
        place = f"{without_credentials(self.base_url)}{path}"
        return ServerError(damaged(model, said, self.base_url) if model else f"{place} answered {status}: {said}")

    def _no_answer(self, error: httpx.HTTPError) -> ServerError:
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return unanswered(self.base_url, self._request_s)
        return unreachable(self.base_url, _words(error))

    def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, str]:
        """Return status and text of an answer. A timeout of the client alone is met by one byte now and then."""
        limits = Deadlines(self._request_s, self._request_s, self._request_s)
        with Watchdog(limits) as watchdog:

            def trace(event: str, info: Mapping[str, Any]) -> None:
                if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                    watchdog.attach(info["return_value"].get_extra_info("socket"))

            try:
                with self._client.stream(method, path, json=body, extensions={"trace": trace}) as response:
                    return response.status_code, self._read(response)
            except httpx.HTTPError:
                watchdog.check()
                raise

    def _read(self, response: httpx.Response) -> str:
        data = bytearray()
        for piece in response.iter_bytes():
            data += piece
            if len(data) > LARGEST_ANSWER:
                raise not_ollama(self.base_url, data[:SHOWN].decode("utf-8", "replace"))
        return data.decode("utf-8", "replace")

    def _error_in(self, response: httpx.Response) -> str:
        text = self._read(response)
        with contextlib.suppress(ValueError, RecursionError):
            answer = json.loads(text)
            if isinstance(answer, dict) and answer.get("error"):
                return _text(answer, "error")
        raise not_ollama(self.base_url, text[:SHOWN])


def _text(item: Mapping[str, Any], key: str) -> str:
    return str(item.get(key) or "")


def _number(item: Mapping[str, Any], key: str) -> int:
    value = item.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
