"""Which models the configuration needs, and which of them the server has."""

from collections.abc import Sequence
from typing import NamedTuple

from reflexion.config import Config, Role
from reflexion.doctor.memory import gigabytes
from reflexion.doctor.report import plain
from reflexion.ollama.binding import nearest
from reflexion.ollama.names import full_name
from reflexion.ollama.server import Server


class Need(NamedTuple):
    """A model and the roles that are bound to it. ``near``: an installed model that may be meant, else ""."""

    model: str
    roles: tuple[Role, ...]
    installed: bool
    size: int = 0
    digest: str = ""
    near: str = ""


class Needs(NamedTuple):
    """Every model that is needed, and the installed ones that are not."""

    models: tuple[Need, ...]
    others: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Need, ...]:
        """The models that are not installed."""
        return tuple(need for need in self.models if not need.installed)


def find_needs(config: Config, server: Server) -> Needs:
    """Ask the server what it has. Raises ServerUnreachable, NotOllama and ServerError."""
    server.version()
    installed = server.installed()
    names = {full_name(name): name for name in installed}
    wanted: dict[str, list[Role]] = {}
    for role, model in config.model_registry.items():
        wanted.setdefault(full_name(model), []).append(role)
    needs = []
    for full, roles in wanted.items():
        model = config.model_registry[roles[0]]
        if full in names:
            there = installed[names[full]]
            needs.append(Need(model, tuple(roles), True, there.size, there.digest))
        else:
            needs.append(Need(model, tuple(roles), False, near=nearest(model, list(installed))))
    return Needs(tuple(needs), tuple(sorted(name for full, name in names.items() if full not in wanted)))


def describe_needs(needs: Needs, hint: str) -> str:
    """Return the needs as a table; ``hint`` is the command that gets what is missing."""
    rows = [(", ".join(need.roles), need.model, _state(need)) for need in needs.models]
    lines = _aligned([("role", "model", "installed"), *rows])
    if needs.others:
        lines += ["", f"also installed: {', '.join(needs.others)}"]
    if needs.missing:
        lines += ["", f"{len(needs.missing)} missing; get {'it' if len(needs.missing) == 1 else 'them'} with: {hint}"]
    return "\n".join(map(plain, lines)) + "\n"


def _state(need: Need) -> str:
    if need.installed:
        size = f"{gigabytes(need.size)}  " if need.size else ""
        return f"{size}{need.digest.removeprefix('sha256:')[:12]}"
    return f"no; you have {need.near}" if need.near else "no"


def _aligned(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [f"{role:<{first}}  {model:<{second}}  {state}".rstrip() for role, model, state in rows]
