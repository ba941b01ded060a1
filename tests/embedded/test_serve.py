"""``reflexion engine serve``: where it listens, whom it answers, and how it ends."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from reflexion.cli import main
from reflexion.embedded.packages import DEMO_MODELS, check_installed
from reflexion.errors import ServerError
from tests.embedded.test_life import children, running, wait_until

pytestmark = pytest.mark.embedded

FIRST = DEMO_MODELS[0]
OPTIONS = {"num_ctx": 256, "num_predict": 4}
HELLO = {"model": FIRST, "prompt": "hello", "options": OPTIONS, "stream": False}
ENDLESS = {**HELLO, "options": {"num_ctx": 256}, "format": {"type": "string", "minLength": 20_000}}
ENDING = {"error": "the engine is ending"}


@dataclass(frozen=True)
class Served:
    """A running ``reflexion engine serve``: its process, which leads a group, and its first line."""

    process: "subprocess.Popen[str]"
    line: str

    @property
    def url(self) -> str:
        return self.line.split()[3].rstrip(";").replace("0.0.0.0", "127.0.0.1")

    def post(self, body: dict[str, object], path: str = "/api/generate") -> httpx.Response:
        return httpx.post(self.url + path, json=body, timeout=60, trust_env=False)

    def workers(self) -> list[int]:
        return children(self.process.pid)


@contextmanager
def serve(*options: str) -> Iterator[Served]:
    try:
        check_installed()
    except ServerError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "reflexion", "engine", "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Served(process, process.stdout.readline())
        finally:
            process.kill()


def ended(served: Served, workers: list[int]) -> str:
    """Its last words on standard error, once it and all its workers are gone; the exit code must be 0."""
    _, err = served.process.communicate(timeout=20)
    assert served.process.returncode == 0
    assert not any(running(pid) for pid in workers)
    return str(err)


@contextmanager
def in_threads(count: int, call: Callable[[], httpx.Response]) -> Iterator[list["Future[httpx.Response]"]]:
    with ThreadPoolExecutor(count) as threads:
        yield [threads.submit(call) for _ in range(count)]


def first_tokens(served: Served, body: dict[str, object], came: threading.Event) -> list[str]:
    """The lines of a streamed answer; ``came`` is set with the first."""
    lines = []
    with httpx.stream("POST", served.url + "/api/generate", json={**body, "stream": True}, timeout=60) as answer:
        for line in answer.iter_lines():
            lines.append(line)
            came.set()
    return lines


def test_it_says_where_it_listens_and_ends_with_its_workers(tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"nothing")
    with serve("--max-loaded", "1", "--models", str(tmp_path)) as served:
        assert served.line.startswith("engine: listening on http://127.0.0.1:")
        assert served.line.endswith(f"; models: {', '.join(DEMO_MODELS)}; Ctrl-C ends it\n")
        assert served.post(HELLO).json()["eval_count"] == 4
        workers = served.workers()
        assert len(workers) == 1
        served.process.terminate()
        words = (
            f"reflexion: warning: left out of --models {tmp_path}: broken.gguf; no whole GGUF file, or not readable\n"
        )
        assert ended(served, workers) == words
    with pytest.raises(httpx.ConnectError):
        served.post(HELLO)


def test_ctrl_c_lets_a_running_call_end_and_takes_no_more() -> None:
    with serve() as served, ThreadPoolExecutor(1) as threads:
        served.post(HELLO)
        workers, came = served.workers(), threading.Event()
        short = {**ENDLESS, "options": {"num_ctx": 256, "num_predict": 24}}
        running_call = threads.submit(first_tokens, served, short, came)
        assert came.wait(20)
        # The terminal sends Ctrl-C to the whole group.
        os.killpg(served.process.pid, signal.SIGINT)
        final = json.loads(running_call.result(20)[-1])
        assert (final["done_reason"], final["eval_count"]) == ("length", 24)
        assert ended(served, workers) == ""


def test_a_call_that_runs_on_and_those_that_wait_are_told() -> None:
    with serve() as served, ThreadPoolExecutor(1) as threads:
        came = threading.Event()
        endless = threads.submit(first_tokens, served, ENDLESS, came)
        assert came.wait(20)
        with in_threads(2, lambda: served.post(HELLO)) as waiting:
            time.sleep(0.5)
            workers, started = served.workers(), time.monotonic()
            served.process.terminate()
            assert [(call.result().status_code, call.result().json()) for call in waiting] == [(503, ENDING)] * 2
            assert time.monotonic() - started < 3
            os.killpg(served.process.pid, signal.SIGINT)
        assert json.loads(endless.result(20)[-1]) == ENDING
        assert time.monotonic() - started < 4.5, "the second signal must not wait for the grace to pass"
        ended(served, workers)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are listed by /proc, and named to a signal, on Linux")
def test_a_signal_may_come_to_any_of_its_threads() -> None:
    with serve() as served:
        first, *others = sorted(int(entry.name) for entry in Path(f"/proc/{served.process.pid}/task").iterdir())
        assert first == served.process.pid
        assert ctypes.CDLL(None).tgkill(served.process.pid, others[-1], signal.SIGTERM) == 0
        assert ended(served, []) == ""


def test_killed_it_leaves_no_worker() -> None:
    with serve() as served:
        served.post(HELLO)
        workers = served.workers()
        served.process.kill()
        wait_until(lambda: not any(running(pid) for pid in workers))


def test_remote_clients_only_when_allowed() -> None:
    with serve("--host", "0.0.0.0", "--allow-remote") as served:
        asked = {"Host": "box.example:11434"}
        assert httpx.get(f"{served.url}/api/version", headers=asked).status_code == 200
        page = {**asked, "Origin": "http://box.example"}
        assert httpx.get(f"{served.url}/api/version", headers=page).status_code == 200
        evil = {**asked, "Origin": "http://evil.example"}
        assert httpx.get(f"{served.url}/api/version", headers=evil).status_code == 403
        served.process.terminate()
        words = ended(served, [])
    assert words == (
        "reflexion: warning: every machine that reaches 0.0.0.0 can use this engine; it asks for no password\n"
    )


def refusal(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(["engine", "serve", *options])
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_host_beyond_this_machine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = "reflexion: --host 192.0.2.7 is not this machine alone; --allow-remote allows it\n"
    assert refusal(capsys, "--host", "192.0.2.7") == words


@pytest.mark.parametrize("host", ["", "127.0.0.1:11434", "http://127.0.0.1", "no such host", "a" * 70])
@pytest.mark.parametrize("more", [(), ("--allow-remote",)])
def test_a_host_that_is_none_is_not_called_remote(
    capsys: pytest.CaptureFixture[str], host: str, more: tuple[str, ...]
) -> None:
    words = f'reflexion: --host "{host}" is no address that is known here; leave it out for 127.0.0.1\n'
    assert refusal(capsys, "--host", host, *more) == words


def test_a_port_that_is_taken_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = f"reflexion: port {port} of 127.0.0.1 is taken, perhaps by an Ollama; choose another with --port\n"
        assert refusal(capsys, "--port", str(port)) == words


def test_a_folder_of_models_must_be_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = refusal(capsys, "--models", str(tmp_path / "none"))
    assert words == f"reflexion: --models {tmp_path / 'none'} is not a folder; name one that holds GGUF files\n"


def test_the_help_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["engine", "serve", "--help"])
    assert caught.value.code == 0
    assert "--allow-remote" in capsys.readouterr().out
