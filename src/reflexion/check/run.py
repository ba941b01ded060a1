"""Run ``reflexion check``: read pairs, verify each, report. No model, no server."""

import os
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from reflexion.check.drift import Drift, drift
from reflexion.check.formats import Located, print_findings
from reflexion.check.pairs import PYTHON_SUFFIXES, Pair
from reflexion.errors import InputError
from reflexion.evidence.examples.report import describe
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import report
from reflexion.evidence.source import facts_of_notebook, facts_of_python
from reflexion.evidence.verify import ALL_RULES, unknown_rules, verify
from reflexion.examples import Examples, NotAsked
from reflexion.marker import read_marker

# Below this many pairs, starting a second process costs more than it saves.
PAIRS_PER_PROCESS = 40
CHUNK = 16


class CheckResult(NamedTuple):
    """``text`` is for stdout; ``problems`` (pairs that could not be read) and ``notes`` (pairs checked in part) are
    lines for stderr.

    ``exit_code``: 0 no error finding, 1 an error (with ``strict`` also a warning), 2 a pair could not be read.
    """

    text: str
    exit_code: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Checked(NamedTuple):
    """What became of one pair: its findings, or the problem that kept it from being read."""

    document: str
    findings: tuple[Finding, ...] = ()
    problem: str | None = None
    note: str = ""
    examples: int = 0
    """Python examples that nobody asked to run."""


def run_check(
    pairs: Sequence[Pair],
    *,
    style: str = "text",
    strict: bool = False,
    off: Iterable[str] = (),
    problems: Sequence[str] = (),
    jobs: int | None = None,
    examples: Examples | None = None,
) -> CheckResult:
    """Check every pair and print the findings in ``style`` (text, json, sarif or github).

    ``off`` holds codes or names of rules. ``problems`` are lines of documents that already failed (``find_pairs``).
    ``jobs`` is the number of processes: by default one, and one more per forty pairs up to the number of cores.
    ``examples`` runs the examples of the documents; without it they are not looked at.
    Raises InputError for a rule in ``off`` that does not exist, SandboxUnavailable and SandboxError where examples are
    required and cannot be run.
    """
    disabled = frozenset(off)
    refuse_unknown(disabled)
    checked = list(_check_all(pairs, disabled, examples, jobs or _processes(len(pairs))))
    located = [Located(one.document, finding) for one in checked for finding in one.findings]
    failed = (*problems, *(one.problem for one in checked if one.problem))
    text = print_findings(located, sum(not one.problem for one in checked), failed, ALL_RULES, style)
    notes = tuple(one.note for one in checked if one.note)
    left = sum(one.examples for one in checked)
    if left:
        were = "example was" if left == 1 else "examples were"
        notes += (f"{left} Python {were} not run; --examples runs them in the sandbox",)
    return CheckResult(text, _exit_code(located, failed, strict), failed, notes)


def refuse_unknown(off: Iterable[str]) -> None:
    """Raise InputError for codes or names that no rule has."""
    unknown = unknown_rules(off)
    if unknown:
        raise InputError(f"rules.off: no rule {', '.join(unknown)}; `reflexion rules` lists them")


def check_pair(pair: Pair, off: frozenset[str] = frozenset(), examples: Examples | None = None) -> Checked:
    """Check one pair; what cannot be read becomes its ``problem``."""
    name = pair.document.as_posix()
    try:
        document = read_document(pair.document)
        source, text, facts = read_source(pair.source)
        runner = examples.of(pair.source, text, pair.source.stem) if examples else NotAsked()
        findings = verify(document, facts, off=off, source_text=text, examples=runner)
        note = "" if facts else f"{name}: {pair.source.as_posix()} is not Python: only rules about text apply"
        if examples and runner.report.not_run:
            note = f"{name}: examples: {describe(runner.report)}"
        if facts is not None and not {catalogue.SOURCE_DRIFT.code, catalogue.SOURCE_DRIFT.name} & off:
            findings += _drift(document, facts, source, pair)
    except InputError as error:
        return Checked(name, problem=str(error))
    return Checked(name, tuple(findings), note=note, examples=runner.report.total if examples is None else 0)


def read_source(path: Path) -> tuple[bytes, str, Facts | None]:
    """A source's bytes, its text, and its facts; no facts for what is not Python.

    Raises InputError for a file that cannot be read, decoded or parsed.
    """
    source, suffix = _read_bytes(path), path.suffix.lower()
    if suffix == ".ipynb":
        text = _decode(source, path)
        return source, text, facts_of_notebook(text, path.stem, str(path))
    if suffix in PYTHON_SUFFIXES:
        text = _decode_python(source, path)
        return source, text, facts_of_python(text, path.stem, str(path))
    return source, _decode(source, path), None


def _processes(pairs: int) -> int:
    return max(1, min(os.cpu_count() or 1, pairs // PAIRS_PER_PROCESS))


def _check_all(pairs: Sequence[Pair], off: frozenset[str], examples: Examples | None, jobs: int) -> Iterator[Checked]:
    if jobs <= 1:
        yield from (check_pair(pair, off, examples) for pair in pairs)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(check_pair, pairs, repeat(off), repeat(examples), chunksize=CHUNK)


def _exit_code(located: Sequence[Located], problems: Sequence[str], strict: bool) -> int:
    if problems:
        return 2
    blocking = [one for one in located if strict or one.finding.level == "error"]
    return 1 if blocking else 0


def _read_bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a regular file")
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be read ({reason}); check the path and its permissions") from None


def read_document(path: Path) -> str:
    """A document's text. Raises InputError for a file that cannot be read or is not UTF-8."""
    return _decode(_read_bytes(path), path)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def _decode_python(data: bytes, path: Path) -> str:
    """Decode by the source's own coding cookie or byte order mark."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise InputError(
            f"{path}: cannot be decoded; declare its encoding in the first line or save as UTF-8"
        ) from None


def _drift(document: str, facts: Facts, source: bytes, pair: Pair) -> list[Finding]:
    _, marker = read_marker(document, anywhere=True)
    found = drift(marker, facts, source) if marker else Drift()
    if marker is None or not found:
        return []
    told = "; ".join(
        f"{word}: {', '.join(names)}"
        for word, names in (("changed", found.changed), ("added", found.added), ("removed", found.removed))
        if names
    )
    message = f"{pair.source.as_posix()} has changed since this page was written: {told}"
    names = ", ".join((*found.changed, *found.added, *found.removed))
    fix = f"Read again what the page says of {names}, or write it anew."
    return [report(catalogue.SOURCE_DRIFT, marker.line, message, f"recorded hash {marker.source_sha256}", fix)]
