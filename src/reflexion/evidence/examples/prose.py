"""What the sentences around a fence say of the example in it. Pure functions on the document's lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reflexion.evidence.claims import Example
from reflexion.evidence.examples.plan import Whole
from reflexion.evidence.examples.readings import Announcement, is_value, read_announcement
from reflexion.patterns import regex

_HEADING = regex(r"^\s{0,3}#{1,6}\s")
_FENCE = regex(r"^\s*(?:```|~~~)")
_ERRORS = regex(
    r"\b(?:errors?|exceptions?|raises?|invalid|fail(?:s|ures?|ing)?|not allowed|wrong|reject\w*)\b", re.IGNORECASE
)
_POINTS = regex(
    r"\b(?:this|the (?:code|example|snippet|call|script|last line|above)|above|it|here|following|below|running)\b",
    re.IGNORECASE,
)
_PRINTED = regex(
    r"\b(?P<verb>prints?|outputs?|displays?|(?:will|would) print|returns?|gives|yields|evaluates to|results? (?:in|is))"
    r"(?:\s+out)?:?\s+`(?P<text>[^`\n]+)`",
    re.IGNORECASE,
)
_CONDITION = regex(r"\b(?:if|when|unless|otherwise|or|for example|e\.g\.|not|never|without)\b", re.IGNORECASE)
_MARKS = regex(r"[*_`]+")


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around an example: an announced exception, an output, and whether an error is what it is about."""

    announced: Announcement | None = None
    whole: Whole | None = None


def words_around(lines: Sequence[str], example: Example, known: frozenset[str]) -> Around:
    """Return what the paragraphs right above and below a fence say of it.

    :param lines: the document's
    :param known: names of the source's own exceptions
    """
    above, first = _paragraph_above(lines, example.line)
    below, start = _paragraph_below(lines, max(example.end_line, example.line))
    lead = " ".join(above)
    announced = read_announcement(_MARKS.sub("", _last_sentence(lead)), known) if lead else None
    if announced is not None and not lead.rstrip(" *_").endswith(":"):
        announced = Announcement(announced.type, announced.message, False, announced.exact)
    if announced is None and _ERRORS.search(" ".join((lead, _heading_above(lines, example.line)))):
        announced = Announcement("", None, False)
    whole = _output(above, first, leading=True) or _output(below, start, leading=False)
    return Around(announced, whole)


def _paragraph_above(lines: Sequence[str], fence: int) -> tuple[list[str], int]:
    """Return the lines of the paragraph above a line, and the number of its first."""
    end = fence - 1
    while end > 0 and not lines[end - 1].strip() and fence - 1 - end < 2:
        end -= 1
    start = end
    while start > 0 and lines[start - 1].strip() and not _ends_paragraph(lines[start - 1]):
        start -= 1
    return [line.strip() for line in lines[start:end]], start + 1


def _paragraph_below(lines: Sequence[str], fence: int) -> tuple[list[str], int]:
    start = fence
    while start < len(lines) and not lines[start].strip() and start - fence < 2:
        start += 1
    end = start
    while end < len(lines) and lines[end].strip() and not _ends_paragraph(lines[end]):
        end += 1
    return [line.strip() for line in lines[start:end]], start + 1


def _ends_paragraph(line: str) -> bool:
    return bool(_HEADING.match(line) or _FENCE.match(line) or line.lstrip().startswith("|"))


def _heading_above(lines: Sequence[str], fence: int) -> str:
    return next((line for line in reversed(lines[: fence - 1]) if _HEADING.match(line)), "")


def _last_sentence(text: str) -> str:
    """Return the last sentence of a paragraph, which is the one that leads to what follows."""
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", text)[-1]


def _output(paragraph: Sequence[str], first: int, *, leading: bool) -> Whole | None:
    """Return the output that a paragraph gives the example; None for a sentence on the function in general."""
    text = "\n".join(paragraph)
    found = _PRINTED.search(text)
    if not leading and text.rstrip(" *_").endswith(":"):
        return None
    if found is None or (not is_value(found["text"]) and found["verb"].lower()[:5] not in ("print", "outpu")):
        return None
    sentence = re.split(r"(?<=[.!?])\s", text[: found.start()])[-1]
    if _CONDITION.search(sentence) or _CONDITION.search(text[found.end() :].partition(".")[0]):
        return None
    points = _POINTS.search(sentence) if not leading else text.rstrip(" *_").endswith(":")
    opens = (
        not leading and not _MARKS.sub("", sentence).strip() and found["verb"].lower().startswith(("print", "outpu"))
    )
    if not points and not opens:
        return None
    return Whole(found["text"], first + text[: found.start("text")].count("\n"), prose=True)
