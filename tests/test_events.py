"""docs/events.md says what ``--format json`` really writes."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from reflexion.events import CodeEvent, Event, RunFinished, TokensReceived, name_of
from reflexion.running import report_of
from reflexion.runs import find_records
from scripts.events_page import events_page, json_type
from tests.ollama_double import OllamaDouble
from tests.support import CommandLine, approve

SECTION = re.compile(r"^## `(\w+)`\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
DOCUMENTED = {name: ROW.findall(text) for name, text in SECTION.findall(events_page())}


def test_every_kind_that_is_written_has_a_section() -> None:
    kinds = {*get_args(Event), RunFinished} - {TokensReceived}
    assert set(DOCUMENTED) == {name_of(kind) for kind in kinds}


def test_the_lines_of_a_run_have_just_the_fields_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble
) -> None:
    line = CommandLine(tmp_path, capsys)
    line.configure(ollama_double.base_url)
    line.source("src/add.py")
    approve(ollama_double, rounds=2)
    ended = line.run("-i", "src", "--format", "json")
    events = [json.loads(text) for text in ended.out.splitlines()]
    assert ended.code == 0
    # Those of the code pipeline are compared in its own tests.
    assert {event["event"] for event in events} == set(DOCUMENTED) - {name_of(kind) for kind in get_args(CodeEvent)}
    for event in events:
        name = event.pop("event")
        assert list(event) == DOCUMENTED[name]
    assert events[-1] == {"exit_code": 0}


def test_types_are_those_of_json() -> None:
    assert json_type(tuple[int | None, ...]) == "list of: integer or null"
    assert json_type(int | None) == "integer or null"


def test_the_report_of_a_huge_record_is_left_out_and_can_be_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble
) -> None:
    line = CommandLine(tmp_path, capsys)
    line.configure(ollama_double.base_url)
    line.source("src/add.py")
    approve(ollama_double)
    line.run("-i", "src")
    [record] = find_records(tmp_path / "output")
    record.with_suffix(".html").unlink()
    said = report_of(record, largest=100)
    assert "Report left out" in said
    assert not record.with_suffix(".html").exists()
    command = re.search(r"`reflexion (.+)`", said)
    assert command is not None
    assert line.run(*command[1].split()).code == 0
    assert record.with_suffix(".html").exists()
