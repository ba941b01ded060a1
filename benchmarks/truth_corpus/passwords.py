"""Rules for passwords."""

import secrets
import string
from dataclasses import dataclass, field
from typing import Optional

ALPHABET = string.ascii_letters + string.digits
MIN_ENTROPY_BITS = 50.0


class WeakPassword(ValueError):
    """A password breaks a rule."""


@dataclass
class Policy:
    """What a password has to be."""

    min_length: int = 12
    max_length: int = 128
    need_digit: bool = True
    forbidden: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.min_length > self.max_length:
            raise ValueError("min_length is larger than max_length")

    def check(self, password: str, username: Optional[str] = None) -> None:
        """Accept or refuse a password."""
        if len(password) < self.min_length:
            raise WeakPassword(f"password needs {self.min_length} characters")
        if len(password) > self.max_length:
            raise WeakPassword("password is too long")
        if self.need_digit and not any(character.isdigit() for character in password):
            raise WeakPassword("password needs a digit")
        if username and username.lower() in password.lower():
            raise WeakPassword("password contains the user name")


def generate(length: int = 20, *, alphabet: str = ALPHABET) -> str:
    """Make a random password."""
    if length < 8:
        raise ValueError(f"length {length} is too short, use 8 or more")
    return "".join(secrets.choice(alphabet) for _ in range(length))


def strength(password: str) -> dict[str, object]:
    """Estimate strength."""
    pool = len(set(password))
    bits = len(password) * max(pool, 1).bit_length()
    return {"bits": bits, "pool": pool, "ok": bits >= MIN_ENTROPY_BITS}


def mask(password: str, visible: int = 2) -> str:
    """Hide all but the first characters."""
    if visible < 0:
        raise IndexError("visible must not be negative")
    return password[:visible] + "*" * (len(password) - visible)
