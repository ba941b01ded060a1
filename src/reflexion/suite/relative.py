"""The scan of a candidate for a module that is there: what the module itself does is allowed, anything new is not."""

import ast
import sys

from reflexion.suite.result import Flag
from reflexion.suite.scan import MAX_FLAGS, every_flag, scan

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def scan_beside(candidate: str, original: str, allowed: frozenset[str]) -> tuple[Flag, ...]:
    """Return what the scan does not let pass in ``candidate`` and what ``original`` does not do as well.

    A module that does not belong to the standard library may be used as a whole where the original imports it. Raises
    nothing. Of an original that cannot be read nothing is known, so that the candidate gets no more than any other.
    """
    allowed |= foreign_imports(original)
    try:
        known = {flag.what for flag in every_flag(original, allowed)}
        found = every_flag(candidate, allowed)
    except _UNREADABLE:
        return scan(candidate, allowed)
    return tuple(flag for flag in found if flag.what not in known)[:MAX_FLAGS]


def foreign_imports(text: str) -> frozenset[str]:
    """Return the modules, by their first name, that a text imports and that are not of the standard library."""
    return frozenset(name for name in imports(text) if name.partition(".")[0] not in sys.stdlib_module_names)


def imports(text: str) -> frozenset[str]:
    """Return what a text imports; of relative imports nothing, and nothing of a text that cannot be read."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except _UNREADABLE:
        return frozenset()
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return frozenset(
        found | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    )
