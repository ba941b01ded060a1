"""What a comment states: a value, an output, an exception, or nothing that could be wrong. Pure functions on texts."""

import ast
import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from reflexion.evidence.expressions import parse_expression
from reflexion.patterns import regex

Kind = Literal["value", "output", "either"]
Certainty = Literal["sure", "bare", "guess"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A value or output that a comment states.

    ``text`` is its wording, ``subject`` the expression that it is about (``x`` in ``x == 5``) or "" for the statement
    beside it. ``certainty``: "sure" with words such as "Output:" or an arrow, "bare" for a literal alone, "guess" for
    text that only counts where it nearly matches what is real. ``open`` is True where nothing but the lead is there, so
    that the lines below it are meant.
    """

    text: str
    kind: Kind = "either"
    certainty: Certainty = "sure"
    loose: bool = False
    subject: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class Announcement:
    """An exception that a comment or sentence announces; ``type`` "" for any.

    ``required`` is False where it may also not come ("can raise", "if negative"). ``exact`` is True where ``message``
    is quoted or stands as a traceback would show it.
    """

    type: str
    message: str | None = None
    required: bool = True
    exact: bool = False


_ARROW = r"-+>|=+>|→|⇒|➜|⟶|↦"
_PRINTED = r"outputs?|prints?|printed|displays?|shows|stdout|console output|logs?"
_GIVEN = (
    r"returns?|returned|results?|result is|value|gives|yields|evaluates to|equals?|expected(?: output| result| value)?"
)
_LEAD = regex(
    rf"^(?:(?:this|it|that|which|also|now|still|then|will|would|should|the|expected|example|sample)\s+)*"
    rf"(?:(?:(?P<printed>{_PRINTED})|(?P<given>{_GIVEN}))(?![\w'])(?:\s+(?:is|are)(?!\w))?"
    rf"|(?P<arrow>{_ARROW}|>>>|==))\s*"
    rf"(?P<colon>(?:\([^()]*\)\s*)?(?::|{_ARROW}|=(?!=))|(?=[^\w\s]))?\s*",
    re.IGNORECASE,
)
_SUBJECT = regex(
    rf"^(?P<subject>[A-Za-z_](?:[\w.]|\[(?:\d+|'[^'\[\]]*'|\"[^\"\[\]]*\")\])*|len\([A-Za-z_][\w.]*\))\s*"
    rf"(?:==|is now|is|=|{_ARROW}|:)\s*(?P<rest>\S.*)$",
    re.DOTALL,
)
_LOOSE_FRONT = regex(r"^(?:approx(?:imately|\.)?|about|around|roughly|nearly|ca\.|circa|~|≈|≅)\s*", re.IGNORECASE)
_LOOSE_END = regex(r"(?<!\s)\s*\(?(?:approx(?:imately|\.)?|roughly|or so)\)?\.?$", re.IGNORECASE)
# No run of blanks is looked at from its middle: that would cost the square of its length.
_CUT = regex(r"(?<!\s)\s+(?:[(\-\u2013\u2014#<;|]|(?:because|since)\b)|[;,.]\s|\.$")
MAX_CUTS = 16
_CONDITION = regex(
    r"^\W*(?:if|when|unless|or|otherwise|depending|for|in|per|of|by|to|on|at|and|but only)\b", re.IGNORECASE
)
_CALLOUT = regex(r"^\(\d+\)!?$|^\[\d+\]$")
_DESCRIBES = regex(
    r"^\W*(?:an?|the|some|all|any|each|every|only|same|this|that|these|those|list|dict|dictionary|tuple|set|string|"
    r"number|sum|your|our|my|new|current|no|not|nothing|none of|whatever|something|formatted|depends|varies|see|one|"
    r"similar|e\.g|for|like|random|first|last|empty|both|it|what|how|when|if|whether|error|exception|type|instance|object|value|"
    r"contents?|output|result)\b(?![:=])|depend(?:s|ing) on|\bvar(?:y|ies)\b|something like|similar to",
    re.IGNORECASE,
)
_BUILTIN_CALLS = frozenset(
    {"set", "frozenset", "dict", "list", "tuple", "range", "array", "deque", "defaultdict", "date", "datetime",
     "time", "timedelta", "bytearray", "mappingproxy", "dict_keys", "dict_values", "dict_items", "complex",
     "float", "int", "str"}
)  # fmt: skip


def read_comment(comment: str, *, printing: bool = False) -> Reading | None:
    """Return what a comment (without its hash) states, or None for one that only describes.

    ``printing``: the statement beside it is a call of ``print``, whose output needs no quotes.
    """
    text = comment.strip()
    if _CALLOUT.match(text) or len(text) > 10_000:
        return None
    lead = _LEAD.match(text)
    if lead is None:
        return _without_lead(text, printing)
    rest = text[lead.end() :].strip()
    kind: Kind = "output" if lead["printed"] else "value" if lead["given"] else "either"
    if not rest:
        return Reading("", kind, open=True) if lead["printed"] or lead["colon"] or lead["arrow"] else None
    stated, loose = _stated(rest)
    if stated is not None:
        return Reading(stated, kind, _certainty(stated), loose)
    colon = bool(lead["colon"]) and lead["colon"] != ""
    return _as_text(rest, kind, colon, printing)


def _certainty(stated: str) -> Certainty:
    tree = parse_expression(stated)
    # "1, 2" without brackets may be the words of a list.
    return "guess" if isinstance(tree, ast.Tuple) and not stated.startswith("(") else "sure"


def _as_text(rest: str, kind: Kind, colon: bool, printing: bool) -> Reading | None:
    """Text after a lead is stated where it is an output's own words rather than words about it."""
    if _DESCRIBES.search(rest) or _exception_in(rest):
        return None
    if kind == "output" and colon:
        return Reading(rest, kind)
    if printing and kind != "value" and re.search(r"[\d,!?:=()\[\]{}'\"]", rest):
        return Reading(rest, "output")
    return Reading(rest, kind, "guess")


def _without_lead(text: str, printing: bool) -> Reading | None:
    stated, loose = _stated(text)
    if stated is not None:
        certainty: Certainty = "bare" if _certainty(stated) == "sure" else "guess"
        return Reading(stated, "either", certainty, loose)
    about = _SUBJECT.match(text)
    if about is not None:
        stated, loose = _stated(about["rest"])
        if stated is not None and _certainty(stated) == "sure":
            return Reading(stated, "value", "sure", loose, about["subject"])
    return Reading(text, "output", "guess") if printing and not _DESCRIBES.search(text) else None


def _stated(text: str) -> tuple[str | None, bool]:
    """Return the literal at the front of a text and whether it is only about right; None where words follow it."""
    front = _LOOSE_FRONT.match(text)
    end = _LOOSE_END.search(text) if not front else None
    loose = front is not None or end is not None
    bare = text[front.end() :] if front else text[: end.start()] if end else text
    bare = bare.strip().rstrip("\u200b")
    if is_value(bare):
        return bare, loose
    for cut in reversed(list(islice(_CUT.finditer(bare), MAX_CUTS))):
        head, tail = bare[: cut.start()].rstrip(), bare[cut.start() :]
        if is_value(head):
            return (None, False) if _CONDITION.match(tail.lstrip(" ,;(.")) else (head, loose)
    ticked = re.fullmatch(r"`([^`]+)`\.?", bare)
    return (ticked[1], loose) if ticked and is_value(ticked[1]) else (None, False)


def is_value(text: str) -> bool:
    """Say whether a text is a value as Python shows it: a literal, or ``Account(rate=0.05)``, or ``Color.RED``."""
    if not text or len(text) > 10_000 or _CALLOUT.match(text):
        return False
    tree = parse_expression(text)
    try:
        return tree is not None and _is_value(tree)
    except RecursionError:
        return False


def _is_value(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is not Ellipsis
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.UAdd) and _is_value(node.operand)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        known = [one for one in node.elts if not _is_ellipsis(one)]
        return (bool(known) or not node.elts) and all(map(_is_element, known))
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return all(key is not None and _is_value(key) and _is_element(value) for key, value in pairs)
    if isinstance(node, ast.Call):
        return _is_shown_object(node)
    return isinstance(node, ast.Attribute) and _is_member(node)


def _is_element(node: ast.expr) -> bool:
    return _is_value(node) or (isinstance(node, ast.Name) and node.id in ("inf", "nan"))


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_shown_object(node: ast.Call) -> bool:
    name = ast.unparse(node.func).rpartition(".")[2]
    if not (name[:1].isupper() or name in _BUILTIN_CALLS) or isinstance(node.func, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return all(_is_element(one) for one in given)


def _is_member(node: ast.Attribute) -> bool:
    """``Color.RED``: a constant's name behind a class's."""
    owner = ast.unparse(node.value).rpartition(".")[2]
    return owner[:1].isupper() and not owner.isupper() and node.attr.isupper()


_EXCEPTION_NAME = r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*"
_SUFFIX = regex(r"(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Timeout|Failure|Fault)$")
# Words that stand before a message rather than for a type.
_ONLY_WORDS = frozenset({"Error", "Warning", "Failure", "Timeout", "Exit", "Fault", "Interrupt", "Iteration"})
_NAME = regex(rf"(?<![\w.]){_EXCEPTION_NAME}")
_RAISE_WORDS = regex(
    r"\b(?:raises?|raised|raising|throws?|thrown|fails? with|errors? with|results? in|→|->)", re.IGNORECASE
)
_TYPED = regex(
    rf"(?P<type>{_EXCEPTION_NAME})(?P<quoted>\(\s*(?P<mark>[\"'])(?P<inside>(?:(?!(?P=mark)).)*)(?P=mark)\s*\))?"
    rf"(?P<colon>:\s*(?P<message>.+))?",
    re.DOTALL,
)
_DENIED = regex(
    r"\b(?:no|not|never|without|doesn't|does not|won't|instead of|rather than|avoids?|prevents?)\b", re.IGNORECASE
)
_NO_ERROR = regex(
    r"\b(?:no|without|never)\s+(?:an?\s+)?(?:errors?|exceptions?|raises?)\b|(?:\bnot|n't)\s+(?:raise|throw|fail)",
    re.IGNORECASE,
)
_MAYBE = regex(r"\b(?:if|when|unless|may|might|can|could|would|otherwise|or)\b", re.IGNORECASE)
_VAGUE = regex(
    r"\b(?:raises?|throws?|fails?|error|exception|invalid|not allowed|rejected|forbidden|crash(?:es)?)\b", re.IGNORECASE
)


def read_announcement(comment: str, known: frozenset[str] = frozenset()) -> Announcement | None:
    """Return the exception that a comment or sentence announces, or None; ``known`` are the source's own ones."""
    text = comment.strip()
    found = _exception_in(text, known)
    if found is None:
        return Announcement("", None, False) if _VAGUE.search(text) and not _NO_ERROR.search(text) else None
    before = text[: found.start()]
    if _DENIED.search(before):
        return Announcement(found["type"], None, False)
    plain = re.sub(rf"^(?:{_ARROW}|!+|✗|❌|error:|output:)\s*", "", before, flags=re.IGNORECASE).strip()
    stands_first = not plain
    if not stands_first and not _RAISE_WORDS.search(before):
        return Announcement(found["type"], None, False)
    after = text[found.end("type") :]
    quoted = found["inside"]
    marked = re.match(r"\s*[\"'“`]", found["message"] or "") is not None
    message = quoted if quoted is not None else _message_after(found["message"], stands_first)
    maybe = _MAYBE.search(before) or (quoted is None and not found["colon"] and _MAYBE.search(after))
    exact = quoted is not None or (message is not None and (stands_first or marked))
    return Announcement(found["type"], message, not maybe, exact)


def _message_after(text: str | None, stands_first: bool) -> str | None:
    """Return the message behind a colon; None for a condition ("raises ValueError: if negative")."""
    if not text:
        return None
    quoted = re.match(r"\s*([\"'“`])(?P<inside>.+)[\"'”`]\.?\s*$", text, re.DOTALL)
    if quoted:
        return quoted["inside"]
    return None if not stands_first and (_MAYBE.match(text.strip()) or len(text) > 200) else text.strip()


def _exception_in(text: str, known: frozenset[str] = frozenset()) -> re.Match[str] | None:
    for place in _NAME.finditer(text):
        name = place.group().rpartition(".")[2]
        if name in known or (_SUFFIX.search(name) and name not in _ONLY_WORDS):
            return _TYPED.match(text, place.start())
    return None
