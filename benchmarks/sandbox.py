"""What does a job in the sandbox cost above the bare interpreter? ``python -m benchmarks.sandbox``."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from reflexion.config import SandboxSettings
from reflexion.errors import SandboxUnavailable
from reflexion.sandbox import Job, Sandbox, open_sandbox

TIMES = 20
MANY = 100
JOB = Job({"driver.py": b"print('done')\n"}, ("driver.py",))


def bare() -> None:
    subprocess.run([sys.executable, "-I", "-c", "print('done')"], capture_output=True, check=True)


def in_sandbox(sandbox: Sandbox) -> None:
    assert sandbox.run(JOB).stdout == b"done\n"


def medians(ways: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Milliseconds at the median, the ways taken in turn so that a busy machine is busy for all of them."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(TIMES):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            taken[name].append(1000 * (time.perf_counter() - begun))
    return {name: statistics.median(times) for name, times in taken.items()}


def sandboxes() -> dict[str, Sandbox]:
    found = {}
    for mode in ("bubblewrap", "process"):
        try:
            found[mode] = open_sandbox(SandboxSettings.model_validate({"mode": mode}))
        except SandboxUnavailable as error:
            print(error)
    return found


def main() -> None:
    here = sandboxes()
    ways: dict[str, Callable[[], None]] = {"bare python -I": bare}
    for name, sandbox in here.items():
        ways[name] = lambda sandbox=sandbox: in_sandbox(sandbox)  # type: ignore[misc]
    for name, milliseconds in medians(ways).items():
        print(f"{name:16} {milliseconds:7.1f} ms at the median of {TIMES}")
    for name, sandbox in here.items():
        begun = time.perf_counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(in_sandbox, [sandbox] * MANY))
        print(f"{name:16} {MANY} jobs on {os.cpu_count()} threads: {time.perf_counter() - begun:.1f} s")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
