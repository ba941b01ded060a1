"""The corpus of the truth benchmark: sound sources, examples that are true, faults that are real and repeatable."""

import ast
import doctest
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from benchmarks.truth_mutations import MUTATORS, Mutant, sample
from benchmarks.truth_mutations_calls import CALL_MUTATORS
from benchmarks.truth_mutations_errors import ERROR_MUTATORS
from benchmarks.truth_mutations_text import TEXT_MUTATORS
from benchmarks.truth_pages import STYLES, Page
from benchmarks.truth_source import CORPUS, read_things

ALL = (*MUTATORS, *CALL_MUTATORS, *ERROR_MUTATORS, *TEXT_MUTATORS)
NAMES = [name for names in STYLES.values() for name in names]
PAGES = [*(CORPUS / f"{name}.md" for name in NAMES), *sorted((CORPUS / "other").glob("*.md"))]
FENCE = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@cache
def page(name: str) -> Page:
    style = next(style for style, names in STYLES.items() if name in names)
    things = read_things((CORPUS / f"{name}.py").read_text(encoding="utf-8"))
    return Page(name, style, (CORPUS / f"{name}.md").read_text(encoding="utf-8"), tuple(things))


@cache
def faults(name: str) -> list[Mutant]:
    return sample(page(name), ALL, 2, seed=2024)


@contextmanager
def importable(name: str) -> Iterator[None]:
    """Make a corpus source importable under its bare name, and forget it again."""
    spec = importlib.util.spec_from_file_location(name, CORPUS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield
    finally:
        del sys.modules[name]


def test_the_corpus_is_large_and_varied_enough() -> None:
    assert len(NAMES) >= 30
    assert len(STYLES) == 6
    assert len({path.stem.split(".")[1] for path in PAGES if path.parent.name == "other"}) >= 10
    assert {path.stem for path in CORPUS.glob("*.py")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_sources_parse_and_are_of_a_real_size(name: str) -> None:
    text = (CORPUS / f"{name}.py").read_text(encoding="utf-8")
    ast.parse(text)
    assert 20 <= len(text.splitlines()) <= 120


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_examples_on_true_pages_are_true(path: Path) -> None:
    blocks = [block for block in FENCE.findall(path.read_text(encoding="utf-8")) if ">>>" in block]
    name = path.stem.split(".")[0]
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    with importable(name):
        for number, block in enumerate(blocks):
            test = parser.get_doctest(block, {}, f"{path.name}[{number}]", str(path), 0)
            assert runner.run(test).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_everything_public_is_named_on_its_page(name: str) -> None:
    one = page(name)
    missing = [thing.name for thing in one.things if not re.search(rf"\b{thing.name}\b", one.text)]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_each_fault_changes_its_page_at_a_line_that_exists(name: str) -> None:
    true_text = page(name).text
    for fault in faults(name):
        assert fault.text != true_text, fault.kind
        last = len(fault.text.splitlines()) + 4
        assert all(start <= min(last, end) for start, end in fault.spans), fault.kind


def test_the_same_seed_plants_the_same_faults() -> None:
    assert sample(page("money"), ALL, 2, seed=2024) == faults("money")
    assert sample(page("money"), ALL, 1, seed=1) != sample(page("money"), ALL, 1, seed=2)


def test_all_kinds_are_planted_in_the_styles_that_can_hold_them() -> None:
    planted = {(fault.kind, fault.style) for name in NAMES for fault in faults(name)}
    kinds = {kind for kind, _ in planted}
    assert len(kinds) >= 40
    assert sum(len(faults(name)) for name in NAMES) >= 300
    # Prose has no lists of parameters to leave one out of.
    lists_only = {"drop parameter", "phantom parameter", "wrong type", "exception added"}
    for kind in ("wrong default", "drop exception", "misquoted message", "denied exception", "rename symbol"):
        assert {style for one, style in planted if one == kind} == set(STYLES)
    for kind in lists_only:
        assert {style for one, style in planted if one == kind} == set(STYLES) - {"prose"}
