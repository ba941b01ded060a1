"""Documentation and code agree: generated pages, and the names of the house."""

from pathlib import Path

import pytest

from scripts.make_docs import PAGES

REPOSITORY = Path(__file__).parent.parent


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    written = (REPOSITORY / "docs" / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run `make docs`"


def test_every_pipeline_stands_in_its_five_places() -> None:
    for path in (REPOSITORY / "src" / "reflexion" / "pipelines").glob("[a-z]*.py"):
        stem = path.stem
        for place in (f"src/reflexion/prompts/{stem}.toml", f"tests/pipelines/test_{stem}.py", f"benchmarks/{stem}.py"):
            assert (REPOSITORY / place).exists(), place
        assert f"## `reflexion {stem}`" in (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")


def test_no_file_grows_past_its_limit() -> None:
    pipelines = REPOSITORY / "src" / "reflexion" / "pipelines"
    for folder in ("src", "tests", "benchmarks", "scripts"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            limit = 300 if path.parent == pipelines else 400
            assert len(path.read_text(encoding="utf-8").splitlines()) <= limit, path
