"""Sentences that state what is returned: "Returns ``None``.", "Returns a ``Client`` object.", "True if found"."""

import re

from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, plain
from reflexion.evidence.typenames import is_known_type
from reflexion.patterns import regex

_IT = r"(?:(?:it|this|the\s+(?:function|method|property)|this\s+(?:function|method))\s+)?"
_RETURNS = regex(
    rf"^\W*{_IT}returns?\s+(?:an?\s+|the\s+)?(?:\w+\s+)?{CODE_ON}(?P<type>[^{CODE_OFF}]+){CODE_OFF}", re.IGNORECASE
)
_NONE = regex(rf"^\W*{_IT}returns?\s+None\W*$", re.IGNORECASE)
_TRUTH = regex(r"^\W*(?:True|False)\b(?P<rest>.*)$", re.DOTALL)
_RETURNS_TRUTH = regex(rf"^\W*{_IT}(?:returns?\s+)(?=(?:True|False)\b)", re.IGNORECASE)
_OTHER_TRUTH = regex(
    r"(?:[,;]|\b(?:or|and|else))*\s*(?:otherwise,?\s+|else\s+)?(?:returns\s+)?\b(?:True|False)\b(?:\s+(?:otherwise|if\s+not|else))?"
)
_OTHER_RESULT = regex(r"\b(?:None|raises?|instead|otherwise|else|or|returns?|but)\b|[=<>\[\]]", re.IGNORECASE)
_FOLLOWED = regex(r"^\s*(?:$|[.,;:]|(?:if|when|on|for|in)\b)")
_OBJECT = regex(r"^\s*(?:object|instance)\b")
_CLASS = regex(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*[a-z]\w*$")
_ENTRY = regex(rf"[\s{MARK_ON}]*(?:{CODE_ON}|\*|\w+\s*(?:[(:\u2013\u2014]|-\s))")


def result_in(sentence: str, marked: str, at: int) -> str | None:
    """Return the type that a sentence at an offset of a text says is returned, without a condition, or None."""
    # What follows the name of an entry may as well tell what a callback returns.
    own = at == 0 or not _ENTRY.match(marked)
    return _stated_type(sentence) or (_stated_value(sentence, marked) if own else None)


def _stated_type(sentence: str) -> str | None:
    """Return the type in code that a sentence says is returned."""
    found = _RETURNS.match(sentence.replace(MARK_ON, "").replace(MARK_OFF, ""))
    if found is None or found.group("type") == "None":
        return None
    rest = plain(sentence.replace(MARK_ON, "").replace(MARK_OFF, "")[found.end() :])
    if re.search(r"\b(?:if|when|or|otherwise|unless|and)\b", rest):
        return None
    name = found.group("type")
    return name if is_known_type(name) or is_object(name, rest) else None


def _stated_value(sentence: str, marked: str) -> str | None:
    """Return "None" or "bool" where a sentence says that this value is returned, and the text no other."""
    text = plain(sentence)
    if len(re.findall(r"\breturns?\b", plain(marked), re.IGNORECASE)) > 1:
        return None
    if _NONE.match(text):
        return "None"
    found = _RETURNS_TRUTH.match(text)
    return "bool" if found and is_truth(text[found.end() :]) else None


def is_object(name: str, rest: str) -> bool:
    """Say whether a name in code and the words after it are "``Client`` object"."""
    return _CLASS.match(name) is not None and _OBJECT.match(rest) is not None


def is_truth(text: str) -> bool:
    """Say whether a text says that True or False is the result, and nothing else can be."""
    found = _TRUTH.match(text)
    if found is None:
        return False
    rest = _OTHER_TRUTH.sub("", found.group("rest"))
    return _FOLLOWED.match(rest) is not None and not _OTHER_RESULT.search(rest)
