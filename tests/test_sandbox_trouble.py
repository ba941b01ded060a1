"""Trouble of the sandbox itself, and what must be gone when reflexion was killed."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflexion.config import SandboxSettings
from reflexion.errors import SandboxError, SandboxUnavailable
from reflexion.sandbox import Limits, Sandbox, open_sandbox
from reflexion.sandbox.bubblewrap import Bubblewrap, exit_code_of, find_programs
from reflexion.sandbox.capture import capturing
from reflexion.sandbox.interpreter import Interpreter, find_interpreter
from reflexion.sandbox.job import laid_out, remove_leftovers
from reflexion.sandbox.process import ProcessLimits
from tests.sandbox_support import Watch, at_most, bubblewrap, job, sandbox, until, watched

__all__ = ["sandbox"]  # a fixture

linux = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
root = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux")


def test_no_folder_for_temporary_files_is_the_sandboxs_trouble(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    with pytest.raises(SandboxError) as caught:
        sandbox.run(job("pass"))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4


def test_an_interpreter_that_went_away_is_the_sandboxs_trouble(tmp_path: Path) -> None:
    bwrap, setpriv = find_programs()
    gone = Interpreter(str(tmp_path / "python"), ())
    with watched(), pytest.raises(SandboxError, match="no interpreter at"):
        ProcessLimits(gone).run(job("pass"))
    if sys.platform == "linux" and bubblewrap() and bwrap:
        with watched(), pytest.raises(SandboxError, match="no interpreter at"):
            Bubblewrap(gone, bwrap, setpriv if os.geteuid() == 0 else None).run(job("pass"))


@pytest.mark.parametrize("answer", ["exit 1", "echo 'bwrap: no luck' >&2; exit 1", "kill -9 $$", "exit 0", "sleep 60"])
@linux
def test_a_bubblewrap_that_fails_is_the_sandboxs_trouble(tmp_path: Path, answer: str) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(f"#!/bin/sh\n{answer}\n")
    broken.chmod(0o755)
    with watched(), at_most(25), pytest.raises(SandboxError, match="sandbox bubblewrap: ") as caught:
        Bubblewrap(find_interpreter(None), str(broken), None, start_s=1).run(job("pass", wall_s=0.5))
    if "luck" in answer:
        assert str(caught.value) == "sandbox bubblewrap: no luck"


def test_an_interpreter_that_is_none_is_unavailable(tmp_path: Path) -> None:
    text = tmp_path / "python"
    text.write_text("#!/bin/sh\necho no\n")
    text.chmod(0o755)
    for python in (str(text), str(tmp_path / "missing"), "/bin/true"):
        for mode in ("process", "bubblewrap"):
            with pytest.raises(SandboxUnavailable):
                open_sandbox(SandboxSettings(mode=mode, python=python))


def in_own_process(*before: str, code: str = "", environment: dict[str, str] | None = None) -> str:
    """What ``open_sandbox`` and one job say in a fresh process, started behind the command ``before``."""
    script = f"""
import sys
from reflexion.config import SandboxSettings
from reflexion.errors import ReflexionError
from reflexion.sandbox import Job, open_sandbox
try:
    sandbox = open_sandbox(SandboxSettings())
    {code or "pass"}
    print(sandbox.run(Job({{}}, ("-c", "print('ran')"))).stdout.decode())
except ReflexionError as error:
    print(type(error).__name__, error)
"""
    command = [*before, sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **(environment or {})}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@linux
def test_without_bubblewrap_auto_runs_nothing(tmp_path: Path) -> None:
    said = in_own_process(environment={"PATH": str(tmp_path)})
    assert said.startswith("SandboxUnavailable sandbox bubblewrap: no program bwrap on PATH")


@root
def test_refused_namespaces_are_unavailable() -> None:
    bubblewrap()
    refuse = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    said = in_own_process("unshare", "--user", "--map-root-user", "sh", "-c", refuse, "sh")
    assert said.startswith("SandboxUnavailable sandbox bubblewrap: ")
    assert "\n" not in said


@root
def test_a_full_disk_is_the_sandboxs_trouble(tmp_path: Path) -> None:
    bubblewrap()
    mount = 'mount -t tmpfs -o size=256k none "$0" && export TMPDIR="$0" && exec "$@"'
    fill = f"open({str(tmp_path / 'big')!r}, 'wb').write(bytes(184 * 1024))"
    for job_text in ("{'x': bytes(99999)}, ('-c', 'pass')", "{}, ('-c', 'print(4 * 10**5 * \"x\")')"):
        code = f"{fill}; sandbox.run(Job({job_text}))"
        said = in_own_process("unshare", "--mount", "sh", "-c", mount, str(tmp_path), code=code)
        assert said.startswith("SandboxError sandbox bubblewrap: [Errno 28] No space left on device"), job_text


def test_another_interpreter(tmp_path: Path, sandbox: Sandbox) -> None:
    if sandbox.run.__qualname__.startswith("AsNobody"):
        pytest.skip("its interpreter is chosen by the test")
    venv.create(tmp_path / "own", with_pip=False, symlinks=True)
    site = next((tmp_path / "own" / "lib").glob("python*")) / "site-packages"
    (site / "only_here.py").write_text("value = 42\n")
    python = str(tmp_path / "own" / "bin" / "python")
    mode = "process" if sandbox.name == "process" else "bubblewrap"
    own = open_sandbox(SandboxSettings(mode=mode, python=python))  # type: ignore[arg-type]
    assert own.run(job("import only_here; print(only_here.value)")).stdout == b"42\n"
    assert sandbox.run(job("import only_here")).exit_code == 1


def test_only_parts_of_a_prefix_are_shown() -> None:
    needs = find_interpreter(None).needs
    assert sys.prefix not in needs
    assert all(Path(path).exists() for path in needs)


@linux
def test_a_sandbox_killed_from_outside_is_no_result() -> None:
    there = bubblewrap()
    with watched() as watch, ThreadPoolExecutor(1) as pool:
        running = pool.submit(there.run, job("import time\nprint('begun')\ntime.sleep(60)", watch.marker))
        assert until(lambda: len(watch.running()) >= 3)
        time.sleep(1)
        os.kill(watch.running()[0], signal.SIGKILL)
        with pytest.raises(SandboxError, match="killed from outside by signal 9"):
            running.result(10)


@pytest.mark.parametrize("running", [1, 2, 3, 4, 5])
@linux
def test_what_reflexion_starts_ends_when_it_is_killed(running: int, tmp_path: Path) -> None:
    """Killed as soon as so many processes of the chain are there, reflexion's own included."""
    bubblewrap()
    watch = Watch(tmp_path)
    code = f"""
from reflexion.config import SandboxSettings
from reflexion.sandbox import Job, open_sandbox
open_sandbox(SandboxSettings()).run(Job({{}}, ("-c", "import time; time.sleep(60)", {watch.marker!r})))
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        enough = until(lambda: len(watch.running()) >= running)
        process.kill()
    assert enough
    assert until(lambda: watch.running() == [])


def test_folders_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with subprocess.Popen(["/bin/sh", "-c", ":"]) as ended:
        pass
    names = [f"{ended.pid}-old", f"{ended.pid}-new", f"{os.getpid()}-old", "words-old"]
    for name in names:
        (tmp_path / f"reflexion-sandbox-{name}" / "files").mkdir(parents=True)
        age = 0 if name.endswith("new") else 7200
        os.utime(tmp_path / f"reflexion-sandbox-{name}", (time.time() - age,) * 2)
    remove_leftovers()
    assert sorted(path.name.removeprefix("reflexion-sandbox-") for path in tmp_path.iterdir()) == sorted(names[1:])


def test_a_folder_that_somebody_else_removed_changes_nothing_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    with laid_out({"a": b""}) as folder:
        shutil.rmtree(folder)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_exit_codes_of_bubblewrap() -> None:
    assert [exit_code_of(code) for code in (0, 1, 127, 128, 129, 137, 192, 193, 255)] == [
        *(0, 1, 127, 128, -1, -9, -64, 193, 255),
    ]


def test_reading_back_where_a_job_moved_the_position() -> None:
    limits = Limits(output_kib=1)
    with capturing() as capture:
        os.write(capture.stdout, b"a" * 100)
        os.lseek(capture.stdout, 2**40, os.SEEK_SET)
        assert capture.output(limits) == (b"a" * 100, b"", False)
        os.ftruncate(capture.result, 2**40)
        assert len(capture.result_bytes(limits)) == limits.file_mib * 2**20
