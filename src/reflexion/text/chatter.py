"""What models put around a document: greetings, sign-offs and verdicts, recognised sentence by sentence.

The patterns match whole sentences, and only ones that speak about the reply, its writer or its reader. A sentence that
could be about the code stays: losing content is worse than keeping a pleasantry, which a rule reports anyway.

Each pattern stands behind the words that its sentences begin with. Most sentences of a page begin with none of them,
and a pattern that no sentence asks for is never compiled.
"""

import re
from typing import NamedTuple

from reflexion.patterns import regex

_DOCUMENT = (
    r"(?:documentation|document|docs?|docstrings?|markdown|page|readme|draft|version|write-?up|rewrite|revision|"
    r"api reference|reply|response|answer)"
)
_WRITING = r"(?:\S*documentation|document|docs|markdown|readme|write-?up|docstrings?|api reference|reference page)"
_FRESH = r"(?:updated|revised|corrected|improved|final|completed?|new|fixed|rewritten|full|requested|cleaned[ -]up)"
_GREETING = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|all right|great|got it|understood|no problem|"
    r"definitely|gladly|with pleasure|happy to help|(?:good|great) question|you're welcome|hello|hi there|hi)"
)
_SPEAKER = (
    r"(?:i|i'(?:ll|ve|d|m)|let me|let's|we'll|here|below|this is|now|so|"
    r"the (?:user|following|documentation|document|page))"
)
_WROTE = (
    r"(?:written|write|created?|generated?|produced?|prepared?|updated?|revised?|corrected|fix(?:ed)?|help|"
    r"document(?:ed)?|reviewed?|rewritten|rewrite|provided?|addressed|made|drafted|analy[sz]ed?|be happy)"
)
_LET_ME = r"(?:write|create|generate|document|revise|start|think|analy[sz]e|fix|update|provide|review)"
_BASIS = r"(?:as requested|as you asked|based on|given|from|using|after|following)"
_MARK_CHARACTERS = ' *_>"✅🎉😊👍-'
_MARKS = rf"[\s{_MARK_CHARACTERS}]*"
_A = r"(?:the|an?|your|my)"


class Form(NamedTuple):
    """One kind of sentence: words in lower case, one of which begins it after any marks, and its pattern."""

    openers: tuple[str, ...]
    pattern: re.Pattern[str]


def _forms(*rows: tuple[str, str]) -> tuple[Form, ...]:
    return tuple(Form(tuple(openers.split("|")), regex(_MARKS + pattern, re.IGNORECASE)) for openers, pattern in rows)


_GREETS = (
    "sure|certainly|of course|absolutely|ok|alright|all right|great|got it|understood|no problem|definitely|gladly|"
    "with pleasure|happy|good|you're|hello|hi"
)
_THE_PAGE = (
    "updated|revised|corrected|improved|final|complete|new|fixed|rewrit|full|requested|cleaned|markdown|doc|page|"
    "readme|draft|version|write|revision|api reference|reply|response|answer"
)
_SCORED = "technical|overall|final|quality|total|net|critic|average|accuracy|completeness|score|rating|grade"

_PREAMBLE = _forms(
    (_GREETS, rf"{_GREETING}\s*[!.]+{_MARKS}$"),
    (_GREETS, rf"{_GREETING}\s*[,:!—-]+\s*{_SPEAKER}\b"),
    (
        "as |based|given|from|using|after|following|here|below",
        rf"(?:{_BASIS}\b[^.]*,\s*)?(?:here|below)\s*(?:'s|is|are)\s+(?:{_A}\s+)?(?:\S+\s+){{0,5}}?{_WRITING}\b",
    ),
    ("here|below", rf"(?:here|below)\s*(?:'s|is|are)\s+{_A}\s+{_FRESH}\b"),
    (
        "the following|this",
        (
            rf"(?:the following\s+(?:is|are)\s+{_A}\s+(?:{_FRESH}\s+)?|this\s+is\s+{_A}\s+{_FRESH}\s+)(?:markdown\s+)?"
            rf"{_DOCUMENT}(?:\s+(?:for|of|as|in|that)\b.*)?[.:]?{_MARKS}$"
        ),
    ),
    ("this", rf"this\s+is\s+{_A}\s+(?:markdown\s+)?{_DOCUMENT}(?:\s+(?:for|of|as|in|that)\b.*)?:{_MARKS}$"),
    ("i'|i ", rf"(?:i've|i have|i'll|i will|i am going to|i'm going to|i can|i'd be)\s+(?:now\s+|also\s+)?{_WROTE}\b"),
    ("let me", rf"let me\s+{_LET_ME}\b"),
    ("as an ai", r"as an ai\b"),
    (
        "we |i |the user",
        (
            r"(?:we need to|we are asked to|i need to|"
            r"the user (?:wants|asks|asked|needs|is asking)(?: me| us)?(?: to| for)?)\s+"
            rf"(?:{_A}\s+)?(?:{_WROTE}|{_DOCUMENT})\b"
        ),
    ),
    (_THE_PAGE, rf"(?:{_FRESH}\s+)?(?:markdown|{_DOCUMENT})(?:\s+{_DOCUMENT})?[*_]*:[*_]*$"),
)

_OFFER = (
    r"(?:let me know\b|feel free to (?:ask|let me know|reach out\W*$)|(?:just|simply|please) (?:ask|say so)\b|"
    r"do(?:n't| not) hesitate to (?:ask|let me|reach out\W*$)|"
    r"i(?:'m|'d be|'ll be| am| would be| will be) (?:happy|glad|here)|"
    r"i(?: can|'d| would|'ll| will) (?:also|help|gladly|adjust|update|revise|expand|add|provide|be happy)\b)"
)
_FREE_TO = r"(?:ask|let me know|reach out(?! to (?!me\b))|request)"
_ABOUT = r"(?:me|to me|if|for|any|with|about|further|more|questions?)"
_HELPFUL = r"(?:help|helps|helpful|useful|clear|meets?|answers?|satisf\w+|works)"
_DID = (
    r"(?:updated|revised|corrected|fixed|made|added|included|followed|addressed|removed|kept|ensured|used|tried|"
    r"rewritten|clarified)"
)
_SHOULD = (
    r"(?:should (?:now )?(?:help|give|meet|address|provide)|now (?:addresses|reflects|includes|covers|meets)|"
    r"has been (?:updated|revised|corrected|reviewed))"
)
_SIGN_OFF = _forms(
    ("please|let me", r"(?:please\s+)?let me know\b"),
    ("i hope|ihope|hope", rf"i?\s?hope (?:this|that|it|these)\b.*\b{_HELPFUL}\b"),
    ("please|feel free", rf"(?:please\s+)?feel free to {_FREE_TO}(?:\s+{_ABOUT}\b|\s*[.!])"),
    (
        "if ",
        (
            rf"if (?:you (?:have|need|want|would like|spot|notice|find)|you'd like|there(?:'s| is| are)|anything)\b"
            rf".*[, ]{_OFFER}"
        ),
    ),
    ("would you|do you", r"(?:would|do) you (?:like|want) me to\b"),
    ("shall i", r"shall i\b"),
    ("is there|do you", r"(?:is there|do you have) anything else\b"),
    (
        "i'm|i am|always|happy|glad|here",
        r"(?:i'm|i am|always)?\s?(?:happy|glad|here) to (?:help|assist|make|answer|clarify)\b",
    ),
    ("happy", r"happy (?:coding|documenting)\b\W*$"),
    ("best|kind|warm", r"(?:best|kind|warm) (?:regards|wishes)\b"),
    (
        "please|note",
        (
            r"(?:please )?note(?: that)?\W*(?:that\s+)?"
            r"(?:i'(?:ve|m|d|ll)|i (?:have|am|did|made|kept|assumed|added|removed))\b"
        ),
    ),
    ("i've|i ", rf"(?:i've|i have|i)\s+(?:also\s+)?{_DID}\b"),
    ("this ", rf"this (?:{_FRESH} )?{_DOCUMENT} {_SHOULD}\b"),
    ("", r"\W*(?:the )?end of (?:the )?(?:documentation|document|file|page|response|reply|markdown)\W*$"),
)

_FAULTS = (
    r"(?:errors?|issues?|contradictions?|inconsistenc(?:y|ies)|mistakes?|problems?|inaccurac(?:y|ies)|"
    r"discrepanc(?:y|ies))"
)
_FAULT_KIND = (
    r"(?:formatting|factual|technical|grammatical|spelling|markdown|syntax|further|other|remaining|critical|major|more)"
)
_THERE = r"(?:(?:there (?:are|were)|i (?:found|see|saw)|found) )?"
_FOUND = r"(?:found|detected|identified|noted|present|observed)"
_IN_IT = rf"in (?:the|this) (?:{_FRESH} )?{_DOCUMENT}"
_SCORE_NAME = (
    r"(?:(?:technical|overall|final|quality|total|net|critic|average)[ _-]*)*"
    r"(?:accuracy|completeness|score|rating|grade|quality)(?:[ _-]*score)?"
)
_SCORE = rf"{_SCORE_NAME}[*_ ]*[:=][*_ ]*-?\d+(?:\.\d+)?\s?(?:/ ?\d+|%|out of \d+)?"
_JUDGED = r"(?:approved?|rejected?|accept(?:ed)?|pass(?:ed)?|fail(?:ed)?|lgtm)"
_GOOD = (
    r"(?:accurate|complete|correct|approved|consistent|clear|flawless|error-free|comprehensive|"
    r"well[ -](?:written|structured|formatted))"
)
_SEEMS = r"(?:is|appears(?: to be)?|looks|has been)(?: (?:now|technically|factually|fully|completely|both))*"
_VERDICT = _forms(
    (
        "there|i |found|no ",
        (
            rf"{_THERE}no (?:{_FAULT_KIND} (?:(?:or|and) )?)+{_FAULTS}"
            rf"(?:,? (?:or|and|nor) (?:{_FAULT_KIND} )?{_FAULTS})*"
            rf"(?: (?:were|was|are|is|have been|has been))?(?: {_FOUND})?(?: {_IN_IT})?\W*$"
        ),
    ),
    (
        "there|i |found|no ",
        (
            rf"{_THERE}no {_FAULTS}(?:,? (?:or|and|nor) {_FAULTS})* "
            rf"(?:(?:were|was|are|have been) )?(?:{_FOUND} )?{_IN_IT}\W*$"
        ),
    ),
    (_SCORED, rf"{_SCORE}(?:[ .,;|*_-]+{_SCORE})*\W*$"),
    ("final|verdict|decision|status", rf"(?:final )?(?:verdict|decision|status)[*_ ]*:[*_ ]*{_JUDGED}\W*$"),
    ("single|critical", r"(?:single[ _-])?critical[ _-]fix[*_ ]*:"),
    ("i |approve|lgtm|looks", r"(?:i )?(?:approve|lgtm|looks good to me)\W*$"),
    (
        "the ",
        (
            rf"the (?:{_FRESH} )?(?:documentation|document|draft|page|markdown)(?: above)? {_SEEMS}\s{_GOOD}"
            rf"(?:,? (?:and )?(?:technically )?{_GOOD})*\W*$"
        ),
    ),
)
_SHOUTED_VERDICT = regex(
    r"[\s*_`#✅❌]*(?:APPROVED|REJECTED|ACCEPTED|PASS|PASSED|LGTM|Approved|Rejected)[\s*_`.!✅❌]*$"
)
_LONE_VERDICT = regex(
    rf"{_MARKS}no (?:{_FAULTS}|changes?)(?: (?:were|are))?(?: (?:found|detected|needed|required|necessary))?[.!]?\s*$",
    re.IGNORECASE,
)
_VERDICT_KEYS = frozenset(
    {
        "technical_accuracy",
        "completeness",
        "single_critical_fix",
        "score",
        "verdict",
        "approved",
        "quality_score",
        "overall_score",
    }
)

# A colon ends a sentence ("Here it is:"), except after "Note", which belongs to what follows. A line end does, too,
# unless the next line goes on in lower case.
_BOUNDARY = regex(r"(?:[.!?]|(?<![Nn]ote):)[*_\"'\u201d\u2019)]*(?=\s|$)\s*|\n(?=[^a-z\s])\s*")
_LONGEST_SENTENCE = 400
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-"})


def is_preamble(sentence: str) -> bool:
    """Whether one sentence or line only announces the document."""
    return _matches(_PREAMBLE, sentence) or is_verdict(sentence)


def is_sign_off(sentence: str) -> bool:
    """Whether one sentence or line only takes leave of the reader, or speaks of the reply."""
    return _matches(_SIGN_OFF, sentence)


def is_verdict(sentence: str) -> bool:
    """Whether one sentence or line is a judgement of the document that belongs in a review."""
    return _matches(_VERDICT, sentence) or (len(sentence) < 80 and _SHOUTED_VERDICT.match(sentence) is not None)


def is_lone_verdict(paragraph: str) -> bool:
    """Whether a whole paragraph is a verdict; inside a longer one the same words could be about the code."""
    if is_verdict(paragraph) or (len(paragraph) < 80 and _LONE_VERDICT.match(paragraph) is not None):
        return True
    parts = sentences(paragraph) if len(paragraph) <= _LONGEST_SENTENCE else []
    return bool(parts) and all(map(is_verdict, parts))


def is_verdict_json(candidate: str) -> bool:
    """Whether a text is a JSON object with nothing but a verdict's fields."""
    if not candidate.startswith("{") or len(candidate) > 20_000:
        return False
    import json

    try:
        value = json.loads(candidate)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value) and _VERDICT_KEYS.issuperset(value)


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences with the white space after them; joined they are the paragraph again."""
    found: list[str] = []
    position = 0
    for end in (*(boundary.end() for boundary in _BOUNDARY.finditer(paragraph)), len(paragraph)):
        part = paragraph[position:end]
        # "Score: 98/100." is one sentence, whatever its colon says.
        if found and found[-1].rstrip(" *_").endswith(":") and is_verdict(found[-1] + part):
            part = found.pop() + part
        found += [part] if part else []
        position = end
    return found


def _matches(forms: tuple[Form, ...], sentence: str) -> bool:
    if len(sentence) > _LONGEST_SENTENCE:
        return False
    line = " ".join(sentence.translate(_PLAIN).split())
    start = line.lstrip(_MARK_CHARACTERS).lower()
    return any(start.startswith(form.openers) and form.pattern.match(line) for form in forms)
