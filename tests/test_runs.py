"""Records of runs: listed, shown and reported, also those that a kill cut or that a newer version wrote."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reflexion.runs import find_records, new_run_id, read_record
from tests.ollama_double import OllamaDouble
from tests.support import CommandLine, scripted, sources


def test_runs_are_listed_shown_and_reported(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    sources(cli, "a", "b")
    scripted(ollama_double)
    ended = cli.run("-i", "src")
    [record] = find_records(cli.folder / "output")
    report = cli.folder / "output" / ".reflexion" / f"{record.stem}.html"
    assert f"Report: output/.reflexion/{report.name}" in re.sub(r"\s+", " ", ended.out)
    assert "src/a.py" in report.read_text(encoding="utf-8")
    assert record.stem in cli.run("runs").out
    shown = cli.run("runs", "show", record.stem).out
    assert "accepted" in shown
    assert "src/a.py" in shown
    report.unlink()
    assert cli.run("runs", "report", record.stem).code == 0
    assert report.exists()
    assert oct(report.stat().st_mode & 0o777) == "0o600"
    assert cli.run("runs", "show", "nothing").code == 2


def test_runs_of_one_second_stand_in_their_order() -> None:
    begun = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    moments = [begun + timedelta(microseconds=step) for step in (0, 1, 15, 16, 17, 999_999, 1_000_000)]
    ids = [new_run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert {len(run_id) for run_id in ids} == {len("20260102-030405-1a2b3c")}


def test_a_record_that_was_cut_by_a_kill_can_be_read(tmp_path: Path) -> None:
    head = {"record_version": 2, "run": "x"}
    path = tmp_path / ".reflexion" / "20260101-000000-abcdef.jsonl"
    path.parent.mkdir()
    path.write_text(f'{json.dumps(head)}\n{json.dumps({"source": "a"})}\n{{"sour', encoding="utf-8")
    assert find_records(tmp_path) == [path]
    assert read_record(path) == head | {"files": [{"source": "a"}]}
    assert os.access(path, os.R_OK)


def test_a_record_of_a_newer_version_is_refused(cli: CommandLine) -> None:
    folder = cli.folder / "output" / ".reflexion"
    folder.mkdir(parents=True)
    content = {"record_version": 99, "files": []}
    (folder / "20300101-000000-abcdef.json").write_text(json.dumps(content), encoding="utf-8")
    for command in (["runs", "show", "20300101-000000-abcdef"], ["resume"]):
        ended = cli.run(*command)
        assert ended.code == 2
        assert "newer" in ended.err
