"""The report of a run: its figures, what is drawn, and what it does with texts of models."""

import copy
import itertools
import json
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexion import html_report
from reflexion.html_report import render_report, seconds
from reflexion.html_report.drawing import CURVE_HEIGHT, CURVE_WIDTH, curve, difference, segments
from reflexion.html_report.figures import read
from reflexion.team.attempts import new_attempt
from tests.report_records import HOSTILE, hostile_record, make_record

VOID = {"meta", "br", "wbr", "input"}
OWN_TAGS = """
html head meta title style body a header h1 h2 h3 h4 p nav ul li main section svg rect dl div dt dd small table
caption thead tbody tfoot tr th td code label input select option output details summary pre ins del b span
strong line path circle wbr br script
"""


class Tree(HTMLParser):
    """Reads a page strictly: every element is closed where it was opened."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


def checked(page: str) -> Tree:
    """Read a page, and assert what must hold of any."""
    page.encode("utf-8")
    tree = Tree(page)
    assert set(tree.tags) <= set(OWN_TAGS.split())
    assert (tree.tags["script"], tree.tags["style"], tree.tags["title"], tree.tags["h1"]) == (1, 1, 1, 1)
    names = {name for _, name, _ in tree.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "style", "srcdoc", "action"})
    ids = tree.values("id")
    assert len(ids) == len(set(ids))
    targets = tree.values("href")
    assert all(target.startswith("#") and target[1:] in ids for target in targets)
    return tree


# The figures


def one_call(**changes: object) -> dict[str, Any]:
    return {
        "role": "GENERATOR",
        "model": "gen:1b",
        "outcome": "ok",
        "prompt_tokens": 100,
        "reply_tokens": 40,
        "load_s": 0.02,
        "prompt_s": 1.0,
        "generation_s": 2.0,
        "wall_s": 3.5,
    } | changes


def test_figures_add_up_calls_by_role_model_and_kind() -> None:
    first = one_call(load_s=5.0, wall_s=8.5)
    second = one_call(
        outcome="stalled", prompt_tokens=0, reply_tokens=3, prompt_s=0, generation_s=0, load_s=0, wall_s=9
    )
    critic = one_call(role="CRITIC", model="critic:1b", load_s=0, wall_s=0.1)
    last = one_call(role="ADJUDICATOR", model="adj:1b", load_s=1.0, wall_s=4.0)
    entry = {"rounds": [{"calls": [first, second, critic]}], "calls": [first, second, critic, last]}
    run = read({"files": [entry]})
    assert [(item.role, item.model, item.calls) for item in run.by_model] == [
        ("GENERATOR", "gen:1b", 2),
        ("CRITIC", "critic:1b", 1),
        ("ADJUDICATOR", "adj:1b", 1),
    ]
    assert (run.spent.prompt_tokens, run.spent.reply_tokens) == (300, 123)
    assert (run.spent.loads, run.spent.failed_calls) == (2, 1)
    assert dict(run.spent.kinds) == pytest.approx({"load": 6.0, "prompt": 3.0, "generation": 6.0, "else": 9.5})
    # A server that counts more than passed here is believed.
    assert run.by_model[1].total_s == pytest.approx(3.0)
    assert run.spent.total_s == pytest.approx(24.5)
    assert sum(item.total_s for item in run.by_model) == pytest.approx(run.spent.total_s)


def test_a_failed_file_has_the_calls_of_its_rounds() -> None:
    entry = {"outcome": "failed", "rounds": [{"calls": [one_call()]}, {"calls": [one_call(), one_call()]}]}
    (file,) = read({"files": [entry]}).files
    assert (len(file.calls), file.spent.reply_tokens, len(file.attempts)) == (3, 120, 2)


def test_findings_are_counted_by_rule_in_pages_and_in_drafts() -> None:
    def found(rule: str, level: str = "error") -> dict[str, Any]:
        return {"rule": rule, "level": level, "line": 3, "message": f"about {rule}", "evidence": "", "fix": ""}

    drafts = [{"findings": [found("R101"), found("R101"), found("T003", "warning")]}, {"findings": [found("R101")]}]
    files = [{"findings": [found("T003", "warning")], "rounds": drafts}, {"rounds": [{"findings": [found("R101")]}]}]
    counts = [
        (item.rule, item.level, item.shipped, item.in_rounds, item.files) for item in read({"files": files}).rules
    ]
    assert counts == [("T003", "warning", 1, 1, 1), ("R101", "error", 0, 4, 2)]


def test_outcomes_and_marks_are_counted() -> None:
    outcomes = ["failed", "accepted", "not accepted", "accepted", "odd"]
    files: list[dict[str, Any]] = [{"outcome": outcome} for outcome in outcomes]
    files[1] |= {"repaired": True, "assembled": False}
    files[3] |= {"repaired": True, "assembled": True, "skipped": None}
    files.append({"skipped": "unchanged"})
    run = read({"files": files})
    assert run.outcomes == (("accepted", 2), ("not accepted", 1), ("failed", 1), ("odd", 1), ("skipped", 1))
    assert dict(run.marks) == {"repaired": 2, "assembled": 1, "unchanged": 1}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0.00 s"), (9.994, "9.99 s"), (9.996, "10.0 s"), (99.96, "1 min 40 s"), (3599.6, "1 h 00 min")],
)
def test_seconds_are_written_for_people(value: float, shown: str) -> None:
    assert seconds(value) == shown


# What is drawn


@given(st.lists(st.none() | st.floats(0, 100), max_size=90), st.floats(0, 100))
@settings(max_examples=60)
def test_a_curve_stays_in_its_picture_and_has_a_point_for_every_score(scores: list[float | None], bar: float) -> None:
    drawn = curve(scores, bar)
    known = [score for score in scores[-40:] if score is not None]
    assert [point.reached for point in drawn.points] == [score >= bar for score in known]
    assert all(0 < point.x < CURVE_WIDTH and 0 < point.y < CURVE_HEIGHT for point in drawn.points)
    assert drawn.path.count("M") + drawn.path.count("L") == len(known)


def test_a_curve_is_broken_where_a_round_has_no_score() -> None:
    assert curve([50, 60, None, 70, 99], 95).path.replace("M", "|M").split("|")[1:] == [
        "M5 18L35.5 15.4",
        "M96.5 12.8L127 5.3",
    ]


@given(st.lists(st.floats(0, 1e15), min_size=1, max_size=6))
@settings(max_examples=60)
def test_segments_fill_a_bar_end_to_end_and_no_more(sizes: list[float]) -> None:
    made = segments([("load", size) for size in sizes], sum(sizes))
    assert all(0 <= part.start <= 100 and part.start + part.width <= 100.02 for part in made)
    assert all(before.start + before.width <= after.start + 0.02 for before, after in itertools.pairwise(made))


LINES = st.lists(st.sampled_from(["a", "b", "", "--- x", "+++ y", "@@ z", "- item"]), max_size=30)


@given(LINES, LINES)
@settings(max_examples=100)
def test_a_difference_tells_every_line_that_came_or_went(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    told = difference(before, after, "")
    assert told.added - told.removed == after.count("\n") - before.count("\n")
    lines = [line for _, block in told.blocks for line in block.split("\n")]
    assert sum(line.startswith("+") for line in lines) == told.added
    assert bool(lines) == (before != after)
    # Taking away what went and adding what came, in order, explains the new draft's lines.
    kept = Counter(before.split("\n")) - Counter(line[1:] for line in lines if line[0] == "-")
    assert kept + Counter(line[1:] for line in lines if line[0] == "+") == Counter(after.split("\n"))


def test_a_difference_is_capped_and_says_so() -> None:
    many = difference(
        "\n".join(f"old {line}" for line in range(400)), "\n".join(f"new {line}" for line in range(400)), ""
    )
    assert (many.added, many.removed) == (400, 400)
    assert sum(len(block.split("\n")) for _, block in many.blocks) == 300
    assert "501 more lines" in many.note
    long = difference("x" * 5_000, "y" * 5_000, "")
    assert all(len(block) < 600 for _, block in long.blocks)
    assert "4,501 more characters" in long.blocks[-1][1]
    assert difference("a", "a\n" * 2_000, "").note.startswith("Not compared")
    assert difference("same", "same", "").note == "The drafts are the same."


# The page


def test_the_page_says_what_the_record_says() -> None:
    record = make_record(14)
    tree = checked(render_report(record))
    said = "".join(tree.texts)
    for entry in record["files"]:
        assert entry["source"] in said
        assert entry["output"] in said
    for model in record["models"].values():
        assert model["digest"] in said
    for part in (
        record["run"],
        record["started"],
        "quality_score_bar",
        "no first token in 20 s",
        "it asks the network",
    ):
        assert part in said
    for part in ("line 12: `30` became `10.0`", "Round 3 to round 4", "unchanged", "repaired", "assembled", "qwen3:8b"):
        assert part in said


def test_a_run_of_the_code_pipeline_is_told_in_its_own_words() -> None:
    failures = [{"test": "test_low", "why": "assert 3 == 5"}, {"test": "test_high", "why": "assert <b> == 9"}]
    first = new_attempt(1, "DEVELOPER", draft="def clamp(x):\n    return x\n")
    first |= {"run": {"passes": 3, "total": 5, "failures": failures}, "score": 60}
    unusable = new_attempt(2, "DEBUGGER", trouble="the reply holds no module")
    mended = new_attempt(3, "DEBUGGER", diagnosis="No bound is kept.", draft="def clamp(x):\n    return min(x, 9)\n")
    mended |= {"run": {"passes": 4, "total": 5, "failures": failures[1:]}, "score": 80}
    why = "4 of 5 tests pass; failing: test_high"
    file = {"source": "task.md", "outcome": "not accepted", "why": why, "rounds": [first, unusable, mended]}
    record = {"pipeline": "code", "settings": {"quality_score_bar": 95}, "files": [file]}
    tree = checked(render_report(record))
    said = " ".join("".join(tree.texts).split())
    for part in (
        "A module is accepted when all its tests pass.",
        "the share of tests that pass, in percent, of each candidate",
        "3 candidates",
        "Candidate 1 to candidate 3: 1 line added, 1 removed",
        "test_high: assert <b> == 9",
        "No bound is kept.",
        "the reply holds no module",
        why,
    ):
        assert part in said
    assert "80" in tree.texts
    for part in ("The bar is", "95 of 100", "Findings", "Accuracy", "Page"):
        assert part not in said
    [cell] = [value for tag, name, value in tree.attributes if name == "data-value" and value == "1"]
    assert cell == "1"  # One test fails of the best candidate.


def test_columns_are_there_where_a_round_has_them() -> None:
    rounds = [{"number": 1, "score": 80, "technical_accuracy": 70, "completeness": 90, "draft": "# A"}]
    said = "".join(checked(render_report({"files": [{"source": "a.py", "rounds": rounds}]})).texts)
    assert "Accuracy" in said
    assert "Contract" not in said


def test_a_record_without_the_newer_keys_or_with_nothing_is_shown() -> None:
    record = make_record(14)
    for entry in record["files"]:
        for key in ("repaired", "mended", "assembled", "examples", "skipped"):
            entry.pop(key, None)
        for item in entry.get("rounds", []):
            del item["examples"]
    assert "did not:" not in "".join(checked(render_report(record)).texts)
    empties: list[dict[str, Any]] = [
        {},
        {"files": []},
        {"files": [{}]},
        {"files": [{"rounds": [{}]}]},
        {"files": None, "models": 3},
    ]
    for empty in empties:
        checked(render_report(empty))


def test_what_models_wrote_stays_text() -> None:
    tree = checked(render_report(hostile_record()))
    said = "".join(tree.texts)
    for text in HOSTILE[:-1]:
        assert text in said
    assert "[U+202E]reversed[U+202C] [U+0000] [U+D800] &lt;b&gt; &amp;quot;" in said
    assert "1337" not in said


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**400)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=12)
    | st.sampled_from(HOSTILE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def shape(*odd: str, **known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Dictionaries with any of these keys: known ones hold their own shape or anything, odd ones anything."""
    keys = dict.fromkeys(odd, JSON) | {name: inner | JSON for name, inner in known.items()}
    return st.fixed_dictionaries({}, optional=keys)


def several(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner | JSON, max_size=3)


CALLS = several(
    shape("role", "model", "outcome", "prompt_tokens", "reply_tokens", "load_s", "prompt_s", "generation_s", "wall_s")
)
FINDINGS = several(shape("rule", "level", "line", "message", "evidence", "fix"))
SCORES = ("number", "technical_accuracy", "completeness", "score", "contract", "examples")
ROUNDS = several(shape(*SCORES, "draft", "skipped", "fix", "trouble", findings=FINDINGS, calls=CALLS))
EXAMPLES = shape("total", "ran", not_run=several(shape("line", "reason")), findings=FINDINGS)
FILES = several(
    shape("source", "outcome", "output", "seconds", "score", "stop", "adjudication", "error", "repaired", "assembled",
          "skipped", mended=several(JSON), examples=EXAMPLES, findings=FINDINGS, rounds=ROUNDS, calls=CALLS)
)  # fmt: skip
RECORDS = shape(
    "run", "started", "reflexion", settings=shape("quality_score_bar"), models=st.dictionaries(
        st.text(max_size=5), shape("model", "digest", "window") | JSON, max_size=3), files=FILES
)  # fmt: skip


@given(RECORDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_record_of_the_right_shape_is_refused(record: dict[str, Any]) -> None:
    checked(render_report(record))


def test_the_page_is_bounded_and_says_what_is_left_out() -> None:
    record = make_record(3)
    odd, failed = record["files"][0], record["files"][2]
    wordy = copy.deepcopy(odd)
    for number, item in enumerate(wordy["rounds"]):
        item["draft"] = "\n".join(f"{'&<' * 200} {number} {line}" for line in range(300))
    endless = {"source": "endless.py", "outcome": "failed", "rounds": [endless_round(number) for number in range(60)]}
    bare = odd | {"rounds": [item | {"draft": item["draft"][:60]} for item in odd["rounds"]]}
    record["files"] = [failed, endless] + [wordy] * 4 + [bare] * 5_200
    record["run"] = "x" * 1_000_000
    page = render_report(record)
    assert len(page.encode()) < 20_000_000
    assert "206 of 5,206 files are left out of this table" in page
    assert "files are left out, so that the page stays below a size" in page
    assert "Differences between drafts are shown for" in page
    assert failed["error"] in page


def endless_round(number: int) -> dict[str, Any]:
    findings = [
        {"rule": f"R{line}", "level": "error", "message": '"' * 900, "evidence": "&" * 900} for line in range(99)
    ]
    return {"number": number, "draft": f"{number}", "findings": findings, "fix": "<" * 9_000}


def test_the_record_of_a_run_is_read_as_it_is_written() -> None:
    record = make_record(3)
    assert render_report(json.loads(json.dumps(record))) == render_report(record)
    assert html_report.MOST_OF_ONE < html_report.MOST_DETAILS
