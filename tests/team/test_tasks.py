"""Tasks: which there are, and where their results go."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.errors import InputError
from reflexion.team.tasks import LONGEST_SLUG, folder_of, make_task_plan, slug_of


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("A rate limiter, thread-safe!", "a-rate-limiter-thread-safe"),
        ("One two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
        ("x" * 90, "x" * LONGEST_SLUG),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_slugs(text: str, slug: str) -> None:
    assert slug_of(text) == slug


@settings(deadline=None)
@given(st.text())
def test_any_text_has_a_slug_that_is_a_safe_name(text: str) -> None:
    slug = slug_of(text)
    assert slug
    assert len(slug) <= LONGEST_SLUG
    assert slug.replace("-", "").isalnum()
    assert slug.isascii()
    assert slug == slug_of(text)


def test_a_prompt_goes_into_a_folder_of_its_first_words(tmp_path: Path) -> None:
    plan = make_task_plan("Clamp a number", None, None, overwrite=False)
    assert [folder_of(job) for job in plan.jobs] == [Path("output/clamp-a-number")]
    assert plan.folder == Path("output/clamp-a-number")


def test_a_folder_of_tasks(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "c.py"):
        (tmp_path / name).write_text("Clamp.", encoding="utf-8")
    plan = make_task_plan(None, str(tmp_path), "out", overwrite=False)
    assert [folder_of(job).as_posix() for job in plan.jobs] == ["out/a", "out/b"]
    plan.check(plan.jobs)
    (tmp_path / "a.md").write_text("Clamp.", encoding="utf-8")
    plan = make_task_plan(None, str(tmp_path), "out", overwrite=False)
    with pytest.raises(InputError, match="both be written to out/a"):
        plan.check(plan.jobs)


def test_no_input_is_replaced(tmp_path: Path) -> None:
    task, config = tmp_path / "report.md", tmp_path / "run.json"
    for path in (task, config):
        path.write_text("Clamp.", encoding="utf-8")
    with pytest.raises(InputError, match=r"report\.md: is an input"):
        make_task_plan(None, str(task), str(tmp_path), overwrite=True)
    with pytest.raises(InputError, match=r"run\.json: is an input"):
        make_task_plan("x", None, str(tmp_path), overwrite=True, protected=[config])


@pytest.mark.parametrize(
    ("prompt", "given_", "why"),
    [
        (None, None, "--prompt or --input"),
        ("x", "y.md", "one request at a time"),
        ("  ", None, "is empty"),
        (None, "gone.md", "no such file"),
        (None, ".", "no tasks in it"),
    ],
)
def test_what_cannot_be_used(prompt: str | None, given_: str | None, why: str) -> None:
    with pytest.raises(InputError, match=why):
        make_task_plan(prompt, given_, None, overwrite=False)


def test_a_link_that_leads_in_a_circle_is_not_ours_to_replace(tmp_path: Path) -> None:
    (tmp_path / "solution.py").symlink_to("solution.py")
    with pytest.raises(InputError, match=r"solution\.py: is not as reflexion wrote it"):
        make_task_plan("x", None, str(tmp_path), overwrite=False)
