"""docs/events.md: the JSON lines of ``--format json``, made of the classes of ``reflexion.events``."""

import dataclasses
import inspect
import io
import types
from collections.abc import Sequence
from typing import Union, get_args, get_origin, get_type_hints

from reflexion.events import (
    Event,
    FileFinished,
    FileStarted,
    NodeStarted,
    RoundScored,
    RunFinished,
    TokensReceived,
    name_of,
)
from reflexion.report import JsonReporter

HEAD = """# Events

Generated from the code by `make docs`.

`reflexion --format json` writes one JSON object a line to standard output, as it happens, and nothing else. Each object
has `event`, the name of its kind, and every field of its kind. Lines of files that run side by side are mixed; `source`
tells whose they are. The last line is always `run_finished`. A later version may add kinds and fields, so pass over
those that you do not know. Errors that end a run before it begins are a line on standard error, as without
`--format json`.
"""
NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
SAMPLES: Sequence[Event | RunFinished] = (
    FileStarted("src/add.py", 1, 1),
    NodeStarted("src/add.py", "generate", 1, "qwen3.5:9b"),
    NodeStarted("src/add.py", "verify", 1),
    NodeStarted("src/add.py", "critique", 1, "deepseek-coder:6.7b"),
    RoundScored("src/add.py", 1, 98, 96, 100, 97, 95, 0, 1, "Name the type of b."),
    NodeStarted("src/add.py", "adjudicate", 1, "llama3:8b"),
    NodeStarted("src/add.py", "settle", 1),
    FileFinished("src/add.py", "accepted", "output/add.md", (97,), 1, "approved", 41.5, 812),
    RunFinished(0),
)


def events_page() -> str:
    """Return the page: every kind with its fields, and the lines of a small run."""
    kinds = [kind for kind in (*get_args(Event), RunFinished) if kind is not TokensReceived]
    lines = io.StringIO()
    reporter = JsonReporter(lines)
    for event in SAMPLES[:-1]:
        reporter(event)  # type: ignore[arg-type]
    reporter.finish(0)
    example = f"## Example\n\n```json\n{lines.getvalue()}```\n"
    return "\n".join([HEAD, *map(_section, kinds), example])


def _section(kind: type) -> str:
    words = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
    hints = get_type_hints(kind)
    rows = [f"| `{field.name}` | {json_type(hints[field.name])} |" for field in dataclasses.fields(kind)]
    table = "\n".join(["| field | type |", "| --- | --- |", *rows])
    return f"## `{name_of(kind)}`\n\n{words}\n\n{table}\n"


def json_type(hint: object) -> str:
    """Return what JSON makes of a type. Raises KeyError for one that no event has had so far."""
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(json_type(one) for one in get_args(hint))
    if get_origin(hint) is tuple:
        return f"list of: {json_type(get_args(hint)[0])}"
    return NAMES[hint]  # type: ignore[index]
