"""A real Ollama of one test alone: to be killed, stopped and starved, and its models to be broken."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.real_ollama import RealOllama, end_group, free_port, link_store, start_server


class OwnOllama:
    """A server on a port that it keeps over restarts. Its store is made of links to the files of another server's, so
    it costs no time and no room; a file of it is replaced or removed, never written to.
    """

    def __init__(self, binary: Path, folder: Path, models: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._port = free_port()
        self._server: RealOllama | None = None
        link_store(models, self.store)

    @property
    def store(self) -> Path:
        """Where its models are."""
        return self._folder / "models"

    @property
    def base_url(self) -> str:
        """Its address, also while it is away."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def server(self) -> RealOllama:
        """The server that runs."""
        assert self._server is not None
        return self._server

    def start(self, **environment: str) -> None:
        """Start it, with these variables besides the usual ones."""
        self._server = start_server(self._binary, self._folder, self._port, **environment)

    def kill(self) -> None:
        """Kill the server and its runners, and wait until its port refuses."""
        os.killpg(self.server.process.pid, signal.SIGKILL)
        self.server.process.wait()

    def close(self) -> None:
        """End whatever still runs of it."""
        if self._server is not None:
            end_group(self._server.process)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server and all its runners."""
        os.killpg(self.server.process.pid, number)

    def runner(self) -> int:
        """The process that holds the model."""
        [pid] = [pid for pid in _children(self.server.process.pid) if "--model" in _arguments(pid)]
        return pid

    def stop_runner(self) -> None:
        """Stop the process that holds the model; the server itself goes on."""
        os.kill(self.runner(), signal.SIGSTOP)

    def chat(self, model: str, content: str = "Say yes.", **options: object) -> httpx.Response:
        """The answer to one short request, not streamed."""
        body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": content}], "stream": False}
        return self.server.post("/api/chat", body | {"options": {"num_predict": 4, "temperature": 0} | options})

    def delete(self, model: str) -> None:
        """``ollama rm``."""
        httpx.request(
            "DELETE", f"{self.base_url}/api/delete", json={"model": model}, trust_env=False
        ).raise_for_status()

    def damage(self, model: str, size: int | None) -> None:
        """Leave ``size`` bytes of a model's weights; None: not even the file."""
        manifest = next((self.store / "manifests").glob(f"*/library/{model.replace(':', '/')}")).read_text()
        named = [path for path in (self.store / "blobs").iterdir() if path.name.replace("-", ":") in manifest]
        weights = max(named, key=lambda path: path.stat().st_size)
        kept = weights.read_bytes()[:size]
        weights.unlink()
        if size is not None:
            weights.write_bytes(kept)


def _children(pid: int) -> Iterator[int]:
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        yield from map(int, listed.read_text().split())


def _arguments(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:  # It has just ended.
        return []
