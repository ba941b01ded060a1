"""What came of running a suite against a candidate."""

from typing import Literal, NamedTuple

Mode = Literal["isolated", "in-process"]


class Flag(NamedTuple):
    """What the static scan does not let pass: a line of the candidate (from 1), and what is wrong there."""

    line: int
    what: str


class Failure(NamedTuple):
    """A test that did not pass: its name as pytest writes it, and why, in a line."""

    test: str
    why: str


class SuiteRun(NamedTuple):
    """How a candidate did. ``passed`` is the verdict: every check of ours held; nothing else counts as passing.

    ``reason`` says in one line why it did not pass ("" when it did). ``total`` is the number of tests collected
    beforehand, ``passes`` how many of them passed. ``summary`` is what a debugger is shown: failures, else errors,
    else the last lines; no colours. ``wall_s`` is in seconds. ``why_in_process`` says why the candidate did not run in
    a process of its own ("" when it did, or did not run).
    """

    passed: bool
    reason: str
    mode: Mode
    total: int
    passes: int
    failures: tuple[Failure, ...]
    flags: tuple[Flag, ...]
    summary: str
    timed_out: bool
    wall_s: float
    why_in_process: str = ""
