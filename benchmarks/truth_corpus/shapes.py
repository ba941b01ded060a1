"""Plane geometry."""

import math
from typing import NamedTuple, Protocol

FULL_TURN = 360.0


class Point(NamedTuple):
    """A place in the plane."""

    x: float
    y: float = 0.0

    def distance(self, other: "Point") -> float:
        """Return the straight distance."""
        return math.hypot(self.x - other.x, self.y - other.y)


class Shape(Protocol):
    """Anything with an area."""

    def area(self) -> float:
        """Return the area."""
        ...


class Circle:
    """A circle."""

    def __init__(self, centre: Point, radius: float) -> None:
        if radius <= 0:
            raise ValueError("radius must be positive")
        self.centre = centre
        self.radius = radius

    def area(self) -> float:
        """Return the area."""
        return math.pi * self.radius**2

    def contains(self, point: Point, *, strict: bool = False) -> bool:
        """Say whether a point lies inside."""
        away = self.centre.distance(point)
        return away < self.radius if strict else away <= self.radius


def polygon_area(points: list[Point]) -> float:
    """Return the area by the shoelace formula."""
    if len(points) < 3:
        raise ValueError(f"a polygon needs 3 points, got {len(points)}")
    pairs = zip(points, points[1:] + points[:1], strict=True)
    return abs(sum(a.x * b.y - b.x * a.y for a, b in pairs)) / 2


def normalise_angle(degrees: float, turn: float = FULL_TURN) -> float:
    """Bring an angle into one turn."""
    if turn == 0:
        raise ZeroDivisionError("turn must not be zero")
    return degrees % turn


def total_area(*shapes: Shape) -> float:
    """Add areas up."""
    return sum(shape.area() for shape in shapes)
