"""How findings are printed: for a person, as JSON, as SARIF 2.1.0, as annotations of a GitHub workflow."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import quote

from reflexion import __version__
from reflexion.evidence.finding import Finding
from reflexion.evidence.rules.rule import Rule

Format = Literal["text", "json", "sarif", "github"]
FORMATS: tuple[str, ...] = get_args(Format)

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Located(NamedTuple):
    """A finding with the path of its document, with forward slashes."""

    document: str
    finding: Finding


def print_findings(
    located: Sequence[Located], documents: int, problems: Sequence[str], rules: Sequence[Rule], style: str
) -> str:
    """All findings in the given format; ends in a newline unless it is empty."""
    printers: dict[str, Callable[[], str]] = {
        "text": lambda: _text(located, documents, len(problems), rules),
        "json": lambda: _json([_record(one) for one in located]),
        "sarif": lambda: _json(_sarif(located, problems, rules)),
        "github": lambda: "".join(f"{_annotation(one, rules)}\n" for one in located),
    }
    return printers[style]()


def _json(value: object) -> str:
    import json  # The text format has no need of it.

    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _record(one: Located) -> dict[str, str | int]:
    finding = one.finding
    return {
        "rule": finding.rule,
        "level": finding.level,
        "document": one.document,
        "line": finding.line,
        "message": finding.message,
        "evidence": finding.evidence,
        "fix": finding.fix,
    }


def _text(located: Sequence[Located], documents: int, unread: int, rules: Sequence[Rule]) -> str:
    names = {rule.code: rule.name for rule in rules}
    lines: list[str] = []
    for one in located:
        finding = one.finding
        name = names.get(finding.rule, "")
        lines.append(f"{one.document}:{finding.line}: {finding.level} {finding.rule} {name}: {finding.message}")
        if finding.evidence.strip():
            lines.append(f"    source: {finding.evidence}" if finding.rule[0] in "SPERD" else f"    {finding.evidence}")
        lines.append(f"    fix: {finding.fix}")
    lines.append(summary(located, documents, unread))
    return "\n".join(lines) + "\n"


def summary(located: Sequence[Located], documents: int, unread: int) -> str:
    """The closing line of the text format: what was checked, what was found, and how many could not be checked."""
    errors = sum(one.finding.level == "error" for one in located)
    warnings = len(located) - errors
    left = f"; {unread} not checked" if unread else ""
    return f"{_counted(documents, 'document')}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}{left}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _annotation(one: Located, rules: Sequence[Rule]) -> str:
    finding = one.finding
    name = next((rule.name for rule in rules if rule.code == finding.rule), "")
    title = _escaped(f"{finding.rule} {name}", property_value=True)
    place = f"file={_escaped(one.document, property_value=True)},line={finding.line}"
    return f"::{finding.level} {place},title={title}::{_escaped(_told(finding))}"


def _told(finding: Finding) -> str:
    return f"{finding.message}\n{finding.evidence}\n{finding.fix}"


def _escaped(text: str, *, property_value: bool = False) -> str:
    bare = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return bare.replace(":", "%3A").replace(",", "%2C") if property_value else bare


def _sarif(located: Sequence[Located], problems: Sequence[str], rules: Sequence[Rule]) -> dict[str, Any]:
    places = {rule.code: place for place, rule in enumerate(rules)}
    driver = {"name": "reflexion", "version": __version__, "rules": [_sarif_rule(rule) for rule in rules]}
    notes = [{"level": "error", "message": {"text": problem}} for problem in problems]
    invocation: dict[str, Any] = {"executionSuccessful": not problems}
    if notes:
        invocation["toolExecutionNotifications"] = notes
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(one, places) for one in located],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.explanation},
        "defaultConfiguration": {"level": rule.level},
    }


def _sarif_result(one: Located, places: dict[str, int]) -> dict[str, Any]:
    finding = one.finding
    location = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(one.document, safe="/:@!$&'()*+,;=~")},
            "region": {"startLine": finding.line},
        }
    }
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.level,
        "message": {"text": _told(finding)},
        "locations": [location],
    }
    if finding.rule in places:
        result["ruleIndex"] = places[finding.rule]
    return result
