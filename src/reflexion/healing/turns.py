"""The modules of a folder, healed in turn: whose turn it is, and what stands in the place of those that had theirs.

A candidate that passes stands in its module's place for the modules after it, and so does one that does not pass and is
further: it loses nothing, and more tests pass or can be collected, or what failed in it fails elsewhere. Only what
passed is ever written.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reflexion.healing.blame import Blame
from reflexion.healing.judge import Judge, Turn
from reflexion.healing.measure import Measure
from reflexion.healing.module import Module
from reflexion.healing.project import Project, find_project
from reflexion.healing.runner import Ran, Runner, is_below
from reflexion.suite.result import SuiteRun
from reflexion.suite.run import base
from reflexion.wording import counted

# Of one module. Candidates that make ever more cases for tests to be made of would take turns for ever.
MOST_TURNS = 5


@dataclass(slots=True)
class Place:
    """What is known of a module: its text by now, its text that passed last ("": none), its affair so far, how many
    changes there were at its last turn, and how many turns it had. ``has_moved``: it was kept since its failure went
    elsewhere, which counts once.
    """

    module: Module
    text: str
    healed: str = ""
    scope: set[str] = field(default_factory=set)
    tried: int = -1
    turns: int = 0
    has_moved: bool = False


class Turns:
    """Whose turn it is. ``first`` is a run of the project as it is on disk, by ``runner``, which is for all modules."""

    def __init__(
        self, runner: Runner, first: Ran, modules: Sequence[Module], tests: Path, folder: Path, allow: frozenset[str]
    ) -> None:
        self._runner, self._first = runner, first
        self._tests, self._folder, self._allow = tests, folder, allow
        self._blame = Blame(runner)
        self._places = {name: Place(one, one.text) for name, one in zip(runner.modules, modules, strict=True)}
        self._kept: dict[str, bytes] = {}
        self._changes = 0
        self._projects: dict[str, Project] = {}
        self._must: set[str] = set()
        self._left_out: set[str] = set()
        self._now, self._blamed, self._broken = first, self._blame.of(first), set(first.broken)

    @property
    def measure(self) -> Measure:
        """Return what a run is measured by now."""
        return self._measure(self._now)

    @property
    def kept(self) -> Mapping[str, bytes]:
        """Return what stands in the places of modules by now."""
        return dict(self._kept)

    @property
    def passed(self) -> Mapping[str, str]:
        """Return what passed, by its module."""
        return {name: place.healed for name, place in self._places.items() if place.healed}

    def waiting(self) -> list[str]:
        """Return the modules whose turn is to come, the next one first: what was kept and would pass by now, what keeps
        tests from being collected, what failing tests end in, what they go through.

        None has its turn again before another one changed, nor more than so many.
        """
        ranks: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for name, place in self._places.items():
            if place.text not in (place.module.text, place.healed) and self._is_settled(place):
                ranks[name][0] -= 1
        for test, names in self._blamed.items():
            for name in names:
                ranks[name][1] -= test in self._now.broken
                ranks[name][2] -= name == names[-1]
                ranks[name][3] -= 1
        left = [name for name in ranks if self._may_have_turn(name)]
        return sorted(left, key=lambda name: (ranks[name], name))

    def _may_have_turn(self, name: str) -> bool:
        place = self._places[name]
        return place.tried < self._changes and place.turns < MOST_TURNS and name not in self._left_out

    def leave_out(self, name: str) -> None:
        """Never have it be a module's turn."""
        self._left_out.add(name)

    def project(self, name: str) -> Project:
        """Return a module with the project around it. Raises InputError, also where the tests changed meanwhile."""
        if name not in self._projects:
            self._runner.project.require_unchanged()
            self._projects[name] = find_project(self._places[name].module, self._tests, self._folder)
        return self._projects[name]

    def judge(self, name: str) -> Judge:
        """Begin a module's turn: return who judges its candidates, from the project as it is now.

        Raises InputError.
        """
        place = self._places[name]
        place.tried, place.turns = self._changes, place.turns + 1
        place.scope |= {test for test, names in self._blamed.items() if name in names}
        own = replace(self._runner, project=self.project(name))
        return Judge(own, self._allow, Turn(self.measure, self._blame, self.kept, place.text, frozenset(place.scope)))

    def heal(self, name: str, judge: Judge, text: str) -> None:
        """Have what passed stand in its module's place, and remember what has to hold when it is written."""
        place = self._places[name]
        self._stand(name, judge, text)
        place.healed = text
        files = place.scope & self._broken
        new = self._now.passed.difference(self._first.tests)
        self._must |= (place.scope - files) | {test for test in new if any(is_below(test, one) for one in files)}

    def keep(self, name: str, judge: Judge, candidates: Sequence[str]) -> str:
        """Have the best of these candidates, of which none passes, stand in its module's place if it is further.

        Returns how much further it is, "" where none is.
        """
        place, best, text = self._places[name], (0, 0, 0), ""
        measure = self.measure
        for one in dict.fromkeys(candidates):
            ran = judge.run_of(one) if one != place.text else None
            gain = self._gain(name, ran) if ran is not None and measure.loses_nothing(ran) else best
            best, text = (gain, one) if gain > best else (best, text)
        if not text:
            return ""
        self._stand(name, judge, text)
        if best[0]:
            return f"{counted(best[0], 'more test')} pass with it" if best[0] > 1 else "one more test passes with it"
        if best[1]:
            return f"{counted(best[1], 'more test')} can be collected with it"
        place.has_moved = True
        return "what failed in it fails in another module"

    def last_run(self) -> tuple[SuiteRun, bool]:
        """Run the tests with all that passed; return how they did, and whether it may be written.

        It may where nothing else fails than what failed before, or could not be collected, and is no affair of what is
        written. Raises InputError, SandboxError.
        """
        healed = {name: place for name, place in self._places.items() if place.healed}
        scope = frozenset(test for place in healed.values() for test in place.scope)
        written = {name: place.module.encoded(place.healed) for name, place in healed.items()}
        ran = self._runner.run(written)
        measure = self._measure(self._first)
        new = ran.failed.difference(self._first.tests)
        excused = (self._first.failed | new) - self._must | (self._first.broken.keys() - scope)
        there = set(map(base, ran.tests))
        fits = measure.verdict(ran, excused, scope).passed and {base(test) for test in self._must} <= there
        run, lost = measure.verdict(ran), self._lost_in_modules(written)
        return (run._replace(passed=False, reason=lost, summary=lost), False) if lost else (run, fits)

    def _lost_in_modules(self, written: Mapping[str, bytes]) -> str:
        """Say which test passes no more that stands in a module that is not written, a doctest mostly; "": none.

        No other run has them, since each module of the folder could have been a candidate.
        """
        texts = [place.module.text for name, place in self._places.items() if name not in written]
        if not any(">>>" in text or "def test" in text for text in texts):
            return ""
        runner = replace(self._runner, modules=tuple(written))
        before, after = (Counter(map(base, runner.run(one).passed)) for one in ({}, written))
        lost = sorted(before - after)
        return f"{lost[0]} passed before, and does not any more" if lost else ""

    def _measure(self, now: Ran) -> Measure:
        return Measure(self._first, now, self._runner.project, self._blame, frozenset(self._broken))

    def _is_settled(self, place: Place) -> bool:
        """Return whether nothing fails by now that was ever a module's affair."""
        return place.scope.isdisjoint(self._now.failed | self._now.broken.keys())

    def _stand(self, name: str, judge: Judge, text: str) -> None:
        place, ran = self._places[name], judge.run_of(text)
        if text != place.text and ran is not None:
            place.text, self._kept[name] = text, place.module.encoded(text)
            self._changes += 1
            self._now, self._blamed = ran, self._blame.of(ran)
            self._broken |= ran.broken.keys()
        place.tried = self._changes

    def _gain(self, name: str, ran: Ran) -> tuple[int, int, int]:
        """Return how many more tests pass, can be collected, and fail elsewhere than in the module."""
        place, now = self._places[name], self._now
        both = () if place.has_moved else place.scope & now.failed & ran.failed
        moved = [
            test for test in both if self._blame.named(now, test)[-1:] == [name] and self._is_elsewhere(name, ran, test)
        ]
        return len(ran.passed) - len(now.passed), len(ran.tests) - len(now.tests), len(moved)

    def _is_elsewhere(self, name: str, ran: Ran, test: str) -> bool:
        named = self._blame.named(ran, test)
        return name != named[-1] if named else bool(self._blame.imported(test) - {name})
