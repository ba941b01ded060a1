"""docs/rules.md is what the rules' own records say, and the registry is sound."""

import re
from pathlib import Path

from reflexion.evidence.rules.guide import FAMILIES, rules_page
from reflexion.evidence.verify import ALL_RULES, GRAVITY, unknown_rules, worst

PAGE = Path(__file__).parents[1] / "docs" / "rules.md"


def test_the_page_is_what_the_records_say() -> None:
    # To renew it: python -m reflexion.evidence.rules.guide > docs/rules.md
    assert PAGE.read_text(encoding="utf-8") == rules_page(ALL_RULES)


def test_codes_and_names_are_unique_and_well_formed() -> None:
    assert len({rule.code for rule in ALL_RULES}) == len({rule.name for rule in ALL_RULES}) == len(ALL_RULES)
    for rule in ALL_RULES:
        assert re.fullmatch(r"[A-Z]\d{3}", rule.code)
        assert rule.code[0] in FAMILIES
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
        assert "\n" not in rule.summary
        assert rule.explanation


def test_every_error_rule_has_its_place_in_the_order_of_gravity() -> None:
    for rule in ALL_RULES:
        if rule.level == "error":
            assert any(rule.code.startswith(known) for known in GRAVITY), rule.code


def test_unknown_rules_are_told() -> None:
    assert unknown_rules({"P204", "wrong-default", "P999"}) == ["P999"]


def test_nothing_is_worst_of_nothing() -> None:
    assert worst([]) is None
