"""scripts/install-ollama.sh: the parts that need no build."""

import subprocess
from pathlib import Path

import pytest

from tests.real_ollama import VERSION, cache_folder, find_binary

SCRIPT = Path(__file__).parents[1] / "scripts" / "install-ollama.sh"


def run(cache: Path, path: str = "/usr/bin:/bin") -> "subprocess.CompletedProcess[str]":
    env = {"PATH": path, "HOME": str(cache), "REFLEXION_CACHE": str(cache)}
    return subprocess.run(["/bin/sh", str(SCRIPT)], env=env, capture_output=True, text=True, timeout=30)


def test_a_binary_in_the_cache_is_only_named_and_the_tests_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLEXION_CACHE", str(tmp_path))
    monkeypatch.delenv("REFLEXION_OLLAMA_BINARY", raising=False)
    binary = cache_folder() / "ollama"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    done = run(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{binary}\n", "")
    assert find_binary() == binary


def test_without_go_it_says_what_to_install_and_leaves_nothing(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    done = run(tmp_path / "cache", path=str(tools))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("install-ollama: no Go toolchain: install Go")
    assert not (tmp_path / "cache").exists()


def test_without_a_compiler_it_says_so(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "go").write_text("#!/bin/sh\n")
    (tools / "go").chmod(0o755)
    done = run(tmp_path / "cache", path=str(tools))
    assert (done.returncode, "no C compiler (gcc)" in done.stderr) == (1, True)


def test_the_script_and_the_tests_mean_the_same_version() -> None:
    assert f"\nversion={VERSION}\n" in SCRIPT.read_text(encoding="utf-8")
