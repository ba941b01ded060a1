"""ExampleRunner: runs the examples of pages about one source in a sandbox, and judges what they told.

What an example tells is told by the process that it ran in, so it is no proof against a hostile source: see
``driver.py``. It is proof enough against an honest source with a wrong page.
"""

import marshal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from reflexion.evidence.claims import Claims
from reflexion.evidence.examples.findings import Judgement, judge, placed, same_finding, syntax_finding
from reflexion.evidence.examples.imports import SourceNames, source_names
from reflexion.evidence.examples.pages import Unparsed, plan_page
from reflexion.evidence.examples.plan import Plan
from reflexion.evidence.examples.protocol import NAME_ERROR, Outcome, Told, plan_text, read_result
from reflexion.evidence.examples.report import ExamplesReport, NotRun
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Finding
from reflexion.importable import SourceTree
from reflexion.sandbox.job import Completed, Job, Limits, Sandbox

# A page whose examples end the driver itself gets this many jobs; what is left then is not run.
MAX_JOBS = 4
SECONDS_EACH = 5.0
# The number of the run in which all examples share a process, beside those of the first and second one of their own.
TOGETHER = -1
DRIVER = ("driver.py", "inside.py")
NO_SANDBOX = "there is no sandbox to run it in"
NO_TREE = "the source cannot be imported from here"

_Key = tuple[object, ...]
_Wanted = tuple[int, bool]


@dataclass(slots=True)
class _Page:
    """The plans of one page with what identifies each, so that the same example is not run twice.

    ``ending`` are those that did not come to their end, which nothing else is run after.
    """

    plans: Sequence[Plan]
    entries: Sequence[object]
    aliases: Sequence[str]
    ending: frozenset[int] = frozenset()

    def before(self, wanted: _Wanted) -> list[int]:
        """Return the examples that run before one."""
        number, after = wanted
        return [one for one in range(number) if one not in self.ending] if after else []

    def key(self, wanted: _Wanted, attempt: int) -> _Key:
        """Return what a run's result depends on."""
        number, after = wanted
        entries = self.entries[: number + 1] if after else self.entries[number : number + 1]
        return (attempt, repr((entries, self.aliases)))


class ExampleRunner:
    """Runs the examples of pages about one source; remembers results, so that the same examples are not run twice.

    :param sandbox: where to run them; None: no example is run, with the reason ``why_not``
    :param tree: what makes the source importable; None: as without a sandbox
    :param limits: those of one job; a page's examples share a job, and each has at most 5 s of it
    """

    def __init__(
        self,
        sandbox: Sandbox | None,
        tree: SourceTree | None,
        *,
        why_not: str = "",
        limits: Limits | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._tree = tree
        self._why_not = why_not or (NO_SANDBOX if sandbox is None else NO_TREE)
        self._limits = limits or Limits()
        self._compiled = True
        self._known: dict[_Key, Outcome] = {}

    def run(self, claims: Claims, facts: Facts) -> ExamplesReport:
        """Return what the examples of a page show; code that does not parse is found without running anything.

        Raises SandboxError: trouble of the sandbox is never a finding and never a pass.
        """
        names = source_names(facts, self._tree.module if self._tree else facts.module)
        planned = plan_page(claims, names, facts.text)
        unparsed = [one for one in planned if isinstance(one, Unparsed)]
        plans = [one for one in planned if isinstance(one, Plan)]
        judged = self._judged(plans, names) if plans else []
        found = [syntax_finding(one.line, one.error, one.code) for one in unparsed]
        found += [finding for one in judged for finding in one.findings]
        pairs = list(zip(plans, judged, strict=True))
        not_run = tuple(NotRun(plan.example.line, one.not_run) for plan, one in pairs if one.not_run)
        lines = claims.text.split("\n")
        return ExamplesReport(
            findings=tuple(placed(finding, lines) for finding in sorted(found, key=lambda one: one.line)),
            total=len(planned),
            ran=len(planned) - len(not_run),
            failed=len(unparsed) + sum(any(it.level == "error" for it in one.findings) for one in judged),
            not_run=not_run,
        )

    def _judged(self, plans: Sequence[Plan], names: SourceNames) -> list[Judgement]:
        if self._sandbox is None or self._tree is None:
            return [Judgement(not_run=self._why_not)] * len(plans)
        page = _page(plans)
        outcomes = self._together(page)
        judged = [judge(plan, outcome, names) for plan, outcome in zip(plans, outcomes, strict=True)]
        doubtful = [
            number
            for number, (one, outcome) in enumerate(zip(judged, outcomes, strict=True))
            if one.findings or (one.not_run and not outcome.final)
        ]
        self._run(page, [(number, False) for number in doubtful], attempt=0)
        alone = {number: self._known[page.key((number, False), 0)] for number in doubtful}
        page.ending = frozenset(number for number, one in enumerate(outcomes) if alone.get(number, one).problem)
        self._run(page, [(number, True) for number in doubtful if self._needs_others(page, number, names)], attempt=0)
        for number in doubtful:
            judged[number] = self._settled(page, number, judged[number], names)
        return judged

    def _needs_others(self, page: _Page, number: int, names: SourceNames) -> bool:
        """Say whether an example may do better after those before it."""
        alone = self._known[page.key((number, False), 0)]
        unknown = alone.code == NAME_ERROR
        return number > 0 and (unknown or bool(judge(page.plans[number], alone, names).findings))

    def _together(self, page: _Page) -> list[Outcome]:
        """Run all examples in one process, which is enough for a page that is true."""
        keys = [page.key((number, True), TOGETHER) for number in range(len(page.plans))]
        if all(key in self._known for key in keys):
            return [self._known[key] for key in keys]
        completed = self._job(page, together=range(len(page.plans)))
        told = read_result(completed.result)
        problem = _whole_problem(told, completed)
        nothing = Outcome(problem=problem or "it told nothing", final=bool(problem))
        for number, key in enumerate(keys):
            self._known[key] = told.outcomes.get((number, False), nothing)
        return [self._known[key] for key in keys]

    def _settled(self, page: _Page, number: int, first: Judgement, names: SourceNames) -> Judgement:
        """Judge an example by runs of its own.

        A finding stands where it is made alone, once more in another process, and after the page's earlier examples.
        What differs from one run to the next (a time, a random number) cannot be judged, and what only works after
        the examples above it does work for the reader.
        """
        plan = page.plans[number]
        best = self._best(page, number, attempt=0)
        alone = judge(plan, best, names)
        if not alone.findings:
            return alone
        later = self._known.get(page.key((number, True), 0)) if number and not best.after else None
        if not all(any(same_finding(one, other) for other in first.findings) for one in alone.findings):
            self._run(page, [(number, best.after)], attempt=1)
            first = judge(plan, self._known[page.key((number, best.after), 1)], names)
        after = judge(plan, later, names) if later is not None else None
        return replace(alone, findings=tuple(_kept(alone, first, after)))

    def _best(self, page: _Page, number: int, attempt: int) -> Outcome:
        """Return the run of an example alone, or after those before it where it needs a name of theirs."""
        alone = self._known[page.key((number, False), attempt)]
        if alone.code != NAME_ERROR or number == 0:
            return alone
        return self._known[page.key((number, True), attempt)]

    def _run(self, page: _Page, wanted: Sequence[_Wanted], attempt: int) -> None:
        """Run examples in processes of their own, in further jobs where one of them ended the job."""
        left = [one for one in wanted if page.key(one, attempt) not in self._known]
        for _ in range(MAX_JOBS):
            if not left:
                return
            completed = self._job(page, run=[(*one, page.before(one)) for one in left])
            told = read_result(completed.result)
            for key, outcome in told.outcomes.items():
                self._known[page.key(key, attempt)] = outcome
            left = [one for one in left if one not in told.outcomes]
            ended = _whole_problem(told, completed)
            for one in left if ended or told.finished else left[:1]:
                self._known[page.key(one, attempt)] = Outcome(problem=ended or _own_problem(told, completed))
            left = [] if ended or told.finished else left[1:]
            if completed.timed_out:
                break
        for one in left:
            self._known[page.key(one, attempt)] = Outcome(problem="the examples before it used up the page's time")

    def _job(
        self, page: _Page, *, together: Sequence[int] = (), run: Sequence[tuple[int, bool, Sequence[int]]] = ()
    ) -> Completed:
        assert self._sandbox is not None
        assert self._tree is not None
        seconds = min(SECONDS_EACH, self._limits.wall_s / 3)
        plan = plan_text(self._tree.module, page.aliases, page.entries, seconds, together=together, run=run)
        files = {f"source/{path}": content for path, content in self._tree.files.items()}
        files |= {**_driver(compiled=self._compiled), "plan.txt": plan.encode("utf-8", "surrogatepass")}
        completed = self._sandbox.run(Job(files, (f"{DRIVER[0]}{'c' * self._compiled}",), self._limits))
        if self._compiled and b"magic number" in completed.stderr and not completed.result:
            # The sandbox's interpreter is of another version than this one.
            self._compiled = False
            return self._job(page, together=together, run=run)
        return completed


@cache
def _driver(*, compiled: bool) -> Mapping[str, bytes]:
    """Return the files of the driver; compiled ones, since compiling them anew would cost as much as a whole page."""
    files: dict[str, bytes] = {}
    for name in DRIVER:
        path = Path(__file__).with_name(name)
        if compiled:
            code = compile(path.read_text(encoding="utf-8"), name, "exec", dont_inherit=True)
            files[f"{name}c"] = MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
        else:
            files[name] = path.read_bytes()
    return files


def _page(plans: Sequence[Plan]) -> _Page:
    aliases = dict.fromkeys(name for plan in plans for name in plan.imports.aliases)
    return _Page(plans, [_entry(plan) for plan in plans], list(aliases))


def _entry(plan: Plan) -> Mapping[str, object]:
    """Return what the driver is told of an example."""
    expected = {step for one in plan.expected for step in one.steps}
    named = {step for one in plan.expected if one.said.type.endswith("NameError") for step in one.steps}
    return {
        "steps": [
            (step.line, step.code, 2 if number in named else int(number in expected))
            for number, step in enumerate(plan.steps)
        ],
        "mode": "single" if plan.doctest else "exec",
        "flags": plan.flags,
        "prefill": list(plan.imports.prefill),
        "output": plan.wants_output,
    }


def _whole_problem(told: Told, completed: Completed) -> str:
    """Return why no example of the page could be run, or nothing."""
    if told.unloaded is not None:
        return f"the source cannot be imported ({' '.join(told.unloaded.last_line.split())[:200]})"
    if told.loaded:
        return ""
    if completed.timed_out:
        return "importing the source does not end within the time limit"
    return f"importing the source ended the interpreter (exit code {completed.exit_code})"


def _own_problem(told: Told, completed: Completed) -> str:
    if told.finished:
        return "it told nothing"
    if completed.timed_out:
        return "it did not end within its time limit"
    return f"it ended the run of the page's examples (exit code {completed.exit_code})"


def _kept(judged: Judgement, again: Judgement, after: Judgement | None) -> Iterator[Finding]:
    """Yield the findings that were made again; as they are after the page's earlier examples, where that was run."""
    for finding in judged.findings:
        if _is_clock(finding.message) or not any(same_finding(finding, one) for one in again.findings):
            continue
        if after is None or (after.not_run and not after.findings):
            yield finding
            continue
        place = (finding.rule, finding.line)
        yield from [one for one in after.findings if (one.rule, one.line) == place][:1]


def _is_clock(message: str) -> bool:
    """Say whether what is real holds today's date, which was another one when the page was written."""
    return any(text in message.rpartition(" is ")[2] for text in _todays())


def _todays() -> Iterator[str]:
    for now in (datetime.now(UTC) + timedelta(hours=hours) for hours in (-14, 0, 14)):
        yield now.strftime("%Y-%m-%d")
        yield f"datetime.date({now.year}, {now.month}, {now.day})"
        yield f"datetime.datetime({now.year}, {now.month}, {now.day},"
