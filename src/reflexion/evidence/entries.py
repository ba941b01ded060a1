"""Entries of lists: the name in front, its type and default, and the words that follow."""

import re
from typing import NamedTuple

from reflexion.evidence.defaults import default_in_entry, read_default
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, plain
from reflexion.evidence.signatures import NAME, balanced, read_parameters
from reflexion.evidence.typenames import is_known_type, is_type
from reflexion.evidence.words import NO_NAMES, role_of
from reflexion.patterns import regex

DASH = "\u2013\u2014\u2212"
_SPACE = r"[\s\u2028]*"
_MARKED = regex(rf"{_SPACE}(?:{CODE_ON}([^{CODE_OFF}]*){CODE_OFF}|{MARK_ON}([^{MARK_OFF}]*){MARK_OFF})")
_PLAIN_NAME = regex(
    rf"\s*(\\?\*{{0,2}}{NAME})(?=\s*(?:\(|:|[{DASH}]|-\s|=|$)|\s+-|\s\[[a-z]\w*\](?:\s*:|\s\((?:optional|required)\b))"
)
_JOIN = regex(r"\s*(?:,|/|&|\band\b|\bor\b|,\s*and)\s*(?=[\ue000\ue002])")
SEPARATOR = regex(rf"{_SPACE}(?:[:{DASH}\u2192]|--?(?=[\s\u2028])|=>)+{_SPACE}")
_NAMED = regex(rf"^(\*{{0,2}})({NAME})(\??)$")
_TYPED = regex(rf"^\*{{0,2}}{NAME}\s+\(")

_ARTICLE = regex(r"^(?:an?|the)\s+", re.IGNORECASE)
_QUALIFIER = regex(
    r"^(?:keyword[- ]only|positional(?:[- ]only)?|positional or keyword|variadic|var-?args|in|out|input|output)$",
    re.IGNORECASE,
)


class Entry(NamedTuple):
    """One entry. ``names`` are without stars; ``sure`` is True where marks set the name; ``rest`` is marked text."""

    names: tuple[str, ...]
    sure: bool
    type: str | None = None
    default: str | None = None
    optional: bool | None = None
    rest: str = ""
    rest_at: int = 0


def lead_texts(marked: str) -> tuple[list[str], int]:
    """Return the marked texts at the front of an entry, without their marks, and where they end."""
    texts: list[str] = []
    end = 0
    while found := _MARKED.match(marked, end):
        texts.append(plain(found.group(1) if found.group(1) is not None else found.group(2)))
        end = found.end()
        joined = _JOIN.match(marked, end)
        if joined is None:
            break
        end = joined.end()
    return texts, end


def read_entry(marked: str) -> Entry | None:
    """Read a list entry that begins with a parameter's name, or return None."""
    texts, end = lead_texts(marked)
    if texts:
        return _marked_entry(texts, marked, end)
    found = _PLAIN_NAME.match(marked)
    if found is None or _is_label(_bare(found.group(1))):
        return None
    return _completed(Entry((_bare(found.group(1)),), False), marked, found.end())


def _bare(name: str) -> str:
    """Return a parameter's name without stars, escapes and a question mark."""
    return name.lstrip("\\*").rstrip("?")


def _is_label(name: str) -> bool:
    """Say whether a word in front of an entry is a label ("Note", "Returns", "None") and no name."""
    if name.isupper() and len(name) > 1:
        return name in ("NOTE", "WARNING", "TODO", "TIP", "IMPORTANT", "EXAMPLE")
    return name.lower() in NO_NAMES or (name[0].isupper() and role_of(name) is not None)


def _marked_entry(texts: list[str], marked: str, end: int) -> Entry | None:
    """Read an entry whose name or names are set in code, bold or italics."""
    entries = [_from_text(text.rstrip(":").strip()) for text in texts]
    known = [entry for entry in entries if entry is not None]
    if len(known) != len(entries) or any(entry.default for entry in known[:-1]):
        return None
    names = tuple(name for entry in known for name in entry.names)
    return _completed(known[-1]._replace(names=names), marked, end)


def _from_text(text: str) -> Entry | None:
    """Read ``name``, ``name: type = default`` or ``name (type)``."""
    if found := _NAMED.match(text):
        optional = True if found.group(3) else None
        return None if _is_label(found.group(2)) else Entry((found.group(2),), True, optional=optional)
    if _TYPED.match(text):
        name, _, rest = text.partition("(")
        inside, tail = balanced(rest)
        return None if inside is None or tail.strip() else qualified(Entry((_bare(name.strip()),), True), inside)
    listed = [one.strip() for one in text.split(",")]
    if len(listed) > 1 and all(_NAMED.match(one) for one in listed):
        return Entry(tuple(_bare(one) for one in listed), True)
    parsed = read_parameters(text) if len(text) < 500 else None
    if parsed and len(parsed) == 1:
        return Entry((parsed[0].name,), True, parsed[0].annotation, parsed[0].default)
    return _worded_type(text)


def _worded_type(text: str) -> Entry | None:
    """Read ``name: list of int``."""
    name, colon, typed = text.partition(":")
    if colon and _NAMED.match(name.strip()) and is_type(typed, coded=False):
        return Entry((_bare(name.strip()),), True, typed.strip())
    return None


def _completed(entry: Entry, marked: str, at: int) -> Entry:
    """Read what follows the name: types and qualifiers, then the words with a default in them."""
    start = at
    squared = re.compile(r"\s\[(\w[\w., |]*)\](?=[\s:]|$)").match(marked, at)
    if squared and is_known_type(squared.group(1)):
        entry, at = entry._replace(type=squared.group(1)), squared.end()
    if bracket := re.compile(rf"{_SPACE}\(").match(marked, at):
        inside, _ = balanced(marked[bracket.end() :][:2000])
        if inside is not None:
            entry = qualified(entry, inside)
            at = bracket.end() + len(inside) + 1
    typed, at = _type_after(marked, at) if entry.type is None else (entry.type, at)
    separator = SEPARATOR.match(marked, at)
    if at == start and separator and entry.type is None:
        typed, at = _type_after(marked, separator.end(), separated=True)
        separator = SEPARATOR.match(marked, at) or (None if typed else separator)
    at = separator.end() if separator else at
    return with_words(entry._replace(type=typed, rest=marked[at:].lstrip(" .,"), rest_at=at))


_CODE_TYPE = regex(rf"{_SPACE}(?:{MARK_ON})?{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}(?:{MARK_OFF})?")
_MARK_TYPE = regex(rf"{_SPACE}{MARK_ON}([^{MARK_OFF}{CODE_ON}]+){MARK_OFF}")
_PLAIN_TYPE = regex(
    rf"[ ]*([^\n\u2028{DASH}.;({CODE_ON}{MARK_ON}]+?)(?=\s*(?:$|\n|\u2028|[{DASH};(]|\s-\s|\.(?:\s|$)))"
)
_ENDED = regex(rf"{_SPACE}(?:$|[:,;.({DASH}\n\u2028]|-\s|--)")


def _type_after(marked: str, at: int, *, separated: bool = False) -> tuple[str | None, int]:
    """Read a type set in code or italics after a name, or in plain words after a colon."""
    found = _CODE_TYPE.match(marked, at)
    if found and is_type(found.group(1), coded=True):
        ended = _ENDED.match(marked, found.end())
        if ended or is_known_type(found.group(1)):
            return " ".join(found.group(1).split()), found.end()
    emphasised = _MARK_TYPE.match(marked, at)
    if emphasised and is_type(emphasised.group(1), coded=False):
        return " ".join(emphasised.group(1).split()), emphasised.end()
    worded = _PLAIN_TYPE.match(marked, at) if separated else None
    if worded:
        return _worded_after(worded)
    return None, at


def _worded_after(found: re.Match[str]) -> tuple[str | None, int]:
    """Read ``type`` or ``type = default``; the default stays for ``with_words``."""
    text = re.sub(r",?\s*(?:optional|required)\s*,?", "", found.group(1).partition("=")[0].partition(", default")[0])
    if not is_known_type(text) and not (is_type(text, coded=False) and "=" in found.group(1)):
        return None, found.start()
    head = found.group(1)
    cut = len(text) if head.startswith(text) else len(head)
    return _ARTICLE.sub("", " ".join(text.split())), found.start(1) + cut


def with_words(entry: Entry) -> Entry:
    """Take default and "optional" or "required" from the words of an entry."""
    default = entry.default if entry.default is not None else default_in_entry(entry.rest, entry.names)
    optional = entry.optional
    head = re.match(r"[\s,;*_\ue002(]*(optional|required)\b[\s.,;:)\ue003]", entry.rest + " ", re.IGNORECASE)
    if optional is None and head:
        optional = head.group(1).lower() == "optional"
    elif optional is None and (stated := _REQUIRED.search(entry.rest[:2000])):
        optional = (stated.group(1) or stated.group(2)).lower() == "optional"
    return entry._replace(default=default, optional=optional)


_REQUIRED = regex(
    r"\b[Tt]his\s+(?:parameter|argument)\s+is\s+(required|mandatory|optional)\s*(?:\.|$)|\.\s+(Required|Mandatory)\s*\.?\s*$"
)


def qualified(entry: Entry, inside: str) -> Entry:
    """Read the brackets after a name: type, optional or required, default, in any order."""
    types: list[str] = []
    for piece in _pieces(inside):
        text = plain(piece).strip()
        default = read_default(piece)
        if default is not None:
            entry = entry._replace(default=default)
        elif re.fullmatch(r"(?:optional|required)\.?", text, re.IGNORECASE):
            entry = entry._replace(optional=text.lower().startswith("optional"))
        elif text and not _QUALIFIER.match(text) and not text.lower().startswith("default"):
            types.append(piece)
    return _with_type(entry, ", ".join(types))


def _with_type(entry: Entry, marked: str) -> Entry:
    """Take the type from what is left of the brackets, and a default after ``=``."""
    text, equals, value = plain(marked).partition("=")
    if equals and value.strip() and entry.default is None and "==" not in marked:
        entry = entry._replace(default=value.strip())
    if not text.strip() or not is_type(text, coded=CODE_ON in marked):
        return entry
    return entry._replace(type=text.strip())


def _pieces(inside: str) -> list[str]:
    """Split at commas and semicolons outside brackets and code spans."""
    pieces, depth, start = [], 0, 0
    for index, char in enumerate(inside):
        if char in f"([{{{CODE_ON}":
            depth += 1
        elif char in f")]}}{CODE_OFF}":
            depth -= 1
        elif char in ",;" and depth <= 0:
            pieces.append(inside[start:index])
            start = index + 1
    return [*pieces, inside[start:]]
