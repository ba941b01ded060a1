"""What several test files share: a configuration for the double, sources, and the command line run in this process."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reflexion.cli import main
from reflexion.runs import find_records, read_record
from tests.ollama_double import Act, OllamaDouble, reply

MODELS = {"GENERATOR": "gen:1b", "CRITIC": "critic:1b", "ADJUDICATOR": "adj:1b"}

SOURCE = '''"""Add numbers."""


def add(a: int, b: int = 1) -> int:
    """Return the sum."""
    if a < 0:
        raise ValueError("a must not be negative")
    return a + b
'''

PAGE = """# Add numbers

A module that adds numbers.

## `add(a: int, b: int = 1) -> int`

Returns the sum of both.

- `a` (`int`): the first number.
- `b` (`int`, default `1`): the second number.

Returns: `int`

Raises `ValueError` with the message "a must not be negative" when `a` is below zero.
"""


def page(number: int) -> str:
    """A good page that differs from every other number's."""
    return PAGE.replace("A module that adds numbers.", f"A module that adds numbers, edition {'I' * number}.")


def verdict(accuracy: object, completeness: object, fix: str = "none") -> Act:
    """A critic's reply as JSON."""
    content = {"technical_accuracy": accuracy, "completeness": completeness, "single_critical_fix": fix}
    return reply(json.dumps(content))


def scripted(double: OllamaDouble, calls: int = 60) -> None:
    """Let every model say the right thing as often as it is asked."""
    double.script("gen:1b", *[reply(PAGE)] * calls)
    double.script("critic:1b", *[verdict(100, 100)] * calls)
    double.script("adj:1b", *[reply(PAGE)] * calls)


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class CommandLine:
    """Runs ``reflexion`` in this process, in a folder of its own with a config.json for a double."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def configure(self, base_url: str, **more: object) -> None:
        server = {"base_url": base_url, "connect_s": 2, "first_token_s": 20, "idle_s": 10, "total_s": 40, "away_s": 0}
        server |= more.pop("server", {})  # type: ignore[call-overload]
        config = {
            "model_registry": MODELS,
            "quality_score_bar": 95,
            "max_attempts": 4,
            "jobs": 1,
            "server": server,
        } | more
        (self.folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    def source(self, name: str = "add.py", text: str = SOURCE) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *args: str) -> Ended:
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(args)
        captured = self.capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 1 if code else 0, captured.out, captured.err)

    def rounds(self) -> list[dict[str, Any]]:
        """The rounds of the only file of the only run."""
        files: Any = self.record()["files"]
        [entry] = files
        return list(entry["rounds"])

    def record(self, output: str = "output") -> dict[str, object]:
        """The record of the only run whose pages went into ``output``."""
        [path] = find_records(self.folder / output)
        return read_record(path)


def approve(
    double: OllamaDouble,
    rounds: int = 1,
    *,
    gen: Sequence[Act] = (),
    critic: Sequence[Act] = (),
    adj: Sequence[Act] = (),
) -> None:
    """Script a run that is approved in its last round of ``rounds``, or play what is given for a role instead."""
    double.script("gen:1b", *(gen or [reply(page(number)) for number in range(1, rounds + 1)]))
    verdicts = [verdict(80, 70, f"Fix number {number}.") for number in range(1, rounds)]
    double.script("critic:1b", *(critic or [*verdicts, verdict(100, 100)]))
    double.script("adj:1b", *(adj or [reply(page(rounds))]))


@contextlib.contextmanager
def small_disk(folder: Path, size: str = "512k") -> Iterator[Path]:
    """A disk of that size, mounted on a new folder; skips the test where none may be mounted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def tree(folder: Path) -> list[str]:
    """The paths below a folder, but for the index."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.name != "index.md")


def sources(cli: CommandLine, *names: str) -> None:
    """Lay out sources of a folder ``src``."""
    for name in names:
        cli.source(f"src/{name}.py")
