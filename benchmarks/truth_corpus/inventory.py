"""Stock keeping."""

from collections.abc import Iterable
from dataclasses import dataclass

LOW_STOCK = 5


@dataclass(frozen=True, kw_only=True)
class Item:
    """A thing on a shelf."""

    sku: str
    quantity: int = 0
    price_cents: int = 0
    tags: tuple[str, ...] = ()


class StockError(Exception):
    """Stock does not allow it."""


class Warehouse:
    """Items by their number."""

    capacity: int = 10_000

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = {item.sku: item for item in items}

    def find(self, sku: str) -> Item | None:
        """Return an item, if there is one."""
        return self._items.get(sku)

    def remove(self, sku: str, quantity: int = 1) -> Item:
        """Take from stock."""
        item = self._items.get(sku)
        if item is None:
            raise KeyError(sku)
        if item.quantity < quantity:
            raise StockError(f"only {item.quantity} of {sku} left")
        return self._store(item, item.quantity - quantity)

    def restock(self, sku: str, quantity: int) -> Item:
        """Add to stock."""
        if quantity < 1:
            raise ValueError("quantity must be at least 1")
        item = self._items.get(sku) or Item(sku=sku)
        if self.total() + quantity > self.capacity:
            raise StockError("warehouse is full")
        return self._store(item, item.quantity + quantity)

    def total(self) -> int:
        """Count all pieces."""
        return sum(item.quantity for item in self._items.values())

    def low(self, threshold: int = LOW_STOCK) -> list[str]:
        """List what runs out."""
        return sorted(item.sku for item in self._items.values() if item.quantity < threshold)

    def _store(self, item: Item, quantity: int) -> Item:
        changed = Item(sku=item.sku, quantity=quantity, price_cents=item.price_cents, tags=item.tags)
        self._items[item.sku] = changed
        return changed


def stock_value(items: Iterable[Item]) -> int:
    """Add up what stock is worth, in cents."""
    return sum(item.quantity * item.price_cents for item in items)
