"""Dense matrices for small problems."""

from collections.abc import Iterable, Sequence

EPSILON = 1e-9


class ShapeError(ArithmeticError):
    """Shapes do not fit."""


class Matrix:
    """A rectangular table of numbers."""

    def __init__(self, rows: Iterable[Sequence[float]]) -> None:
        self._rows = [list(row) for row in rows]
        if not self._rows:
            raise ShapeError("a matrix needs at least one row")
        if len({len(row) for row in self._rows}) != 1:
            raise ShapeError("rows differ in length")

    @classmethod
    def identity(cls, size: int) -> "Matrix":
        """Return the identity matrix."""
        if size < 1:
            raise ShapeError(f"size must be positive, got {size}")
        return cls([[1.0 if i == j else 0.0 for j in range(size)] for i in range(size)])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self._rows), len(self._rows[0])

    def transpose(self) -> "Matrix":
        """Return rows as columns."""
        return Matrix(list(zip(*self._rows, strict=True)))

    def multiply(self, other: "Matrix") -> "Matrix":
        """Return the matrix product."""
        if self.shape[1] != other.shape[0]:
            raise ShapeError(f"cannot multiply {self.shape} by {other.shape}")
        columns = list(zip(*other._rows, strict=True))
        return Matrix([[sum(a * b for a, b in zip(row, col, strict=True)) for col in columns] for row in self._rows])

    @staticmethod
    def close(left: float, right: float, tolerance: float = EPSILON) -> bool:
        """Compare two numbers."""
        return abs(left - right) <= tolerance


def trace(matrix: Matrix) -> float:
    """Sum the diagonal."""
    rows, columns = matrix.shape
    if rows != columns:
        raise ShapeError("trace needs a square matrix")
    return sum(matrix._rows[i][i] for i in range(rows))
