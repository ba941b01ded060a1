"""Installs what the embedded engine needs, into the Python that runs reflexion."""

import importlib
import shlex
import subprocess
import sys
from collections.abc import Callable

from reflexion.embedded.packages import missing_packages
from reflexion.errors import ServerError

STDERR = 2


def install_demo(say: Callable[[str], None]) -> None:
    """Run pip for each package that is missing, and ``say`` what is run. Nothing is done where nothing is missing.

    Raises ServerError with pip's last words.
    """
    for package in missing_packages():
        command = [sys.executable, "-m", "pip", "install", *package]
        say(shlex.join(command))
        _run(command)
        say(f"installed {package[-1]}")
    importlib.invalidate_caches()
    left = [package[-1] for package in missing_packages()]
    if left:
        raise ServerError(f"pip says that {' and '.join(left)} is installed, but {sys.executable} does not find it")


def _run(command: list[str]) -> None:
    # Its progress goes where ours does; standard output is for what was done.
    done = subprocess.run(  # noqa: S603 (pip of this interpreter, with names of our own)
        command, stdin=subprocess.DEVNULL, stdout=STDERR, stderr=subprocess.PIPE, check=False
    )
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")] or lines[-1:]
    words = errors[-1] if errors else f"it ended with {done.returncode} and said nothing"
    if "No module named pip" in words:
        words = "this Python has no pip; install the package with the tool that installed reflexion"
    raise ServerError(f"{shlex.join(command)}: {words}")
