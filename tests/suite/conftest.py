"""A sandbox, a collected suite, and what watches over both."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflexion.sandbox import Sandbox
from reflexion.suite.run import Collected, collect
from tests.sandbox_support import Watch, bubblewrap, watched
from tests.suite.corpus import SUITE


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return bubblewrap()


@pytest.fixture(scope="module")
def collected(sandbox: Sandbox) -> Collected:
    return collect(SUITE, sandbox)


@pytest.fixture
def watch() -> Iterator[Watch]:
    before = children()  # Servers of other tests, which live as long as this process.
    with watched() as watch:
        yield watch
    assert not Path("/usr/x").exists()
    assert not Path("/opt/x").exists()
    assert children() <= before


def children() -> set[str]:
    """The processes that this one has started and that have not ended."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # A thread can end between being listed and being read.
            found |= set((task / "children").read_text().split())
    return found
