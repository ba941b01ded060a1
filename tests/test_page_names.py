"""The names of the pages of a folder: they mirror its tree, and no two sources share one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.errors import InputError
from reflexion.loaders import SourcePath
from reflexion.walk import page_paths


def sources(*paths: str) -> list[SourcePath]:
    return [SourcePath(Path("in", path), Path(path)) for path in paths]


def page_names(*paths: str) -> list[str]:
    return [path.as_posix() for path in page_paths(sources(*paths), Path("out"))]


def test_pages_mirror_the_tree_and_siblings_keep_their_whole_name() -> None:
    assert page_names("a/utils.py", "b.py") == ["out/a/utils.md", "out/b.md"]
    assert page_names("utils.c", "utils.h", "a/utils.py") == ["out/utils.c.md", "out/utils.h.md", "out/a/utils.md"]


def test_the_name_of_the_index_stays_free() -> None:
    assert page_names("index.py", "a/index.js") == ["out/index.py.md", "out/a/index.md"]
    assert page_names("Index.py") == ["out/Index.py.md"]


@pytest.mark.parametrize(
    "paths",
    [
        ("a.py", "A.py"),
        ("pkg/a.py", "Pkg/a.py"),
        ("a.py", "a.draft.py"),
        ("a.py", "A.Draft.js"),
        ("utils.c", "utils.h", "utils.c.py"),
        ("stra\u00dfe.py", "STRASSE.py"),
        ("caf\u00e9.py", "cafe\u0301.py"),
        ("a.py", "a.md/b.py"),
        ("index.py", "index.py.py"),
    ],
)
def test_two_sources_for_one_page_are_refused_by_name(paths: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"in/.* and in/.* would both be written to .*--exclude") as error:
        page_paths(sources(*paths), Path("out"))
    assert "\n" not in str(error.value)


def test_two_names_that_look_the_same_are_told_apart() -> None:
    with pytest.raises(InputError) as error:
        page_paths(sources("caf\u00e9.py", "cafe\u0301.py"), Path("out"))
    assert str(error.value).startswith("in/caf\\xe9.py and in/cafe\\u0301.py would both be written to caf")


PATHS = st.lists(
    st.builds(
        lambda folder, stem, suffix: f"{folder}{stem}{suffix}",
        st.sampled_from(["", "a/", "A/", "a.md/"]),
        st.sampled_from(["a", "A", "b", "a.draft", "index", "a.py"]),
        st.sampled_from([".py", ".js", ".c"]),
    ),
    unique=True,
    max_size=6,
)


@given(PATHS)
def test_pages_and_drafts_never_share_a_name_on_any_file_system(paths: list[str]) -> None:
    try:
        pages = page_names(*paths)
    except InputError:
        assert len(paths) > 1
        return
    taken = [name.casefold() for page in pages for name in (page, page.removesuffix(".md") + ".draft.md")]
    assert len(set(taken)) == len(taken)
    assert "out/index.md" not in taken
