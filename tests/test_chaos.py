"""A batch that is killed again and again ends as one that was left alone, and asks no finished call again."""

from pathlib import Path

from tests.chaos import Chaos, run_chaos


def test_kills_at_any_moment_cost_no_page_and_no_finished_call(tmp_path: Path) -> None:
    chaos = Chaos()
    run_chaos(tmp_path, chaos, kills=12, seed=6, files=20)
    assert chaos.troubles == []
    assert chaos.kills == 12
    # An answer can be whole and not yet on disk: one call runs at a time, so that is one a kill.
    assert chaos.most_repeats <= 1
