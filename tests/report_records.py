"""Records of runs, as `reflexion.runs` writes them, for the tests of the report."""

import random
from collections.abc import Iterator
from typing import Any

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    '<img src="x" onerror="window.ran = 2">',
    "[see](javascript:window.ran=3) <a href='javascript:window.ran=4'>here</a>",
    "\"'><svg onload=window.ran=5>",
    "' autofocus onfocus=window.ran=6 x='",
    "{{ 7 * 191 }} {% for %} ${window.ran=7} --> ]]> <!-- </style> </pre> </details> </title>",
    "\u202ereversed\u202c \x00 \ud800 &lt;b&gt; &amp;quot;",
)
MODELS = {"GENERATOR": "qwen3:8b", "CRITIC": "gemma3:12b", "ADJUDICATOR": "mistral-small:24b"}
RULES = (
    ("R101", "error", "the page documents `retry_after`, which the source does not have"),
    ("R112", "error", "the page gives the default of `timeout` as `30`; the source says `timeout: float = 10.0`"),
    ("R205", "error", "the page does not name `ValueError`, which `connect` raises"),
    ("T003", "warning", "the page ends with a question to its reader"),
)
NAMES = ("queue", "connection_pool", "signature_check", "retry", "metrics_filter", "interest", "parser", "cache")


def call(random_: random.Random, role: str, outcome: str = "ok", load_s: float = 0.02) -> dict[str, Any]:
    """One call of a model."""
    prompt_s, generation_s = random_.uniform(0.5, 4), random_.uniform(2, 20)
    return {
        "role": role,
        "model": MODELS[role],
        "outcome": outcome,
        "prompt_tokens": random_.randrange(900, 6_000),
        "reply_tokens": random_.randrange(60, 1_500),
        "load_s": load_s,
        "prompt_s": prompt_s,
        "generation_s": generation_s,
        "wall_s": load_s + prompt_s + generation_s + random_.uniform(0, 0.3),
    }


def finding(random_: random.Random, which: int) -> dict[str, Any]:
    """One finding of a rule."""
    rule, level, message = RULES[which % len(RULES)]
    return {
        "rule": rule,
        "level": level,
        "line": random_.randrange(1, 90),
        "message": message,
        "evidence": "def connect(host: str, *, timeout: float = 10.0) -> Connection:",
        "fix": "Write the real default, `10.0`.",
        "stated": "30",
        "actual": "10.0",
        "symbol": "connect",
    }


def draft(random_: random.Random, name: str) -> str:
    """About eighty lines of Markdown; drafts of one name have most of their lines in common."""
    lines = [f"# `{name}`", "", f"What `{name}` does, in a sentence that is as long as sentences are.", ""]
    for part in range(12):
        wording = random_.choice(("Returns", "Gives", "Returns"))
        lines += [
            f"## `{name}_{part}(host: str, *, timeout: float = 10.0) -> Connection`",
            "",
            f"{wording} the connection number {part} to a host, and waits at most `timeout` seconds for it.",
            "",
            "- `host` (`str`): the name or the address of the host.",
            f"- `timeout` (`float`, default `{random_.choice(('10.0', '10.0', '30'))}`): seconds to wait.",
        ]
    return "\n".join(lines)


def make_round(random_: random.Random, name: str, number: int, score: int | None) -> dict[str, Any]:
    """One round, with a score or without a readable verdict."""
    return {
        "number": number,
        "draft": draft(random_, name),
        "technical_accuracy": None if score is None else min(100, score + 3),
        "completeness": None if score is None else max(0, score - 3),
        "score": score,
        "contract": random_.randrange(60, 101),
        "examples": random_.choice((None, 50, 100)),
        "skipped": False,
        "findings": [finding(random_, random_.randrange(4)) for _ in range(max(0, 4 - number))],
        "fix": "Line 12: the page gives the default of `timeout` as `30`. Write the real default, `10.0`.",
        "trouble": "the verdict cannot be read: completeness is missing" if score is None else "",
        "calls": [call(random_, "GENERATOR", load_s=6.2 if number == 1 else 0.03), call(random_, "CRITIC")],
    }


def make_entry(random_: random.Random, number: int, rounds: int = 4) -> dict[str, Any]:
    """One file's entry: most are accepted, some are not, one in twelve failed, some are unchanged."""
    name = f"{random_.choice(NAMES)}_{number}"
    source = f"src/package/{random_.choice(('core', 'net/transport', 'tools'))}/{name}.py"
    if number % 12 == 3:
        error = "GENERATOR (qwen3:8b): no first token in 20 s; raise server.first_token_s, or free memory"
        made = [make_round(random_, name, 1, 61)]
        return {"source": source, "outcome": "failed", "output": "", "seconds": 21.4, "error": error, "rounds": made}
    if number % 12 == 7:
        return {"source": source, "outcome": "accepted", "output": f"docs/{name}.md", "seconds": 0.0,
                "skipped": "unchanged"}  # fmt: skip
    good = number % 4 != 2
    scores: list[int | None] = [random_.randrange(40, 70) + 8 * place for place in range(rounds)]
    scores[-1] = random_.randrange(95, 101) if good else 88
    if number % 9 == 2:
        scores[1] = None
    made = [make_round(random_, name, place, score) for place, score in enumerate(scores, 1)]
    return {
        "source": source,
        "outcome": "accepted" if good else "not accepted",
        "output": f"docs/{name}.md" if good else f"docs/{name}.draft.md",
        "seconds": random_.uniform(60, 400),
        "score": scores[-1],
        "stop": "approved" if good else "attempts spent",
        "adjudication": "done",
        "repaired": number % 5 == 0,
        "assembled": number % 16 == 2,
        "mended": ["line 12: `30` became `10.0`"] if number % 5 == 0 else [],
        "examples": {"total": 3, "ran": 2, "not_run": [{"line": 40, "reason": "it asks the network"}], "findings": []},
        "findings": [] if good else [finding(random_, number)],
        "rounds": made,
        "calls": [one for item in made for one in item["calls"]] + [call(random_, "ADJUDICATOR", load_s=9.1)],
    }


def make_record(count: int, rounds: int = 4) -> dict[str, Any]:
    """A run of so many files; the same for the same numbers."""
    random_ = random.Random(count)
    return {
        "record_version": 1,
        "reflexion": "0.1.0",
        "run": "20260102-030405-1a2b3c",
        "started": "2026-01-02T03:04:05+00:00",
        "settings": {"model_registry": MODELS, "quality_score_bar": 95, "max_attempts": rounds, "rules": {"off": []}},
        "models": {
            role: {"model": model, "digest": f"{random_.getrandbits(256):064x}", "window": 16_384}
            for role, model in MODELS.items()
        },
        "files": [make_entry(random_, number, rounds) for number in range(1, count + 1)],
    }


def poisoned(value: object, turn: Iterator[str]) -> object:
    """The same JSON with a hostile text behind every text."""
    if isinstance(value, str):
        return f"{value}{next(turn)}"
    if isinstance(value, list):
        return [poisoned(item, turn) for item in value]
    if isinstance(value, dict):
        return {f"{key}{next(turn)}" if "rules" in value else key: poisoned(item, turn) for key, item in value.items()}
    return value


def in_turn(texts: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from texts


def hostile_record() -> dict[str, Any]:
    """A run of 12 files in which every text ends in one that would run, close or redirect something."""
    made = poisoned(make_record(12), in_turn(HOSTILE))
    assert isinstance(made, dict)
    for entry in made["files"][:9]:
        entry["outcome"] = "accepted"
    return made
