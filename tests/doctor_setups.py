"""Set-ups with one trouble each, for the doctor to find."""

import json
from collections.abc import Callable

from tests.ollama_double import ModelInfo, OllamaDouble, html
from tests.support import MODELS, CommandLine

Change = Callable[[CommandLine, OllamaDouble], None]


def without_server(command: CommandLine, double: OllamaDouble) -> None:
    double.close()


def with_a_page_in_the_way(command: CommandLine, double: OllamaDouble) -> None:
    double.interfere("/api/version", html())


def of_another_host(command: CommandLine, double: OllamaDouble) -> None:
    command.configure("http://192.0.2.7:11434")


def of_a_cloud_model(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, model_registry=MODELS | {"CRITIC": "gpt-oss:120b-cloud"})


def that_runs_elsewhere(command: CommandLine, double: OllamaDouble) -> None:
    page = {"capabilities": ["completion"], "model_info": {}, "remote_host": "example.com"}
    double.interfere("/api/show", html(json.dumps(page)))


def of_a_missing_model(command: CommandLine, double: OllamaDouble) -> None:
    del double.models["adj:1b"]


def of_a_near_name(command: CommandLine, double: OllamaDouble) -> None:
    double.models["adj:latest"] = double.models.pop("adj:1b")


def of_a_small_window(command: CommandLine, double: OllamaDouble) -> None:
    double.models["gen:1b"] = ModelInfo(context_length=4096)


def of_a_tiny_window(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, roles={"GENERATOR": {"num_ctx": 600, "num_predict": 512}})


def of_a_narrow_window(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, roles={"GENERATOR": {"num_ctx": 1024, "num_predict": 512}})


def of_thinking_without_it(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, roles={"CRITIC": {"thinking": "high"}})


def of_a_model_that_cannot_write(command: CommandLine, double: OllamaDouble) -> None:
    double.models["critic:1b"] = ModelInfo(capabilities=("embedding",))


def of_a_huge_model(command: CommandLine, double: OllamaDouble) -> None:
    double.models["gen:1b"] = ModelInfo(size=10**15)


def of_an_old_server(command: CommandLine, double: OllamaDouble) -> None:
    double.version = "0.4.7"


def without_a_sandbox(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, sandbox={"python": str(command.folder / "no-python")})


def with_the_sandbox_off(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, sandbox={"mode": "off"})


def with_broken_prompts(command: CommandLine, double: OllamaDouble) -> None:
    (command.folder / "mine").mkdir()
    (command.folder / "mine" / "docs.toml").write_text("[CRITIC]\nsystem = 'no $such'\n")
    command.configure(double.base_url, prompts="mine")


def without_the_prompts(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, prompts="nowhere")


def with_a_broken_config(command: CommandLine, double: OllamaDouble) -> None:
    (command.folder / "config.json").write_text('{"quality_scor_bar": 1}')


def with_one_model_for_two_roles(command: CommandLine, double: OllamaDouble) -> None:
    command.configure(double.base_url, model_registry=MODELS | {"CRITIC": "gen:1b"})


def with_a_file_for_the_output(command: CommandLine, double: OllamaDouble) -> None:
    (command.folder / "output").write_text("")


def with_a_broken_manifest(command: CommandLine, double: OllamaDouble) -> None:
    kept = command.folder / "output" / ".reflexion"
    kept.mkdir(parents=True)
    (kept / "manifest.json").write_text("{")


def with_broken_checkpoints(command: CommandLine, double: OllamaDouble) -> None:
    kept = command.folder / "output" / ".reflexion"
    kept.mkdir(parents=True)
    (kept / "checkpoints.sqlite").write_bytes(b"no database at all" * 100)
