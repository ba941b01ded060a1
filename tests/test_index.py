"""The index: links that lead to the pages, summaries that are safe, and hand edits that are seen."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reflexion.index import SUMMARY_LENGTH, IndexEntry, render_index, summary_of
from reflexion.marker import read_marker
from reflexion.pages import is_ours
from tests.support import PAGE

NASTY = st.text(st.sampled_from(list("ab A.`*_[](){}<>#+-!|~&:;/\\$\"'\n\t=1é\u202e")), max_size=30)


def inline(text: str) -> list[Token]:
    """The inline tokens of all blocks of a text."""
    return [child for token in MarkdownIt("commonmark").enable("table").parse(text) for child in token.children or []]


def test_an_index_reads_like_this() -> None:
    entries = [
        IndexEntry(Path("b.md"), "b.py", "accepted", "Adds numbers."),
        IndexEntry(Path("pkg/a_b.md"), "pkg/a_b.py", "not accepted", "Says `x`."),
        IndexEntry(None, "pkg/c.py", "failed"),
        IndexEntry(Path("pkg/deep/d (1).md"), "pkg/deep/d (1).py", "accepted"),
    ]
    body, marker = read_marker(render_index(entries))
    assert body == (
        "# Contents\n\n4 sources: 2 accepted, 1 not accepted, 1 failed.\n\n"
        "- [b.py](b.md): Adds numbers.\n\n"
        "## pkg/\n\n"
        "- [pkg/a\\_b.py](pkg/a_b.md) (not accepted): Says `x`.\n"
        "- pkg/c.py (failed)\n\n"
        "## pkg/deep/\n\n"
        "- [pkg/deep/d (1).py](pkg/deep/d%20%281%29.md)\n"
    )
    assert marker is not None
    assert (marker.outcome, marker.source) == ("index", "")
    assert render_index(entries[::-1]) == render_index(entries)


def test_a_name_that_is_no_text_keeps_its_bytes_in_the_link() -> None:
    text = render_index([IndexEntry(Path("caf\udce9.md"), "caf\udce9.py", "accepted")])
    assert "- [caf\ufffd.py](caf%E9.md)" in text
    assert text.encode()


def test_an_empty_index_says_so() -> None:
    assert read_marker(render_index([]))[0] == "# Contents\n\nNo sources.\n"


def test_an_edited_index_is_seen() -> None:
    page = render_index([IndexEntry(Path("b.md"), "b.py", "accepted", "Adds numbers.")])
    assert is_ours(page)
    assert not is_ours(page.replace("Adds", "Subtracts"))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12),
        min_size=1,
        max_size=3,
    )
)
def test_every_link_leads_to_its_page_and_shows_its_label(parts: list[str]) -> None:
    page = Path("x", *(part if part.strip(".") else "dots" for part in parts)).with_suffix(".md")
    text = read_marker(render_index([IndexEntry(page, page.as_posix(), "accepted")]))[0]
    (link,) = [token for token in inline(text) if token.type == "link_open"]
    href = str(link.attrs["href"])
    assert unquote(href, errors="surrogateescape") == page.as_posix()
    assert href.isascii()
    assert ":" not in href
    assert sum(line.startswith("- ") for line in text.split("\n")) == 1


@settings(max_examples=200, deadline=None)
@given(NASTY, NASTY)
def test_no_label_and_no_summary_means_anything_to_markdown(label: str, page: str) -> None:
    summary = summary_of(f"{page}\n")
    text = read_marker(render_index([IndexEntry(Path("a.md"), label, "accepted", summary)]))[0]
    tokens = MarkdownIt("commonmark").parse(text)
    kinds = {token.type for token in inline(text)}
    assert kinds <= {"text", "text_special", "link_open", "link_close", "code_inline"}
    assert [token.type for token in tokens if token.type.endswith("_open")] == [
        "heading_open",
        "paragraph_open",
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
    ]
    assert sum(token.type == "link_open" for token in inline(text)) == 1


@pytest.mark.parametrize(
    ("page", "summary"),
    [
        (PAGE, "A module that adds numbers."),
        ("# T\n\nOne. Two.\n", "One."),
        ("# T\n\nOne (see `a.b. C`). Two.\n", "One (see `a.b. C`)."),
        ("# T\n\nUses e.g. Redis, i.e. a cache. Two.\n", "Uses e.g. Redis, i.e. a cache."),
        ("# T\n\nVersion 3.11 is needed! Two.\n", "Version 3.11 is needed!"),
        ("# T\n\nOver\ntwo lines.\n", "Over two lines."),
        ("# T\n\n**Bold** and [a link](x.md) with *a_b* & <b>tags</b>.\n", "Bold and a link with a\\_b \\& tags."),
        ("# T\n\n![badge](x.svg)\n\nText.\n", "Text."),
        ("# T\n\n<!-- note -->\n\n> Quoted.\n\n- Item.\n\n```\ncode\n```\n\n| a |\n|---|\n| b |\n\nText.\n", "Text."),
        ("# T\n\n<div>x</div>\n", ""),
        ("# T\n", ""),
        ("", ""),
        ("No heading", "No heading"),
        ("# T\n\nA ``b`c`` d.\n", "A b\\`c d."),
    ],
)
def test_a_summary_is_the_first_sentence_of_the_first_paragraph(page: str, summary: str) -> None:
    assert summary_of(page) == summary


def test_a_summary_of_our_own_page_does_not_show_its_closing_comment() -> None:
    assert summary_of(render_index([])) == "No sources."


def test_a_long_summary_ends_at_a_word() -> None:
    summary = summary_of("word " * 100)
    assert summary == "word " * 39 + "word \u2026"
    assert len(summary) <= SUMMARY_LENGTH + 2
    assert summary_of("`" + "x" * 300 + "`").startswith("`xxx")


@settings(max_examples=200, deadline=None)
@given(st.one_of(NASTY, st.text(max_size=100)))
def test_no_page_raises_and_a_summary_is_one_short_line(page: str) -> None:
    summary = summary_of(page)
    assert "\n" not in summary
    # Each character is escaped at most.
    assert len(summary) <= 2 * SUMMARY_LENGTH + 2


def test_only_the_beginning_of_a_page_of_nonsense_is_read() -> None:
    nonsense = "# T\n\n" + "[" * 8_000
    assert summary_of(nonsense * 100) == summary_of(nonsense) != ""
