"""Accounts and transfers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

OVERDRAFT_LIMIT = 500


class InsufficientFunds(Exception):
    """An account cannot pay."""


class AccountClosed(Exception):
    """An account is no longer in use."""


class Account(ABC):
    """What all accounts share."""

    fee: ClassVar[int] = 0

    def __init__(self, owner: str, balance: int = 0) -> None:
        if not owner:
            raise ValueError("owner must not be empty")
        self.owner = owner
        self.balance = balance
        self.closed = False

    def deposit(self, amount: int) -> int:
        """Pay in and return the new balance."""
        self._check(amount)
        self.balance += amount
        return self.balance

    @abstractmethod
    def withdraw(self, amount: int) -> int:
        """Pay out and return the new balance."""

    def _check(self, amount: int) -> None:
        if self.closed:
            raise AccountClosed(f"account of {self.owner} is closed")
        if amount <= 0:
            raise ValueError("amount must be positive")


class CheckingAccount(Account):
    """May go below zero, to a limit."""

    fee = 1

    def withdraw(self, amount: int) -> int:
        """Pay out, overdraft included."""
        self._check(amount)
        if self.balance - amount - self.fee < -OVERDRAFT_LIMIT:
            raise InsufficientFunds("overdraft limit reached")
        self.balance -= amount + self.fee
        return self.balance


@dataclass
class Ledger:
    """Remembers transfers."""

    name: str = "main"
    entries: list[tuple[str, str, int]] = field(default_factory=list)

    def transfer(self, source: Account, target: Account, amount: int) -> None:
        """Move money and note it."""
        if source is target:
            raise ValueError("source and target are the same account")
        source.withdraw(amount)
        target.deposit(amount)
        self.entries.append((source.owner, target.owner, amount))
