"""What the gate decides, in every interleaving of files."""

import copy
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.config import Role
from reflexion.ollama.gate import Schedule, Ticket

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
