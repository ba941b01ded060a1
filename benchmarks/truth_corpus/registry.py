"""Plug-ins by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

SEPARATOR = ":"
BUILTIN_NAMES = ["json", "yaml", "toml"]


class RegistryError(LookupError):
    """A name cannot be used."""


class DuplicateName(RegistryError):
    """A name is taken."""


class Registry(Generic[T]):
    """Maps names to factories."""

    def __init__(self, kind: str, allow_override: bool = False) -> None:
        self.kind = kind
        self.allow_override = allow_override
        self._factories: dict[str, Callable[..., T]] = {}

    def register(self, name: str, factory: Callable[..., T] | None = None) -> Callable[..., Any]:
        """Add a factory, or decorate one."""
        if SEPARATOR in name:
            raise ValueError(f"name must not contain {SEPARATOR!r}")
        if name in self._factories and not self.allow_override:
            raise DuplicateName(f"{self.kind} {name} is registered already")

        def add(function: Callable[..., T]) -> Callable[..., T]:
            self._factories[name] = function
            return function

        return add if factory is None else add(factory)

    def create(self, name: str, /, *args: Any, **options: Any) -> T:
        """Make an instance."""
        if name not in self._factories:
            raise RegistryError(f"no {self.kind} called {name}")
        return self._factories[name](*args, **options)

    def names(self, prefix: str = "") -> Iterator[str]:
        """Go through the names in order."""
        yield from sorted(name for name in self._factories if name.startswith(prefix))


def qualify(kind: str, name: str) -> str:
    """Join a kind and a name."""
    return f"{kind}{SEPARATOR}{name}"


def unqualify(text: str) -> tuple[str, str]:
    """Take a kind and a name apart."""
    kind, found, name = text.partition(SEPARATOR)
    if not found:
        raise RegistryError("text is not qualified")
    return kind, name
