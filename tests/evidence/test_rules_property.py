"""A page made from facts has no finding; each fact taken out gives its finding and no other; nothing raises."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.assemble import render
from reflexion.evidence.facts import Facts
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import count_facts, score, verify

CORPUS = sorted((Path(__file__).parents[2] / "benchmarks" / "truth_corpus").glob("*.py"))
NAMES = st.from_regex(r"[a-z]{3,7}_[a-z]{3,6}", fullmatch=True)
TYPES = st.sampled_from(["int", "str", "list[int]", "dict[str, float]", "str | None", "bool", "Path", "'Widget'", ""])
DEFAULTS = st.sampled_from(["", "", "None", "5", "'a|b'", "1_000", "[]", "LIMIT_VALUE", "-1.5", "()"])
KINDS = ("ValueError", "TypeError", "KeyError", "RuntimeError", "OSError")
MESSAGES = st.from_regex(r"[a-z]{3,8} must (not )?be [a-z]{4,9}( \{[a-z]\})?", fullmatch=True)


@st.composite
def _functions(draw: st.DrawFn, name: str, indent: str = "", first: str = "") -> str:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    optional = False
    parts = [first] if first else []
    for parameter in names:
        annotation, default = draw(TYPES), draw(DEFAULTS)
        default = default or ("0" if optional else "")
        optional = optional or bool(default)
        parts.append(parameter + (f": {annotation}" if annotation else "") + (f" = {default}" if default else ""))
    if len(names) > 1 and draw(st.booleans()):
        parts.insert(len(parts) - 1, "*")
    returns = draw(st.sampled_from(["", " -> int", " -> list[str]", " -> None", " -> 'Widget'"]))
    prefix = draw(st.sampled_from(["", "async "]))
    lines = [f"{indent}{prefix}def {name}({', '.join(parts)}){returns}:"]
    for kind in draw(st.lists(st.sampled_from(KINDS), max_size=3, unique=True)):
        message = draw(MESSAGES)
        text = f"f{message!r}" if "{" in message else repr(message)
        lines.append(f"{indent}    if {name}:\n{indent}        raise {kind}({text})")
    return "\n".join([*lines, f"{indent}    return 1", ""])


@st.composite
def _sources(draw: st.DrawFn) -> str:
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    parts = ['"""Words."""', "import enum", "from pathlib import Path", "LIMIT_VALUE = 10", ""]
    parts += [draw(_functions(name)) for name in names[2:]]
    parts += ["class Widget:", draw(_functions("__init__", "    ", "self")), draw(_functions(names[0], "    ", "self"))]
    parts += ["class Shade(enum.Enum):", f"    {names[1].upper()} = 1", "    OTHER_SHADE = 'two'", ""]
    return "\n".join(parts)


def _facts(text: str) -> Facts:
    return facts_of_python(text, "module_of_words")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_page_from_the_facts_of_the_corpus_has_no_finding(path: Path) -> None:
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    found = verify(render(facts), facts)
    assert found == []
    assert score(found, facts).contract == 100


@settings(max_examples=15, deadline=None)
@given(_sources())
def test_a_page_from_facts_has_no_finding(text: str) -> None:
    facts = _facts(text)
    assert verify(render(facts), facts) == []


def _removals(page: str) -> list[tuple[str, str, str]]:
    """Every fact that is one line of a rendered page: the page without it, its family of rules, the line."""
    lines, heading, block, found = page.split("\n"), "", "", []
    for place, line in enumerate(lines):
        heading = line if line.startswith("#") else heading
        block = line if line.startswith("**") else "" if line.startswith("#") else block
        rule = _rule_of(line, heading, block)
        if rule:
            found.append(("\n".join(lines[:place] + lines[place + 1 :]), rule, line))
    return found


def _rule_of(line: str, heading: str, block: str) -> str | None:
    if re.match(r"\| `", line):
        if heading == "## Constants":
            return "S101"
        return {"**Parameters:**": "P201", "**Members:**": "S104"}.get(block)
    return "E301" if line.startswith("- `") and block == "**Raises:**" else None


@settings(max_examples=5, deadline=None)
@given(_sources())
def test_each_fact_taken_out_gives_its_finding_and_no_other(text: str) -> None:
    facts = _facts(text)
    for page, rule, line in _removals(render(facts)):
        name = re.findall(r"`\**(\w+)", line)[0]
        if rule == "S101" and re.search(rf"\b{name}\b", page):
            continue  # a default still names the constant
        found = verify(page, facts)
        assert len(found) == 1, (line, found)
        assert found[0].rule in ({"P201", "P202"} if rule == "P201" else {rule})
        assert name in found[0].message or found[0].rule == "P202"


@settings(max_examples=6, deadline=None)
@given(_sources())
def test_each_symbol_taken_out_gives_its_finding_and_no_other(text: str) -> None:
    facts = _facts(text)
    whole = render(facts)
    sections = re.split(r"(?m)^(?=##+ )", whole)
    for symbol in required_symbols(Source(facts)):
        if symbol.kind in {"constant", "field", "enum member"}:
            continue
        kept = [part for part in sections if not re.match(rf"##+ [^`]*`{re.escape(symbol.qualname)}(?:`|\.)", part)]
        rest = "".join(kept)
        found = verify(rest, facts)
        assert [one.rule for one in found] == ["S101"]
        # A type or a default that still names the symbol may leave a doubt.
        assert found[0].level == "error" or re.search(rf"\b{symbol.name}\b", rest)
        assert f"`{symbol.qualname}`" in found[0].message


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_no_document_raises(document: str) -> None:
    facts = _facts("LIMIT = 1\n\ndef pay(amount: int = 1) -> int:\n    raise ValueError('no')\n")
    assert count_facts(facts) == 4
    assert all(finding.line >= 1 for finding in verify(document, facts))
    assert isinstance(verify(document, None), list)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_mangled_page_raises(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(CORPUS))
    facts = facts_of_python(path.read_text(encoding="utf-8"), path.stem)
    lines = path.with_suffix(".md").read_text(encoding="utf-8").split("\n")
    order = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=60))
    for finding in verify("\n".join(lines[place] for place in order), facts):
        assert finding.message
        assert finding.fix
