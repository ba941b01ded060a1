"""Parsing of requests: no model needed."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.embedded.decoding import parse_body
from reflexion.embedded.options import Options, parse_options
from reflexion.embedded.requests import (
    LoadRequest,
    parse_chat,
    parse_embed,
    parse_embeddings,
    parse_generate,
    parse_show,
)
from reflexion.embedded.wire import ApiError, parse_keep_alive

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["model", "messages", "stream", "options", "keep_alive", "think", "truncate", "tools", "format"]
FIELDS += ["prompt", "system", "suffix", "template", "context", "raw", "images", "shift", "logprobs"]
FIELDS += ["input", "dimensions"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        (0, 0.0),
        ("0", 0.0),
        ("0s", 0.0),
        (90, 90.0),
        (1.5, 1.5),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("+1.5s", 1.5),
        (".5s", 0.5),
        ("250ms", 0.25),
        ("7us", 7e-6),
        (-1, math.inf),
        (10**400, 2.0**33),
        ("-1m", math.inf),
    ],
)
def test_keep_alive_in_every_form(value: object, seconds: float | None) -> None:
    assert parse_keep_alive(value) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("-1", 'time: missing unit in duration "-1"'),
        ("300", 'time: missing unit in duration "300"'),
        ("", 'time: invalid duration ""'),
        ("soon", 'time: invalid duration "soon"'),
        ("5m soon", 'time: unknown unit "m soon" in duration "5m soon"'),
        ("2d", 'time: unknown unit "d" in duration "2d"'),
        ("\u0663s", 'time: invalid duration "\u0663s"'),
        (True, "Unsupported type: 'bool'"),
        ([1], "Unsupported type: '[]interface {}'"),
    ],
)
def test_keep_alive_that_is_none(value: object, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_keep_alive(value)
    assert (caught.value.status, str(caught.value)) == (400, words)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"num_predict": "4"}, 'option "num_predict" must be of type integer'),
        ({"num_ctx": True}, 'option "num_ctx" must be of type integer'),
        ({"num_gpu": "all"}, 'option "num_gpu" must be of type integer'),
        ({"temperature": "hot"}, 'option "temperature" must be of type float32'),
        ({"use_mmap": 1}, 'option "use_mmap" must be of type boolean'),
        ({"seed": 10**400}, 'option "seed" must be of type integer'),
        ({"top_p": 1e300}, 'option "top_p" must be of type float32'),
        ({"stop": "x"}, 'option "stop" must be of type array'),
        ({"stop": [1]}, 'option "stop" must be of an array of strings'),
    ],
)
def test_options_of_a_wrong_type(option: dict[str, Any], words: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_options(option)
    assert (caught.value.status, str(caught.value)) == (500, words)


def test_options_that_are_unknown_null_or_whole_floats() -> None:
    parsed = parse_options({"wat": object(), "seed": None, "num_predict": 5.9, "use_mmap": True, "top_k": 3})
    assert parsed == Options(num_predict=5, top_k=3)


def test_sampling_names_only_what_was_decided() -> None:
    sampling = parse_options({"seed": -1, "stop": ["", "END"], "repeat_penalty": 1}).sampling()
    assert "seed" not in sampling
    assert sampling["stop"] == ["END"]
    assert sampling["repeat_penalty"] == 1
    assert parse_options({"seed": 7}).sampling()["seed"] == 7
    assert parse_options({"seed": -7}).sampling()["seed"] == 2**32 - 7
    assert parse_options({"repeat_last_n": -1}).sampling()["repeat_last_n"] == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "missing request body"),
        (b'{"model":', "unexpected EOF"),
        (b'{"model": "a', "unexpected EOF"),
        (b'{"model": nu', "unexpected EOF"),
        (b'{"model": "a", ', "unexpected EOF"),
        (rb'{"model": "\u12', "unexpected EOF"),
        (b"{model}", "invalid character 'm' looking for beginning of object key string"),
        (b'{"a": 1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a": [1, ]}', "invalid character ']' looking for beginning of value"),
        (b'{"a": [{"b": "]["} 2]}', "invalid character '2' after array element"),
        (b'{"a": [1] 2}', "invalid character '2' after object key:value pair"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a": trux}', "invalid character 'x' in literal true (expecting 'e')"),
        (b'{"a": "b\nc"}', "invalid character '\\n' in string literal"),
        (rb'{"a": "\x"}', "invalid character 'x' in string escape code"),
        (rb'{"a": "\u12zz"}', r"invalid character 'z' in \u hexadecimal character escape"),
        (b"{'a': 1}", r"invalid character '\'' looking for beginning of object key string"),
        (b"\xff\xfe", "invalid character 'ÿ' looking for beginning of value"),
        ("{é: 1}".encode(), "invalid character 'Ã' looking for beginning of object key string"),
        (b"[]", "json: cannot unmarshal array into Go value of type api.ChatRequest"),
        (b"[" * 100_000, "exceeded max depth"),
        (b'{"a": NaN}', "invalid character 'N' looking for beginning of value"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "a number of the request body is too long"),
    ],
)
def test_bodies_that_are_no_object(data: bytes, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_body(data)
    assert (caught.value.status, str(caught.value)) == (400, words)


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b' \n{"a": 1} and more', {"a": 1}),
        (b"null", {}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (rb'{"a": "\ud83d, \ud83d\ude42"}', {"a": "\ufffd, 🙂"}),
    ],
)
def test_bodies_that_are_one(data: bytes, body: dict[str, Any]) -> None:
    assert parse_body(data) == body


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='{}[]",:\\u1ntrue \n') | st.binary(max_size=20), st.booleans())
def test_any_bytes_are_an_object_or_a_400(data: str | bytes, within: bool) -> None:
    raw = data.encode() if isinstance(data, str) else data
    outcome: object
    try:
        outcome = parse_body(b'{"a":' + raw if within else raw)
    except ApiError as error:
        outcome = (error.status, bool(str(error)))
    assert isinstance(outcome, dict) or outcome == (400, True)


@pytest.mark.parametrize("parse", [parse_chat, parse_generate, parse_embed, parse_embeddings])
@settings(max_examples=60, deadline=None)
@given(body=st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES))
def test_any_json_object_is_a_request_or_a_400(
    parse: Callable[[dict[str, Any]], LoadRequest], body: dict[str, Any]
) -> None:
    status = 200
    try:
        request = parse(parse_body(json.dumps(body).encode()))
    except ApiError as error:
        status = error.status
    else:
        assert request.keep_s is None or request.keep_s >= 0
    assert status in {200, 400}


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(categories=["Cs", "L", "Zs"])))
def test_message_text_can_always_be_sent_on(text: str) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    (message,) = parse_chat(parse_body(body)).messages
    assert message["content"].encode("utf-8").decode("utf-8") == message["content"]
    if text.isprintable():
        assert message["content"] == text


def test_the_name_of_a_model_under_both_keys() -> None:
    assert parse_show({"model": "a"}) == parse_show({"name": "a"}) == "a"
    assert parse_show({}) == ""
    with pytest.raises(ApiError, match=r"field ShowRequest\.name of type string"):
        parse_show({"name": 5})
