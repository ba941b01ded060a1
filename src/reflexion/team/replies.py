"""What the roles of the code pipeline answer, read: specification and tests, code, a diagnosis with its patch."""

import ast
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from reflexion.errors import ReplyRejected
from reflexion.text import clean_markdown
from reflexion.text.blocks import fences
from reflexion.text.chatter import sentences
from reflexion.text.code import code_blocks
from reflexion.text.labelled import labelled

TARGET = "solution"
MOST_REVIEW_WORDS = 150
MOST_DIAGNOSIS_SENTENCES = 3
MOST_DIAGNOSIS_WORDS = 100

_DESIGN = {
    "SPECIFICATIONS": ("specifications", "specification", "spec", "specs"),
    "TESTS": (
        "tests",
        "test",
        "test suite",
        "test code",
        "test cases",
        "pytest",
        "pytest tests",
        "pytest suite",
        "pytest test suite",
        "unit tests",
        "test solution py",
    ),
}
_PATCH = {
    "DIAGNOSIS": ("diagnosis", "diagnoses", "analysis", "root cause"),
    "PATCHED_CODE": (
        "patched code",
        "patched",
        "patch",
        "patched solution",
        "fixed code",
        "corrected code",
        "code",
        "solution",
        "solution py",
    ),
}


class Design(NamedTuple):
    """What the architect answers."""

    specification: str
    tests: str


class Patch(NamedTuple):
    """What the debugger answers: two or three sentences, and the whole module."""

    diagnosis: str
    code: str


def read_design(reply: str) -> Design:
    """Read specification and tests. Raises ReplyRejected, which says what is missing."""
    sections = labelled(reply, _DESIGN)
    tests = _only(code_blocks(sections.get("TESTS") or reply), has_tests, "test suites", reply)
    specification = clean_markdown(sections.get("SPECIFICATIONS") or _outside_code(sections[""])).strip()
    if not specification:
        raise ReplyRejected("the reply holds no specification under the heading SPECIFICATIONS", reply)
    return Design(specification, tests)


def read_code(reply: str, names: Collection[str]) -> str:
    """Read the module that defines ``names``. Raises ReplyRejected where there is none, or it cannot be told which."""
    code = _only(code_blocks(reply), lambda block: defines(block, names), "modules", reply)
    if has_tests(code) and not defines(code, names):
        raise ReplyRejected("the reply holds tests and no solution; the tests are locked", reply)
    return code


def read_patch(reply: str, names: Collection[str]) -> Patch:
    """Read diagnosis and patched module. A missing diagnosis is none; raises ReplyRejected for a missing module."""
    sections = labelled(reply, _PATCH)
    code = read_code(sections.get("PATCHED_CODE") or reply, names)
    said = clean_markdown(sections.get("DIAGNOSIS") or _outside_code(sections[""]))
    return Patch(shortened(said, MOST_DIAGNOSIS_WORDS, MOST_DIAGNOSIS_SENTENCES), code)


def has_tests(code: str) -> bool:
    """Return whether a module that parses has test functions."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
        for node in ast.walk(ast.parse(code))
    )


def defines(code: str, names: Iterable[str]) -> bool:
    """Return whether a module that parses binds all these names at its top."""
    bound: set[str] = set()
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != TARGET:
            bound.update(item.asname or item.name for item in node.names)
        else:
            bound.update(
                one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            )
    return bound.issuperset(names)


def shortened(text: str, most_words: int, most_sentences: int | None = None) -> str:
    """Return the first sentences of a text, on one line, as many as the limits allow; at least some words of it."""
    kept: list[str] = []
    words = 0
    for sentence in sentences(" ".join(text.split()))[:most_sentences]:
        words += len(sentence.split())
        if words > most_words:
            break
        kept.append(sentence)
    if not kept and text.strip():
        return f"{' '.join(text.split()[:most_words])} ..."
    return "".join(kept).strip()


def _only(blocks: list[str], wanted: Callable[[str], bool], what: str, reply: str) -> str:
    """Return the one block there is, else the one that is wanted."""
    good = blocks if len(blocks) == 1 else [block for block in blocks if wanted(block)]
    if len(good) != 1:
        raise ReplyRejected(
            f"the reply holds {len(blocks)} blocks of code, {len(good)} of them {what}: need one", reply
        )
    return good[0]


def _outside_code(text: str) -> str:
    lines = text.split("\n")
    for fence in reversed(fences(text)):
        del lines[fence.start_line - 1 : fence.end_line]
    return "\n".join(lines)
