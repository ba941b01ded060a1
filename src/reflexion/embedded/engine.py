"""The engine as the command line sees it: a child process that serves Ollama's protocol until the parent ends."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from reflexion.embedded.packages import check_installed
from reflexion.errors import ServerError

LAST_WORDS = 500
GRACE_S = 5


class EmbeddedEngine:
    """A model server on a free port of this machine, for as long as the ``with`` block lasts.

    ``max_loaded`` models stay in memory at once; the one that was used longest ago makes room. ``models_dir`` is a
    folder whose ``*.gguf`` files are offered too, by file name. The server runs in its own process, which ends with
    this one, however this one ends.
    """

    def __init__(self, max_loaded: int = 3, models_dir: Path | None = None) -> None:
        self._max_loaded = max_loaded
        self._models_dir = models_dir
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """Where it listens, such as ``http://127.0.0.1:40123``."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Process id of the server, 0 when it does not run."""
        return self._process.pid if self._process else 0

    def __enter__(self) -> Self:
        """Start the server; it answers when this returns.

        Raises:
            ServerError: an optional package is missing, or the server died; the text holds its last words.
        """
        check_installed(self._models_dir)
        with tempfile.TemporaryFile() as log:
            self._process = self._spawn(log)
            self._port = self._wait_until_ready(log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the server and its workers."""
        self._stop()

    def _spawn(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        # -P: a file of the user's working directory must not be imported in place of a module.
        command = [sys.executable, "-P", "-m", "reflexion.embedded.child", "--max-loaded", str(self._max_loaded)]
        if self._models_dir is not None:
            command += ["--models", str(self._models_dir)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)  # noqa: S603

    def _wait_until_ready(self, log: IO[bytes]) -> int:
        ready = self._process.stdout.readline() if self._process and self._process.stdout else b""
        if ready:
            return int(json.loads(ready)["port"])
        self._stop()
        log.seek(0)
        words = " ".join(log.read().decode("utf-8", "replace").split())[-LAST_WORDS:]
        raise ServerError(f"the embedded engine died at its start: {words or 'it said nothing'}")

    def _stop(self) -> None:
        process, self._process, self._port = self._process, None, 0
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
