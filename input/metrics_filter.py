"""Keep the measurements of a metric that lie inside a range."""

from collections.abc import Iterable


def filter_metrics(values: Iterable[float], low: float = 0.0, high: float = 1.0, *, strict: bool = False) -> list[float]:
    """Return the values between ``low`` and ``high``, in their order.

    With ``strict`` a value outside of the range is an error instead of being left out.
    """
    if low > high:
        raise ValueError(f"low {low} is greater than high {high}")
    kept = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError("every metric must be a number")
        if low <= value <= high:
            kept.append(value)
        elif strict:
            raise ValueError(f"metric {value} is out of range")
    return kept


def ratio_kept(values: list[float], low: float = 0.0, high: float = 1.0) -> float:
    """Return the share of the values that ``filter_metrics`` keeps; 0.0 for no values."""
    if not values:
        return 0.0
    return round(len(filter_metrics(values, low, high)) / len(values), 3)
