"""Says whether a candidate for a module passes the project's own tests: the scan beside the original, then the run."""

from reflexion.errors import InputError
from reflexion.healing.runner import ALL_SKIPPED, Ran, Runner, expected_tests
from reflexion.suite.relative import imports, scan_beside
from reflexion.suite.result import Flag, SuiteRun
from reflexion.suite.run import base, refused
from reflexion.suite.source import read_suite


class Judge:
    """Judges candidates for a module. ``original`` says how the module as it is does; calling the judge, a candidate.

    ``allow`` names modules that a candidate may import besides the built-in list and what the module imports. ``first``
    is a run of the project as it is, where there was one, and ``scope`` the failing tests that are the module's affair;
    None: all are. Raises InputError where the tests cannot judge the module, or changed meanwhile; SandboxError.
    """

    def __init__(
        self, runner: Runner, allow: frozenset[str], first: Ran | None = None, scope: frozenset[str] | None = None
    ) -> None:
        self.project, self._runner, self._allow = runner.project, runner, allow
        ran = first or runner.first()
        self.is_complete, self.before = ran.is_complete, ran.outcomes
        self.expected = expected_tests(ran, self.project)
        failing = [one.test for one in ran.verdict(self.expected).failures]
        self._excused = frozenset(failing) - scope if scope is not None else frozenset()
        self.original = ran.verdict(self.expected, None, self._excused)
        self.tests = self.project.tests_text(one.test for one in self.original.failures)
        if first is None:
            self._require_touched(ran)

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
        if candidate == self.project.module.text:
            return self.original
        name = self.project.name
        flags = scan_beside(candidate, self.project.module.text, self._allow)
        try:
            data = self.project.module.encoded(candidate)
        except UnicodeEncodeError as error:
            data = b""
            line = candidate.count("\n", 0, error.start) + 1
            flags = (Flag(line, f"a character that the file's encoding, {error.encoding}, does not have"), *flags)
        else:
            if not flags and not self.project.module.reads_as(data, candidate):
                encoding = self.project.module.encoding
                flags = (Flag(1, f"another declared encoding than the file's, which is {encoding}"),)
        if flags:
            more = f" (and {len(flags) - 1} more)" if len(flags) > 1 else ""
            return refused(f"{name}, line {flags[0].line}: {flags[0].what}{more}", flags, name)
        ran = self._runner.run({name: data})
        expected = self.expected if self.is_complete else self._covered(ran)
        return ran.verdict(expected, self.before, self._excused)

    def _require_touched(self, ran: Ran) -> None:
        """The tests have to run the module, or nothing that they say is about it."""
        told = ran.told
        said = " ".join([told.uncollected, ran.error, *(one.why for one in told.tests.values())])
        if not told.imported and told.end is not None and not self._runner.named(said):
            label = self.project.module.label
            raise InputError(f"{label}: the tests never import it from there, so they say nothing about it")
        if self.original.reason == ALL_SKIPPED:
            raise InputError(f"{self.project.tests[0]}: {ALL_SKIPPED}")

    def _covered(self, ran: Ran) -> tuple[str, ...]:
        """Return what was collected where every test is in it that the text names, else what the text names.

        What the settings deselect is there as well. pytest may name files from a folder above or below the project's.
        """
        there = {base(name) for name in (*ran.tests, *ran.told.deselected)}
        above = {end for name in there for end in _ends(name)}
        missing = [name for name in self.expected if name not in above and there.isdisjoint(_ends(name))]
        return self.expected if missing else ran.tests


def _ends(name: str) -> list[str]:
    """Return a test's name, and what is left of it without folders in front."""
    path, sign, rest = name.partition("::")
    parts = path.split("/")
    return [f"{'/'.join(parts[start:])}{sign}{rest}" for start in range(len(parts))]
