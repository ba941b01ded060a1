"""What an interpreter is made of on disk: what it needs to be seen inside of a sandbox."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from reflexion.errors import SandboxUnavailable

ASK = "import json, sys; print(json.dumps([sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]))"
ASK_S = 20.0
PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
LINKS = 40


class Interpreter(NamedTuple):
    """An executable by its full path, and what must be visible so that it starts: folders and files."""

    executable: str
    needs: tuple[str, ...]


@functools.cache
def find_interpreter(python: str | None) -> Interpreter:
    """Return the interpreter named ``python``, by default the one that runs this code.

    Raises SandboxUnavailable when it does not start.
    """
    if python is None:
        executable = sys.executable
        prefixes = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    else:
        executable = os.path.abspath(shutil.which(python) or python)  # noqa: PTH100 (resolving the links would lose a virtual environment)
        prefixes = _ask(executable)
    needs = _hops(executable)
    for prefix in dict.fromkeys(prefixes):
        # Not the whole prefix: it can be somebody's ~/.local.
        needs += [part for name in PARTS if os.path.exists(part := os.path.join(prefix, name))]  # noqa: PTH110, PTH118
    return Interpreter(executable, tuple(_outermost(needs)))


def _ask(executable: str) -> list[str]:
    command = [executable, "-I", "-c", ASK]
    try:
        asked = subprocess.run(  # noqa: S603 (the user's own interpreter)
            command, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=ASK_S, check=True
        )
        prefixes = json.loads(asked.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"sandbox.python: {executable} does not start as Python: {error}") from error
    return [str(prefix) for prefix in prefixes]


def _hops(executable: str) -> list[str]:
    """Return the file and what it links to, link by link."""
    hops = [executable]
    while len(hops) < LINKS and Path(hops[-1]).is_symlink():
        here = Path(hops[-1])
        hops.append(os.path.normpath(here.parent / here.readlink()))
    return hops


def _outermost(paths: list[str]) -> list[str]:
    """Leave out what lies in another of the paths, and repetitions."""
    kept: list[str] = []
    for path in sorted(set(paths), key=len):
        if not any(Path(path).is_relative_to(folder) for folder in kept):
            kept.append(path)
    return kept
