"""``reflexion`` as a process on a terminal of its own, and what a person would have seen there."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

# So wide that no line is broken.
ROWS, COLUMNS = 50, 1000
PATIENCE_S = 300.0
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A context manager; what still runs at its end is killed."""

    def __init__(self, folder: Path, *args: str) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        command = [sys.executable, "-m", "reflexion", *args]
        environment = os.environ | {"TERM": "xterm"}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        self._ours = ours
        self._shown = ""
        self._grew = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        os.close(self._ours)

    def await_shown(self, pattern: str) -> None:
        """Wait until the pattern has been on the screen."""
        with self._grew:
            found = self._grew.wait_for(lambda: re.search(pattern, self._text()), PATIENCE_S)
            assert found, self._text()

    def ended(self) -> tuple[int, list[str]]:
        """Wait for the end; return the exit code and the lines, without the blanks at their ends."""
        until = time.monotonic() + PATIENCE_S
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(self._text()) from None
        self._reader.join(max(0.0, until - time.monotonic()))
        return code, [line.strip() for line in re.split(r"[\r\n]+", self._text())]

    def _text(self) -> str:
        return _CONTROL.sub("", self._shown)

    def _read(self) -> None:
        # The end of the process is an error of the terminal's other side.
        with contextlib.suppress(OSError):
            while piece := os.read(self._ours, 65536):
                with self._grew:
                    self._shown += piece.decode("utf-8", errors="replace")
                    self._grew.notify_all()
