"""Lengths and temperatures in different units."""

from enum import Enum
from typing import Final

ABSOLUTE_ZERO_C: Final = -273.15


class Length(Enum):
    """Metres in one unit."""

    METRE = 1.0
    FOOT = 0.3048
    MILE = 1609.344


class Scale(str, Enum):
    """Temperature scales."""

    CELSIUS = "C"
    FAHRENHEIT = "F"


def convert_length(value: float, source: Length, target: Length, digits: int | None = None) -> float:
    """Convert a length."""
    if value < 0:
        raise ValueError(f"length cannot be negative: {value}")
    result = value * source.value / target.value
    return result if digits is None else round(result, digits)


def to_celsius(value: float, scale: Scale = Scale.FAHRENHEIT) -> float:
    """Convert a temperature to Celsius."""
    celsius = value if scale is Scale.CELSIUS else (value - 32) * 5 / 9
    if celsius < ABSOLUTE_ZERO_C:
        raise ValueError("temperature is below absolute zero")
    return celsius


def parse_length(text: str) -> tuple[float, Length]:
    """Read a text such as ``12.5 foot``."""
    number, _, name = text.strip().partition(" ")
    try:
        unit = Length[name.upper()]
    except KeyError:
        raise LookupError(f"unknown unit {name!r}") from None
    return float(number), unit
