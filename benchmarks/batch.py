"""Does the gate pay, what do ten thousand files cost, and what do kills cost? The command itself, as a process.

python -m benchmarks.batch gate --files 12            # a double with room for one model, against file after file
python -m benchmarks.batch gate --files 12 --rounds 4 # every file needs all four
python -m benchmarks.batch gate --files 100 --sample 10
python -m benchmarks.batch gate --files 12 --fit      # all models fit together
python -m benchmarks.batch engine --engine embedded   # real tokens, room for one model
python -m benchmarks.batch engine --engine ollama
python -m benchmarks.batch many --files 10000
python -m benchmarks.batch chaos --kills 100

"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflexion.runs import find_records, read_record
from tests.batch_double import rounds_of, write_sources
from tests.chaos import Chaos, run_chaos
from tests.support import MODELS

ROOT = Path(__file__).parent.parent
RATIO = 0.2
MOST_MB = 400
MOST_SECOND_S = 15.0
ENGINE_SOURCES = {
    "area": "def area(width: int, height: int) -> int:\n    return width * height\n",
    "half": "def half(value: float) -> float:\n    return value / 2\n",
    "join": "def join(names: list[str]) -> str:\n    return ', '.join(names)\n",
    "sign": "def sign(value: int) -> int:\n    return -1 if value < 0 else 1\n",
}


@dataclass(frozen=True)
class Ran:
    """A command that ended: exit code, seconds, peak memory in MB, seconds of processor time."""

    code: int
    seconds: float
    megabytes: float
    cpu_s: float


def run(folder: Path, *args: str) -> Ran:
    """Run ``reflexion`` in a folder, its words into said.txt there."""
    with (folder / "said.txt").open("wb") as said:
        started = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "reflexion", *args], cwd=folder, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ran(process.returncode, seconds, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


def configure(folder: Path, base_url: str, models: Sequence[str] = tuple(MODELS.values()), **more: object) -> None:
    """Write the configuration."""
    registry = dict(zip(MODELS, models, strict=True))
    content = {"model_registry": registry, "server": {"base_url": base_url, "away_s": 0}} | more
    (folder / "config.json").write_text(json.dumps(content), encoding="utf-8")


class DoubleProcess:
    """The double of tests/batch_double.py; ``told`` has its counts once the block has ended."""

    def __init__(self, *args: str) -> None:
        self._args = args
        self.told: dict[str, int] = {}

    def __enter__(self) -> str:
        command = [sys.executable, "-m", "tests.batch_double", *self._args]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self.told = json.loads(self._process.communicate(timeout=30)[0])


# ---------------------------------------------------------------------------------------------------------- the gate


def gate(asked: argparse.Namespace) -> bool:
    """The command with --jobs against the same command file after file, each with a fresh double."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_sources(folder / "src", asked.files)
        sample = [path.relative_to(folder).as_posix() for path in paths[:: max(1, asked.files // asked.sample)]]
        some = asked.sample < asked.files
        print(f"| {asked.files} files, call {asked.call_s} s, load {asked.load_s} s | seconds | loads | calls |")
        print("| --- | --: | --: | --: |")
        gated, told = _on_double(folder, asked, "src", "gated", asked.jobs)
        print(f"| gate, --jobs {asked.jobs} | {gated.seconds:.1f} | {told['loads']} | {told['chats']} |", flush=True)
        loop, looped = _on_double(folder, asked, sample if some else "src", "loop", 1)
        print(f"| --jobs 1, {len(sample)} files | {loop.seconds:.1f} | {looped['loads']} | {looped['chats']} |")
    names = [path.stem for path in paths]
    # Each file costs the loop its own calls and loads, so a sample is scaled by calls.
    per_call = loop.seconds / looped["chats"]
    ratio = gated.seconds / (per_call * told["chats"])
    windows = [names[at : at + asked.jobs] for at in range(0, len(names), asked.jobs)]
    bound = sum(2 * max(asked.rounds, *map(rounds_of, window)) + 1 for window in windows)
    floor = told["chats"] * asked.call_s + (0 if asked.fit else bound * asked.load_s)
    print(f"the calls and {0 if asked.fit else bound} loads alone: {floor:.1f} s")
    print(f"ratio {ratio:.3f}{' (the loop by a sample, scaled by calls)' if some else ''}")
    if asked.fit:
        return gated.code == loop.code == 0 and ratio <= 1.05
    print(f"loads {told['loads']}, at most {bound}: 2R + 1 a window of {asked.jobs}")
    return gated.code == loop.code == 0 and told["loads"] <= bound and ratio <= RATIO


def _on_double(
    folder: Path, asked: argparse.Namespace, inputs: str | Sequence[str], output: str, jobs: int
) -> tuple[Ran, dict[str, int]]:
    memory = [] if asked.fit else ["--max-loaded", "1"]
    times = ("--call-s", str(asked.call_s), "--load-s", str(asked.load_s))
    double = DoubleProcess(*times, "--least-rounds", str(asked.rounds), *memory)
    named = [inputs] if isinstance(inputs, str) else inputs
    with double as url:
        configure(folder, url)
        given = [part for one in named for part in ("--input", one)]
        ran = run(folder, *given, "--output", f"{output}/", "--jobs", str(jobs))
    return ran, double.told


# -------------------------------------------------------------------------------------------------------- real tokens


def engine(asked: argparse.Namespace) -> bool:
    """Up to four small files on a server with room for one model, side by side and file after file.

    The models are told to be short, so that most of the time goes where larger models with their longer loads have it.
    """
    print("| files at once | seconds | loads | calls | load s | outcomes |\n| --: | --: | --: | --: | --: | --- |")
    loads = []
    with tempfile.TemporaryDirectory() as name, _server(asked, Path(name)) as (url, models):
        words = Path(name) / "words"
        words.mkdir()
        shutil.copy(ROOT / "benchmarks" / "short_words.toml", words / "docs.toml")
        for jobs in (4, 1):
            folder = Path(name) / f"jobs{jobs}"
            for stem, text in list(ENGINE_SOURCES.items())[: asked.files]:
                path = folder / "src" / f"{stem}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f'"""{stem.title()}."""\n\n\n{text}', encoding="utf-8")
            settings = {"temperature": 0, "seed": 1, "num_ctx": 4096, "num_predict": asked.num_predict}
            roles = dict.fromkeys(MODELS, settings)
            configure(folder, url, models, roles=roles, max_attempts=asked.max_attempts, prompts=str(words))
            ran = run(folder, "--input", "src", "--jobs", str(jobs))
            record = read_record(find_records(folder / "output")[0])
            calls = list(_calls(record))
            loading = sum(call["load_s"] for call in calls)
            loads.append(int(record["loads"]))
            outcomes = ", ".join(str(entry["outcome"]) for entry in record["files"])
            cells = (jobs, f"{ran.seconds:.1f}", loads[-1], len(calls), f"{loading:.1f}", outcomes)
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return loads[0] <= loads[1]


def _calls(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All calls of a record; those of a file that failed stand in its rounds only."""
    for entry in record["files"]:
        yield from entry.get("calls") or [call for one in entry["rounds"] for call in one["calls"]]


@contextlib.contextmanager
def _server(asked: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    if asked.engine == "embedded":
        from reflexion.embedded.engine import EmbeddedEngine
        from reflexion.embedded.packages import DEMO_MODELS

        with EmbeddedEngine(max_loaded=1) as embedded:
            yield embedded.base_url, DEMO_MODELS
        return
    from tests.real_ollama import cache_folder, demanded, find_binary, running_ollama

    data = folder / "ollama"
    data.mkdir()
    with running_ollama(demanded(find_binary()), data, cache_folder(), threads=asked.threads) as server:
        yield server.base_url, server.models


# -------------------------------------------------------------------------------------------------------------- many


@contextlib.contextmanager
def largest(folder: Path) -> Iterator[list[int]]:
    """Look at the checkpoints every half second; yields the sizes in bytes."""
    sizes, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(0.5):
            found = 0
            for path in folder.glob("checkpoints*"):
                with contextlib.suppress(OSError):
                    found += path.stat().st_size
            sizes.append(found)

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield sizes
    finally:
        ended.set()
        watching.join()


def many(asked: argparse.Namespace) -> bool:
    """Many small files against a double that answers at once: memory, time, what is left on disk, a second run."""
    double = DoubleProcess("--most-rounds", "1")
    with tempfile.TemporaryDirectory() as name, double as url:
        folder = Path(name)
        write_sources(folder / "src", asked.files)
        configure(folder, url)
        with largest(folder / "output" / ".reflexion") as sizes:
            first = run(folder, "--input", "src", "--output", "output", "--jobs", str(asked.jobs), *asked.more)
        kept = {path.name: path.stat().st_size for path in (folder / "output" / ".reflexion").iterdir()}
        second = run(folder, "--input", "src", "--output", "output", "--jobs", str(asked.jobs), *asked.more)
        print((folder / "said.txt").read_text(encoding="utf-8")[-500:])
    calls = double.told["chats"]
    print(f"| {asked.files} files, --jobs {asked.jobs} | |\n| --- | --: |")
    print(f"| first run, s | {first.seconds:.1f} ({first.cpu_s:.1f} of processor time) |")
    print(f"| ms a file | {1000 * first.seconds / asked.files:.1f} |")
    print(f"| ms a call | {1000 * first.seconds / calls:.1f} ({calls} calls) |")
    print(f"| peak memory, MB | {first.megabytes:.0f} |")
    print(f"| second run, nothing changed, s | {second.seconds:.1f} |")
    print(f"| its peak memory, MB | {second.megabytes:.0f} |")
    print(f"| checkpoints under way at most, KB | {max(sizes) / 1024:.0f} |")
    for path, size in sorted(kept.items()):
        print(f"| {path}, KB | {size / 1024:.0f} |")
    good = first.code == second.code == 0 and first.megabytes <= MOST_MB and second.seconds <= MOST_SECOND_S
    return good and not any(path.startswith("checkpoints") for path in kept)


# ------------------------------------------------------------------------------------------------------------- chaos


def chaos(asked: argparse.Namespace) -> bool:
    """Kills at random moments; prints what they cost, and every trouble."""
    found = Chaos()
    try:
        with tempfile.TemporaryDirectory() as name:
            run_chaos(Path(name), found, asked.kills, asked.seed, files=asked.files, jobs=asked.jobs)
    finally:
        print("\n".join([*found.troubles, json.dumps(found.summary())]))
    return not found.troubles and found.most_repeats <= 1


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the questions and their options."""
    commands = parser.add_subparsers(dest="question", required=True)
    one = commands.add_parser("gate")
    one.add_argument("--files", type=int, default=12)
    one.add_argument("--sample", type=int, default=1_000_000, help="files of the loop; all by default")
    one.add_argument("--jobs", type=int, default=16)
    one.add_argument("--call-s", type=float, default=0.15)
    one.add_argument("--load-s", type=float, default=1.5)
    one.add_argument("--rounds", type=int, default=1, help="rounds that every file needs at least; four at most")
    one.add_argument("--fit", action="store_true", help="all models fit together")
    one = commands.add_parser("engine")
    one.add_argument("--engine", choices=("embedded", "ollama"), default="embedded")
    one.add_argument("--files", type=int, default=4, help="four at most")
    one.add_argument("--threads", type=int, default=2, help="of Ollama; one where other work uses the processor")
    one.add_argument("--num-predict", type=int, default=256)
    one.add_argument("--max-attempts", type=int, default=2)
    one = commands.add_parser("many")
    one.add_argument("--files", type=int, default=10_000)
    one.add_argument("--jobs", type=int, default=16)
    one.add_argument("more", nargs="*", help="further options of the command, after --")
    one = commands.add_parser("chaos")
    one.add_argument("--kills", type=int, default=100)
    one.add_argument("--seed", type=int, default=6)
    one.add_argument("--files", type=int, default=30)
    one.add_argument("--jobs", type=int, default=8)


def main() -> int:
    """Run what the command line names; exit 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_commands(parser)
    asked = parser.parse_args()
    # Servers and temporary folders go with the benchmark, however it is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    questions = {"gate": gate, "engine": engine, "many": many, "chaos": chaos}
    return 0 if questions[asked.question](asked) else 1


if __name__ == "__main__":
    sys.exit(main())
