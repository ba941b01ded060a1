"""Rule: what one rule looks for. ``docs/rules.md`` and ``reflexion rules`` are made from these records."""

from typing import NamedTuple

from reflexion.evidence.finding import Level


class Rule(NamedTuple):
    """One rule.

    ``code`` is stable (``T001``); ``name`` a short slug; ``level`` the highest level that it reports (the explanation
    says when it is only a warning); ``summary`` one line; ``explanation`` Markdown: what it finds, an example that is
    wrong and one that is right, and why it matters.
    """

    code: str
    name: str
    level: Level
    summary: str
    explanation: str
