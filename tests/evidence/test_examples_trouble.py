"""Examples that kill, hang, fork or forge, sources that cannot be imported, and sandboxes of other kinds."""

from reflexion.config import SandboxSettings
from reflexion.evidence.document import read_claims
from reflexion.evidence.examples.runner import NO_SANDBOX, ExampleRunner
from reflexion.evidence.verify import verify
from reflexion.importable import SourceTree, importable
from reflexion.sandbox import Completed, Job, Limits, open_sandbox
from tests.evidence.examples_support import FACTS, SHORT, SOURCE, fenced, reasons, run_page, sandbox


def test_an_example_that_kills_the_driver_costs_only_itself() -> None:
    killing = "import os\nos.kill(os.getppid(), 9)"
    report = run_page(fenced("ratio(1, 2)  # 0.6", killing, "ratio(1, 2)  # 0.7", killing, "ratio(1, 4)  # 0.25"))
    assert [one.stated for one in report.findings] == ["0.6", "0.7"]
    assert (report.total, report.ran, len(report.not_run)) == (5, 3, 2)


def test_hanging_examples_do_not_use_up_the_time_of_the_others() -> None:
    hanging = "while True: pass"
    report = run_page(fenced(hanging, "ratio(1, 2)  # 0.6", "a = 5", "print(a)  # 6"), limits=SHORT)
    assert [one.stated for one in report.findings] == ["0.6", "6"]
    assert ["time limit" in one.reason for one in report.not_run] == [True]
    report = run_page(fenced(*[hanging] * 9, "ratio(1, 2)  # 0.6"), limits=Limits(wall_s=3.0))
    assert (report.findings, report.ran, len(report.not_run)) == ((), 0, 10)


def test_code_that_forks_is_judged_once() -> None:
    forking = "import os\nchild = os.fork()\nif child:\n    os.waitpid(child, 0)\nratio(1, 2)  # 0.6"
    report = run_page(fenced(forking, "import threading\nthreading.Thread(target=input).start()\nratio(1, 2)  # 0.5"))
    assert [one.stated for one in report.findings] == ["0.6"]
    assert report.not_run == ()


def test_forged_and_broken_results_are_no_pass() -> None:
    forging = (
        "import os\nfor fd in range(3, 20):\n    try:\n        os.write(fd, b'{words}\\n')\n"
        "    except OSError:\n        pass\nos._exit(0)"
    )
    words = ("done", "step 0 0 0", "nonsense", "value 1 zz zz zz 0")
    assert all(reasons(*(forging.replace("{words}", one) for one in words)))


def test_a_source_that_cannot_be_imported_says_so() -> None:
    broken = SourceTree("bank", {"bank.py": b"import nonexistentpackage\n"})
    ending = SourceTree("bank", {"bank.py": b"import os\nos._exit(0)\n"})
    hanging = SourceTree("bank", {"bank.py": b"while True: pass\n"})
    for tree, reason in ((broken, "nonexistentpackage"), (ending, "ended the interpreter"), (hanging, "time limit")):
        report = run_page(fenced("ratio(1, 2)  # 0.6", "ratio(1, 3)"), tree, SHORT)
        assert (report.findings, report.ran) == ((), 0)
        assert all(reason in one.reason for one in report.not_run)
        assert len(report.not_run) == 2


def test_a_package_whose_own_code_fails_does_not_hide_the_source() -> None:
    files = {"shop/__init__.py": b"import nonexistentpackage\n", "shop/bank.py": SOURCE.encode()}
    report = run_page(fenced("from shop.bank import ratio\nratio(1, 2)  # 0.6"), SourceTree("shop.bank", files))
    assert [one.rule for one in report.findings] == ["X603"]


def test_without_a_sandbox_only_syntax_is_judged() -> None:
    runner = ExampleRunner(None, importable(None, SOURCE, "bank"))
    report = runner.run(read_claims(fenced("ratio(1, 2)  # 0.6", "ratio(1, 2")), FACTS)
    assert [one.rule for one in report.findings] == ["X601"]
    assert (report.total, report.ran, [one.reason for one in report.not_run]) == (2, 1, [NO_SANDBOX])
    told = ExampleRunner(sandbox(), None, why_not="a notebook").run(read_claims(fenced("ratio(1, 2)")), FACTS)
    assert [one.reason for one in told.not_run] == ["a notebook"]


def test_results_are_remembered() -> None:
    runner = ExampleRunner(sandbox(), importable(None, SOURCE, "bank"))
    first = runner.run(read_claims(fenced("stamp()", "print(stamp())  # Output: 5")), FACTS)
    moved = runner.run(read_claims("# Other\n\n" + fenced("print(stamp())  # Output: 5")), FACTS)
    assert first.findings == moved.findings == ()
    wrong = fenced("ratio(1, 2)  # 0.6")
    assert runner.run(read_claims(wrong), FACTS) == runner.run(read_claims(wrong), FACTS)


def test_verify_takes_them_up_and_silences_them() -> None:
    runner = ExampleRunner(sandbox(), importable(None, SOURCE, "bank"))
    page = fenced("ratio(1, 2)  # 0.6")
    rules = {one.rule for one in verify(page, FACTS, examples=runner)}
    assert "X603" in rules
    assert "X603" not in {one.rule for one in verify(page, FACTS, examples=runner, off=frozenset({"wrong-output"}))}
    silent = page.replace("```python", "<!-- reflexion: off X603 -->\n\n```python")
    assert "X603" not in {one.rule for one in verify(silent, FACTS, examples=runner)}
    assert "X603" not in {one.rule for one in verify(page, FACTS)}


def test_limits_only_is_enough_to_run_them() -> None:
    process = open_sandbox(SandboxSettings(mode="process"))
    runner = ExampleRunner(process, importable(None, SOURCE, "bank"))
    report = runner.run(read_claims(fenced("ratio(1, 2)  # 0.6", "a = Account()", "a.deposit(2)  # 2.0")), FACTS)
    assert [(one.rule, one.actual) for one in report.findings] == [("X603", "0.5")]


class OfAnotherVersion:
    """A real sandbox to whose interpreter compiled files of ours are of another version."""

    name = "bubblewrap"
    is_boundary = True

    def run(self, job: Job) -> Completed:
        files = {
            path: b"\x00\x00\r\n" + data[4:] if path.endswith(".pyc") else data for path, data in job.files.items()
        }
        return sandbox().run(Job(files, job.arguments, job.limits))


def test_an_interpreter_of_another_version_runs_them_too() -> None:
    runner = ExampleRunner(OfAnotherVersion(), importable(None, SOURCE, "bank"))
    report = runner.run(read_claims(fenced("ratio(1, 2)  # 0.6", "ratio(1, 0)", "find('x')")), FACTS)
    assert [(one.rule, one.actual) for one in report.findings] == [("X603", "0.5"), ("X602", ""), ("X602", "")]
