"""Finding: one thing that code knows to be wrong, or suspects, about a document."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found at one place of a document.

    ``rule`` is a stable code; ``level`` "error" blocks acceptance, "warning" never does; ``line`` counts from 1;
    ``message`` says what the document says and what is true; ``evidence`` is the source's own words (with their
    line) or the document's; ``fix`` is an instruction that a writer can follow, with the real value in it.

    ``stated`` and ``actual`` are the document's words that are wrong and what should stand in their place, where one
    text can be swapped for the other. With ``stated`` alone it has no place in the document, with ``actual`` alone it
    lacks there; both are empty where the finding is of no such kind. ``symbol`` is the qualified name of the symbol
    that the finding is about, or empty.
    """

    rule: str
    level: Level
    line: int
    message: str
    evidence: str
    fix: str
    stated: str = ""
    actual: str = ""
    symbol: str = ""


Check = Callable[[str], list[Finding]]
"""``verify``, bound to a source: what it finds about a text."""
