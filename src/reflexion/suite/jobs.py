"""Jobs that run pytest in the sandbox, and what they told. Nothing of a job's output is read but its records."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from reflexion.sandbox import Completed, Job, Limits

SUITE_FILE = "test_suite.py"
CODES = range(64, 120)
_PARTS = ("driver.py", "reporter.py")
_INI = b"[pytest]\nenable_assertion_pass_hook = true\npython_files = test_suite.py\nconsole_output_style = classic\n"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job is to do, and what only it and we know: ``token`` begins every record, ``code`` is its exit code.

    ``canaries`` are tests that must fail; their names are added to every suite.
    """

    folders: tuple[str, ...]
    collect_only: bool = False
    seconds: float = 10.0
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    code: int = field(default_factory=lambda: secrets.choice(CODES))
    canaries: tuple[str, ...] = ()

    def text(self) -> bytes:
        """Return the plan as the driver reads it."""
        return json.dumps(
            {
                "folders": self.folders,
                "collect_only": self.collect_only,
                "seconds": self.seconds,
                "token": self.token,
                "code": self.code,
                "canaries": self.canaries,
                "suite": SUITE_FILE,
            }
        ).encode()


def new_canaries() -> tuple[str, str]:
    """Return two names for tests that must fail, of this run alone."""
    return f"test_{secrets.token_hex(6)}", f"test_{secrets.token_hex(6)}"


def with_canaries(suite: str, canaries: Sequence[str]) -> bytes:
    """Return the suite with tests at its end that must fail: one compares, one expects an exception that is not raised.

    The lines of the suite stay where they are.
    """
    first, second = secrets.randbelow(10**9), secrets.randbelow(10**9)
    if not canaries:
        return suite.encode()
    return (
        f"{suite}\n\n\ndef {canaries[0]}():\n    assert {first} == {first + 1 + second}\n"
        f"\n\ndef {canaries[1]}():\n    with __import__('pytest').raises(ValueError):\n        int({second!r})\n"
    ).encode()


def job(plan: Plan, files: Mapping[str, bytes], limits: Limits) -> Job:
    """Return the job for a plan; ``files`` are those of its folders."""
    everything = {**files, **_parts(), "plan.json": plan.text(), "pytest.ini": _INI}
    return Job(everything, ("driver.py",), limits)


@cache
def _parts() -> Mapping[str, bytes]:
    return {name: Path(__file__).with_name(name).read_bytes() for name in _PARTS}


@dataclass(frozen=True, slots=True)
class TestRecord:
    """How a test ended: ``outcome`` is passed, failed, error, skipped, xfailed, swallowed or incomplete."""

    __test__ = False

    name: str
    outcome: str
    raised: str
    lines: frozenset[int]
    why: str


@dataclass(slots=True)
class Told:
    """What one folder's run told. ``forged`` says what in it cannot be from our reporter, "" when all can."""

    collected: tuple[str, ...] | None = None
    uncollected: str = ""
    begun: list[str] = field(default_factory=list)
    tests: dict[str, TestRecord] = field(default_factory=dict)
    end: int | None = None
    forged: str = ""


def read_records(plan: Plan, completed: Completed) -> dict[str, Told]:
    """Return what each folder's run told. A line that is not as our reporter writes it marks all of them."""
    told = {folder: Told() for folder in plan.folders}
    text = completed.result.decode("ascii", "replace")
    whole = not text or text.endswith("\n")
    for line in text.splitlines():
        token, _, rest = line.partition(" ")
        folder, _, record = rest.partition(" ")
        if token != plan.token or folder not in told:
            whole = False
            break
        try:
            _read(told[folder], record.split(" "))
        except (ValueError, IndexError):
            whole = False
            break
    if not whole and not completed.timed_out:
        for one in told.values():
            one.forged = "the report was written to by something else"
    return told


def _read(told: Told, words: list[str]) -> None:
    kind, values = words[0], words[1:]
    if told.end is not None:
        told.forged = "the report goes on after its end"
    if kind == "collected":
        told.forged = told.forged or ("" if told.collected is None else "two collections are reported")
        told.collected = tuple(_text(one) for one in values)
    elif kind == "uncollected":
        told.uncollected = told.uncollected or _text(values[1]) or _text(values[0])
    elif kind == "begin":
        told.begun.append(_text(values[0]))
    elif kind == "test":
        _read_test(told, values)
    elif kind == "end":
        told.end = int(values[0])
    else:
        raise ValueError(kind)


def _read_test(told: Told, values: list[str]) -> None:
    name = _text(values[0])
    if name in told.tests or told.begun[-1] != name:
        told.forged = "a test is reported twice, or out of its turn"
    lines = frozenset(int(one) for one in values[3].split(",") if one != "-")
    told.tests[name] = TestRecord(name, values[1], _text(values[2]), lines, _text(values[4]))


def _text(word: str) -> str:
    return "" if word == "-" else bytes.fromhex(word).decode("utf-8", "replace")
