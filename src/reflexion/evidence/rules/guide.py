"""The page ``docs/rules.md``, written from the rules' own records."""

from collections.abc import Iterable

from reflexion.evidence.rules.rule import Rule

FAMILIES = {
    "S": "Symbols",
    "P": "Parameters and signatures",
    "E": "Exceptions",
    "R": "Returned values",
    "X": "Examples",
    "H": "History, authors, licences, links",
    "D": "Drift",
    "T": "Text",
}
INTRODUCTION = """\
# Rules

<!-- Written from the rules' own records: make docs -->

What `reflexion` knows to be wrong in a document, by code alone. An **error** can be proved from the source: it blocks
acceptance, and `reflexion check` ends with 1. A **warning** is worth a look and never blocks (`--strict` makes it). The
level given here is the gravest that a rule reports; where a rule cannot be sure, it warns.

Switch a rule off for a project in `config.json`, by code or by name:

```json
{"rules": {"off": ["E305", "unknown-link"]}}
```

or for one place in a document, with a comment on that line or on a line of its own before it:

```markdown
<!-- reflexion: off P204 -->
```
"""


def rules_page(rules: Iterable[Rule]) -> str:
    """The Markdown of ``docs/rules.md``: an overview, then each rule with what it compares and what passes."""
    ordered = sorted(rules, key=lambda rule: (list(FAMILIES).index(rule.code[0]), rule.code))
    rows = [f"| [{rule.code}](#{_anchor(rule)}) | {rule.name} | {rule.level} | {rule.summary} |" for rule in ordered]
    parts = [INTRODUCTION, "\n".join(["| Code | Name | Level | Meaning |", "| --- | --- | --- | --- |", *rows]) + "\n"]
    family = ""
    for rule in ordered:
        if rule.code[0] != family:
            family = rule.code[0]
            parts.append(f"## {FAMILIES[family]}\n")
        parts.append(f"### {rule.code} {rule.name}\n\n*{rule.level}.* {rule.summary}\n\n{rule.explanation}\n")
    return "\n".join(parts)


def _anchor(rule: Rule) -> str:
    return f"{rule.code.lower()}-{rule.name}"


if __name__ == "__main__":
    import sys

    from reflexion.evidence.verify import ALL_RULES

    sys.stdout.write(rules_page(ALL_RULES))
