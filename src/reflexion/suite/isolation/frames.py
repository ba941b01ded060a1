"""Messages on the channel: a length of four bytes, then JSON in UTF-8. Runs on both sides, with the standard library.

Text goes with lone surrogates as they are, since JSON's own way of writing them would join two that stand side by side.
"""

import json
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

Data: TypeAlias = Any
"""Plain data, or what claims to be: of no type before it was looked at."""
LENGTH = 4
LARGEST = 8 * 1024 * 1024
SMALL_DIGITS = 18
STRUCTURE = 2_000_000


class Ended(Exception):
    """The other side is gone."""


def packed(message: Data) -> bytes:
    """Return a message as it goes on the channel. Raises ValueError when it is too large."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(text) > LARGEST:
        raise ValueError(f"data of more than {LARGEST // 1024 // 1024} MiB")
    return len(text).to_bytes(LENGTH, "big") + text


def read_message(receive: Callable[[int], bytes]) -> Data:
    """Read one message. Raises Ended, or ValueError or RecursionError when what comes is none."""
    length = int.from_bytes(_exactly(receive, LENGTH), "big")
    if length > LARGEST:
        raise ValueError("a message that is too long")
    text = _exactly(receive, length)
    if text.count(b",") + text.count(b"[") > STRUCTURE:
        raise ValueError("a message of too many parts")
    return json.loads(
        text.decode("utf-8", "surrogatepass"),
        parse_int=_small,
        parse_float=_refused,
        parse_constant=_refused,
        object_pairs_hook=_refused,
    )


def _exactly(receive: Callable[[int], bytes], length: int) -> bytes:
    parts = []
    while length:
        part = receive(min(length, 65536))
        if not part:
            raise Ended
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _small(digits: str) -> int:
    if len(digits) > SMALL_DIGITS:
        raise ValueError("a number that is too long")
    return int(digits)


def _refused(what: object) -> NoReturn:
    raise ValueError("JSON of a kind that is not used here")
