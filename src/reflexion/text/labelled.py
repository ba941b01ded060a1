"""Labelled sections of a reply: what stands under which of the headings that were asked for.

Models write a heading as they like: another level, bold, a colon, a number in front, lower case, an underscore or none.
What counts is that a line says the label and nothing else. Headings of code (comments in a fence) are none, unless a
label is found nowhere else: then a fence that was not closed has swallowed it.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from reflexion.patterns import regex
from reflexion.text.blocks import Blocks, scan
from reflexion.text.clean import normalise, unwrap
from reflexion.text.thinking import strip_thinking

# A line that is longer says more than a label; only what stands before a colon is looked at.
LONGEST_LABEL = 60
_PLAIN_LEVEL = 7
_INSIDE_FENCE = 8
_HEADING = regex(r" {0,3}(#{1,6})[ \t]*(?=\S)([^\n]*)$")
_LETTERS = regex(r"[^\W\d_]+")
_DECORATED = regex(r"[ \t]*(?:\d{1,2}[.)][ \t]*)?(?:\*\*|__|\[|<|={2,}|-{2,})")
_UNDERLINE = regex(r"[ \t]*(?:=+|-+)[ \t]*$")
_FILLERS = frozenset({"the", "section", "part", "step", "final", "complete", "full", "your", "updated", "new"})


class _Marker(NamedTuple):
    """A line that says a label: its number from 0, how loud it is (1 is the loudest), and what follows on the line."""

    line: int
    level: int
    label: str
    rest: str


def labelled(reply: str, labels: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the sections of a reply by their labels; those that are not there lack.

    ``labels`` gives for each label the words that count as it, in lower case with one space between them. A section
    goes up to the next one. Under "" stands what comes before the first. No text raises.
    """
    text = unwrap(normalise(strip_thinking(reply)))
    blocks = scan(text)
    by_words = {words: label for label, several in labels.items() for words in several}
    found = list(_markers(blocks, by_words))
    chosen: dict[str, _Marker] = {}
    for marker in sorted(found, key=lambda one: (one.level, one.line)):
        chosen.setdefault(marker.label, marker)
    ordered = sorted(chosen.values())
    ends = [marker.line for marker in ordered] + [len(blocks.source)]
    sections = {"": "\n".join(blocks.source[: ends[0]]).strip("\n")}
    for marker, end in zip(ordered, ends[1:], strict=True):
        body = blocks.source[marker.line + 1 : end]
        if marker.level == 1 and body and _UNDERLINE.match(body[0]):
            body = body[1:]
        sections[marker.label] = "\n".join([marker.rest, *body] if marker.rest else body).strip("\n")
    return sections


def _markers(blocks: Blocks, by_words: Mapping[str, str]) -> Iterator[_Marker]:
    for number, (line, what) in enumerate(zip(blocks.source, blocks.lines, strict=True)):
        heading = _HEADING.match(line)
        if what.kind == "fence":
            if heading and len(heading[1]) > 1 and (label := by_words.get(_words(heading[2]))):
                yield _Marker(number, _INSIDE_FENCE, label, "")
        elif what.kind in ("text", "heading", "html"):
            level = len(heading[1]) if heading else 1 if what.kind == "heading" else _PLAIN_LEVEL
            said, rest = _split(heading[2] if heading else line)
            if not _words(said):  # "Section 2: Tests"
                said, rest = rest, ""
            label = by_words.get(_words(said))
            if label and (level < _PLAIN_LEVEL or _is_loud(line)):
                yield _Marker(number, level, label, rest)


def _split(line: str) -> tuple[str, str]:
    """Return what a line says before its colon, and what after it: some write the section on its heading's line."""
    said, colon, rest = line.partition(":")
    return (said, rest.strip().strip("*_").strip()) if colon else (line, "")


def _words(line: str) -> str:
    if len(line) > LONGEST_LABEL:
        return ""
    return " ".join(word for word in _LETTERS.findall(line.casefold()) if word not in _FILLERS)


def _is_loud(line: str) -> bool:
    """Return whether a line without a hash sign looks like a heading: marked, in capitals, or ending with a colon."""
    return bool(_DECORATED.match(line)) or line.isupper() or line.rstrip().endswith(":")
