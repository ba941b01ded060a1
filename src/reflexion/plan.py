"""What is read and where each page goes: decided, and checked, before the first model call."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reflexion import pages
from reflexion.errors import InputError
from reflexion.loaders import STDIN, Source, load_path, load_stdin, printable
from reflexion.walk import Reason, Walk, WalkRules, page_paths, walk

DEFAULT_OUTPUT = Path("output")
# Why something was passed over that a user may not expect; nobody wonders about a cache or a picture.
TOLD = (
    Reason.EXCLUDED,
    Reason.NOT_INCLUDED,
    Reason.IGNORED,
    Reason.LINK,
    Reason.GENERATED,
    Reason.TOO_LARGE,
)


@dataclass(frozen=True, slots=True)
class Job:
    """One source and where its page goes. ``path`` None is standard input, ``output`` None standard output.

    ``source`` is set once it was read; a source of a folder is read at its turn. ``name`` is what the manifest calls
    it: its path in the walked folder, or as it was given.
    """

    path: Path | None
    output: Path | None
    source: Source | None = None
    name: str = ""

    @property
    def label(self) -> str:
        """What people call the source."""
        return printable(self.path) if self.path else self.load().label

    def load(self) -> Source:
        """Return the source, read now if it was not before. Raises InputError, also where its page has no place."""
        if self.output is not None:
            pages.require_name(self.output)
        return self.source or _load(self.path)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be done. ``folder`` holds the run's record; None: the page goes to standard output.

    ``root`` is the folder that was walked, None where files were named. ``checked``: the outputs can be written.
    """

    jobs: tuple[Job, ...]
    folder: Path | None
    notes: tuple[str, ...] = ()
    root: Path | None = None
    protected: tuple[Path, ...] = ()
    overwrite: bool = False

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise InputError where the page of one of ``jobs`` could not, or must not, be written. Creates nothing."""
        _check(jobs, [job.path for job in self.jobs if job.path], self.protected, overwrite=self.overwrite)


def make_plan(
    inputs: Sequence[str],
    output: str | None,
    *,
    overwrite: bool,
    protected: Sequence[Path] = (),
    rules: WalkRules | None = None,
) -> Plan:
    """Decide what is read and where it is written. Raises InputError; creates nothing.

    ``protected`` are files that no page may replace, such as the configuration in use. ``rules`` say what a folder's
    walk takes. The outputs of a folder are checked once it is known which sources are unchanged; those of named files
    here.
    """
    if not inputs:
        raise InputError("nothing to document: name a file, a folder or - with --input")
    for text in inputs:
        _require(text)
    if output == "":
        raise InputError("--output is empty; name a file or a folder, or leave it out")
    folders = [Path(text) for text in inputs if text != STDIN and Path(text).is_dir()]
    if output == STDIN or (output is None and list(inputs) == [STDIN]):
        return _plan_for_stdout(inputs, folders)
    if folders and len(inputs) > 1:
        raise InputError("one folder at a time, or several files: not both")
    if folders:
        return _plan_folder(folders[0], output, rules or WalkRules(), tuple(protected), overwrite=overwrite)
    made = _plan_files(inputs, output, tuple(protected), overwrite=overwrite)
    made.check(made.jobs)
    return made


def _require(text: str) -> None:
    if not text:  # Such as a variable that is not set; as a path it would be the working folder.
        raise InputError("--input is empty; name a file, a folder or -")
    try:
        missing = text != STDIN and not Path(text).exists()
    except OSError as error:
        raise InputError(f"{text}: cannot be read: {error.strerror}") from error
    if missing:
        raise InputError(f"{text}: no such file or folder")


def _plan_for_stdout(inputs: Sequence[str], folders: Sequence[Path]) -> Plan:
    if len(inputs) > 1 or folders:
        raise InputError("standard output holds one page: name one input file, or an output folder")
    path = None if inputs[0] == STDIN else Path(inputs[0])
    return Plan((Job(path, None, _load(path)),), None)


def _plan_files(inputs: Sequence[str], output: str | None, protected: tuple[Path, ...], *, overwrite: bool) -> Plan:
    target = Path(output) if output else DEFAULT_OUTPUT
    into_folder = output is None or output.endswith(("/", os.sep)) or target.is_dir() or len(inputs) > 1
    jobs = []
    for text in inputs:
        path = None if text == STDIN else Path(text)
        source = _load(path)
        page = target / f"{source.name}.md" if into_folder else target
        pages.require_name(page)
        jobs.append(Job(path, page, source, text))
    folder = target if into_folder else target.parent
    return Plan(tuple(jobs), folder, protected=protected, overwrite=overwrite)


def _plan_folder(
    folder: Path, output: str | None, rules: WalkRules, protected: tuple[Path, ...], *, overwrite: bool
) -> Plan:
    target = Path(output) if output else DEFAULT_OUTPUT
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file; the pages of a folder need a folder")
    found = walk(folder, WalkRules(rules.include, rules.exclude, rules.max_bytes, target))
    jobs = tuple(
        Job(item.path, page, name=item.relative.as_posix())
        for item, page in zip(found.kept, page_paths(found.kept, target), strict=True)
    )
    if not jobs:
        raise InputError(f"{folder}: no source files in it{_told(found)}")
    return Plan(jobs, target, tuple(_notes(found)), folder, protected, overwrite)


def _notes(found: Walk) -> list[str]:
    empty = [printable(one.relative) for one in found.passed if one.reason is Reason.EMPTY]
    notes = [f"Left out, since empty: {', '.join(empty)}"] if empty else []
    told = ", ".join(f"{count} {reason.value}" for reason, count in found.counts().items() if reason in TOLD)
    return [*notes, f"Passed over: {told}"] if told else notes


def _told(found: Walk) -> str:
    output = [printable(one.relative) for one in found.passed if one.reason is Reason.OUTPUT]
    notes = [*_notes(found), *(f"{name} is the output folder" for name in output)]
    return f" ({'; '.join(notes)})" if notes else ""


def _check(jobs: Sequence[Job], sources: Sequence[Path], protected: Sequence[Path], *, overwrite: bool) -> None:
    taken: dict[str, str] = {}
    writable = pages.WriteCheck([*sources, *protected], overwrite=overwrite)
    # A page that is not accepted may go beside an accepted one, so both names are taken.
    wanted = [(job, path) for job in jobs if job.output for path in (job.output, pages.draft_path(job.output))]
    for job, path in wanted:
        # By case only, two names are one on many file systems.
        key = str(path).casefold()
        if key in taken:
            raise InputError(f"{taken[key]} and {job.label} would both be written to {printable(path)}; do them apart")
        taken[key] = job.label
        writable.check(path)


def _load(path: Path | None) -> Source:
    return load_stdin(sys.stdin.buffer.read()) if path is None else load_path(path)
