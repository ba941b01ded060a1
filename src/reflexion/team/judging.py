"""How a candidate of the graph is judged: by the locked suite, or by the tests of the module that it would replace."""

from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING

from reflexion.errors import CallFailed
from reflexion.suite.result import SuiteRun
from reflexion.suite.run import Collected, collect, run_suite
from reflexion.suite.source import read_suite

if TYPE_CHECKING:
    from reflexion.context import CodeContext
    from reflexion.pipelines.code import CodeState


def judged(candidate: str, state: "CodeState", context: "CodeContext") -> tuple[SuiteRun, list[str]]:
    """Run the tests against a candidate; return how it did, and the tests of the suite as they were collected.

    Raises CallFailed when the suite is not the one that was locked, InputError when a project's tests have changed,
    SandboxError.
    """
    if digest(state["tests"]) != state["tests_sha256"]:
        raise CallFailed("the tests are not those that were found sound; nothing is run against them")
    if context.judge is not None:
        return context.judge(candidate), []
    known = Collected(tuple(state["collected"]), "")
    if not known.tests:
        known = collect(state["tests"], context.sandbox)
    done = run_suite(
        candidate,
        state["tests"],
        context.sandbox,
        limit_s=context.limit_s,
        allow=context.allow,
        collected=known,
    )
    return done, list(known.tests)


def names_of(state: "CodeState", context: "CodeContext") -> Collection[str]:
    """Return the names by which a module in a reply is told from other blocks of code."""
    return context.judge.names if context.judge is not None else read_suite(state["tests"]).names


def digest(text: str) -> str:
    """Return the digest that a suite is locked by."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
