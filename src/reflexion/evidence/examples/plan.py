"""From an example's code to the steps that run it, with what the document states about each. Pure; nothing is run.

A step is a top-level statement, or an entry of a doctest. Where something is stated about a statement, its step's
code gets calls of a recorder around that statement, on the lines that it has, so that line numbers stay right.
"""

import __future__

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reflexion.evidence.claims import Example
from reflexion.evidence.examples.comments import literal_over, runs_of, words_of
from reflexion.evidence.examples.fences import Code
from reflexion.evidence.examples.imports import Imports
from reflexion.evidence.examples.places import Comment, Place, comments_of, places_of
from reflexion.evidence.examples.readings import Announcement, Certainty, Kind, Reading, read_announcement, read_comment
from reflexion.patterns import regex

RECORDER = "_reflexion_"
LOOK = f"{RECORDER}.look"
# Ends of a longer block of comments are not tried.
MAX_BLOCK = 40
_PROSE = regex(r"^\s*(?:[A-Z][a-z]+|and|now|then|note|next)\b[^\d\[\]{}'\"=]*[a-z.]$")


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of code to be run; ``line`` counts from 1 in the example."""

    line: int
    end_line: int
    code: str
    may_raise: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """What the document says that a statement gives or prints.

    ``texts`` are the readings of it, of which one has to be right. ``mark`` is the recorder's number for it, or None
    for all that the step prints. ``since`` is the first step whose output may be meant as well. ``line`` is that of
    the words, ``raw`` the words themselves, further lines with their ``prefix``, for a swap. ``handler`` is the type
    of the ``except`` around the statement, ``looped`` is True inside a loop, ``plain`` for an assignment. ``shown`` is
    the expression that is spoken of, where it is not the statement.
    """

    step: int
    line: int
    texts: tuple[str, ...]
    kind: Kind = "either"
    certainty: Certainty = "sure"
    loose: bool = False
    mark: int | None = None
    since: int | None = None
    raw: str = ""
    prefix: str = ""
    handler: str | None = None
    looped: bool = False
    plain: bool = False
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """An announced exception: one of ``steps`` raises it. ``mark`` is set where the statement stands inside ``try``."""

    steps: tuple[int, ...]
    line: int
    said: Announcement
    mark: int | None = None
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Whole:
    """What the document says that an example as a whole prints, in a block behind it or in a sentence (``prose``)."""

    text: str
    line: int
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is to be done with one example.

    ``flags`` are those of its ``__future__`` imports; ``page_names`` are the names that any fence of the page defines.
    """

    example: Example
    steps: tuple[Step, ...]
    stated: tuple[Stated, ...] = ()
    expected: tuple[Expected, ...] = ()
    tree: ast.Module | None = None
    doctest: bool = False
    flags: int = 0
    wholes: tuple[Whole, ...] = ()
    imports: Imports = field(default_factory=Imports)
    page_names: frozenset[str] = frozenset()

    @property
    def wants_output(self) -> bool:
        """Whether anything printed is needed for the judgement."""
        return bool(self.stated or self.wholes)


def plan_script(
    example: Example, code: Code, edits: Sequence[tuple[int, int, str]], known: frozenset[str], *, shown: bool
) -> Plan:
    """Plan an example that is no doctest.

    :param edits: stretches of the code to be replaced by others of the same number of lines (start, end, text)
    :param known: names of the source's own exceptions
    :param shown: an output block follows, for which the values of bare expressions matter
    """
    assert code.tree is not None
    places = places_of(code.text, code.tree)
    comments = comments_of(code.text)
    marker = _Marker(places, known, _bound(code.tree))
    marker.read(comments)
    marked = [*(marker.displays(code.tree) if shown else ()), *edits, *marker.edits]
    steps = _steps(code.text, places, marked, marker.expected)
    return Plan(example, steps, tuple(marker.stated), tuple(marker.expected), code.tree, flags=_flags(code.tree))


def _flags(tree: ast.Module) -> int:
    found = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature = getattr(__future__, alias.name, None)
                found |= getattr(feature, "compiler_flag", 0)
    return found


def _bound(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _steps(
    text: str,
    places: Sequence[Place],
    edits: Iterable[tuple[int, int, str]],
    expected: Sequence[Expected],
) -> tuple[Step, ...]:
    raising = {step for one in expected for step in one.steps}
    # What looks at a name comes after the whole statement, and so after what closes a call around it.
    ordered = sorted(edits, key=lambda edit: (edit[0], edit[1], LOOK in edit[2]))
    starts = [edit[0] for edit in ordered]
    found: list[Step] = []
    for number, top in enumerate(one for one in places if one.top):
        inside = ordered[bisect_left(starts, top.start) : bisect_right(starts, top.end)]
        inside = [edit for edit in inside if edit[1] <= top.end]
        found.append(Step(top.line, top.end_line, _edited(text, top.start, top.end, inside), number in raising))
    return tuple(found)


def _edited(text: str, start: int, end: int, edits: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    place = start
    for first, last, new in edits:
        if first >= place:
            parts += [text[place:first], new]
            place = last
    return "".join([*parts, text[place:end]])


class _Marker:
    """Reads the comments of a script into statements about its steps."""

    def __init__(self, places: Sequence[Place], known: frozenset[str], bound: frozenset[str]) -> None:
        self.comments: Sequence[Comment] = ()
        self.tops = [one for one in places if one.top]
        self.ending: dict[int, list[Place]] = {}
        self.beginning: dict[int, list[Place]] = {}
        for one in places:
            self.ending.setdefault(one.end_line, []).append(one)
            self.beginning.setdefault(one.line, []).append(one)
        self.known = known
        self.bound = bound
        self.stated: list[Stated] = []
        self.expected: list[Expected] = []
        self.edits: list[tuple[int, int, str]] = []
        self.marks: dict[int, int] = {}
        self.count = 0
        self.last_block = 0

    def read(self, comments: Sequence[Comment]) -> None:
        """Read trailing comments with the lines that go on with them, and runs of comment lines."""
        self.comments = comments
        runs = runs_of(comments)
        for run in runs:
            place = self.beside(run[0]) if run[0].trailing else None
            if run[0].trailing:
                if place is not None:
                    self.trailing(run, place)
            else:
                self.own_lines(run)

    def beside(self, comment: Comment) -> Place | None:
        """Return the simple statement that ends on the comment's line."""
        found = [one for one in self.ending.get(comment.line, []) if one.simple]
        return found[-1] if found else None

    def trailing(self, run: Sequence[Comment], place: Place) -> None:
        """Read what a comment behind a statement says of it."""
        texts = [comment.text for comment in run]
        said = read_announcement(texts[0], self.known)
        reading = read_comment(texts[0], printing=place.printing)
        if reading is None or reading.certainty == "guess":
            longer = literal_over(texts, place.printing)
            reading = longer if longer is not None else reading
        if said is not None and (reading is None or reading.certainty == "guess"):
            self.expect(said, (place.step,), run[0].line, place)
            if said.type or reading is None:
                return
        if reading is not None and reading.open:
            self.block(run[0:], reading, place)
        elif reading is not None:
            self.state(place, reading, run[0], texts[0])

    def own_lines(self, run: Sequence[Comment]) -> None:
        """Read comment lines below a statement, or above those that they announce something of."""
        before, after = self.above(run), self.below(run)
        said = next((one for one in (read_announcement(c.text, self.known) for c in run) if one is not None), None)
        reading = read_comment(run[0].text, printing=before.printing if before else False)
        longer = None
        if (reading is None or reading.certainty == "guess") and before is not None:
            longer = literal_over([comment.text for comment in run], before.printing)
            reading = longer or reading
        if said is not None and (reading is None or reading.certainty == "guess"):
            self.announce(said, run, before, after)
            if said.type or reading is None:
                return
        if reading is None or before is None or (reading.certainty == "bare" and self.counts(run)):
            return
        if longer is not None:
            self.state(before, longer, run[0], run[0].text, (), run)
        else:
            self.block(run, reading, before)

    def counts(self, run: Sequence[Comment]) -> bool:
        """Say whether the lone number is one of a count of steps (``# 1``, ``# 2``) rather than a value."""
        if not run[0].text.isdigit():
            return False
        heading = next((one for one in self.comments if not one.trailing and one.text.isdigit()), run[0])
        return heading.line < self.tops[0].line

    def above(self, run: Sequence[Comment]) -> Place | None:
        """Return the statement right above comment lines; one blank line may stand between for "Output:"."""
        first = run[0]
        gap = 2 if first.gap and re.match(r"(?:output|prints|printed|expected)", first.text, re.IGNORECASE) else 1
        ended = [one for line in range(first.line - gap, first.line) for one in self.ending.get(line, [])]
        if first.gap and (gap == 1 or self.below(run) is not None):
            return None
        same = [one for one in ended if one.column == first.column]
        return max(same or ended, key=lambda one: (one.end_line, not one.top, one.start), default=None)

    def below(self, run: Sequence[Comment]) -> Place | None:
        """Return the top-level statement right below comment lines."""
        return next((one for one in self.beginning.get(run[-1].line + 1, []) if one.top), None)

    def announce(self, said: Announcement, run: Sequence[Comment], before: Place | None, after: Place | None) -> None:
        """An announcement on lines of its own is about the statement above, or the paragraph below, or one of both."""
        steps: list[int] = [before.step] if before is not None else []
        if after is not None:
            steps += [after.step]
            line = after.end_line
            for place in self.tops[after.step + 1 :]:
                if place.line > line + 1:
                    break
                steps.append(place.step)
                line = place.end_line
        inner = [one for one in self.beginning.get(run[-1].line + 1, []) if not one.top]
        if not steps and inner:
            steps = [inner[0].step]
        if inner and inner[0].handled:
            self.expect(said, tuple(steps), run[0].line, inner[0])
        elif steps:
            self.expected.append(Expected(tuple(steps), run[0].line, said))

    def expect(self, said: Announcement, steps: tuple[int, ...], line: int, place: Place) -> None:
        """Announce an exception of a statement; inside ``try`` the recorder tells whether the statement ended."""
        mark = self.mark(place, None) if place.handled and said.required else None
        self.expected.append(Expected(steps, line, said, mark))

    def block(self, run: Sequence[Comment], reading: Reading, place: Place) -> None:
        """Read an output over several comment lines: what follows "Output:", or one piece a line."""
        readings = [reading, *(read_comment(one.text, printing=place.printing) for one in run[1:])]
        first = [] if reading.open else [reading.text]
        rest = [one.raw for one in run[1:]]
        if not first and not rest:
            return
        lines = [*first, *rest]
        # Words that follow an output on a line of their own may belong to what comes next.
        ends = [end for end in range(1, len(lines)) if _PROSE.match(lines[end])]
        texts = ["\n".join(lines[:end]) for end in (len(lines), *ends[:MAX_BLOCK])]
        if len(run) > 1 and all(one is not None and not one.open for one in readings):
            texts.append("\n".join(one.text for one in readings if one is not None))
        longer = literal_over([comment.text for comment in run], place.printing)
        if longer is not None:
            texts.append(longer.text)
        if reading.certainty == "bare" and not place.simple and len(first) == 1 and len(texts) == 2 and rest:
            return
        certainty = reading.certainty
        if reading.open:
            certainty = "sure" if reading.kind == "output" or longer is not None else "guess"
        full = Reading(texts[0], reading.kind, certainty, reading.loose, reading.subject, reading.open)
        self.state(place, full, run[0], run[0].text, tuple(dict.fromkeys(texts)), run)
        self.last_block = place.step + 1

    def state(
        self,
        place: Place,
        reading: Reading,
        comment: Comment,
        words: str,
        texts: tuple[str, ...] = (),
        run: Sequence[Comment] = (),
    ) -> None:
        """Note what is stated, and have the recorder watch the statement."""
        if reading.subject and not self.bound & set(re.findall(r"\w+", reading.subject)):
            return
        if reading.certainty == "bare" and not place.calculates:
            return
        whole = not place.simple or bool(run)
        watched = place.simple and place.watchable
        if not watched and place.simple and reading.kind == "value" and not reading.subject:
            return
        mark = self.mark(place, reading.subject or None) if watched or reading.subject else None
        since = self.last_block if whole and place.column == 0 and reading.kind != "value" else None
        raw, prefix = words_of(reading, comment, run)
        self.stated.append(
            Stated(
                place.step, comment.line + reading.open, texts or (reading.text,), reading.kind, reading.certainty,
                reading.loose, mark, since, raw, prefix, place.handler, place.looped, place.assigns, reading.subject,
            )
        )  # fmt: skip

    def mark(self, place: Place, subject: str | None) -> int:
        """Give a statement a number and put the recorder's calls around it."""
        if not subject and place.start in self.marks:
            return self.marks[place.start]
        self.count += 1
        number = self.count
        if not subject:
            self.marks[place.start] = number
        if subject:
            self.edits.append((place.end, place.end, f"; {LOOK}({number}, lambda: {subject})"))
            return number
        before = f"{RECORDER}.begin({number}); "
        if place.expression:
            self.edits.append((place.start, place.start, f"{before}{RECORDER}.value({number}, ("))
            self.edits.append((place.end, place.end, "))"))
            return number
        self.edits.append((place.start, place.start, before))
        target = f"{RECORDER}.value({number}, ({place.target}))" if place.target else f"{RECORDER}.end({number})"
        self.edits.append((place.end, place.end, f"; {target}"))
        return number

    def displays(self, tree: ast.Module) -> Iterable[tuple[int, int, str]]:
        """Have the recorder see the value of each bare expression, as an interactive session would show it."""
        marked = {edit[0] for edit in self.edits}
        for number, node in enumerate(tree.body):
            place = self.tops[number]
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant) and place.start not in marked:
                yield place.start, place.start, f"{RECORDER}.shown({number}, ("
                yield place.end, place.end, "))"
            elif number == len(tree.body) - 1 and place.simple and place.target:
                yield place.end, place.end, f"; {RECORDER}.shown({number}, ({place.target}))"
