"""Python found in documents, parsed without an exception and without a warning about strange literals."""

import ast
import warnings

from reflexion.evidence.expressions import parse_expression

_LONGEST = 200_000


def parse_module(code: str) -> ast.Module | None:
    """Parse Python, or return None for what is none, or longer than 200,000 characters."""
    if len(code) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def source_of(node: ast.AST | None) -> str | None:
    """Return a node's source text, or None where there is no node or it is nested too deeply."""
    try:
        return ast.unparse(node) if node is not None else None
    except (RecursionError, ValueError):
        return None


def is_literal(text: str) -> bool:
    """Say whether a text of at most 500 characters is a Python literal."""
    node = parse_expression(text) if len(text) <= 500 else None
    try:
        if node is not None:
            ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return node is not None
