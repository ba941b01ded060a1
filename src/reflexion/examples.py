"""Who runs the examples of a command's pages: one kind of sandbox for all, opened when a page first has an example."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reflexion.errors import SandboxError, SandboxUnavailable
from reflexion.evidence.claims import Claims
from reflexion.evidence.examples.report import ExamplesReport, RunsExamples
from reflexion.evidence.facts import Facts

if TYPE_CHECKING:
    from reflexion.config import SandboxSettings
    from reflexion.evidence.examples.runner import ExampleRunner
    from reflexion.sandbox import Sandbox


class Examples:
    """Gives each source a runner for the examples of its pages.

    ``settings`` None are the defaults. ``required``: where no sandbox works, that is an error and not a reason to go
    on without.
    """

    def __init__(self, settings: "SandboxSettings | None" = None, *, required: bool = False) -> None:
        self._settings = settings
        self.required = required

    def open(self) -> "Sandbox":
        """Return the sandbox, probed by really running it. Raises SandboxUnavailable with the reason."""
        from reflexion.config import SandboxSettings
        from reflexion.sandbox import open_sandbox

        return open_sandbox(self._settings or SandboxSettings())

    def warnings(self) -> list[str]:
        """Return what the user should know of the settings, before anything runs."""
        if self._settings is None or self._settings.mode != "process":
            return []
        from reflexion.sandbox import NO_BOUNDARY

        return [NO_BOUNDARY]

    def of(self, path: Path | None, text: str, name: str) -> "LazyRunner":
        """Return who runs the examples of pages about a source; ``path`` None is standard input."""

        def make(why_not: str = "") -> "ExampleRunner":
            from reflexion.evidence.examples.runner import ExampleRunner
            from reflexion.importable import importable
            from reflexion.sandbox import Limits

            sandbox = None
            limits = Limits.of(self._settings) if self._settings else None
            if not why_not:
                try:
                    sandbox = self.open()
                except SandboxUnavailable as error:
                    if self.required:
                        raise
                    why_not = str(error)
            return ExampleRunner(sandbox, importable(path, text, name), why_not=why_not, limits=limits)

        return LazyRunner(make, required=self.required)


# How fences of Python examples are marked; those without a mark may be anything.
PYTHON_MARKS = frozenset({"python", "py", "python3", "pycon", "doctest"})


class NotAsked:
    """Stands for whoever would run examples where nobody asked for it: counts them, and says nothing about them."""

    def __init__(self) -> None:
        self.report = ExamplesReport()

    def run(self, claims: Claims, facts: Facts) -> ExamplesReport:
        """Return how many examples there are."""
        self.report = ExamplesReport(total=sum(one.language in PYTHON_MARKS for one in claims.examples))
        return self.report


class LazyRunner:
    """Makes the real runner when a page first has an example; keeps the latest report."""

    def __init__(self, make: "Callable[..., ExampleRunner]", *, required: bool) -> None:
        self._make = make
        self._required = required
        self._runner: RunsExamples | None = None
        # Pieces of a large source are checked side by side.
        self._lock = threading.Lock()
        self.report = ExamplesReport()

    def run(self, claims: Claims, facts: Facts) -> ExamplesReport:
        """Return what the page's examples showed.

        Trouble of the sandbox is neither a finding nor a pass: the examples are not run, with the trouble as reason;
        where examples are required, SandboxError or SandboxUnavailable is raised instead.
        """
        with self._lock:
            self.report = self._run(claims, facts) if claims.examples else ExamplesReport()
            return self.report

    def _run(self, claims: Claims, facts: Facts) -> ExamplesReport:
        self._runner = self._runner or self._make()
        try:
            return self._runner.run(claims, facts)
        except SandboxError as error:
            if self._required:
                raise
            return self._make(str(error)).run(claims, facts)
