"""A strict reader for INI text."""

import re
from typing import Literal, overload

COMMENT_MARKS = ("#", ";")
SECTION = re.compile(r"\[(\w+)\]")


class IniError(ValueError):
    """The text is not valid."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


def parse(text: str, *, strict: bool = True) -> dict[str, dict[str, str]]:
    """Read a text into sections."""
    result: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(COMMENT_MARKS):
            continue
        if found := SECTION.fullmatch(line):
            current = result.setdefault(found[1], {})
            continue
        key, equals, value = line.partition("=")
        if current is None or not equals:
            if strict:
                raise IniError("expected a section or key = value", number)
            continue
        current[key.strip()] = value.strip()
    return result


@overload
def get(data: dict[str, dict[str, str]], path: str, default: None = None) -> str | None: ...
@overload
def get(data: dict[str, dict[str, str]], path: str, default: str) -> str: ...
def get(data: dict[str, dict[str, str]], path: str, default: str | None = None) -> str | None:
    """Look up ``section.key``."""
    section, dot, key = path.partition(".")
    if not dot:
        raise ValueError("path must look like section.key")
    return data.get(section, {}).get(key, default)


def dump(data: dict[str, dict[str, str]], style: Literal["tight", "wide"] = "wide") -> str:
    """Write sections as text."""
    equals = {"tight": "=", "wide": " = "}.get(style)
    if equals is None:
        raise ValueError(f"unknown style: {style}")
    lines: list[str] = []
    for section, values in data.items():
        lines.append(f"[{section}]")
        lines.extend(f"{key}{equals}{value}" for key, value in values.items())
    return "\n".join(lines)
