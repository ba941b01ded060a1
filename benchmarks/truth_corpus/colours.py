"""Colours in RGB."""

from enum import Enum, auto
from typing import NamedTuple

MAX_CHANNEL = 255
HEX_LENGTHS = {3, 6}


class Blend(Enum):
    """Ways to mix."""

    NORMAL = auto()
    MULTIPLY = auto()


class Colour(NamedTuple):
    """Three channels from 0 to 255."""

    red: int
    green: int
    blue: int
    alpha: float = 1.0

    @property
    def luminance(self) -> float:
        """Perceived brightness."""
        return (0.2126 * self.red + 0.7152 * self.green + 0.0722 * self.blue) / MAX_CHANNEL

    def to_hex(self, prefix: str = "#") -> str:
        """Write in hexadecimal."""
        return f"{prefix}{self.red:02x}{self.green:02x}{self.blue:02x}"


def from_hex(text: str) -> Colour:
    """Read hexadecimal text."""
    digits = text.removeprefix("#")
    if len(digits) not in HEX_LENGTHS:
        raise ValueError(f"expected 3 or 6 digits, got {len(digits)}")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return Colour(int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))


def mix(first: Colour, second: Colour, weight: float = 0.5, *, mode: Blend = Blend.NORMAL) -> Colour:
    """Mix two colours."""
    if not 0.0 <= weight <= 1.0:
        raise ValueError("weight must be between 0 and 1")
    if mode is Blend.MULTIPLY:
        second = Colour(*(a * b // MAX_CHANNEL for a, b in zip(first[:3], second[:3], strict=True)))
    channels = (round(a * (1 - weight) + b * weight) for a, b in zip(first[:3], second[:3], strict=True))
    return Colour(*channels)


def contrast(first: Colour, second: Colour) -> float:
    """Return the contrast ratio."""
    light, dark = sorted((first.luminance, second.luminance), reverse=True)
    return (light + 0.05) / (dark + 0.05)
