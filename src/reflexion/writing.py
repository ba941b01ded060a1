"""A result becomes a page on disk: its closing comment, what a person kept in the old page, and the manifest's note."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from reflexion import pages
from reflexion.batch import FAILED
from reflexion.check.drift import symbol_digests
from reflexion.context import DocsContext
from reflexion.errors import InputError
from reflexion.events import Note
from reflexion.index import IndexEntry, render_index, summary_of
from reflexion.keep import Kept, extract, insert
from reflexion.loaders import Source, printable
from reflexion.manifest import Manifest
from reflexion.marker import Marker, read_marker, sha256
from reflexion.outcome import Outcome, Result
from reflexion.plan import Job, Plan
from reflexion.session import Session
from reflexion.walk import INDEX_NAME

_AGAIN = "the same command writes it without a further call"
NOT_VERIFIED = (
    "> Not verified: facts are read from Python only, so no claim on this page was checked against its source."
)


def write_page_of(
    session: Session[DocsContext], job: Job, source: Source, result: Result, out: Callable[[str], None]
) -> str:
    """Write the page of a result, whole or not at all, and return where it is. Raises InputError."""
    text = result.text if source.facts else f"{result.text.rstrip()}\n\n{NOT_VERIFIED}\n"
    marker = _marker(source, result)
    if job.output is None:
        out(pages.render(text, marker))
        return "standard output"
    path = pages.destination(job.output, result.outcome)
    page = pages.render(_with_kept_blocks(session, job.output, path, text), marker)
    _require_unedited(path, overwrite=session.plan.overwrite)
    try:
        pages.write_page(path, page)
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be written: {error.strerror}; {_AGAIN}") from error
    session.note_done(job, source, result.outcome, path, page)
    return printable(path)


def _require_unedited(path: Path, *, overwrite: bool) -> None:
    """Raise InputError for a page that a person made or edited since it was looked at before the first call."""
    there = pages.existing_page(path)
    if there is not None and not overwrite and not pages.is_ours(there):
        raise InputError(f"{printable(path)}: was edited while the run went on; {_AGAIN} when it has --overwrite")


def write_index(session: Session[DocsContext], outcome: Outcome) -> None:
    """Write ``index.md`` of a folder's pages anew, unless it is a person's or nothing has changed.

    One that cannot be written is told, and is a failure like that of a file.
    """
    plan, manifest = session.plan, session.manifest
    if plan.folder is None or manifest is None:
        return
    path = plan.folder / INDEX_NAME
    try:
        said = _index(path, plan, manifest)
    except (InputError, OSError) as error:
        said = str(error) if isinstance(error, InputError) else f"{path}: cannot be written: {error.strerror}"
        outcome.codes.append(FAILED)
    if said:
        session.context.emit(Note(said))


def _index(path: Path, plan: Plan, manifest: Manifest) -> str:
    """Write the index where it is due; return what there is to say about it."""
    old = pages.existing_page(path)
    if old is not None and not pages.is_ours(old):
        return f"{path}: is not as reflexion wrote it, and is left alone"
    names = sorted({job.name for job in plan.jobs} | set(_other_sources(plan, manifest)))
    digest = _digest_of(names, manifest)
    marker = read_marker(old)[1] if old is not None else None
    # To read thousands of pages for their first sentences takes a while, so the index says what it was made of.
    if marker is None or marker.source_sha256 != digest:
        pages.write_page(
            path, render_index([_index_entry(name, manifest, path.parent) for name in names], made_of=digest)
        )
    return ""


def _other_sources(plan: Plan, manifest: Manifest) -> Iterator[str]:
    """Yield the sources that were left out of this run, and are there with their pages all the same."""
    assert plan.root is not None
    assert plan.folder is not None
    asked = {job.name for job in plan.jobs}
    for name, entry in manifest.entries():
        if name not in asked and (plan.root / name).is_file() and (plan.folder / entry.page).is_file():
            yield name


def _digest_of(names: Sequence[str], manifest: Manifest) -> str:
    found = ((name, manifest.entry(name)) for name in names)
    said = [(name, entry and (entry.outcome, entry.page, entry.page_sha256)) for name, entry in found]
    return sha256(json.dumps(said).encode())


def _index_entry(name: str, manifest: Manifest, folder: Path) -> IndexEntry:
    entry = manifest.entry(name)
    if entry is None:
        return IndexEntry(None, name, "without a page")
    page = Path(entry.page)
    # What a page that is not accepted says of itself may be nonsense.
    said = summary_of(pages.existing_page(folder / page) or "") if entry.outcome == "accepted" else ""
    return IndexEntry(page, name, entry.outcome, said)


def _marker(source: Source, result: Result) -> Marker:
    return Marker(
        result.outcome,
        result.score,
        # Not its label: by this the source is found again.
        source.path.as_posix() if source.path else source.label,
        source.sha256,
        symbols=symbol_digests(source.facts) if source.facts else {},
        repaired=bool(result.mended),
        assembled=result.assembled,
    )


def _with_kept_blocks(session: Session[DocsContext], page: Path, path: Path, text: str) -> str:
    """Put the blocks of the page that is there, or else of the one that this goes beside, into the new text."""
    old = pages.existing_page(path) or pages.existing_page(page) or ""
    kept = extract(old) if "keep" in old else Kept()
    inserted = insert(text, kept.blocks)
    for problem in kept.problems:
        session.context.emit(Note(f"{path}: {problem}"))
    if inserted.homeless:
        session.context.emit(Note(f"{path}: {len(inserted.homeless)} kept blocks have lost their heading; see the end"))
    return inserted.text
