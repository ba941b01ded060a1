"""The engine's handle on one worker process: start it, send it work, stop it."""

import http.client
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from reflexion.embedded.catalog import Model
from reflexion.embedded.wire import ApiError

# llama.cpp looks for a hang-up between batches, so a batch may take only a fraction of a second.
BATCH_TOKENS = 128
# The window must hold the whole prompt and llama.cpp wants a free cell for the reply as well.
SPARE_CELLS = 256
# Threads that spin at a barrier are sixty times slower than threads that sleep when another process wants the core, and
# threads that sleep at once are half as fast when none does. So they spin a little, and sleep then.
WORKER_ENVIRONMENT = {"GOMP_SPINCOUNT": "1000"}
CPU_TOPOLOGY = Path("/sys/devices/system/cpu")
# What llama.cpp logs, and nothing else tells, when it goes on without the schema that it was given.
SCHEMA_DROPPED = b"llg error"
# llama.cpp's lines below the level of an error.
REMARK = re.compile(rb"[\d.]+ [DIW] ")
TERMINATED = "llama runner process has terminated"


class ClientGone(Exception):
    """The client hung up, so nobody waits for this call any more."""


class Call:
    """One request on its way: what to stop when its client hangs up, or when the engine ends."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self._reason: Exception | None = None
        self.running = False
        """Whether a worker has begun with it."""

    @property
    def cancelled(self) -> bool:
        """Whether it has been told to end."""
        return self._reason is not None

    def cancel(self, reason: Exception | None = None) -> None:
        """End the call wherever it is: waiting for its turn, loading its model, or inside a worker.

        ``reason`` is what it ends with; a client that hung up, when none is given.
        """
        with self._lock:
            self._reason = self._reason or reason or ClientGone()
            if self._stop is not None:
                self._stop()
        self._wake()

    @contextmanager
    def stopped_by(self, stop: Callable[[], None]) -> Iterator[None]:
        """Within the block, ``cancel`` calls ``stop``, which must end whatever the block waits for.

        Raises:
            Exception: the reason, when the call was cancelled already.
        """
        with self._lock:
            self._stop = stop
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._stop = None

    def check(self) -> None:
        """Raise the reason when the call was cancelled."""
        if self._reason is not None:
            raise self._reason


class Runner:
    """A worker process with one model in one window. Creating it loads the model, on behalf of ``call``.

    Raises:
        ApiError: 500 when the worker cannot load the file.
        ClientGone: the call was cancelled meanwhile.
    """

    def __init__(self, model: Model, window: int, call: Call) -> None:
        self.cells = min(window + SPARE_CELLS, model.header.window)
        self._key = secrets.token_hex(16)
        self._process = _start_worker()
        self._schema_dropped = threading.Event()
        self._log = threading.Thread(target=self._watch_log, daemon=True)
        self._log.start()
        try:
            with call.stopped_by(self._process.kill):
                self._address = self._load(model, call)
        except BaseException:
            self.stop()
            raise

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def drops_schema(self, within_s: float = 0.0) -> bool:
        """Whether llama.cpp ignores the present call's schema; its log may say so a moment after the first token."""
        return self._schema_dropped.wait(within_s)

    def stop(self) -> None:
        """End the process at once; its memory is free when this returns."""
        self._process.kill()
        self._process.wait()
        self._log.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    @contextmanager
    def session(self, call: Call) -> Iterator["Session"]:
        """A connection for one call; leaving it ends whatever the worker still does for it."""
        self._schema_dropped.clear()
        connection = http.client.HTTPConnection(self._address)
        try:
            connection.connect()
            with call.stopped_by(partial(_shut, connection.sock)):
                call.running = True
                yield Session(connection, self._key)
        except (OSError, http.client.HTTPException) as error:
            call.check()
            # Its socket closes before the process is seen to be gone; the next call must not be given to it.
            self._process.kill()
            self._process.wait()
            raise ApiError(500, TERMINATED) from error
        finally:
            connection.close()

    def _watch_log(self) -> None:
        log = self._process.stderr
        for line in log or []:
            if SCHEMA_DROPPED in line:
                self._schema_dropped.set()
            if not REMARK.match(line):
                sys.stderr.buffer.write(line)
                sys.stderr.flush()

    def _load(self, model: Model, call: Call) -> str:
        order = {
            "path": str(model.path),
            "cells": self.cells,
            "threads": physical_cores(),
            # A model that reads its text in both directions must see all of it at once.
            "batch": self.cells if model.header.embeds else BATCH_TOKENS,
            "pool_last": not model.header.embeds,
            "key": self._key,
        }
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise ApiError(500, TERMINATED)
        try:
            requests.write(json.dumps(order).encode() + b"\n")
            requests.flush()
            return str(json.loads(answers.readline())["address"]).removeprefix("http://")
        except (OSError, ValueError) as error:
            call.check()
            raise ApiError(500, f"unable to load model: {model.path.name}") from error


class Session:
    """What a worker does for one call, over llama.cpp's own HTTP server."""

    def __init__(self, connection: http.client.HTTPConnection, key: str) -> None:
        self._connection = connection
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def prompt(self, messages: list[dict[str, str]]) -> str:
        """The text that the model's chat template makes of the messages."""
        return str(self._ask("/apply-template", {"messages": messages})["prompt"])

    def tokens(self, text: str, *, special: bool = True) -> list[int]:
        """The token numbers of a text; ``special``: as a prompt, with the control tokens that the model wants."""
        body = {"content": text, "add_special": special, "parse_special": True}
        return [int(token) for token in self._ask("/tokenize", body)["tokens"]]

    def known(self, tokens: list[int]) -> list[int]:
        """The same token numbers.

        Raises:
            ApiError: 400 when the model has no such tokens.
        """
        try:
            self._ask("/detokenize", {"tokens": tokens})
        except ApiError as error:
            raise ApiError(400, "context holds tokens that this model does not have") from error
        return tokens

    def embedding(self, tokens: list[int]) -> list[float]:
        """The vector of a text, as the model gives it.

        Raises:
            ApiError: 500 with llama.cpp's words.
        """
        (vector,) = self._ask("/embedding", {"content": tokens, "embd_normalize": -1})[0]["embedding"]
        return [float(number) for number in vector]

    def complete(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """llama.cpp's records of one completion as they come; the last has ``stop`` set. It ends the session: llama.cpp
        closes the connection behind it.

        Raises:
            ApiError: 500 with llama.cpp's words.
            http.client.IncompleteRead: the worker went away before the last record.
        """
        response = self._post("/completion", body)
        while line := response.readline():
            if line.startswith(b"data: {"):
                record: dict[str, Any] = json.loads(line[6:])
                _raise_error(record)
                yield record
                if record["stop"]:
                    return
        # A chunked answer that is cut reads like one that ended; only the last record says that it is whole.
        raise http.client.IncompleteRead(b"")

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON of llama.cpp's own forms
        return json.loads(self._post(path, body).read())

    def _post(self, path: str, body: Mapping[str, Any]) -> http.client.HTTPResponse:
        self._connection.request("POST", path, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        if response.status != http.client.OK:
            _raise_error(json.loads(response.read() or b"{}"))
            raise ApiError(500, f"llama.cpp answered {response.status}")
        return response


def physical_cores() -> int:
    """Cores that this process may use, counting two threads of one core once where the system tells them apart."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = {_siblings(cpu) for cpu in allowed}
    return max(1, len(siblings))


def _siblings(cpu: int) -> str:
    try:
        return (CPU_TOPOLOGY / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return str(cpu)


def _start_worker() -> subprocess.Popen[bytes]:
    # -P: a file of the user's working directory must not be imported in place of a module.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "reflexion.embedded.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C in a terminal is for the engine, which lets running calls end.
        process_group=0,
        env={**os.environ, **WORKER_ENVIRONMENT},
    )


def _raise_error(record: Mapping[str, Any]) -> None:
    error = record.get("error")
    if error is not None:
        raise ApiError(500, str(error.get("message", error)) if isinstance(error, dict) else str(error))


def _shut(connection: socket.socket | None) -> None:
    if connection is None:
        return
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
