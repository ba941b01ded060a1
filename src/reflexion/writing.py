"""A result becomes a page on disk: its closing comment, what a person kept in the old page, and the manifest's note."""

from collections.abc import Callable
from pathlib import Path

from reflexion import pages
from reflexion.check.drift import symbol_digests
from reflexion.context import DocsContext
from reflexion.events import Note
from reflexion.index import IndexEntry, render_index, summary_of
from reflexion.keep import Kept, extract, insert
from reflexion.loaders import Source
from reflexion.manifest import Manifest
from reflexion.marker import Marker
from reflexion.outcome import Outcome, Result
from reflexion.plan import Job
from reflexion.session import Session
from reflexion.walk import INDEX_NAME

NOT_VERIFIED = (
    "> Not verified: facts are read from Python only, so no claim on this page was checked against its source."
)


def write_page_of(
    session: Session[DocsContext], job: Job, source: Source, result: Result, out: Callable[[str], None]
) -> str:
    """Write the page of a result, whole or not at all, and return where it is. Raises InputError, OSError."""
    text = result.text if source.facts else f"{result.text.rstrip()}\n\n{NOT_VERIFIED}\n"
    marker = _marker(source, result)
    if job.output is None:
        out(pages.render(text, marker))
        return "standard output"
    path = pages.destination(job.output, result.outcome)
    page = pages.render(_with_kept_blocks(session, job.output, path, text), marker)
    pages.write_page(path, page)
    session.note_done(job, source, result.outcome, path, page)
    return path.as_posix()


def write_index(session: Session[DocsContext], outcome: Outcome) -> None:
    """Write ``index.md`` of a folder's pages anew, unless it is a person's or nothing has changed."""
    plan, manifest = session.plan, session.manifest
    if plan.folder is None or manifest is None:
        return
    path = plan.folder / INDEX_NAME
    old = pages.existing_page(path)
    if old is not None and (outcome.unchanged == len(plan.jobs) or not pages.is_ours(old)):
        if not pages.is_ours(old):
            session.context.emit(Note(f"{path}: is not as reflexion wrote it, and is left alone"))
        return
    entries = [_index_entry(job, manifest, plan.folder) for job in plan.jobs]
    page = render_index(entries)
    if page != old:
        pages.write_page(path, page)


def _index_entry(job: Job, manifest: Manifest, folder: Path) -> IndexEntry:
    entry = manifest.entry(job.name)
    if entry is None:
        return IndexEntry(None, job.name, "without a page")
    page = Path(entry.page)
    # What a page that is not accepted says of itself may be nonsense.
    said = summary_of(pages.existing_page(folder / page) or "") if entry.outcome == "accepted" else ""
    return IndexEntry(page, job.name, entry.outcome, said)


def _marker(source: Source, result: Result) -> Marker:
    return Marker(
        result.outcome,
        result.score,
        source.label,
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
