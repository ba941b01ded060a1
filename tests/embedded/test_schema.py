"""Which schemas are taken and which are refused: no model needed."""

from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from reflexion.embedded.schema import COMPACT, INVALID, schema_of_format
from reflexion.embedded.wire import ApiError


class Part(BaseModel):
    kind: Literal["a", "b"]
    weight: float | None = None


class Whole(BaseModel):
    """What a pydantic model turns into."""

    score: int = Field(ge=0, le=100, description="0 to 100")
    parts: list[Part] = Field(min_length=1, max_length=3)


def test_free_text() -> None:
    assert schema_of_format(None) is None
    assert schema_of_format("") is None


def test_json_means_an_object() -> None:
    assert schema_of_format("json") == {"type": "object", "x-guidance": COMPACT}


def test_a_pydantic_model_keeps_its_constraints_and_loses_its_words() -> None:
    prepared: Any = schema_of_format(Whole.model_json_schema())
    assert prepared["properties"]["score"] == {"type": "integer", "minimum": 0, "maximum": 100}
    assert prepared["properties"]["parts"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Part"},
        "minItems": 1,
        "maxItems": 3,
    }
    part = prepared["$defs"]["Part"]
    assert part["properties"]["weight"] == {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert part["additionalProperties"] is False
    assert part["required"] == ["kind"]


def test_a_required_name_that_is_no_property_is_dropped() -> None:
    prepared: Any = schema_of_format({"type": "object", "properties": {"a": {}}, "required": ["a", "b"]})
    assert prepared["required"] == ["a"]


@pytest.mark.parametrize(
    ("wanted", "prepared"),
    [
        ({"type": "boolean", "zzz": 1, "title": "x", "x-guidance": {}}, {"type": "boolean"}),
        ({"pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}, "additionalProperties": False}),
        (
            {"type": ["object", "null"], "properties": {}},
            {"type": ["object", "null"], "properties": {}, "additionalProperties": False},
        ),
        ({"enum": ["a"], "pattern": "^a$"}, {"enum": ["a"], "pattern": "^a$"}),
    ],
)
def test_what_is_dropped_and_what_goes_without_saying(wanted: dict[str, Any], prepared: dict[str, Any]) -> None:
    assert schema_of_format(wanted) == {**prepared, "x-guidance": COMPACT}


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("xml", r'invalid format: "\"xml\""; expected "json" or a valid JSON Schema object'),
        (5, 'invalid format: "5"; expected "json" or a valid JSON Schema object'),
        (["a"], r'invalid format: "[\"a\"]"; expected "json" or a valid JSON Schema object'),
    ],
)
def test_a_format_that_is_no_schema(wanted: object, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        schema_of_format(wanted)
    assert (caught.value.status, str(caught.value)) == (500, words)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": r"\d+"},
        {"type": "string", "pattern": 5},
        {"type": "object", "patternProperties": {"^a$": {}}},
        {"type": "wat"},
        {"type": []},
        {"$ref": "#/nope"},
        {"$ref": "https://example.com/schema"},
        {"type": "object", "properties": 5},
        {"type": "object", "properties": {"a": 5}},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "integer", "minimum": "0"},
        {"type": "string", "minLength": 5, "maxLength": 4},
        {"enum": []},
        {"type": "string", "enum": ["a", 1]},
        {"type": "integer", "const": True},
        {"not": {"type": "string"}},
        {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"anyOf": [{"type": "object"}], "properties": {"a": {}}},
        {"anyOf": []},
    ],
)
def test_a_schema_that_could_be_dropped_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match=INVALID) as caught:
        schema_of_format(schema)
    assert caught.value.status == 500


KEYS = [
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "items",
    "anyOf",
    "allOf",
    "$ref",
    "minimum",
    "maximum",
    "not",
    "pattern",
    "zzz",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "integer", "#", "#/a", "^a$"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_object_is_prepared_or_refused_in_ollamas_words(schema: dict[str, Any]) -> None:
    try:
        prepared = schema_of_format(schema)
    except ApiError as error:
        refusal = str(error)
    else:
        refusal = INVALID
        assert prepared is not None
        assert prepared["x-guidance"] == COMPACT
        assert "not" not in prepared
    assert refusal == INVALID
