"""The records themselves: plain, frozen, comparable, and walked in source order."""

import pytest

from reflexion.evidence.facts import Facts, Parameter, Raise, Signature, Symbol


def symbol(qualname: str, *members: Symbol) -> Symbol:
    return Symbol(qualname, "class", line=1, end_line=2, public=True, members=members)


def test_name_is_the_last_part_of_the_qualname() -> None:
    assert [symbol(text).name for text in ("f", "A.f", "A.B.f")] == ["f", "f", "f"]


def test_walk_goes_into_members_in_source_order() -> None:
    facts = Facts("m", (symbol("A", symbol("A.B", symbol("A.B.c")), symbol("A.d")), symbol("e")))
    assert [each.qualname for each in facts.walk()] == ["A", "A.B", "A.B.c", "A.d", "e"]


@pytest.mark.parametrize(
    "record",
    [
        Parameter("a", "positional"),
        Raise("ValueError", None, 1),
        Signature((), None),
        symbol("A"),
        Facts("m", ()),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_are_frozen_hashable_and_equal_by_value(record: Parameter | Raise | Signature | Symbol | Facts) -> None:
    with pytest.raises(AttributeError):
        setattr(record, record._fields[0], "other")
    copy = record._replace()
    assert copy == record
    assert len({copy, record}) == 1
