"""Blocks that survive: never lost, never doubled, byte for byte, under their heading wherever it goes."""

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflexion.keep import CLOSE, HOMELESS_TITLE, OPEN, Block, extract, insert, without_blocks

NOTE = f"{OPEN}\nMine.\n{CLOSE}"
OTHER = f"{OPEN}\nAlso *mine*,\n\n  in two parts.\t\n{CLOSE}"
PLAIN = "# Numbers\n\nAbout.\n\n## `add(a, b)`\n\nAdds.\n\n### Parameters\n\n- `a`: one.\n\n## `sub(a)`\n\nSubtracts.\n"


def moved(old: str, new: str) -> str:
    return insert(new, extract(old).blocks).text


def texts(page: str) -> list[str]:
    return [block.text for block in extract(page).blocks]


@pytest.mark.parametrize("line", ["About.", "## `add(a, b)`", "Adds.", "### Parameters", "- `a`: one.", "Subtracts."])
def test_an_unchanged_page_gets_its_blocks_back_where_they_were(line: str) -> None:
    page = PLAIN.replace(f"{line}\n", f"{line}\n\n{NOTE}\n\n{OTHER}\n", 1)
    assert texts(page) == [NOTE, OTHER]
    assert moved(page, PLAIN) == page
    assert without_blocks(page) == PLAIN


def test_a_block_before_everything_stays_there() -> None:
    page = f"{NOTE}\n\n{PLAIN}"
    assert moved(page, PLAIN) == page
    assert moved(page, "") == f"{NOTE}\n"
    assert without_blocks(page) == PLAIN


def test_a_block_goes_with_its_heading_and_stays_behind_its_line() -> None:
    page = PLAIN.replace("Adds.\n", f"Adds.\n\n{NOTE}\n")
    new = "# Numbers\n\n## `sub(a)`\n\nSubtracts.\n\n## `add(a, b)`\n\nFirst.\n\nAdds.\n\nLast.\n"
    assert moved(page, new) == new.replace("Adds.\n", f"Adds.\n\n{NOTE}\n")
    reworded = new.replace("Adds.", "Gives the sum.")
    assert moved(page, reworded) == f"{reworded}\n{NOTE}\n"


@pytest.mark.parametrize(
    "heading",
    ["## add", "### Function `add(a: int, b: int = 1) -> int`", "## `add`", "`add()`\n-------", "# `add(a, b)`"],
)
def test_a_heading_is_known_by_its_symbol_when_its_words_changed(heading: str) -> None:
    page = PLAIN.replace("Adds.\n", f"Adds.\n\n{NOTE}\n")
    new = f"# Sums and more\n\n## `sub(a)`\n\nSubtracts.\n\n{heading}\n\nText.\n\n## The end\n\nText.\n"
    assert moved(page, new) == new.replace("\n\n## The end", f"\n\n{NOTE}\n\n## The end")


def test_methods_of_the_same_name_are_told_apart_by_their_class() -> None:
    old = f"# M\n\n## Class `A`\n\n### `close()`\n\nOf A.\n\n## Class `B`\n\n### `close()`\n\nOf B.\n\n{NOTE}\n"
    new = "# M\n\n## `A.close()`\n\nOne.\n\n## `B.close(now)`\n\nTwo.\n\n## Notes\n\nText.\n"
    assert moved(old, new) == new.replace("Two.\n", f"Two.\n\n{NOTE}\n")


def test_a_section_of_a_symbol_is_found_below_it_else_the_symbol_is() -> None:
    old = PLAIN.replace("- `a`: one.\n", f"- `a`: one.\n\n{NOTE}\n")
    new = "# Numbers\n\n## `sub(a)`\n\n### Parameters\n\nText.\n\n## `add(a)`\n\nText.\n\n### Parameters\n\nText.\n"
    assert moved(old, new) == f"{new}\n{NOTE}\n"
    without = new[: new.rindex("\n### Parameters")]
    assert moved(old, without) == f"{without}\n{NOTE}\n"


def test_the_title_is_the_title_whatever_it_says() -> None:
    old = PLAIN.replace("About.\n", f"About.\n\n{NOTE}\n")
    assert moved(old, "# Sums\n\nText.\n\n## More\n") == f"# Sums\n\nText.\n\n{NOTE}\n\n## More\n"


def test_of_headings_with_the_same_words_the_same_one_is_taken() -> None:
    old = f"# T\n\n## Note\n\nOne.\n\n## Note\n\nTwo.\n\n{NOTE}\n"
    assert moved(old, "# T\n\n## Note\n\nA.\n\n## Note\n\nB.\n\n## Note\n") == (
        f"# T\n\n## Note\n\nA.\n\n## Note\n\nB.\n\n{NOTE}\n\n## Note\n"
    )
    assert moved(old, "# T\n\n## Note\n\nA.\n") == f"# T\n\n## Note\n\nA.\n\n{NOTE}\n"


def test_a_block_without_a_home_goes_to_the_end_and_comes_home_to_nothing_new() -> None:
    old = PLAIN.replace("Adds.\n", f"Adds.\n\n{NOTE}\n").replace("About.\n", f"About.\n\n{OTHER}\n")
    new = "# Numbers\n\nAbout.\n\n## `sub(a)`\n\nSubtracts.\n"
    first = insert(new, extract(old).blocks)
    assert [block.text for block in first.homeless] == [NOTE]
    assert first.text == new.replace("About.\n", f"About.\n\n{OTHER}\n") + f"\n## {HOMELESS_TITLE}\n\n{NOTE}\n"
    assert moved(first.text, new) == first.text
    assert moved(first.text, first.text) == first.text


def test_a_block_that_a_model_copied_is_there_once() -> None:
    old = PLAIN.replace("Adds.\n", f"Adds.\n\n{NOTE}\n")
    copied = f"{NOTE}\n\n{old}\n{NOTE}\n"
    assert moved(old, copied) == old


def test_a_model_cannot_make_a_block() -> None:
    assert insert(f"# T\n\n{OPEN}\nText.\n{CLOSE}\n", ()).text == "# T\n\nText.\n"
    old = PLAIN.replace("Adds.\n", f"Adds.\n\n{NOTE}\n")
    assert texts(moved(old, PLAIN.replace("About.\n", f"{OPEN}\nAbout.\n{CLOSE}\n{CLOSE}\n"))) == [NOTE]


def test_comments_in_fences_and_code_are_text() -> None:
    page = f"# T\n\n```\n{NOTE}\n```\n\nWrite `{OPEN}` before.\n"
    assert extract(page) == extract("")
    assert insert(page, ()).text == page
    assert without_blocks(page) == page


def test_a_fence_that_a_block_leaves_open_does_not_reach_beyond_it() -> None:
    block = f"{OPEN}\n```\nopen\n{CLOSE}"
    page = f"# T\n\n{block}\n\n## `add()`\n\n{NOTE}\n"
    assert texts(page) == [block, NOTE]
    assert moved(page, "# T\n\n## `add()`\n") == page


def test_a_page_that_leaves_a_fence_open_loses_no_block() -> None:
    old = PLAIN.replace("Adds.\n", f"Adds.\n\n{NOTE}\n")
    result = insert("# T\n\n```\nopen\n", extract(old).blocks)
    assert result.text == f"{NOTE}\n\n# T\n\n```\nopen\n"
    assert [block.text for block in result.homeless] == [NOTE]


@pytest.mark.parametrize(
    ("page", "kept", "problems"),
    [
        (f"# T\n\nText.\n\n{OPEN}\nMine.\n\n## Next\n", [NOTE], [f"line 5: {OPEN} without {CLOSE}"]),
        (f"# T\n\n{OPEN}\nMine.\n\n<!-- reflexion a=b -->\n", [NOTE], [f"line 3: {OPEN} without {CLOSE}"]),
        (f"# T\n\nMine.\n{CLOSE}\n\n## Next\n", [NOTE], [f"line 4: {CLOSE} without {OPEN}"]),
        (f"# T\n\n{OPEN}\nMine.\n{NOTE}\n", [NOTE, NOTE], [f"line 3: {OPEN} without {CLOSE}"]),
        (f"# T\n\n{NOTE}\nMine.\n{CLOSE}\n", [NOTE, NOTE], [f"line 7: {CLOSE} without {OPEN}"]),
        (f"# T\n\n{OPEN} Mine.\n{NOTE}\n", [NOTE], [f"line 3: {OPEN} and {CLOSE} count only on a line of their own"]),
        ("# T\n\n  <!--keep-->\t\nMine.\n<!--  /keep -->\n", ["  <!--keep-->\t\nMine.\n<!--  /keep -->"], []),
    ],
)
def test_a_comment_without_its_counterpart_is_mended_and_told(page: str, kept: list[str], problems: list[str]) -> None:
    found = extract(page)
    assert [block.text for block in found.blocks] == kept
    assert list(found.problems) == problems
    assert (without_blocks(page) == page) is bool(problems)
    again = moved(page, "# T\n\nNew.\n")
    assert texts(again) == kept
    assert extract(again).problems == ()


LINE = st.sampled_from(
    [
        *["", "", "Text.", "More text.", "- item", "> quote", "    code", "```", "~~~", "\\`", "\u2028", "a\r", "\x0c"],
        *[
            "# T",
            "## `add(a)`",
            "## `sub()`",
            "### Parameters",
            "## Class `A`",
            "## Note",
            "===",
            "---",
            f"## {HOMELESS_TITLE}",
        ],
        *["<div>", "</div>", "<!-- open", "-->", "| a |", "|---|"],
    ]
)
MARK = st.sampled_from([OPEN, CLOSE, f"  {OPEN}", f"{OPEN} x", f"> {OPEN}", f"      {CLOSE}", "<!-- reflexion a=b -->"])
TEXT = st.lists(LINE, max_size=14).map("\n".join)
MARKED = st.lists(st.one_of(LINE, LINE, MARK), max_size=16).map("\n".join)
CONTENT = st.lists(LINE, max_size=4)
PAGE = st.lists(
    st.one_of(LINE, LINE, CONTENT.map(lambda lines: "\n".join([OPEN, *lines, CLOSE]))), min_size=1, max_size=14
).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(st.one_of(PAGE, MARKED), st.one_of(TEXT, MARKED))
def test_nothing_is_lost_and_nothing_doubled(old: str, new: str) -> None:
    blocks = extract(old).blocks
    once = insert(new, blocks)
    assert Counter(texts(once.text)) == Counter(block.text for block in blocks)
    assert all(block.text in once.text for block in blocks)
    twice = moved(once.text, once.text)
    assert Counter(texts(twice)) == Counter(block.text for block in blocks)
    assert Counter(texts(moved(once.text, new))) == Counter(block.text for block in blocks)


ORDINARY = st.sampled_from(
    ["", "", "Text.", "More text.", "- item", "# T", "## `add(a)`", "## `sub()`", "### Parameters", "## Note"]
)
ORDINARY_PAGE = st.lists(
    st.one_of(ORDINARY, ORDINARY, CONTENT.map(lambda lines: "\n".join([OPEN, *lines, CLOSE]))), max_size=12
).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(ORDINARY_PAGE, st.lists(ORDINARY, max_size=12).map("\n".join))
@example("More text.\n<!-- keep -->\n<!-- /keep -->", "More text.\n\n\nText.")
def test_twice_is_once(old: str, new: str) -> None:
    once = moved(old, new)
    assert moved(once, once) == once
    assert extract(once).problems == ()


@settings(max_examples=60, deadline=None)
@given(MARKED)
def test_whatever_is_between_two_comments_is_in_a_block(page: str) -> None:
    kept = extract(page)
    lines = page.split("\n")
    for block in kept.blocks:
        first, *inside, last = block.text.split("\n")
        assert first.strip() == OPEN
        assert last.strip() == CLOSE
        assert not any(line.strip() in (OPEN, CLOSE) for line in inside)
        assert "\n".join(inside) in page
    if OPEN not in page and CLOSE not in page:
        assert (kept.blocks, kept.problems, lines) == ((), (), page.split("\n"))


@settings(max_examples=60, deadline=None)
@given(TEXT, CONTENT, st.integers(0, 14))
def test_a_block_that_a_person_adds_between_blank_lines_does_not_count_as_an_edit(
    text: str, content: list[str], at: int
) -> None:
    lines = f"# T\n\n{text}".strip("\n").split("\n")
    blanks = [number for number, line in enumerate(lines) if not line and lines[number - 1] and lines[number + 1]]
    place = blanks[at % len(blanks)] if blanks else len(lines)
    block = "\n".join([OPEN, *content, CLOSE])
    page = "\n".join([*lines[:place], "", block, *lines[place:]]) + "\n"
    if (texts(page), extract(page).problems) == ([block], ()):  # Else it stands in a fence.
        assert without_blocks(page).strip("\n") == "\n".join(lines).strip("\n")


def test_text_that_no_block_is_in_is_returned_as_it_is() -> None:
    assert insert("no line end", ()).text == "no line end"
    assert insert("", ()).text == ""
    assert without_blocks("") == ""
    assert insert("", [Block(NOTE)]).text == f"{NOTE}\n"
