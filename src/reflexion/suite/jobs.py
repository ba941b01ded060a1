"""Jobs that run pytest in the sandbox. Nothing of a job's output is read but its records."""

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from io import FileIO
from pathlib import Path

from reflexion.sandbox import Completed, Job, Limits, Sandbox
from reflexion.suite.records import Told, read_records

SUITE_FILE = "test_suite.py"
CODES = range(64, 120)
_PARTS = ("driver.py", "reporter.py", "kinds.py")
# With it no comment can name another encoding: what runs is what was read.
BOM = b"\xef\xbb\xbf"
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
    vetted: tuple[tuple[int, str], ...] | None = None
    """Line and name of each special method of the candidate's text; None where the candidate is elsewhere."""

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
                "vetted": self.vetted,
                "suite": SUITE_FILE,
            }
        ).encode()


def new_canaries() -> tuple[str, str]:
    """Return two names for tests that must fail, of this run alone."""
    return f"test_{secrets.token_hex(6)}", f"test_{secrets.token_hex(6)}"


def source_bytes(text: str) -> bytes:
    """Return a module's text as it is written to disk."""
    return BOM + text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")


def with_canaries(suite: str, canaries: Sequence[str]) -> bytes:
    """Return the suite with tests at its end that must fail: one compares, one expects an exception that is not raised.

    The lines of the suite stay where they are.
    """
    first, second = secrets.randbelow(10**9), secrets.randbelow(10**9)
    if not canaries:
        return source_bytes(suite)
    return source_bytes(
        f"{suite}\n\n\ndef {canaries[0]}():\n    assert {first} == {first + 1 + second}\n"
        f"\n\ndef {canaries[1]}():\n    with __import__('pytest').raises(ValueError):\n        int({second!r})\n"
    )


def run_job(
    sandbox: Sandbox, plan: Plan, files: Mapping[str, bytes], limits: Limits, channel: int | None = None
) -> tuple[Completed, dict[str, Told]]:
    """Run the job for a plan; return how it ended and what each folder's run told. ``files`` are the folders'.

    The plan goes through a pipe, where what runs in the job later cannot look for it; unless the suite needs the
    channel for itself, because what it tests is elsewhere.
    """
    everything = {**files, **_parts(), "pytest.ini": _INI}
    if channel is not None:
        completed = sandbox.run(Job(everything | {"plan.json": plan.text()}, ("driver.py",), limits, channel))
    else:
        completed = run_with_plan(sandbox, Job(everything, ("driver.py",), limits), plan.text())
    return completed, read_records(plan.token, plan.folders, completed)


def run_with_plan(sandbox: Sandbox, job: Job, plan: bytes) -> Completed:
    """Run a job whose driver reads its plan from a pipe. Raises SandboxError."""
    reader, writer = os.pipe()
    with FileIO(reader, "rb"):
        with FileIO(writer, "wb") as whole:
            whole.write(plan)
        return sandbox.run(replace(job, channel=reader))


@cache
def _parts() -> Mapping[str, bytes]:
    return {name: Path(__file__).with_name(name).read_bytes() for name in _PARTS}
