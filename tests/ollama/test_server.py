"""Finding the server and checking every role before the first call."""

import json

import pytest

from reflexion.config import DOCS_ROLES, Config, Role
from reflexion.errors import ConfigError, ModelMissing, NotOllama, ServerError, ServerUnreachable
from reflexion.ollama.address import ollama_command
from reflexion.ollama.binding import bind, refuse_remote
from reflexion.ollama.names import full_name, is_cloud
from reflexion.ollama.server import Server
from tests.conftest import MakeDouble
from tests.ollama_double import ModelInfo, OllamaDouble, html, status
from tests.support import MODELS


def config(**more: object) -> Config:
    return Config.model_validate({"model_registry": MODELS} | more)


def test_every_role_is_bound_with_window_capabilities_and_digest(make_ollama_double: MakeDouble) -> None:
    double = make_ollama_double(
        {
            "gen:1b": ModelInfo(context_length=4096),
            "critic:1b": ModelInfo(context_length=32768, capabilities=("completion", "thinking")),
            "adj:1b": ModelInfo(),
        }
    )
    with Server(double.base_url) as server:
        bindings, notes = bind(config(), server)
    assert [bindings[role].window for role in DOCS_ROLES] == [4096, 8192, 8192]
    assert [bindings[role].can_think for role in DOCS_ROLES] == [False, True, False]
    assert all(bindings[role].digest for role in DOCS_ROLES)
    assert notes == ["gen:1b reads 4096 tokens at most: num_ctx 8192 is lowered to that."]


@pytest.mark.parametrize(("written", "installed"), [("critic", "critic:latest"), ("Critic:1B", "critic:1b")])
def test_names_are_read_as_the_server_reads_them(make_ollama_double: MakeDouble, written: str, installed: str) -> None:
    double = make_ollama_double({name: ModelInfo() for name in ("gen:1b", installed, "adj:1b")})
    with Server(double.base_url) as server:
        bindings, _ = bind(config(model_registry=MODELS | {"CRITIC": written}), server)
    assert bindings[Role.CRITIC].model == installed


def test_missing_models_are_named_together_with_near_ones_and_the_commands(ollama_double: OllamaDouble) -> None:
    wanted = {"GENERATOR": "gen:2b", "CRITIC": "critic:1b", "ADJUDICATOR": "my mistral:7b"}
    with Server(ollama_double.base_url) as server, pytest.raises(ModelMissing) as error:
        bind(config(model_registry=wanted), server)
    text = str(error.value)
    assert "GENERATOR gen:2b (you have gen:1b)" in text
    assert "ADJUDICATOR my mistral:7b" in text
    ollama = f"OLLAMA_HOST=127.0.0.1:{ollama_double.port} ollama"
    assert f"{ollama} pull gen:2b && {ollama} pull 'my mistral:7b'" in text
    assert "critic" not in text


@pytest.mark.parametrize(
    ("url", "command"),
    [
        ("http://127.0.0.1:11434", "ollama serve"),
        ("http://localhost:11434", "ollama serve"),
        ("http://127.0.0.1:9", "OLLAMA_HOST=127.0.0.1:9 ollama serve"),
        ("http://[::1]:11434", "OLLAMA_HOST=[::1]:11434 ollama serve"),
        ("http://user:secret@box:80", "OLLAMA_HOST=box:80 ollama serve"),
        ("https://box:443/models", "OLLAMA_HOST=https://box:443/models ollama serve"),
    ],
)
def test_a_command_names_the_server_that_it_is_for(url: str, command: str) -> None:
    assert ollama_command("serve", url) == command


@pytest.mark.parametrize("url", ["https://127.0.0.1:{}", "http://127.0.0.1:{}/models"])
def test_what_ollama_cannot_serve_itself_is_not_to_be_started(closed_port: int, url: str) -> None:
    with Server(url.format(closed_port), connect_s=1) as server, pytest.raises(ServerUnreachable, match="check that"):
        server.version()


@pytest.mark.parametrize("proxy", ["gopher://127.0.0.1", "http://127.0.0.1:port"])
def test_a_proxy_variable_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ConfigError, match="a proxy variable cannot be used for http://192"):
        Server("http://192.0.2.7:9")


def test_a_page_in_the_way_is_not_ollama(ollama_double: OllamaDouble) -> None:
    ollama_double.interfere("/api/version", html())
    with Server(ollama_double.base_url) as server, pytest.raises(NotOllama, match="maybe a proxy"):
        server.version()


def test_another_json_server_is_not_ollama(ollama_double: OllamaDouble) -> None:
    ollama_double.interfere("/api/version", html(json.dumps({"status": "ok"})))
    with Server(ollama_double.base_url) as server, pytest.raises(NotOllama):
        server.version()


def test_a_server_error_is_said_with_its_words(ollama_double: OllamaDouble) -> None:
    ollama_double.interfere("/api/tags", status(500, "disk on fire"))
    with Server(ollama_double.base_url) as server, pytest.raises(ServerError, match="disk on fire"):
        server.installed()


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}", "http://user:secret@127.0.0.1:{}"])
def test_nobody_there_names_the_url_without_secrets(closed_port: int, url: str) -> None:
    with Server(url.format(closed_port), connect_s=1) as server, pytest.raises(ServerUnreachable) as error:
        server.version()
    assert f"127.0.0.1:{closed_port}" in str(error.value)
    assert f"start it with `OLLAMA_HOST=127.0.0.1:{closed_port} ollama serve`" in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("model", "name", "cloud"),
    [
        ("llama3", "llama3:latest", False),
        ("llama3:8b", "llama3:8b", False),
        ("host:5000/team/llama3", "host:5000/team/llama3:latest", False),
        ("gpt-oss:120b-cloud", "gpt-oss:120b-cloud", True),
        ("kimi:cloud", "kimi:cloud", True),
        ("cloudy:1b", "cloudy:1b", False),
    ],
)
def test_tags(model: str, name: str, cloud: bool) -> None:
    assert (full_name(model), is_cloud(model)) == (name, cloud)


def test_nothing_leaves_the_machine_unless_allowed() -> None:
    with pytest.raises(ConfigError, match=r"192\.168\.1\.5 is not this machine"):
        refuse_remote(config(), "http://192.168.1.5:11434")
    cloud = MODELS | {"CRITIC": "gpt-oss:120b-cloud"}
    with pytest.raises(ConfigError, match="CRITIC: gpt-oss:120b-cloud is a cloud model"):
        refuse_remote(config(model_registry=cloud), "http://127.0.0.1:11434")
    allowed = config(model_registry=cloud, server={"allow_remote": True})
    refuse_remote(allowed, "http://192.168.1.5:11434")


def test_a_model_that_the_server_runs_elsewhere_is_refused(make_ollama_double: MakeDouble) -> None:
    double = make_ollama_double({name: ModelInfo() for name in MODELS.values()})
    page = json.dumps({"capabilities": ["completion"], "model_info": {}, "remote_host": "example.com"})
    double.interfere("/api/show", html(page))
    with Server(double.base_url) as server, pytest.raises(ConfigError, match=r"runs on example\.com"):
        bind(config(), server)
