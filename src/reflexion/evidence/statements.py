"""Sentences that state what a symbol is: its base classes, its value, its kind, that it takes no arguments."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from reflexion.evidence.defaults import defaults_of_sentence
from reflexion.evidence.entries import DASH
from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, plain, ticked
from reflexion.evidence.sentences import sentences, unquoted
from reflexion.evidence.signatures import NAME
from reflexion.evidence.typenames import is_known_type
from reflexion.patterns import regex

_CODE = rf"{MARK_ON}?{CODE_ON}[^{CODE_OFF}]+{CODE_OFF}{MARK_OFF}?"
_BASES = regex(
    r"\b(?:(?P<phrase>(?:also\s+|directly\s+)?(?:inherits?|derives?|derived|inheriting|deriving)(?:\s+directly)?(?:\s+from)?|extends|"
    r"(?:(?:a|an|the)\s+)?(?:direct\s+)?sub-?class\s+of|based\s+on|(?:a|an)\s+kind\s+of|base(?:\s+class(?:es)?)?(?:\s+(?:is|are))?|bases|"
    rf"super-?class(?:es)?|parent\s+class(?:es)?)(?:\s+the\s+(?:built-in\s+|abstract\s+)?(?:class\s+)?)?{MARK_OFF}?\s*:?\s*{MARK_OFF}?\s*(?:both\s+)?)"
    rf"(?P<names>{_CODE}(?:\s*(?:,|\band\b|,\s*and)\s*{_CODE})*)",
    re.IGNORECASE,
)
_OF_BASES = regex(r"^(?:a\s|an\s|the\s)?(?:direct\s+)?(?:base|bases|base\s+class)(?:es)?\s*$", re.IGNORECASE)
_BRIDGE = regex(
    r"^[\s,(:\u2013\u2014-]*(?:(?:which|that|it|is|are|both|directly|also|a|an|the|frozen|abstract|generic|exception|error|class|dataclass|"
    r"itself|and|one|of|type|custom|simple|small)\b[\s,]*)*$",
    re.IGNORECASE,
)
_FRONT = regex(
    r"^\W*(?:(?:it|this|the|an?|class|exception|error|dataclass|frozen|abstract|base|is|type|generic|custom|simple|itself|itself,)\b[\s,]*)*\(?\s*$",
    re.IGNORECASE,
)
_VALUED = regex(
    rf"(?P<class>\bclass\s+(?:attribute|variable|constant)\s+)?[{CODE_ON}{MARK_ON}]+(?P<name>{NAME})[{CODE_OFF}{MARK_OFF}]+\s*"
    rf"(?:,?\s*(?:which|that)\s+is|is(?:\s+set\s+to)?|equals|=|defaults\s+to|has\s+the\s+value|:|,?\s*that\s+is,?|[{DASH}])\s*"
    rf"{CODE_ON}(?P<value>[^{CODE_OFF}]+){CODE_OFF}(?!\s*(?:if|when|unless)\b)",
)
_VALUE_AFTER = regex(
    rf"[{CODE_ON}{MARK_ON}]+(?P<name>[A-Z][A-Z0-9_]*[A-Z0-9])[{CODE_OFF}{MARK_OFF}]+\s*(?:\(\s*{CODE_ON}(?P<value>[^{CODE_OFF}]+){CODE_OFF}\s*\)|(?:is|=)\s+"
    r"(?P<bare>-?\d[\d_]*(?:\.\d+)?)(?=[\s,;]|\.(?:\s|$)|$))"
)
_FIELD = regex(rf"(?:^|\n):(?P<name>[A-Z][A-Z0-9_]*[A-Z0-9]):\s+{CODE_ON}(?P<value>[^{CODE_OFF}]+){CODE_OFF}")
_ASSIGNED = regex(
    rf"{CODE_ON}(?P<name>[A-Z][A-Z0-9_]*[A-Z0-9])(?:\s*:\s*(?P<type>[\w.\[\], |]+?))?\s*="
    rf"\s*(?P<value>[^{CODE_OFF}=][^{CODE_OFF}]*){CODE_OFF}"
)
_KIND = regex(
    r"^\W*(?:(?:this|it|the\s+(?:function|method))\s+is\s+)?(?:an?\s+|this\s+|as\s+an?\s+)?"
    r"(?:read-only\s+|abstract\s+|cached\s+|computed\s+)*"
    r"(?P<kind>async(?:hronous)?\s+(?:function|method)|coroutine(?:\s+function)?|property|static\s*method|class\s*method)\b"
    rf"(?P<rest>(?:\s+(?:that|which|of|returning|for|with|to)\b|[.,:;]|$|\s*[{DASH}]))?",
    re.IGNORECASE,
)
_LATE_PROPERTY = regex(r",?\s+as\s+a\s+(?:read-only\s+)?(?P<kind>property)\b", re.IGNORECASE)
_PROPERTY_TYPE = regex(
    rf"\bproperty\b(?:[:,]?[^.{CODE_ON}]{{0,80}},?\s+as\s+an?|\s+of\s+type|,|:|\s+(?:returning|that\s+returns)(?:\s+an?)?)"
    rf"\s*(?:{CODE_ON}(?P<code>[^{CODE_OFF}]+){CODE_OFF}|(?P<bare>[A-Za-z][\w.\[\], |]*?))"
    r"(?=\s*(?:$|[.;\u2013\u2014]|\s-\s))",
    re.IGNORECASE,
)
_RETURN_TYPE = regex(
    rf"\b[Rr]eturn\s+(?:type|value)(?:\s+is(?:\s+an?)?)?{MARK_OFF}?\s*:?\s*{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}\s*(?:[.;,]|$)"
)
_RETURNED_AS = regex(
    rf"\breturns?\b{MARK_OFF}?[^.;{CODE_ON}]{{0,80}}(?:{_CODE}[^.;{CODE_ON}]{{0,60}})?(?:,\s+an?|\bas\s+an?)\s+"
    rf"{CODE_ON}(?P<type>[^{CODE_OFF}]+){CODE_OFF}\s*(?:[.;]|$|,?\s+rounded)",
    re.IGNORECASE,
)
_KEYS = regex(
    rf"(?:\b(?:with|has|having|contain\w*|includ\w*|under|and)\s+(?:the\s+)?(?:following\s+|string\s+|two\s+|three\s+|four\s+)?|^\W*(?:its|the)\s+)"
    rf"keys?\b(?:\s+are)?[:\s{MARK_OFF}]*"
    rf"(?P<keys>{CODE_ON}[^{CODE_OFF}]+{CODE_OFF}(?:[\s,&]|\band\b|{CODE_ON}[^{CODE_OFF}]+{CODE_OFF}|\([^)]*\))*)"
)
_NO_PARAMETERS = regex(
    r"^\W*(?:it|this\s+(?:function|method|constructor)|the\s+(?:function|method|constructor))\s+(?:takes|accepts|has|requires|needs)\s+no\s+"
    r"(?:parameters?|arguments?)(?:\s+and\b.*)?\W*$",
    re.IGNORECASE,
)
_CONDITIONAL = regex(r"\b(?:if|when|or|otherwise|unless)\b")
_STANDARD = r"(?:\w*Enum|\w*Flag|NamedTuple|Protocol|TypedDict|ABC|Generic|\w+Error|\w*Exception|\w*Warning)"
_NO_BASE = frozenset({"None", "True", "False", "self", "cls"})


class Stated(NamedTuple):
    """One statement at an offset: ``name`` where the words name their subject, ``values`` what they say of it."""

    at: int
    name: str | None
    values: tuple[str, ...]
    text: str
    type: str | None = None


_BASE_HINT = regex(r"inherit|deriv|extend|class|base|parent|kind of", re.IGNORECASE)
_KIND_HINT = regex(r"async|coroutine|property|static|class", re.IGNORECASE)


def bases_in(marked: str) -> Iterator[Stated]:
    """Yield the base classes that sentences give; ``name`` is None where the section's class is meant."""
    if CODE_ON not in marked or not _BASE_HINT.search(marked):
        return
    for at, sentence in sentences(marked):
        for found in _BASES.finditer(sentence):
            named = _before(sentence[: found.start()])
            if named is None:
                continue
            names = tuple(
                plain(one).strip() for one in re.findall(rf"{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}", found.group("names"))
            )
            if all(re.fullmatch(rf"{NAME}(?:\[.*\])?", name) and name not in _NO_BASE for name in names):
                yield Stated(at + found.start(), named or None, names, ticked(sentence))


def _before(before: str) -> str | None:
    """Return the class that the words right before a phrase name, "" for the section's own, None for neither."""
    spans = list(re.finditer(rf"[{CODE_ON}{MARK_ON}]+(?:class\s+)?([A-Za-z_][\w.]*)[{CODE_OFF}{MARK_OFF}]+", before))
    if spans and _BRIDGE.match(plain(before[spans[-1].end() :])):
        return spans[-1].group(1)
    return "" if _FRONT.match(plain(before)) else None


_ENUM = regex(
    rf"members?\s+of\s+{CODE_ON}(?P<of>{NAME}){CODE_OFF}|{CODE_ON}(?P<enum>{NAME}){CODE_OFF}\s+(?:enumeration|enum)\b"
    rf"|{CODE_ON}(?P<is>{NAME}){CODE_OFF}\s+is\s+an?\s+{CODE_ON}?\w*Enum\b"
)


_IS_A = regex(
    rf"^\W*(?:{CODE_ON}(?P<name>{NAME})(?:\([^{CODE_OFF}]*\))?{CODE_OFF}\s+is\s+)?(?:(?:generic|abstract)\s+class\s+\()?"
    rf"(?:an?\s+)?(?:frozen\s+|abstract\s+|generic\s+)?{CODE_ON}(?P<base>{_STANDARD})(?:\[[^{CODE_OFF}]*\])?{CODE_OFF}(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)


def base_at_front(marked: str) -> Stated | None:
    """Return the base in a class's first words: "An ``Enum``; lower values run first", or None."""
    found = _IS_A.match(next(sentences(marked), (0, ""))[1])
    if found is None or not re.match(r"\s*(?:[.,;:)]|$|\b(?:that|which|so|for|whose|with|of)\b)", found.group("rest")):
        return None
    return Stated(0, found.group("name"), (found.group("base"),), ticked(found.group()))


def enum_before(marked: str, at: int) -> str | None:
    """Return the enumeration whose members the words before an offset announce, or None."""
    found = list(_ENUM.finditer(marked, 0, at))
    return next(one for one in found[-1].groups() if one) if found else None


def constants_in(marked: str) -> Iterator[Stated]:
    """Yield the values that sentences give to constants (names in capitals) and class attributes."""
    for found in (
        *_VALUED.finditer(marked),
        *_VALUE_AFTER.finditer(marked),
        *_ASSIGNED.finditer(marked),
        *_FIELD.finditer(marked),
    ):
        groups = found.groupdict()
        name, value = groups["name"], " ".join((groups["value"] or groups.get("bare") or "").split())
        capital = name.rpartition(".")[2].isupper() and len(name) > 1
        if (capital or groups.get("class")) and _is_value(value):
            yield Stated(found.start(), name, (value,), ticked(found.group()), groups.get("type"))


def _is_value(text: str) -> bool:
    """Say whether a text can be the value of a constant: an expression, no bare type."""
    if len(text) > 1000 or "\\" in text:
        return "\\" in text and text[:1] in "\"'rb"
    node = parse_expression(text)
    return node is not None and not (isinstance(node, ast.Name) and is_known_type(text) and text != "None")


def kind_in(marked: str) -> tuple[int, str] | None:
    """Return offset and kind word of a text that says what its symbol is ("A property of type ..."), or None."""
    if not _KIND_HINT.search(marked):
        return None
    for at, sentence in sentences(marked):
        bare = sentence.replace(MARK_ON, "").replace(MARK_OFF, "")
        found = _KIND.match(bare)
        if found and found.group("rest") is not None:
            return at, _kind_word(found.group("kind"))
        late = _LATE_PROPERTY.search(bare)
        if late and len(bare) < 200:
            return at, "property"
    return None


def _kind_word(text: str) -> str:
    """Return a kind in one spelling."""
    word = " ".join(text.lower().replace("asynchronous", "async").split())
    spelled = {"coroutine": "async function", "coroutine function": "async function"}
    spelled |= {"staticmethod": "static method", "classmethod": "class method"}
    return spelled.get(word, word)


def types_in(marked: str) -> Iterator[Stated]:
    """Yield the types that sentences state: "A property of type ``bool``.", "Return type: ``str``", "as an ``int``"."""
    if "eturn" not in marked and "roperty" not in marked:
        return
    for at, sentence in sentences(marked):
        for pattern in (_PROPERTY_TYPE, _RETURN_TYPE, _RETURNED_AS):
            found = pattern.search(sentence)
            text = next((one for one in found.groups() if one), "") if found else ""
            sure = is_known_type(text) or (bool(text) and pattern is _RETURN_TYPE)
            if sure and not (pattern is _RETURNED_AS and _CONDITIONAL.search(plain(sentence))):
                yield Stated(at + (found.start() if found else 0), None, (text,), ticked(sentence))
                break


_DEFAULTED = regex(
    rf"\bdefaults?\s+(?:to|is|value\s+is)\s+(?:{CODE_ON}(?P<code>[^{CODE_OFF}]+){CODE_OFF}|(?P<bare>-?\d[\d_]*(?:\.\d+)?|None|True|False)(?=[.,;)]))"
    r"(?!\s*(?:if|when|unless|on|for|in)\b)"
)


_DEFAULT_HINT = regex(r"default|omitted|not |left out")


def defaults_in(marked: str, names: frozenset[str]) -> Iterator[Stated]:
    """Yield the defaults that sentences give to one of these parameters: their subject, or the one named last."""
    if not _DEFAULT_HINT.search(marked):
        return
    for at, sentence in sentences(marked):
        spans = [one for one in re.finditer(rf"{CODE_ON}\**(\w+){CODE_OFF}", sentence) if one.group(1) in names]
        subjects = dict.fromkeys(defaults_of_sentence(sentence, names))
        for start, name, value in subjects:
            yield Stated(at + start, name, (value,), ticked(sentence))
        for found in _DEFAULTED.finditer(sentence) if not subjects else ():
            before = [one for one in spans if one.end() <= found.start()]
            if before and len(sentence[before[-1].end() : found.start()]) < 80:
                value = " ".join((found.group("code") or found.group("bare")).split())
                yield Stated(at + found.start(), before[-1].group(1), (value,), ticked(sentence))


def keys_in(marked: str) -> tuple[str, ...] | None:
    """Return the keys that a sentence lists ("a dictionary with keys ``a`` and ``b``"), or None."""
    found = _KEYS.search(marked[:4000])
    if found is None:
        return None
    return tuple(unquoted(text) for text in re.findall(rf"{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}", found.group("keys")))


_OF_RESULT = regex(r"\b(?:returns?|result|returned\s+(?:dict|dictionary|mapping))\b", re.IGNORECASE)
_OPEN_LIST = regex(r"\b(?:among|at\s+least|such\s+as|for\s+example|e\.g|amongst)\b", re.IGNORECASE)


def returned_keys_in(marked: str) -> Iterator[Stated]:
    """Yield the keys of the dictionary that sentences say is returned."""
    if "key" not in marked:
        return
    for at, sentence in sentences(marked):
        told = _OF_RESULT.search(sentence) and not _OPEN_LIST.search(sentence)
        keys = keys_in(sentence) if told else None
        if keys:
            yield Stated(at, None, keys, ticked(sentence))


def says_no_parameters(marked: str) -> int | None:
    """Return the offset of a sentence that says that its symbol takes no arguments, or None."""
    if " no " not in marked:
        return None
    for at, sentence in sentences(marked):
        if _NO_PARAMETERS.match(plain(sentence)):
            return at
    return None
