"""Runs pytest inside the sandbox. Never imported: ``jobs.py`` sends its text into the job, with ``reporter.py``.

The plan beside this file names folders, each with a suite and what it tests. One folder runs in this process; several
run one after the other, each in a fork, so that pytest is imported once. The reporter tells what happens, a record a
line, to the result's file descriptor; every record begins with the plan's token. The exit code of a run that went to
its end is one that only the plan names.
"""

# Without pathlib: starting is most of what a small suite costs.
# ruff: noqa: PTH100, PTH109, PTH110, PTH118, PTH120, PTH123

import atexit
import json
import os
import select
import sys
from importlib import import_module
from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))
OPTIONS = (
    *("--noconftest", "-q", "--color=no", "--tb=short", "--show-capture=no", "--import-mode=prepend"),
    *(f"-pno:{name}" for name in ("cacheprovider", "faulthandler", "doctest", "pastebin", "junitxml", "stepwise")),
)


def run(plan: "dict[str, Any]", folder: str, result: int) -> int:
    """Run the suite of one folder and return the plan's exit code if pytest came to its end, else pytest's."""
    here = os.path.join(FOLDER, folder)
    sys.path.insert(0, here)
    pytest, reporter = import_module("pytest"), import_module("reporter")
    told = reporter.Reporter(result, f"{plan['token']} {folder}", plan["canaries"])
    if plan["vetted"] is not None:
        vetted = {(line, name) for line, name in plan["vetted"]}
        told.look = import_module("kinds").Look(os.path.join(here, "solution.py"), vetted)
    places = ["-c", os.path.join(FOLDER, "pytest.ini"), f"--rootdir={here}", f"--confcutdir={here}"]
    places.append(f"--basetemp={os.path.join(os.getcwd(), 'pytest-' + folder)}")
    if plan["collect_only"]:
        places.append("--collect-only")
    code = int(pytest.main([*OPTIONS, *places, os.path.join(here, plan["suite"])], plugins=[told]))
    return int(plan["code"]) if told.end(code) else 1


def run_apart(plan: "dict[str, Any]", folder: str, result: int) -> None:
    """Run a folder in a fork, and end it when its time is over."""
    child = os.fork()
    if not child:
        try:
            os.setsid()
            run(plan, folder, result)
        finally:
            os._exit(0)
    handle = os.pidfd_open(child) if hasattr(os, "pidfd_open") else -1
    if handle >= 0:
        select.select([handle], [], [], plan["seconds"])
        os.close(handle)
        os.killpg(child, 9) if os.getpgid(child) == child else os.kill(child, 9)
    os.waitpid(child, 0)


def read_plan() -> "dict[str, Any]":
    """Read the plan from its file, or else from the channel, which then is empty: nobody reads it a second time."""
    path = os.path.join(FOLDER, "plan.json")
    descriptor = path if os.path.exists(path) else int(os.environ.pop("REFLEXION_CHANNEL_FD"))
    with open(descriptor, encoding="utf-8") as file:
        plan: dict[str, Any] = json.load(file)
    return plan


def main() -> None:
    """Read the plan and run what it names."""
    result = int(os.environ.pop("REFLEXION_RESULT_FD"))
    os.environ.pop("REFLEXION_FILES", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.set_inheritable(result, False)
    plan = read_plan()
    sys.dont_write_bytecode = True
    sys.argv[:] = ["pytest"]
    sys.path.insert(0, FOLDER)
    import_module("pytest")
    import_module("reporter")
    import_module("kinds")
    sys.path.remove(FOLDER)
    code = 0
    if len(plan["folders"]) == 1:
        code = run(plan, plan["folders"][0], result)
    else:
        for folder in plan["folders"]:
            run_apart(plan, folder, result)
        code = int(plan["code"])
    sys.stdout.flush()
    sys.stderr.flush()
    # Not by the interpreter's own end, which would wait for the candidate's threads.
    vars(atexit)["_run_exitfuncs"]()
    os._exit(code)


main()
