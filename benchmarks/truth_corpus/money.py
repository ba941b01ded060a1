"""Money amounts in minor units, and how to split and convert them."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

DEFAULT_CURRENCY = "EUR"
MINOR_UNITS = {"EUR": 2, "USD": 2, "JPY": 0}


class CurrencyMismatch(ValueError):
    """Two amounts do not share a currency."""


@dataclass(frozen=True)
class Money:
    """An amount in the smallest unit of its currency."""

    minor: int
    currency: str = DEFAULT_CURRENCY

    def add(self, other: "Money") -> "Money":
        """Return the sum of two amounts of the same currency."""
        if other.currency != self.currency:
            raise CurrencyMismatch(f"cannot add {other.currency} to {self.currency}")
        return Money(self.minor + other.minor, self.currency)

    @property
    def is_zero(self) -> bool:
        """Whether nothing is owed."""
        return self.minor == 0


def split(amount: Money, parts: int, *, largest_first: bool = True) -> list[Money]:
    """Divide an amount so that no cent is lost."""
    if parts < 1:
        raise ValueError("parts must be at least 1")
    base, rest = divmod(amount.minor, parts)
    shares = [base + 1] * rest + [base] * (parts - rest)
    if not largest_first:
        shares.reverse()
    return [Money(share, amount.currency) for share in shares]


def convert(amount: Money, rate: Decimal, currency: str) -> Money:
    """Convert with banker's rounding."""
    if currency not in MINOR_UNITS:
        raise KeyError(f"unknown currency: {currency}")
    if rate <= 0:
        raise ValueError("rate must be positive")
    scale = Decimal(10) ** (MINOR_UNITS[currency] - MINOR_UNITS[amount.currency])
    minor = (amount.minor * rate * scale).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
    return Money(int(minor), currency)
