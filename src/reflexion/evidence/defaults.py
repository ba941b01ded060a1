"""The default that some words state, in the many ways in which documents write one.

There are two kinds of wording. "Default: 5" names the default of the signature. "5 if omitted" may as well tell what
the code puts in for a signature's None; ``may_be_put_in`` says which kind a text has.
"""

import re
from collections.abc import Iterator

from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON
from reflexion.patterns import regex

_SPAN = rf"{CODE_ON}(?P<code>[^{CODE_OFF}]+){CODE_OFF}|(?P<quoted>\"[^\"\n]*\"|'[^'\n]*'|\u201c[^\u201d\n]*\u201d)"
_BARE = (
    r"-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?|True|False|None|\[\]|\{\}|\(\)|[A-Z][A-Z0-9]*_[A-Z0-9_]*"
    r"|[A-Za-z_]\w*\.[A-Za-z_][\w.]*"
)
_BARE_END = r"(?=\s*(?:[.,;:)\]]+(?:\s|$|[)\]\ue001\ue003])|\ue003|\n|\u2028|$|[\u2013\u2014]|-\s))"
VALUE = rf"(?:{_SPAN}|(?P<bare>{_BARE}){_BARE_END})"
_WORDED = rf"(?:{_SPAN}|(?<![\w.])(?P<bare>{_BARE})(?![\w%]))"
_CONDITION = r"(?!\s*(?:if|when|unless|on|for|depending|in|while|otherwise)\b)"
_DEFAULT = regex(
    rf"(?<!by )(?<!By )\b[Dd]efault(?:s|ed|ing)?(?:\s+value)?{MARK_OFF}?\s*(?:(?:is|are|to|of|set to)\s|[:=])\s*"
    rf"{MARK_OFF}?:?\s*(?:the\s+value\s+)?{VALUE}{_CONDITION}"
)
_SHORT = regex(rf"^\s*(?:with\s+)?default(?:s|ing)?(?:\s+value)?{MARK_OFF}?\s*{VALUE}\s*$")
_AT_FRONT = regex(rf"[\s,;(]*(?:(?:optional|required)\s*,\s*)?default\s+{VALUE}")

_END = (
    rf"(?=[{CODE_OFF}{MARK_OFF}]*\s*(?:[.;:)\]]|,(?!\s*(?:but|if|when|unless|or|and|except|otherwise)\b)|$|\n|\u2028))"
)
_LEFT_OUT = (
    r"(?:(?:it|this|this\s+parameter|this\s+argument)\s+)?(?:is\s+)?"
    r"(?:not\s+(?:provided|given|specified|set|supplied|passed)|omitted|left\s+out|unspecified)"
)
_PIECE = rf"(?:^|[.;,:(\u2013\u2014\u2028]\s*|\s-\s|\b(?:to|uses|is)\s+)[{MARK_ON}]*"
_PUT_IN = (
    regex(rf"{_WORDED}\s+by\s+default\b{_END}"),
    regex(
        rf"\b(?:[Ii]f|[Ww]hen)\s+{_LEFT_OUT},?\s+(?:the\s+(?:value|default)\s+)?(?:of\s+)?{_WORDED}"
        rf"\s+(?:is|will\s+be|gets)\s+(?:used|assumed|taken)\b{_END}"
    ),
    regex(
        rf"\b(?:[Ii]f|[Ww]hen)\s+{_LEFT_OUT},?\s+(?:it\s+)?(?:falls\s+back\s+to|defaults\s+to|uses|is\s+set\s+to)\s+"
        rf"{_WORDED}{_END}"
    ),
    regex(rf"{_PIECE}{_WORDED}\s+(?:is\s+used\s+)?(?:if|when)\s+{_LEFT_OUT}{_END}"),
    regex(rf"{_PIECE}{_WORDED}\s+is\s+the\s+default(?:\s+value)?\b{_END}"),
    regex(rf"\b(?:[Uu]ses|[Uu]sing)\s+{_WORDED}\s+(?:as|by)\s+(?:the\s+|its\s+)?default(?:\s+value)?\b{_END}"),
)
_PIECES = regex(rf"(?:[.;,(\u2028]\s*|\n)[{MARK_ON}]*[Dd]efault(?:\s+value)?[{MARK_OFF}]*\s+{_WORDED}{_END}")
_OF_NAME = regex(rf"\b[Dd]efaults?\s+to\s+(?:the\s+)?(?:{CODE_ON})?(?P<name>\w+)(?:{CODE_OFF})?\s+{_WORDED}{_END}")
_NAME = rf"{CODE_ON}\*{{0,2}}(?P<name>\w+){CODE_OFF}(?:\s+(?:parameter|argument|option))?"
_MEASURED = rf"{_WORDED}(?P<unit>\s+(?:(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|ms|bytes?)\b)?"
_STOP = rf"(?=[{MARK_OFF}]*\s*(?:[.;)]|$))"
_IN_SENTENCE = (
    regex(
        rf"^\W*(?:[Tt]he\s+)?(?:(?:parameter|argument)\s+)?{_NAME}\s+is\s+(?:set\s+to\s+)?{_MEASURED}\s+by\s+default{_STOP}"
    ),
    regex(
        rf"^\W*(?:[Tt]he\s+)?{_NAME}\s+has\s+(?:a|the)\s+default(?:\s+value)?\s+of\s+{_MEASURED}{_STOP}",
    ),
    regex(rf"^\W*By\s+default,?\s+(?:the\s+)?{_NAME}\s+is\s+(?:set\s+to\s+)?{_MEASURED}{_STOP}"),
    regex(rf"^\W*The\s+default\s+(?:value\s+)?(?:of|for)\s+(?:the\s+)?{_NAME}\s+is\s+{_MEASURED}{_STOP}"),
    regex(rf"{_NAME}(?:\s+is\s+optional)?\s+\((?:by\s+)?default(?:\s*:|\s*=|\s+is)?\s+{_MEASURED}\s*\)"),
    regex(rf"^\W*The\s+default\s+{CODE_ON}?(?P<name>[a-z_]\w*){CODE_OFF}?\s+(?:value\s+)?is\s+{_MEASURED}{_STOP}"),
    regex(rf"^\W*(?:If|When)\s+{_NAME}\s+{_LEFT_OUT},\s+{_MEASURED}\s+(?:is|will\s+be)\s+(?:used|assumed){_STOP}"),
    regex(
        rf"^\W*(?:If|When)\s+{_NAME}\s+{_LEFT_OUT},\s+(?:it\s+)?(?:defaults\s+to|falls\s+back\s+to)\s+{_MEASURED}{_STOP}"
    ),
)
_MAY_BE_PUT_IN = regex(
    rf"\bby\s+default\b|\b(?:if|when)\s+{_LEFT_OUT}|\b(?:as|is)\s+(?:the\s+|its\s+)?default\b|\bfalls\s+back\b"
    r"|\bdefault\s+(?:value\s+)?(?:of|for)\s|\bdefault\s+`?(?!value\b)[a-z_]\w*`?\s+(?:value\s+)?is\b"
    rf"|\b(?:if|when)\s+`\w+`\s+{_LEFT_OUT}",
    re.IGNORECASE,
)


def read_default(marked: str) -> str | None:
    """Return the default that some words name as such, or None."""
    text = marked[:2000]
    if "efault" not in text:
        return None
    found = _DEFAULT.search(text) or _SHORT.match(text) or re.match(rf"\s*{_WORDED}\s+by\s+default\s*$", text)
    return value_of(found) if found else None


def default_in_entry(marked: str, names: tuple[str, ...] = ()) -> str | None:
    """Return the default that the words of an entry about ``names`` state in any wording, or None.

    Words that state two different values state none.
    """
    text = marked[:2000]
    assigned = re.match(rf"\s*=\s*{VALUE}", text) if text.lstrip().startswith("=") else None
    if not assigned and not _has_words_of_default(text):
        return None
    found = assigned or _AT_FRONT.match(text)
    found = found or _DEFAULT.search(text) or _PIECES.search(text) or _of_name(text, names)
    if found:
        return value_of(found)
    values = {value_of(one) for pattern in _PUT_IN for one in pattern.finditer(text)}
    return values.pop() if len(values) == 1 else None


def _has_words_of_default(text: str) -> bool:
    """Say whether a text has a word without which no wording of a default does; most texts have none."""
    return any(word in text for word in ("efault", "not", "omitted", "left", "unspecified"))


def _of_name(text: str, names: tuple[str, ...]) -> re.Match[str] | None:
    """Find "Defaults to port 80" in the words about ``port``."""
    found = _OF_NAME.search(text)
    return found if found and found.group("name") in names else None


def defaults_of_sentence(sentence: str, names: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    """Yield offset, name and value of the defaults that a sentence gives to one of these parameters, as its subject."""
    if not re.search(r"default|omitted|not |left", sentence):
        return
    for pattern in _IN_SENTENCE:
        for found in pattern.finditer(sentence):
            if found.group("name") in names:
                unit = " ".join((found.group("unit") or "").split())
                yield found.start(), found.group("name"), f"{value_of(found)} {unit}".strip()


def value_of(found: re.Match[str]) -> str:
    """Return the value that a pattern found; typographic quotes become straight ones."""
    text = found.group("code") or found.group("quoted") or found.group("bare") or ""
    return " ".join(text.replace("\u201c", '"').replace("\u201d", '"').split())


def may_be_put_in(text: str) -> bool:
    """Say whether words may tell of what the code puts in for a missing value, rather than of the signature."""
    lower = text.lower()
    return (_has_words_of_default(lower) or "falls" in lower) and _MAY_BE_PUT_IN.search(text) is not None
