"""A small state machine for orders."""

from enum import Enum
from typing import Final


class State(Enum):
    """Where an order stands."""

    DRAFT = "draft"
    PAID = "paid"
    SHIPPED = "shipped"
    CANCELLED = "cancelled"


TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.DRAFT: frozenset({State.PAID, State.CANCELLED}),
    State.PAID: frozenset({State.SHIPPED, State.CANCELLED}),
}
HISTORY_LIMIT: Final = 25


class IllegalMove(Exception):
    """A state cannot follow another."""


class FrozenOrder(IllegalMove):
    """An order has reached its end."""


class Order:
    """An order and its states."""

    def __init__(self, number: str, *, state: State = State.DRAFT) -> None:
        if not number.isalnum():
            raise ValueError(f"order number {number!r} is not alphanumeric")
        self.number = number
        self._history = [state]

    @property
    def state(self) -> State:
        """The present state."""
        return self._history[-1]

    def move(self, target: State) -> State:
        """Go to another state and return the one before."""
        before = self.state
        if before not in TRANSITIONS:
            raise FrozenOrder(f"order {self.number} is final")
        if target not in TRANSITIONS[before]:
            raise IllegalMove(f"{before.value} cannot become {target.value}")
        self._history.append(target)
        del self._history[:-HISTORY_LIMIT]
        return before

    async def notify(self, channel: str, urgent: bool = False) -> bool:
        """Tell somebody."""
        if not channel:
            raise ConnectionError("no channel to notify")
        return urgent or self.state is State.SHIPPED


def reachable(start: State) -> set[State]:
    """Find all states that can follow."""
    found: set[State] = set()
    todo = [start]
    while todo:
        following = TRANSITIONS.get(todo.pop(), frozenset()) - found
        found |= following
        todo.extend(following)
    return found
