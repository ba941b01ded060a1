"""Kills in the middle of batches, at seeded random moments, and what they cost: pages, calls, leftovers."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from reflexion.pages import is_ours
from tests.batch_double import Replies, write_sources
from tests.ollama_double import ModelInfo, OllamaDouble
from tests.support import MODELS

CALL_S = 0.01
STARTING_S = 1.2
LONGEST_RUN_S = 120.0


@dataclass
class Chaos:
    """What batches with kills came to. ``repeats`` has, for each kill that cost any, how many finished calls it cost:
    answered to their end in the killed run, and again in a later one.
    """

    kills: int = 0
    batches: int = 0
    calls: int = 0
    repeats: Counter[int] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)

    @property
    def most_repeats(self) -> int:
        """The finished calls that one kill cost at most."""
        return max(self.repeats.values(), default=0)

    def summary(self) -> dict[str, int]:
        """The figures in a line."""
        return {
            "kills": self.kills,
            "batches": self.batches,
            "calls": self.calls,
            "repeated": self.repeats.total(),
            "kills that cost a repeat": len(self.repeats),
            "most repeats a kill": self.most_repeats,
            "troubles": len(self.troubles),
        }


class Bench:
    """A folder with sources and a configuration, and a double in this process that the command talks to."""

    def __init__(self, folder: Path, files: int, jobs: int, call_s: float) -> None:
        self.folder = folder
        self.replies = Replies(call_s, steadily=True)
        self.jobs = jobs
        folder.mkdir(parents=True, exist_ok=True)
        write_sources(folder / "src", files)

    def double(self) -> OllamaDouble:
        """A new double; the configuration names it."""
        double = OllamaDouble({name: ModelInfo() for name in MODELS.values()}, max_loaded=1, repeat_last=True)
        self.replies.script(double)
        server = {"base_url": double.base_url, "away_s": 0}
        content = {"model_registry": MODELS, "jobs": self.jobs, "server": server}
        (self.folder / "config.json").write_text(json.dumps(content), encoding="utf-8")
        return double

    def start(self, output: str) -> "subprocess.Popen[bytes]":
        """The command, as a process."""
        command = [sys.executable, "-m", "reflexion", "--input", "src", "--output", output, "--quiet"]
        with (self.folder / "said.txt").open("ab") as said:
            return subprocess.Popen(command, cwd=self.folder, stdout=said, stderr=said)

    def pages(self, output: str) -> dict[str, str]:
        """The pages of an output folder, the index too."""
        folder = self.folder / output
        found = sorted(path for path in folder.rglob("*") if path.is_file() and ".reflexion" not in path.parts)
        return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


def run_chaos(folder: Path, chaos: Chaos, kills: int, seed: int, *, files: int = 30, jobs: int = 8) -> None:
    """Kill batches until there were enough kills, each batch to its end, and compare with an undisturbed one.

    What came of it so far is in ``chaos``.
    """
    moments, bench = random.Random(seed), Bench(folder, files, jobs, CALL_S)
    with bench.double() as double:
        assert bench.start("undisturbed").wait(LONGEST_RUN_S) == 0
        wanted = bench.pages("undisturbed")
        finished = _finished(double)
    if max(finished.values()) > 1:
        chaos.troubles.append("the undisturbed run asks one thing twice, so repeats cannot be told")
    while chaos.kills < kills:
        _disturbed_batch(bench, f"output{chaos.batches}", chaos, kills, moments)
        chaos.troubles += _differences(bench, f"output{chaos.batches}", wanted)
        chaos.batches += 1


def _disturbed_batch(bench: Bench, output: str, chaos: Chaos, kills: int, moments: random.Random) -> None:
    answered_in: dict[str, int] = {}
    with bench.double() as double:
        while True:
            started = time.monotonic()
            process = bench.start(output)
            killed = _kill(process, double, moments) if chaos.kills < kills else None
            if not killed and process.wait(LONGEST_RUN_S) != 0:
                chaos.troubles.append(f"{output}: exit {process.returncode}")
            after = _finished(double)
            for call in _finished(double, started, killed):
                if call in answered_in:  # A run can be killed before it comes to what an earlier kill has cost.
                    chaos.repeats[answered_in[call]] += 1
                answered_in[call] = chaos.kills
            if not killed:
                chaos.calls += sum(after.values())
                return
            chaos.kills += 1


def _kill(process: "subprocess.Popen[bytes]", double: OllamaDouble, moments: random.Random) -> float | None:
    """Kill the process a random while after a random number of its calls; return when, None if it had ended."""
    calls, more_s = moments.randrange(40), moments.uniform(0, 0.08)
    if moments.random() < 0.1:  # While it starts, and takes up what there is.
        calls, more_s = 0, moments.uniform(0.2, STARTING_S)
    before = last = len(double.chats())
    changed, patience_s = time.monotonic(), moments.uniform(0.1, STARTING_S)
    while process.poll() is None and last < before + calls:
        now = len(double.chats())
        if now != last:
            last, changed = now, time.monotonic()
        elif last > before and time.monotonic() - changed > patience_s:
            break  # No more calls: it is about to end.
        time.sleep(0.001)
    time.sleep(more_s)
    if process.poll() is not None:
        return None
    killed = time.monotonic()
    process.kill()
    process.wait()
    _settle(double)
    return killed


def _settle(double: OllamaDouble) -> None:
    """Wait until the double has noticed whom it lost."""
    until = time.monotonic() + 5
    while any(one.ended_at is None for one in list(double.requests)) and time.monotonic() < until:
        time.sleep(0.002)


def _finished(double: OllamaDouble, since: float = 0.0, until: float | None = None) -> Counter[str]:
    """How often each call was answered to its end, by model and prompt; only calls of this time, in seconds.

    The kernel takes a killed process apart for some milliseconds before it closes its sockets. What a server writes
    into them by then has reached nobody, so it is no answer.
    """
    _settle(double)
    # One whose sender was killed in the middle of it has no body.
    asked = [one for one in list(double.requests) if one.path == "/api/chat" and one.body and one.at >= since]
    whole = [one for one in asked if not one.hung_up and (until is None or (one.ended_at or 0) <= until)]
    return Counter(_key(one.body) for one in whole)


def _key(body: dict[str, Any]) -> str:
    return sha256(json.dumps([body["model"], body["messages"]]).encode()).hexdigest()


def _differences(bench: Bench, output: str, wanted: dict[str, str]) -> list[str]:
    found, folder = bench.pages(output), bench.folder / output
    troubles = [f"{output}/{name}: missing" for name in wanted.keys() - found.keys()]
    troubles += [f"{output}/{name}: nobody asked for it" for name in found.keys() - wanted.keys()]
    troubles += [f"{output}/{name}: not intact" for name, text in found.items() if not is_ours(text)]
    troubles += [f"{output}/{name}: other text" for name in wanted.keys() & found.keys() if wanted[name] != found[name]]
    kept = {path.name for path in (folder / ".reflexion").iterdir()}
    left = [name for name in kept if name.startswith("checkpoints") or name.endswith(("-tmp", ".part", ".journal"))]
    return troubles + [f"{output}: left behind: {os.fsdecode(name)}" for name in left]
