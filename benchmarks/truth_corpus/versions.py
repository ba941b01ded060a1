"""Version numbers of three parts."""

import re
from dataclasses import dataclass
from enum import Enum

PATTERN = r"(\d+)\.(\d+)\.(\d+)(?:-([0-9a-z.]+))?"


class Part(Enum):
    """What to raise."""

    MAJOR = "major"
    MINOR = "minor"
    PATCH = "patch"


class InvalidVersion(ValueError):
    """A text is no version."""


@dataclass(frozen=True)
class Version:
    """One version."""

    major: int
    minor: int = 0
    patch: int = 0
    pre: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read a version."""
        found = re.fullmatch(PATTERN, text)
        if found is None:
            raise InvalidVersion(f"{text!r} is not a version")
        major, minor, patch, pre = found.groups()
        return cls(int(major), int(minor), int(patch), pre)

    @property
    def is_stable(self) -> bool:
        """Whether it is a final release of a grown-up line."""
        return self.major > 0 and self.pre is None

    def bump(self, part: Part = Part.PATCH) -> "Version":
        """Return the next version."""
        if self.pre is not None:
            raise InvalidVersion("cannot bump a pre-release")
        if part is Part.MAJOR:
            return Version(self.major + 1)
        if part is Part.MINOR:
            return Version(self.major, self.minor + 1)
        return Version(self.major, self.minor, self.patch + 1)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.pre}" if self.pre else "")


def newest(texts: list[str], *, stable_only: bool = False) -> Version:
    """Return the highest of several versions."""
    versions = [Version.parse(text) for text in texts]
    if stable_only:
        versions = [version for version in versions if version.is_stable]
    if not versions:
        raise LookupError("no version to choose from")
    return max(versions, key=lambda version: (version.major, version.minor, version.patch, version.pre is None))


def compatible(left: Version, right: Version) -> bool:
    """Say whether two versions share a major number."""
    return left.major == right.major
