"""A disk that is full, or small: what is kept on it takes little room, and a line says what to do."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from reflexion.checkpoints import LOG_PAGES, Checkpoints
from reflexion.errors import InputError
from reflexion.runs import RunRecord
from tests.ollama_double import OllamaDouble
from tests.support import CommandLine, scripted, small_disk

KIB = 1024


def log_of(folder: Path) -> Path:
    return folder / ".reflexion" / "checkpoints.sqlite-wal"


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4 * KIB))


def make_room(disk: Path, room: int = 200 * KIB) -> None:
    filler = disk / "filler"
    os.truncate(filler, filler.stat().st_size - room)


def test_the_log_of_steps_that_are_over_does_not_grow(tmp_path: Path) -> None:
    with Checkpoints(tmp_path) as kept:
        for number in range(500):
            kept.keep_cut("thread", f"{number} " * 1_000)
        assert log_of(tmp_path).stat().st_size < 2 * LOG_PAGES * 4 * KIB


def test_what_a_kill_left_in_the_log_is_in_the_database_and_its_room_free(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with Checkpoints(tmp_path / "old") as kept:
        kept.keep_cut("thread", "a cut")
        assert log_of(tmp_path / "old").stat().st_size > 0
        shutil.copytree(tmp_path / "old" / ".reflexion", tmp_path / "new" / ".reflexion")  # As a kill leaves it.
    with Checkpoints(tmp_path / "new") as taken_up:
        assert log_of(tmp_path / "new").stat().st_size == 0
        assert taken_up.cut_of("thread") == "a cut"


def test_a_folder_is_done_on_a_small_disk(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    for number in range(20):
        cli.source(f"src/m{number}.py")
    scripted(ollama_double)
    with small_disk(cli.folder / "disk", "2m") as disk:
        fill(disk)
        make_room(disk, 800 * KIB)
        ended = cli.run("-i", "src", "-o", "disk/output", "--jobs", "4")
        assert ended.code == 0, ended.out + ended.err


def test_where_not_even_the_log_can_be_folded_nothing_begins_and_nothing_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        with Checkpoints(tmp_path / "old") as kept:
            for number in range(30):
                kept.keep_cut(f"thread {number}", "a cut " * 500)
            shutil.copytree(tmp_path / "old" / ".reflexion", disk / ".reflexion")  # As a kill leaves it.
        fill(disk)
        with pytest.raises(InputError, match="database or disk is full; make room on the disk, and run the same comm"):
            Checkpoints(disk)

        make_room(disk)
        with Checkpoints(disk) as taken_up:
            assert taken_up.cut_of("thread 29") == "a cut " * 500


def test_a_record_that_has_no_room_says_what_to_do(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        fill(disk)
        with pytest.raises(InputError, match="No space left on device; make room on the disk, and run the same comm"):
            RunRecord(disk, {"x": "y" * 5_000}, {}).begin()
