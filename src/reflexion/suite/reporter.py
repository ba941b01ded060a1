"""The pytest plugin that tells what happens to each test. Never imported here: it is sent into the sandbox.

A test passed when pytest says so of each of its phases, its function returned, no assertion of the suite failed
meanwhile (a candidate's ``__exit__`` can swallow the error), and nothing of it was skipped or expected to fail. Its
lines are those of the assertions that held.
"""

import hashlib
import os
from collections.abc import Callable, Generator
from typing import Any

import pytest
from _pytest.assertion import rewrite

LONGEST = 4000
LONGEST_NAME = 1000
# Of why tests failed all in all: the file of the records is limited. Then only the end of each, which says most.
MOST_SAID = 1_000_000
SHORT = 200
# As they are before a candidate can put others in their place. No json: its encoder is Python, and can be changed.
WRITE, GETPID = os.write, os.getpid


def hexed(text: str) -> str:
    """Return a text's bytes in hexadecimal, "-" for none."""
    return text[:LONGEST].encode("utf-8", "backslashreplace").hex() or "-"


def shortened(name: str) -> str:
    """Return a test's name, its end as a digest where it is too long: pytest makes names of whole texts."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}...{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"


class Test:
    """What is known of the test that runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.returned = False
        self.raised = ""
        self.swallowed = 0
        self.seen: list[str] = []
        self.why = ""
        self.lines: set[int] = set()

    def outcome(self) -> str:
        """Return one word for how it ended."""
        for word in ("error", "failed", "xfailed", "skipped"):
            if word in self.seen:
                return word
        if not self.returned or self.seen != ["setup", "call", "teardown"]:
            return "incomplete"
        return "swallowed" if self.swallowed else "passed"


class Reporter:
    """Writes records to a descriptor, each a line that begins with ``prefix``."""

    def __init__(self, result: int, prefix: str, canaries: list[str]) -> None:
        self._result, self._prefix, self._canaries = result, prefix, canaries
        self.look: Any = None
        """A ``kinds.Look``, where the candidate is in this process."""
        self._process = GETPID()
        self._test = Test("")
        self._ended = False
        self._said = 0
        # Called of each assertion, and then either an error is raised or pytest_assertion_pass follows.
        _watch(rewrite, "_format_explanation", self._failed_assertion)
        _watch(pytest.fail.Exception, "__init__", self._failed_assertion)

    def name_of(self, nodeid: str) -> str:
        """Return what a test is called in the records."""
        return shortened(nodeid.partition("::")[2] or nodeid)

    def _say(self, *words: str) -> None:
        if GETPID() == self._process:  # a fork is none of ours
            WRITE(self._result, f"{' '.join((self._prefix, *words))}\n".encode("ascii"))

    def _failed_assertion(self) -> None:
        self._test.swallowed += 1

    def end(self, code: int) -> bool:
        """Tell how pytest ended; return whether the session came to its end."""
        self._say("end", str(code))
        return self._ended

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Look at the classes before anything of the suite is imported; pytest has changed its own by now."""
        if self.look is not None:
            self.look.begin()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put one of the tests that must fail first, the others last."""
        first = [item for item in items if item.name in self._canaries[:1]]
        last = [item for item in items if item.name in self._canaries[1:]]
        items[:] = [*first, *(item for item in items if item.name not in self._canaries), *last]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell which tests there are."""
        self._say("collected", *(hexed(self.name_of(item.nodeid)) for item in session.items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell what could not be collected."""
        if not report.passed:
            name = shortened(report.nodeid)
            self._say("uncollected", hexed(report.outcome), hexed(str(report.longrepr or "")), hexed(name))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell that a test begins."""
        self._test = Test(self.name_of(nodeid))
        self._say("begin", hexed(self._test.name))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """See for ourselves whether the test's function returns."""
        try:
            value = yield
        except BaseException as error:
            self._test.raised = _kind(error)
            raise
        if self._test.name == self.name_of(pyfuncitem.nodeid):
            self._test.returned = True
        return value

    def pytest_assertion_pass(self, lineno: int) -> None:
        """Note an assertion that held."""
        self._test.swallowed -= 1
        self._test.lines.add(lineno)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what pytest says of a phase."""
        test = self._test
        if hasattr(report, "wasxfail"):
            test.seen.append("xfailed")
        elif report.skipped:
            test.seen.append("skipped")
        elif report.failed:
            test.seen.append("failed" if report.when == "call" else "error")
        elif type(report) is pytest.TestReport and report.when is not None:
            test.seen.append(report.when)
        if not report.passed:
            test.why = test.why or report.longreprtext

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell how the test ended."""
        test = self._test
        lines = ",".join(map(str, sorted(test.lines))) or "-"
        name = hexed(test.name if test.name == self.name_of(nodeid) else "?")
        why = test.why[:LONGEST] if self._said < MOST_SAID else test.why[-SHORT:]
        self._said += len(why)
        self._say("test", name, test.outcome(), hexed(test.raised), lines, hexed(why))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Note that the session came to its end, and tell of strange classes, before pytest collects garbage."""
        self._ended = True
        if self.look is not None and (found := self.look.strange()):
            self._say("strange", hexed(found))


class Canary(pytest.Item):
    """A test that must fail. What hooks of a project may look for in a test function is there."""

    fixturenames: tuple[str, ...] = ()
    cls = None

    def __init__(self, *, check: Callable[[], None], note: Callable[[str], None], **more: Any) -> None:  # noqa: ANN401
        super().__init__(**more)
        self.function, self._note = check, note
        self.funcargs: dict[str, object] = {}

    def runtest(self) -> None:
        """Fail, and tell by what."""
        try:
            self.function()
        except BaseException as error:
            self._note(type(error).__name__)
            raise


class ProjectReporter(Reporter):
    """The reporter for a user's own tests. Their names are whole node ids, and not all of them are functions.

    ``modules`` are the files under test: what tests stand in them is the candidate's own, and does not count.
    """

    def __init__(self, result: int, prefix: str, canaries: list[str], modules: list[str]) -> None:
        super().__init__(result, prefix, canaries)
        self._modules = set(modules)

    def name_of(self, nodeid: str) -> str:
        """Return a test's whole node id."""
        return shortened(nodeid.removeprefix("::"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Generator[None, None, None]:
        """Switch pytest-cov off, which begins here: its reports would go beside the tests, where nothing is written."""
        if hasattr(early_config.known_args_namespace, "no_cov"):
            early_config.known_args_namespace.no_cov = True
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, pytest.Config | None, pytest.Config | None]:
        """Switch off workers of pytest-xdist, since what they do is not seen, and files that pytest itself writes."""
        config = yield
        if config is not None and hasattr(config.option, "numprocesses"):
            config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []
        if config is not None:
            config.option.xmlpath, config.option.log_file = None, os.devnull
        return config

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell what could not be collected; a file may say that it is to be skipped."""
        if report.failed:
            super().pytest_collectreport(report)

    # Outermost, so that nothing is deselected or put into another order after it.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(  # type: ignore[override]
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Add a test that must fail before all others, and one after them."""
        yield
        items[:] = [one for one in items if os.path.realpath(one.path) not in self._modules]  # noqa: PTH111, RUF100
        checks = zip(self._canaries, (_compare, _expect), strict=True)
        made = [Canary.from_parent(session, name=name, check=check, note=self._note) for name, check in checks]
        if items:
            items[:] = [made[0], *items, made[1]]

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Tell which tests are there and not to run, by the settings."""
        self._say("deselected", *(hexed(self.name_of(item.nodeid)) for item in items))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Pass over what is called in another way than a function, and so is not seen to return."""
        if not isinstance(item, pytest.Function) or hasattr(item, "_testcase") or "TestCase" in type(item).__name__:
            self._test.returned = True

    # Outermost: only then is known what unittest says of a test.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note where a module has a test skipped or expected to fail outside of a function that pytest calls itself.

        unittest does not tell where a test was skipped, only whether its marks say so.
        """
        report = yield
        error = call.excinfo
        if error is None or self._test.raised:
            return report
        if self._is_through_module(error) or (report.when == "call" and _is_left(item, error)):
            self._test.raised = _kind(error.value)
        return report

    def _is_through_module(self, error: pytest.ExceptionInfo[BaseException]) -> bool:
        return any(os.path.realpath(one.path) in self._modules for one in error.traceback)

    def _note(self, kind: str) -> None:
        self._test.raised = kind


def _kind(error: BaseException) -> str:
    return "XFailed" if isinstance(error, pytest.xfail.Exception) else type(error).__name__


def _is_left(item: pytest.Item, error: pytest.ExceptionInfo[BaseException]) -> bool:
    """Return whether a test of unittest was skipped, and not by a mark."""
    if not isinstance(error.value, pytest.skip.Exception) or not hasattr(item, "_testcase"):
        return False
    return not any(
        getattr(one, "__unittest_skip__", False) for one in (getattr(item, "cls", None), getattr(item, "obj", None))
    )


def _compare() -> None:
    assert os.urandom(8) == os.urandom(9)


def _expect() -> None:
    with pytest.raises(ValueError, match="no number"):
        int("1")


def _watch(owner: object, name: str, note: Callable[[], None]) -> None:
    """Have ``note`` called whenever a function of pytest is."""
    original: Callable[..., object] = getattr(owner, name)

    def watching(*arguments: object, **words: object) -> object:
        note()
        return original(*arguments, **words)

    setattr(owner, name, watching)
