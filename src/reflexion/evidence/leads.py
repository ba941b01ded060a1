"""Lead-ins: the label at the front of a paragraph or item ("**Returns:** ...", "Parameters:"), or a symbol in bold."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, Inline, plain
from reflexion.evidence.titles import Named, read_symbols, read_title
from reflexion.evidence.words import Role, role_of
from reflexion.patterns import regex

_LABELLED = regex(
    rf"^[\s\u2028]*(?:[^\w\s`\ue000-\uf8ff\"'(\[]+\s*)?(?:{MARK_ON}(?P<bold>[^{MARK_OFF}\n]{{1,80}}){MARK_OFF}(?P<colon>\s*:)?"
    rf"|(?P<plain>[A-Z][A-Za-z ]{{2,30}}(?:{CODE_ON}[^{CODE_OFF}\n]{{1,60}}{CODE_OFF})?):(?=[\s\u2028]|$))"
)
_AFTER_BOLD = regex(r"^[\s\u2028]*(?:$|[\u2013\u2014(]|-\s|\n)")
_RETURNED = regex(rf"^\s+{CODE_ON}[^{CODE_OFF}]+{CODE_OFF}\s*(?:$|[.\u2013\u2014\n\u2028]|-\s)")
_SEPARATOR = regex(r"[\s\u2028]*(?:[:\u2013\u2014]|-(?=\s))?[\s\u2028]*")


class Lead(NamedTuple):
    """A lead-in: its role, the symbol that it names ("Parameters of foo"), and where the words after it begin."""

    role: Role
    of: str | None
    end: int


def read_lead(inline: Inline, *, item: bool = False) -> Lead | None:
    """Return the lead-in at the front of a text, or None; ``item``: that of a list item, which may be a bare word."""
    found = _LABELLED.match(inline.marked)
    if found is None:
        return _bare_lead(inline) if item else None
    bold = found.group("bold")
    label = bold if bold is not None else found.group("plain")
    closed = (
        bold is None
        or found.group("colon")
        or plain(label).endswith(":")
        or _AFTER_BOLD.match(inline.marked[found.end() :])
    )
    closed = closed or (plain(label) in ("Returns", "Yields") and _RETURNED.match(inline.marked[found.end() :]))
    title = read_title(label, inline.line) if closed and not _is_name(label) else None
    if title is None or title.role is None or (CODE_ON in label and title.of is None):
        return None
    if bold is None and title.role in ("symbols", "functions", "module", "foreign") and title.of is None:
        return None
    separator = _SEPARATOR.match(inline.marked, found.end())
    return Lead(title.role, title.of, separator.end() if separator else found.end())


_LOWER = frozenset(
    {"parameters", "params", "args", "arguments", "returns", "return", "raises", "yields", "attributes", "exceptions"}
    | {"example", "examples", "members", "fields", "output", "usage"}
)


def _is_name(label: str) -> bool:
    """Say whether a label is a name ("*name*: ...", "**VERSION**: ...") rather than a title."""
    word = plain(label).rstrip(":")
    if word.isupper() and word.lower() not in _LOWER:
        return word not in ("NOTE", "WARNING", "TIP", "IMPORTANT")
    return word.islower() and " " not in word and word not in _LOWER


_BARE = regex(r"^\s*(?P<label>[a-z][a-z ]{3,30})(?:$|:\s*)")


def _bare_lead(inline: Inline) -> Lead | None:
    """Return the lead-in of an item such as "parameters" or "returns: ..."."""
    found = _BARE.match(inline.marked)
    role = role_of(found.group("label")) if found else None
    if found is None or role not in ("parameters", "attributes", "returns", "yields", "raises", "members", "constants"):
        return None
    return Lead(role, None, found.end())


def split_leads(inline: Inline) -> Iterator[Inline]:
    """Yield the parts of a paragraph: a new one begins at each line that has a lead-in of its own."""
    start = 0
    for found in re.finditer(r"[\n\u2028]", inline.marked):
        line_end = re.compile(r"[\n\u2028]|$").search(inline.marked, found.end())
        line = inline.part(found.end(), line_end.start() if line_end else None)
        if read_lead(line) is not None:
            yield inline.part(start, found.start())
            start = found.end()
    yield inline.part(start)


_BOLD_SYMBOL = regex(rf"^\s*{MARK_ON}([^{MARK_OFF}]{{1,600}}){MARK_OFF}(?P<rest>.*)$", re.DOTALL)
_CODE_SYMBOL = regex(rf"^\s*{CODE_ON}([^{CODE_OFF}]{{1,600}}){CODE_OFF}\s*:?\s*$")
_SAID = regex(r"^\s*(?:$|[:\u2013\u2014\n\u2028\u2192]|-[\s>]|\()")


_ADMONITION = regex(r"^\s*(?:!!!|\?\?\?\+?)\s+\w+\s+\"(?P<title>[A-Z]\w*[a-z]\w*(?:[A-Z]\w*)?)\"\s*\n")


def admonition(inline: Inline) -> Inline | None:
    """Return an admonition with an exception for a title as the entry "exception: words", or None."""
    found = _ADMONITION.match(inline.marked)
    if found is None or not re.search(r"[a-z][A-Z]", found.group("title")):
        return None
    words = inline.part(found.end())
    return words._replace(marked=f"{found.group('title')}: {words.marked}", newlines=())


def symbol_lead(inline: Inline) -> Named | None:
    """Return the symbol of ``**`deposit(amount)`**`` or of a paragraph that is one code span with brackets."""
    alone = _CODE_SYMBOL.match(inline.marked)
    if alone:
        named = _only(read_symbols(inline.marked, inline.line))
        return named if named is not None and named.called and _declares(named, alone.group(1)) else None
    bold = _BOLD_SYMBOL.match(inline.marked)
    if bold is None or not (_SAID.match(bold.group("rest")) or plain(bold.group(1)).endswith(":")):
        return None
    named = _only(read_symbols(bold.group(1).rstrip().rstrip(":"), inline.line))
    if named is None or not (named.called or named.kind_word or _looks_like_symbol(named.name, bold.group("rest"))):
        return None
    return named


def _looks_like_symbol(name: str, rest: str) -> bool:
    """Say whether a bold name without brackets stands for a symbol: dotted, or a class with its bases, or alone."""
    if re.search(r"[a-z_]\.[A-Za-z_]", name):
        return True
    words = plain(rest)
    class_like = name[:1].isupper() and re.search(r"[a-z][A-Z]", name) is not None
    based = re.match(
        r"^\(.*\b(?:base|class|derive[ds]|inherits|extends|subclass)\b.*\)$|^\(\w*Error\)$", words, re.IGNORECASE
    )
    return bool(name[:1].isupper() and based) or (class_like and not words)


def _declares(named: Named, text: str) -> bool:
    """Say whether a lone code span is a declaration rather than a call: types, an arrow, or ``def``."""
    signature = named.signature
    typed = signature is not None and (signature.returns or any(one.annotation for one in signature.parameters))
    return bool(typed) or bool(re.match(r"\s*(?:async|def|class)\s", text))


def _only(symbols: tuple[Named, ...]) -> Named | None:
    """Return the one symbol, or None."""
    return symbols[0] if len(symbols) == 1 else None
