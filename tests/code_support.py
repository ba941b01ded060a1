"""What the tests of the code pipeline share: suites, solutions right and wrong, and replies of the roles."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reflexion.config import Role, RoleSettings, ServerSettings
from reflexion.context import CodeContext
from reflexion.events import Event
from reflexion.loaders import Source
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Models
from reflexion.pipelines import code
from reflexion.prompts import load_prompts
from tests.ollama_double import Act, OllamaDouble, reply
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine

# Of one run of a suite: a machine may be busy with many other tests.
LIMIT_S = 60.0

PROMPT = "A function clamp(value, low, high) that keeps a number between two bounds."
SPECIFICATION = "`clamp(value, low, high)` returns the value, or the bound that it passes. `ValueError` for low > high."
TESTS = """import pytest

from solution import clamp


def test_inside_is_unchanged():
    assert clamp(5, 0, 10) == 5


def test_below_is_the_lower_bound():
    assert clamp(-3, 0, 10) == 0


def test_above_is_the_upper_bound():
    assert clamp(30, 0, 10) == 10


def test_bounds_that_meet():
    assert clamp(7, 4, 4) == 4


def test_bounds_in_the_wrong_order():
    with pytest.raises(ValueError):
        clamp(1, 5, 2)
"""
SOLUTION = '''"""Keep numbers in bounds."""


def clamp(value, low, high):
    """Return the value, or the bound that it passes."""
    if low > high:
        raise ValueError("low is above high")
    return max(low, min(value, high))
'''
# Passes 1, 2, 3 and 4 of the 5 tests.
WRONG = {
    1: "def clamp(value, low, high):\n    return value\n",
    2: "def clamp(value, low, high):\n    return high if value > high else value\n".replace(
        "value > high", "value == 30"
    ),
    3: "def clamp(value, low, high):\n    return min(value, high)\n",
    4: "def clamp(value, low, high):\n    return max(low, min(value, high))\n",
}

LIMITER_PROMPT = "A thread-safe rate limiter: RateLimiter(limit, per_s, clock), allow() says whether a call may go on."
LIMITER_TESTS = """import threading
import time

import pytest

from solution import RateLimiter


class Slow(float):
    def __sub__(self, other):
        time.sleep(0.03)
        return float(self) - float(other)


def test_up_to_the_limit():
    limiter = RateLimiter(2, 10.0, lambda: 0.0)
    assert [limiter.allow() for _ in range(4)] == [True, True, False, False]


def test_again_when_the_time_is_over():
    now = [0.0]
    limiter = RateLimiter(1, 10.0, lambda: now[0])
    assert limiter.allow() is True
    assert limiter.allow() is False
    now[0] = 10.0
    assert limiter.allow() is True


def test_a_limit_below_one():
    with pytest.raises(ValueError):
        RateLimiter(0, 1.0, lambda: 0.0)


def test_threads_together_get_no_more_than_the_limit():
    now = [0.0]
    limiter = RateLimiter(2, 10.0, lambda: now[0])
    assert limiter.allow() is True
    now[0] = Slow(1.0)
    allowed = []
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        allowed.append(limiter.allow())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert allowed.count(True) == 1
"""
LIMITER = '''import threading


class RateLimiter:
    """Let `limit` calls go on in any `per_s` seconds."""

    def __init__(self, limit, per_s, clock):
        if limit < 1:
            raise ValueError("limit must be 1 or more")
        self.limit = limit
        self.per_s = per_s
        self.clock = clock
        self.stamps = []
        self.lock = threading.Lock()

    def allow(self):
        """Say whether a call may go on now."""
        with self.lock:
            now = self.clock()
            self.stamps = [stamp for stamp in self.stamps if now - stamp < self.per_s]
            if len(self.stamps) >= self.limit:
                return False
            self.stamps.append(now)
            return True
'''
RACY_LIMITER = LIMITER.replace(
    """        with self.lock:
            now = self.clock()
            self.stamps = [stamp for stamp in self.stamps if now - stamp < self.per_s]
            if""",
    """        now = self.clock()
        self.stamps = [stamp for stamp in self.stamps if now - stamp < self.per_s]
        with self.lock:
            if""",
)


def design(tests: str = TESTS, specification: str = SPECIFICATION) -> Act:
    """An architect's reply as it was asked for."""
    return reply(f"### SPECIFICATIONS\n{specification}\n\n### TESTS\n```python\n{tests}```\n")


def module(code: str = SOLUTION) -> Act:
    """A developer's reply as it was asked for."""
    return reply(f"```python\n{code}```\n")


def patch(code: str = SOLUTION, diagnosis: str = "The bound is not applied. I apply it.") -> Act:
    """A debugger's reply as it was asked for."""
    return reply(f"### DIAGNOSIS\n{diagnosis}\n\n### PATCHED_CODE\n```python\n{code}```\n")


def team(double: OllamaDouble, architect: list[Act], writer: list[Act], reviewer: list[Act] | None = None) -> None:
    """Script a run in which GENERATOR's model develops and debugs."""
    double.script("adj:1b", *architect)
    double.script("gen:1b", *writer)
    double.script("critic:1b", *([reply("All that was asked for works.")] if reviewer is None else reviewer))


def result(cli: CommandLine, folder: str = "out") -> dict[str, Any]:
    """run.json of a result."""
    content: dict[str, Any] = json.loads((cli.folder / folder / "run.json").read_text(encoding="utf-8"))
    return content


TEAM = {Role.DEVELOPER: "gen:1b", Role.DEBUGGER: "gen:1b", Role.REVIEWER: "critic:1b"}


def loop(
    double: OllamaDouble,
    writer: Sequence[Act],
    *,
    candidate: str = "",
    models: Mapping[Role, str] = TEAM,
    iterations: int = 3,
    events: list[Event] | None = None,
) -> code.State:
    """Run the graph from the developer on, or from the tests of ``candidate``, with the suite for clamp.

    Vetting a suite takes ten runs of pytest, which say nothing about the loop.
    """
    double.script("gen:1b", *writer)
    double.script("critic:1b", reply("All that was asked for works."))
    settings = RoleSettings(temperature=0.2, num_ctx=8192, num_predict=2048)
    bindings = {role: Binding(role, model, settings, 8192) for role, model in models.items()}
    context = CodeContext(
        models=Models(bindings, double.base_url, ServerSettings(total_s=40)),
        prompts=load_prompts("code", None),
        emit=(events if events is not None else []).append,
        sandbox=bubblewrap(),
        max_debug_iterations=iterations,
        limit_s=LIMIT_S,
    )
    source = Source("prompt", "prompt", PROMPT, "0" * 64, None)
    return code.solve(code.build(), source, context, suite=TESTS, candidate=candidate)
