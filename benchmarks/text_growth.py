"""Does cleaning and checking text take time in proportion to its length? Garbage of many kinds, two lengths, one run.

``python -m benchmarks.text_growth`` prints, for each kind, how many times longer 16 times the text takes (linear is 16,
quadratic 256), and exits 1 when any takes more than 80 times.
"""

import sys
import time
from collections.abc import Callable

from reflexion.evidence.rules.prose import check_prose
from reflexion.text import clean_markdown, delimit, fence_for, fences, json_objects, strip_thinking

GARBAGE = [
    "{",
    '{"',
    '{"a":',
    "`",
    "```\n",
    "> ",
    "- ",
    "- a\n",
    "<think>",
    "</think>\n",
    "Sure! ",
    "APPROVED\n",
    "a.\n\n",
    " ",
    "*_",
    "a|b\n-|-\n",
    "```python\nx\n```\n",
    "[",
    "<!--\n",
    "\t",
]
FUNCTIONS: list[Callable[[str], object]] = [
    clean_markdown,
    strip_thinking,
    fences,
    lambda text: list(json_objects(text)),
    fence_for,
    lambda text: delimit(text, "x"),
    check_prose,
]


def seconds(unit: str, size: int) -> float:
    """Return the processor seconds of every function on ``size`` characters of ``unit``, the best of two runs."""
    text = unit * (size // len(unit))
    taken = []
    for _ in range(2):
        start = time.process_time()
        for function in FUNCTIONS:
            function(text)
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Print the table; exit 1 on growth beyond proportion."""
    worst = 0.0
    print("| unit | growth of time for 16 times the text |\n| --- | --: |")
    for unit in GARBAGE:
        # The floor keeps tiny times, which are noise, out of the ratio.
        growth = seconds(unit, 32_000) / max(seconds(unit, 2_000), 0.002)
        worst = max(worst, growth)
        print(f"| {unit!r} | {growth:.1f} |")
    sys.exit(worst > 80)


if __name__ == "__main__":
    main()
