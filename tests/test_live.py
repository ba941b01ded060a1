"""The live line: one file in detail, a batch as a whole, and an estimate only where there is something to go by."""

from collections.abc import Callable

from reflexion.events import FileFinished, FileStarted, NodeStarted, TokensReceived
from reflexion.live import LiveState, duration


def ticking(*times: float) -> Callable[[], float]:
    left = iter(times)
    return lambda: next(left)


def finished(name: str, outcome: str = "accepted") -> FileFinished:
    return FileFinished(name, outcome, "", (), 1, "approved", 1.0, 1)


def test_one_file_shows_its_node_and_speed() -> None:
    state = LiveState()
    state.feed(FileStarted("a.py", 1, 1))
    assert state.describe() == "starting"
    state.feed(NodeStarted("a.py", "generate", 2, "gen:1b"))
    state.feed(TokensReceived("a.py", "generate", 50, 2.0))
    assert state.describe() == "round 2: generate gen:1b  50 tokens, 25/s"


def test_a_batch_shows_what_is_done_in_flight_and_failed() -> None:
    state = LiveState(clock=ticking(0.0, 10.0))
    for number, name in enumerate(("a.py", "b.py", "c.py", "d.py"), start=1):
        state.feed(FileStarted(name, number, 10))
        state.feed(NodeStarted(name, "generate", 1, "gen:1b"))
    state.feed(finished("a.py"))
    state.feed(finished("b.py", "failed"))
    assert state.describe() == "2 of 10 files, 2 in flight, 1 failed, about 40 s left; round 1: generate gen:1b"


def test_there_is_no_estimate_from_one_file() -> None:
    state = LiveState(clock=ticking(0.0))
    state.feed(FileStarted("a.py", 1, 9))
    state.feed(finished("a.py"))
    assert state.seconds_left() is None


def test_a_node_that_ended_is_taken_out_with_its_last_tokens() -> None:
    state = LiveState()
    node, tokens = NodeStarted("a.py", "critique", 1, "critic:1b"), TokensReceived("a.py", "critique", 3, 0.0)
    state.feed(node)
    state.feed(tokens)
    assert state.end_nodes(("a.py", "")) == [(node, tokens)]
    assert state.end_nodes(("a.py", "")) == []


def test_parts_of_one_source_are_told_apart_and_count_as_one_file() -> None:
    state = LiveState()
    state.feed(FileStarted("a.py", 1, 2))
    first, second = (NodeStarted("a.py", "generate", 1, "gen:1b", part) for part in ("lines 1 to 9", "lines 10 to 20"))
    heard = TokensReceived("a.py", "generate", 5, 1.0, part="lines 1 to 9")
    for event in (first, second, heard):
        state.feed(event)
    assert state.describe() == "0 of 2 files; round 1: generate gen:1b  5 tokens, 5/s"
    assert state.end_nodes(("a.py", "lines 1 to 9")) == [(first, heard)]
    assert state.end_nodes(("a.py", "")) == [(second, None)]


def test_durations_are_said_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (4.4, 89, 100, 3600, 11_100)] == [
        "4 s",
        "89 s",
        "2 min",
        "60 min",
        "3 h 05 min",
    ]


def test_one_file_shows_the_last_lines_of_what_is_being_written() -> None:
    state = LiveState()
    state.feed(FileStarted("a.py", 1, 1))
    state.feed(NodeStarted("a.py", "develop", 1, "dev:1b"))
    text = "".join(f"line {number}\n" for number in range(20)) + "\x1b[31mred"
    state.feed(TokensReceived("a.py", "develop", 50, 2.0, text))
    shown = state.describe().splitlines()
    assert shown[0] == "round 1: develop dev:1b  50 tokens, 25/s"
    assert shown[1].strip() == "line 13"
    assert len(shown) == 9
    assert "\x1b" not in state.describe()
