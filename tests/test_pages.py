"""Pages on disk: the closing comment, what may be overwritten, and writes that are whole or not at all."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion import pages
from reflexion.errors import InputError
from reflexion.marker import Marker, read_marker

SHA = "a" * 64


def rendered(
    text: str = "# Page\n\nText.\n", outcome: str = "accepted", score: int | None = 97, source: str = "a.py"
) -> str:
    return pages.render(text, Marker(outcome, score, source, SHA))


@given(st.text(max_size=200), st.sampled_from(["accepted", "not accepted"]), st.text(max_size=40))
def test_what_is_written_is_read_back(text: str, outcome: str, source: str) -> None:
    page = rendered(text.replace("\r", ""), outcome, None, source)
    body, marker = read_marker(page)
    assert marker is not None
    assert (marker.outcome, marker.score, marker.source) == (outcome, None, source.encode("utf-8", "replace").decode())
    assert body.strip("\n") == text.replace("\r", "").strip("\n")
    assert pages.is_ours(page)


@given(st.text(max_size=300))
def test_any_text_is_a_page_with_or_without_a_marker(text: str) -> None:
    body, marker = read_marker(text)
    assert marker is not None or body == text


def test_an_edited_page_is_no_longer_ours() -> None:
    page = rendered()
    assert pages.is_ours(page)
    assert not pages.is_ours(page.replace("Text.", "Text, edited."))
    assert not pages.is_ours(page + "\nMore.\n")
    assert not pages.is_ours("# Somebody's page\n")


def test_the_comment_cannot_be_ended_by_a_path() -> None:
    page = rendered(source="evil -->\n<script>.py")
    assert page.rstrip().endswith("-->")
    assert page.count("-->") == 1
    assert read_marker(page)[1] is not None


def test_an_accepted_page_is_not_replaced_by_one_that_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert pages.destination(path, "not accepted") == path
    path.write_text(rendered(), encoding="utf-8")
    assert pages.destination(path, "accepted") == path
    assert pages.destination(path, "not accepted") == tmp_path / "a.draft.md"
    path.write_text(rendered(outcome="not accepted"), encoding="utf-8")
    assert pages.destination(path, "not accepted") == path


def test_pages_of_others_and_edited_ones_need_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    for content in ("# Mine\n", rendered().replace("Text", "Edited text"), "\xff"):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(InputError, match="--overwrite"):
            pages.WriteCheck(overwrite=False).check(path)
        pages.WriteCheck(overwrite=True).check(path)
    path.write_text(rendered(), encoding="utf-8")
    pages.WriteCheck(overwrite=False).check(path)
    path.write_bytes(rendered().replace("\n", "\r\n").encode())
    pages.WriteCheck(overwrite=False).check(path)


def test_an_input_is_never_an_output(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(rendered(), encoding="utf-8")
    (tmp_path / "link.md").symlink_to(path)
    with pytest.raises(InputError, match="is an input"):
        pages.WriteCheck([path], overwrite=True).check(tmp_path / "link.md")


@pytest.mark.parametrize("path", ["file.txt/a.md", "folder", "/proc/nowhere/a.md"])
def test_where_nothing_can_be_written_is_found_before(tmp_path: Path, path: str) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError):
        pages.WriteCheck(overwrite=True).check(tmp_path / path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_write_replaces_whole_files_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.md"
    pages.write_page(path, "one\n")
    pages.write_page(path, "two\r\n\ud800")
    assert path.read_bytes() == b"two\r\n?"
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_page(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.mkdir()
    with pytest.raises(OSError, match="irectory"):
        pages.write_page(path, "text")
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old", encoding="utf-8")
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    pages.write_page(tmp_path / "link.md", "new")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text(encoding="utf-8") == "new"


def test_records_are_for_their_owner_alone(tmp_path: Path) -> None:
    pages.write_atomically(tmp_path / "r.json", b"{}", mode=0o600)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o600


def test_leftovers_of_dead_processes_are_removed_and_others_stay(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = tmp_path / f".a.md.{ended.pid}{pages.TEMPORARY_SUFFIX}"
    alive = tmp_path / f".a.md.{os.getppid()}{pages.TEMPORARY_SUFFIX}"
    kept = tmp_path / ".a.md.x.reflexion-tmp"
    for path in (dead, alive, kept):
        path.touch()
    pages.remove_leftovers(tmp_path)
    assert (dead.exists(), alive.exists(), kept.exists()) == (False, True, True)


def test_a_batch_looks_at_its_inputs_once_however_many_pages_there_are(tmp_path: Path) -> None:
    inputs = [tmp_path / f"{number}.md" for number in range(2_000)]
    for path in inputs:
        path.touch()
    out = tmp_path / "out"
    out.mkdir()
    written = [out / path.name for path in inputs]
    for path in written:
        path.write_text(rendered(), encoding="utf-8")
    (out / "0.md").unlink()
    (out / "0.md").hardlink_to(inputs[0])
    check = pages.WriteCheck(inputs, overwrite=False)
    started = time.process_time()
    with pytest.raises(InputError, match="is an input"):
        check.check(written[0])
    for path in written[1:]:
        check.check(path)
    # Comparing each page with each input took forty times as long.
    assert time.process_time() - started < 2


def test_a_name_is_too_long_also_where_only_the_path_of_the_temporary_file_would_be(tmp_path: Path) -> None:
    folder, longest = tmp_path, os.pathconf(tmp_path, "PC_PATH_MAX") - 1
    while len(os.fsencode(folder)) < longest - 400:
        folder /= "d" * 200
    folder /= "d" * (longest - len("/") - len("/a.md") - len(os.fsencode(folder)))
    pages.require_name(tmp_path / "a.md")
    with pytest.raises(InputError, match="too long a name"):
        pages.require_name(tmp_path / "none" / f"{'x' * 300}.md")
    with pytest.raises(InputError, match="too long a name"):
        pages.require_name(folder / "a.md")
    folder.mkdir(parents=True)
    (folder / "a.md").touch()
    with pytest.raises(InputError, match="too long a name"):
        pages.require_name(folder / "a.md")


def test_a_pipe_in_the_place_of_a_page_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "index.md"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.open("wb").close())  # Or whoever reads it would wait for ever.
    writer.start()
    with pytest.raises(InputError, match=r"index\.md: is not a regular file"):
        pages.existing_page(path)
    with path.open("r+b", buffering=0):
        writer.join()


def test_a_link_that_leads_in_a_circle_is_no_place_for_a_page(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.symlink_to("a.md")
    with pytest.raises(InputError, match=r"a\.md: cannot be written: Too many levels of symbolic links"):
        pages.WriteCheck(overwrite=True).check(path)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        pages.write_page(path, "# Page\n")
    assert path.is_symlink()
