"""What the doctor found: a list of checks, as a table for people and as one JSON object for machines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from reflexion.wording import counted

Level = Literal["ok", "note", "warning", "error"]
Fact = str | int | float | bool | list[str] | None
REPORT_VERSION = 1
# When checks disagree, the first of these is the exit code.
EXIT_ORDER = (2, 3, 4)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    ``check`` is its stable name, ``subject`` what it is about (a role, a package; "" where there is one only). ``help``
    is the command or setting that helps, "" where nothing has to be done. ``exit_code`` is what a run would end with,
    0 unless the level is "error". ``seconds`` is what it took where that says something. ``facts`` are its figures:
    sizes in bytes, windows in tokens, names of fields that end in ``_s`` in seconds.
    """

    check: str
    level: Level
    message: str
    help: str = ""
    subject: str = ""
    exit_code: int = 0
    seconds: float | None = None
    facts: dict[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """All checks. ``healthy``: no error among them; ``exit_code`` is the first of 2, 3, 4 that one of them has."""

    report_version: int
    reflexion: str
    healthy: bool
    exit_code: int
    seconds: float
    checks: list[Check]


def make_report(version: str, checks: Sequence[Check], seconds: float) -> Report:
    """Return the report of these checks. What a server said goes to a terminal: its control characters do not."""
    checks = [replace(check, message=plain(check.message), help=plain(check.help)) for check in checks]
    codes = {check.exit_code for check in checks}
    code = next((code for code in EXIT_ORDER if code in codes), 0)
    return Report(REPORT_VERSION, version, code == 0, code, round(seconds, 3), checks)


def plain(text: str) -> str:
    """Return a text for a terminal's line: what cannot be printed is a blank."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def as_json(report: Report) -> str:
    """Return the report as one JSON object, as docs/doctor.schema.json describes it."""
    return json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n"


def as_text(report: Report) -> str:
    """Return the report as a table: level, check, what was found; under each trouble what helps."""
    names = [f"{check.check} {check.subject}".rstrip() for check in report.checks]
    wide = max(map(len, names), default=0)
    lines = []
    for name, check in zip(names, report.checks, strict=True):
        took = f" ({_shown(check.seconds)})" if check.seconds is not None else ""
        lines.append(f"{check.level:<7}  {name:<{wide}}  {check.message}{took}")
        if check.help:
            lines.append(f"{'':<7}  {'':<{wide}}  -> {check.help}")
    return "\n".join([*lines, "", _summary(report)]) + "\n"


def schema_text() -> str:
    """Return the JSON Schema of the report."""
    from pydantic import TypeAdapter

    schema: dict[str, Any] = TypeAdapter(Report).json_schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _summary(report: Report) -> str:
    errors = sum(check.level == "error" for check in report.checks)
    warnings = sum(check.level == "warning" for check in report.checks)
    found = ", ".join(counted(number, word) for number, word in ((errors, "error"), (warnings, "warning")) if number)
    if report.healthy:
        return f"healthy{f': {found}' if found else ''}"
    return f"{found}; a run would end with exit code {report.exit_code}"


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
