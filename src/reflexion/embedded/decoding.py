"""Request bodies as Go's decoder reads them: the first JSON value counts, and what is refused has its words."""

import json
import re
from typing import Any

from reflexion.embedded.wire import ApiError, kind_of

BLANKS = " \t\r\n"
BLANK = re.compile(f"[{BLANKS}]*")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]*)?")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
LITERALS = {"t": "true", "f": "false", "n": "null"}
KEY, VALUE = "looking for beginning of object key string", "looking for beginning of value"
# What Python missed, and where Go would say that it met something else.
PLACES = {
    "Expecting property name": KEY,
    "Illegal trailing comma before end of object": KEY,
    "Expecting ':' delimiter": "after object key",
    "Invalid control character": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
}


def parse_body(data: bytes, owner: str = "ChatRequest") -> dict[str, Any]:
    """The JSON object of a request body; what follows it is not read. ``owner`` is what Go calls a request of that
    kind; ``null`` is an empty one.

    Raises:
        ApiError: 400, in the words of Go's decoder.
    """
    # Bytes that are no text survive until it is known whether they are to be named in a refusal.
    text = data.decode("utf-8", "surrogateescape").lstrip(BLANKS)
    if not text:
        raise ApiError(400, "missing request body")
    try:
        body, _ = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode(text)
    except json.JSONDecodeError as error:
        raise ApiError(400, _refusal(text, error)) from error
    except RecursionError as error:
        raise ApiError(400, "exceeded max depth") from error
    except ValueError as error:
        raise ApiError(400, "a number of the request body is too long") from error
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise ApiError(400, f"json: cannot unmarshal {kind_of(body)} into Go value of type api.{owner}")
    return _without_half_characters(body) if HALF_CHARACTER.search(text) or "\\ud" in text.lower() else body


def _refuse_constant(name: str) -> float:
    raise ApiError(400, f"invalid character {name[0]!r} {VALUE}")


def _without_half_characters(body: dict[str, Any]) -> dict[str, Any]:
    # Half a surrogate pair is valid JSON and no valid text; llama.cpp refuses it.
    clean: dict[str, Any] = json.loads(HALF_CHARACTER.sub("\ufffd", json.dumps(body, ensure_ascii=False)))
    return clean


def _refusal(text: str, error: json.JSONDecodeError) -> str:
    at, place = _met(text, error)
    if at >= len(text) or error.msg.startswith("Unterminated"):
        return "unexpected EOF"
    return f"invalid character {_shown(text[at])} {place}"


def _met(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Where Go's decoder stops, and what it says of the place."""
    at, missed = error.pos, error.msg
    if missed.startswith("Illegal trailing comma"):
        at += 1  # Newer Pythons point at the comma, Go at what should not follow it.
    if missed.startswith("Invalid"):
        return _bad_in_string(text, at, missed), _place(missed)
    at = _skip(text, at)
    if missed.startswith("Expecting ',' delimiter"):
        return at, "after array element" if _innermost(text[:at]) == "[" else "after object key:value pair"
    return _bad_in_literal(text, at) if missed.startswith("Expecting value") else (at, _place(missed))


def _place(missed: str) -> str:
    return next((place for start, place in PLACES.items() if missed.startswith(start)), VALUE)


def _skip(text: str, at: int) -> int:
    blank = BLANK.match(text, at)
    return blank.end() if blank else at


def _bad_in_string(text: str, at: int, missed: str) -> int:
    if missed.startswith("Invalid control"):
        return at
    start = text.rindex("\\", 0, at + 1)
    escape = ESCAPE.match(text, start)
    return escape.end() if escape else start


def _bad_in_literal(text: str, at: int) -> tuple[int, str]:
    word = LITERALS.get(text[at : at + 1])
    if word is None:
        return at, VALUE
    wrong = next((i for i, letter in enumerate(word) if text[at + i : at + i + 1] != letter), 0)
    return at + wrong, f"in literal {word} (expecting {word[wrong]!r})"


def _innermost(valid: str) -> str:
    """The bracket that is open at the end of the beginning of a JSON text."""
    still_open: list[str] = []
    for bracket in re.findall(r"[\[\]{}]", STRING.sub("", valid)):
        if bracket in "[{":
            still_open.append(bracket)
        else:
            still_open.pop()
    return still_open[-1]


def _shown(character: str) -> str:
    # Go looks at bytes, and shows the first of a character's.
    first = chr(character.encode("utf-8", "surrogateescape")[0])
    if first == "'":
        return r"'\''"
    return f"'{first}'" if first.isprintable() and first != "\\" else repr(first)
