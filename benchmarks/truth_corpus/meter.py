"""Running statistics of a stream of readings."""

import math
from collections import deque
from collections.abc import Iterable
from typing import Union

WINDOW = 100
SIGMA_LIMIT = 3.0

Number = Union[int, float]


class NoReadings(ArithmeticError):
    """There is nothing to calculate with."""


class Meter:
    """Keeps the last readings."""

    unit: str = "ms"

    def __init__(self, window: int = WINDOW) -> None:
        if window < 2:
            raise ValueError("window must hold at least 2 readings")
        self._readings: deque[float] = deque(maxlen=window)

    def add(self, reading: Number) -> None:
        """Take a reading in."""
        if math.isnan(reading):
            raise ValueError("reading is not a number")
        self._readings.append(float(reading))

    @property
    def mean(self) -> float:
        """Arithmetic mean."""
        if not self._readings:
            raise NoReadings("no readings yet")
        return sum(self._readings) / len(self._readings)

    def percentile(self, rank: float = 95.0) -> float:
        """Return the reading at a rank."""
        if not 0 <= rank <= 100:
            raise ValueError(f"rank {rank} is not between 0 and 100")
        if not self._readings:
            raise NoReadings("no readings yet")
        ordered = sorted(self._readings)
        return ordered[min(len(ordered) - 1, int(rank / 100 * len(ordered)))]

    @classmethod
    def of(cls, readings: Iterable[Number], window: int = WINDOW) -> "Meter":
        """Make a meter that has readings already."""
        meter = cls(window)
        for reading in readings:
            meter.add(reading)
        return meter

    @staticmethod
    def format(value: float, digits: int = 1) -> str:
        """Write a value with its unit."""
        return f"{value:.{digits}f} {Meter.unit}"


def outliers(readings: list[float], limit: float = SIGMA_LIMIT) -> list[float]:
    """Find readings far from the mean."""
    if len(readings) < 2:
        return []
    mean = sum(readings) / len(readings)
    sigma = math.sqrt(sum((reading - mean) ** 2 for reading in readings) / len(readings))
    return [reading for reading in readings if abs(reading - mean) > limit * sigma]
