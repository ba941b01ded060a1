"""Lists of a document: parameters, exceptions, keys, constants, symbols, and what their items hold."""

import re
from collections.abc import Callable

from reflexion.evidence.claims import BaseClaim, ConstantClaim
from reflexion.evidence.collector import Collector, Scope
from reflexion.evidence.defaults import read_default
from reflexion.evidence.entries import Entry, lead_texts, read_entry
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, Inline, plain, ticked
from reflexion.evidence.leads import Lead, read_lead
from reflexion.evidence.markup import Node
from reflexion.evidence.roles import (
    HISTORY_ROLES,
    add_bases,
    add_constant,
    add_keys,
    add_raise,
    add_return,
    add_role_text,
    is_nothing,
    list_role,
    returned_type,
)
from reflexion.evidence.sentences import EXCEPTION, leading_message, message_in
from reflexion.evidence.titles import Named, is_class_like, read_named
from reflexion.evidence.words import Role
from reflexion.patterns import regex

Walk = Callable[[list[Node], Scope], object]

SYMBOL_ROLES: dict[Role, str | None] = {
    "functions": "function",
    "methods": "method",
    "classes": "class",
    "properties": "property",
    "symbols": None,
}
_BRACKETED_BASE = regex(
    rf"^\W*[{CODE_ON}{MARK_ON}]+\w+(?:[{CODE_OFF}{MARK_OFF}]+\s*\((?:an?\s+)?{CODE_ON}([A-Z][\w.]*){CODE_OFF}\)"
    rf"|\(([A-Z][\w.]*)\)[{CODE_OFF}{MARK_OFF}]+)"
)
# Emoji and the like in front of an item.
_ORNAMENT = regex(r"^[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+\s+")
_TYPE_LABEL = regex(r"^\s*[\ue002]?(?:type|data type)[\ue003]?\s*:\s*[\ue003]?\s*", re.IGNORECASE)
_REQUIRED_LABEL = regex(
    r"^\s*[\ue002]?(required|optional)[\ue003]?\s*(?::\s*[\ue003]?\s*(\w+))?\s*\.?\s*$", re.IGNORECASE
)


def read_list(node: Node, scope: Scope, out: Collector, walk: Walk) -> None:
    """Add the claims of a list under its scope's role; ``walk`` reads what items hold."""
    items = [item for item in node.children if item.kind == "item"]
    role = scope.role
    if role in ("parameters", "attributes"):
        _read_parameters(items, scope, out, walk)
    elif role == "raises":
        _read_raises(items, scope, out, walk)
    elif role in ("returns", "yields"):
        _read_returns(items, scope, out, walk)
    elif role == "bases":
        for item in items:
            add_bases(lead_of(item), scope, out)
    elif role is None and _read_implied(items, scope, out, walk):
        return
    else:
        for item in items:
            _read_item(item, scope, out, walk)


def _read_implied(items: list[Node], scope: Scope, out: Collector, walk: Walk) -> bool:
    """Read a list without a lead-in as parameters or attributes where that is sure; say whether it was."""
    if add_keys([lead_of(item) for item in items], scope, out):
        return True
    entries = [read_entry(lead_of(item).marked) for item in items]
    found = [entry for entry in entries if entry is not None]
    role = out.implied_role(found, scope) if len(found) == len(items) else None
    if role is None:
        return _read_values(items, scope, out, walk)
    _read_parameters(items, scope.with_role(role, items[0].line, led=True), out, walk)
    return True


_MEMBER = regex(
    rf"^\s*[{CODE_ON}{MARK_ON}]*(?P<name>[A-Z][A-Z0-9_]*[A-Z0-9])[{CODE_OFF}{MARK_OFF}]*"
    rf"(?:\s*[:=\u2013\u2014]\s*|\s+-\s+|\s+\((?:value:?\s+)?){CODE_ON}?"
    rf"(?P<value>-?\d[\d_]*(?:\.\d+)?|\"[^\"\n]*\"|'[^'\n]*'){CODE_OFF}?(?:\)|\s*(?:$|[.,;:\u2013\u2014]\s|[.,;]$)|\s-\s)"
)


def _read_values(items: list[Node], scope: Scope, out: Collector, walk: Walk) -> bool:
    """Read a list right in the section of a class as its members: all names in capitals, each with a literal value."""
    closed = scope.entry or scope.foreign or scope.blocked or scope.page
    if closed or scope.subject is None or not is_class_like(scope.subject, scope.kind_word):
        return False
    found = [_MEMBER.match(lead_of(item).marked) for item in items]
    if len(items) < 2 or not all(found):
        return False
    for item, member in zip(items, found, strict=True):
        inline = lead_of(item)
        if member is not None:
            name, value = member.group("name"), member.group("value")
            out.constants.append(ConstantClaim(item.line, name, scope.subject, value, None, ticked(inline.marked)))
        out.add_sentences(inline, scope._replace(entry=True))
        walk(body_of(item), scope._replace(entry=True))
    return True


def lead_of(item: Node) -> Inline:
    """Return the first paragraph of an item, or an empty text."""
    first = item.children[0] if item.children else None
    if first is None or first.inline is None:
        return Inline("", item.line)
    ornament = _ORNAMENT.match(first.inline.marked)
    return first.inline.part(ornament.end()) if ornament else first.inline


def body_of(item: Node) -> list[Node]:
    """Return what an item holds after its first paragraph."""
    first = item.children[0] if item.children else None
    return item.children[1:] if first is not None and first.inline is not None else item.children


def _read_parameters(items: list[Node], scope: Scope, out: Collector, walk: Walk) -> None:
    """Read a list of parameters: at least half of its items must have that form."""
    role = list_role(scope)
    found = [(item, read_entry(lead_of(item).marked)) for item in items]
    entries = [(item, entry) for item, entry in found if entry is not None]
    if len(items) == 1 and not entries and is_nothing(lead_of(items[0]).marked):
        if role == "parameter":
            out.add_list([], scope._replace(line=scope.line or items[0].line), "list")
        return
    labelled = [item for item, entry in found if entry is None and read_lead(lead_of(item), item=True) is not None]
    if entries and len(entries) * 2 >= len(items) - len(labelled):
        out.add_list([(item.line, _with_details(item, entry)) for item, entry in entries], scope, "list", role)
    inner = scope._replace(role=None, led=False, entry=True)
    for item, entry in found:
        if entry is None:
            _read_item(item, scope._replace(role=None, led=False), out, walk)
        else:
            out.add_sentences(lead_of(item), inner)
            walk(body_of(item), inner)


def _with_details(item: Node, entry: Entry) -> Entry:
    """Take type, default and "required" from nested items such as ``Type: int``."""
    for child in item.children[1:]:
        for detail in child.children if child.kind == "list" else []:
            entry = _with_detail(entry, lead_of(detail).marked)
        if child.inline is not None and re.match(r"\W*default", child.inline.plain, re.IGNORECASE):
            entry = _with_detail(entry, child.inline.marked)
    return entry


def _with_detail(entry: Entry, marked: str) -> Entry:
    """Take one detail."""
    typed = _TYPE_LABEL.match(marked)
    if typed and entry.type is None:
        return entry._replace(type=returned_type(marked[typed.end() :]))
    required = _REQUIRED_LABEL.match(plain(marked))
    if required:
        yes = (required.group(2) or "yes").lower() in ("yes", "true")
        return entry._replace(optional=yes == (required.group(1).lower() == "optional"))
    default = read_default(marked)
    return entry._replace(default=default) if default is not None and entry.default is None else entry


def _read_raises(items: list[Node], scope: Scope, out: Collector, walk: Walk) -> None:
    """Read a list of exceptions; messages may stand in nested items."""
    for item in items:
        inline = lead_of(item)
        before = len(out.raises)
        claims = add_raise(inline, scope, out)
        if (scope.subject is None or scope.page) and len(claims) == 1:
            _add_exception(inline, claims[0].type, scope, out)
        out.add_mentions(inline, scope)
        nested = [detail for child in body_of(item) if child.kind == "list" for detail in child.children]
        messages = [
            (detail.line, message) for detail in nested if (message := _message_of(lead_of(detail))) is not None
        ]
        if len(claims) == 1 and claims[0].message is None and messages:
            out.raises[before:] = [
                claims[0]._replace(line=line if len(messages) > 1 else claims[0].line, message=message)
                for line, message in messages
            ]
        walk(body_of(item), scope._replace(role=None, led=False, entry=True))


def add_exceptions(inline: Inline, scope: Scope, out: Collector) -> bool:
    """Note the exceptions that lines under the module's "Exceptions" document; never the last word on their text."""
    for found in re.finditer(r"[^\n\u2028]+", inline.marked):
        line = inline.part(found.start(), found.end())
        named = re.match(rf"\W*[{CODE_ON}{MARK_ON}]+([A-Z]\w+)", line.marked)
        if named:
            _add_exception(line, named.group(1), scope, out)
    return False


def _add_exception(inline: Inline, name: str, scope: Scope, out: Collector) -> None:
    """Note that a list of the module's errors documents an exception, with the base in brackets after it."""
    named = Named(name, "exception")
    out.add_symbol(named, scope, inline.line, "list", ticked(inline.marked), sure=False)
    _add_base(inline, named, scope, out)


def _add_base(inline: Inline, named: Named, scope: Scope, out: Collector) -> None:
    """Add the base class in brackets right after the name of a class: ``Point`` (``NamedTuple``)."""
    base = _BRACKETED_BASE.match(inline.marked)
    if base and is_class_like(named.name, named.kind_word) and not named.called:
        out.bases.append(
            BaseClaim(inline.line, scope.of(named), (base.group(1) or base.group(2),), ticked(inline.marked))
        )


def _message_of(inline: Inline) -> str | None:
    """Return the message that a nested item gives."""
    return message_in(inline.marked) or leading_message(inline.marked)


def _read_returns(items: list[Node], scope: Scope, out: Collector, walk: Walk) -> None:
    """Read what a list under "Returns" states: keys of a dictionary, or one type, or several results."""
    inlines = [lead_of(item) for item in items]
    if not inlines or add_keys(inlines, scope, out):
        return
    inner = scope._replace(role=None, led=False, entry=True)
    if len(items) == 1:
        add_return(inlines[0], scope, out)
    else:
        typed = next((one for one in inlines if _TYPE_LABEL.match(one.marked)), None)
        if typed is not None:
            label = _TYPE_LABEL.match(typed.marked)
            add_return(typed.part(label.end() if label else 0), scope, out)
    for item, inline in zip(items, inlines, strict=True):
        out.add_mentions(inline, scope)
        _read_key_lists(body_of(item), scope, out)
        walk(body_of(item), inner)


def _read_key_lists(nodes: list[Node], scope: Scope, out: Collector) -> None:
    """Take the keys of a dictionary from lists inside an item."""
    for node in nodes:
        if node.kind == "list":
            add_keys([lead_of(item) for item in node.children], scope, out)


def _read_item(item: Node, scope: Scope, out: Collector, walk: Walk) -> None:
    """Read an item by its own lead-in, by the role of the list, or as prose."""
    inline = lead_of(item)
    lead = read_lead(inline, item=True)
    if lead is not None:
        _read_led(item, lead, scope, out, walk)
        return
    role = scope.role
    if role in ("constants", "members") and add_constant(inline, scope, out):
        out.add_mentions(inline, scope)
        walk(body_of(item), scope._replace(role=None, led=False, entry=True))
    elif role in HISTORY_ROLES and role is not None:
        out.add_history(item.line, HISTORY_ROLES[role], inline.plain)
    elif (named := _symbol_of(inline, role)) is not None:
        _read_symbol(item, named, scope, out, walk)
    elif role is None and _is_raise_entry(inline):
        for claim in add_raise(inline, scope, out):
            _add_exception(inline, claim.type, scope, out)
        walk(body_of(item), scope)
    else:
        out.add_sentences(inline, scope)
        walk(body_of(item), scope)


def _read_symbol(item: Node, named: Named, scope: Scope, out: Collector, walk: Walk) -> None:
    """Read an item that is about a symbol, and what it holds."""
    inline = lead_of(item)
    class_like = scope.subject is not None and is_class_like(scope.subject, scope.kind_word)
    method = class_like and named.called and "." not in named.name and not (scope.blocked or scope.page)
    sure = scope.role in SYMBOL_ROLES or method
    outer = scope.outside() if scope.names(named.name) else scope
    out.add_symbol(named, outer, item.line, "list", ticked(inline.marked), sure=sure)
    _add_base(inline, named, scope, out)
    inner = outer.about(named)
    out.add_sentences(inline, inner)
    walk(body_of(item), inner)


def _read_led(item: Node, lead: Lead, scope: Scope, out: Collector, walk: Walk) -> None:
    """Read an item with a lead-in of its own."""
    inline = lead_of(item)
    if read_lead(inline) is not None:
        walk(item.children, scope)
        return
    inner = scope.with_role(lead.role, item.line, led=True)
    words = inline.part(lead.end)
    if words.plain:
        add_role_text(words, inner, out)
    walk(body_of(item), inner)


def _is_raise_entry(inline: Inline) -> bool:
    """Say whether an item outside "Raises" is an exception with its message: ``KeyError``: "no such key"."""
    found = EXCEPTION.match(inline.marked)
    rest = inline.marked[found.end() :] if found else ""
    separator = re.match(rf"[{CODE_OFF}{MARK_OFF}]*\s*[:\u2013\u2014-]+\s*", rest)
    return separator is not None and (leading_message(rest[separator.end() :]) or "").count(" ") > 0


def _symbol_of(inline: Inline, role: Role | None) -> Named | None:
    """Return the symbol that an item is about: any name in a list of symbols, elsewhere only ``foo()`` with words."""
    texts, end = lead_texts(inline.marked)
    if len(texts) != 1:
        return None
    coded = CODE_ON in inline.marked[:end]
    named = read_named(texts[0], coded, inline.line)
    if named is None or not re.match(
        rf"[{CODE_OFF}{MARK_OFF}]*\s*(?:$|[:\u2013\u2014(\n\u2028\u2192]|--?[\s>])", inline.marked[end:]
    ):
        return None
    if role in SYMBOL_ROLES and role is not None:
        kind = named.kind_word or SYMBOL_ROLES[role]
        return named._replace(kind_word=kind) if coded or named.called or "_" in named.name else None
    return named if named.called and coded else None
