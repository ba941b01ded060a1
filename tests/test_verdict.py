"""Scores, fixes and stops: plain arithmetic."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reflexion.evidence.finding import Finding
from reflexion.rounds import Round, best_round, stop_reason
from reflexion.verdict import GENERIC_FIX, LONGEST_FIX, Critique, at_bar, average, choose_fix, is_degenerate, sanitise

ERROR = Finding("T004", "error", 7, "the fence is never closed.", "```python", "Close the fence.")
WARNING = Finding("T005", "warning", 9, "may be cut.", "", "End the sentence.")


def round_of(number: int, score: int | None, draft: str = "", *, findings: tuple[Finding, ...] = ()) -> Round:
    plain = [{name: getattr(item, name) for name in Finding.__dataclass_fields__} for item in findings]
    return Round(
        number=number,
        draft=draft or f"draft {number}",
        technical_accuracy=score,
        completeness=score,
        score=score,
        contract=None,
        examples=None,
        skipped=False,
        findings=plain,
        fix="",
        trouble="",
        calls=[],
    )


@given(st.integers(0, 100), st.integers(0, 100))
def test_the_average_is_the_rounded_mean_and_in_range(accuracy: int, completeness: int) -> None:
    critique = Critique(technical_accuracy=accuracy, completeness=completeness, single_critical_fix="")
    assert average(critique) == round((accuracy + completeness) / 2)
    assert 0 <= average(critique) <= 100


@pytest.mark.parametrize("fix", ["", " \n", "../" * 200, "0000", "-.-.-.", "the the the the the the", "ab " * 9])
def test_degenerate_fixes(fix: str) -> None:
    assert is_degenerate(fix)
    assert sanitise(fix) == GENERIC_FIX


@pytest.mark.parametrize(
    ("within", "beyond"),
    [
        ("abcde", "abcd"),
        ("wrong type wrong type wrong", "wrong type wrong type wrong type"),
        ("Wrong type, wrong TYPE here wrong Type,", "Wrong type, wrong TYPE, WRONG Type,"),
        ("name the type ".ljust(LONGEST_FIX, "."), "name the type ".ljust(LONGEST_FIX + 1, ".")),
    ],
)
def test_where_a_fix_begins_to_say_nothing(within: str, beyond: str) -> None:
    assert not is_degenerate(within)
    assert is_degenerate(beyond)


@pytest.mark.parametrize("name", ["technical_accuracy", "completeness"])
@pytest.mark.parametrize("value", [-1, 101, "95", 95.5, True, None])
def test_a_sub_score_out_of_range_or_of_another_type_is_no_verdict(name: str, value: object) -> None:
    verdict = {"technical_accuracy": 0, "completeness": 100, "single_critical_fix": ""}
    assert Critique.model_validate_json(json.dumps(verdict)).completeness == 100
    with pytest.raises(ValidationError):
        Critique.model_validate_json(json.dumps(verdict | {name: value}))


@pytest.mark.parametrize("fix", ["Fix the type.", "In `add`, state that b defaults to 1."])
def test_real_fixes_stay(fix: str) -> None:
    assert sanitise(fix) == fix


@given(st.text())
def test_a_sanitised_fix_is_one_line_and_says_something(fix: str) -> None:
    line = sanitise(fix)
    assert "\n" not in line
    assert sanitise(line) == line
    assert line.strip()


def test_what_code_proved_comes_before_the_critic() -> None:
    critique = Critique(technical_accuracy=1, completeness=1, single_critical_fix="Use more colours.")
    assert choose_fix(ERROR, critique) == "Line 7: the fence is never closed. Close the fence. Evidence: ```python"
    assert choose_fix(WARNING, critique) == "Use more colours."
    assert choose_fix(None, None) == GENERIC_FIX


def test_the_bar_needs_a_readable_score_and_no_error() -> None:
    assert at_bar(95, 95, [WARNING])
    assert not at_bar(94, 95, [])
    assert not at_bar(100, 95, [ERROR])
    assert not at_bar(None, 0, [])


def test_the_best_round_has_the_fewest_errors_then_the_best_score_then_is_the_latest() -> None:
    clean_low, clean_high, wrong = round_of(1, 40), round_of(2, 60), round_of(3, 99, findings=(ERROR,))
    assert best_round([clean_low, clean_high, wrong]) is clean_high
    later = round_of(4, 60)
    assert best_round([clean_high, later]) is later
    assert best_round([round_of(1, None), clean_low]) is clean_low
    empty = round_of(1, None)
    empty["draft"] = ""
    assert best_round([empty]) is None


@pytest.mark.parametrize(
    ("rounds", "reason"),
    [
        ([round_of(1, 95)], "approved"),
        ([round_of(1, 94)], ""),
        ([round_of(1, 99, findings=(ERROR,))], ""),
        ([round_of(1, 50, "same"), round_of(2, 60, "same")], "plateau"),
        ([round_of(1, 50, findings=(ERROR,)), round_of(2, 50, findings=(ERROR,))], "plateau"),
        ([round_of(1, 50, findings=(ERROR,)), round_of(2, 51, findings=(ERROR,))], ""),
        ([round_of(1, 50, findings=(WARNING,)), round_of(2, 50, findings=(WARNING,))], ""),
        ([round_of(1, None), round_of(2, None)], "unscored"),
        ([round_of(1, None), round_of(2, 10), round_of(3, None)], ""),
        ([round_of(4, 10)], "attempts spent"),
    ],
)
def test_stop_reasons(rounds: list[Round], reason: str) -> None:
    assert stop_reason(rounds, bar=95, max_attempts=4) == reason
