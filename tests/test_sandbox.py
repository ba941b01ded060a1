"""The sandbox in ordinary use: what comes back, what a job sees, and whose trouble is whose."""

import json
import os
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.config import SandboxSettings
from reflexion.errors import ReflexionError, SandboxError, SandboxUnavailable
from reflexion.sandbox import Job, Limits, Sandbox, open_sandbox
from reflexion.sandbox.bubblewrap import Bubblewrap, exit_code_of, find_programs
from reflexion.sandbox.capture import capturing
from reflexion.sandbox.interpreter import Interpreter, find_interpreter
from reflexion.sandbox.process import ProcessLimits
from tests.sandbox_support import Watch, as_nobody, at_most, bubblewrap, missing, watched

linux = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
root = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux")

TELL = """
import json, os, resource, sys
names = ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_CORE", "RLIMIT_NOFILE")
told = {
    "environment": dict(os.environ), "here": os.getcwd(), "arguments": sys.argv, "executable": sys.executable,
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in names}, "prefix": sys.prefix,
    "isolated": sys.flags.isolated, "listed": os.listdir(), "user": os.getuid(), "session": os.getsid(0) == os.getpid(),
    "files": sorted(os.path.relpath(os.path.join(at, name), os.environ["REFLEXION_FILES"])
                    for at, _, names in os.walk(os.environ["REFLEXION_FILES"]) for name in names),
}
os.write(int(os.environ["REFLEXION_RESULT_FD"]), json.dumps(told).encode())
"""


@pytest.fixture(params=["bubblewrap", "nobody", "process"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "process":
        return open_sandbox(SandboxSettings(mode="process"))
    return bubblewrap() if request.param == "bubblewrap" else as_nobody()


def job(code: str, *arguments: str, **limits: float) -> Job:
    return Job({"driver.py": code.encode()}, ("driver.py", *arguments), replace(Limits(), **limits))  # type: ignore[arg-type]


def test_names_and_promises() -> None:
    process = open_sandbox(SandboxSettings(mode="process"))
    assert (process.name, process.is_boundary) == ("process", False)
    if sys.platform == "linux":
        for mode in ("auto", "bubblewrap"):
            there = open_sandbox(SandboxSettings(mode=mode)) if bubblewrap() else None
            assert there
            assert (there.name, there.is_boundary) == ("bubblewrap", True)


def test_off_is_unavailable_with_the_reason() -> None:
    with pytest.raises(SandboxUnavailable, match="switched off") as caught:
        open_sandbox(SandboxSettings(mode="off"))
    assert caught.value.exit_code == 2


def test_limits_follow_the_settings() -> None:
    assert Limits.of(SandboxSettings(wall_s=3, memory_mib=100)) == replace(Limits(), wall_s=3, memory_mib=100)


def test_what_a_job_sees(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET", "PYTHONPATH", "PYTEST_ADDOPTS", "LD_PRELOAD_NOT", "BASH_ENV", "ENV"):
        monkeypatch.setenv(name, "/nowhere")
    limits = Limits(cpu_s=7, memory_mib=300, processes=40, file_mib=2)
    files = {"driver.py": TELL.encode(), "package/inner/data.txt": b"\xff"}
    with watched():
        done = sandbox.run(Job(files, ("driver.py", "package/inner/data.txt", "other.txt", "-x"), limits))
    assert (done.exit_code, done.stdout, done.stderr, done.output_cut) == (0, b"", b"", False)
    told = json.loads(done.result)
    variables = told["environment"]
    folder = variables["REFLEXION_FILES"]
    assert set(variables) == {
        *("PATH", "LANG", "LC_ALL", "PYTHONDONTWRITEBYTECODE", "HOME", "TMPDIR", "PWD"),
        *("REFLEXION_FILES", "REFLEXION_RESULT_FD"),
    }
    assert told["arguments"] == [f"{folder}/driver.py", f"{folder}/package/inner/data.txt", "other.txt", "-x"]
    assert told["files"] == ["driver.py", "package/inner/data.txt"]
    assert {variables["HOME"], variables["TMPDIR"], told["here"]} == {told["here"]}
    assert (told["listed"], told["isolated"]) == ([], 1)
    assert told["limits"]["RLIMIT_CPU"] == [7, 8]
    assert told["limits"]["RLIMIT_FSIZE"] == [2 * 2**20] * 2
    assert told["limits"]["RLIMIT_CORE"] == [0, 0]
    if sys.platform == "linux":
        assert told["limits"]["RLIMIT_AS"] == [300 * 2**20] * 2
    if sandbox.is_boundary:
        assert told["limits"]["RLIMIT_NPROC"] == [41, 41]
        assert told["user"] != 0


def test_a_virtual_environment_stays_one(sandbox: Sandbox) -> None:
    told = json.loads(sandbox.run(Job({"driver.py": TELL.encode()}, ("driver.py",))).result)
    if told["executable"] == sys.executable:
        assert told["prefix"] == sys.prefix


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise ValueError('no')", 1),
        ("import os; os._exit(1)", 1),
        ("import os; os._exit(127)", 127),
        ("import os; os._exit(255)", 255),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import os; os.abort()", -6),
        ("import sys; sys.stderr.write('bwrap: setting up uid map: Permission denied\\n'); sys.exit(1)", 1),
        ("import sys; sys.stderr.write('no interpreter at x\\n'); sys.exit(126)", 126),
        ("import os; os.write(0, b'x') if 0 else os.closerange(0, 99)", 0),
        ("does not parse", 1),
    ],
)
def test_the_end_of_the_child_is_the_childs(sandbox: Sandbox, code: str, exit_code: int) -> None:
    done = sandbox.run(job(code))
    assert (done.exit_code, done.timed_out) == (exit_code, False)


def test_code_and_module_on_the_command_line(sandbox: Sandbox) -> None:
    assert sandbox.run(Job({}, ("-c", "print(1 + 1)"))).stdout == b"2\n"
    assert b"json" in sandbox.run(Job({}, ("-m", "json.tool", "-h"))).stdout
    assert (
        b"error: ..."
        in sandbox.run(Job({}, ("-W", "error", "-c", "import warnings; warnings.warn('error: ...')"))).stderr
    )


@pytest.mark.parametrize("path", ["../x", "/x", "", ".", "a/../../x", "a\\b", "a\0b", "..", "a/../../../etc/passwd"])
def test_paths_that_leave_the_folder_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="no relative path"):
        Job({path: b""}, ("-c", "pass"))


@settings(max_examples=200)
@given(st.text(alphabet="./a\\\0~ ", max_size=12))
def test_every_path_is_inside_or_refused(path: str) -> None:
    try:
        Job({path: b""}, ())
    except ValueError:
        return
    inside = os.path.normpath(os.path.join("/folder", path))  # noqa: PTH118
    assert inside.startswith("/folder/")


def test_a_file_that_is_also_a_folder_is_refused(sandbox: Sandbox) -> None:
    with watched(), pytest.raises(ValueError, match="both a file and a folder"):
        sandbox.run(Job({"a": b"", "a/b": b""}, ("-c", "pass")))


def test_output_is_bytes_with_head_and_tail(sandbox: Sandbox) -> None:
    code = "import sys; b = sys.stdout.buffer; b.write(b'\\xffhead' + b'.' * 500_000 + b'tail\\xfe'); b.flush()"
    done = sandbox.run(job(code, output_kib=4))
    assert done.output_cut
    assert done.stdout.startswith(b"\xffhead")
    assert done.stdout.endswith(b"tail\xfe")
    assert b"[... 495914 bytes left out ...]" in done.stdout
    whole = sandbox.run(job("print('x' * 4095)", output_kib=4))
    assert (len(whole.stdout), whole.output_cut) == (4096, False)


def test_output_of_children_is_kept_in_order(sandbox: Sandbox) -> None:
    code = (
        "import os\nfor n in range(5):\n    print(n, flush=True)\n    os.system(f'echo child {n}; echo wrong {n} >&2')"
    )
    done = sandbox.run(job(code))
    assert done.stdout.split(b"\n")[:4] == [b"0", b"child 0", b"1", b"child 1"]
    assert done.stderr.count(b"wrong") == 5


def test_the_time_limit_ends_children_too(sandbox: Sandbox) -> None:
    code = """
        import os, subprocess, sys, time
        print("begun", flush=True)
        for new_session in (False, True):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", sys.argv[1]],
                             start_new_session=new_session)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
        time.sleep(60)
    """
    with watched() as watch, at_most(8):
        done = sandbox.run(job("if True:\n" + code, watch.marker, wall_s=1.5))
        assert (done.exit_code, done.timed_out, done.stdout) == (-9, True, b"begun\n")
        assert 1.4 < done.wall_s < 7


def test_what_a_job_leaves_running_ends_with_it(sandbox: Sandbox) -> None:
    code = """
        import os, sys, time
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(60)
                os._exit(0)
        time.sleep(0.1)
    """
    with watched() as watch, at_most(8):
        done = sandbox.run(job("if True:\n" + code, watch.marker))
        assert (done.exit_code, done.timed_out) == (0, False)


def test_the_memory_limit(sandbox: Sandbox) -> None:
    if sys.platform != "linux":
        pytest.skip("macOS has no limit on the address space")
    done = sandbox.run(job("x = bytes(200 * 2**20)", memory_mib=150))
    assert done.exit_code == 1
    assert b"MemoryError" in done.stderr
    assert sandbox.run(job("x = bytes(200 * 2**20)", memory_mib=400)).exit_code == 0


def test_the_processor_limit(sandbox: Sandbox) -> None:
    done = sandbox.run(job("while True: pass", cpu_s=1))
    assert (done.exit_code, done.timed_out) == (-24, False)


def test_jobs_side_by_side_do_not_mix(sandbox: Sandbox) -> None:
    if threading.active_count() > 1 and sandbox.run.__qualname__.startswith("AsNobody"):
        pytest.skip("forks, so it is for a single thread")
    with watched(), ThreadPoolExecutor(1 if sandbox.run.__qualname__.startswith("AsNobody") else 8) as pool:
        jobs = [job(f"import sys; print({n}); sys.exit({n})") for n in range(24)]
        done = list(pool.map(sandbox.run, jobs))
    assert [(d.exit_code, d.stdout) for d in done] == [(n, f"{n}\n".encode()) for n in range(24)]


# Trouble of the sandbox itself


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


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
    return True


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


def test_errors_have_their_place() -> None:
    assert issubclass(SandboxError, ReflexionError)
    assert not issubclass(SandboxError, SandboxUnavailable)
    assert missing is not None
