"""The manifest: what is skipped, what is made anew and why, and what survives a kill."""

import json
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflexion.config import Config, Role
from reflexion.errors import InputError
from reflexion.manifest import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    MANIFEST_VERSION,
    Basis,
    Manifest,
    models_digest,
    prompts_digest,
    settings_digest,
)
from reflexion.ollama.reply import Binding
from reflexion.prompts import load_prompts

BASIS = Basis(source="s", settings="t", prompts="p", models="m")
PAGE = Path("a/utils.md")


def done(output: Path, outcome: str = "accepted", page: Path = PAGE, source: str = "a/utils.py") -> Manifest:
    """A manifest that holds one finished page."""
    (output / page).parent.mkdir(parents=True, exist_ok=True)
    (output / page).write_text("# Page\n", encoding="utf-8")
    manifest = Manifest(output)
    manifest.record(source, BASIS, outcome, page, "# Page\n")
    return manifest


@pytest.mark.parametrize("saved", [True, False])
def test_what_did_not_change_is_known_to_the_next_run(tmp_path: Path, saved: bool) -> None:
    manifest = done(tmp_path)
    if saved:
        manifest.save()
    assert manifest.path.exists() is saved
    assert manifest.journal.exists() is not saved
    again = Manifest(tmp_path)
    assert again.is_unchanged("a/utils.py", BASIS, PAGE)
    entry = again.entry("a/utils.py")
    assert entry is not None
    assert (entry.outcome, entry.page, len(entry.page_sha256)) == ("accepted", "a/utils.md", 64)


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("source", "the source changed"),
        ("settings", "the settings changed"),
        ("prompts", "the prompts changed"),
        ("models", "the models changed"),
        ("version", "reflexion is another version"),
    ],
)
def test_whatever_changes_makes_the_page_anew_and_is_named(tmp_path: Path, key: str, why: str) -> None:
    manifest = done(tmp_path)
    other = BASIS.model_copy(update={key: "other"})
    assert manifest.why_anew("a/utils.py", other, PAGE) == why
    assert not manifest.is_unchanged("a/utils.py", other, PAGE)


def test_a_new_source_and_a_page_that_is_gone_or_has_another_name_are_made(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    assert manifest.why_anew("b.py", BASIS, Path("b.md")) == "new"
    assert manifest.why_anew("a/utils.py", BASIS, Path("a/utils.py.md")) == "its page has another name now"
    (tmp_path / PAGE).write_text("# Edited\n", encoding="utf-8")
    assert manifest.is_unchanged("a/utils.py", BASIS, PAGE)
    (tmp_path / PAGE).unlink()
    assert manifest.why_anew("a/utils.py", BASIS, PAGE) == "its page is gone"
    (tmp_path / PAGE).mkdir()
    assert manifest.why_anew("a/utils.py", BASIS, PAGE) == "its page is gone"


def test_which_outcomes_are_skipped_is_the_callers_choice(tmp_path: Path) -> None:
    manifest = done(tmp_path, "not accepted", Path("a/utils.draft.md"))
    assert manifest.is_unchanged("a/utils.py", BASIS, PAGE)
    assert manifest.why_anew("a/utils.py", BASIS, PAGE, {"accepted"}) == "not accepted the last time"
    failed = done(tmp_path, "failed")
    assert failed.why_anew("a/utils.py", BASIS, PAGE) == "failed the last time"


def test_sources_can_be_forgotten(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    done(tmp_path, source="b.py")
    manifest = Manifest(tmp_path)
    manifest.forget("a/utils.py")
    manifest.forget("never.py")
    assert Manifest(tmp_path).entry("a/utils.py") is None
    assert Manifest(tmp_path).entry("b.py") is not None


def test_it_is_for_its_owner_alone_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    assert stat.S_IMODE(manifest.journal.stat().st_mode) == 0o600
    manifest.save()
    folder = manifest.path.parent
    assert [path.name for path in folder.iterdir()] == [MANIFEST_NAME]
    assert stat.S_IMODE(manifest.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_run_that_reads_only_writes_nothing(tmp_path: Path) -> None:
    assert Manifest(tmp_path / "out").why_anew("a.py", BASIS, Path("a.md")) == "new"
    assert list(tmp_path.iterdir()) == []


def test_a_kill_at_any_byte_loses_no_more_than_the_line_under_way(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    first = manifest.journal.read_bytes()
    manifest.record("b.py", BASIS, "accepted", Path("b.md"), "x")
    both = manifest.journal.read_bytes()
    for length in range(len(first), len(both), 7):
        manifest.journal.write_bytes(both[:length])
        after = Manifest(tmp_path)
        assert after.is_unchanged("a/utils.py", BASIS, PAGE)
        assert after.entry("b.py") is None
        after.record("c.py", BASIS, "accepted", Path("c.md"), "x")
        assert Manifest(tmp_path).entry("c.py") is not None


def test_a_line_half_written_is_gone_after_a_shorter_one(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    with manifest.journal.open("ab") as journal:
        journal.write(b'{"half": "' + b"x" * 2_000)
    Manifest(tmp_path).record("b.py", BASIS, "accepted", Path("b.md"), "x")
    again = Manifest(tmp_path)
    assert again.entry("b.py") is not None
    assert again.is_unchanged("a/utils.py", BASIS, PAGE)
    assert again.journal.read_bytes().count(b"\n") == 2
    assert again.journal.read_bytes().endswith(b"}\n")


def test_a_record_after_a_save_starts_a_new_journal(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    manifest.save()
    manifest.record("b.py", BASIS, "accepted", Path("b.md"), "x")
    again = Manifest(tmp_path)
    assert again.entry("b.py") is not None
    assert again.is_unchanged("a/utils.py", BASIS, PAGE)


def test_a_kill_between_manifest_and_journal_changes_nothing(tmp_path: Path) -> None:
    manifest = done(tmp_path)
    lines = manifest.journal.read_bytes()
    manifest.save()
    manifest.journal.write_bytes(lines)
    again = Manifest(tmp_path)
    assert again.is_unchanged("a/utils.py", BASIS, PAGE)
    again.save()
    assert Manifest(tmp_path).entry("a/utils.py") == again.entry("a/utils.py")


@pytest.mark.parametrize("name", [MANIFEST_NAME, JOURNAL_NAME])
def test_a_newer_version_is_refused_and_not_misread(tmp_path: Path, name: str) -> None:
    path = tmp_path / ".reflexion" / name
    path.parent.mkdir()
    path.write_text(json.dumps({"manifest_version": MANIFEST_VERSION + 1, "pages": {}}) + "\n", encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(
        InputError, match=r"newer reflexion \(version 2, this one reads 1\); update reflexion, or delete"
    ):
        Manifest(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", [MANIFEST_NAME, JOURNAL_NAME])
@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        "{}",
        "3",
        "\xff",
        '{"manifest_version": "2", "sources": {}}',
        '{"manifest_version": true, "sources": {}}',
        '{"manifest_version": 0, "sources": {}}',
        '{"manifest_version": 1}',
        '{"manifest_version": 1, "sources": {"a.py": {"page": 1}}}',
        '{"manifest_version": 1, "sources": {}, "more": 1}',
        "[" * 100_000,
    ],
)
def test_a_broken_one_is_one_line_that_says_which_file_to_delete(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / ".reflexion" / name
    path.parent.mkdir()
    path.write_text(text + "\n", encoding="latin-1")
    with pytest.raises(InputError, match="is broken; delete") as error:
        Manifest(tmp_path)
    assert str(error.value).count(str(path)) == 2
    assert "\n" not in str(error.value)


def test_an_empty_manifest_is_broken_and_an_empty_journal_is_not(tmp_path: Path) -> None:
    (tmp_path / ".reflexion").mkdir()
    (tmp_path / ".reflexion" / JOURNAL_NAME).touch()
    assert Manifest(tmp_path).entry("a.py") is None
    (tmp_path / ".reflexion" / MANIFEST_NAME).touch()
    with pytest.raises(InputError, match="is broken"):
        Manifest(tmp_path)


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / ".reflexion").touch()
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read: Not a directory"):
        Manifest(tmp_path)
    (tmp_path / ".reflexion").unlink()
    manifest = Manifest(tmp_path)
    (tmp_path / ".reflexion").touch()
    for write in (manifest.save, lambda: manifest.record("a.py", BASIS, "accepted", Path("a.md"), "")):
        with pytest.raises(InputError, match="cannot be written"):
            write()
    assert manifest.entry("a.py") is None


def test_threads_lose_nothing(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)

    def work(number: int) -> None:
        for index in range(10):
            name = f"{number}-{index}"
            manifest.record(f"{name}.py", BASIS, "accepted", Path(f"{name}.md"), name)
        manifest.save()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Manifest(tmp_path)
    assert all(again.entry(f"{number}-{index}.py") for number in range(6) for index in range(10))


@settings(max_examples=50, deadline=None)
@given(
    name=st.text(st.characters(exclude_categories=()), max_size=30),
    outcome=st.sampled_from(["accepted", "not accepted", "failed"]),
)
@example(name="caf\udce9.py", outcome="accepted")
def test_any_name_of_a_file_is_read_back(tmp_path_factory: pytest.TempPathFactory, name: str, outcome: str) -> None:
    output = tmp_path_factory.mktemp("output")
    manifest = Manifest(output)
    manifest.record(name, BASIS, outcome, Path("x.md"), name)
    journal = Manifest(output).entry(name)
    manifest.save()
    assert Manifest(output).entry(name) == journal == manifest.entry(name)
    assert journal is not None


def test_only_settings_that_a_page_depends_on_count() -> None:
    plain = settings_digest(Config())
    same = [
        {"server": {"base_url": "http://127.0.0.1:1", "total_s": 5, "parallel": 2, "keep_alive": "1h"}},
        {"prompts": "words"},
        {"sandbox": {"python": "python3.13"}},
        {"roles": {"CRITIC": {"temperature": 0.0}}},
        {"model_registry": {"GENERATOR": "Qwen3.5:9b", "CRITIC": "deepseek-coder:6.7b", "ADJUDICATOR": "llama3:8b"}},
    ]
    other = [
        {"quality_score_bar": 90},
        {"max_attempts": 2},
        {"critic": "when_clean"},
        {"roles": {"CRITIC": {"temperature": 0.1}}},
        {"roles": {"GENERATOR": {"seed": 1}}},
        {"rules": {"off": ["E305"]}},
        {"sandbox": {"mode": "off"}},
        {"model_registry": {"GENERATOR": "a", "CRITIC": "b", "ADJUDICATOR": "c"}},
    ]
    assert [settings_digest(Config.model_validate(one)) for one in same] == [plain] * len(same)
    digests = {settings_digest(Config.model_validate(one)) for one in other}
    assert len(digests) == len(other)
    assert plain not in digests
    one, two = ({"rules": {"off": codes}} for codes in (["E305", "P204"], ["P204", "E305", "E305"]))
    assert settings_digest(Config.model_validate(one)) == settings_digest(Config.model_validate(two))


def test_prompts_count_by_their_words_not_by_their_place(tmp_path: Path) -> None:
    built_in = load_prompts("docs", None)
    key = next(iter(built_in.words["CRITIC"]))
    text = built_in.words["CRITIC"][key]
    (tmp_path / "docs.toml").write_text(f"[CRITIC]\n{key} = {json.dumps(text)}\n", encoding="utf-8")
    assert prompts_digest(load_prompts("docs", tmp_path).words) == prompts_digest(built_in.words)
    (tmp_path / "docs.toml").write_text(f"[CRITIC]\n{key} = {json.dumps(text + 'More.')}\n", encoding="utf-8")
    assert prompts_digest(load_prompts("docs", tmp_path).words) != prompts_digest(built_in.words)


def test_models_count_by_digest_and_by_name_only_without_one() -> None:
    def digest(model: str, digest: str, window: int = 8192, role: Role = Role.CRITIC) -> str:
        return models_digest({role: Binding(role, model, Config().settings(role), window, digest=digest)})

    assert digest("a:1b", "1234") == digest("renamed:1b", "1234")
    assert digest("a", "") == digest("A:latest", "")
    different = [digest("a", "1234"), digest("a", "1235"), digest("a", ""), digest("b", ""), digest("a", "", 4096)]
    assert len({*different, digest("a", "1234", role=Role.GENERATOR)}) == 6
