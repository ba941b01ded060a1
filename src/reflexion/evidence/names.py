"""Which of a source's public names a document states."""

import ast
import re


def public_names(source: str) -> frozenset[str]:
    """Return the public functions, classes and methods of a Python source; nothing for what does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    names = {node.name for body in bodies for node in body if isinstance(node, kinds)}
    return frozenset(name for name in names if not name.startswith("_"))


def stated(document: str, names: frozenset[str]) -> int:
    """Return how many of the names stand in the document as words."""
    return len(names & set(re.findall(r"\w+", document)))
