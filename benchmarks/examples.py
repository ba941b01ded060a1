"""What running the examples of documents costs: one page against the bare interpreter, and a hundred pages.

``python -m benchmarks.examples`` prints two Markdown tables and exits 1 when a page takes more than 1.3 times what the
bare interpreter takes for the same code plus one start of the sandbox: measured apart and added, and as one job, of
which the smaller counts. All are measured in turn, so that a busy machine slows all of them.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reflexion.config import SandboxSettings
from reflexion.errors import SandboxUnavailable
from reflexion.evidence.claims import Claims
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.runner import ExampleRunner
from reflexion.evidence.facts import Facts
from reflexion.evidence.source import facts_of_python
from reflexion.importable import SourceTree, importable
from reflexion.sandbox import Job, Sandbox, open_sandbox

TARGET_RATIO = 1.3
CORES = 2
TIMEOUT_S = 120
SOURCE = '''"""Prices with tax."""

from dataclasses import dataclass


class PriceError(ValueError):
    """A price that cannot be."""


@dataclass(frozen=True)
class Price:
    """An amount and its rate of tax."""

    net: float
    rate: float = 0.2

    @property
    def gross(self) -> float:
        """Return the amount with tax."""
        return self.net * (1 + self.rate)


def total(prices: list[Price]) -> float:
    """Return the sum with tax.

    Raises PriceError where there are no prices.
    """
    if not prices:
        raise PriceError("no prices")
    return sum(price.gross for price in prices)


def share(part: float, whole: float) -> float:
    """Return a part of a whole."""
    return part / whole
'''
# The comments are what the document states; to the bare interpreter they are nothing.
EXAMPLES = (
    "from prices_{n} import Price\n\nprice = Price(10.0)\nprint(price.gross)  # Output: 12.0",
    "share(2, 3)  # 0.667",
    "total([Price(1.0), Price(2.0, 0.1)])  # 3.4",
    "for rate in (0.1, 0.2):\n    print(Price(1.0, rate).gross)\n# Output:\n# 1.1\n# 1.2",
    "Price(5.0)  # Price(net=5.0, rate=0.2)",
    "sorted([Price(2.0).net, Price(1.0).net])  # [1.0, 2.0]",
)
RAISING = "total([])  # raises PriceError: no prices"


@dataclass(frozen=True, slots=True)
class Case:
    """A page with its source, ready to be run, and the same code as a script for the bare interpreter."""

    claims: Claims
    facts: Facts
    tree: SourceTree
    folder: Path

    def by_runner(self, sandbox: Sandbox) -> None:
        """Run and judge all examples of the page; the page is true, so anything found is a mistake here."""
        report = ExampleRunner(sandbox, self.tree).run(self.claims, self.facts)
        if report.findings or report.ran != len(EXAMPLES) + 1:
            sys.exit(f"examples: {report}")

    def by_job(self, sandbox: Sandbox) -> None:
        """Run the same code in one bare interpreter inside of the sandbox: both of the other costs at once."""
        script = (
            (self.folder / "script.py").read_text(encoding="utf-8").replace(repr(str(self.folder)), "__file__[:-10]")
        )
        files = {"script.py": script.encode(), **self.tree.files}
        if sandbox.run(Job(files, ("script.py",))).exit_code != 0:
            sys.exit("examples: the script does not run in the sandbox")

    def by_interpreter(self) -> None:
        """Run the same code in one bare interpreter."""
        command = [sys.executable, "-I", "-B", str(self.folder / "script.py")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT_S)


def make_case(number: int, root: Path) -> Case:
    """Write one case; every number has its own source and page, so that nothing can be remembered."""
    name = f"prices_{number}"
    source = f"{SOURCE}\nSERIAL = {number}\n"
    codes = [code.replace("{n}", str(number)) for code in EXAMPLES]
    page = "# Prices\n\n" + "\n".join(f"Example:\n\n```python\n{code}\n```\n" for code in (*codes, RAISING))
    tree = importable(None, source, name)
    if tree is None:
        sys.exit("examples: the source is not importable")
    folder = root / name
    folder.mkdir()
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    tried = "try:\n    total([])\nexcept PriceError:\n    pass"
    lines = ["import sys", f"sys.path.insert(0, {str(folder)!r})", f"from {name} import *", *codes, tried]
    (folder / "script.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Case(read_claims(page), facts_of_python(source, name), tree, folder)


def seconds_of(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def start_of_sandbox(sandbox: Sandbox) -> float:
    """Return the seconds of one start of the sandbox: a job that does nothing, without its interpreter's time."""
    whole = seconds_of(lambda: sandbox.run(Job({"empty.py": b""}, ("empty.py",))))
    command = [sys.executable, "-I", "-c", ""]
    return whole - seconds_of(lambda: subprocess.run(command, check=True, timeout=TIMEOUT_S))


def one_page(sandbox: Sandbox, root: Path, runs: int) -> float:
    """Print the first table; returns the ratio of the medians."""
    ours, bare, starts, jobs = [], [], [], []
    for number in range(runs):
        case = make_case(number, root)
        ours.append(seconds_of(lambda case=case: case.by_runner(sandbox)))  # type: ignore[misc]
        bare.append(seconds_of(case.by_interpreter))
        starts.append(start_of_sandbox(sandbox))
        jobs.append(seconds_of(lambda case=case: case.by_job(sandbox)))  # type: ignore[misc]
    page, script, start, job = map(statistics.median, (ours, bare, starts, jobs))
    ratio = page / min(script + start, job)
    print(f"\nA page of {len(EXAMPLES) + 1} examples, median of {runs} (ms):\n")
    print(
        "| examples run and judged | bare `python -I -B`, same code | one start | both in one job | ratio | at most |"
    )
    print("|--:|--:|--:|--:|--:|--:|")
    figures = " | ".join(f"{one * 1000:.0f}" for one in (page, script, start, job))
    print(f"| {figures} | {ratio:.2f} | {TARGET_RATIO} |")
    return ratio


def many_pages(sandbox: Sandbox, root: Path, pages: int) -> None:
    """Print the second table: pages side by side on the cores."""
    cases = [make_case(1_000 + number, root) for number in range(pages)]
    with ThreadPoolExecutor(CORES) as pool:
        ours = seconds_of(lambda: list(pool.map(lambda case: case.by_runner(sandbox), cases)))
        bare = seconds_of(lambda: list(pool.map(lambda case: case.by_interpreter(), cases)))
    print(f"\n{pages} pages of {len(EXAMPLES) + 1} examples on {CORES} cores:\n")
    print("| | seconds | ms a page |\n|:--|--:|--:|")
    print(f"| examples run and judged | {ours:.1f} | {ours / pages * 1000:.0f} |")
    print(f"| bare `python -I -B`, same code | {bare:.1f} | {bare / pages * 1000:.0f} |")


def main() -> int:
    """Measure, print, and return 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--pages", type=int, default=100)
    options = parser.parse_args()
    try:
        sandbox = open_sandbox(SandboxSettings())
    except SandboxUnavailable as error:
        sys.exit(f"examples: {error}")
    with tempfile.TemporaryDirectory() as folder:
        ratio = one_page(sandbox, Path(folder), options.runs)
        many_pages(sandbox, Path(folder), options.pages)
    return 0 if ratio <= TARGET_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
