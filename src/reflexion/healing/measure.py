"""Compares a run of a project's tests with what they said before: what passed still passes, and nothing is missing.

What a test may do that does not pass is what it did for the project as the user has it. What it did with candidates in
it counts for nothing but what passed and what failed, so that no candidate can make a skip look old to the next one.
"""

from collections import Counter

from reflexion.healing.blame import Blame, ends
from reflexion.healing.project import Project
from reflexion.healing.runner import Ran, is_below, tests_by_text
from reflexion.suite.result import SuiteRun
from reflexion.suite.run import base


class Measure:
    """``first`` is a run of the project as the user has it, ``now`` one with what was kept since; the same at first.

    ``broken`` is what could not be collected at any time.
    """

    def __init__(self, first: Ran, now: Ran, project: Project, blame: Blame, broken: frozenset[str]) -> None:
        self.first, self.now, self._blame, self._broken = first, now, blame, broken
        self._by_text = () if first.is_complete else tests_by_text(project)
        came_to_run = now.passed | now.failed
        self._before = {name: how for name, how in now.outcomes.items() if name in came_to_run} | first.outcomes
        self._held = Counter(map(base, first.passed)) | Counter(map(base, now.passed))

    def verdict(self, ran: Ran, excused: frozenset[str] = frozenset(), scope: frozenset[str] = frozenset()) -> SuiteRun:
        """Return the verdict. ``excused`` are tests, and files of tests that need not be collected, of no account.

        Of files in ``scope`` that could not be collected before, some test has to pass.
        """
        run = ran.verdict(self._expected(ran), self._before_of(ran), excused)
        unseen = [name for name in self._absent(ran) if _is_in(name, frozenset(ran.broken) - excused)]
        run = run._replace(total=run.total + len(unseen))
        why = self._lost(ran) or self._hollow(ran, scope, excused)
        return run._replace(passed=False, reason=why, summary=why) if run.passed and why else run

    def loses_nothing(self, ran: Ran) -> bool:
        """Return whether a run can be trusted, and nothing that passed or could be collected before is missing."""
        excused = (ran.failed - self.first.passed - self.now.passed) | frozenset(self.now.broken)
        return ran.is_sound(self._expected(ran), self._before_of(ran), excused) and not self._lost(ran)

    def _before_of(self, ran: Ran) -> dict[str, str] | None:
        return None if ran is self.first else self._before

    def _lost(self, ran: Ran) -> str:
        """Say which test is not there any more, or does not pass any more; "": none."""
        gone = sorted(Counter(map(base, self.now.tests)) - Counter(map(base, ran.tests)))
        lost = sorted(self._held - Counter(map(base, ran.passed)))
        if gone:
            return f"{gone[0]} was collected before, and is not any more"
        return f"{lost[0]} passed before, and does not any more" if lost else ""

    def _hollow(self, ran: Ran, scope: frozenset[str], excused: frozenset[str]) -> str:
        """Say where no test passes of a file in ``scope``, which could not be collected before.

        Of some of them, not of all, the tests may fail for a reason that is excused, or be skipped whatever the modules
        that are to be healed say.
        """
        files = sorted(scope & self._broken)
        full = [one for one in files if any(is_below(name, one) for name in ran.passed)]
        fair = [one for one in files if any(is_below(name, one) for name in ran.failed & excused)] if full else []
        fair += [one for one in files if not self._blame.decides(one)] if full else []
        hollow = [one for one in files if one not in full and one not in fair]
        return f"{hollow[0] or 'the tests'}: no test of it passes" if hollow else ""

    def _expected(self, ran: Ran) -> tuple[str, ...]:
        """Return the tests that must be there: those of the user's project, and in files that could not be collected
        then what is there now, if nothing is missing that the text names.
        """
        if self.first.is_complete:
            return self.first.tests
        known = set(map(base, self.first.tests))
        then = frozenset(self.first.broken)
        new = [name for name in ran.tests if base(name) not in known and any(is_below(name, one) for one in then)]
        missing = [name for name in self._absent(ran) if _is_in(name, then) and not _is_in(name, frozenset(ran.broken))]
        return (*self.first.tests, *new, *missing)

    def _absent(self, ran: Ran) -> list[str]:
        """Return what the text names and is not there. What the settings deselect is.

        pytest may name files from a folder above or below the project's.
        """
        there = {base(name) for name in (*ran.tests, *ran.told.deselected)}
        above = {end for name in there for end in ends(name)}
        return [name for name in self._by_text if name not in above and there.isdisjoint(ends(name))]


def _is_in(name: str, files: frozenset[str]) -> bool:
    """Return whether a test that a text names is in one of these files, whichever folder pytest names them from."""
    return any(is_below(end, one) for one in files for end in ends(name)) or any(
        is_below(name, end) for one in files for end in ends(one)
    )
