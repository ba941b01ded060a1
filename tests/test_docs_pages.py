"""Written documentation: every configuration key is explained, and links between pages lead somewhere."""

import re
from pathlib import Path

import pytest

from reflexion.config import Config, Role, RoleSettings, ServerSettings
from reflexion.prompts import load_prompts
from reflexion.text.thinking import code_spans

REPOSITORY = Path(__file__).parent.parent
CONFIGURATION = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
KEYS = [*Config.model_fields, *RoleSettings.model_fields, *ServerSettings.model_fields]
PAGES = sorted(path for folder in (".", "docs", "benchmarks") for path in (REPOSITORY / folder).glob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_has_a_row(key: str) -> None:
    assert re.search(rf"^\| `{key}` \|", CONFIGURATION, re.MULTILINE)


@pytest.mark.parametrize("pipeline", ["docs", "code"])
def test_every_text_of_a_role_has_a_row_with_its_placeholders(pipeline: str) -> None:
    for role, texts in load_prompts(pipeline, None).words.items():
        assert role in list(Role)
        for key, text in texts.items():
            row = re.search(rf"^\| {role} \| `{key}` \|.*\| (.+) \|$", CONFIGURATION, re.MULTILINE)
            assert row, (role, key)
            assert set(re.findall(r"\$(\w+)", row[1])) == set(re.findall(r"\$(\w+)", text)), (role, key)


def anchors(page: Path) -> set[str]:
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def without_code(text: str) -> str:
    kept, at = [], 0
    for start, end in code_spans(text):
        kept.append(text[at:start])
        at = max(at, end)
    return "".join([*kept, text[at:]])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_relative_links_resolve(page: Path) -> None:
    for target in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = page.parent / name if name else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_is_named_is_there(page: Path) -> None:
    files = {path.relative_to(REPOSITORY).as_posix(): path for path in (REPOSITORY / "tests").rglob("*.py")}
    text = page.read_text(encoding="utf-8")
    assert {name for name in re.findall(r"`(tests/[\w/]+\.py)`", text) if "test_X" not in name} <= files.keys()
    named = set(re.findall(r"`(test_\w+)`", text))
    defined = {name for path in files.values() for name in re.findall(r"def (test_\w+)\(", path.read_text("utf-8"))}
    assert named <= defined | {path.stem for path in files.values()}
