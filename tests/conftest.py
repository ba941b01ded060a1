"""What every test gets: no way to a real model or to the repository's own files, and the servers that tests ask for."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ollama_double import ModelInfo, OllamaDouble
from tests.real_ollama import RealOllama, cache_folder, demanded, find_binary, running_ollama
from tests.support import CommandLine

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
TRACING = ("LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OTEL_")
DEFAULT_MODELS = ("gen:1b", "critic:1b", "adj:1b")

# Where the user's cache is, read before any test's environment is in force.
REAL_OLLAMA = pytest.StashKey[tuple[Path | None, Path]]()

MakeDouble = Callable[..., OllamaDouble]


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A shell that runs us in the background ignores it, which every process of the tests would inherit.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[REAL_OLLAMA] = (find_binary(), cache_folder())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one real server on one worker: a second server would compete for the same cores."""
    for item in items:
        for mark in ("ollama", "embedded"):
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.xdist_group(mark))


@pytest.fixture(scope="session")
def closed_port() -> Iterator[int]:
    """A loopback port that stays bound and refuses every connection."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture(scope="session")
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder in place of the user's, outside of every test's ``tmp_path``."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _apart(closed_port: int, empty_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reaches a model server, proxy, tracing host, home folder or the repository's files by accident: the
    working folder is ``tmp_path``.
    """
    for name in list(os.environ):
        if name.upper() in PROXIES or name.startswith((*TRACING, "OLLAMA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{closed_port}")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(empty_home))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(empty_home / name.split("_")[1].lower()))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def make_ollama_double() -> Iterator[MakeDouble]:
    """Makes doubles, with the arguments of `OllamaDouble`; every one is checked and closed at teardown.

    Without ``models`` they are those of the fixture ``ollama_double``.
    """
    made: list[OllamaDouble] = []

    def make(
        models: dict[str, ModelInfo] | None = None,
        *,
        max_loaded: int | None = None,
        load_s: float = 0.0,
        repeat_last: bool = False,
    ) -> OllamaDouble:
        wanted = {name: ModelInfo() for name in DEFAULT_MODELS} if models is None else models
        made.append(OllamaDouble(wanted, max_loaded=max_loaded, load_s=load_s, repeat_last=repeat_last))
        return made[-1]

    yield make
    for double in made:
        double.close()
    for double in made:
        double.check()


@pytest.fixture
def ollama_double(make_ollama_double: MakeDouble) -> OllamaDouble:
    """A double with the models gen:1b, critic:1b and adj:1b, each with a window of 8192 tokens."""
    return make_ollama_double()


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    """The command line in a folder of its own, whose configuration names the double."""
    line = CommandLine(tmp_path, capsys)
    line.configure(ollama_double.base_url)
    return line


@pytest.fixture(scope="session")
def real_ollama(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealOllama]:
    """A real server with three distinct small models and room for one; one a test process, started when first asked.

    Without a binary the test is skipped, or fails when REFLEXION_DEMAND_OLLAMA is 1.
    """
    binary, cache = request.config.stash[REAL_OLLAMA]
    with running_ollama(demanded(binary), tmp_path_factory.mktemp("ollama"), cache) as server:
        yield server
