"""Runs a suite against a candidate in the two sandboxes, with a report that only pytest's own process can write."""

import contextlib
import json
import os
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace

from reflexion.sandbox import Completed, Job, Limits, Sandbox
from reflexion.suite.isolation import isolated
from reflexion.suite.isolation.proxy import Channel
from tests.sandbox_support import bubblewrap

LIMITS = Limits(wall_s=120, cpu_s=20, memory_mib=512, processes=32)

# pytest as the runner has it, in short: the files' folder is the only one that it imports from.
DRIVER = """
import json, os, sys
sys.path.insert(0, os.environ["REFLEXION_FILES"])
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
import pytest

class Report:
    def __init__(self):
        self.outcomes = {}
        self.texts = []

    def pytest_collectreport(self, report):
        if report.failed:
            self.texts.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.outcomes[report.nodeid.partition("::")[2]] = report.outcome
        if report.failed:
            self.texts.append(str(report.longrepr))

report = Report()
suite = os.path.join(os.environ["REFLEXION_FILES"], "test_suite.py")
code = pytest.main(["-q", "-p", "no:cacheprovider", "--noconftest", suite], plugins=[report])
os.write(int(os.environ["REFLEXION_RESULT_FD"]), json.dumps([report.outcomes, report.texts]).encode())
sys.exit(code)
"""


@dataclass(frozen=True)
class Ran:
    """How it went; ``text`` is what pytest said about failures."""

    exit_code: int
    outcomes: dict[str, str]
    text: str
    timed_out: bool
    tail: str

    @property
    def passed(self) -> bool:
        return self.exit_code == 0 and bool(self.outcomes) and set(self.outcomes.values()) == {"passed"}


def run(suite: str, candidate: str, names: Collection[str], sandbox: Sandbox) -> Ran:
    with isolated(candidate, names, sandbox, LIMITS) as both:
        files = {**both.files, "test_suite.py": suite.encode(), "driver.py": DRIVER.encode()}
        done = sandbox.run(replace(Job(files, ("driver.py",), LIMITS), channel=both.channel))
    return ran(done, both.tail())


def ran(done: Completed, tail: str) -> Ran:
    outcomes, texts = json.loads(done.result or b"[{}, []]")
    text = "\n".join([*texts, done.stderr.decode(errors="replace")])
    return Ran(done.exit_code, outcomes, text, done.timed_out, tail)


@contextlib.contextmanager
def called(candidate: str, *names: str, limits: Limits = LIMITS) -> Iterator[SimpleNamespace]:
    """What stands in the candidate's place, here in the test's own process; the candidate is in the real sandbox."""
    with isolated(candidate, names, bubblewrap(), limits) as both, socket.socket(fileno=os.dup(both.channel)) as here:
        channel = Channel(here)
        yield SimpleNamespace(**channel.names(list(names)), channel=channel)
