"""A run's record as one page of HTML that is complete in itself: no network, no other file, no script needed.

Everything in a record may have been written by a model. Jinja escapes it, no link leads out of the page, and a
Content-Security-Policy lets the browser run nothing but the script and the style that stand here, known by their hash.
"""

import base64
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from reflexion.html_report import drawing
from reflexion.html_report.figures import OUTCOMES, SHORTEST_LOAD_S, Attempt, Figures, File, read
from reflexion.html_report.values import clipped
from reflexion.html_report.words import CODE, DOCS, Words
from reflexion.text.shown import visible

# A browser lays out a table of this many rows within a second or two.
MOST_ROWS = 5_000
# Bytes of HTML: of all details, of one file's, and the characters of all differences in them.
MOST_DETAILS = 4_000_000
MOST_OF_ONE = 400_000
MOST_DIFFERENCES = 1_500_000
MOST_ROUNDS = 30

_TONES = {"accepted": "good", "not accepted": "fair", "failed": "bad"}
_SIGNS = {"good": "✓", "fair": "!", "bad": "✕", "mark": "•"}


def render_report(record: Mapping[str, Any]) -> str:
    """Return the page for a run's record, as `reflexion.runs` writes it; it can be encoded as UTF-8.

    Keys that lack or hold something odd count as nothing: no record is refused. The page stays below about 20 MB: what
    was left out of it is said in it.
    """
    environment = _environment()
    run = read(record)
    details = _details(run, environment.get_template("details.html.j2"))
    style, script = (_file(name) for name in ("style.css", "script.js"))
    page = environment.get_template("page.html.j2").render(
        run=run,
        words=_words(run),
        rows=_first(run.files, MOST_ROWS),
        details=[details.blocks[number] for number in sorted(details.blocks)],
        detailed=details.blocks.keys(),
        notes=details.notes(len(run.files)),
        longest=max((item.total_s for item in run.by_model), default=0.0),
        settings=_settings(run.settings),
        shortest_load=SHORTEST_LOAD_S,
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704  # Files of this package, in which nothing was put.
        script=Markup(script),  # noqa: S704
    )
    return visible(page)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reflexion.html_report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "count": lambda value: f"{value:,}",
        "seconds": seconds,
        "tone": tone,
        "sign": lambda outcome: _SIGNS[tone(outcome)],
        "toned": lambda outcomes: [(tone(name), number) for name, number in outcomes],
        "curve": drawing.curve,
        "segments": drawing.segments,
        "path": path,
    }
    return environment


def _file(name: str) -> str:
    return files("reflexion.html_report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def source(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    own = f"style-src {source(style)}; script-src {source(script)}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def tone(outcome: str) -> str:
    """Return the class of an outcome: good, fair, bad, or mark for what is none of the three outcomes."""
    return _TONES.get(outcome, "mark")


def seconds(value: float) -> str:
    """Return ``0.12 s``, ``34.5 s``, ``2 min 05 s`` or ``3 h 02 min``."""
    if value < 9.995:
        return f"{value:.2f} s"
    if value < 99.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def path(value: str) -> Markup:
    """Return a path that a browser breaks after a slash or an underscore before it breaks a word."""
    return Markup(str(escape(value)).replace("/", "/<wbr>").replace("_", "_<wbr>"))  # noqa: S704  # Escaped first.


def _settings(settings: Mapping[str, Any]) -> str:
    try:
        return clipped(json.dumps(settings, indent=2, ensure_ascii=False, default=str), 20_000)
    except (TypeError, ValueError, RecursionError):
        return "(unreadable)"


def _by_need(file: File) -> int:
    return OUTCOMES.index(file.outcome) if file.outcome in OUTCOMES else len(OUTCOMES)


def _first(of_run: Sequence[File], most: int) -> list[File]:
    """Return at most so many files, those that failed or were not accepted before others, in the run's order."""
    return sorted(sorted(of_run, key=_by_need)[:most], key=lambda file: file.number)


@dataclass(frozen=True, slots=True)
class _Details:
    """The HTML of files by their number, and of which of them it holds the differences between drafts."""

    blocks: dict[int, Markup]
    with_differences: int

    def notes(self, count: int) -> Iterator[str]:
        """Say what was left out of a run of ``count`` files."""
        shown = len(self.blocks)
        if shown < count:
            yield (
                f"Details of {count - shown:,} of {count:,} files are left out, so that the page stays below a size"
                " that browsers can show; files that failed or were not accepted come first. The record has them all."
            )
        if self.with_differences < shown:
            yield (
                f"Differences between drafts are shown for {self.with_differences:,} of {shown:,} files, for the same"
                " reason."
            )


def _details(run: Figures, template: Template) -> _Details:
    """Return what fits. The difference between drafts is what goes first, for it is the largest part."""
    blocks: dict[int, Markup] = {}
    left, left_for_differences, with_differences = MOST_DETAILS, MOST_DIFFERENCES, 0
    for file in sorted(run.files, key=_by_need):
        differences = _differences(file, _words(run).round) if left_for_differences > 0 else []
        html = _block(file, run, differences, template)
        if html is None:
            differences = []
            html = _block(file, run, differences, template)
        if html is None:
            continue
        left -= len(html.encode(errors="replace"))
        if left < 0:
            break
        blocks[file.number] = html
        left_for_differences -= sum(len(lines) for item in differences if item for _, lines in item.blocks)
        with_differences += bool(differences) or len(file.attempts) < 2
    return _Details(blocks, with_differences)


def _words(run: Figures) -> Words:
    return CODE if run.is_code else DOCS


def _block(
    file: File, run: Figures, differences: Sequence[drawing.Difference | None], template: Template
) -> Markup | None:
    """Return the HTML of one file, or None when it is too large."""
    shown = file.attempts[-MOST_ROUNDS:]
    spaced = differences or [None] * len(shown)
    html = template.render(
        file=file,
        bar=run.bar,
        is_code=run.is_code,
        words=_words(run),
        figures=_figures(shown),
        shown=shown,
        differences=spaced,
    )
    return Markup(html) if len(html) <= MOST_OF_ONE else None  # noqa: S704  # Jinja has escaped it.


# The columns of a table of rounds that are there only where a round has them.
_COLUMNS = (
    ("Accuracy", "accuracy"),
    ("Completeness", "completeness"),
    ("Contract", "contract"),
    ("Examples", "examples"),
)


def _figures(shown: Sequence[Attempt]) -> list[tuple[str, str]]:
    """Return the headings and fields of sub-scores that any of these rounds has."""
    return [column for column in _COLUMNS if any(getattr(item, column[1]) is not None for item in shown)]


def _differences(file: File, round_: str) -> list[drawing.Difference | None]:
    """Return how each shown round's draft differs from the last draft before it; None for the first."""
    found: list[drawing.Difference | None] = []
    before: Attempt | None = None
    for item in file.attempts:
        if item.draft and before:
            title = f"{round_.capitalize()} {before.number} to {round_} {item.number}"
            found.append(drawing.difference(before.draft, item.draft, title))
        else:
            found.append(None)
        before = item if item.draft else before
    return found[-MOST_ROUNDS:]
