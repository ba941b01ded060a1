"""Words around the name of an exception: whether a text tells of it without the verb, and what a denial leaves open."""

import re

from reflexion.patterns import regex

# A denial with one of these says nothing of what stands beside it.
_LEAVES_OPEN = regex(
    r"\b(?:other|others|else|except|excepting|besides?|apart|aside|beyond|further|additional|more|only)\b",
    re.IGNORECASE,
)
_NEAR = 300  # characters around a name that can deny it
_SENTENCE = regex(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*(?:[-*+|#>]|\d+\.))")
_RAISING = (
    r"(?:(?:\w+\s+){0,2}?(?:rais|throw)\w*"
    r"|(?:produc|caus|trigger|result|lead|signal|fail|giv|yield|emit|end|get|expect)\w*)"
)
_DENIED = (
    rf"(?:\b(?:not|never|cannot|without|nor)\b|n['\u2019]t\b)\s+{_RAISING}\b[^;:]*$"
    r"|\b(?:no|without|never|not|instead\s+of|rather\s+than|unlike)\s+(?:an?\s+|any\s+)?[`*(_\s]*$"
    r"|\b(?:catches|handles|swallows|suppresses|ignores|avoids|prevents)\b[^;:]*$"
)
_DENIED_AFTER = regex(
    r"^[`*)_\s]*(?:\w+\s+)?(?:is|are|will\s+be|gets?)\s+(?:never|not)\s+(?:\w+\s+)?(?:raised|thrown)\b"
)


def leaves_open(text: str) -> bool:
    """Whether a denial speaks only of other exceptions than the ones that the document tells of."""
    return _LEAVES_OPEN.search(text) is not None


def tells_of(text: str, exception: str) -> bool:
    """Whether a sentence of the text names the exception without denying it, by whatever verb."""
    name = re.compile(rf"(?<![\w.]){_dotted(exception)}(?!\w)")
    return any(_is_told(sentence, found) for sentence in _SENTENCE.split(text) for found in name.finditer(sentence))


def left_open(text: str, exception: str) -> bool:
    """Whether the text denies all but this exception: "raises nothing except `ValueError`"."""
    words = r"\b(?:other\s+than|except(?:\s+for)?|besides|apart\s+from|aside\s+from|but)"
    but = rf"{words}\s+(?:an?\s+)?[`*_]*{_dotted(exception)}"
    return any(
        re.search(rf"\b(?:rais|throw|exception)\w*\b[^;:]{{0,200}}{but}(?!\w)", sentence, re.IGNORECASE)
        for sentence in _SENTENCE.split(text)
    )


def _dotted(exception: str) -> str:
    return rf"(?:\w+\.)*{re.escape(exception.rpartition('.')[2])}"


def _is_told(sentence: str, found: re.Match[str]) -> bool:
    before, after = sentence[max(0, found.start() - _NEAR) : found.start()], sentence[found.end() : found.end() + _NEAR]
    denied = re.search(_DENIED, before, re.IGNORECASE)
    if denied and not _LEAVES_OPEN.search(denied.group()):
        return False
    return _DENIED_AFTER.match(after) is None
