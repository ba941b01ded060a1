"""Planted faults about exceptions and their messages."""

import re
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.truth_mutations import Mutant, functions, mutant
from benchmarks.truth_pages import Page, Span
from benchmarks.truth_source import Thing

SENTENCE_END = re.compile(r"(?<=[.])\s+(?=[A-Z`])")
OTHER_TYPES = ("PermissionError", "AssertionError", "BufferError")
DENIALS = (
    "No exceptions are raised.",
    "It does not raise any exceptions.",
    "This does not raise exceptions.",
)
WORD_SWAPS = {"must": "may", "not": "hardly", "no": "any", "is": "was", "cannot": "should", "too": "rather"}
INVENTED = "Invalid input was provided"


def _raising(page: Page) -> Iterator[tuple[Thing, Span]]:
    for thing, span in functions(page):
        if thing.raises:
            yield thing, span


def _sentences(page: Page, span: Span, term: str) -> list[tuple[int, str]]:
    """Sentences of prose in a section that name a term in code."""
    found: list[tuple[int, str]] = []
    for index in range(span.start + 1, span.end):
        line = page.lines[index]
        if index in page.fenced or re.match(r"[|:#*-]|    ", line):
            continue
        found.extend((index, sentence) for sentence in SENTENCE_END.split(line) if f"`{term}`" in sentence)
    return found


def drop_exception(page: Page) -> Iterator[Mutant]:
    for thing, span in _raising(page):
        names = dict.fromkeys(kind for kind, _ in thing.raises)
        for name in names:
            # A documented base class covers its children.
            text = None if _ancestors(page, name) & names.keys() else _without_exception(page, span, name)
            if text is not None:
                yield mutant(page, "drop exception", "undocumented exception", text, None, span)


def _ancestors(page: Page, name: str) -> set[str]:
    bases = {thing.name: set(thing.bases) for thing in page.things}
    found: set[str] = set()
    todo = bases.get(name, set())
    while todo:
        found |= todo
        todo = {base for one in todo for base in bases.get(one, set())} - found
    return found


def _without_exception(page: Page, span: Span, name: str) -> str | None:
    entries = page.entries(span, name)
    sentences = _sentences(page, span, name)
    if entries and not sentences:
        return page.without(*entries)
    others = [s for _, s in sentences if len(re.findall(r"`\w*(?:Error|Funds|Version|Cursor|Name)`", s)) > 1]
    if entries or not sentences or others:
        return None
    edits: dict[int, str | None] = {}
    for index, sentence in sentences:
        line = str(edits.get(index, page.lines[index]))
        edits[index] = line.replace(sentence, "").replace("  ", " ").strip()
    return page.edited(edits)


def wrong_exception(page: Page) -> Iterator[Mutant]:
    for thing, span in _raising(page):
        for name in dict.fromkeys(kind for kind, _ in thing.raises):
            new = OTHER_TYPES[len(name) % len(OTHER_TYPES)]
            if any(kind == new for kind, _ in thing.raises):
                continue
            places = [entry.start for entry in page.entries(span, name)]
            places += [index for index, _ in _sentences(page, span, name)]
            for index in dict.fromkeys(places):
                line = re.sub(rf"\b{name}\b", new, page.lines[index])
                text = page.edited({index: line})
                yield mutant(page, "wrong exception type", "wrong exception", text, index, span)


def _message_places(page: Page) -> Iterator[tuple[Span, int, str]]:
    for thing, span in _raising(page):
        for _, message in thing.raises:
            if not message or len(message.split()) < 3:
                continue
            for index in range(span.start, span.end):
                quoted = re.search(rf"([`\"]){re.escape(message)}[`\"]", page.lines[index])
                if quoted and index not in page.fenced:
                    yield span, index, message


def misquoted_message(page: Page) -> Iterator[Mutant]:
    for _span, index, message in _message_places(page):
        words = message.split()
        swapped = [WORD_SWAPS.get(word, word) for word in words]
        if swapped == words:
            swapped = [*words[:-1], "wrong"] if words[-1].isalpha() else ["the", *words]
        line = page.lines[index].replace(message, " ".join(swapped))
        yield mutant(page, "misquoted message", "misquoted message", page.edited({index: line}), index)


def invented_message(page: Page) -> Iterator[Mutant]:
    for _span, index, message in _message_places(page):
        line = page.lines[index].replace(message, INVENTED)
        yield mutant(page, "invented message", "misquoted message", page.edited({index: line}), index)


def denied_exception(page: Page) -> Iterator[Mutant]:
    for number, (thing, span) in enumerate(_raising(page)):
        if thing.kind == "class":
            continue
        denial = DENIALS[number % len(DENIALS)]
        names = dict.fromkeys(kind for kind, _ in thing.raises)
        entries = [entry for name in names for entry in page.entries(span, name)]
        last = span.end - 1
        edits: dict[int, str | None] = {i: None for entry in entries for i in range(entry.start, entry.end)}
        kept = [] if last in edits or not page.lines[last] else [page.lines[last]]
        edits[last] = "\n".join([*kept, "", denial, ""])
        text = page.edited(edits)
        line = next(i for i, row in enumerate(text.splitlines()) if i >= span.start and denial in row)
        yield mutant(page, "denied exception", "denied exception", text, line, span)


def added_exception(page: Page) -> Iterator[Mutant]:
    """Exceptions that cannot be ruled out for certain: a warning is right, an error would not be wrong."""
    for thing, span in _raising(page):
        entries = page.entries(span, thing.raises[-1][0])
        if not entries:
            continue
        last = entries[-1]
        copy = "\n".join(page.lines[last.start : last.end]).replace(thing.raises[-1][0], "BlockingIOError")
        message = thing.raises[-1][1]
        copy = copy.replace(message, "the device is busy") if message else copy
        text = page.edited({last.end - 1: f"{page.lines[last.end - 1]}\n{copy}"})
        one = mutant(page, "exception added", "impossible exception", text, last.end, span)
        yield replace(one, level="warning")


ERROR_MUTATORS = (
    drop_exception,
    wrong_exception,
    misquoted_message,
    invented_message,
    denied_exception,
    added_exception,
)
