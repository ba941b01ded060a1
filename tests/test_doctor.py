"""``reflexion doctor``: each kind of trouble is shown with what helps and with the exit code that a run would have."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import reflexion
from reflexion.doctor.report import Report, schema_text
from reflexion.lock import locked
from tests.conftest import MakeDouble
from tests.doctor_setups import (
    of_a_cloud_model,
    of_a_missing_model,
    of_a_model_that_cannot_write,
    of_a_near_name,
    of_a_small_window,
    of_thinking_without_it,
    with_a_file_for_the_output,
)
from tests.doctor_support import found, report_of, script_calls
from tests.ollama_double import ModelInfo, OllamaDouble, reply, status
from tests.support import MODELS, CommandLine

SANDBOX_DEMANDED = os.environ.get("REFLEXION_DEMAND_SANDBOX") == "1"
PACKAGE = Path(reflexion.__file__).parents[1]


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


def test_a_healthy_set_up_has_every_row(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    script_calls(ollama_double)
    report = report_of(command)
    assert (report.healthy, report.exit_code) == (True, 0)
    names = [f"{one.check} {one.subject}".strip() for one in report.checks]
    for name in ("reflexion", "config", "prompts", "address", "server", "loaded", "memory", "sandbox", "output"):
        assert name in names
    for role in MODELS:
        assert {f"model {role}", f"call {role}", f"schema {role}"} <= set(names)
        model = found(report, "model", role)
        assert model.facts["context_length"] == 8192
        assert len(str(model.facts["digest"])) == 64
        assert model.facts["capabilities"] == ["completion"]
        assert (found(report, "call", role).seconds or 0) > 0
        assert found(report, "schema", role).level == "ok"
    ollama_double.assert_all_played()
    for chat in ollama_double.chats():
        assert chat["options"]["num_ctx"] == 8192  # Another window would have the run load the model again.
    assert ollama_double.loads == list(MODELS.values())


def test_no_calls_calls_no_model(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    report = report_of(command, "--no-calls")
    assert report.exit_code == 0
    assert not ollama_double.chats()


def test_the_table_names_what_helps_under_each_trouble(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url, model_registry=MODELS | {"CRITIC": "critic"})
    ended = command.run("doctor", "--no-calls")
    assert ended.code == 3
    lines = ended.out.splitlines()
    at = next(number for number, line in enumerate(lines) if "model CRITIC" in line)
    assert lines[at].startswith("error    model CRITIC")
    assert lines[at].endswith("critic is not installed; you have critic:1b")
    pull = f"OLLAMA_HOST=127.0.0.1:{ollama_double.port} ollama pull critic"
    assert lines[at + 1].strip() == f"-> {pull}, or --model CRITIC=critic:1b"
    assert lines[-1].startswith("1 error")
    assert sum(line.startswith("ok       model") for line in lines) == 2


def test_several_troubles_are_all_shown(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    of_a_missing_model(command, ollama_double)
    of_a_small_window(command, ollama_double)
    with_a_file_for_the_output(command, ollama_double)
    script_calls(ollama_double, ["gen:1b", "critic:1b"])
    report = report_of(command)
    troubles = [(one.check, one.subject) for one in report.checks if one.level in ("error", "warning")]
    assert troubles == [("window", "GENERATOR"), ("model", "ADJUDICATOR"), ("output", "")]
    assert found(report, "call", "ADJUDICATOR").message.startswith("not called")
    assert report.exit_code == 2  # As of a run: 2 before 3.


def test_the_exit_code_is_that_of_a_run(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    of_a_model_that_cannot_write(command, ollama_double)
    command.source()
    ended = command.run("--input", "add.py")
    assert (ended.code, report_of(command, "--no-calls").exit_code) == (2, 2)
    assert "critic:1b cannot write text (it can: embedding)" in ended.err


def test_every_place_of_an_address_is_shown(
    ollama_double: OllamaDouble, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.configure(ollama_double.base_url)
    monkeypatch.setenv("OLLAMA_HOST", "http://user:secret@127.0.0.1:1")
    facts = found(report_of(command, "--no-calls"), "address").facts
    assert (facts["base_url"], facts["source"]) == (ollama_double.base_url, "server.base_url")
    assert facts["OLLAMA_HOST"] == "http://***@127.0.0.1:1"
    assert facts["default"] == "http://127.0.0.1:11434"
    monkeypatch.setenv("OLLAMA_HOST", "not an address")
    warning = found(report_of(command, "--no-calls"), "address")
    assert warning.level == "warning"
    assert warning.help == "unset OLLAMA_HOST"


def test_the_variable_is_used_where_the_file_names_no_server(
    ollama_double: OllamaDouble, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command.folder / "config.json").write_text(json.dumps({"model_registry": MODELS}))
    monkeypatch.setenv("OLLAMA_HOST", f":{ollama_double.port}")
    report = report_of(command, "--no-calls")
    facts = found(report, "address").facts
    assert (facts["base_url"], facts["source"], facts["configured"]) == (ollama_double.base_url, "OLLAMA_HOST", None)
    assert report.exit_code == 0


def test_a_server_at_an_address_that_is_not_used_is_told(
    ollama_double: OllamaDouble, command: CommandLine, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", ollama_double.base_url)
    command.configure(f"http://127.0.0.1:{closed_port}")
    report = report_of(command, "--no-calls")
    [note] = [one for one in report.checks if one.check == "server" and one.level == "note"]
    assert note.help == f'"server": {{"base_url": "{ollama_double.base_url}"}}'
    assert report.exit_code == 3


def test_the_server_to_start_is_the_one_that_is_named(
    command: CommandLine, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    helps = f"OLLAMA_HOST=127.0.0.1:{closed_port} ollama serve"
    command.configure(f"http://127.0.0.1:{closed_port}")
    assert found(report_of(command, "--no-calls"), "server").help == helps
    (command.folder / "config.json").unlink()
    monkeypatch.setenv("OLLAMA_HOST", f":{closed_port}")
    assert found(report_of(command, "--no-calls"), "server").help == helps


@pytest.mark.parametrize("more", [("--model", "CRITIC"), ("--engine", "embedded", "--model", "CRITIC=x")])
def test_a_mistake_of_the_command_line_is_a_check_like_any_other(command: CommandLine, more: tuple[str, ...]) -> None:
    report = report_of(command, "--no-calls", *more)
    check = found(report, "config")
    assert (check.level, check.help, report.exit_code) == ("error", "reflexion doctor --help", 2)
    assert check.message.startswith("--model")


def test_a_proxy_that_cannot_be_used_is_to_be_unset(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:port")
    command.configure("http://192.0.2.7:9", server={"allow_remote": True})
    check = found(report_of(command, "--no-calls"), "server")
    assert (check.exit_code, check.message.startswith("a proxy variable cannot be used")) == (2, True)
    assert check.help.startswith("unset ALL_PROXY ")


def test_nothing_is_sent_to_a_host_that_is_not_allowed(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure("http://192.0.2.7:11434", server={"connect_s": 60})
    report = report_of(command)
    assert report.seconds < 5
    assert [one.level for one in report.checks if one.check == "model"] == ["note"] * 3


def test_memory_of_a_gpu_is_what_the_server_says_of_loaded_models(
    make_ollama_double: MakeDouble, command: CommandLine
) -> None:
    double = make_ollama_double(
        {name: ModelInfo(size=2_000_000_000, size_vram=1_500_000_000) for name in MODELS.values()}
    )
    command.configure(double.base_url)
    loaded = found(report_of(command, "--no-calls"), "loaded")
    assert (loaded.level, loaded.facts["models"]) == ("note", [])
    script_calls(double)
    report_of(command)
    loaded = found(report_of(command, "--no-calls"), "loaded")
    assert (loaded.level, loaded.facts["size"], loaded.facts["size_vram"]) == ("ok", 6_000_000_000, 4_500_000_000)
    assert "gen:1b 2.0 GB, 1.5 GB of it on a GPU, window 8192" in loaded.message


def test_a_model_that_ignores_schemas_is_a_warning(make_ollama_double: MakeDouble, command: CommandLine) -> None:
    double = make_ollama_double(repeat_last=True)
    script_calls(double, ["gen:1b", "adj:1b"])
    double.script("critic:1b", reply("I think so."))
    command.configure(double.base_url)
    report = report_of(command)
    check = found(report, "schema", "CRITIC")
    assert (check.level, check.help) == ("warning", "reflexion docs --model CRITIC=NAME")
    assert report.exit_code == 0


def test_a_locked_output_folder_is_told_with_its_process(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    with locked(command.folder / "output"):
        check = found(report_of(command, "--no-calls"), "output")
    assert f"another run is writing here (process {os.getpid()})" in check.message
    assert check.help.startswith("wait for it")
    assert found(report_of(command, "--no-calls", "--output", "other"), "output").level == "ok"
    assert not (command.folder / "other").exists()


def test_required_examples_make_a_missing_sandbox_an_error(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url, sandbox={"mode": "off"})
    report = report_of(command, "--no-calls", "--require-examples")
    assert (found(report, "sandbox").level, report.exit_code) == ("error", 2)


def test_no_bubblewrap_on_path(ollama_double: OllamaDouble, command: CommandLine) -> None:
    """A process of its own: what a sandbox is found to be holds for a whole process."""
    command.configure(ollama_double.base_url)
    environment = {"PATH": "/nowhere", "PYTHONPATH": str(PACKAGE)}
    arguments = [sys.executable, "-m", "reflexion", "doctor", "--no-calls"]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    if sys.platform == "linux":
        assert "no program bwrap on PATH" in done.stdout
        assert "-> apt-get install bubblewrap" in done.stdout
    assert "note     program git" in done.stdout


@pytest.mark.skipif(sys.platform != "linux" or not SANDBOX_DEMANDED, reason="the sandbox is demanded where CI says so")
def test_the_sandbox_really_ran_something(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    check = found(report_of(command, "--no-calls"), "sandbox")
    assert (check.level, check.facts["works"], check.facts["boundary"]) == ("ok", True, True)


def test_the_embedded_engine_is_started_and_asked(command: CommandLine) -> None:
    report = report_of(command, "--engine", "embedded", "--no-calls")
    assert report.exit_code == 0
    assert str(found(report, "server").facts["version"]).endswith("+embedded")
    assert found(report, "model", "CRITIC").facts["model"] == "smollm2-b:135m"


def test_what_the_embedded_engine_lacks_is_an_error_only_for_it(
    ollama_double: OllamaDouble, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    command.configure(ollama_double.base_url)
    report = report_of(command, "--no-calls")
    assert (found(report, "package", "xllamacpp").level, report.exit_code) == ("note", 0)
    report = report_of(command, "--no-calls", "--engine", "embedded")
    check = found(report, "package", "xllamacpp")
    assert (check.level, report.exit_code) == ("error", 3)
    assert "reflexion models pull --engine embedded" in check.help
    assert "pip install xllamacpp" in check.help


def test_an_unknown_format_is_refused(command: CommandLine) -> None:
    assert command.run("doctor", "--format", "xml").code == 2


def test_the_schema_describes_every_field() -> None:
    schema = json.loads(schema_text())
    assert set(schema["properties"]) == set(Report.__dataclass_fields__)
    assert schema["$defs"]["Check"]["properties"]["level"]["enum"] == ["ok", "note", "warning", "error"]


def test_every_check_and_fact_is_documented(ollama_double: OllamaDouble, command: CommandLine) -> None:
    page = (Path(__file__).parent.parent / "docs" / "doctor.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|(.+)$", page, re.MULTILINE))
    command.configure(ollama_double.base_url)
    script_calls(ollama_double)
    checks = list(report_of(command).checks)
    for change in (of_a_small_window, of_a_near_name, of_a_cloud_model, of_thinking_without_it):
        change(command, ollama_double)
        checks += report_of(command, "--no-calls").checks
    assert {check.check for check in checks} == set(rows)
    for check in checks:
        assert all(f"`{fact}`" in rows[check.check] for fact in check.facts), check


def test_a_server_error_in_the_middle_keeps_the_other_rows(ollama_double: OllamaDouble, command: CommandLine) -> None:
    command.configure(ollama_double.base_url)
    ollama_double.interfere("/api/tags", status(500, "disk on fire"))
    report = report_of(command, "--no-calls")
    check = found(report, "server")
    assert "disk on fire" in check.message
    assert check.exit_code == 3
    assert found(report, "model", "GENERATOR").level == "note"
