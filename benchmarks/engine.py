"""Is the embedded engine as fast as Ollama, and does it stay as large as it was?

python -m benchmarks.engine speed --rounds 7      # against a real Ollama (make ollama), in turns
python -m benchmarks.engine memory --calls 1000   # chats, prompts, vectors and hang-ups on ``reflexion engine serve``

``speed`` exits 1 when the engine is slower in anything by more than 10 %, ``memory`` when it grew by more than 10 %
after its first tenth of the calls. ``speed`` wants a machine that does nothing else.
"""

import argparse
import contextlib
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx

from reflexion.embedded.engine import EmbeddedEngine
from reflexion.embedded.gguf import read_header
from reflexion.embedded.packages import DEMO_MODELS, demo_file
from reflexion.embedded.runner import physical_cores
from reflexion.embedded.worker import PROMPT_CACHE_MIB
from tests.embedded.test_life import children
from tests.real_ollama import MODELS, cache_folder, demanded, find_binary, running_ollama

MOST = 1.1
WINDOW = 2048
SMALL_WINDOW = 512
AT_ONCE = 8
WORDS = ["river", "stone", "green", "seven", "paper", "light", "under", "music", "table", "north"]
# A beginning that a model goes on with for as long as it is let.
STORY = "Once upon a time there was a small town by the sea. The people of the town"


@dataclass
class Server:
    """One of the two, and how its model is called there. Prompts are raw, so that both read the same tokens."""

    name: str
    url: str
    model: str
    numbers: Iterator[int]

    def post(self, prompt: str = "", predict: int = 1, **more: object) -> httpx.Response:
        options = {"num_ctx": WINDOW, "num_predict": predict, "temperature": 0}
        body = {"model": self.model, "prompt": prompt, "raw": True, "stream": False, "options": options, **more}
        return httpx.post(f"{self.url}/api/generate", json=body, timeout=300, trust_env=False).raise_for_status()

    def unique(self, words: int) -> str:
        """A text that nobody has in a cache from its first token on, the same for both servers in each round."""
        number = next(self.numbers)
        return f"{number} " + " ".join(WORDS[(number * i + i // 7) % len(WORDS)] for i in range(words))

    def unload(self) -> None:
        self.post(keep_alive=0)
        while httpx.get(f"{self.url}/api/ps", trust_env=False).json()["models"]:
            time.sleep(0.01)


def seconds_to_load(server: Server) -> float:
    server.unload()
    return timed(server.post)


def seconds_a_prompt_token(server: Server) -> float:
    prompt = server.unique(300)
    started = time.perf_counter()
    count: int = server.post(prompt).json()["prompt_eval_count"]
    return (time.perf_counter() - started) / count


def seconds_a_generated_token(server: Server) -> float:
    moments = list(stream(server, f"{server.unique(1)} {STORY}", 96))
    return (moments[-1] - moments[1]) / (len(moments) - 2)


def seconds_to_first_token(server: Server) -> float:
    prompt = server.unique(60)
    started = time.perf_counter()
    # Read to the end: Ollama 0.17.4 was seen to answer nobody any more after a hang-up right at the last token.
    return list(stream(server, prompt, 1))[0] - started  # noqa: RUF015


def seconds_for_eight(server: Server) -> float:
    prompts = [f"{server.unique(30)} {STORY}" for _ in range(AT_ONCE)]

    def ask_all() -> None:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda prompt: server.post(prompt, 24), prompts))

    return timed(ask_all)


def stream(server: Server, prompt: str, predict: int) -> Iterator[float]:
    """The moments at which pieces of a reply arrive."""
    options = {"num_ctx": WINDOW, "num_predict": predict, "temperature": 0.8, "seed": 1}
    body = {"model": server.model, "prompt": prompt, "raw": True, "options": options}
    with httpx.stream("POST", f"{server.url}/api/generate", json=body, timeout=300, trust_env=False) as answer:
        for line in answer.iter_lines():
            if json.loads(line).get("response"):
                yield time.perf_counter()


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


MEASURES: Mapping[str, Callable[[Server], float]] = {
    "load (s)": seconds_to_load,
    "prompt token (ms)": lambda server: 1000 * seconds_a_prompt_token(server),
    "generated token (ms)": lambda server: 1000 * seconds_a_generated_token(server),
    "first token (ms)": lambda server: 1000 * seconds_to_first_token(server),
    "8 at once (s)": seconds_for_eight,
}


def speed(rounds: int, cores: int) -> int:
    # Both inherit it: as many threads as cores, whatever else the machine does.
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    threads = physical_cores()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ollama = stack.enter_context(running_ollama(demanded(find_binary()), folder, cache_folder(), threads))
        engine = stack.enter_context(EmbeddedEngine(max_loaded=1))
        servers = [
            Server("Ollama", ollama.base_url, MODELS[0], itertools.count(1)),
            Server("engine", engine.base_url, DEMO_MODELS[0], itertools.count(1)),
        ]
        taken = {name: {server.name: list[float]() for server in servers} for name in MEASURES}
        for number in range(rounds + 1):
            for name, measure in MEASURES.items():
                # Whoever comes second may find a warmer machine, so they take turns in that too.
                for server in servers if number % 2 else servers[::-1]:
                    taken[name][server.name].append(measure(server))
                    print(f"round {number}: {name}, {server.name}: {taken[name][server.name][-1]:.3g}", file=sys.stderr)
    return show_speed(taken, threads)


def show_speed(taken: Mapping[str, Mapping[str, list[float]]], threads: int) -> int:
    print(f"medians, threads: {threads}, both the same file; the first round does not count\n")
    print("| measure | Ollama | engine | engine / Ollama | range of the engine |\n|---|--:|--:|--:|---|")
    slow = False
    for name, by_server in taken.items():
        counted = {server: times[1:] for server, times in by_server.items()}
        ollama, engine = (statistics.median(counted[server]) for server in ("Ollama", "engine"))
        slow = slow or engine / ollama > MOST
        spread = f"{min(counted['engine']):.3g} to {max(counted['engine']):.3g}"
        print(f"| {name} | {ollama:.3g} | {engine:.3g} | {engine / ollama:.2f} | {spread} |")
    return int(slow)


def memory(calls: int, unique: bool) -> int:
    command = [sys.executable, "-m", "reflexion", "engine", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[3].rstrip(";")
        sizes = {}
        try:
            one_call(url, 0)
            show_size("after one call", process.pid)
            if unique:
                # llama.cpp keeps prompts up to a limit: what grows until then is no leak, what grows afterwards is one.
                fill_prompt_store(url)
                show_size("with its store of prompts full", process.pid)
            for number in range(1, calls + 1):
                one_call(url, number if unique else number % (calls // 10))
                if number % (calls // 10) == 0:
                    sizes[number] = show_size(f"after {number:5} calls", process.pid)
        finally:
            process.terminate()
    early, late = sizes[calls // 10], sizes[calls]
    return int(any(new > MOST * old for old, new in zip(early, late, strict=True)))


def show_size(when: str, pid: int) -> tuple[float, float]:
    server, worker = megabytes(pid)
    print(f"{when}: server {server:4.0f} MB, worker {worker:4.0f} MB", flush=True)
    return server, worker


def fill_prompt_store(url: str) -> None:
    """Prompts as long as the window, a quarter more of them than llama.cpp keeps."""
    file = demo_file()
    assert file is not None
    size = read_header(file).cache_bytes_per_token * SMALL_WINDOW
    options = {"num_ctx": SMALL_WINDOW, "num_predict": 1}
    for number in range(PROMPT_CACHE_MIB * 2**20 * 5 // (4 * size)):
        text = " ".join(f"{number} {WORDS[i % len(WORDS)]}" for i in range(SMALL_WINDOW))
        body = {"model": DEMO_MODELS[0], "prompt": text, "stream": False, "options": options}
        httpx.post(f"{url}/api/generate", json=body, timeout=300, trust_env=False).raise_for_status()


def one_call(url: str, number: int) -> None:
    """A chat, a prompt, a vector, or a call whose client hangs up in the middle, in turns."""
    text = f"{number} " + " ".join(WORDS[number * i % len(WORDS)] for i in range(20))
    options = {"num_ctx": SMALL_WINDOW, "num_predict": 4, "temperature": 0}
    common = {"model": DEMO_MODELS[0], "options": options}
    bodies: list[tuple[str, dict[str, object]]] = [
        ("chat", {"messages": [{"role": "user", "content": text}]}),
        ("generate", {"prompt": text, "stream": False}),
        ("embed", {"input": [text, "short"]}),
        (
            "generate",
            {"prompt": text, "format": {"type": "string", "minLength": 20_000}, "options": {"num_ctx": SMALL_WINDOW}},
        ),
    ]
    path, body = bodies[number % len(bodies)]
    with httpx.stream("POST", f"{url}/api/{path}", json={**common, **body}, timeout=60, trust_env=False) as answer:
        answer.raise_for_status()
        for _ in itertools.islice(answer.iter_lines(), 2 if "format" in body else None):
            continue


def megabytes(pid: int) -> tuple[float, float]:
    """Resident memory of a process, and of its children together."""
    return resident(pid), sum(resident(child) for child in children(pid))


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "memory"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument(
        "--unique", action="store_true", help="memory: every prompt is new, once the prompt store is full"
    )
    asked = parser.parse_args()
    # What was started ends with us, also when a time limit ends us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(speed(asked.rounds, asked.cores) if asked.what == "speed" else memory(asked.calls, asked.unique))


if __name__ == "__main__":
    main()
