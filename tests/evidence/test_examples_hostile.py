"""Examples that attack: each stands on a page beside an honest one that is wrong, whose finding must not be lost.

What the sandbox itself holds is in tests/test_sandbox_hostile.py; here it is what becomes of the page.
"""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.report import ExamplesReport
from reflexion.evidence.examples.runner import ExampleRunner
from reflexion.evidence.source import facts_of_python
from reflexion.importable import importable
from reflexion.sandbox import Limits
from tests.sandbox_support import bubblewrap

SOURCE = "def double(value: int) -> int:\n    return 2 * value\n"
HONEST_BUT_WRONG = "double(4)  # 9"
LIMITS = Limits(wall_s=5.0, cpu_s=3)
SECRET = "the-secret-of-the-host"

# By what is allowed to become of the example: "not run", or a finding that it raises.
ENDS = {
    "os._exit": "import os\nos._exit(0)",
    "os._exit with a forged result": (
        "import os\nos.write(int(os.environ['REFLEXION_RESULT_FD']), b'passed\\n' * 9)\nos._exit(0)"
    ),
    "sys.exit": "import sys\nsys.exit(0)",
    "raise SystemExit": "raise SystemExit",
    "abort": "import os\nos.abort()",
    "kill itself": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "kill the parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "kill everything": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "kill the group": "import os, signal\nos.killpg(0, signal.SIGKILL)",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)",
    "loop": "while True:\n    pass",
    "sleep": "import time\ntime.sleep(1000)",
    "ignore every signal": (
        "import signal\nfor one in range(1, 65):\n    try:\n        signal.signal(one, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass"
    ),
    "print without end": "while True:\n    print('x' * 1000)",
    "fork bomb": "import os\nwhile True:\n    os.fork()",
    "threads": "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(99,)).start()",
    "10 GB of memory": "keep = b'x' * 10_000_000_000",
    "10 GB on disk": "with open('big', 'wb') as file:\n    for _ in range(10**4):\n        file.write(b'x' * 10**6)",
    "recursion": "def f():\n    return f()\nf()",
    "read standard input": "input('name? ')",
    "read from fd 0": "import os\nassert os.read(0, 1)",
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', PORT), timeout=2)",
    "resolve": "import socket\nsocket.getaddrinfo('example.org', 80)",
    "close all descriptors": "import os\nos.closerange(0, 256)\nos._exit(0)",
    "read a host file": "print(open(CANARY).read())",
    "write a host file": "open(CANARY, 'a').write('x')",
    "read the home": "import pathlib\nnext(pathlib.Path('/root').iterdir()).read_text()",
    "read passwords": "open('/etc/shadow').read()",
    "remove the source": "import os\nos.remove(os.path.join(os.environ['REFLEXION_FILES'], 'numbers_.py'))",
}
# What may run to its end, since it does no harm there, but tells and leaves nothing.
HARMLESS = {
    "a daemon of its own": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n"
        "    os._exit(0)"
    ),
    "the environment": f"import os\nassert {SECRET!r} not in str(os.environ)",
    "bytes that are no text": "import sys\nsys.stdout.buffer.write(bytes(range(256)))\nsys.stdout.flush()",
    "another value for print": "import builtins\nbuiltins.print = lambda *_: None\nbuiltins.repr = lambda _: '9'",
    "another equality": "import operator\noperator.eq = lambda *_: True",
}


@pytest.fixture(scope="module")
def listener() -> Iterator[int]:
    """A port of the host that must never be reached; connections would be accepted."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        yield server.getsockname()[1]


def _accept(server: socket.socket) -> None:
    try:
        while True:
            server.accept()[0].close()
    except OSError:
        return


def run_beside(code: str) -> ExamplesReport:
    """Run a page of two examples: the hostile one first, then the honest one that states a wrong value."""
    page = f"# numbers_\n\n```python\n{code}\n```\n\nAnd:\n\n```python\n{HONEST_BUT_WRONG}\n```\n"
    runner = ExampleRunner(bubblewrap(), importable(None, SOURCE, "numbers_"), limits=LIMITS)
    return runner.run(read_claims(page), facts_of_python(SOURCE, "numbers_"))


def jobs_left() -> list[str]:
    """The sandboxes that this process has started and that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text(encoding="utf-8").partition(") ")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if parent == str(os.getpid()) and "(bwrap" in name and state != "Z":
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("name", ENDS)
def test_an_attack_is_a_finding_or_not_run_and_costs_no_other_finding(name: str, tmp_path: Path, listener: int) -> None:
    canary = tmp_path / "canary"
    canary.write_text(SECRET, encoding="utf-8")
    code = ENDS[name].replace("CANARY", repr(str(canary))).replace("PORT", str(listener))
    report = run_beside(code)
    honest = [finding for finding in report.findings if finding.rule == "X603"]
    assert [finding.stated for finding in honest] == ["9"]
    hostile = [finding for finding in report.findings if finding.rule != "X603"]
    assert len(hostile) + len(report.not_run) == 1
    assert canary.read_text(encoding="utf-8") == SECRET
    assert SECRET not in str(report)
    assert jobs_left() == []


@pytest.mark.parametrize("name", HARMLESS)
def test_what_leaves_no_trace_leaves_the_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    report = run_beside(HARMLESS[name])
    assert [finding.rule for finding in report.findings] == ["X603"]
    assert report.not_run == ()
    assert jobs_left() == []
