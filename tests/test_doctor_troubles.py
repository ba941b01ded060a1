"""Each trouble that a set-up can have: the doctor finds it, with its level, exit code and what helps."""

import json
from pathlib import Path

import pytest

from tests.doctor_setups import (
    Change,
    of_a_cloud_model,
    of_a_huge_model,
    of_a_missing_model,
    of_a_model_that_cannot_write,
    of_a_narrow_window,
    of_a_near_name,
    of_a_small_window,
    of_a_tiny_window,
    of_an_old_server,
    of_another_host,
    of_thinking_without_it,
    that_runs_elsewhere,
    with_a_broken_config,
    with_a_broken_manifest,
    with_a_file_for_the_output,
    with_a_page_in_the_way,
    with_broken_checkpoints,
    with_broken_prompts,
    with_one_model_for_two_roles,
    with_the_sandbox_off,
    without_a_sandbox,
    without_server,
    without_the_prompts,
)
from tests.doctor_support import found, report_of
from tests.ollama_double import ModelInfo, OllamaDouble
from tests.support import CommandLine


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


TROUBLES: list[tuple[Change, str, str, str, str, int]] = [
    (without_server, "server", "error", "no model server at http://127.0.0.1", "ollama serve", 3),
    (with_a_page_in_the_way, "server", "error", "answers with an HTML page", "OLLAMA_HOST", 3),
    (of_another_host, "remote", "error", "192.0.2.7 is not this machine", '"allow_remote": true', 2),
    (of_a_cloud_model, "remote CRITIC", "error", "is a cloud model", '"allow_remote": true', 2),
    (that_runs_elsewhere, "model GENERATOR", "error", "runs on example.com", "--model GENERATOR=NAME", 2),
    (of_a_missing_model, "model ADJUDICATOR", "error", "adj:1b is not installed", "ollama pull adj:1b", 3),
    (of_a_near_name, "model ADJUDICATOR", "error", "you have adj:latest", "--model ADJUDICATOR=adj:latest", 3),
    (of_a_small_window, "window GENERATOR", "warning", "reads 4096 tokens at most", '"num_ctx": 4096', 0),
    (of_a_tiny_window, "window GENERATOR", "error", "no room for any source", '"num_ctx": 8192', 2),
    (of_a_narrow_window, "window GENERATOR", "warning", "written from facts alone", '"num_ctx": 8192', 0),
    (of_thinking_without_it, "thinking CRITIC", "warning", "cannot think", '"thinking": "off"', 0),
    (of_a_model_that_cannot_write, "model CRITIC", "error", "it can: embedding", "--model CRITIC=NAME", 2),
    (of_a_huge_model, "memory GENERATOR", "warning", "more than is free", "--model GENERATOR=SMALLER", 0),
    (of_an_old_server, "server", "warning", "does not keep replies to a schema", "0.5 or newer", 0),
    (without_a_sandbox, "sandbox", "warning", "does not start as Python", '"sandbox": {"python"', 0),
    (with_the_sandbox_off, "sandbox", "note", "switched off", '"mode": "auto"', 0),
    (with_broken_prompts, "prompts", "error", "unknown placeholder $such", "reflexion prompts show", 2),
    (without_the_prompts, "prompts", "error", "cannot be read", "reflexion prompts show", 2),
    (with_a_broken_config, "config", "error", 'did you mean "quality_score_bar"', "reflexion config schema", 2),
    (with_one_model_for_two_roles, "config", "warning", "grade its own work", "--model CRITIC=NAME", 0),
    (with_a_file_for_the_output, "output", "error", "output", "--output OTHER", 2),
    (with_a_broken_manifest, "output", "error", "is broken; delete", "--output OTHER", 2),
    (with_broken_checkpoints, "output", "error", "remove it to begin anew", "--output OTHER", 2),
]


@pytest.mark.parametrize(
    ("change", "name", "level", "message", "helps", "code"), TROUBLES, ids=lambda value: getattr(value, "__name__", "")
)
def test_each_trouble_comes_with_what_helps(
    ollama_double: OllamaDouble,
    command: CommandLine,
    change: Change,
    name: str,
    level: str,
    message: str,
    helps: str,
    code: int,
) -> None:
    command.configure(ollama_double.base_url)
    change(command, ollama_double)
    report = report_of(command, "--no-calls")
    check = found(report, *name.split(" "))
    assert check.level == level
    assert message in check.message
    assert helps in check.help
    assert "\n" not in check.message + check.help
    assert check.exit_code == code
    assert report.exit_code == code
    shown = {one.check for one in report.checks}
    assert {"reflexion", "config", "server", "sandbox", "package", "output"} <= shown


def test_what_helps_with_a_window_can_be_written_as_it_stands(
    ollama_double: OllamaDouble, command: CommandLine
) -> None:
    ollama_double.models["gen:1b"] = ModelInfo(context_length=3000)
    command.configure(ollama_double.base_url)
    helps = found(report_of(command, "--no-calls"), "window", "GENERATOR").help
    command.configure(ollama_double.base_url, **json.loads(f"{{{helps}}}"))
    report = report_of(command, "--no-calls")
    assert (report.exit_code, [one for one in report.checks if one.level == "warning"]) == (0, [])
