"""What the documentation pipeline costs besides the models: start, overhead a call, prompt seconds over rounds.

python -m benchmarks.docs start
python -m benchmarks.docs overhead
python -m benchmarks.docs prompt --engine embedded
python -m benchmarks.docs prompt --engine ollama
"""

import argparse
import compileall
import contextlib
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import reflexion
from reflexion.config import Role, RoleSettings
from reflexion.context import DocsContext
from reflexion.errors import ReplyRejected
from reflexion.evidence.assemble import outline
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from reflexion.loaders import Source, load_path
from reflexion.ollama.reply import Binding, CallStats, Message
from reflexion.ollama.roles import Models
from reflexion.prompts import Prompts, load_prompts
from reflexion.text import delimit

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "benchmarks" / "docs_page.md").read_text(encoding="utf-8")
VERDICT = json.dumps({"technical_accuracy": 100, "completeness": 100, "single_critical_fix": "none"})
MODELS = {Role.GENERATOR: "gen:1b", Role.CRITIC: "critic:1b", Role.ADJUDICATOR: "adj:1b"}


def times_ms(run: Callable[[], object], times: int) -> list[float]:
    """Return how long each of ``times`` runs took, in milliseconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def median_ms(run: Callable[[], object], times: int) -> float:
    """Return the median of ``times`` runs in milliseconds."""
    return statistics.median(times_ms(run, times))


def start() -> None:
    """Time ``reflexion --version``, ``--help`` and a doctor that calls no model as processes, beside a bare one."""
    command = str(Path(sys.executable).with_name("reflexion"))
    with double_process() as url, tempfile.TemporaryDirectory() as folder:
        config = {"model_registry": {role.value: model for role, model in MODELS.items()}, "server": {"base_url": url}}
        (Path(folder) / "config.json").write_text(json.dumps(config), encoding="utf-8")
        asked = {
            "python -c ''": [sys.executable, "-c", ""],
            "reflexion --version": [command, "--version"],
            "reflexion --help": [command, "--help"],
            "reflexion doctor --no-calls, healthy, server without latency": [command, "doctor", "--no-calls"],
        }
        # A user's second start finds what the first one compiled; PYTHONDONTWRITEBYTECODE would have every start do it.
        compileall.compile_dir(Path(reflexion.__file__).parent, quiet=1)
        print("| command | median s | fastest s |\n| --- | --- | --- |")
        for name, arguments in asked.items():
            run = functools.partial(subprocess.run, arguments, cwd=folder, check=True, capture_output=True)
            taken = times_ms(run, 25)  # On a machine whose speed goes up and down, the fastest says what it takes.
            print(f"| {name} | {statistics.median(taken) / 1000:.3f} | {min(taken) / 1000:.3f} |")


@contextlib.contextmanager
def double_process() -> Iterator[str]:
    """A double as a process of its own, so that it does not share our interpreter lock."""
    replies = {"gen:1b": [PAGE], "critic:1b": [VERDICT], "adj:1b": [PAGE], "bare:1b": [PAGE]}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps({"replies": replies}), encoding="utf-8")
        command = [sys.executable, "-m", "tests.ollama_double", "--script", str(script), "--repeat-last"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
            process.terminate()


def overhead(files: int = 100) -> None:
    """Time whole runs of three calls each against a zero-latency double, beside bare ChatOllama calls."""
    from langchain_ollama import ChatOllama

    from reflexion.pipelines import docs

    source = load_path(ROOT / "input" / "compound_interest.py")
    with double_process() as url:
        chat = ChatOllama(model="bare:1b", base_url=url, client_kwargs={"verify": False, "trust_env": False})
        settings = RoleSettings.model_validate({"temperature": 0, "num_predict": 1024})
        bindings = {role: Binding(role, model, settings, 8192) for role, model in MODELS.items()}
        context = DocsContext(Models(bindings, url), load_prompts("docs", None), lambda _: None, 95, 4)
        graph = docs.build()

        def bare() -> None:
            for _ in chat.stream("Say something."):
                pass

        def ours() -> None:
            assert docs.document(graph, source, context).outcome == "accepted"

        def rules() -> None:
            verify(PAGE, source.facts, source_text=source.text)

        bare()
        ours()
        bare_ms, rules_ms, run_ms = median_ms(bare, files), median_ms(rules, files), median_ms(ours, files)
    # A run of one round is three calls, and its draft and the adjudicated text are verified once each.
    own_ms = (run_ms - 2 * rules_ms) / 3 - bare_ms
    print("| against a zero-latency double | median ms |\n| --- | --- |")
    print(f"| bare ChatOllama, streamed, a call | {bare_ms:.2f} |")
    print(f"| a whole run of one round: three calls, two verifications | {run_ms:.2f} |")
    print(f"| rules: one verification | {rules_ms:.2f} |")
    print(f"| our own a call: graph, client, guards, events | {own_ms:.2f} |")


@contextlib.contextmanager
def engine(name: str) -> Iterator[tuple[str, str]]:
    """The URL and one model of a server with real tokens."""
    if name == "embedded":
        from reflexion.embedded.engine import EmbeddedEngine
        from reflexion.embedded.packages import DEMO_MODELS

        with EmbeddedEngine() as embedded:
            yield embedded.base_url, DEMO_MODELS[0]
    else:
        from tests.real_ollama import cache_folder, demanded, find_binary, running_ollama

        binary = demanded(find_binary())
        with (
            tempfile.TemporaryDirectory() as folder,
            running_ollama(binary, Path(folder), cache_folder(), threads=2) as server,
        ):
            yield server.base_url, server.models[0]


def prompt(name: str) -> None:
    """Prompt seconds of a generator over four rounds on a 300-line file: our layout beside the naive one."""
    text = large_source(300)
    source = Source("large.py", "large", text, "", facts_of_python(text, "large"))
    words = load_prompts("docs", None)
    with engine(name) as (url, model):
        settings = RoleSettings.model_validate({"temperature": 0, "seed": 1, "num_predict": 128, "thinking": "off"})
        models = Models({Role.GENERATOR: Binding(Role.GENERATOR, model, settings, 8192)}, url)
        with contextlib.suppress(ReplyRejected):  # The first call also loads the model.
            models.ask(Role.GENERATOR, [Message("user", "Say something.")])
        ours = rounds(models, our_layout(source, words))
        naive = rounds(models, naive_layout(source, words))
    print(f"| engine {name} | prompt s by round | sum |\n| --- | --- | --- |")
    for label, taken in (("ours", ours), ("naive", naive)):
        print(f"| {label} | {', '.join(f'{seconds:.2f}' for seconds in taken)} | {sum(taken):.2f} |")
    print(f"| ratio | | {sum(ours) / sum(naive):.2f} |")


Layout = Callable[[Sequence[str]], list[Message]]
FIXES = ["Say what each function raises.", "State every default.", "Describe the return values."]


def rounds(models: Models, layout: Layout) -> list[float]:
    """Ask four times for a page or its revision; each draft is what the model itself replied, as in the pipeline."""
    drafts: list[str] = []
    taken = []
    for _ in range(4):
        log: list[CallStats] = []
        try:
            draft = models.ask(Role.GENERATOR, layout(drafts), log=log).text
        except ReplyRejected as error:  # A small model's reply is cut at its limit; what came of it serves as well.
            draft = error.text
        taken.append(sum(call.prompt_s for call in log))
        drafts.append(draft)
    return taken


def our_layout(source: Source, words: Prompts) -> Layout:
    """The pipeline's own messages: source first, drafts and fixes appended."""
    beginning = [
        Message("system", words.fill("GENERATOR", "system")),
        Message(
            "user",
            words.fill(
                "GENERATOR",
                "draft",
                name=source.label,
                source=delimit(source.text, "SOURCE"),
                facts=outline(source.facts),
            ),
        ),
    ]

    def layout(drafts: Sequence[str]) -> list[Message]:
        messages = list(beginning)
        for draft, fix in zip(drafts, FIXES, strict=False):
            asked = words.fill("GENERATOR", "revise", standing="The score is 80 of 100; 95 is needed.", fix=fix)
            messages += [Message("assistant", draft), Message("user", asked)]
        return messages

    return layout


def naive_layout(source: Source, words: Prompts) -> Layout:
    """What a loop without care for the cache sends: the same content behind a new system prompt every round."""

    def layout(drafts: Sequence[str]) -> list[Message]:
        number = len(drafts)
        fix = FIXES[number - 1] if number else ""
        system = f"Round {number + 1}. {fix} {words.fill('GENERATOR', 'system')}"
        last = f"\n\nYour last draft:\n{drafts[-1]}" if drafts else ""
        facts = outline(source.facts)
        task = words.fill("GENERATOR", "draft", name=source.label, source=delimit(source.text, "SOURCE"), facts=facts)
        return [Message("system", system), Message("user", task + last)]

    return layout


def large_source(lines: int) -> str:
    """A module of about ``lines`` lines of small functions."""
    parts = ['"""Conversions."""\n']
    number = 0
    while sum(part.count("\n") for part in parts) < lines:
        number += 1
        parts.append(
            f"\n\ndef unit{number}(value: int) -> int:\n"
            f'    """Convert."""\n'
            f"    if value < 0:\n        raise ValueError('negative')\n"
            f"    return value * {number}\n"
        )
    return "".join(parts)


def main() -> None:
    """Run the question that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=("start", "overhead", "prompt"))
    parser.add_argument("--engine", choices=("embedded", "ollama"), default="embedded")
    asked = parser.parse_args()
    if asked.question == "prompt":
        prompt(asked.engine)
    else:
        {"start": start, "overhead": overhead}[asked.question]()


if __name__ == "__main__":
    main()
