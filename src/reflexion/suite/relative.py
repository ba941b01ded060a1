"""The scan of a candidate for a module that is there: what the module itself does is allowed, anything new is not."""

import ast
import re
import sys

from reflexion.suite.result import Flag
from reflexion.suite.scan import MAX_FLAGS, every_flag, scan

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_][\w.]*)", re.MULTILINE)
# Comments and texts, in what cannot be parsed; one that does not end goes to the end.
_WORDS = re.compile(
    r"""(\"{3}|'{3})(?:\\.|(?!\1).)*(?:\1|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*""", re.DOTALL
)
_NAMED = re.compile(r"(?:imports|uses the attribute|uses) ([\w.]+)")


def scan_beside(candidate: str, original: str, allowed: frozenset[str]) -> tuple[Flag, ...]:
    """Return what the scan does not let pass in ``candidate`` and what ``original`` does not do as well.

    A module that does not belong to the standard library may be used as a whole where the original imports it. An
    original that cannot be parsed is taken by its words, without comments and texts. Raises nothing.
    """
    allowed |= foreign_imports(original)
    try:
        found = every_flag(candidate, allowed)
    except _UNREADABLE:
        return scan(candidate, allowed)
    try:
        known = {flag.what for flag in every_flag(original, allowed)}
    except _UNREADABLE:
        code = _WORDS.sub('""', original)
        known = {flag.what for flag in found if _is_named(flag.what, code)}
    return tuple(flag for flag in found if flag.what not in known)[:MAX_FLAGS]


def _is_named(what: str, original: str) -> bool:
    """Return whether what is flagged is an import, name or attribute that stands in the original as it is."""
    named = _NAMED.match(what)
    return named is not None and re.search(rf"(?<![\w.]){re.escape(named[1])}(?!\w)", original) is not None


def foreign_imports(text: str) -> frozenset[str]:
    """Return the modules, by their first name, that a text imports and that are not of the standard library."""
    return frozenset(name for name in imports(text) if name.partition(".")[0] not in sys.stdlib_module_names)


def imports(text: str) -> frozenset[str]:
    """Return what a text imports, but for relative imports; of one that cannot be parsed what its lines say."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except _UNREADABLE:
        return frozenset(_IMPORT.findall(_WORDS.sub('""', text)))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return frozenset(
        found | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    )
