"""The results that come out of the sandbox: whatever is in the file, it is read strictly and never raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.examples.protocol import plan_text, read_result

RAISED = "raised 0 1 example 6275696c74696e732e56616c75654572726f72 6e6f - 6275696c74696e732e56616c75654572726f723a"
GOOD = f"""driver 1
loaded
begun 0
example 0 alone exit0
begin 1
ended 1 0 2
value 1 35 35 696e74 0
step 0 0 2
{RAISED}
done
printed 2 350a
end 0
finished
"""


def test_what_is_told_is_read() -> None:
    told = read_result(GOOD.encode())
    outcome = told.outcomes[0, False]
    assert (told.loaded, told.finished, told.running) == (True, True, None)
    assert (outcome.problem, outcome.printed, outcome.steps, outcome.ended) == ("", b"5\n", {0: (0, 2)}, {1: [(0, 2)]})
    assert [one.representation for one in outcome.values[1]] == ["5"]
    raised = outcome.raised[0]
    assert (raised.type, raised.message, raised.is_a("ValueError"), raised.last_line) == (
        "ValueError", "no", True, "ValueError: no",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("done\n", "", "ended the interpreter"),
        ("done\n", "done\ndone\n", "wrong form"),
        ("step 0 0 2", "step 0 0", "wrong form"),
        ("step 0 0 2", "step 0 0 99999999999", "wrong form"),
        ("value 1 35 35 696e74 0", "value 1 3 35 696e74 0", "wrong form"),
        ("printed 2 350a", "printed 2 35zz", "wrong form"),
        ("exit0", "exit3", "exit code 3"),
        ("exit0", "exit-9", "signal 9"),
        ("exit0", "late", "time limit"),
        ("example 0 alone exit0", "example 0 alone unknown", ""),
        ("done\nprinted", "printed", "ended the interpreter"),
    ],
)
def test_what_is_not_as_agreed_is_a_problem(old: str, new: str, problem: str) -> None:
    outcome = read_result(GOOD.replace(old, new).encode()).outcomes[0, False]
    assert problem in outcome.problem
    assert bool(problem) == bool(outcome.problem)


def test_what_is_missing_is_missing() -> None:
    assert read_result(b"").outcomes == {}
    assert read_result(b"loaded\nfinished\n").loaded is False
    cut = read_result(GOOD.partition("end 0")[0].encode())
    assert (cut.outcomes, cut.finished, cut.running) == ({}, False, 0)
    unloaded = read_result(b"driver 1\nunloaded 0 source 6275696c74696e732e456f66 6e6f - 6275696c74696e732e456f663a\n")
    assert unloaded.unloaded is not None
    assert unloaded.unloaded.message == "no"


lines = st.sampled_from(GOOD.splitlines()) | st.text(alphabet="0123456789abcdef -", max_size=20)


@settings(max_examples=150, deadline=None)
@given(st.lists(lines, max_size=25), st.binary(max_size=10))
def test_no_result_makes_the_reader_raise(words: list[str], end: bytes) -> None:
    told = read_result("\n".join(["driver 1", *words]).encode() + end)
    assert all(outcome.problem or outcome.done for outcome in told.outcomes.values())


def test_a_plan_is_a_literal() -> None:
    text = plan_text("bank", ["a"], [{"steps": [(1, "x = 'é'", 0)]}], 5.0, together=range(1), run=[(0, True, [])])
    assert eval(text, {"__builtins__": {}})["run"] == [(0, True, [])]
