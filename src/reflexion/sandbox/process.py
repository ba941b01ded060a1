"""The sandbox that is no boundary: limits, an own session, a short environment, and everything killed at the end."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from reflexion.errors import SandboxError
from reflexion.sandbox.capture import Capture, capturing, last_line
from reflexion.sandbox.family import Family, processes_of_user
from reflexion.sandbox.gate import Gate, ready
from reflexion.sandbox.interpreter import Interpreter
from reflexion.sandbox.job import Completed, Job, laid_out
from reflexion.sandbox.launch import environment, launch_command, python_command
from reflexion.sandbox.tree import COPIED

START_S = 30.0
POLL_S = 0.002
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Runs jobs as plain processes of the user. Code in it can read, write and reach whatever the user can."""

    interpreter: Interpreter

    @property
    def name(self) -> str:
        """Return the word that the configuration has for it."""
        return "process"

    @property
    def is_boundary(self) -> bool:
        """Return False."""
        return False

    def run(self, job: Job) -> Completed:
        """Run a job; see Sandbox.run. What escapes by killing its own trail is beyond it."""
        try:
            copied = {} if job.tree is None else job.tree.copied()
            with laid_out({**job.files, **copied}) as folder, capturing() as capture:
                return self._run(job, folder, capture)
        except OSError as error:
            raise SandboxError(f"sandbox process: {error}") from error

    def _run(self, job: Job, folder: Path, capture: Capture) -> Completed:
        begun = time.monotonic()
        timed_out = stopped = False
        with Gate() as gate:
            process = self._start(job, folder, capture, gate.inside.fileno())
            gate.inside.close()
            family = Family(process.pid, str(folder))
            try:
                begins = gate.marked(START_S)
                if begins:
                    gate.open()
                    timed_out = not _wait(process, family, time.monotonic() + job.limits.wall_s, job.until)
                    stopped = timed_out or not _ended(process)
            finally:
                family.kill()
                process.wait()
        stdout, stderr, cut = capture.output(job.limits)
        if not begins:
            raise SandboxError(f"sandbox process: {last_line(stderr) or 'did not start the job'}")
        code = -signal.SIGKILL if stopped else process.returncode
        seconds = time.monotonic() - begun
        return Completed(code, timed_out, stdout, stderr, capture.result_bytes(job.limits), cut, seconds)

    def _start(self, job: Job, folder: Path, capture: Capture, gate: int) -> "subprocess.Popen[bytes]":
        files, home = str(folder / "files"), str(folder / "home")
        python = python_command(self.interpreter.executable, job, files)
        tree = None if job.tree is None else f"{files}/{COPIED}"
        # The kernel counts all processes of the user, so the job's come on top of those.
        processes = processes_of_user() + job.limits.processes if sys.platform == "linux" else None
        return subprocess.Popen(  # noqa: S603
            launch_command(job.limits, processes, python),
            stdin=gate,
            stdout=capture.stdout,
            stderr=capture.stderr,
            pass_fds=[capture.result, *([] if job.channel is None else [job.channel])],
            env=environment(self.interpreter.executable, home, files, capture.result, job.channel, tree),
            cwd=home,
            start_new_session=True,
        )


def _wait(process: "subprocess.Popen[bytes]", family: Family, until: float, stop: int | None) -> bool:
    """Wait for the job's first process or ``stop``, and look at its children; return False when the time is up."""
    looked = time.monotonic()
    while not _ended(process) and not (stop is not None and ready(0, stop)):
        now = time.monotonic()
        if now >= until:
            return False
        if now >= looked + LOOK_S:
            family.look()
            looked = now
        time.sleep(min(POLL_S, until - now))
    return True


def _ended(process: "subprocess.Popen[bytes]") -> bool:
    if sys.platform != "linux":
        return process.poll() is not None
    # Left unreaped, it keeps its number, which is its group's, until the group is killed.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
