"""docs/events.md: the JSON lines of ``--format json``, made of the classes of ``reflexion.events``."""

import dataclasses
import inspect
import io
import types
from collections.abc import Sequence
from typing import Union, get_args, get_origin, get_type_hints

from reflexion.events import (
    CandidateProposed,
    CodeFinished,
    Event,
    FileFinished,
    FileStarted,
    Member,
    NodeStarted,
    Reviewed,
    RoundScored,
    RunFinished,
    SuiteRan,
    SuiteVetted,
    TeamAssembled,
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
CODE_SAMPLES: Sequence[Event | RunFinished] = (
    TeamAssembled((Member("ARCHITECT", "llama3:8b", "", "specification and tests"),)),
    FileStarted("prompt", 1, 1),
    NodeStarted("prompt", "architect", 1, "llama3:8b"),
    NodeStarted("prompt", "vet", 1),
    SuiteVetted("prompt", 1, True, (), "`half(n)` returns ...", "from solution import half\n..."),
    NodeStarted("prompt", "develop", 1, "qwen3.5:9b"),
    CandidateProposed("prompt", 1, "DEVELOPER", "qwen3.5:9b", "", "def half(n):\n    ...", ""),
    NodeStarted("prompt", "test", 1),
    SuiteRan("prompt", 1, True, "", 6, 6, (), (), "isolated"),
    NodeStarted("prompt", "review", 1, "deepseek-coder:6.7b"),
    Reviewed("prompt", "All that was asked for works."),
    CodeFinished("prompt", "accepted", "def half(n):\n    ...", "", 1, 6, 6, (), "isolated", 48.2, 2210, 934),
    FileFinished("prompt", "accepted", "output/half", (100,), 1, "tests pass", 47.0, 934),
    RunFinished(0),
)


def events_page() -> str:
    """Return the page: every kind with its fields, and the lines of a small run."""
    kinds = [kind for kind in (*get_args(Event), RunFinished) if kind is not TokensReceived]
    examples = [_example("Example", SAMPLES), _example("Example of `reflexion code`", CODE_SAMPLES)]
    return "\n".join([HEAD, *map(_section, kinds), *examples])


def _example(title: str, events: Sequence[Event | RunFinished]) -> str:
    lines = io.StringIO()
    reporter = JsonReporter(lines)
    for event in events[:-1]:
        reporter(event)  # type: ignore[arg-type]
    reporter.finish(0)
    return f"## {title}\n\n```json\n{lines.getvalue()}```\n"


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
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint)
        return "object of " + ", ".join(f"`{key}` ({json_type(one)})" for key, one in hints.items())
    return NAMES[hint]  # type: ignore[index]
