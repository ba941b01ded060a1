"""config.json: what works as it is, and one clear line for everything else."""

import json
from pathlib import Path
from typing import Any

import pytest

from reflexion.config import DOCS_ROLES, Config, LoadedConfig, Role, load_config, schema_text
from reflexion.errors import ConfigError

AS_ISSUED = {
    "model_registry": {"GENERATOR": "qwen3.5:9b", "CRITIC": "deepseek-coder:6.7b", "ADJUDICATOR": "llama3:8b"},
    "quality_score_bar": 95,
    "max_attempts": 4,
}
REPOSITORY = Path(__file__).parent.parent


def load(tmp_path: Path, content: object, **environ: str) -> LoadedConfig:
    path = tmp_path / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return load_config(path, {}, environ)


def refusal(tmp_path: Path, content: object) -> str:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, content)
    text = str(error.value)
    assert "\n" not in text
    assert "config.json" in text
    return text


def test_roles_of_the_code_pipeline_stand_on_those_of_the_docs_pipeline() -> None:
    config = Config.model_validate({"model_registry": {"GENERATOR": "g", "CRITIC": "c", "ADJUDICATOR": "a"}})
    roles = (Role.ARCHITECT, Role.DEVELOPER, Role.DEBUGGER, Role.REVIEWER)
    assert config.roles_of("docs") == DOCS_ROLES
    assert config.roles_of("code") == roles
    assert [config.model(role) for role in roles] == ["a", "g", "g", "c"]
    assert [config.settings(role).temperature for role in roles] == [0.2, 0.2, 0.1, 0.2]
    assert [config.settings(role).thinking for role in roles] == ["high", "medium", "high", "low"]


def test_a_role_of_its_own_is_bound_and_escalation_only_then() -> None:
    registry = {"GENERATOR": "g", "CRITIC": "c", "ADJUDICATOR": "a", "DEBUGGER": "d", "DEBUGGER_ESCALATION": "e"}
    config = Config.model_validate({"model_registry": registry})
    assert config.roles_of("code") == (
        Role.ARCHITECT, Role.DEVELOPER, Role.DEBUGGER, Role.DEBUGGER_ESCALATION, Role.REVIEWER,
    )  # fmt: skip
    assert [config.model(role) for role in (Role.DEVELOPER, Role.DEBUGGER)] == ["g", "d"]


def test_a_window_set_for_a_model_holds_for_the_roles_that_it_stands_in_for() -> None:
    config = Config.model_validate({"roles": {"GENERATOR": {"num_ctx": 6000, "num_predict": 2000}}})
    settings = config.settings(Role.DEVELOPER)
    assert (settings.num_ctx, settings.num_predict) == (6000, 3000)
    assert config.window(config.model(Role.DEVELOPER), config.roles_of("code")) == 6000
    own = Config.model_validate(
        {"roles": {"GENERATOR": {"num_ctx": 6000, "num_predict": 2000}, "DEBUGGER": {"num_ctx": 9000}}}
    )
    assert own.window(own.model(Role.DEVELOPER), own.roles_of("code")) == 9000
    assert own.window(own.model(Role.GENERATOR)) == 6000


def test_the_config_of_the_repository_is_the_documented_one_and_works() -> None:
    assert json.loads((REPOSITORY / "config.json").read_text(encoding="utf-8")) == AS_ISSUED
    loaded = load_config(REPOSITORY / "config.json", {}, {})
    assert loaded.config == Config()
    assert (loaded.base_url, loaded.notes) == ("http://127.0.0.1:11434", ())


def test_without_a_file_the_defaults_are_used_and_said() -> None:
    loaded = load_config(None, {}, {})
    assert loaded.config == Config()
    assert "No config.json here" in loaded.notes[0]


def test_the_file_in_the_working_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_attempts": 2}', encoding="utf-8")
    assert load_config(None, {}, {}).config.max_attempts == 2


def test_defaults_by_role() -> None:
    config = Config()
    assert [config.settings(role).temperature for role in DOCS_ROLES] == [0.7, 0.0, 0.2]
    assert [config.settings(role).num_predict for role in DOCS_ROLES] == [4096, 1024, 4096]
    assert {config.settings(role).num_ctx for role in DOCS_ROLES} == {8192}
    assert {config.settings(role).thinking for role in DOCS_ROLES} == {"off"}


def test_a_role_keeps_the_defaults_that_it_does_not_set(tmp_path: Path) -> None:
    config = load(tmp_path, {"roles": {"CRITIC": {"seed": 1, "thinking": "high"}}}).config
    settings = config.settings(Role.CRITIC)
    assert (settings.seed, settings.thinking, settings.num_ctx, settings.temperature) == (1, "high", 8192, 0.0)


def test_roles_that_share_a_model_share_the_largest_window(tmp_path: Path) -> None:
    registry = {"GENERATOR": "a", "CRITIC": "b", "ADJUDICATOR": "a"}
    config = load(tmp_path, {"model_registry": registry, "roles": {"ADJUDICATOR": {"num_ctx": 16384}}}).config
    assert (config.window("a"), config.window("b")) == (16384, 8192)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "line 1"),
        ('{\n "max_attempts": 4,\n}', "line 3"),
        ("[]", "JSON object"),
        ("", "not JSON"),
        ('{"max_attempts": 1, "max_attempts": 2}', "twice"),
        ({"quality_scor_bar": 95}, 'did you mean "quality_score_bar"?'),
        ('{\n"server": {\n"bass_url": "x"}}', 'line 3: unknown key "server.bass_url"; did you mean "base_url"?'),
        ({"roles": {"CRITIC": {"temprature": 1}}}, 'did you mean "temperature"?'),
        ({"roles": {"CRITICS": {}}}, 'unknown role "CRITICS"; did you mean "CRITIC"?'),
        ({"model_registry": {"GENERATOR": "a", "CRITIC": "b"}}, "no model for ADJUDICATOR"),
        ({"model_registry": {"GENERATOR": "", "CRITIC": "b", "ADJUDICATOR": "c"}}, "model_registry.GENERATOR"),
        ({"quality_score_bar": 950}, "950"),
        ({"quality_score_bar": "95"}, "quality_score_bar"),
        ({"quality_score_bar": True}, "quality_score_bar"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"server": {"engine": "llamacpp"}}, "server.engine"),
        ({"server": {"base_url": "ftp://x"}}, "server.base_url"),
        ({"server": {"keep_alive": "5 minutes"}}, "server.keep_alive: "),
        ({"server": {"keep_alive": 1.5}}, "line 1: server.keep_alive: "),
        ({"server": {"total_s": -1}}, "server.total_s"),
        ({"roles": {"CRITIC": {"thinking": "maybe"}}}, "roles.CRITIC.thinking"),
        ({"roles": {"CRITIC": {"num_ctx": 1024, "num_predict": 1024}}}, "leaves no room"),
        ('{"a": ' * 60000, "config.json"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(tmp_path: Path, content: object, said: str) -> None:
    assert said in refusal(tmp_path, content)


def test_other_encodings_are_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes('{"prompts": "é"}'.encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(tmp_path / "config.json", {}, {})
    (tmp_path / "config.json").write_bytes(b'\xef\xbb\xbf{"max_attempts": 3}')
    assert load_config(tmp_path / "config.json", {}, {}).config.max_attempts == 3


@pytest.mark.parametrize(("given", "sent"), [("-1", -1), ("0", 0), (300, 300), ("5m", "5m"), ("1h30m", "1h30m")])
def test_keep_alive_takes_the_form_that_a_server_accepts(tmp_path: Path, given: object, sent: object) -> None:
    assert load(tmp_path, {"server": {"keep_alive": given}}).config.server.keep_alive == sent


@pytest.mark.parametrize(
    ("configured", "environment", "url"),
    [
        (None, None, "http://127.0.0.1:11434"),
        (None, "0.0.0.0", "http://127.0.0.1:11434"),
        (None, "https://box/x/", "https://box:443/x"),
        ("http://box:1", None, "http://box:1"),
        ("http://box:1", "other:2", "http://box:1"),
        ("http://box:1", "not an address", "http://box:1"),
    ],
)
def test_where_the_server_is(tmp_path: Path, configured: str | None, environment: str | None, url: str) -> None:
    content: dict[str, Any] = {"server": {"base_url": configured}} if configured else {}
    loaded = load(tmp_path, content, **({"OLLAMA_HOST": environment} if environment else {}))
    assert loaded.base_url == url
    ignored = bool(configured and environment == "other:2")
    assert any("is not used" in note for note in loaded.notes) is ignored


def test_an_unusable_ollama_host_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="OLLAMA_HOST"):
        load(tmp_path, {}, OLLAMA_HOST="box:port")


def test_a_model_that_grades_its_own_work_is_warned_about(tmp_path: Path) -> None:
    registry = {"GENERATOR": "a", "CRITIC": "a", "ADJUDICATOR": "c"}
    assert "grade its own work" in load(tmp_path, {"model_registry": registry}).notes[0]


def test_one_role_can_be_bound_without_a_file() -> None:
    config = load_config(None, {"model_registry": {"CRITIC": "llama3:8b"}}, {}).config
    assert config.model_registry[Role.CRITIC] == "llama3:8b"
    assert config.model_registry[Role.GENERATOR] == Config().model_registry[Role.GENERATOR]


def test_a_name_without_a_tag_is_the_latest(tmp_path: Path) -> None:
    registry = {"GENERATOR": "m", "CRITIC": "M:latest", "ADJUDICATOR": "n"}
    loaded = load(tmp_path, {"model_registry": registry, "roles": {"CRITIC": {"num_ctx": 4096}}})
    assert loaded.config.window("m") == loaded.config.window("m:latest") == 8192
    assert "grade its own work" in loaded.notes[0]


def test_secrets_of_addresses_are_never_shown(tmp_path: Path) -> None:
    content = {"server": {"base_url": "http://me:secret@box:1"}}
    assert "secret" not in load(tmp_path, content, OLLAMA_HOST="http://me:secret@other:2").notes[0]


def test_overrides_lie_over_the_file_and_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(AS_ISSUED), encoding="utf-8")
    loaded = load_config(path, {"model_registry": {"CRITIC": "llama3:8b"}, "quality_score_bar": 50}, {})
    assert loaded.config.model_registry[Role.CRITIC] == "llama3:8b"
    assert loaded.config.model_registry[Role.GENERATOR] == "qwen3.5:9b"
    with pytest.raises(ConfigError, match=r"command line: quality_score_bar.*950"):
        load_config(path, {"quality_score_bar": 950}, {})


def test_the_written_schema_is_the_code_s() -> None:
    assert (REPOSITORY / "docs" / "config.schema.json").read_text(encoding="utf-8") == schema_text()
