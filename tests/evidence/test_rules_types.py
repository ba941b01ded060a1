"""Comparison of type texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.types import TypeContext, compare_types

SAME = [
    ("str", "str"),
    ("Optional[str]", "str | None"),
    ("Optional[str]", "Union[str, None]"),
    ("List[int]", "list[int]"),
    ("typing.Dict[str, int]", "dict[str, int]"),
    ("list", "list[int]"),
    ("str or None", "str | None"),
    ("int, optional", "int"),
    ("str (optional)", "str"),
    ("int, default 5", "int"),
    ("str", "str | None"),
    ("list of str", "list[str]"),
    ("list of strings", "List[str]"),
    ("a list of Account objects", "list[Account]"),
    ("Account instance", "Account"),
    ("dict mapping str to int", "dict[str, int]"),
    ("string", "str"),
    ("boolean", "bool"),
    ("integer", "int"),
    ("np.ndarray", "numpy.ndarray"),
    ("callable", "Callable[..., None]"),
    ("`str`", "'str'"),
    ("Path", "pathlib.Path"),
    ("str, Path or None", "str | Path | None"),
    ("tuple[int, ...]", "tuple[int, ...]"),
    ("Literal['a', 'b']", "Literal['a', 'b']"),
    ("None", "None"),
    ("int", "Annotated[int, Field(gt=0)]"),
]
VAGUE = [
    ("number", "float"),
    ("array-like", "list[int]"),
    ("Sequence", "list[int]"),
    ("dict", "Mapping[str, int]"),
    ("str", "Literal['a']"),
    ("Any", "int"),
    ("int", "T"),
    ("the amount to pay", "Decimal"),
    ("async iterator", "AsyncIterator[int]"),
    ("", "int"),
]
DOUBTFUL = [("str", "str | Path"), ("str", "UserId"), ("list[int]", "list[int | None]")]
DIFFERENT = [
    ("int", "float"),
    ("int", "str"),
    ("list of strings", "list[int]"),
    ("list", "tuple[int]"),
    ("str | int", "str"),
    ("float", "Decimal"),
    ("bool", "int"),
    ("int", "bool"),
    ("None", "int"),
    ("dict[str, int]", "dict[str, str]"),
    ("set", "frozenset"),
]


@pytest.mark.parametrize(("stated", "actual"), SAME)
def test_same(stated: str, actual: str) -> None:
    assert compare_types(stated, actual) == "same"


@pytest.mark.parametrize(("stated", "actual"), VAGUE)
def test_vague(stated: str, actual: str) -> None:
    assert compare_types(stated, actual) == "vague"


@pytest.mark.parametrize(("stated", "actual"), DOUBTFUL)
def test_doubtful(stated: str, actual: str) -> None:
    assert compare_types(stated, actual) == "doubtful"


@pytest.mark.parametrize(("stated", "actual"), DIFFERENT)
def test_different(stated: str, actual: str) -> None:
    assert compare_types(stated, actual) == "different"


def test_none_left_out_of_a_return_is_a_doubt() -> None:
    assert compare_types("str", "str | None", none_matters=True) == "doubtful"


def test_an_alias_is_what_it_stands_for() -> None:
    context = TypeContext(aliases={"UserId": "int", "Rows": "list[dict[str, int]]"})
    assert compare_types("int", "UserId", context) == "same"
    assert compare_types("UserId", "UserId", context) == "same"
    assert compare_types("list", "Rows", context) == "same"
    assert compare_types("str", "UserId", context) == "different"


def test_a_base_class_of_the_module_is_vague_and_a_stranger_different() -> None:
    context = TypeContext(classes={"Savings": ("Account",), "Account": (), "Level": ("IntEnum",)})
    assert compare_types("Account", "Savings", context) == "vague"
    assert compare_types("int", "Level", context) == "vague"
    assert compare_types("Bank", "Account", context) == "different"


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_raises_and_every_text_equals_itself(first: str, second: str) -> None:
    assert compare_types(first, second) in {"same", "vague", "doubtful", "different"}
    assert compare_types(first, first) in {"same", "vague"}
