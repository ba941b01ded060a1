"""The sandbox in ordinary use: what comes back, what a job sees, and whose trouble is whose."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.config import SandboxSettings
from reflexion.errors import InputError, SandboxUnavailable
from reflexion.sandbox import Job, Limits, Sandbox, Tree, open_sandbox
from reflexion.sandbox.interpreter import find_interpreter
from tests.sandbox_support import AsNobody, at_most, bubblewrap, job, sandbox, until, watched

__all__ = ["sandbox"]  # a fixture

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
    assert Limits.of(SandboxSettings(wall_s=3, memory_mib=100)) == Limits()._replace(wall_s=3, memory_mib=100)


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


ANSWER = """
import os, subprocess, sys
channel = int(os.environ["REFLEXION_CHANNEL_FD"])
os.write(channel, os.read(channel, 100)[::-1])
os.write(int(os.environ["REFLEXION_RESULT_FD"]), " ".join(os.listdir("/proc/self/fd")).encode())
"""
LINGER = """
import os, signal, time
signal.signal(15, signal.SIG_IGN)
os.fork()
time.sleep(60)
"""


@contextlib.contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(10)
        yield here, there


@linux
def test_a_channel_is_one_more_descriptor_and_nothing_else_is(sandbox: Sandbox) -> None:
    with watched(), pair() as (here, there):
        here.sendall(b"abc")
        done = sandbox.run(replace(job(ANSWER), channel=there.fileno()))
        assert (done.exit_code, done.stderr, here.recv(100)) == (0, b"", b"cba")
    assert len(done.result.split()) == 6  # the standard three, result, channel, and the listing's own


def test_without_a_channel_there_is_no_word_of_one(sandbox: Sandbox) -> None:
    assert sandbox.run(job("import os, sys; sys.exit('REFLEXION_CHANNEL_FD' in os.environ)")).exit_code == 0


@pytest.mark.parametrize("by_closing", [False, True])
def test_a_job_is_killed_when_its_end_is_called(sandbox: Sandbox, by_closing: bool) -> None:
    if by_closing and isinstance(sandbox, AsNobody):
        pytest.skip("its forked process holds the other end as well")
    with watched() as watch, at_most(8), pair() as (here, there), ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, replace(job(LINGER, watch.marker), until=there.fileno()))
        assert until(lambda: len(watch.running()) >= 2)
        time.sleep(0.2)
        assert not running.done()
        if by_closing:
            here.close()
        else:
            here.sendall(b".")
        done = running.result(8)
        assert (done.exit_code, done.timed_out) == (-9, False)


def test_a_job_that_ends_before_it_is_called_ends_as_any(sandbox: Sandbox) -> None:
    with watched(), pair() as (_, there):
        assert sandbox.run(replace(job("raise SystemExit(3)"), until=there.fileno())).exit_code == 3


SEE = """
import os, sys
top = os.environ["REFLEXION_TREE"]
print([open(os.path.join(top, name)).read() for name in ("src/one.py", "src/two.py")], sys.prefix != sys.base_prefix)
try:
    open(os.path.join(top, "new"), "w")
except OSError as error:
    print("read-only" if error.errno == 30 else error)
"""


@pytest.mark.parametrize("own", [False, True], ids=["interpreter elsewhere", "interpreter in it"])
def test_a_folder_is_seen_with_a_file_replaced(sandbox: Sandbox, own: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (top / "src").mkdir()
        for folder in (top, top / "src"):
            folder.chmod(0o755)
        for file in ("one.py", "two.py"):
            (top / "src" / file).write_text(file)
            (top / "src" / file).chmod(0o644)
        inside: Any = getattr(sandbox, "inner", sandbox)
        if own:
            subprocess.run([inside.interpreter.executable, "-m", "venv", "--without-pip", top / "env"], check=True)
            where = find_interpreter(str(top / "env" / "bin" / "python"))
            inside = replace(inside, interpreter=where)
        place = replace(sandbox, inner=inside) if isinstance(sandbox, AsNobody) else inside
        done = place.run(Job({"see.py": SEE.encode()}, ("see.py",), tree=Tree(top, {"src/two.py": b"other"})))
        read_only = "read-only\n" if sandbox.is_boundary else ""
        own = own or (sys.prefix != sys.base_prefix and not isinstance(sandbox, AsNobody))
        assert done.stdout.decode() == f"['one.py', 'other'] {own}\n{read_only}", done
        assert sorted(path.name for path in top.iterdir() if path.name != "env") == ["src"]


def test_a_folder_that_is_too_large_to_copy_is_told(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "large").write_bytes(b"x" * 100)
    assert Tree(tmp_path, {}).copied(most_bytes=10) == {}
    (tmp_path / "large").write_bytes(b"x" * 100)
    with pytest.raises(InputError, match="to copy into the sandbox"):
        Tree(tmp_path, {}).copied(most_bytes=10)
