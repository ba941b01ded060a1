"""Which sandbox there is: chosen by the configuration, and proved by running a job in it, once per process."""

import functools
import json
import os
import sys

from reflexion.config import SandboxSettings
from reflexion.errors import SandboxError, SandboxUnavailable
from reflexion.sandbox.bubblewrap import OWN_PROCESSES, Bubblewrap, find_programs
from reflexion.sandbox.capture import last_line
from reflexion.sandbox.interpreter import find_interpreter
from reflexion.sandbox.job import MIB, Job, Limits, Sandbox, remove_leftovers
from reflexion.sandbox.process import ProcessLimits

NO_BOUNDARY = 'Examples run with sandbox.mode "process": limits only, no security boundary.'
PROBE = """\
import json, os, resource
names = ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_NPROC")
limits = {name: resource.getrlimit(getattr(resource, name))[0] for name in names}
here = os.path.realpath(os.getcwd())
private = here == os.path.realpath(os.environ["HOME"]) and os.listdir() == []
os.write(int(os.environ["REFLEXION_RESULT_FD"]), json.dumps({"limits": limits, "private": private}).encode())
"""


def open_sandbox(settings: SandboxSettings) -> Sandbox:
    """Return the sandbox that the settings ask for, after it has run a job.

    Raises SandboxUnavailable, with the reason, when there is none, or when it is switched off.
    """
    if settings.mode == "off":
        raise SandboxUnavailable('sandbox: switched off ("sandbox": {"mode": "off"})')
    if settings.mode == "process":
        sandbox, reason = _process(settings.python)
    else:
        sandbox, reason = _bubblewrap(settings.python)
    if sandbox is None:
        raise SandboxUnavailable(f"sandbox {'process' if settings.mode == 'process' else 'bubblewrap'}: {reason}")
    return sandbox


@functools.cache
def _process(python: str | None) -> tuple[Sandbox | None, str]:
    sandbox = ProcessLimits(find_interpreter(python))
    reason = _trouble(sandbox, {"RLIMIT_CPU", "RLIMIT_FSIZE"})
    return (None, reason) if reason else (sandbox, "")


@functools.cache
def _bubblewrap(python: str | None) -> tuple[Sandbox | None, str]:
    if sys.platform != "linux":
        return None, "there is none outside of Linux"
    bwrap, setpriv = find_programs()
    if bwrap is None:
        return None, "no program bwrap on PATH; install the package bubblewrap"
    root = os.geteuid() == 0
    if root and setpriv is None:
        return None, "no program setpriv on PATH, which root needs; install the package util-linux"
    sandbox = Bubblewrap(find_interpreter(python), bwrap, setpriv if root else None)
    reason = _trouble(sandbox, {"RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_NPROC"})
    return (None, reason) if reason else (sandbox, "")


def _trouble(sandbox: Sandbox, checked: set[str]) -> str:
    """Return why the sandbox is not to be used, empty when it ran a job and the limits were in force in it."""
    limits = Limits()
    remove_leftovers()
    try:
        done = sandbox.run(Job({"probe.py": PROBE.encode()}, ("probe.py",), limits))
    except SandboxError as error:
        return str(error).partition(": ")[2]
    if done.exit_code or done.timed_out:
        return f"Python ended with {done.exit_code} in it: {last_line(done.stderr) or 'no message'}"
    expected = {
        "RLIMIT_CPU": limits.cpu_s,
        "RLIMIT_FSIZE": limits.file_mib * MIB,
        "RLIMIT_AS": limits.memory_mib * MIB,
        "RLIMIT_NPROC": limits.processes + OWN_PROCESSES,
    }
    try:
        said = json.loads(done.result)
        wrong = [name for name in sorted(checked) if said["limits"][name] != expected[name]]
    except (ValueError, KeyError, TypeError):
        return "Python gave no answer in it"
    if wrong:
        return f"{wrong[0]} is not in force in it"
    return "" if said["private"] else "it has no private folder"
