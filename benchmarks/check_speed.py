"""How fast and how lean is ``reflexion check``: a folder of 1,000 pairs, its peak memory, and the start of the process.

``python -m benchmarks.check_speed`` prints a table. Pairs are the corpus over and over, each copy under its own name
and with its own constant, so that nothing can be answered from a cache of the one before.
"""

import argparse
import compileall
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import reflexion
from benchmarks.truth_pages import STYLES
from benchmarks.truth_source import CORPUS

TARGET_SECONDS = 20.0
TARGET_START = 0.4
NAMES = [name for names in STYLES.values() for name in names]


def make_folders(root: Path, pairs: int) -> tuple[Path, Path]:
    """Write two folders that mirror each other, with ``pairs`` files each."""
    sources, pages = root / f"sources_{pairs}", root / f"pages_{pairs}"
    for number in range(pairs):
        name = NAMES[number % len(NAMES)]
        part = f"group_{number // 100:02d}"
        for folder, suffix, extra in (
            (sources, ".py", f"\nSERIAL = {number}\n"),
            (pages, ".md", f"\n## SERIAL\n\n`{number}`\n"),
        ):
            target = folder / part / f"{name}_{number}{suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text((CORPUS / f"{name}{suffix}").read_text(encoding="utf-8") + extra, encoding="utf-8")
    return sources, pages


def command() -> list[str]:
    """Return how to start the installed command."""
    beside = Path(sys.executable).with_name("reflexion")
    found = str(beside) if beside.exists() else shutil.which("reflexion")
    if not found:
        sys.exit("check_speed: the command reflexion is not installed; run pip install -e . first")
    return [found]


def measured(arguments: list[str]) -> tuple[float, float, int]:
    """Run a command; returns seconds, the peak memory of the greatest process in MiB, and the exit code."""
    started = time.perf_counter()
    pid = os.posix_spawn(
        arguments[0],
        arguments,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    return time.perf_counter() - started, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def start_seconds(runs: int = 11, more: tuple[str, ...] = ()) -> float:
    """Return the median seconds of checking one small pair, process start included.

    The package's bytecode is written first, as pip does for an installed package and an editable install does not.
    """
    compileall.compile_dir(Path(reflexion.__file__).parent, quiet=1)
    page, source = CORPUS / "slugs.md", CORPUS / "slugs.py"
    arguments = [*command(), "check", str(page), "--source", str(source), *more]
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(arguments, check=False, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[250, 1000])
    options = parser.parse_args()
    rows = ["| pairs | seconds | peak MiB | exit |", "|--:|--:|--:|--:|"]
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for pairs in options.pairs:
            sources, pages = make_folders(Path(folder), pairs)
            seconds, peak, code = measured([*command(), "check", str(pages), "--source", str(sources)])
            rows.append(f"| {pairs} | {seconds:.2f} | {peak:.0f} | {code} |")
    start = start_seconds()
    print("\n".join(rows))
    print(f"\nOne small pair, process start included: {start:.3f} s (median of 11)")
    print(f"The same with --examples, of which it has some: {start_seconds(more=('--examples',)):.3f} s")
    print(f"Children's peak over all runs: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")
    return 0 if seconds < TARGET_SECONDS and start < TARGET_START else 1


if __name__ == "__main__":
    sys.exit(main())
