"""What is asked for and where each result goes: decided, and checked, before the first model call."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from reflexion.errors import InputError
from reflexion.loaders import STDIN, Source, load_path, load_stdin
from reflexion.plan import DEFAULT_OUTPUT, Job, Plan
from reflexion.team import folder as folders

SUFFIXES = frozenset({".md", ".txt"})
PROMPT = "prompt"
LONGEST_SLUG = 40
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class TaskPlan(Plan):
    """The tasks; the output of a job is the report in its result's folder. ``written`` are the files that it gets."""

    written: tuple[str, ...] = folders.OURS

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise InputError where the result of one of ``jobs`` could not, or must not, be written. Creates nothing."""
        taken: dict[str, str] = {}
        for job in jobs:
            folder = folder_of(job)
            key = str(folder).casefold()
            if key in taken:
                raise InputError(f"{taken[key]} and {job.label} would both be written to {folder}; do them apart")
            taken[key] = job.label
            self._spare_inputs(folder)
            folders.check(folder, overwrite=self.overwrite)
            self._require_same_request(job, folder)

    def _spare_inputs(self, folder: Path) -> None:
        """No input is ever replaced, also with ``overwrite``."""
        inputs = {os.path.realpath(path) for path in (*self.protected, *(job.path for job in self.jobs)) if path}
        for place in (one / name for one in (folder, folder / folders.DRAFT_FOLDER) for name in self.written):
            if os.path.realpath(place) in inputs:
                raise InputError(f"{place}: is an input; name another output")

    def _require_same_request(self, job: Job, folder: Path) -> None:
        """A folder that a prompt's first words name may be that of another prompt."""
        run = folders.look(folder).run
        if job.path is None and run is not None and not self.overwrite and run.get("request_sha256") != _digest(job):
            raise InputError(f"{folder}: holds the result of another request; name another --output, or --overwrite")


def make_task_plan(
    prompt: str | None, given: str | None, output: str | None, *, overwrite: bool, protected: Sequence[Path] = ()
) -> TaskPlan:
    """Decide what is asked and where its result is written. Raises InputError; creates nothing.

    ``prompt`` is a request in words, ``given`` a file that holds one, a folder of such files, or "-". ``protected``
    are files that no result may replace, such as the configuration in use.
    """
    if (prompt is None) == (given is None):
        raise InputError("one request at a time: give --prompt or --input")
    if given is not None and given != STDIN and Path(given).is_dir():
        target = Path(output) if output else DEFAULT_OUTPUT
        return _plan_folder(Path(given), target, tuple(protected), overwrite=overwrite)
    path = None if given in (None, STDIN) else Path(str(given))
    source = load_path(path) if path else _load_words(prompt)
    target = Path(output) if output else DEFAULT_OUTPUT / slug_of(source.text if path is None else source.name)
    job = Job(path, target / folders.REPORT, source, source.label)
    plan = TaskPlan((job,), target, protected=tuple(protected), overwrite=overwrite)
    plan.check(plan.jobs)
    return plan


def folder_of(job: Job) -> Path:
    """Return where a job's result goes."""
    assert job.output is not None
    return job.output.parent


def slug_of(text: str) -> str:
    """Return a name for a folder: the first words of a text, in ASCII; its digest where it has none."""
    slug = ""
    for word in _WORD.findall(text.casefold()):
        longer = f"{slug}-{word}" if slug else word[:LONGEST_SLUG]
        if len(longer) > LONGEST_SLUG:
            break
        slug = longer
    return slug or f"task-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _load_words(prompt: str | None) -> Source:
    if prompt is None:
        return load_stdin(sys.stdin.buffer.read())
    if not prompt.strip():
        raise InputError("--prompt: is empty; say what the code is to do")
    try:
        data = prompt.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"--prompt: is not UTF-8 text (character {error.start + 1})") from error
    return Source(PROMPT, PROMPT, prompt, sha256(data).hexdigest(), None)


def _plan_folder(root: Path, target: Path, protected: tuple[Path, ...], *, overwrite: bool) -> TaskPlan:
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file; the results of a folder need a folder")
    paths = sorted(path for path in root.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if not paths:
        raise InputError(f"{root}: no tasks in it; a task is a .md or .txt file")
    jobs = tuple(Job(path, target / slug_of(path.stem) / folders.REPORT, name=path.name) for path in paths)
    return TaskPlan(jobs, target, root=root, protected=protected, overwrite=overwrite)


def _digest(job: Job) -> str:
    return job.load().sha256
