"""Whose turn it is: first come, first served, and no load more than that order demands."""

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from reflexion.embedded.catalog import Model
from reflexion.embedded.gguf import Header
from reflexion.embedded.pool import Pool
from reflexion.embedded.runner import Call, ClientGone, Runner

SHORT_S = 0.02


@dataclass
class Loads:
    """Stands for workers: loading and stopping are written down, nothing is computed."""

    names: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def load(self, model: Model, _window: int, call: Call) -> Runner:
        self.names.append(model.name)
        time.sleep(SHORT_S)
        call.check()
        return cast(Runner, Worker(model.name, self.stopped))


@dataclass
class Worker:
    name: str
    stopped: list[str]
    running: bool = True

    def alive(self) -> bool:
        return self.running

    def stop(self) -> None:
        self.running = False
        self.stopped.append(self.name)


def model(name: str) -> Model:
    return Model(name, Path("x.gguf"), 1, datetime.now(UTC), "", Header({}, 0))


def run_in_order(pool: Pool, names: str, served: list[str]) -> None:
    """One thread a letter; each comes after the one before has joined the queue."""

    def call(name: str) -> None:
        with pool.use(model(name), 64, None, Call(pool.wake)):
            time.sleep(SHORT_S)
            served.append(name)

    threads = [threading.Thread(target=call, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
        time.sleep(SHORT_S / 4)
    for thread in threads:
        thread.join(20)


@pytest.mark.parametrize(
    ("names", "room", "loads"),
    [("aaaa", 1, "a"), ("aabb", 1, "ab"), ("abab", 1, "abab"), ("abab", 2, "ab"), ("aaabaaa", 1, "aba")],
)
def test_calls_are_served_as_they_came(names: str, room: int, loads: str) -> None:
    made, served = Loads(), list[str]()
    run_in_order(Pool(room, made.load), names, served)
    assert "".join(made.names) == loads
    if room == 1:
        assert "".join(served) == names
    assert sorted(served) == sorted(names)


def test_the_one_used_longest_ago_makes_room() -> None:
    made = Loads()
    pool = Pool(2, made.load)
    for name in "abac":
        with pool.use(model(name), 64, None, Call(pool.wake)):
            pass
    assert made.stopped == ["b"]


def test_who_is_gone_waits_no_longer_and_holds_nobody_up() -> None:
    pool = Pool(1, Loads().load)
    gone = Call(pool.wake)
    ended: list[Exception] = []

    def wait() -> None:
        try:
            with pool.use(model("b"), 64, None, gone):
                pass
        except ClientGone as error:
            ended.append(error)

    with pool.use(model("a"), 64, None, Call(pool.wake)):
        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(SHORT_S)
        gone.cancel()
        waiting.join(5)
        assert len(ended) == 1
    with pool.use(model("b"), 64, None, Call(pool.wake)) as loaded:
        assert loaded.model.name == "b"


def test_another_window_is_another_load() -> None:
    made = Loads()
    pool = Pool(2, made.load)
    for window in (64, 64, 128):
        with pool.use(model("a"), window, None, Call(pool.wake)) as loaded:
            assert loaded.window == window
    assert (made.names, made.stopped) == (["a", "a"], ["a"])
