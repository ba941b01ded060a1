"""Planted faults: seeded mutations of true pages, each with the family of rule, the place and the level it must get."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.truth_pages import Page, Span, cells
from benchmarks.truth_source import Param, Thing

NEW_VALUES = {"True": "False", "False": "True", "None": "0", "int": "str", "str": "int", "float": "str", "bool": "str"}
VAGUE_TYPES = ("Any", "T", "Hashable", "Graph", "Number", "Fetch", "Handler")
WRONG_BASES = {"Enum": "Flag", "IntEnum": "Flag", "NamedTuple": "TypedDict", "Protocol": "Enum", "str": "int"}
STRANGE_NAMES = ("verbose_mode", "max_workers", "callback_url")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A page with one fault.

    ``spans`` are the lines (from 1, ends included) where the finding may stand; empty: anywhere.
    """

    page: str
    style: str
    kind: str
    family: str
    text: str
    spans: tuple[tuple[int, int], ...]
    level: Literal["error", "warning"] = "error"

    def accepts(self, line: int) -> bool:
        """Say whether a finding at a line points to this fault."""
        return not self.spans or any(first <= line <= last for first, last in self.spans)


def mutant(page: Page, kind: str, family: str, text: str, at: int | None, section: Span | None = None) -> Mutant:
    """Make a mutant whose fault stands at line ``at`` (from 0) or somewhere in a section."""
    spans: list[tuple[int, int]] = [] if at is None else [(at - 1, at + 3)]
    if section is not None:
        spans.append((section.start - 1, section.end + 1))
    return Mutant(page.name, page.style, kind, family, text, tuple(spans))


def functions(page: Page) -> Iterator[tuple[Thing, Span]]:
    """Yield what is called and has a section."""
    for thing in page.things:
        if thing.kind != "constant" and thing.qualname in page.sections:
            yield thing, page.sections[thing.qualname]


def leaves(page: Page) -> Iterator[tuple[Thing, Span]]:
    """Yield functions and methods that alone have their section."""
    starts = [span.start for span in page.sections.values()]
    for thing, span in functions(page):
        if thing.kind != "class" and starts.count(span.start) == 1:
            yield thing, span


def changed_value(text: str) -> str:
    """Return a value that is surely not the given one."""
    if text in NEW_VALUES:
        return NEW_VALUES[text]
    if re.fullmatch(r"-?[\d_]+(?:\.\d+)?", text):
        return str(int(text) * 2 + 3) if "." not in text else str(float(text) * 2 + 1.5)
    if re.fullmatch(r"r?\"[^\"]*\"", text):
        return '"changed"'
    numbers = re.search(r"\d+", text)
    if numbers:
        return text[: numbers.start()] + str(int(numbers[0]) + 7) + text[numbers.end() :]
    return "42"


def changed_type(text: str) -> str:
    """Return a type that is surely not the given one."""
    if text in NEW_VALUES:
        return NEW_VALUES[text]
    return "bytes" if text.startswith(("list", "dict", "tuple", "set")) else "complex"


def remove_symbol(page: Page) -> Iterator[Mutant]:
    for thing, span in leaves(page):
        rows = [i for i, line in enumerate(page.lines) if re.match(rf"[|*-] *`{thing.name}`", line)]
        spans = [span, *(Span(i, i + 1) for i in rows if not span.start <= i < span.end)]
        yield mutant(page, "remove symbol", "undocumented symbol", page.without(*spans), None)


def _renamed(page: Page, thing: Thing, span: Span, new: str) -> dict[int, str | None]:
    old = re.compile(rf"\b{thing.name}\b(?=\(|`|\*|$)")
    return {
        i: old.sub(new, page.lines[i])
        for i in range(span.start, span.end)
        if (i == span.start or f"{thing.name}(" in page.lines[i]) and ">>>" not in page.lines[i]
    }


def rename_symbol(page: Page) -> Iterator[Mutant]:
    for thing, span in leaves(page):
        if thing.kind == "property":
            continue
        edits = _renamed(page, thing, span, f"{thing.name}_many")
        text = page.edited(edits)
        if f"{thing.name}_many(" in text:
            yield mutant(page, "rename symbol", "phantom symbol", text, span.start, span)


def phantom_function(page: Page) -> Iterator[Mutant]:
    for thing, span in leaves(page):
        if thing.kind == "property" or not page.lines[span.start].startswith(("#", "**")):
            continue
        edits = _renamed(page, thing, span, f"export_{thing.name}")
        copy = [edits.get(i) or page.lines[i] for i in range(span.start, span.end)]
        if not any(f"export_{thing.name}(" in line for line in copy):
            continue
        text = page.edited({span.end - 1: "\n".join([page.lines[span.end - 1], "", *copy])})
        added = Span(span.end, span.end + len(copy) + 1)
        yield mutant(page, "phantom function", "phantom symbol", text, None, added)


def wrong_constant(page: Page) -> Iterator[Mutant]:
    for thing in page.things:
        if thing.kind != "constant" or not thing.value:
            continue
        is_member = any(t.qualname == thing.owner and any("Enum" in b for b in t.bases) for t in page.things)
        value = re.compile(rf"(?<![\w.]){re.escape(thing.value)}(?![\w.]*\w)")
        for index, line in enumerate(page.lines):
            window = "\n".join(page.lines[index : index + 2])
            named = re.search(rf"\b{thing.name}\b", line)
            found = named and value.search(window, named.end())
            if not found or index in page.fenced or changed_value(thing.value) == "42":
                continue
            two = window[: found.start()] + changed_value(thing.value) + window[found.end() :]
            text = page.edited({index: two, index + 1: None})
            kind = "wrong enum member" if is_member else "wrong constant"
            yield mutant(page, kind, kind, text, index)
            break


def wrong_base(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        if thing.kind != "class" or len(thing.bases) != 1:
            continue
        base = thing.bases[0]
        name = re.compile(rf"\b{re.escape(base)}(?![\w(])")
        shared = sum(other.start == span.start for other in page.sections.values()) > 1
        for index in range(span.start, min(span.end, span.start + 10)):
            after = page.lines[index].find(thing.name)
            if after < 0 and shared:
                continue
            found = name.search(page.lines[index], after + len(thing.name) if after >= 0 else 0)
            if found and index not in page.fenced:
                line = page.lines[index][: found.start()] + WRONG_BASES.get(base, "BufferError")
                text = page.edited({index: line + page.lines[index][found.end() :]})
                yield mutant(page, "wrong base class", "wrong base class", text, index, span)
                break


def drop_parameter(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        entries = {param.name: page.entry(span, param.name) for param in thing.params}
        if page.style == "prose" or len(entries) < 2 or None in entries.values():
            continue
        for entry in entries.values():
            if entry:
                text = page.without(entry)
                yield mutant(page, "drop parameter", "undocumented parameter", text, entry.start, span)


def phantom_parameter(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        if page.style == "prose" or thing.open_ended or not thing.params:
            continue
        param = thing.params[-1]
        entry = page.entry(span, param.name)
        if entry is None:
            continue
        new = STRANGE_NAMES[len(thing.name) % len(STRANGE_NAMES)]
        copy = [re.sub(rf"\b{param.name}\b", new, page.lines[i], count=1) for i in range(entry.start, entry.end)]
        gap = [page.lines[entry.start - 1]] if not page.lines[entry.start - 1].strip(" >") else []
        text = page.edited({entry.end - 1: "\n".join([page.lines[entry.end - 1], *gap, *copy])})
        yield mutant(page, "phantom parameter", "phantom parameter", text, entry.end + len(gap), span)


def _entries(page: Page) -> Iterator[tuple[Span, Span, Param]]:
    for thing, span in functions(page):
        for param in thing.params:
            entry = page.entry(span, param.name)
            if entry is not None:
                yield span, entry, param


def _default_cell(page: Page, index: int, default: str) -> str | None:
    """Change the cell under a heading "Default", if there is one that holds the default."""
    header = index
    while header > 0 and page.lines[header - 1].startswith("|"):
        header -= 1
    titles, row = cells(page.lines[header]), cells(page.lines[index])
    if "Default" not in titles or row[titles.index("Default")] != f"`{default}`":
        return None
    row[titles.index("Default")] = f"`{changed_value(default)}`"
    return "| " + " | ".join(row) + " |"


def wrong_default(page: Page) -> Iterator[Mutant]:
    for _span, entry, param in _entries(page):
        if param.default is None:
            continue
        said = re.compile(rf"((?i:defaults?)(?: to|:)? *`?){re.escape(param.default)}(?=[`.,;)]|$)")
        for index in range(entry.start, entry.end):
            line = page.lines[index]
            new: str | None = None
            if line.startswith("|"):
                new = _default_cell(page, index, param.default)
            elif found := said.search(line):
                new = line[: found.end(1)] + changed_value(param.default) + line[found.end() :]
            if new is not None:
                yield mutant(page, "wrong default", "wrong default", page.edited({index: new}), index)
                break
    yield from _wrong_default_in_prose(page)


def _wrong_default_in_prose(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        for param in thing.params if page.style == "prose" else ():
            if param.default in (None, "None"):
                continue
            for index in range(span.start, span.end):
                sentences = re.split(r"(?<=\.) ", page.lines[index])
                hits = [s for s in sentences if f"`{param.name}`" in s and "default" in s and f"`{param.default}`" in s]
                if len(hits) == 1 and hits[0].count("default") == 1:
                    said = hits[0].replace(f"`{param.default}`", f"`{changed_value(str(param.default))}`")
                    text = page.edited({index: page.lines[index].replace(hits[0], said)})
                    yield mutant(page, "wrong default", "wrong default", text, index)


def wrong_type(page: Page) -> Iterator[Mutant]:
    for _span, entry, param in _entries(page):
        if param.annotation is None or param.annotation in VAGUE_TYPES:
            continue
        written = {param.annotation, param.annotation.replace("|", "\\|")}
        options = "|".join(re.escape(text) for text in written)
        mark = re.compile(rf"(?<![\w\[.\"])(?:{options})(?![\w\[]| \\?\|)")
        for index in range(entry.start, entry.end):
            line = page.lines[index]
            start = 7 if line.startswith(":param") else line.find(param.name) + len(param.name)
            found = mark.search(line, start)
            if found:
                new = line[: found.start()] + changed_type(param.annotation) + line[found.end() :]
                yield mutant(page, "wrong type", "wrong type", page.edited({index: new}), index)
                break


TYPE_SENTENCES = (
    "`{name}` is {article} `{type}`.",
    "The `{name}` parameter is {article} `{type}`.",
    "It takes `{name}`, {article} `{type}`.",
    "`{name}` ({type}) is given by the caller.",
    "`{name}` must be of type `{type}`.",
    "Here `{name}` (`{type}`) is what counts.",
)


def told(page: Page, span: Span, param: Param, typed: str, number: int) -> tuple[int, str] | None:
    """Add a sentence that gives a parameter a type to the first one-line paragraph of a section; its line, the page."""
    for index in range(span.start + 1, span.end):
        line = page.lines[index]
        around = page.lines[index - 1 : index] + page.lines[index + 1 : index + 2]
        if index not in page.fenced and re.match(r"[A-Z][\w' ]+ .*\.$", line) and not any(map(str.strip, around)):
            article = "an" if typed[0] in "aeio" else "a"
            said = TYPE_SENTENCES[number % len(TYPE_SENTENCES)].format(name=param.name, type=typed, article=article)
            return index, page.edited({index: f"{line} {said}"})
    return None


def _other_type(annotation: str) -> str:
    """A builtin that no value of the annotation has, also where an int may stand for a float."""
    numbers = re.search(r"\b(?:int|float|bool|complex)\b", re.sub(r"\[.*\]", "", annotation))
    return "bytes" if numbers else changed_type(annotation)


def wrong_type_in_prose(page: Page) -> Iterator[Mutant]:
    for thing, span in leaves(page):
        for number, param in enumerate(thing.params, len(thing.name)):
            if param.annotation is None or param.annotation in VAGUE_TYPES or param.name.startswith("*"):
                continue
            planted = told(page, span, param, _other_type(param.annotation), number)
            if planted:
                index, text = planted
                yield mutant(page, "wrong type in prose", "wrong type", text, index)


MUTATORS: tuple[Callable[[Page], Iterator[Mutant]], ...] = (
    remove_symbol,
    rename_symbol,
    phantom_function,
    wrong_constant,
    wrong_base,
    drop_parameter,
    phantom_parameter,
    wrong_default,
    wrong_type,
    wrong_type_in_prose,
)


def sample(
    page: Page, mutators: tuple[Callable[[Page], Iterator[Mutant]], ...], per_kind: int, seed: int
) -> list[Mutant]:
    """Choose up to ``per_kind`` mutants of each kind for a page; the same seed gives the same choice."""
    chosen: list[Mutant] = []
    for mutator in mutators:
        by_kind: dict[str, list[Mutant]] = {}
        for one in mutator(page):
            by_kind.setdefault(one.kind, []).append(one)
        for kind, mutants in by_kind.items():
            dice = random.Random(f"{seed}:{page.name}:{kind}")
            chosen.extend(mutants if len(mutants) <= per_kind else dice.sample(mutants, per_kind))
    return chosen
