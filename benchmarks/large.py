"""Is a source that does not fit the window documented whole?

``python -m benchmarks.large`` sends ``_pydecimal.py`` of the standard library and a generated module of 5,000 lines
through a window of 8,192 tokens, one attempt a piece. The models are a double that writes, from what it was shown, the
page that code would write. It exits 1 when a page is not accepted, has an error, or leaves a public symbol out.

``--engine embedded`` asks the demo model instead, about a generated module of ``--lines`` lines: real tokens, and pages
that are mostly code's. There only errors and missing symbols count.
"""

import argparse
import re
import sys
import sysconfig
import time
from pathlib import Path

from reflexion.config import DOCS_ROLES, RoleSettings
from reflexion.context import DocsContext
from reflexion.errors import CallFailed
from reflexion.events import Event, Note
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source as Names
from reflexion.evidence.verify import verify
from reflexion.large import document
from reflexion.loaders import Source
from reflexion.ollama.reply import Binding, total
from reflexion.ollama.roles import Models
from reflexion.outcome import Result
from reflexion.pipelines import docs
from reflexion.prompts import load_prompts
from reflexion.verdict import errors_in
from tests.large_support import Desk, python_source
from tests.ollama_double import ModelInfo, OllamaDouble
from tests.support import MODELS

LINES = 5_000
HEADER = (
    "| source | lines | public symbols | pieces | calls | outcome | symbols missing | errors | page, KB | seconds |\n"
    "|---|--:|--:|--:|--:|---|--:|--:|--:|--:|"
)


def generated_module(lines: int) -> str:
    """Return a module of at least that many lines: constants, functions and classes, no two alike."""
    parts = ['"""A generated module."""\n\nimport math\n\nLIMIT = 10\n']
    number = 0
    while sum(part.count("\n") for part in parts) < lines:
        number += 1
        if number % 10 == 0:
            parts.append(f"\nCONST_{number} = {number}\n")
        parts.append(_class(number) if number % 4 == 0 else _function(number))
    return "".join(parts)


def _function(number: int) -> str:
    return (
        f'\n\ndef function_{number}(a: int, b: str = "x{number}", *, c: float = {number}.5) -> str:\n'
        f'    """Return a text for {number}."""\n'
        f"    if a < {number}:\n"
        f'        raise ValueError("a must be at least {number}")\n'
        f"    total = 0\n"
        f"    for step in range({number}):\n"
        f"        total += step * a\n"
        f"    return b * math.floor(total + c)\n"
    )


def _class(number: int) -> str:
    methods = "".join(
        f"\n    def method_{place}(self, x: int, y: int = {place}) -> int:\n"
        f'        """Return a number of {number} and {place}."""\n'
        f"        if x > {number}:\n"
        f'            raise KeyError("no x in {number} {place}")\n'
        f"        return x * {place} + y\n"
        for place in range(5)
    )
    return (
        f'\n\nclass Thing{number}:\n    """Thing of {number}."""\n\n'
        f"    def __init__(self, size: int = {number}) -> None:\n"
        f"        if size < 0:\n"
        f'            raise ValueError("size {number} must not be negative")\n'
        f"        self.size = size\n{methods}"
    )


def missing(source: Source, page: str) -> list[str]:
    """Return the public symbols that the page does not name in code."""
    assert source.facts is not None
    spans = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`[^`\n]+`", page))))
    return [one.qualname for one in required_symbols(Names(source.facts)) if not spans & {one.qualname, one.name}]


def row(source: Source, pieces: int, result: Result, seconds: float) -> tuple[str, bool]:
    """Return a line of the table, and whether the page is complete and free of errors."""
    assert source.facts is not None
    errors = errors_in(verify(result.text, source.facts, source_text=source.text))
    left_out = missing(source, result.text)
    cells = (
        f"`{source.label}`", source.text.count("\n"), len(required_symbols(Names(source.facts))), pieces,
        len(result.calls), result.outcome, len(left_out), len(errors), len(result.text) // 1024, f"{seconds:.1f}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |", not errors and not left_out


def on_the_double() -> bool:
    """Document both sources with models that write from facts."""
    decimal = Path(sysconfig.get_path("stdlib"), "_pydecimal.py").read_text(encoding="utf-8")
    print(HEADER)
    good = True
    for text, name in ((decimal, "_pydecimal"), (generated_module(LINES), "generated")):
        with OllamaDouble({model: ModelInfo() for model in MODELS.values()}, repeat_last=True) as double:
            started = time.monotonic()
            desk = Desk(double, python_source(text, name))
            result = desk.run()
            line, complete = row(desk.source, len(desk.pieces), result, time.monotonic() - started)
        print(line, flush=True)
        good = good and complete and result.outcome == "accepted"
    return good


def on_the_engine(lines: int, window: int, num_predict: int) -> bool:
    """Document a generated module on the embedded engine, and say what it cost."""
    from reflexion.embedded.engine import EmbeddedEngine
    from reflexion.embedded.packages import DEMO_MODELS

    source = python_source(generated_module(lines), "generated")
    settings = RoleSettings.model_validate({"temperature": 0, "seed": 1, "num_predict": num_predict})
    with EmbeddedEngine() as engine:
        bindings = {
            role: Binding(role, model, settings, window) for role, model in zip(DOCS_ROLES, DEMO_MODELS, strict=True)
        }
        context = DocsContext(Models(bindings, engine.base_url), load_prompts("docs", None), tell, 95, 1)
        started = time.monotonic()
        try:
            result = document(docs.build(), source, context)
        except CallFailed as error:
            print(f"failed: {error}")
            return False
        seconds = time.monotonic() - started
    line, complete = row(source, len(result.rounds), result, seconds)
    print(f"{HEADER}\n{line}")
    asked, answered = (total(result.calls, name) for name in ("prompt_tokens", "reply_tokens"))
    print(f"{asked:.0f} prompt tokens, {answered:.0f} reply tokens")
    return complete


def tell(event: Event) -> None:
    """Show notes as they come."""
    if isinstance(event, Note):
        print(event.text, file=sys.stderr)


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("double", "embedded"), default="double")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--window", type=int, default=2048)
    parser.add_argument("--num-predict", type=int, default=256)
    asked = parser.parse_args()
    good = on_the_double() if asked.engine == "double" else on_the_engine(asked.lines, asked.window, asked.num_predict)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
