"""The processes that a plain process has started, children's children included, and their end."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROUNDS = 50
PAUSE_S = 0.02
PS = ("/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,lstart=")
PS_S = 10.0


class _Row(NamedTuple):
    """A process that is not a zombie. ``start`` tells it from a later one with the same number."""

    parent: int
    groups: frozenset[int]
    start: str


@dataclass(slots=True)
class Family:
    """A process that leads a session, and its descendants.

    A child whose parent has ended is known by having been seen before, by its process group or session, or, on
    Linux, by ``token`` in the environment that it was started with.
    """

    leader: int
    token: str
    _seen: dict[int, str] = field(default_factory=dict)

    def look(self) -> set[int]:
        """Return the descendants there are now."""
        table = _table()
        found = {pid for pid, row in table.items() if self._seen.get(pid) == row.start or self.leader in row.groups}
        found |= _with_token(table, self.token) | {self.leader}
        grown = True
        while grown:
            more = {pid for pid, row in table.items() if row.parent in found} - found
            found |= more
            grown = bool(more)
        found &= set(table) - {self.leader, os.getpid()}
        self._seen = {pid: table[pid].start for pid in found}
        return found

    def kill(self) -> None:
        """Kill them all, again and again until none is left or a second has gone by."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, signal.SIGKILL)
        for _ in range(ROUNDS):
            left = self.look()
            if not left:
                return
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(PAUSE_S)


def processes_of_user() -> int:
    """Return how many processes and threads the user has now (Linux)."""
    me = os.getuid()
    count = 0
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == me:
                count += len(list((folder / "task").iterdir()))
    return count


def _table() -> dict[int, _Row]:
    return _table_of_proc() if sys.platform == "linux" else _table_of_ps()


def _table_of_proc() -> dict[int, _Row]:
    table = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError, ValueError):
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[0] not in "ZX":
                table[int(folder.name)] = _Row(int(fields[1]), frozenset(map(int, fields[2:4])), fields[19])
    return table


def _table_of_ps() -> dict[int, _Row]:
    listed = subprocess.run(PS, capture_output=True, text=True, check=False, timeout=PS_S)  # noqa: S603
    table = {}
    for line in listed.stdout.splitlines():
        pid, parent, group, start = line.split(None, 3)
        table[int(pid)] = _Row(int(parent), frozenset({int(group)}), start)
    return table


def _with_token(table: dict[int, _Row], token: str) -> set[int]:
    if sys.platform != "linux":
        return set()
    found = set()
    for pid in table:
        with suppress(OSError):
            if token.encode() in Path(f"/proc/{pid}/environ").read_bytes():
                found.add(pid)
    return found
