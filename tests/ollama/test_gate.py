"""Threads that wait at the gate; what it decides is in test_gate_schedule.py."""

import itertools
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from reflexion.config import Role
from reflexion.errors import ReplyCut, ServerUnreachable
from reflexion.ollama.gate import Gate, all_loaded

G, C, A = Role.GENERATOR, Role.CRITIC, Role.ADJUDICATOR
ORDER = tuple(Role)
APART = {G: "gen:1b", C: "critic:1b", A: "adj:1b"}


def until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.001)


@pytest.fixture
def make_gate() -> Iterator[Callable[..., Gate]]:
    """Makes gates that close by themselves after a while, so that a turn that never comes is a failure, not a hang."""
    timers: list[threading.Timer] = []

    def make(parallel: int = 1, *, fits_together: bool = False) -> Gate:
        gate = Gate(ORDER, parallel, fits_together=fits_together)
        timers.append(threading.Timer(10, gate.close, [lambda: TimeoutError("this turn never came")]))
        timers[-1].daemon = True
        timers[-1].start()
        return gate

    yield make
    for timer in timers:
        timer.cancel()


class Machine:
    """Stands for the server: notes every model that it is asked for, and how many calls ran at once."""

    def __init__(self) -> None:
        self.served: list[str] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    def call(self, model: str, seconds: float) -> None:
        with self._lock:
            self.served.append(model)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        time.sleep(seconds)
        with self._lock:
            self._now -= 1

    def loads(self) -> int:
        return len([model for model, _ in itertools.groupby(self.served)])


@pytest.mark.parametrize("parallel", [1, 3])
def test_threads_load_no_more_than_the_bound_and_lose_no_call(make_gate: Callable[..., Gate], parallel: int) -> None:
    chance = random.Random(parallel)
    gate, machine = make_gate(parallel), Machine()
    scripts = [(G, C) * chance.randint(1, 4) + (A,) for _ in range(10)]
    scripts[3] = scripts[3][:3]  # This file is given up in the middle of its third call.

    def run(calls: tuple[Role, ...], *, fails: bool) -> None:
        for number, role in enumerate(calls, start=1):
            time.sleep(chance.random() / 500)
            with gate.turn(role, APART[role]):
                machine.call(APART[role], chance.random() / 500)
                if fails and number == len(calls):
                    raise ReplyCut("cut")

    with gate.window(len(scripts)) as seats, ThreadPoolExecutor(len(scripts)) as pool:

        def file(number: int) -> None:
            with seats[number]:
                run(scripts[number], fails=number == 3)

        futures = [pool.submit(file, number) for number in range(len(scripts))]
    failed = [number for number, future in enumerate(futures) if future.exception()]

    assert failed == [3]
    assert isinstance(futures[3].exception(), ReplyCut)
    assert Counter(machine.served) == Counter(APART[role] for calls in scripts for role in calls)
    assert machine.loads() == gate.state().loads <= 2 * 4 + 1
    assert machine.most_at_once <= parallel
    assert gate.state()[:3] == (0, 0, 0)


def test_a_model_is_not_taken_from_a_file_that_has_not_asked_yet(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate()
    critiqued = threading.Event()

    def first() -> None:
        with gate.turn(G, APART[G]):
            pass
        with gate.turn(C, APART[C]):
            critiqued.set()

    with gate.window(2) as seats:
        thread = threading.Thread(target=first)
        thread.start()
        until(lambda: gate.state().waiting == 1)
        assert gate.state().loads == 0
        with gate.turn(G, APART[G]):
            pass
        until(lambda: gate.state()[:3] == (2, 1, 0))
        assert not critiqued.wait(0.05)
        assert gate.state().loaded == APART[G]
        seats[1].leave()
        seats[1].leave()
        assert gate.state().in_flight == 1
        thread.join(5)
        assert critiqued.is_set()
    assert gate.state().in_flight == 0


def test_names_of_one_model_share_its_queue(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate()
    for role, name in ((G, "Llama3"), (C, "llama3:latest")):
        with gate.turn(role, name):
            assert gate.state().loaded == "llama3:latest"
    assert gate.state().loads == 1


def test_the_wait_is_measured_and_is_no_part_of_the_turn(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate()

    def second() -> float:
        with gate.turn(G, APART[G]) as waited_s:
            return waited_s

    with ThreadPoolExecutor(1) as pool:
        with gate.turn(G, APART[G]) as at_once:
            future = pool.submit(second)
            until(lambda: gate.state().waiting == 1)
            time.sleep(0.1)
            assert not future.done()
        waited = future.result(5)
    assert at_once < 0.05
    assert waited >= 0.1
    assert gate.state().waited_s == pytest.approx(at_once + waited)


def test_close_wakes_who_waits_turns_away_who_asks_and_lets_a_call_finish(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate()
    finished = []

    def wait() -> None:
        with gate.turn(C, APART[C]):
            finished.append("C")

    with ThreadPoolExecutor(3) as pool, gate.window(4):
        futures = [pool.submit(wait) for _ in range(3)]
        until(lambda: gate.state().waiting == 3)
        with gate.turn(G, APART[G]):
            time.sleep(0.1)  # They woke when this turn began; close() is to wake them from sleep.
            gate.close(lambda: ServerUnreachable("gone for good"))
            gate.close(lambda: ReplyCut("too late to matter"))
            errors = [future.exception(5) for future in futures]
            finished.append("G")
        with pytest.raises(ServerUnreachable, match="gone for good"), gate.turn(G, APART[G]):
            finished.append("late")
    assert finished == ["G"]
    assert [type(error) for error in errors] == [ServerUnreachable] * 3
    assert len({id(error) for error in errors}) == 3, "threads must not share one traceback"
    assert gate.state()[:3] == (0, 0, 0)


INTERRUPTED = """
import os, signal, threading, time
from reflexion.ollama.gate import Gate

gate = Gate(["G", "C"])
leave = threading.Event()

def hold():
    with gate.turn("G", "g"):
        while gate.state().waiting == 0:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
        leave.wait(5)

with gate.window(2) as seats:
    holder = threading.Thread(target=hold)
    holder.start()
    try:
        with seats[1], gate.turn("C", "c"):
            print("served")
    except KeyboardInterrupt:
        print("interrupted", gate.state()[:3])
    leave.set()
    holder.join(5)
    with gate.turn("C", "c"):
        print("next", gate.state().loaded)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there a process cannot send itself an interrupt")
def test_an_interrupt_reaches_a_thread_that_waits_and_blocks_nobody() -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=20)
    assert ended.stdout.splitlines() == ["interrupted (1, 0, 1)", "next c:latest"], ended.stderr


def test_models_that_stay_loaded_wait_for_nobody_elses_queue(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate(2, fits_together=True)
    with gate.window(gate.window_size(12)) as seats:
        assert len(seats) == 2
        with gate.turn(G, APART[G]), gate.turn(C, APART[C]), gate.turn(A, APART[A]):
            assert gate.state().running == 3
    assert gate.state().loads == 0
    gate.set_fits_together(False)
    assert gate.window_size(12) == 12


def test_models_that_turn_out_not_to_fit_are_served_one_at_a_time_again(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate(fits_together=True)
    served = threading.Event()

    def critic() -> None:
        with gate.turn(C, APART[C]):
            served.set()

    with gate.window(2) as seats:
        with gate.turn(G, APART[G]):
            gate.set_fits_together(False)
            thread = threading.Thread(target=critic)
            thread.start()
            until(lambda: gate.state().waiting == 1)
            assert not served.is_set()
        seats[0].leave()
        thread.join(5)
        assert served.is_set()


@pytest.mark.parametrize(
    ("models", "loaded", "fits"),
    [
        (["g:1b", "c:1b", "a:1b"], ["a:1b", "c:1b", "g:1b", "other"], True),
        (["g", "c:1b"], ["G:latest", "c:1b"], True),
        (["g:1b", "c:1b", "a:1b"], ["a:1b"], False),
        (["g:1b", "c:1b"], [], False),
        (["one", "one:latest", "ONE"], [], True),
    ],
)
def test_whether_models_stay_loaded_together(models: list[str], loaded: list[str], fits: bool) -> None:
    assert all_loaded(models, loaded) is fits


def test_a_turn_ends_with_its_block_whatever_came_of_it(make_gate: Callable[..., Gate]) -> None:
    gate = make_gate()
    with gate.window(1) as [seat], seat:
        with pytest.raises(ReplyCut), gate.turn(G, "gen:1b"):
            raise ReplyCut("no answer")
        assert gate.state().running == 0
        with gate.turn(G, "gen:1b"):
            assert gate.state().running == 1
        assert gate.state().running == 0
