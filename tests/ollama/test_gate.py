"""The gate: what it decides, in every interleaving; and threads that wait for it."""

import copy
import itertools
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.config import Role
from reflexion.errors import ReplyCut, ServerUnreachable
from reflexion.ollama.gate import Gate, Schedule, Ticket, all_loaded

G, C, A = Role.GENERATOR, Role.CRITIC, Role.ADJUDICATOR
ORDER = tuple(Role)
APART = {G: "gen:1b", C: "critic:1b", A: "adj:1b"}
REGISTRIES = [
    APART,
    {G: "one:1b", C: "one:1b", A: "adj:1b"},
    {G: "one:1b", C: "critic:1b", A: "one:1b"},
    {G: "gen:1b", C: "one:1b", A: "one:1b"},
    {G: "one:1b", C: "one:1b", A: "one:1b"},
]


@dataclass(frozen=True)
class Script:
    """What one file asks for, in order; ``gives_up`` if it may be cancelled while its last call waits."""

    calls: tuple[Role, ...]
    gives_up: bool = False

    def rounds(self) -> int:
        # A round begins with the generator; a file that is taken up again may begin with the critic.
        return self.calls.count(G) + (self.calls[:1] == (C,))


class World:
    """Files that move one step at a time, in an order that the test chooses, against a schedule that is checked."""

    def __init__(self, scripts: Sequence[Script], registry: dict[Role, str], parallel: int) -> None:
        self.scripts = scripts
        self.registry = registry
        self.schedule = Schedule(ORDER, parallel)
        self.schedule.enter(len(scripts))
        self.at = [0] * len(scripts)
        self.tickets: list[Ticket | None] = [None] * len(scripts)
        self.gone = [False] * len(scripts)
        self.loaded: list[str] = []

    def twin(self) -> "World":
        made = copy.copy(self)
        made.schedule = copy.copy(self.schedule)
        made.schedule.waiting = list(self.schedule.waiting)
        made.schedule.running = list(self.schedule.running)
        made.at, made.tickets, made.gone = list(self.at), list(self.tickets), list(self.gone)
        made.loaded = list(self.loaded)
        return made

    def key(self) -> tuple[object, ...]:
        """What decides everything that can still happen, and the figure that is bounded."""
        now = self.schedule
        queue = tuple(self.tickets.index(ticket) for ticket in now.waiting)
        running = frozenset(self.tickets.index(ticket) for ticket in now.running)
        return tuple(self.at), tuple(self.gone), queue, running, now.loaded, now.loads

    def moves(self) -> list[int]:
        """Files that can go on without another one. Nobody can while somebody is left: that is a deadlock."""
        files = [file for file, gone in enumerate(self.gone) if not gone and not self._waits(file)]
        assert files or all(self.gone), "everybody waits"
        return files

    def cancellations(self) -> list[int]:
        waiting = [file for file, gone in enumerate(self.gone) if not gone and self._waits(file)]
        return [f for f in waiting if self.scripts[f].gives_up and self.at[f] == len(self.scripts[f].calls) - 1]

    def move(self, file: int) -> None:
        ticket = self.tickets[file]
        ahead = list(self.schedule.waiting)
        if ticket is not None:
            self._end(file, ticket)
        elif self.at[file] == len(self.scripts[file].calls):
            self.gone[file] = True
            self.schedule.leave()
        else:
            role = self.scripts[file].calls[self.at[file]]
            self.tickets[file] = asked = Ticket(role, self.registry[role])
            self.schedule.ask(asked)
            ahead.append(asked)
        self._admit(ahead)

    def _end(self, file: int, ticket: Ticket) -> None:
        cancelled = self._waits(file)
        self.schedule.drop(ticket)
        self.tickets[file] = None
        self.at[file] += 1
        if cancelled:
            self.gone[file] = True
            self.schedule.leave()

    def _waits(self, file: int) -> bool:
        return self.tickets[file] in self.schedule.waiting

    def _admit(self, queue: list[Ticket]) -> None:
        before, old = self.schedule.loads, self.schedule.loaded
        working = any(not gone and ticket is None for gone, ticket in zip(self.gone, self.tickets, strict=True))
        busy = bool(self.schedule.running)
        started = self.schedule.admit()
        now = self.schedule
        if now.loads > before:  # The model was changed.
            assert not working
            assert not busy
            assert all(ticket.model != old for ticket in queue)
            self.loaded.append(str(now.loaded))
        assert {ticket.model for ticket in now.running} <= {now.loaded}
        assert len(now.running) <= now.parallel
        # First come, first served; and no slot stays free while somebody waits for this model.
        mine = [ticket for ticket in queue if ticket.model == now.loaded and ticket in (*now.waiting, *started)]
        assert started == mine[: len(started)]
        assert len(mine) == len(started) or len(now.running) == now.parallel


def check_bound(world: World) -> None:
    rounds = max(script.rounds() for script in world.scripts)
    counted = Counter(world.loaded)
    assert world.schedule.loads == len(world.loaded) <= 2 * rounds + 1
    assert (world.schedule.in_flight, world.schedule.waiting, world.schedule.running) == (0, [], [])
    if world.registry == APART:
        assert counted["adj:1b"] <= 1
        assert max(counted["gen:1b"], counted["critic:1b"]) <= rounds


@st.composite
def scripts_of_files(draw: st.DrawFn) -> list[Script]:
    """Files of any number of rounds; some skip the critic, begin in the middle, fail anywhere or are cancelled."""
    made = []
    for _ in range(draw(st.integers(1, 12))):
        calls: list[Role] = []
        for _ in range(draw(st.integers(1, 5))):
            calls += draw(st.sampled_from([[G, C], [G, C], [G, C], [G]]))
        calls.append(A)
        first = draw(st.sampled_from([0, 0, 0, 1]))
        last = draw(st.one_of(st.just(len(calls)), st.integers(first, len(calls))))
        made.append(Script(tuple(calls[first:last]), gives_up=draw(st.booleans())))
    return made


@given(scripts_of_files(), st.sampled_from(REGISTRIES), st.integers(1, 4), st.integers(0))
@settings(max_examples=150, deadline=None)
def test_a_window_of_r_rounds_takes_at_most_2r_plus_1_loads(
    scripts: list[Script], registry: dict[Role, str], parallel: int, seed: int
) -> None:
    chance = random.Random(seed)
    world = World(scripts, registry, parallel)
    while moves := world.moves():
        world.move(chance.choice(moves + world.cancellations()))
    check_bound(world)


def every_ending(world: World) -> Iterator[World]:
    """Every way in which the files can take turns to move; each state is visited once."""
    seen = {world.key()}
    pending = [world]
    while pending:
        here = pending.pop()
        moves = here.moves()
        if not moves:
            yield here
        for file in moves + here.cancellations():
            there = here.twin()
            there.move(file)
            if there.key() not in seen:
                seen.add(there.key())
                pending.append(there)


@pytest.mark.parametrize("parallel", [1, 2])
@pytest.mark.parametrize("registry", REGISTRIES)
@pytest.mark.parametrize(
    "scripts",
    [
        [Script((G, C, G, C, A)), Script((G, C, A))],
        [Script((G, C, G, C, A)), Script((G, C, A)), Script((G, C, G), gives_up=True)],
        [Script((G, C, A)), Script((G, G, C, A)), Script((C, G, C, A))],
    ],
)
def test_every_interleaving_of_a_few_files(scripts: list[Script], registry: dict[Role, str], parallel: int) -> None:
    endings = 0
    for ending in every_ending(World(scripts, registry, parallel)):
        check_bound(ending)
        endings += 1
    assert endings >= 1


def test_full_rounds_take_exactly_2r_plus_1_loads() -> None:
    world = World([Script((G, C) * 4 + (A,))] * 12, APART, 1)
    while moves := world.moves():
        world.move(moves[0])
    assert world.loaded == ["gen:1b", "critic:1b"] * 4 + ["adj:1b"]


# Threads.


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
import os, signal, threading
from reflexion.ollama.gate import Gate

gate = Gate(["G", "C"])
leave = threading.Event()

def hold():
    with gate.turn("G", "g"):
        while gate.state().waiting == 0:
            pass
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
