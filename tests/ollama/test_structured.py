"""Structured replies: what is read of them, and the one line about what is wrong."""

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from reflexion.ollama.structured import holds_json, read, schema_for
from reflexion.verdict import Critique


class Place(BaseModel):
    """One place."""

    name: str = Field("here", pattern="^[a-z]+$", description="Its name.")
    title: Literal["a", "b"] = "a"


class Route(BaseModel):
    """Several places."""

    pattern: str
    places: list[Place]


GOOD = {"technical_accuracy": 90, "completeness": 80, "single_critical_fix": "Name the type."}
OTHER = GOOD | {"completeness": 10}
DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"\n {json.dumps(GOOD)} \n",
        f"<think>{json.dumps(OTHER)}</think>\n{json.dumps(GOOD)}",
        f"Here it is:\n```json\n{json.dumps(GOOD, indent=2)}\n```\nI hope it helps.",
        f"{json.dumps(OTHER)} No, I take that back: {json.dumps(GOOD)}",
        f"{json.dumps(GOOD)} {json.dumps(GOOD | {'completeness': 101})}",
    ],
)
def test_the_last_whole_object_that_validates_is_the_reply(text: str) -> None:
    value, trouble = read(text, Critique)
    assert (value, trouble) == (Critique.model_validate(GOOD), "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the reply is not one complete JSON object"),
        ("The page is fine.", "the reply is not one complete JSON object"),
        (json.dumps(GOOD)[:-1], "the reply is not one complete JSON object"),
        (json.dumps({"verdict": GOOD}), "technical_accuracy: Field required"),
        (json.dumps(GOOD | {"completeness": 101}), "completeness: Input should be less than or equal to 100"),
        (json.dumps(GOOD | {"completeness": "80"}), "completeness: Input should be a valid integer"),
        (json.dumps({}), "technical_accuracy: Field required"),
        ("[]", "the object: Input should be an object"),
        (DEEP, "the reply is not one complete JSON object"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str) -> None:
    value, trouble = read(text, Critique)
    assert value is None
    assert trouble.startswith(said)
    assert "\n" not in trouble


def test_where_it_is_wrong_is_said() -> None:
    text = json.dumps({"pattern": "x", "places": [{"name": "a"}, {"title": "c"}]})
    assert read(text, Route) == (None, "places.1.title: Input should be 'a' or 'b'")


@given(st.text(max_size=60) | st.recursive(st.none() | st.integers(), st.lists, max_leaves=5).map(json.dumps))
def test_no_text_makes_it_raise(text: str) -> None:
    value, trouble = read(text, Critique)
    assert (value is None) == bool(trouble)


@given(st.integers(0, len(json.dumps(GOOD)) - 1))
def test_what_was_cut_is_never_completed(length: int) -> None:
    assert read(json.dumps(GOOD)[:length], Critique)[0] is None


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ('{"a": 1}', True),
        ('<think>hm</think> {"a"', True),
        ("  {", True),
        ('"{"', False),
        ("Yes {}", False),
        ("", False),
    ],
)
def test_whether_a_schema_was_applied(text: str, tried: bool) -> None:
    assert holds_json(text) == tried


def test_the_schema_keeps_what_servers_can_apply_and_fields_of_any_name() -> None:
    schema = schema_for(Route)
    assert list(schema["properties"]) == ["pattern", "places"]
    assert schema["$defs"]["Place"]["properties"] == {
        "name": {"type": "string", "description": "Its name."},
        "title": {"type": "string", "enum": ["a", "b"]},
    }
    critique = schema_for(Critique)["properties"]["completeness"]
    assert critique == {"type": "integer", "minimum": 0, "maximum": 100}
