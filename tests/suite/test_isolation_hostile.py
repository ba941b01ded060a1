"""Wrong candidates that want to pass, in the real sandbox. None does, and nothing of them is left."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reflexion.sandbox import Job, Limits
from reflexion.suite.isolation import isolated
from reflexion.suite.isolation.proxy import Broken
from tests.sandbox_support import at_most, bubblewrap, watched
from tests.suite.isolation_snippets import OVER, PLAIN, TAKEN_OVER
from tests.suite.isolation_support import called

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")

LIMITS = Limits(wall_s=20, cpu_s=1, memory_mib=256, processes=48)
SOON_S = 60.0  # less than the time limit of the candidate's own job
ENDLESS = ("slow-drip", "never-answers", "never-reads")
NAMES = ("double", "halve")


def judge(solution: SimpleNamespace) -> list[str]:
    """What a suite would find wrong; empty for a candidate that passes. Each question on its own, as in tests."""
    wrong = []
    for name, argument, expected in (("double", 2, 4), ("double", -3, -6), ("halve", 4, 2)):
        try:
            if getattr(solution, name)(argument) != expected:
                wrong.append("not equal")
        except (Exception, Broken) as error:  # noqa: BLE001 (each is a failed test)
            wrong.append(type(error).__name__)
    try:
        solution.halve(3)
        wrong.append("not raised")
    except ValueError as error:
        if "odd" not in str(error):
            wrong.append("another message")
    except (Exception, Broken) as error:  # noqa: BLE001 (each is a failed test)
        wrong.append(type(error).__name__)
    return wrong


def judged(candidate: str) -> list[str]:
    with watched(), at_most(SOON_S):
        try:
            with called(candidate, *NAMES, limits=LIMITS) as solution:
                return judge(solution)
        except Broken as broken:
            return [f"at import: {broken}"]


def test_the_right_one_passes() -> None:
    right = """
def double(x): return 2 * x
def halve(x):
    if x % 2: raise ValueError("an odd number")
    return x // 2
"""
    assert judged(right) == []


@pytest.mark.parametrize("name", PLAIN)
def test_a_wrong_module_does_not_pass(name: str) -> None:
    wrong = judged(PLAIN[name])
    assert len(wrong) >= 3 or wrong[0].startswith("at import")


@pytest.mark.parametrize("name", [name for name in OVER if name not in ENDLESS])
def test_a_process_that_was_taken_over_does_not_pass(name: str) -> None:
    wrong = judged(TAKEN_OVER + OVER[name])
    assert len(wrong) >= 3 or wrong[0].startswith("at import")


SMALL_SUITE = """
import os, sys
sys.path.insert(0, os.environ["REFLEXION_FILES"])
from solution import double
print("imported", flush=True)
assert double(2) == 4
print("passed", flush=True)
"""


@pytest.mark.parametrize("name", ENDLESS)
def test_one_that_does_not_answer_is_waited_for_until_the_time_is_up(name: str) -> None:
    sandbox = bubblewrap()
    with watched(), at_most(SOON_S), isolated(TAKEN_OVER + OVER[name], NAMES, sandbox, LIMITS) as both:
        job = Job({**both.files, "suite.py": SMALL_SUITE.encode()}, ("suite.py",), LIMITS._replace(wall_s=1.5))
        done = sandbox.run(replace(job, channel=both.channel))
        assert (done.timed_out, b"passed" in done.stdout) == (True, False)


CAUGHT = SMALL_SUITE.replace("assert double(2) == 4", "try: double(2)\nexcept BaseException: pass")


def test_trouble_that_the_suite_caught_still_fails_the_process() -> None:
    sandbox = bubblewrap()
    with watched(), isolated("def double(x): return object()", NAMES, sandbox, LIMITS) as both:
        job = Job({**both.files, "suite.py": CAUGHT.encode()}, ("suite.py",), LIMITS)
        done = sandbox.run(replace(job, channel=both.channel))
    assert done.stdout == b"imported\npassed\n"
    assert done.exit_code == 70
    assert b"solution: double returned a object, which is no plain data" in done.stderr


LOOKS = """
import os, re, sys
def double(x):
    found = []
    for top in ("/job", "/tmp", "/proc", "/dev/shm", "/home", "/root", "/var", "/etc"):
        for folder, folders, files in os.walk(top, onerror=lambda _: None):
            if folder.count("/") >= (2 if folder.startswith("/proc") else 5):
                folders.clear()
            for file in files:
                path = os.path.join(folder, file)
                if re.fullmatch(r"/proc/(kmsg|kcore|.*pagemap|.*/mem|.*clear_refs)", path):
                    continue
                try:
                    with open(path, "rb") as opened:
                        if ("canary" + "-of-the-suite").encode() in opened.read(100_000):
                            found.append(path)
                except OSError:
                    pass
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    descriptors = sorted(os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in os.listdir("/proc/self/fd")
                         if os.path.exists(f"/proc/self/fd/{n}") or os.path.islink(f"/proc/self/fd/{n}"))
    return found, sorted(os.listdir("/job")), len(processes), len(descriptors), sorted(os.environ)
"""
SEES = """
import json, os, sys
CANARY = "canary-of-the-suite"
sys.path.insert(0, os.environ["REFLEXION_FILES"])
os.environ["CANARY"] = CANARY
from solution import double
open(os.path.join(os.environ["TMPDIR"], "x"), "w").write(CANARY)
os.write(int(os.environ["REFLEXION_RESULT_FD"]), json.dumps(double(2)).encode())
"""


def test_what_the_candidate_sees() -> None:
    sandbox = bubblewrap()
    with watched(), isolated(LOOKS, NAMES, sandbox, LIMITS) as both:
        job = Job({**both.files, "suite.py": SEES.encode()}, ("suite.py",), LIMITS)
        done = sandbox.run(replace(job, channel=both.channel))
    assert (done.exit_code, done.stderr) == (0, b"")
    found, files, processes, descriptors, variables = json.loads(done.result)
    assert found == []
    assert files == ["reflexion_isolated", "serve.py", "solution.py"]
    assert processes <= 3  # bubblewrap's first, and its own
    assert descriptors == 5  # the standard three, its own result's, and the channel
    assert not {"CANARY", "REFLEXION_CHANNEL_FD"} & set(variables)
