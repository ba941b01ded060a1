"""Runs the examples of a page, inside the sandbox. Never imported: ``runner.py`` sends its text into the job.

The plan beside this file is a Python literal (see ``protocol.py``). The source is imported once. At first all examples
run in one child that is forked from here, each in a fresh namespace, with the names of those before it where one is
missing: forking for each would double the time of a small page. Whatever does not turn out well there runs again, when
the plan says so, in a child of its own, alone or after the examples before it. What is told goes to the result's file
descriptor, one record a line, texts in hexadecimal.

All of it is self-reported: an example runs as the same user in the same sandbox, and could forge its own records or
those of the others. The boundary is the sandbox's, not this file's.

Start-up is most of what a small page costs, so nothing is imported here that the interpreter has not loaded already,
but for ``select``.
"""

# It has to outlive whatever a source raises, and to do without pathlib and contextlib.
# ruff: noqa: BLE001, PTH108, PTH118, PTH120, PTH123, S307, SIM105

import gc
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType as Module
    from typing import Any

    from reflexion.evidence.examples import inside

    Plan = dict[str, Any]
else:
    # Beside this file, where nothing else is looked for: examples shall not find it.
    sys.path.insert(0, os.path.dirname(__file__))
    inside = __import__("inside")
    del sys.path[0], sys.modules["inside"]

POLL_S = 0.002


def load_source(name: str, folder: str) -> "Module":
    """Import the source; where the package around it cannot be imported, without the package's own code."""
    sys.path.insert(0, folder)
    try:
        __import__(name)
    except Exception as error:
        if "." not in name:
            raise
        parts = name.split(".")
        for key in [key for key in sys.modules if key == parts[0] or key.startswith(parts[0] + ".")]:
            del sys.modules[key]
        for end in range(1, len(parts)):
            package = type(sys)(".".join(parts[:end]))
            package.__path__ = [os.path.join(folder, *parts[:end])]
            sys.modules[package.__name__] = package
        try:
            __import__(name)
        except Exception:
            raise error from None
    return sys.modules[name]


def ended_early(number: int, mode: str, code: int | None) -> str:
    """Return the records of an example that told nothing."""
    state = "late" if code is None else f"exit{code}"
    return f"example {number} {mode} {state}\nprinted 0 -\nend {number}\n"


def scratch(name: str) -> int:
    """Return a new file that only descriptors reach."""
    found = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.unlink(name)
    return found


def wait(child: int, seconds: float, progress: int) -> int | None:
    """Wait for a child to end; returns its exit code, or None when its time is over. Its group is killed.

    The time begins anew whenever the file ``progress`` has grown.
    """
    size, over, status = -1, False, 0
    while os.fstat(progress).st_size > size and not over:
        size = os.fstat(progress).st_size
        over = has_ended(child, seconds)
    try:
        os.killpg(child, 9)
    except OSError:
        pass
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if over else None


def has_ended(child: int, seconds: float) -> bool:
    """Wait until a child ends, which stays to be reaped; returns whether it did within the time."""
    try:
        handle = os.pidfd_open(child)
    except (AttributeError, OSError):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            time.sleep(POLL_S)
        return False
    ready = select.select([handle], [], [], seconds)[0]
    os.close(handle)
    return bool(ready)


def fork(result: int, seconds: float, run: "Callable[[int, int], None]") -> tuple[int | None, bytes]:
    """Run something in a child with its own output; returns its exit code (None: out of time) and what it told."""
    output, records = scratch(".output"), scratch(".records")
    child = os.fork()
    if not child:
        try:
            os.setsid()
            os.close(result)
            os.dup2(output, 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.stdout = open(  # noqa: SIM115
                1, "w", encoding="utf-8", errors="backslashreplace", newline="\n", closefd=False
            )
            vars(sys)["__stdout__"] = sys.stdout
            run(output, records)
        finally:
            os._exit(99)
    code = wait(child, seconds, records)
    size = os.fstat(records).st_size
    words = os.pread(records, size, 0)
    os.close(output)
    os.close(records)
    return code, words


def run_together(plan: "Plan", source: "Module", folder: str, result: int) -> None:
    """Run all examples in one child; the first of which nothing is told ended it, or ran out of time."""
    code, words = fork(result, plan["seconds"], lambda *files: inside.all_in_child(plan, source, folder, *files))
    text = words.decode("ascii", "replace")
    inside.write(result, text)
    left = [number for number in plan["together"] if f"\nend {number}\n" not in text]
    if left:
        inside.write(result, ended_early(left[0], "alone", code))


def run_one(
    plan: "Plan", source: "Module", folder: str, number: int, after: bool, before: list[int], result: int
) -> None:
    """Run one example in a child and write what it told."""
    mode = "after" if after else "alone"
    code, words = fork(
        result, plan["seconds"], lambda *files: inside.in_child(plan, source, folder, number, mode, before, *files)
    )
    text = words.decode("ascii", "replace")
    inside.write(result, text if text.endswith(f"\nend {number}\n") else ended_early(number, mode, code))


def main() -> None:
    """Import the source, then run what the plan asks for."""
    folder = os.path.dirname(__file__)
    result = int(os.environ.pop("REFLEXION_RESULT_FD"))
    os.environ.pop("REFLEXION_FILES", None)
    os.set_inheritable(result, False)
    with open(os.path.join(folder, "plan.txt"), encoding="utf-8") as file:
        plan = eval(file.read(), {"__builtins__": {}})
    sys.argv[:] = ["example.py"]
    source_folder = os.path.join(folder, "source")
    inside.write(result, "driver 1\n")
    try:
        source = load_source(plan["module"], source_folder)
    except BaseException as error:
        words = inside.raised_words(error, source_folder)
        inside.write(result, " ".join(map(str, ("unloaded", *words))) + "\n")
        os._exit(0)
    inside.write(result, "loaded\n")
    # What a child collects of this would be copied first.
    gc.freeze()
    if plan["together"]:
        run_together(plan, source, source_folder, result)
    for number, after, before in plan["run"]:
        inside.write(result, f"begun {number}\n")
        run_one(plan, source, source_folder, number, after, before, result)
    inside.write(result, "finished\n")
    os._exit(0)


main()
