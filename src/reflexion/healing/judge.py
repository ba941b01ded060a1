"""Says whether a candidate for a module passes the project's own tests: the scan beside the original, then the run."""

from collections.abc import Mapping
from typing import NamedTuple

from reflexion.errors import InputError
from reflexion.healing.blame import Blame
from reflexion.healing.measure import Measure
from reflexion.healing.runner import ALL_SKIPPED, Ran, Runner
from reflexion.suite.relative import imports, scan_beside
from reflexion.suite.result import Flag, SuiteRun
from reflexion.suite.run import refused
from reflexion.suite.source import read_suite


class Turn(NamedTuple):
    """A module's turn among those of a folder: what the project is like then, and what the module has to do with it.

    ``kept`` are candidates in the places of modules, by their paths, ``text`` is what stands in this module's place.
    ``scope`` is the module's affair: failing tests, and files of tests that cannot be collected because of it.
    """

    measure: Measure
    blame: Blame
    kept: Mapping[str, bytes]
    text: str
    scope: frozenset[str]


class Judge:
    """Judges candidates for a module. ``original`` says how the module as it is does; calling the judge, a candidate.

    ``allow`` names modules that a candidate may import besides the built-in list and what the module imports. ``turn``
    None: all tests are the module's affair. Raises InputError where the tests cannot judge the module, or changed
    meanwhile; SandboxError.
    """

    def __init__(self, runner: Runner, allow: frozenset[str], turn: Turn | None = None) -> None:
        self.project, self._runner, self._allow, self._turn = runner.project, runner, allow, turn
        first = turn.measure.now if turn is not None else runner.first()
        broken = frozenset(first.broken)
        self._measure = turn.measure if turn is not None else Measure(first, first, self.project, Blame(runner), broken)
        self.text = turn.text if turn is not None else self.project.module.text
        self._runs = {self.text: first}
        self.original = self._verdict(first)
        self.tests = self.project.tests_text([*(one.test for one in self.original.failures), *self._unseen(first)])
        if turn is None:
            self._require_touched(first)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the module defines at its top for others: a candidate that has it is the module."""
        tree = read_suite(self.project.module.text).tree
        defined = [getattr(node, "name", "") for node in tree.body]
        return tuple(name for name in defined if name and not name.startswith("_"))

    @property
    def more_imports(self) -> frozenset[str]:
        """Return what a candidate may import besides the built-in list."""
        return self._allow | imports(self.project.module.text)

    def __call__(self, candidate: str) -> SuiteRun:
        """Run the tests against a candidate."""
        if candidate == self.text:
            return self.original
        flags = self._flags(candidate)
        if flags:
            name = self.project.name
            more = f" (and {len(flags) - 1} more)" if len(flags) > 1 else ""
            return refused(f"{name}, line {flags[0].line}: {flags[0].what}{more}", flags, name)
        kept = self._turn.kept if self._turn is not None else {}
        self._runs[candidate] = self._runner.run({**kept, self.project.name: self.project.module.encoded(candidate)})
        return self._verdict(self._runs[candidate])

    def run_of(self, candidate: str) -> Ran | None:
        """Return the last run of a candidate; None where the scan does not let it pass."""
        if candidate not in self._runs:
            self(candidate)
        return self._runs.get(candidate)

    def _flags(self, candidate: str) -> tuple[Flag, ...]:
        module = self.project.module
        flags = scan_beside(candidate, module.text, self._allow)
        try:
            data = module.encoded(candidate)
        except UnicodeEncodeError as error:
            line = candidate.count("\n", 0, error.start) + 1
            return Flag(line, f"a character that the file's encoding, {error.encoding}, does not have"), *flags
        if not flags and not module.reads_as(data, candidate):
            return (Flag(1, f"another declared encoding than the file's, which is {module.encoding}"),)
        return flags

    def _verdict(self, ran: Ran) -> SuiteRun:
        turn, measure = self._turn, self._measure
        if turn is None:
            return measure.verdict(ran, scope=frozenset(measure.first.broken))
        new = ran.failed.difference(measure.now.tests)
        excused = (measure.now.failed & ran.failed) | measure.now.broken.keys()
        excused = (excused - turn.scope) | {test for test in new if not self._is_mine(test, ran, turn.blame)}
        return measure.verdict(ran, excused, turn.scope)

    def _is_mine(self, test: str, ran: Ran, blame: Blame) -> bool:
        """Return whether a failing test that could not be collected before is this module's affair: it is, where its
        traceback or the text of its file names the module.
        """
        name = self.project.name
        return name in blame.named(ran, test) or name in blame.imported(test)

    def _unseen(self, ran: Ran) -> list[str]:
        """Return the files of tests that cannot be collected because of the module."""
        scope = self._turn.scope if self._turn is not None else frozenset(ran.broken)
        return [name for name in ran.broken if name in scope and name]

    def _require_touched(self, ran: Ran) -> None:
        """The tests have to run the module, or nothing that they say is about it."""
        told = ran.told
        said = " ".join([told.uncollected, ran.error, *(one.why for one in told.tests.values())])
        if not told.imported and told.end is not None and not self._runner.named(said):
            label = self.project.module.label
            raise InputError(f"{label}: the tests never import it from there, so they say nothing about it")
        if self.original.reason == ALL_SKIPPED:
            raise InputError(f"{self.project.tests[0]}: {ALL_SKIPPED}")
