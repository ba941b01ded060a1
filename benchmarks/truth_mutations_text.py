"""Planted faults that need no source: what models leave in a page, and what they invent about its history."""

import random
from collections.abc import Iterator

from benchmarks.truth_mutations import Mutant, mutant
from benchmarks.truth_pages import Page

HISTORIES = (
    (
        "version table",
        "\n## Version history\n\n| Version | Description | Date |\n|---|---|---|\n| 0.1 | initial version | TBD |\n",
        6,
    ),
    (
        "changelog",
        "\n## Changelog\n\n- **1.2.0**: added support for more input formats\n- **1.0.0**: first release\n",
        4,
    ),
    ("author", "\n## Author\n\nWritten by Jane Doe.\n", 3),
    ("author line", "\n**Author:** Jane Doe\n", 1),
    ("date", "\n*Last updated: 2024-01-05*\n", 1),
    ("version", "\n**Version:** 1.0.3\n", 1),
    ("licence", "\n## License\n\nReleased under the Apache License 2.0.\n", 3),
)
OPENINGS = (
    "Sure! Here is the documentation for the module:\n\n",
    "Here's the revised documentation with the requested fix applied:\n\n",
    "Certainly! Below is the complete Markdown documentation you asked for.\n\n",
)
CLOSINGS = (
    "\nI hope this helps! Let me know if you need anything else.\n",
    "\nLet me know if you would like me to change anything else in this documentation.\n",
    "\nFeel free to ask if you have any further questions!\n",
)
VERDICTS = (
    "\nNo formatting errors or contradictions were found.\n",
    '\n{"technical_accuracy": 97, "completeness": 95, "single_critical_fix": ""}\n',
    "\nThe documentation is accurate and complete. Score: 98/100.\n",
)


def _after(page: Page, kind: str, family: str, added: str, offset: int = 1) -> Mutant:
    text = page.text.rstrip("\n") + "\n" + added
    return mutant(page, kind, family, text, len(page.text.rstrip("\n").splitlines()) + offset)


def invented_history(page: Page) -> Iterator[Mutant]:
    for kind, added, offset in HISTORIES:
        yield _after(page, f"invented {kind}", "invented history", added, offset)


def chatter(page: Page) -> Iterator[Mutant]:
    for opening in OPENINGS:
        yield mutant(page, "chatter before", "chatter", opening + page.text, 0)
    for closing in CLOSINGS:
        yield _after(page, "chatter after", "chatter", closing)


def leftover_verdict(page: Page) -> Iterator[Mutant]:
    for verdict in VERDICTS:
        yield _after(page, "leftover verdict", "leftover verdict", verdict)


def repetition(page: Page) -> Iterator[Mutant]:
    prose = [line for line in page.lines if len(line.split()) > 6 and line[0].isalpha()]
    for line in prose[:1]:
        added = "\n" + (line + "\n") * 30
        one = _after(page, "repeated lines", "repetition", added)
        first = len(page.lines) + 1
        yield Mutant(one.page, one.style, one.kind, one.family, one.text, ((first, first + 31),))
    words = "\n" + "the value of " * 60 + "\n"
    yield _after(page, "repeated words", "repetition", words)


def unclosed_fence(page: Page) -> Iterator[Mutant]:
    marks = [i for i in sorted(page.fenced) if page.lines[i].startswith("```")]
    if marks:
        yield mutant(page, "unclosed fence", "unclosed fence", page.edited({marks[-1]: None}), marks[-2])
    else:
        yield _after(page, "unclosed fence", "unclosed fence", "\n```python\nimport math\n")


def truncated(page: Page) -> Iterator[Mutant]:
    """Cut a page inside a code span, a row of a table, or a sentence of prose: where a reader sees it at once."""
    dice = random.Random(page.name)
    for index in range(max(0, len(page.lines) - 8), len(page.lines)):
        line = page.lines[index]
        if index in page.fenced or len(line) < 30:
            continue
        cut = line[: dice.randint(len(line) // 2, len(line) - 5)].rstrip(" .,;:`|*")
        if _is_blatant(page, index, cut):
            text = "\n".join([*page.lines[:index], cut])
            yield mutant(page, "truncated text", "truncated text", text, index)


def _is_blatant(page: Page, index: int, cut: str) -> bool:
    line = page.lines[index]
    if line.startswith("|"):
        return page.lines[index - 1].startswith("|")
    if cut.replace("``", "`").count("`") % 2:
        return True
    return line[0].isalpha() and line.endswith(".") and cut[-1].isalpha() and " " in cut


def bare_code(page: Page) -> Iterator[Mutant]:
    code = "\ndef helper(first, second=2):\n    result = first + second\n\n    return result\n\nThat is all.\n"
    yield _after(page, "code in the text", "code in the text", code)


TEXT_MUTATORS = (invented_history, chatter, leftover_verdict, repetition, unclosed_fence, truncated, bare_code)
