"""The numbers of a report, read from a run's record. Times are in seconds; nothing here knows HTML."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from reflexion.html_report.values import clipped, mapping, mappings, number, score, sequence, text

BAR = 95.0
ALL_TESTS = 100.0
# A server gives a call on a loaded model a load time as well, of some milliseconds.
SHORTEST_LOAD_S = 0.1
NAME_LIMIT = 200
PATH_LIMIT = 400
OUTCOMES = ("failed", "not accepted", "accepted")


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model server."""

    role: str
    model: str
    outcome: str
    prompt_tokens: int
    reply_tokens: int
    load_s: float
    prompt_s: float
    generation_s: float
    wall_s: float

    @classmethod
    def read(cls, call: Mapping[str, Any]) -> Self:
        """Read one call of a record."""
        return cls(
            role=clipped(call.get("role"), NAME_LIMIT),
            model=clipped(call.get("model"), NAME_LIMIT),
            outcome=clipped(call.get("outcome"), NAME_LIMIT),
            prompt_tokens=int(max(0, number(call.get("prompt_tokens")))),
            reply_tokens=int(max(0, number(call.get("reply_tokens")))),
            load_s=max(0, number(call.get("load_s"))),
            prompt_s=max(0, number(call.get("prompt_s"))),
            generation_s=max(0, number(call.get("generation_s"))),
            wall_s=max(0, number(call.get("wall_s"))),
        )

    @property
    def total_s(self) -> float:
        """The longer of what passed here and what the server counts."""
        return max(self.wall_s, self.load_s + self.prompt_s + self.generation_s)

    @property
    def is_load(self) -> bool:
        """Whether the model was loaded for this call."""
        return self.load_s >= SHORTEST_LOAD_S


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls cost together. ``other_s`` is what no server counted: its queue, the network, failed calls."""

    role: str
    model: str
    calls: int
    failed_calls: int
    loads: int
    prompt_tokens: int
    reply_tokens: int
    load_s: float
    prompt_s: float
    generation_s: float
    other_s: float

    @classmethod
    def of(cls, calls: Sequence[Call], role: str = "", model: str = "") -> Self:
        """Add up calls."""
        counted = [call.load_s + call.prompt_s + call.generation_s for call in calls]
        return cls(
            role=role,
            model=model,
            calls=len(calls),
            failed_calls=sum(call.outcome != "ok" for call in calls),
            loads=sum(call.is_load for call in calls),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            reply_tokens=sum(call.reply_tokens for call in calls),
            load_s=sum(call.load_s for call in calls),
            prompt_s=sum(call.prompt_s for call in calls),
            generation_s=sum(call.generation_s for call in calls),
            other_s=sum(call.total_s - known for call, known in zip(calls, counted, strict=True)),
        )

    @property
    def kinds(self) -> tuple[tuple[str, float], ...]:
        """The seconds by kind, in the order in which they pass."""
        return (
            ("load", self.load_s),
            ("prompt", self.prompt_s),
            ("generation", self.generation_s),
            ("else", self.other_s),
        )

    @property
    def total_s(self) -> float:
        """All seconds of these calls."""
        return sum(seconds for _, seconds in self.kinds)


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding."""

    rule: str
    level: str
    line: str
    message: str
    evidence: str

    @classmethod
    def read(cls, finding: Mapping[str, Any]) -> Self:
        """Read one finding of a record."""
        return cls(
            rule=clipped(finding.get("rule"), NAME_LIMIT),
            level=clipped(finding.get("level"), NAME_LIMIT),
            line=clipped(finding.get("line"), NAME_LIMIT),
            message=clipped(finding.get("message"), 600),
            evidence=clipped(finding.get("evidence"), 400),
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One round: sub-scores from 0 to 100 or None, the fix asked for, and the draft that was judged.

    Of a candidate of the code pipeline, ``diagnosis`` is what it was to mend, and ``failures`` are the tests that
    did not pass, each with the reason.
    """

    number: str
    accuracy: float | None
    completeness: float | None
    contract: float | None
    examples: float | None
    score: float | None
    skipped: bool
    fix: str
    trouble: str
    diagnosis: str
    failures: tuple[str, ...]
    draft: str
    problems: tuple[Problem, ...]
    spent: Spent

    @classmethod
    def read(cls, item: Mapping[str, Any], position: int) -> Self:
        """Read one round of a record, the ``position``-th."""
        return cls(
            number=clipped(item.get("number", position), NAME_LIMIT),
            accuracy=score(item.get("technical_accuracy")),
            completeness=score(item.get("completeness")),
            contract=score(item.get("contract")),
            examples=score(item.get("examples")),
            score=score(item.get("score")),
            skipped=bool(item.get("skipped")),
            fix=clipped(item.get("fix"), 2_000),
            trouble=clipped(item.get("trouble"), 1_000),
            diagnosis=clipped(item.get("diagnosis"), 1_000),
            failures=tuple(_failure(failed) for failed in mappings(mapping(item.get("run")).get("failures"))),
            draft=text(item.get("draft")),
            problems=tuple(Problem.read(finding) for finding in mappings(item.get("findings"))),
            spent=Spent.of([Call.read(call) for call in mappings(item.get("calls"))]),
        )

    @property
    def errors(self) -> int:
        """How many findings block acceptance."""
        return sum(problem.level == "error" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Examples:
    """What came of the examples of the page that ships. ``not_run`` pairs a line with the reason."""

    total: int
    ran: int
    not_run: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]

    @classmethod
    def read(cls, value: object) -> Self | None:
        """Read what a record says about examples; None where it says nothing."""
        content = mapping(value)
        if not content:
            return None
        reasons = mappings(content.get("not_run"))
        return cls(
            total=int(number(content.get("total"))),
            ran=int(number(content.get("ran"))),
            not_run=tuple(
                (clipped(item.get("line"), NAME_LIMIT), clipped(item.get("reason"), NAME_LIMIT)) for item in reasons
            ),
            problems=tuple(Problem.read(item) for item in mappings(content.get("findings"))),
        )


@dataclass(frozen=True, slots=True)
class File:
    """One source of the run and what became of it. ``marks`` are words such as "repaired"."""

    number: int
    source: str
    outcome: str
    marks: tuple[str, ...]
    output: str
    error: str
    stop: str
    why: str
    adjudication: str
    score: float | None
    seconds: float
    mended: tuple[str, ...]
    examples: Examples | None
    problems: tuple[Problem, ...]
    attempts: tuple[Attempt, ...]
    calls: tuple[Call, ...]
    spent: Spent

    @classmethod
    def read(cls, entry: Mapping[str, Any], position: int) -> Self:
        """Read one entry of a record, the ``position``-th."""
        rounds = mappings(entry.get("rounds"))
        # An entry of a file that failed has no list of its own; other lists hold the adjudication's calls as well.
        plain = mappings(entry["calls"]) if "calls" in entry else _calls_of(rounds)
        calls = tuple(Call.read(call) for call in plain)
        skipped = clipped(entry.get("skipped"), NAME_LIMIT) if entry.get("skipped") else ""
        marks = [name for name in ("repaired", "assembled") if entry.get(name)]
        return cls(
            number=position,
            source=clipped(entry.get("source"), PATH_LIMIT),
            outcome=clipped(entry.get("outcome"), NAME_LIMIT) or ("skipped" if skipped else "unknown"),
            marks=tuple([*marks, skipped] if skipped else marks),
            output=clipped(entry.get("output"), PATH_LIMIT),
            error=clipped(entry.get("error"), 2_000),
            stop=clipped(entry.get("stop"), NAME_LIMIT),
            why=clipped(entry.get("why"), 2_000),
            adjudication=clipped(entry.get("adjudication"), 1_000),
            score=score(entry.get("score")),
            seconds=max(0, number(entry.get("seconds"))),
            mended=tuple(clipped(item, 400) for item in sequence(entry.get("mended"))),
            examples=Examples.read(entry.get("examples")),
            problems=tuple(Problem.read(finding) for finding in mappings(entry.get("findings"))),
            attempts=tuple(Attempt.read(item, place) for place, item in enumerate(rounds, 1)),
            calls=calls,
            spent=Spent.of(calls),
        )

    @property
    def scores(self) -> tuple[float | None, ...]:
        """The score of every round."""
        return tuple(attempt.score for attempt in self.attempts)

    @property
    def failing(self) -> int:
        """How many tests fail of the candidate that passes most of them."""
        tested = [attempt for attempt in self.attempts if attempt.score is not None]
        return len(max(tested, key=lambda attempt: attempt.score or 0.0).failures) if tested else 0

    @property
    def errors(self) -> int:
        """How many findings of what ships would block acceptance."""
        return sum(problem.level == "error" for problem in self.problems)


def _failure(failed: Mapping[str, Any]) -> str:
    return ": ".join(part for part in (clipped(failed.get(key), 400) for key in ("test", "why")) if part)


def _calls_of(rounds: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [call for item in rounds for call in mappings(item.get("calls"))]


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often a rule found something: in pages that ship, in drafts of rounds, and in how many files."""

    rule: str
    level: str
    shipped: int
    in_rounds: int
    files: int
    sample: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything a report says about a run. ``is_code``: modules were written, and tests decided; else pages."""

    is_code: bool
    run: str
    started: str
    version: str
    bar: float
    settings: Mapping[str, Any]
    models: tuple[tuple[str, str, str, str], ...]
    files: tuple[File, ...]
    outcomes: tuple[tuple[str, int], ...]
    marks: tuple[tuple[str, int], ...]
    spent: Spent
    by_model: tuple[Spent, ...]
    rules: tuple[RuleCount, ...]

    @property
    def seconds(self) -> float:
        """The seconds of all files together; files that run side by side count each their own."""
        return sum(file.seconds for file in self.files)

    @property
    def attempts(self) -> int:
        """The rounds of all files together."""
        return sum(len(file.attempts) for file in self.files)


def read(record: Mapping[str, Any]) -> Figures:
    """Return the figures of a run's record. Keys that lack or hold something odd count as nothing; raises nothing."""
    files = tuple(File.read(entry, place) for place, entry in enumerate(mappings(record.get("files")), 1))
    settings = mapping(record.get("settings"))
    is_code = record.get("pipeline") == "code"
    bar = ALL_TESTS if is_code else score(settings.get("quality_score_bar"))
    outcomes = Counter(file.outcome for file in files)
    named = [name for name in OUTCOMES if name in outcomes]
    others = sorted(outcomes.keys() - set(OUTCOMES))
    return Figures(
        is_code=is_code,
        run=clipped(record.get("run"), NAME_LIMIT),
        started=clipped(record.get("started"), NAME_LIMIT),
        version=clipped(record.get("reflexion"), NAME_LIMIT),
        bar=BAR if bar is None else bar,
        settings=settings,
        models=tuple(_model(role, mapping(item)) for role, item in mapping(record.get("models")).items()),
        files=files,
        outcomes=tuple((name, outcomes[name]) for name in [*reversed(named), *others]),
        marks=tuple(Counter(mark for file in files for mark in file.marks).most_common()),
        spent=Spent.of([call for file in files for call in file.calls]),
        by_model=_by_model(files),
        rules=_by_rule(files),
    )


def _model(role: object, content: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return (
        clipped(role, NAME_LIMIT),
        clipped(content.get("model"), NAME_LIMIT),
        clipped(content.get("digest"), NAME_LIMIT),
        clipped(content.get("window"), NAME_LIMIT),
    )


def _by_model(files: Iterable[File]) -> tuple[Spent, ...]:
    """Return what each role and model cost, in the order in which they were first asked."""
    calls: defaultdict[tuple[str, str], list[Call]] = defaultdict(list)
    for file in files:
        for call in file.calls:
            calls[call.role, call.model].append(call)
    return tuple(Spent.of(of_one, role, model) for (role, model), of_one in calls.items())


def _by_rule(files: Iterable[File]) -> tuple[RuleCount, ...]:
    """Return the rules that found something, those of shipped pages first, then the most frequent ones."""
    shipped: Counter[tuple[str, str]] = Counter()
    in_rounds: Counter[tuple[str, str]] = Counter()
    where: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    samples: dict[tuple[str, str], str] = {}
    for file in files:
        drafted = [problem for attempt in file.attempts for problem in attempt.problems]
        for counter, problems in ((shipped, file.problems), (in_rounds, drafted)):
            for problem in problems:
                key = problem.rule, problem.level
                counter[key] += 1
                where[key].add(file.number)
                samples.setdefault(key, problem.message)
    counts = [RuleCount(*key, shipped[key], in_rounds[key], len(where[key]), samples[key]) for key in samples]
    return tuple(sorted(counts, key=lambda item: (-item.shipped, -item.in_rounds, item.rule, item.level)))
