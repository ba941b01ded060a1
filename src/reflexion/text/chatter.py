"""What models put around a document: greetings, sign-offs and verdicts, recognised sentence by sentence.

The patterns match whole sentences, and only ones that speak about the reply, its writer or its reader. A sentence that
could be about the code stays: losing content is worse than keeping a pleasantry, which a rule reports anyway.
"""

import json
import re

_DOCUMENT = (
    r"(?:documentation|document|docs?|docstrings?|markdown|page|readme|draft|version|write-?up|rewrite|revision|"
    r"reference page|api reference|reply|response|answer)"
)
_FRESH = (
    r"(?:updated|revised|corrected|improved|final|complete|completed|new|fixed|rewritten|full|requested|cleaned[ -]up)"
)
_GREETING = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|all right|great|got it|understood|no problem|"
    r"definitely|gladly|with pleasure|happy to help|good question|great question|you're welcome|hello|hi there|hi)"
)
_SELF = r"(?:i|i['’](?:ll|ve|d|m)|let me|let['’]s|we['’]ll)"
_MARKS = r"[\s*_>\"'“”✅🎉😊👍-]*"

_PREAMBLE = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"{_MARKS}{_GREETING}\s*[!.]+{_MARKS}$",
        rf"{_MARKS}{_GREETING}\s*[,:!—–-]+\s*(?:{_SELF}\b|here\b|below\b|the user\b|the following\b|this is\b|now\b|so\b).*$",
        rf"{_MARKS}(?:(?:as requested|as you asked|based on|given|from|using|after|following)\b[^.]*,\s*)?"
        rf"(?:here|below)\s*(?:['’]s|is|are)\b[^.!?]*\b{_DOCUMENT}\b.*$",
        rf"{_MARKS}(?:here|below)\s*(?:['’]s|is|are)\s+(?:the|a|an|your|my)\s+{_FRESH}\b.*$",
        rf"{_MARKS}(?:the following|this)\s+(?:is|are)\s+(?:the|a|an|your|my)\s+(?:{_FRESH}\s+)?(?:markdown\s+)?"
        rf"{_DOCUMENT}\b(?:\s+(?:for|of|as|in|that)\b.*)?[.:]?{_MARKS}$",
        rf"{_MARKS}(?:i['’]ve|i have|i['’]ll|i will|i am going to|i['’]m going to|i can|i['’]d be)\s+(?:now\s+|also\s+)?"
        r"(?:written|write|created?|generated?|produced?|prepared?|updated?|revised?|corrected|fix(?:ed)?|help|"
        r"documented|document|reviewed?|rewritten|rewrite|provided?|addressed|made|drafted|analy[sz]ed?|be happy)\b.*$",
        r"let me\s+(?:write|create|generate|document|revise|start|think|analy[sz]e|fix|update|provide|review)\b.*$",
        r"as an ai\b.*$",
        r"(?:we need to|we are asked to|the user (?:wants|asks|asked|needs|is asking)|i need to)\b.*$",
        rf"[*_]*(?:{_FRESH}\s+)?(?:markdown|{_DOCUMENT}|output)(?:\s+{_DOCUMENT})?[*_]*:[*_]*$",
    )
)

_OFFER = (
    r"(?:(?:please\s+)?(?:let me know|feel free to (?:ask|let me|reach out)|(?:just|simply)? ?ask\b|do(?:n['’]t| not) hesitate)|"
    r"i['’](?:m|d|ll)\b|i (?:can|am|would|will)\b)"
)
_SIGN_OFF = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"{_MARKS}(?:please\s+)?let me know\b.*$",
        rf"{_MARKS}i?\s?hope (?:this|that|it|these)\b.*\b(?:help|helps|helpful|useful|clear|meets?|answers?|satisf\w+|works)\b.*$",
        rf"{_MARKS}(?:please\s+)?feel free to (?:ask|let me know|reach out|request)(?:\s+(?:me|to me|if|for|any|with|about|further|more|questions?)\b.*|\s*[.!])$",
        rf"{_MARKS}if (?:you(?:['’]d| would)?|there(?:['’]s| is| are)|anything)\b.*[, ]{_OFFER}.*$",
        r"(?:would|do) you (?:like|want) me to\b.*$",
        r"shall i\b.*$",
        r"(?:is there|do you have) anything else\b.*$",
        rf"{_MARKS}(?:i['’]m|i am|always)?\s?(?:happy|glad|here) to (?:help|assist|make|answer|clarify)\b.*$",
        rf"{_MARKS}happy (?:coding|documenting|hacking)\b\W*$",
        r"(?:best|kind|warm)(?: regards| wishes)?,?\s*(?:your .*)?$",
        rf"{_MARKS}(?:note(?: that)?|please note(?: that)?)\W*\s*(?:that\s+)?(?:i['’](?:ve|m|d|ll)|i (?:have|am|did|made|kept|assumed|added|removed))\b.*$",
        rf"{_MARKS}(?:i['’]ve|i have|i)\s+(?:also\s+)?(?:updated|revised|corrected|fixed|made|added|included|followed|addressed|"
        r"removed|kept|ensured|used|tried|rewritten|clarified)\b.*$",
        rf"{_MARKS}this (?:{_FRESH} )?{_DOCUMENT} (?:should (?:now )?(?:help|give|be|meet|address|provide)|now (?:addresses|reflects|"
        r"includes|covers|meets)|has been (?:updated|revised|corrected|reviewed))\b.*$",
        r"\W*(?:the )?end of (?:the )?(?:documentation|document|file|page|response|reply|markdown)\W*$",
    )
)

_FAULTS = r"(?:errors?|issues?|contradictions?|inconsistenc(?:y|ies)|mistakes?|problems?|inaccurac(?:y|ies)|discrepanc(?:y|ies))"
_FAULT_KIND = (
    r"(?:formatting|factual|technical|grammatical|spelling|markdown|syntax|further|other|remaining|critical|major|more)"
)
_SCORE_NAME = (
    r"(?:(?:technical|overall|final|quality|total|net|critic|average)[ _-]*)*"
    r"(?:accuracy|completeness|score|rating|grade|quality)(?:[ _-]*score)?"
)
_GOOD = r"(?:accurate|complete|correct|approved|consistent|clear|flawless|error-free|well[ -](?:written|structured|formatted)|comprehensive)"
_VERDICT = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"{_MARKS}(?:there (?:are|were)|i (?:found|see|saw)|found)?\s?no (?:{_FAULT_KIND}\s+(?:(?:or|and)\s+)?)+{_FAULTS}"
        rf"(?:,? (?:or|and|nor) (?:{_FAULT_KIND} )?{_FAULTS})*(?: (?:were|was|are|is|have been|has been))?"
        rf"(?: (?:found|detected|identified|noted|present|observed))?(?: in (?:the|this) (?:{_FRESH} )?{_DOCUMENT})?\W*$",
        rf"{_MARKS}(?:there (?:are|were)|i (?:found|see))?\s?no {_FAULTS}(?:,? (?:or|and|nor) {_FAULTS})*"
        rf" (?:were|was|are|have been)? ?(?:found|detected|identified) in (?:the|this) (?:{_FRESH} )?{_DOCUMENT}\W*$",
        rf"{_MARKS}{_SCORE_NAME}[*_\s]*[:=][*_\s]*-?\d+(?:\.\d+)?\s*(?:/\s*\d+|%|out of \d+)?(?:\s*[.,;|]?\s*{_MARKS}"
        rf"{_SCORE_NAME}[*_\s]*[:=][*_\s]*-?\d+(?:\.\d+)?\s*(?:/\s*\d+|%|out of \d+)?)*\W*$",
        rf"{_MARKS}(?:verdict|decision|final verdict|status)[*_\s]*:[*_\s]*(?:approved?|rejected?|accept(?:ed)?|pass(?:ed)?|fail(?:ed)?|lgtm)\W*$",
        rf"{_MARKS}(?:single[ _-])?critical[ _-]fix[*_\s]*:.*$",
        rf"{_MARKS}(?:i )?(?:approve|lgtm|looks good to me)\W*$",
        rf"{_MARKS}the (?:{_FRESH} )?(?:documentation|document|draft|page|markdown)(?: above)? (?:is|appears(?: to be)?|looks|has been)"
        rf"(?: (?:now|technically|factually|fully|completely|both))*\s{_GOOD}(?:,? (?:and )?(?:technically )?{_GOOD})*\W*$",
    )
)
_SHOUTED_VERDICT = re.compile(
    r"[\s*_`#✅❌]*(?:APPROVED|REJECTED|ACCEPTED|PASS|PASSED|LGTM|Approved|Rejected)[\s*_`.!✅❌]*$"
)
_LONE_VERDICT = re.compile(
    rf"{_MARKS}no (?:{_FAULTS}|changes?)(?: (?:were|are))?(?: (?:found|detected|needed|required|necessary))?[.!]?\s*$",
    re.I,
)
_VERDICT_KEYS = frozenset(
    "technical_accuracy completeness single_critical_fix score verdict approved quality_score overall_score".split()
)

# A colon ends a sentence ("Here it is:"), except after "Note", which belongs to what follows. So does a line end, unless
# the next line goes on in lower case.
_BOUNDARY = re.compile(r"(?:[.!?]|(?<![Nn]ote):)[*_\"'”’)]*(?=\s|$)\s*|\n(?=[^a-z\s])\s*")
_LONGEST_SENTENCE = 400


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
    return is_verdict(paragraph) or (len(paragraph) < 80 and _LONE_VERDICT.match(paragraph) is not None)


def is_verdict_json(candidate: str) -> bool:
    """Whether a text is a JSON object with nothing but a verdict's fields."""
    if not candidate.startswith("{") or len(candidate) > 20_000:
        return False
    try:
        value = json.loads(candidate)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value) and _VERDICT_KEYS.issuperset(value)


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences with the white space after them; joined they are the paragraph again."""
    found: list[str] = []
    position = 0
    for boundary in _BOUNDARY.finditer(paragraph):
        found.append(paragraph[position : boundary.end()])
        position = boundary.end()
    return [*found, paragraph[position:]] if position < len(paragraph) else found


def _matches(patterns: tuple[re.Pattern[str], ...], sentence: str) -> bool:
    if len(sentence) > _LONGEST_SENTENCE:
        return False
    line = " ".join(sentence.split())
    return any(pattern.match(line) for pattern in patterns)
