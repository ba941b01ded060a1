"""Planted faults in how a symbol is called: kind, signature, what comes back."""

import re
from collections.abc import Callable, Iterator

from benchmarks.truth_mutations import Mutant, changed_type, changed_value, functions, mutant
from benchmarks.truth_pages import Page, Span
from benchmarks.truth_source import Thing

KIND_WORDS = {
    "property": re.compile(r"\bproperty\b", re.IGNORECASE),
    "classmethod": re.compile(r"@classmethod|\b[Cc]lass method\b"),
    "static": re.compile(r"@staticmethod|\b[Ss]tatic method\b"),
}
# A call in the middle of a sentence is an example, not a signature.
SIGNATURE_START = re.compile(r"[#*`\s-]*(?:@\w+ |async |def |class |Constructor: `|\w+\.)*")


def _signature_line(page: Page, thing: Thing, span: Span) -> tuple[int, int, int] | None:
    """Find a one-line signature: its line and where its arguments begin and end."""
    for index in range(span.start, min(span.end, span.start + 8)):
        line = page.lines[index]
        found = re.search(rf"\b{thing.name}\(", line)
        if not found or not SIGNATURE_START.fullmatch(line[: found.start()]):
            continue
        end = _closing(line, found.end())
        if end is not None:
            return index, found.end(), end
    return None


def _closing(line: str, start: int) -> int | None:
    depth = 1
    for place in range(start, len(line)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(line[place], 0)
        if depth == 0:
            return place
    return None


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, last = [], 0, 0
    for place, char in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[last:place].strip())
            last = place + 1
    rest = text[last:].strip()
    return [*parts, rest] if rest else parts


def _plain(argument: str) -> bool:
    return bool(re.match(r"[a-z_]\w*", argument)) and argument not in ("self", "cls")


def _dropped(arguments: list[str]) -> list[str] | None:
    """Leave the last argument out; in a title of bare names a required one, since the others may be left out there."""
    plain = [argument for argument in arguments if _plain(argument)]
    is_title = not any(":" in argument for argument in plain)
    droppable = [argument for argument in plain if not is_title or "=" not in argument]
    if len(plain) < 2 or not droppable:
        return None
    left = [argument for argument in arguments if argument != droppable[-1]]
    return left[:-1] if left[-1].lstrip("\\") == "*" else left


def _swapped(arguments: list[str]) -> list[str] | None:
    places = [i for i, argument in enumerate(arguments) if _plain(argument) and "=" not in argument]
    if len(places) < 2 or places[1] != places[0] + 1:
        return None
    first, second = places[:2]
    swapped = list(arguments)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return swapped


def _renamed(arguments: list[str]) -> list[str] | None:
    for place, argument in enumerate(arguments):
        if _plain(argument):
            return [*arguments[:place], re.sub(r"^\w+", "given_input", argument), *arguments[place + 1 :]]
    return None


def _other_default(arguments: list[str]) -> list[str] | None:
    for place, argument in enumerate(arguments):
        head, equals, default = argument.partition("=")
        if equals:
            new = f"{head}={' ' if default.startswith(' ') else ''}{changed_value(default.strip())}"
            return [*arguments[:place], new, *arguments[place + 1 :]]
    return None


def _other_type(arguments: list[str]) -> list[str] | None:
    for place, argument in enumerate(arguments):
        found = re.fullmatch(r"(\w+: )(int|str|float|bool)( = .*)?", argument)
        if found:
            new = found[1] + changed_type(found[2]) + (found[3] or "")
            return [*arguments[:place], new, *arguments[place + 1 :]]
    return None


Edit = Callable[[list[str]], list[str] | None]
SIGNATURE_EDITS: tuple[tuple[str, Edit], ...] = (
    ("signature lacks a parameter", _dropped),
    ("signature in another order", _swapped),
    ("signature renames a parameter", _renamed),
    ("signature with a wrong default", _other_default),
    ("signature with a wrong type", _other_type),
)


def wrong_signature(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        found = _signature_line(page, thing, span) if thing.params else None
        if found is None:
            continue
        index, start, end = found
        line = page.lines[index]
        for kind, edit in SIGNATURE_EDITS:
            changed = edit(split_arguments(line[start:end]))
            if changed is not None:
                text = page.edited({index: line[:start] + ", ".join(changed) + line[end:]})
                yield mutant(page, kind, kind, text, index, span)


def redefined(page: Page) -> Iterator[Mutant]:
    """A function of the source shown at the end of the page, with a body and an invented parameter."""
    for thing, _ in functions(page):
        if thing.kind == "function" and not thing.is_async:
            shown = f"\n```python\ndef {thing.name}(*, given_input=None):\n    return given_input\n```\n"
            text = page.text.rstrip("\n") + "\n" + shown
            yield mutant(page, "redefinition", "redefinition", text, len(page.text.rstrip("\n").splitlines()) + 2)


def wrong_async(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        if thing.kind not in ("function", "method"):
            continue
        signature = _signature_line(page, thing, span)
        if signature is None:
            continue
        line = page.lines[signature[0]]
        if thing.is_async and f"async def {thing.name}(" in line:
            edits: dict[int, str | None] = {
                i: re.sub(r"\b(?:coroutine|asynchronous generator)\b", "method", page.lines[i])
                for i in range(span.start, span.end)
            }
            edits[signature[0]] = line.replace("async def", "def")
            yield mutant(page, "async dropped", "wrong kind", page.edited(edits), signature[0], span)
        elif not thing.is_async:
            start = re.search(rf"(?:def )?(?:\w+\.)?{thing.name}\(", line)
            if start:
                new = f"{line[: start.start()]}async {line[start.start() :]}"
                yield mutant(page, "async added", "wrong kind", page.edited({signature[0]: new}), signature[0], span)


def wrong_descriptor(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        word = KIND_WORDS.get(thing.kind)
        for index in range(span.start, span.end) if word else ():
            line = page.lines[index]
            found = word.search(line) if word else None
            if not found:
                continue
            edits: dict[int, str | None] = {index: word.sub(_other_word(thing.kind, found[0]), line)} if word else {}
            if thing.kind == "property":
                head = re.sub(rf"\b{thing.name}\b(?!\()", f"{thing.name}()", page.lines[span.start], count=1)
                edits[span.start] = head if span.start != index else None
                if edits[span.start] is None:
                    break
            kind = "property as method" if thing.kind == "property" else "class and static method confused"
            yield mutant(page, kind, "wrong kind", page.edited(edits), index, span)
            break


def _other_word(kind: str, word: str) -> str:
    if kind == "property":
        return "method"
    pairs = {"@classmethod": "@staticmethod", "@staticmethod": "@classmethod"}
    return pairs.get(word) or ("static method" if kind == "classmethod" else "class method")


def wrong_return(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        if thing.returns in (None, "None", "Any", "T", "Self") or thing.kind in ("class", "property"):
            continue
        options = "|".join(re.escape(text) for text in {str(thing.returns), str(thing.returns).replace("|", "\\|")})
        for index in range(span.start + 1, span.end):
            line = page.lines[index]
            before = page.lines[index - 1]
            named = re.search(r"->|[Rr]eturn|:rtype:", line)
            lead = bool(re.match(r"\W*Returns?\b", before)) and line.startswith("    ")
            blank_lead = not before and bool(re.match(r"\W*Returns\b\W*$", page.lines[index - 2]))
            if not (named or lead or blank_lead):
                continue
            found = re.compile(rf"(?<![\w\[])(?:{options})(?![\w\[])").search(line, named.end() if named else 0)
            if found:
                new = line[: found.start()] + changed_type(str(thing.returns)) + line[found.end() :]
                yield mutant(page, "wrong return type", "wrong return type", page.edited({index: new}), index)


def wrong_keys(page: Page) -> Iterator[Mutant]:
    for thing, span in functions(page):
        for key in thing.keys:
            hits = [i for i in range(span.start, span.end) if f"`{key}`" in page.lines[i]]
            if hits:
                new = page.lines[hits[0]].replace(f"`{key}`", f"`{key}_value`")
                text = page.edited({hits[0]: new})
                yield mutant(page, "wrong returned key", "wrong returned keys", text, hits[0], span)


CALL_MUTATORS = (wrong_signature, redefined, wrong_async, wrong_descriptor, wrong_return, wrong_keys)
