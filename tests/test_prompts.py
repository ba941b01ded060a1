"""Prompts are data: what a user's own TOML may replace, and how it is checked."""

import tomllib
from pathlib import Path

import pytest

from reflexion.errors import ConfigError
from reflexion.prompts import Prompts, as_toml, load_prompts


def own(folder: Path, text: str) -> Prompts:
    (folder / "docs.toml").write_text(text, encoding="utf-8")
    return load_prompts("docs", folder)


def test_the_words_of_one_role_are_replaced_and_the_others_stay(tmp_path: Path) -> None:
    prompts = own(tmp_path, '[CRITIC]\nsystem = "Grade it. It costs $$5."\n')
    assert prompts.fill("CRITIC", "system") == "Grade it. It costs $5."
    assert prompts.words["GENERATOR"] == load_prompts("docs", None).words["GENERATOR"]
    assert prompts.origin["CRITIC", "system"].endswith("docs.toml")
    assert prompts.origin["CRITIC", "review"] == "built in"


def test_what_is_filled_in_is_never_read_as_a_template() -> None:
    text = load_prompts("docs", None).fill(
        "GENERATOR", "draft", name="$source", source="cost = $name ${x} $$ $", facts=""
    )
    assert "Document this source file: $source" in text
    assert "cost = $name ${x} $$ $" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[CRITIC", "not TOML"),
        ('CRITIC = "x"', "should be a table"),
        ('[WRITER]\nsystem = "x"', "unknown role"),
        ('[CRITIC]\nsistem = "x"', "unknown key"),
        ('[CRITIC]\nsystem = ""', "not empty"),
        ("[CRITIC]\nsystem = 1", "not empty"),
        ('[CRITIC]\nsystem = "$document"', "unknown placeholder $document"),
        ('[CRITIC]\nreview = "$name $source"', "$document is missing"),
        ('[CRITIC]\nsystem = "costs $ 5"', "$$"),
    ],
)
def test_own_words_are_checked_at_the_start(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        own(tmp_path, text)
    assert said in str(error.value)
    assert "docs.toml" in str(error.value)


def test_a_folder_without_words_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"docs\.toml cannot be read"):
        load_prompts("docs", tmp_path)


def test_what_is_shown_can_be_used(tmp_path: Path) -> None:
    shown = as_toml(own(tmp_path, '[CRITIC]\nsystem = \'a \\ and """ inside\'\n'))
    assert own(tmp_path, shown).fill("CRITIC", "system") == 'a \\ and """ inside'
    assert set(tomllib.loads(shown)) == {"GENERATOR", "CRITIC", "ADJUDICATOR"}
