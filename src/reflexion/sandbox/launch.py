"""The last step before a job's Python: its limits, and the gate."""

import sys
from collections.abc import Sequence
from pathlib import Path

from reflexion.sandbox.job import MIB, Job, Limits

SHELL = "/bin/sh"
OPEN_FILES = 256

# Standard input is the gate until the job starts, since /bin/sh cannot name a descriptor above 9. `-u` is bash's and
# `-p` dash's word for processes. Every error ends it (-e) before the mark, with its message on stderr.
_SCRIPT = """
[ -x "$6" ] || { echo "no interpreter at $6" >&2; exit 1; }
ulimit -c 0
ulimit -n "$5"
ulimit -S -t "$1"
ulimit -H -t "$(($1 + 1))"
ulimit -f "$2"
[ "$3" = - ] || ulimit -v "$3"
[ "$4" = - ] || ulimit -u "$4" 2>/dev/null || ulimit -p "$4"
shift 5
echo started >&0
read -r word <&0
[ "$word" = go ]
exec "$@" </dev/null
"""
_BLOCK = 512


def launch_command(limits: Limits, processes: int | None, command: Sequence[str]) -> list[str]:
    """Return the command that sets the limits, passes the gate at descriptor 0 and becomes ``command``.

    ``processes`` is the limit for the user as the kernel counts it, None for none.
    """
    memory = "-" if sys.platform == "darwin" else str(limits.memory_mib * 1024)
    blocks = limits.file_mib * MIB // _BLOCK
    count = "-" if processes is None else str(processes)
    values = [str(limits.cpu_s), str(blocks), memory, count, str(OPEN_FILES)]
    return [SHELL, "-e", "-c", _SCRIPT, "sandbox", *values, *command]


def python_command(executable: str, job: Job, files: str) -> list[str]:
    """Return ``python -I`` with the job's arguments, its files by their place under the folder ``files``."""
    arguments = [str(Path(files) / item) if item in job.files else item for item in job.arguments]
    return [executable, "-I", *arguments]


def environment(
    executable: str, private: str, files: str, result_fd: int, channel: int | None, tree: str | None
) -> dict[str, str]:
    """Return all that a job's environment holds. (``-I`` ignores PYTHON...; the child's own children may not.)"""
    named = {} if channel is None else {"REFLEXION_CHANNEL_FD": str(channel)}
    named |= {} if tree is None else {"REFLEXION_TREE": tree}
    return named | {
        "PATH": f"{Path(executable).parent}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": private,
        "TMPDIR": private,
        "REFLEXION_FILES": files,
        "REFLEXION_RESULT_FD": str(result_fd),
    }
