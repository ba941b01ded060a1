"""The folder of a result: what may be replaced, and what a kill leaves."""

import json
from pathlib import Path

import pytest

from reflexion.errors import InputError
from reflexion.team import folder as folders

FILES = {"solution.py": "x = 1\n", "test_solution.py": "def test(): ...\n", "report.md": "# Verified\n"}
RUN = {"outcome": "accepted", "request_sha256": "a"}


def write(folder: Path, outcome: str = "accepted", **files: str) -> None:
    folders.write(folder, FILES | files, RUN | {"outcome": outcome})


def test_what_we_wrote_may_be_written_again(tmp_path: Path) -> None:
    write(tmp_path / "out")
    (tmp_path / "out" / "__pycache__").mkdir()
    folders.check(tmp_path / "out", overwrite=False)
    held = folders.look(tmp_path / "out")
    assert held.strange == ()
    assert held.run is not None
    assert held.run["outcome"] == "accepted"


@pytest.mark.parametrize("name", ["solution.py", "test_solution.py", "report.md", "run.json"])
def test_an_edit_is_seen(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).write_text((tmp_path / name).read_text(encoding="utf-8") + "\n# mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not as reflexion wrote it; --overwrite"):
        folders.check(tmp_path, overwrite=False)
    folders.check(tmp_path, overwrite=True)


def test_a_changed_value_in_run_json_is_an_edit(tmp_path: Path) -> None:
    write(tmp_path)
    run = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    (tmp_path / "run.json").write_text(json.dumps(run | {"outcome": "not accepted"}), encoding="utf-8")
    assert folders.look(tmp_path).run is None


def test_a_file_of_somebody_else_is_seen_and_never_removed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt"):
        folders.check(tmp_path, overwrite=False)
    write(tmp_path)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_what_a_kill_leaves_between_two_files_is_still_ours(tmp_path: Path) -> None:
    write(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    new = {name: f"{text}# new\n" for name, text in FILES.items()}
    (tmp_path / "report.md").unlink()
    (tmp_path / "report.md").mkdir()  # The write of the report fails, after that of the others.
    with pytest.raises(OSError, match="directory"):
        folders.write(tmp_path, new, RUN)
    (tmp_path / "report.md").rmdir()
    for name in FILES:
        (tmp_path / name).write_bytes(before[name])
        if name != "report.md":
            assert name not in folders.look(tmp_path).strange
        (tmp_path / name).write_text(new[name], encoding="utf-8")
        assert name not in folders.look(tmp_path).strange


def test_files_that_a_result_no_longer_has_are_removed(tmp_path: Path) -> None:
    write(tmp_path)
    folders.write(tmp_path, {"report.md": "# Not verified\n"}, RUN | {"outcome": "not accepted"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.md", "run.json"]


def test_what_somebody_else_wrote_is_not_removed_with_them(tmp_path: Path) -> None:
    """With --overwrite a result may go into a folder that has a solution.py of its user."""
    write(tmp_path)
    for name in ("solution.py", "test_solution.py"):
        (tmp_path / name).write_text("# mine\n", encoding="utf-8")
    folders.write(tmp_path, {"report.md": "# Not verified\n"}, RUN | {"outcome": "not accepted"})
    assert {(tmp_path / name).read_text(encoding="utf-8") for name in FILES if name != "report.md"} == {"# mine\n"}


def test_a_verified_result_is_not_replaced_by_one_that_is_not(tmp_path: Path) -> None:
    write(tmp_path)
    assert folders.destination(tmp_path, "not accepted") == tmp_path / "draft"
    assert folders.destination(tmp_path, "accepted") == tmp_path
    write(tmp_path, "not accepted")
    assert folders.destination(tmp_path, "not accepted") == tmp_path


@pytest.mark.parametrize("what", ["file", "below a file"])
def test_places_where_no_folder_can_be(tmp_path: Path, what: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="folder"):
        folders.check(tmp_path / "file" if what == "file" else tmp_path / "file" / "out", overwrite=True)
