"""Run ``reflexion repair``: mend pages by code, and show or write what changed. No model, no server."""

import codecs
import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reflexion.check.drift import symbol_digests
from reflexion.check.pairs import Pair
from reflexion.check.run import CheckResult, read_document, read_source, refuse_unknown
from reflexion.errors import InputError
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Check, Finding
from reflexion.evidence.repair import Repaired, repair
from reflexion.evidence.verify import verify
from reflexion.examples import Examples
from reflexion.keep import Kept, extract, insert, without_blocks
from reflexion.marker import Marker, read_marker
from reflexion.pages import is_ours, render, write_page


@dataclass(frozen=True, slots=True)
class MendedPage:
    """A page before and after. ``mended`` says line by line what changed; ``findings`` are those that still stand."""

    path: Path
    before: str
    after: str
    mended: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.after != self.before

    @property
    def has_errors(self) -> bool:
        """Whether an error stands that code could not mend."""
        return any(finding.level == "error" for finding in self.findings)

    def notes(self) -> list[str]:
        """Return what was mended and what could not be, a line each."""
        name = self.path.as_posix()
        left = (one for one in self.findings if one.level == "error")
        return [
            *(f"{name}: {line}" for line in self.mended),
            *(f"{name}:{one.line}: {one.rule} could not be mended: {one.message}" for one in left),
        ]

    def diff(self) -> str:
        """Return the change as a unified diff; "" where there is none."""
        name = self.path.as_posix()
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, f"{name} (repaired)"
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def run_repair(
    pairs: Sequence[Pair],
    off: frozenset[str] = frozenset(),
    examples: Examples | None = None,
    *,
    write: bool = False,
    backup: bool = False,
    problems: Sequence[str] = (),
) -> CheckResult:
    """Repair every pair. Without ``write`` the text is a unified diff; with it, a line for each page that changed.

    ``problems`` are lines of documents that already failed (``find_pairs``). ``notes`` say what was mended, line by
    line, and which errors still stand. ``exit_code``: 0 no error is left on disk, 1 one is, 2 a pair could not be
    read or written. Raises InputError for a rule in ``off`` that does not exist, SandboxUnavailable and SandboxError
    where examples are required and cannot be run.
    """
    refuse_unknown(off)
    texts: list[str] = []
    notes: list[str] = []
    failed = list(problems)
    wrong = False
    for pair in pairs:
        try:
            page = mend(pair, off, examples)
            if write and page.changed:
                replace_page(page, backup=backup)
        except (InputError, OSError) as error:
            failed.append(str(error))
            continue
        texts.append(_written(page) if write else page.diff())
        notes += page.notes()
        wrong = wrong or page.has_errors or (page.changed and not write)
    return CheckResult("".join(texts), 2 if failed else int(wrong), tuple(failed), tuple(notes))


def _written(page: MendedPage) -> str:
    return f"{page.path.as_posix()}: {len(page.mended)} mended\n" if page.changed else ""


def mend(pair: Pair, off: frozenset[str] = frozenset(), examples: Examples | None = None) -> MendedPage:
    """Repair one page against its source; nothing is written.

    Raises InputError for what cannot be read, SandboxError and SandboxUnavailable where examples are required.
    """
    written = read_document(pair.document)
    before = written.replace("\r\n", "\n")
    source, text, facts = read_source(pair.source)
    runner = examples.of(pair.source, text, pair.source.stem) if examples and facts else None
    body, marker = read_marker(before)

    def check(page: str) -> list[Finding]:
        return verify(page, facts, off=off, source_text=text, examples=runner)

    done = _repaired(body, facts, check)
    after = before if done.text == body else done.text
    if after != before and marker is not None:
        digest = (
            "" if any(finding.level == "error" for finding in done.findings) else hashlib.sha256(source).hexdigest()
        )
        after = _signed(before, done.text, marker, facts, digest)
    if "\r\n" in written:
        before, after = written, after.replace("\n", "\r\n")
    mark = _byte_order_mark(pair.document)
    return MendedPage(pair.document, mark + before, mark + after, done.mended, done.findings)


def _byte_order_mark(path: Path) -> str:
    """What some editors put in front of a text; the page keeps its own."""
    with path.open("rb") as file:
        return "\ufeff" if file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else ""


def _repaired(body: str, facts: Facts | None, check: Check) -> Repaired:
    """Repair all but the blocks that a person keeps (``keep.py``): those stay as they are, and so do their errors."""
    kept = extract(body) if "keep" in body else Kept()
    if not kept.blocks or kept.problems:
        return repair(body, facts, check)
    done = repair(without_blocks(body), facts, check)
    text = insert(done.text, kept.blocks).text if done.mended else body
    return replace(done, text=text, findings=tuple(check(text)))


def replace_page(page: MendedPage, *, backup: bool) -> None:
    """Replace the page by its repaired text, whole or not at all; with ``backup`` the old one stays beside it."""
    if backup:
        write_page(_backup_path(page.path), page.before)
    write_page(page.path, page.after)


def _signed(before: str, body: str, marker: Marker, facts: Facts | None, digest: str) -> str:
    """The repaired text with its closing comment.

    A page that somebody edited stays marked as edited. ``digest``, of the source, is "" for a page that still has
    errors: what the comment remembers of the source is then left as it was, so that drift is still told.
    """
    now = replace(marker, repaired=True)
    if digest:
        now = replace(now, source_sha256=digest, symbols=symbol_digests(facts) if facts else {})
    return render(body, now) if is_ours(before) else f"{body.rstrip()}\n\n{now.comment()}\n"


def _backup_path(path: Path) -> Path:
    """The first name that is free, so that no earlier backup is lost."""
    number, candidate = 0, path.with_name(f"{path.name}.bak")
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.bak{number}")
    return candidate
