"""Parse a text as one Python expression, whatever it is."""

import ast
import warnings


def parse_expression(text: str) -> ast.expr | None:
    """The expression that ``text`` is, or None for anything else."""
    try:
        with warnings.catch_warnings():
            # A bad escape in somebody's document or source is no matter for a warning on our user's screen.
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
