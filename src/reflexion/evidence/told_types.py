"""Types that sentences give: "``amount`` is an ``int``", "takes ``name``, a ``str``", "and returns a ``dict``".

Only what cannot be meant otherwise is read: one builtin type, for one name in code, without a condition. A sentence
that names further types in passing says nothing here.
"""

import re
from collections.abc import Iterator

from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, plain, ticked
from reflexion.evidence.sentences import sentences
from reflexion.evidence.signatures import NAME
from reflexion.evidence.statements import Stated
from reflexion.evidence.typenames import normalise_type
from reflexion.patterns import regex

_BUILTIN = frozenset(
    {"str", "int", "float", "bool", "bytes", "bytearray", "complex", "list", "dict", "tuple", "set", "frozenset"}
)
# "A list of hosts" and "a set of hosts" may be any collection, so outside of code these words are no types.
_WORDS = r"(?:int|integer|float|str|string|bool|boolean|dict|dictionary|bytes|tuple)"
_MARKS = f"[{MARK_ON}{MARK_OFF}]?"
_TYPE = (
    rf"{_MARKS}(?:{CODE_ON}(?P<code>[^{CODE_OFF}]+){CODE_OFF}(?:\s+of\s+{CODE_ON}(?P<inner>[^{CODE_OFF}]+){CODE_OFF})?"
    rf"|(?P<bare>{_WORDS})\b){_MARKS}"
)
_NAME = (
    rf"{_MARKS}{CODE_ON}\**(?P<name>[A-Za-z_]\w*){CODE_OFF}{_MARKS}(?:\s+(?:parameter|argument|option|keyword)(?!\w))?"
)
_KIND = r"(?:(?:positive|non-negative|negative|non-empty|single|short|plain|required|optional)\s+)?"
_ARTICLED = rf"an?\s+{_KIND}"
_END = (
    r"(?=\s*(?:[.,;:)\u2013\u2014]|$)|\s+(?:object|value|instance)?\s*"
    r"(?:that|which|of|with|and|giving|naming|holding|containing|between|from|describing|representing|specifying)\b)"
)
_START = r"^\s*(?:[Tt]he\s+)?(?:(?:parameter|argument|option)\s+)?"
_IS = (
    rf"{_NAME}\s+(?:(?:is|must\s+be|should\s+be|has\s+to\s+be|is\s+expected\s+to\s+be)\s+"
    rf"(?:always\s+)?(?:of\s+(?:the\s+)?type\s+|{_ARTICLED})|has\s+(?:the\s+)?type\s+){_TYPE}{_END}"
)
_FIRST = regex(_START + _IS)
_TYPE_OF = regex(rf"^\s*The\s+type\s+of\s+(?:the\s+)?{_NAME}\s+is\s+(?:{_ARTICLED})?{_TYPE}{_END}")
_NEXT = regex(rf"[^.;{CODE_ON}]{{0,60}}?(?:[;,]\s*(?:(?:and|while|but)\s+)?|\b(?:and|while|but)\s+)(?:the\s+)?{_IS}")
_BRACKETED = regex(rf"{_NAME}\s+\((?P<inside>[^()\n]{{1,60}})\)")
_OWN = (
    r"(?:(?:it|this|the\s+(?:function|method|constructor|coroutine)|this\s+(?:function|method)"
    rf"|{CODE_ON}{NAME}(?:\(\))?{CODE_OFF})\s+)?"
)
_TAKES = regex(rf"^\s*{_OWN}(?:takes|accepts|expects|requires|needs)\s+", re.IGNORECASE)
_TAKEN = (
    regex(rf"{_NAME},\s+{_ARTICLED}{_TYPE}{_END}"),
    regex(rf"{_NAME}\s+as\s+{_ARTICLED}{_TYPE}{_END}"),
    regex(rf"{_NAME}\s+of\s+type\s+{_TYPE}{_END}"),
    regex(rf"\b{_ARTICLED}{_TYPE}\s+(?:called\s+|named\s+)?{_NAME}"),
)
_OTHER_VERB = regex(
    r"\b(?:returns?|gives|yields|raises|calls|produces|makes|turns|converts|writes|sets|stores|passes|that|which)\b"
)
_ANY_TYPED = regex(rf"\ban?\s+(?:[\w-]+\s+)?{_TYPE}")
_OPEN = regex(
    r"\b(?:if|when|whenever|unless|otherwise|else|instead|until|once|either|sometimes|usually|normally|typically|"
    rf"previously|formerly|internally|converted|coerced|or\s+(?:an?|any\w*|another|something|None|{_WORDS}|[{CODE_ON}]))\b"
)
_QUALIFIED = regex(r"\s*(?:optional|required|keyword-only|positional-only|default\b.*)\s*", re.IGNORECASE)
_RESULT = (
    regex(rf"^\s*{_OWN}returns?\s+{_ARTICLED}{_TYPE}{_END}", re.IGNORECASE),
    regex(rf"\sand\s+returns\s+(?:{_ARTICLED}|its\s+|the\s+){_TYPE}{_END}"),
    regex(rf"^\s*(?:The|Its)\s+(?:result|return(?:ed)?\s+value)\s+is\s+(?:{_ARTICLED}|of\s+type\s+){_TYPE}{_END}"),
)
# "Returns a dictionary of options and a list of errors": a tuple.
_FURTHER = regex(r"(?:\band|,)\s+(?:an?|the)\s")
_HINT = regex(rf"{CODE_ON}|eturn|esult")
_OTHER_DOER = regex(r"\b(?:which|that|who|whose|callbacks?|callables?|handlers?|hooks?|each|every|calls?)\b|[;:]")


def told_types(marked: str) -> Iterator[Stated]:
    """Yield the types that sentences give to a parameter (``name``), or to what is returned (``name`` None)."""
    if not _HINT.search(marked):
        return
    for at, sentence in sentences(marked):
        found = [*_parameters(sentence), *_bracketed(sentence)]
        names = [name for _, name, _ in found]
        for start, name, typed in found:
            if names.count(name) == 1:
                yield Stated(at + start, name, (typed,), ticked(sentence))
        result = _result(sentence, marked)
        if result:
            yield Stated(at, None, (result,), ticked(sentence))


def _parameters(sentence: str) -> list[tuple[int, str, str]]:
    """Offset, name and type where a sentence is about its parameters' types, and about no other type."""
    found = _stated(sentence) or _taken(sentence)
    mentioned = len(_ANY_TYPED.findall(sentence))
    if not found or mentioned > len(found) or _OPEN.search(sentence):
        return []
    told = [(one.start("name"), one.group("name"), _type_of(one)) for one in found]
    return [(start, name, typed) for start, name, typed in told if typed]


def _stated(sentence: str) -> list[re.Match[str]]:
    """What a sentence that begins with "``name`` is an ..." says, and goes on to say of further names."""
    found: list[re.Match[str]] = []
    one = _FIRST.match(sentence) or _TYPE_OF.match(sentence)
    while one:
        found.append(one)
        one = _NEXT.match(sentence, one.end())
    return found


def _taken(sentence: str) -> list[re.Match[str]]:
    """What a sentence that begins with "It takes ..." says of what is taken."""
    verb = _TAKES.match(sentence)
    if verb is None:
        return []
    other = _OTHER_VERB.search(sentence, verb.end())
    end = other.start() if other else len(sentence)
    found = [one for pattern in _TAKEN for one in pattern.finditer(sentence, verb.end()) if one.end() <= end]
    return sorted(found, key=lambda one: one.start())


def _bracketed(sentence: str) -> Iterator[tuple[int, str, str]]:
    """Yield what "``timeout`` (float, optional)" says, wherever it stands in a sentence."""
    for found in _BRACKETED.finditer(sentence):
        first, *others = found.group("inside").split(",")
        typed = _builtin(re.sub(r"^\s*an?\s+", "", plain(first)))
        if typed and all(_QUALIFIED.fullmatch(plain(one)) for one in others):
            yield found.start("name"), found.group("name"), typed


def _result(sentence: str, marked: str) -> str | None:
    """The type that a sentence says is returned, in a text that tells of one result only."""
    if len(re.findall(r"\breturns?\b", marked, re.IGNORECASE)) > 1 or _OPEN.search(sentence):
        return None
    found = next((one for pattern in _RESULT if (one := pattern.search(sentence))), None)
    if found is None or len(_ANY_TYPED.findall(sentence)) > 1:
        return None
    several = _FURTHER.search(sentence, found.end())
    return None if several or _OTHER_DOER.search(sentence, 0, found.start()) else _type_of(found)


def _type_of(found: re.Match[str]) -> str | None:
    outer, inner = found.group("code") or found.group("bare"), found.group("inner")
    return _builtin(f"{outer} of {inner}" if inner else outer)


def _builtin(text: str) -> str | None:
    """The text where it is one builtin type, possibly with arguments or None beside it."""
    spelled = normalise_type(text)
    names = set(re.findall(r"[A-Za-z_][\w.]*", spelled or ""))
    members = [one for one in re.sub(r"\[.*\]", "", spelled or "").split(" | ") if one != "None"]
    return text.strip() if names and names <= _BUILTIN | {"None", "Any"} and members and len(members) == 1 else None
