"""Sentences that claim something: raises, denials, what is returned, and who wrote which version when."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from reflexion.evidence.claims import HistoryKind
from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, plain, ticked
from reflexion.evidence.results import result_in
from reflexion.patterns import regex

_LONGEST = 3_000
_MARKS = f"[{CODE_ON}{CODE_OFF}{MARK_ON}{MARK_OFF}]*"
_EXCEPTION_NAME = (
    r"(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Failure|ExceptionGroup)"
    r"|Exception|BaseException|StopIteration|KeyboardInterrupt|SystemExit|StopAsyncIteration|ExceptionGroup)"
)
EXCEPTION = regex(
    rf"{MARK_ON}?{CODE_ON}?(?<![\w.])(?P<type>{_EXCEPTION_NAME})(?![\w.]*\w)(?P<call>\([^{CODE_OFF}]*?\))?(?=\W|$)"
)
CODED_NAME = regex(rf"{CODE_ON}(?P<type>[A-Z]\w*|[a-z_]\w*\.[A-Z]\w*)(?P<call>\([^{CODE_OFF}]*\))?{CODE_OFF}")
_SENTENCE_END = regex(rf"[.!?](?:[{CODE_OFF}{MARK_OFF}\"')\u201d]*)(?=\s|$)|\u2028|\n(?=[ \t]*\n)")
_RAISES = regex(r"\b(?:raises?|throws?|raising|throwing|raised|thrown)\b", re.IGNORECASE)
_PASSIVE = regex(
    r"\b(?:is|are|will be|gets?|be|was)\s+(?:then\s+|also\s+|immediately\s+)?(?:raised|thrown)\b", re.IGNORECASE
)
_NEGATED = regex(
    r"(?:\b(?:not|never|cannot|nor|neither|avoids?|prevents?|catch(?:es)?|handles?|swallows?|suppress(?:es)?|ignores?|"
    r"should|would|could|expects?)\b|n['\u2019]t\b)[^,;:]*$"
    r"|\b(?:no|without|instead\s+of|rather\s+than|any|unlike)\b(?:\s+(?!it\b|this\b|the\b)[\w']+){0,2}\s*$",
    re.IGNORECASE,
)
_CONDITION = regex(
    r"^\W*(?:if|when|whenever|unless|once|where|while|in case|after|because|since|that|and if|or if)\b", re.IGNORECASE
)
# "When values is empty it (raises ...)": the condition ends without a comma, the statement has begun.
_MAIN_CLAUSE = regex(
    r"^\W*\w+\s+(?:\S+\s+){2,}(?:it|(?:the|this)\s+(?:function|method|constructor|call))\s*$", re.IGNORECASE
)
_OTHER_RAISER = regex(
    r"\b(?:callbacks?|handlers?|callers?|python|users?|tests?|iterators?|clients?|servers?|hooks?|predicates?|"
    r"that|which|who)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)

_QUOTE = (
    rf"(?:{CODE_ON}(?P<code>[^{CODE_OFF}]+){CODE_OFF}|[fF]?\"(?P<double>(?:\\.|[^\"\\])+)\"|\u201c(?P<curly>[^\u201d]+)\u201d"
    r"|(?<![\w])[fF]?'(?P<single>(?:\\.|[^'\\]|(?<=\w)'(?=\w))+)'(?!\w)|\u2018(?P<tick>.+?)\u2019(?!\w)|\u00ab\s*(?P<guil>[^\u00bb]+?)\s*\u00bb)"
)
_MESSAGE = regex(
    rf"\b(?:messages?|text|saying|says|stating|states|reads?|reading|msg|detail|description|string)\b{MARK_OFF}?\s*"
    rf"(?:of|that(?:\s+says|\s+reads)?|is|reads|being|text|string|as|template)?\s*{MARK_OFF}?\s*[:=,]?\s*{MARK_OFF}?\s*[({MARK_ON}]?\s*{_QUOTE}",
    re.IGNORECASE,
)
_MORE = regex(rf"(?:,|\band|\bor)\s+(?=[\"\u201c]){_QUOTE}")
PARENTHESISED = regex(rf"\(\s*(?:message:?\s*)?(?P<inside>{_QUOTE})\s*\)", re.IGNORECASE)
_WITH = regex(rf"^{_MARKS}\s*(?:with\s+)?[(:]?\s*{_QUOTE}")
_LEADING = regex(rf"^[\s\u2028]*{MARK_ON}?{_QUOTE}")


class Said(NamedTuple):
    """One raise or denial that some words state, at an offset of the marked text."""

    at: int
    type: str | None
    message: str | None
    text: str


def sentences(marked: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a marked text with their offsets; a full stop inside code or quotes ends none.

    What runs on for more than 3,000 characters is no sentence.
    """
    start = 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(_masked(marked))), len(marked)):
        sentence = marked[start:end]
        if len(sentence) <= _LONGEST and not sentence.isspace() and sentence:
            yield start, sentence
        start = end


def _masked(marked: str) -> str:
    """Return the text with code spans and quoted parts blanked out, offsets kept."""
    pattern = rf"{CODE_ON}[^{CODE_OFF}]*{CODE_OFF}|\"[^\"\n]*\"|\u201c[^\u201d]*\u201d|\b(?:e\.g|i\.e|etc|vs)\."
    return re.sub(pattern, lambda found: "x" * len(found.group()), marked)


def quoted(found: re.Match[str]) -> str:
    """Return what a quote pattern found, without quotes, in the document's own words."""
    groups = found.groupdict()
    text = next(groups[name] for name in ("code", "double", "curly", "single", "tick", "guil") if groups.get(name))
    return unquoted(text) if groups.get("code") else " ".join(plain(text).split())


def unquoted(text: str) -> str:
    """Return text without the quotes (and the f) of a string literal around it."""
    text = " ".join(plain(text).split())
    found = re.fullmatch(r"[fFrR]?(?P<quote>\"|')(?P<inner>.+)(?P=quote)", text)
    curly = re.fullmatch(r"\u201c(.+)\u201d", text)
    return found.group("inner") if found else curly.group(1) if curly else text


def message_in(marked: str) -> str | None:
    """Return the message that words quote after "message", "saying" and the like, or None."""
    for found in _MESSAGE.finditer(marked[:4000]):
        text = quoted(found)
        # 'If it says "x"' quotes a value, 'saying "no such key"' a message.
        if " " in text or found.group().lower().startswith(("message", "msg", "saying", "stating")):
            return text
    return None


def leading_message(marked: str) -> str | None:
    """Return the quoted message at the very front of an entry's words, or None; a bare name in code is no message."""
    found = _LEADING.match(marked[:4000])
    if found is None:
        return None
    text = quoted(found)
    code = found.groupdict().get("code")
    if code and (" " not in text or (code[:1] not in "\"'f\u201c" and parse_expression(text) is not None)):
        return None
    return text


def call_message(call: str | None) -> str | None:
    """Return the literal in ``ValueError("message")``, or None."""
    if not call:
        return None
    found = re.fullmatch(r"\(\s*[fFrR]?(\"|')(.+)\1\s*\)", " ".join(call.split()))
    return found.group(2) if found else None


def raises_in(marked: str) -> Iterator[Said]:
    """Yield the raises that the sentences of a text state."""
    if not _RAISES.search(marked):
        return
    for at, sentence in sentences(marked):
        if _RAISES.search(sentence):
            yield from _raises_of(sentence, at)


def _raises_of(sentence: str, at: int) -> Iterator[Said]:
    """Yield the raises of one sentence; the words after an exception, up to the next one, belong to it."""
    found = [one for one in EXCEPTION.finditer(sentence) if _is_raised(sentence, one)]
    coded = [one for one in CODED_NAME.finditer(sentence) if _directly_raised(sentence, one) or _joined(sentence, one)]
    known = {one.group("type") for one in found}
    matches = sorted([*found, *(one for one in coded if one.group("type") not in known)], key=lambda one: one.start())
    for index, one in enumerate(matches):
        end = matches[index + 1].start() if index + 1 < len(matches) else len(sentence)
        after = sentence[one.end() : end]
        message = call_message(one.group("call")) or message_in(after) or _bare_message(after)
        yield Said(at + one.start(), one.group("type"), message, ticked(sentence))
        if message is not None:
            for more in _more_messages(after, message):
                yield Said(at + one.start(), one.group("type"), more, ticked(sentence))


def _more_messages(after: str, first: str) -> list[str]:
    """Return the further messages that a sentence quotes for one exception: '"a" when ..., and "b" when ...'."""
    found = [quoted(one) for one in _MORE.finditer(after)]
    return [message for message in found if " " in message and message != first]


def _joined(sentence: str, name: re.Match[str]) -> bool:
    """Say whether a name in code stands in a row of raised exceptions: ", `ScratchFull` with the message ..."."""
    before, after = plain(sentence[: name.start()]), sentence[name.end() :]
    verb = re.search(r"\b(?:raises?|throws?)\b(?P<between>.*)(?:,|,?\s+and|\s+or)(?:\s+an?)?$", before)
    row = verb is not None and re.search(r"[A-Z]\w+", verb.group("between")) is not None
    listed = re.match(r"\s*(?:with\s+the|with\s+message|when\b|if\b|[,.]|$)", after) is not None
    return row and listed and verb is not None and _stated(before[: verb.start()], "")


def _bare_message(after: str) -> str | None:
    """Return a quote that directly follows an exception: ``ValueError: "text"`` or ``ValueError with "text"``."""
    stressed = re.match(
        rf"^{CODE_OFF}?{MARK_OFF}?\s*:\s*{MARK_ON}([^{MARK_OFF}{CODE_ON}]*\s[^{MARK_OFF}{CODE_ON}]*){MARK_OFF}", after
    )
    if stressed:
        return " ".join(stressed.group(1).split())
    found = _WITH.match(after[:2000])
    if found is None or (found.groupdict().get("code") and not re.search(r"\s", found.group("code") or "")):
        return None
    starts = re.match(rf"^{_MARKS}\s*(?:with|[(:])", after)
    return quoted(found) if starts else None


def _is_raised(sentence: str, name: re.Match[str]) -> bool:
    """Say whether a sentence states that this exception is raised."""
    before, after = sentence[: name.start()], sentence[name.end() :]
    verbs = list(_RAISES.finditer(before))
    if verbs and not _PASSIVE.search(before[verbs[-1].start() - 12 if verbs[-1].start() > 12 else 0 :]):
        return _stated(sentence[: verbs[-1].start()], before[verbs[-1].end() :])
    passive = _PASSIVE.search(after)
    if passive is None or re.search(r"[;:]", plain(after[: passive.start()])):
        return False
    between = plain(after[: passive.start()])
    head = _clause(before)
    listed = re.fullmatch(
        r"(?:[\s,]|\b(?:or|and|a|an|exception|error|with|the|message|will|can|may|also)\b|[A-Z]\w+)*", between
    )
    negative = re.search(r"\b(?:no|never|not)\b|n['\u2019]t\b", f"{plain(head)} {between}", re.IGNORECASE)
    return bool((listed or len(between) < 60) and not negative and not _CONDITION.match(plain(head)))


def _stated(before: str, between: str) -> bool:
    """Say whether the words before the verb make it a statement, and those after it lead to the exception."""
    clause = plain(_clause(before))
    if _NEGATED.search(clause) or _OTHER_RAISER.search(clause + " "):
        return False
    if _CONDITION.match(clause) and not _MAIN_CLAUSE.match(clause):
        return False
    words = plain(between)
    return len(words) < 400 and not re.search(
        r"\b(?:instead of|rather than|not|than|unlike|like|from|catch\w*|wrap\w*)\b", words
    )


def _clause(before: str) -> str:
    """Return the words after the last comma, semicolon, colon or dash."""
    return re.split(r"[,;:\u2013\u2014](?=\s)", before)[-1]


def _directly_raised(sentence: str, name: re.Match[str]) -> bool:
    """Say whether the verb stands right before a name that only its code marks as an exception."""
    before = sentence[: name.start()]
    verb = re.search(rf"\b(?:raises?|throws?|raising)\s+(?:an?\s+|the\s+)?{_MARKS}$", before, re.IGNORECASE)
    return (
        verb is not None and name.group("type") not in ("None", "True", "False") and _stated(before[: verb.start()], "")
    )


_THING = r"(?:\w+\s+){0,2}?(?:exceptions?|errors?)"
_DENIALS = (
    regex(
        rf"(?:do(?:es)?\s+not|do(?:es)?n['\u2019]t|never|will\s+not|won['\u2019]t|cannot|can\s*not|can['\u2019]t)\s+"
        rf"(?:explicitly\s+|directly\s+|itself\s+|intentionally\s+|ever\s+|generally\s+)?(?:raises?|throws?)\s+"
        rf"(?:any\s+|an?\s+|the\s+)?(?:{_THING}|anything|(?P<type>{CODE_ON}?{_EXCEPTION_NAME}{CODE_OFF}?))",
        re.IGNORECASE,
    ),
    regex(rf"\b(?:raises?|throws?)\s+(?:no\s+{_THING}|nothing)\b", re.IGNORECASE),
    regex(
        rf"\bno\s+{_THING}\s+(?:(?:is|are|will\s+be|can\s+be|gets?)\s+)?(?:explicitly\s+|directly\s+|ever\s+|intentionally\s+)?(?:raised|thrown)\b",
        re.IGNORECASE,
    ),
    regex(r"\b(?:no|without(?:\s+raising)?(?:\s+any)?)\s+(?:known\s+)?exceptions?(?=[.\s]*$)", re.IGNORECASE),
)
_DENIAL_HINT = regex(r"\b(?:rais|throw|exception)", re.IGNORECASE)
_HEDGES = regex(
    r"\b(?:if|when|whenever|unless|for|while|where|once|with|on|in case|as long as|until|except|other than|beyond|"
    r"besides|apart|provided|in most|normally|typically|usually|otherwise|but|however|during|by default|in normal|"
    r"assuming|given|outside|instead|although|though|because|since|so|itself|its own|due|even)\b",
    re.IGNORECASE,
)
_OUTRIGHT = regex(
    r"under any (?:circumstances?|conditions?)|in any case|for any (?:input|reason|argument)s?", re.IGNORECASE
)
_DENYING_SUBJECT = regex(
    r"^(?:the|this|these|it|they|all|both|function|functions|method|methods|class|constructor|property|coroutine|module|"
    r"and|also|note|that|notes|raises|exceptions?|errors?|itself|currently|explicitly|x|intentionally|[\s.,:*()`'\"\u2019-])*$",
    re.IGNORECASE,
)


def denials_in(marked: str) -> Iterator[Said]:
    """Yield the unconditional statements that nothing, or not this type, is raised."""
    if not _DENIAL_HINT.search(marked):
        return
    for at, sentence in sentences(marked):
        for pattern in _DENIALS:
            found = pattern.search(sentence)
            if found and _is_outright(sentence, found):
                named = found.groupdict().get("type")
                yield Said(at + found.start(), plain(named) if named else None, None, ticked(sentence))
                break


def _is_outright(sentence: str, found: re.Match[str]) -> bool:
    """Say whether a denial stands without a condition, and is about the documented symbol."""
    before = plain(re.sub(rf"{CODE_ON}[^{CODE_OFF}]*{CODE_OFF}", "x", sentence[: found.start()]))
    after = plain(_OUTRIGHT.sub("", sentence[found.end() :]))
    return (
        not _HEDGES.search(after) and bool(_DENYING_SUBJECT.match(before)) and not re.match(r"\s*(?:from|by)\b", after)
    )


def returned_in(marked: str) -> Iterator[Said]:
    """Yield the types that sentences such as "Returns a ``float``." state without a condition."""
    if "eturn" not in marked:
        return
    for at, sentence in sentences(marked):
        stated = result_in(sentence, marked, at)
        if stated:
            yield Said(at, stated, None, ticked(sentence))


_HISTORY: tuple[tuple[HistoryKind, re.Pattern[str]], ...] = (
    (
        "version",
        regex(
            r"\b(?:(?:added|new|introduced|deprecated|changed|available|removed)\s+(?:in|since)|since|as of)\s+"
            r"(?:version\s+|v)\d[\w.]*|\b(?:new|added|introduced|deprecated)\s+(?:in|since)\s+v?\d+\.\d[\w.]*"
            r"|^\s*(?:current\s+)?version\s+v?\d+\.\d[\w.]*\s*\.?$",
            re.IGNORECASE,
        ),
    ),
    (
        "author",
        regex(
            r"\b(?i:written|created|authored|developed|maintained)\s+by\s+(?=[A-Z\[])"
            r"(?!(?:The|An?|This|Default|Python)\b)"
        ),
    ),
    (
        "date",
        regex(
            r"\b(?:last\s+)?(?:updated|modified|revised|released|generated)\s*(?:on|:|at)\s+(?:[\[\w]+\s+)?\d{1,4}\b",
            re.IGNORECASE,
        ),
    ),
    (
        "license",
        regex(
            r"\b(?:licensed|released|distributed)\s+under\s+(?:the\s+)?[\w.\s-]{0,30}(?:licen[cs]e|MIT|GPL|BSD|Apache)"
            r"|\u00a9\s*\d{4}|\bcopyright\s+(?:\(c\)\s*|\u00a9\s*)?\d{4}",
            re.IGNORECASE,
        ),
    ),
)


_HISTORY_HINT = regex(r"\b(?:by|in|since|as of|on|at|version|under|copyright)\b|:|\u00a9", re.IGNORECASE)


def history_in(marked: str) -> Iterator[tuple[int, HistoryKind, str]]:
    """Yield the versions, authors, dates and licences that sentences state."""
    if not _HISTORY_HINT.search(marked):
        return
    for at, sentence in sentences(marked):
        text = plain(sentence)
        for kind, pattern in _HISTORY:
            if pattern.search(text):
                yield at, kind, text
