"""The search: propose edits, verify, keep what makes findings go and brings no new ones. Bounded in verifications."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Check, Finding
from reflexion.evidence.listed import is_lead
from reflexion.evidence.repair.edits import Draft, Edit, applied, compatible, first_draft
from reflexion.evidence.repair.propose import proposals
from reflexion.evidence.repair.remove import cut
from reflexion.evidence.sheet import Section, Sheet

Key = tuple[str, str, str, str]
Effect = tuple[tuple[str, str], ...]

_FIRST_CHECKS = 60
_CHECKS_A_FINDING = 12
_MOST_CHECKS = 900
_MOST_PROPOSALS = 60
_MOST_TIDYINGS = 4
_STAGES = 4
# What shows that a section is not about the symbol whose name it was given.
_MISFITS = frozenset({"P203", "P206", "P207"})
_HIDES = frozenset({"T004", "T008"})
# A cut row or a denial goes, though the page then lacks what it should say there: that is added afterwards.
_LEAVES_A_GAP = frozenset({"T005", "E306"})


@dataclass
class State:
    """A text on its way, what is wrong with it, and what was tried. ``left`` counts the checks that may be made."""

    draft: Draft
    findings: list[Finding]
    check: Check
    left: int
    mended: list[tuple[int, str]] = field(default_factory=list)
    refused: set[tuple[Key, Effect]] = field(default_factory=set)
    rough: bool = False
    patient: bool = False

    @property
    def errors(self) -> list[Finding]:
        """The findings that block."""
        return [finding for finding in self.findings if finding.level == "error"]


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit for a finding."""

    finding: Finding
    edit: Edit


def search(text: str, facts: Facts | None, check: Check, order: Callable[[Sequence[Finding]], list[Finding]]) -> State:
    """Mend what can be mended; ``order`` puts findings worst first.

    Careful edits come first and must lower the number of errors. Where none is left, edits pass that only uncover
    another error in the place of theirs, then rough ones.
    """
    found = check(text)
    errors = sum(finding.level == "error" for finding in found)
    state = State(first_draft(text), found, check, min(_MOST_CHECKS, _FIRST_CHECKS + _CHECKS_A_FINDING * errors))
    for state.rough, state.patient in ((False, False), (False, True), (True, False), (True, True)):
        state.refused.clear()
        while state.errors and state.left > 0 and _round(state, facts, order):
            pass
    if state.mended:
        _tidy(state, Sheet(text, facts), facts)
    return state


def _tidy(state: State, first: Sheet, facts: Facts | None) -> None:
    """Take out headings and lead-ins below which nothing is left, unless there was nothing in the first text."""
    before = set(_bare_lines(first))
    for _ in range(_MOST_TIDYINGS):
        sheet = Sheet(state.draft.text, facts)
        edits = [cut(sheet, line, line) for line in _bare_lines(sheet) if state.draft.origins[line - 1] not in before]
        if not edits or state.left <= 0:
            return
        draft = applied(state.draft, compatible(edits))
        found = state.check(draft.text)
        state.left -= 1
        if _keys(found) - _keys(state.findings):
            return
        state.mended += [(state.draft.origin(edit.start), f"{edit.what} (nothing was left below it)") for edit in edits]
        state.draft, state.findings = draft, found


def _bare_lines(sheet: Sheet) -> list[int]:
    """Headings with an empty section, and lines that announce something at the end of a section."""
    found = [one.line for one in sheet.sections if one.level > 1 and _is_empty(sheet, one.line + 1, one.end_line)]
    leads = [
        block.line for block in sheet.claims.blocks if block.kind == "paragraph" and is_lead(sheet, block.end_line)
    ]
    for line in leads:
        around = sheet.section_at(line)
        if sheet.block_at(line).end_line == line and _is_empty(sheet, line + 1, _own_end(sheet, around, line)):
            found.append(line)
    return found


def _own_end(sheet: Sheet, around: Section | None, line: int) -> int:
    """The last line before the next heading."""
    following = [section.line - 1 for section in sheet.sections if section.line > line]
    return min([*following, around.end_line if around else sheet.last_line])


def _is_empty(sheet: Sheet, first: int, last: int) -> bool:
    below = range(first, last + 1)
    return all(sheet.is_blank(line) or sheet.is_kept(line) or set(sheet.row(line)) <= set("=-") for line in below)


def _round(state: State, facts: Facts | None, order: Callable[[Sequence[Finding]], list[Finding]]) -> bool:
    """Try the first open edit of every finding; whether anything was left to try."""
    sheet = Sheet(state.draft.text, facts)
    trials = _trials(state, sheet, order(state.errors))
    fitting = compatible(trial.edit for trial in trials)
    chosen = [trial for trial in trials if any(trial.edit is edit for edit in fitting)]
    base, kept = state.draft, list[Trial]()
    _settle(state, base, kept, chosen[: 1 if state.patient else None])
    return bool(trials)


def _trials(state: State, sheet: Sheet, errors: list[Finding]) -> list[Trial]:
    """One edit for each finding of the first stage that has any: what is missing may turn up once others are mended."""
    for stage in range(_STAGES):
        found = [_next_trial(state, sheet, finding) for finding in errors if _stage(finding) == stage]
        trials = [trial for trial in found if trial is not None]
        # Several findings can be about one loop: the last place is mended first, and then they are looked at anew.
        loops = [trial for trial in trials if trial.finding.rule == "T003"]
        if trials:
            return [trial for trial in trials if trial not in loops] + loops[-1:]
    return []


def _stage(finding: Finding) -> int:
    """0 for what hides parts of the page, 1 for what may leave a gap, 3 for what is missing, 2 for all else."""
    if finding.rule in _HIDES:
        return 0
    return 1 if finding.rule in _LEAVES_A_GAP else 3 if _is_missing(_key(finding)) else 2


def _is_missing(key: Key) -> bool:
    """Whether a finding is that the page lacks something, which can always be added."""
    rule, _, stated, actual = key
    return rule == "S101" or (rule in {"S104", "P201", "E301", "R402"} and bool(actual) and not stated)


def _next_trial(state: State, sheet: Sheet, finding: Finding) -> Trial | None:
    """The first edit for a finding that was not refused."""
    for number, edit in enumerate(proposals(sheet, finding)):
        if number >= _MOST_PROPOSALS * (4 if state.rough else 1):
            return None
        fits = edit.rough == state.rough and any(sheet.text[c.start : c.end] != c.new for c in edit.changes)
        if fits and (_key(finding), edit.effect(sheet.text)) not in state.refused:
            return Trial(finding, edit)
    return None


def _settle(state: State, base: Draft, kept: list[Trial], trials: list[Trial]) -> None:
    """Make all trials at once, or, where that does not help, each half by itself; ``kept`` grows by what is kept."""
    if not trials or state.left <= 0:
        return
    draft = applied(base, [trial.edit for trial in (*kept, *trials)])
    state.left -= 1
    found = state.check(draft.text)
    if _is_better(state, found, trials):
        for trial in trials:
            state.mended.append((base.origin(trial.edit.start), f"{trial.edit.what} ({trial.finding.rule})"))
        kept += trials
        state.draft, state.findings = draft, found
    elif len(trials) == 1:
        state.refused.add((_key(trials[0].finding), trials[0].edit.effect(base.text)))
    else:
        half = len(trials) // 2
        _settle(state, base, kept, trials[:half])
        _settle(state, base, kept, trials[half:])


def _is_better(state: State, found: list[Finding], trials: list[Trial]) -> bool:
    """Whether the findings of all trials are gone, none came, and so there are fewer errors than before."""
    before, after = _keys(state.findings), _keys(found)
    gone = all(after[_key(trial.finding)] < before[_key(trial.finding)] for trial in trials)
    new = after - before
    if state.patient:
        # The same words may stand there twice, so that the finding only moves on.
        gone = gone or all(trial.finding.rule[0] == "T" and _shortens(trial.edit) for trial in trials)
        return gone and after.total() <= before.total()
    if len(trials) == 1 and trials[0].edit.uncovers:
        return gone and after.total() <= before.total() and not any(rule in _MISFITS for rule, *_ in new)
    if all(trial.finding.rule in _LEAVES_A_GAP for trial in trials):
        return gone and all(map(_is_missing, new))
    return gone and not new and after.total() < before.total()


def _shortens(edit: Edit) -> bool:
    return sum(len(change.new) - (change.end - change.start) for change in edit.changes) < 0


def _keys(findings: Sequence[Finding]) -> Counter[Key]:
    return Counter(_key(finding) for finding in findings if finding.level == "error")


def _key(finding: Finding) -> Key:
    """What stays the same of a finding when lines move and other findings go."""
    if finding.stated or finding.actual or finding.symbol:
        return finding.rule, finding.symbol, finding.stated, finding.actual
    return finding.rule, "", finding.evidence, ""
