"""The code pipeline: what its sandbox costs, whether healing helps and never harms, and whether it heals known bugs.

python -m benchmarks.code overhead
python -m benchmarks.code healing --tasks 100 --rate 0.4
python -m benchmarks.code bugs
python -m benchmarks.code fix

Each exits with 1 when its promise does not hold. The models are scripted: a known share of their replies is wrong.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.code_bugs import BUGS, Bug
from reflexion.config import Role, RoleSettings, SandboxSettings
from reflexion.context import CodeContext
from reflexion.loaders import Source
from reflexion.ollama.reply import Binding
from reflexion.ollama.roles import Models
from reflexion.pipelines import code
from reflexion.prompts import load_prompts
from reflexion.sandbox import Job, Sandbox, open_sandbox
from reflexion.suite.run import collect, run_suite
from reflexion.team.attempts import best_attempt
from tests.ollama_double import Act, ModelInfo, OllamaDouble, reply

MOST_TIMES = 1.3
ROLES = {Role.DEVELOPER: "dev:1b", Role.DEBUGGER: "debug:1b", Role.REVIEWER: "review:1b"}
# A suite of a usual size: enough that the start of pytest is not all there is.
TESTS_OF_OVERHEAD = 40


def medians_s(runs: Mapping[str, Callable[[], object]], times: int) -> dict[str, float]:
    """Return the median of ``times`` runs of each in seconds; all are run in turn, so that a busy moment hits each."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(times):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - started)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def overhead(times: int) -> int:
    """Compare a run in the sandbox with a bare ``python -m pytest`` on the same suite."""
    sandbox = open_sandbox(SandboxSettings())
    candidate = "import time\n\n\ndef half(number):\n    time.sleep(0.02)\n    return number / 2\n"
    plain = "".join(f"def test_{n}():\n    assert half({2 * n}) == {n}\n\n\n" for n in range(TESTS_OF_OVERHEAD))
    suite = f"from solution import half\n\n\n{plain}"
    known = collect(suite, sandbox)

    def run(mode: str) -> None:
        done = run_suite(candidate, suite, sandbox, collected=known, isolate=mode == "isolated", limit_s=120)
        assert (done.passed, done.mode) == (True, mode), done.reason

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "solution.py").write_text(candidate, encoding="utf-8")
        (Path(folder) / "test_solution.py").write_text(suite, encoding="utf-8")
        # Plugins of this environment take seconds to load, and the sandbox loads none.
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        runs: dict[str, Callable[[], object]] = {
            "bare pytest": lambda: subprocess.run(
                command, cwd=folder, env=environment, check=True, capture_output=True
            ),
            "start of the sandbox": lambda: sandbox.run(Job({"run.py": b""}, ("run.py",))),
            "in-process": lambda: run("in-process"),
            "isolated": lambda: run("isolated"),
        }
        taken = medians_s(runs, times)
    # Isolated, the candidate has a sandbox of its own.
    allowed = {
        mode: MOST_TIMES * taken["bare pytest"] + starts * taken["start of the sandbox"]
        for mode, starts in (("in-process", 1), ("isolated", 2))
    }
    print(f"{TESTS_OF_OVERHEAD} tests, median of {times}\n\n| what | s | allowed |\n| --- | --: | --: |")
    for name, seconds in taken.items():
        print(f"| {name} | {seconds:.2f} | {f'{allowed[name]:.2f}' if name in allowed else ''} |")
    return int(any(taken[mode] > most for mode, most in allowed.items()))


class Solved(NamedTuple):
    """How one task ended: whether our tests and the hidden ones passed, and after how many replies."""

    verified: bool
    hidden: bool
    iterations: int


def solve(bug: Bug, sandbox: Sandbox, replies: Sequence[str], iterations: int, candidate: str = "") -> Solved:
    """Run the graph on a task whose suite is given, with these modules as the writers' replies, the last for ever."""
    models = {name: ModelInfo() for name in ROLES.values()}
    with OllamaDouble(models, repeat_last=True) as double:
        after = replies if candidate else replies[1:]
        double.script("dev:1b", _module(replies[0]))
        double.script("debug:1b", *(_patch(text) for text in after or replies))
        double.script("review:1b", reply("Looked at."))
        settings = RoleSettings(temperature=0.2, num_ctx=8192, num_predict=2048)
        context = CodeContext(
            models=Models({role: Binding(role, name, settings, 8192) for role, name in ROLES.items()}, double.base_url),
            prompts=load_prompts("code", None),
            emit=lambda _: None,
            sandbox=sandbox,
            max_debug_iterations=iterations,
        )
        source = Source("task", "task", f"A function {bug.name}.", "", None)
        state = code.solve(code.build(), source, context, suite=bug.suite(), candidate=candidate)
    best = best_attempt(state["attempts"])
    hidden = best is not None and run_suite(best["draft"], bug.suite(hidden=True), sandbox).passed
    return Solved(code.accepted(state), hidden, len(state["attempts"]))


def _module(text: str) -> Act:
    return reply(f"```python\n{text}```\n")


def _patch(text: str) -> Act:
    return reply(f"### DIAGNOSIS\nThe cause is found. It is corrected.\n\n### PATCHED_CODE\n```python\n{text}```\n")


def _draws(bug: Bug, rate: float, seed: int) -> Iterator[str]:
    """Yield a module for each reply: wrong with probability ``rate``, then the bug or what never works."""
    chance = random.Random(seed)
    number = 0
    while True:
        number += 1
        if chance.random() >= rate:
            yield bug.right
        else:
            # No model writes the same twice; a candidate that comes back byte for byte ends the loop.
            yield f"{bug.wrong}# {number}\n" if chance.random() < 0.5 else _useless(bug, str(number))


def _useless(bug: Bug, answer: str) -> str:
    names = re.findall(r"^def (\w+)", bug.right, re.MULTILINE)
    return "\n\n".join(f"def {name}(*args):\n    return {answer}\n" for name in names)


def healing(tasks: int, rate: float, seed: int) -> int:
    """Count the tasks whose hidden tests pass, without and with healing, by a model of a known error rate."""
    sandbox = open_sandbox(SandboxSettings())
    without, with_it, lost, wrongly = 0, 0, 0, 0
    replies_used = 0
    for number in range(tasks):
        bug = BUGS[number % len(BUGS)]
        draws = _draws(bug, rate, seed * 10_000 + number)
        replies = [next(draws) for _ in range(4)]
        one, more = solve(bug, sandbox, replies, 0), solve(bug, sandbox, replies, 3)
        without += one.hidden
        with_it += more.hidden
        lost += one.hidden and not more.hidden
        wrongly += (one.verified and not one.hidden) + (more.verified and not more.hidden)
        replies_used += more.iterations
    expected = tasks * (1 - rate), tasks * (1 - rate**4)
    print(f"{tasks} tasks ({len(BUGS)} modules in turn), {rate:.0%} of replies wrong, seed {seed}\n")
    print("| | solved | expected by chance |\n| --- | --: | --: |")
    print(f"| without healing | {without} | {expected[0]:.0f} |\n| with healing | {with_it} | {expected[1]:.0f} |")
    print(f"\nlost by healing: {lost}; verified against hidden tests that fail: {wrongly}; replies: {replies_used}")
    return int(lost > 0 or with_it < without)


def bugs(limit: int) -> int:
    """Heal each planted bug: it must be found by its tests, a wrong patch must not pass, and the right one must."""
    sandbox = open_sandbox(SandboxSettings())
    failed = 0
    print("| bug | candidates | healed | hidden tests |\n| --- | --: | --- | --- |")
    for bug in BUGS[:limit]:
        done = solve(bug, sandbox, [_useless(bug, "None"), bug.right], 3, candidate=bug.wrong)
        good = done.verified and done.hidden and done.iterations == 3
        failed += not good
        words = ["yes" if one else "NO" for one in (done.verified, done.hidden)]
        print(f"| {bug.kind} | {done.iterations} | {words[0]} | {words[1]} |", flush=True)
    print(f"\n{min(limit, len(BUGS)) - failed} of {min(limit, len(BUGS))} found and healed")
    return int(failed > 0)


def fix(limit: int) -> int:
    """Heal each planted bug by the command: first a wrong reply, then the right one; the file has to be as it was."""
    failed = 0
    print("| bug | exit code | file | replies | once more |\n| --- | --: | --- | --: | --- |")
    for bug in BUGS[:limit]:
        models = {name: ModelInfo() for name in ROLES.values()}
        with OllamaDouble(models, repeat_last=True) as double, tempfile.TemporaryDirectory() as name:
            double.script("debug:1b", _patch(_useless(bug, "None")), _patch(bug.right))
            double.script("review:1b", reply("Looked at."))
            folder = Path(name)
            _lay_out(folder, bug, double.base_url)
            code = _run_fix(folder)
            replies = sum(chat["model"] == "debug:1b" for chat in double.chats())
            same = (folder / "solution.py").read_text(encoding="utf-8") == bug.right
            again = _run_fix(folder)
            asked = sum(chat["model"] == "debug:1b" for chat in double.chats()) - replies
        good = (code, same, replies, again, asked) == (0, True, 2, 0, 0)
        failed += not good
        words = ("healed" if same else "NOT healed", "passes, nothing asked" if (again, asked) == (0, 0) else "NO")
        print(f"| {bug.kind} | {code} | {words[0]} | {replies} | {words[1]} |", flush=True)
    print(f"\n{min(limit, len(BUGS)) - failed} of {min(limit, len(BUGS))} healed by --fix --apply")
    return int(failed > 0)


def _lay_out(folder: Path, bug: Bug, base_url: str) -> None:
    registry = dict.fromkeys(("GENERATOR", "CRITIC", "ADJUDICATOR"), "review:1b") | {"DEBUGGER": "debug:1b"}
    config = {"model_registry": registry, "server": {"base_url": base_url}, "code": {"limit_s": 60}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --disable-plugin-autoload\n", encoding="utf-8")
    (folder / "solution.py").write_text(bug.wrong, encoding="utf-8")
    (folder / "test_solution.py").write_text(bug.suite(), encoding="utf-8")


def _run_fix(folder: Path) -> int:
    arguments = ["code", "--fix", "solution.py", "--tests", "test_solution.py", "--apply", "--quiet"]
    command = [sys.executable, "-c", "from reflexion.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "healing", "bugs", "fix"))
    parser.add_argument("--times", type=int, default=9, help="runs of each thing that is timed")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.4, help="share of a model's replies that are wrong")
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--limit", type=int, default=len(BUGS), help="how many of the bugs")
    given = parser.parse_args()
    runs = {
        "overhead": lambda: overhead(given.times),
        "healing": lambda: healing(given.tasks, given.rate, given.seed),
        "bugs": lambda: bugs(given.limit),
        "fix": lambda: fix(given.limit),
    }
    sys.exit(runs[given.what]())


if __name__ == "__main__":
    main()
