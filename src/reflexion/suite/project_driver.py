"""Runs a user's own tests inside the sandbox. Never imported: ``project.py`` sends its text into the job.

Their configuration, ``conftest.py`` and plugins are in force, as they are for ``python -m pytest`` in the project's
folder. The reporter tells what happens to each test, as it does for other suites; two tests that must fail are added.
"""

# Without pathlib: starting is most of what a small suite costs.
# ruff: noqa: PTH100, PTH109, PTH118, PTH119, PTH120, PTH123

import atexit
import json
import os
import sys
from importlib import import_module
from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))
# After the project's own options, so that these hold. What can be collected is run: that one file cannot says nothing
# of the others.
OPTIONS = ("-q", "--color=no", "--tb=short", "--show-capture=no", "--maxfail=0", "--continue-on-collection-errors")


class Told:
    """Writes what is no test's affair; the reporter has the rest."""

    def __init__(self, result: int, prefix: str) -> None:
        self._result, self._prefix = result, prefix

    def say(self, kind: str, text: str) -> None:
        """Write a record of one text."""
        words = (self._prefix, kind, text.encode("utf-8", "backslashreplace").hex() or "-")
        os.write(self._result, f"{' '.join(words)}\n".encode("ascii"))


def watch_modules(paths: "list[str]", told: Told) -> None:
    """Tell once when code of a module under test is run, whatever name it is imported by."""
    seen: list[str] = []
    ends = tuple({os.path.basename(path) for path in paths})

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "exec" or seen:
            return
        name = getattr(arguments[0], "co_filename", "")
        if name.endswith(ends) and os.path.realpath(name) in paths:
            seen.append(name)
            told.say("imported", "")

    sys.addaudithook(hook)


def run(plan: "dict[str, Any]", result: int) -> int:
    """Run the tests that the plan names and return its exit code if pytest came to its end, else pytest's."""
    prefix = f"{plan['token']} run"
    told, root = Told(result, prefix), os.environ.pop("REFLEXION_TREE")
    sys.path.insert(0, FOLDER)
    try:
        pytest = import_module("pytest")
        paths = [os.path.realpath(os.path.join(root, one)) for one in plan["modules"]]
        reporter = import_module("reporter").ProjectReporter(result, prefix, plan["canaries"], paths)
    except Exception as error:  # noqa: BLE001  # whatever pytest is there, or is not, the user is told
        told.say("missing", f"{type(error).__name__}: {error}")
        return 1
    sys.path.remove(FOLDER)
    private = os.getcwd()
    os.environ["COVERAGE_FILE"] = os.path.join(private, ".coverage")
    os.chdir(root)
    sys.path[:0] = [os.path.normpath(os.path.join(root, one)) for one in plan["paths"]]
    watch_modules(paths, told)
    options = [*OPTIONS, "-o", f"cache_dir={private}/cache", f"--basetemp={private}/pytest"]
    code = int(pytest.main([*options, *plan["tests"]], plugins=[reporter]))
    return int(plan["code"]) if reporter.end(code) else 1


def main() -> None:
    """Read the plan and run what it names."""
    result = int(os.environ.pop("REFLEXION_RESULT_FD"))
    os.environ.pop("REFLEXION_FILES", None)
    os.set_inheritable(result, False)
    with open(int(os.environ.pop("REFLEXION_CHANNEL_FD")), encoding="utf-8") as file:
        plan: dict[str, Any] = json.load(file)
    sys.dont_write_bytecode = True
    sys.argv[:] = ["pytest"]
    code = run(plan, result)
    sys.stdout.flush()
    sys.stderr.flush()
    # Not by the interpreter's own end, which would wait for the candidate's threads.
    vars(atexit)["_run_exitfuncs"]()
    os._exit(code)


main()
