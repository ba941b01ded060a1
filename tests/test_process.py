"""The command as a process of its own: killed, interrupted, without a network, in odd environments."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from reflexion import pages
from tests.ollama_double import Act, OllamaDouble, reply
from tests.support import PAGE, CommandLine, approve, tree, verdict


def start(cli: CommandLine, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reflexion", *args]
    return subprocess.Popen(command, cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("node", ["generate", "verify", "critique", "judge", "adjudicate", "settle"])
def test_killed_at_any_node_nothing_partial_stays(cli: CommandLine, ollama_double: OllamaDouble, node: str) -> None:
    """The kill comes as soon as the run says that it has reached the node (judge: that it has scored the round)."""
    cli.source()
    ollama_double.script("gen:1b", *[lambda _: reply(PAGE, wait_s=0.2)] * 9)
    ollama_double.script("critic:1b", *[lambda _: verdict(100, 100)] * 9)
    ollama_double.script("adj:1b", *[lambda _: reply(PAGE, wait_s=0.2)] * 9)
    sign = '"round_scored"' if node == "judge" else f'"node": "{node}"'
    with start(cli, "-i", "add.py", "--format", "json") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if sign in line:
                process.kill()
                break
    assert process.returncode == -signal.SIGKILL
    left = [path for path in cli.folder.rglob("*.md") if not pages.is_ours(path.read_text(encoding="utf-8"))]
    assert left == []
    assert cli.run("-i", "add.py").code == 0
    assert [name for name in tree(cli.folder) if name.endswith("-tmp")] == []


def test_ctrl_c_is_exit_130_and_finished_pages_stay(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    cli.source("src/a.py")
    cli.source("src/b.py")
    approve(ollama_double)
    asked = threading.Event()

    def hang(body: dict[str, Any]) -> Act:
        asked.set()
        return reply(PAGE, wait_s=30)

    ollama_double.script("gen:1b", hang)
    process = start(cli, "-i", "src")
    assert asked.wait(30)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None  # The call under way is worth waiting for; a second time it is not.
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=15)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert (cli.folder / "output" / "a.md").exists()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux for a network namespace")
def test_a_run_passes_where_there_is_only_loopback(cli: CommandLine) -> None:
    """The double runs inside of the namespace too, so nothing but its loopback can be reached."""
    cli.source()
    verdicts = json.dumps({"technical_accuracy": 99, "completeness": 99, "single_critical_fix": "none"})
    script = {"replies": {"gen:1b": [PAGE], "critic:1b": [verdicts], "adj:1b": [PAGE]}}
    (cli.folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    cli.configure(f"http://127.0.0.1:{port}")
    commands = f"""
        ip link set lo up
        {sys.executable} -m tests.ollama_double --script {cli.folder}/script.json --port {port} &
        for attempt in $(seq 100); do
            {sys.executable} -c "import socket; socket.create_connection(('127.0.0.1', {port}), 1)" 2>/dev/null && break
            sleep 0.1
        done
        cd {cli.folder} && {sys.executable} -m reflexion -i add.py
        code=$?
        kill %1
        exit $code
    """
    repository = Path(__file__).parent.parent
    ended = subprocess.run(
        ["unshare", "--net", "bash", "-c", commands], cwd=repository, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (cli.folder / "output" / "add.md").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "socks5://127.0.0.1:9"), ("OLLAMA_HOST", "http://[::1"), ("SSL_CERT_FILE", "/nowhere.pem")],
)
def test_what_another_client_cannot_use_does_not_end_a_run(
    cli: CommandLine, ollama_double: OllamaDouble, name: str, value: str
) -> None:
    """The module ``ollama`` makes one of its own while it is imported, so this needs a new process."""
    cli.source()
    approve(ollama_double)
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), name: value}
    ended = subprocess.run(
        [sys.executable, "-m", "reflexion", "-i", "add.py"],
        cwd=cli.folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr


def test_no_plugin_of_another_program_sees_what_is_validated(tmp_path: Path) -> None:
    (tmp_path / "spy.py").write_text(
        "import pathlib\n\n\nclass Spy:\n"
        "    def new_schema_validator(self, *_):\n"
        "        pathlib.Path(__file__).with_name('seen').touch()\n"
        "        return None, None, None\n\n\nspy = Spy()\n",
        encoding="utf-8",
    )
    about = tmp_path / "spy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[pydantic]\nspy = spy:spy\n", encoding="utf-8")

    def run(*command: str) -> bool:
        (tmp_path / "seen").unlink(missing_ok=True)
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        variables.pop("PYDANTIC_DISABLE_PLUGINS", None)
        subprocess.run([sys.executable, *command], env=variables, check=True, capture_output=True)
        return (tmp_path / "seen").exists()

    assert run("-c", "import pydantic\nclass A(pydantic.BaseModel):\n    a: int")
    assert not run("-m", "reflexion", "config", "schema")


# Sends the process Ctrl-C when a module is about to be imported, and then starts as the installed command does.
INTERRUPTED_AT = """
import importlib, os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
module, _, function = "{script}".partition(":")
sys.argv[1:] = ["--input", "add.py"]
sys.exit(getattr(importlib.import_module(module), function)())
"""


@pytest.mark.parametrize("module", ["reflexion.cli", "typer", "langgraph"])
def test_ctrl_c_while_modules_are_loaded_ends_as_it_does_later(cli: CommandLine, module: str) -> None:
    cli.source()
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    code = INTERRUPTED_AT.format(module=module, script=project["project"]["scripts"]["reflexion"])
    ended = subprocess.run([sys.executable, "-c", code], cwd=cli.folder, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
