"""The texts under a role: what is returned, what is raised, which value a constant has, which bases a class has."""

import ast
import re

from reflexion.evidence.claims import (
    BaseClaim,
    ConstantClaim,
    DenialClaim,
    HistoryKind,
    ListRole,
    RaiseClaim,
    ReturnClaim,
)
from reflexion.evidence.collector import Collector, Scope
from reflexion.evidence.entries import DASH, SEPARATOR, Entry, lead_texts, read_entry
from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, Inline, plain, ticked
from reflexion.evidence.results import is_object, is_truth
from reflexion.evidence.sentences import (
    CODED_NAME,
    EXCEPTION,
    PARENTHESISED,
    Said,
    call_message,
    denials_in,
    leading_message,
    message_in,
    raises_in,
    unquoted,
)
from reflexion.evidence.statements import keys_in
from reflexion.evidence.syntax import is_literal, source_of
from reflexion.evidence.titles import Named
from reflexion.evidence.typenames import is_known_type, is_type
from reflexion.patterns import regex

NOTHING = frozenset({"none", "nothing", "n/a", "na", "-", "\u2013", "\u2014", "void", "null", "", "(none)", "no"})
_NO_RETURN = regex(
    r"\b(?:does\s+not|doesn['\u2019]t)\s+return\s+(?:anything|(?:a|any)\s+values?)\s*(?:[.;,]|$)", re.IGNORECASE
)
_NO_PARAMETERS = regex(
    r"^\W*(?:(?:this|the)\s+(?:function|method|constructor)\s+|it\s+)?(?:(?:takes|accepts|has|requires)\s+no|no|"
    r"does\s+not\s+(?:take|accept|have|require)\s+any)\s+(?:parameters?|arguments?|args|inputs?)\W*$",
    re.IGNORECASE,
)
_ARTICLED = regex(rf"^(?:An?|The)\s+(?:[\w-]+\s+){{0,2}}?{MARK_ON}?{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}")
_VALUE = regex(rf"^\s*{MARK_ON}?{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}{MARK_OFF}?\s*(?:$|[.,;:({DASH}\n\u2028]|-\s)")
_STATED_VALUE = regex(
    rf"(?:\b[Vv]alue{MARK_OFF}?\s*(?:is|of|[:=])?|\b[Ss]et\s+to|\b[Ee]quals?|^\s*[Ii]s|=)\s*{MARK_OFF}?:?\s*{CODE_ON}([^{CODE_OFF}]+){CODE_OFF}"
)
_LABELLED = regex(rf"(?P<type>[A-Z]\w*[a-z]\w*)(?P<call>)(?={MARK_OFF}|:\s)")
_DICT = regex(r"\b(?:dict|dictionary|mapping|typeddict|keys?)\b", re.IGNORECASE)


def is_nothing(marked: str) -> bool:
    """Say whether a text is "None", "N/A" or a dash."""
    return plain(marked).strip().rstrip(".").lower() in NOTHING


def add_return(inline: Inline, scope: Scope, out: Collector) -> None:
    """Add what a text under "Returns" states."""
    marked = inline.marked
    text = ticked(marked)
    yields = scope.role == "yields"
    if not text:
        return
    out.note_orphan(scope)
    keys = keys_in(marked)
    if _NO_RETURN.search(plain(marked)) or is_nothing(marked) or _none_first(marked):
        out.returns.append(ReturnClaim(inline.line, scope.subject, None, None, none=True, yields=yields, text=text))
        return
    out.returns.append(ReturnClaim(inline.line, scope.subject, returned_type(marked), keys, yields=yields, text=text))


def _none_first(marked: str) -> bool:
    """Say whether a text begins with None as the whole result, not as one of several."""
    found = re.match(
        rf"^\W*(?:[{CODE_ON}{MARK_ON}]*)None(?:[{CODE_OFF}{MARK_OFF}]*)\s*(?P<rest>.*)$", marked, re.DOTALL
    )
    return bool(
        found
        and re.match(rf"[.:,;({DASH}]|--?\s", found.group("rest"))
        and not re.search(r"\b(?:if|when|or|otherwise)\b", found.group("rest"))
    )


def returned_type(marked: str) -> str | None:
    """Return the type that a text under "Returns" begins with, or None."""
    marked = marked.lstrip()
    if is_truth(plain(marked)):
        return "bool"
    texts, end = lead_texts(marked)
    if texts:
        lead = plain(marked[:end]).rstrip(":")
        ended = re.match(rf"\s*(?:$|[:.,;({DASH}\n\u2028]|-\s|--)", marked[end:])
        conditional = re.match(r"\s*(?:if|when|on|for)\b", marked[end:])
        return lead if is_type(lead, coded=True) and not conditional and (ended or is_known_type(lead)) else None
    if bracketed := re.match(r"^\(([^()]*)\)", marked):
        inside = bracketed.group(1)
        return plain(inside) if is_type(plain(inside), coded=CODE_ON in inside) else None
    if articled := _ARTICLED.match(marked):
        named = articled.group(1)
        known = is_known_type(named) or is_object(named, plain(marked[articled.end() :].lstrip(MARK_OFF)))
        return named if known and named != "None" else None
    first, newline, _ = marked.partition("\n")
    return plain(first).rstrip(":") if newline and is_known_type(plain(first)) else _worded_type(plain(marked))


def _worded_type(text: str) -> str | None:
    """Return the type in "float: the total", "float - the total" or "float"."""
    head = re.split(rf":\s|:$|\s[{DASH}-]+\s|\.$", text, maxsplit=1)[0]
    colon = len(head) < len(text) or " " not in text
    return head if is_known_type(head) or (colon and is_type(head, coded=False)) else None


def add_keys(entries: list[Inline], scope: Scope, out: Collector) -> bool:
    """Give the latest return of this place the keys that a list sets out; say whether the list was one of keys."""
    last = out.returns[-1] if out.returns else None
    if (
        last is None
        or last.subject != scope.subject
        or last.line < scope.line
        or not _DICT.search(f"{last.type} {last.text}")
    ):
        return False
    keys = [_key_of(entry.marked) for entry in entries]
    if not keys or last.keys is not None or any(key is None for key in keys):
        return False
    out.returns[-1] = last._replace(keys=tuple(key for key in keys if key is not None))
    return True


def _key_of(marked: str) -> str | None:
    """Return the key that an entry begins with, or None."""
    texts, _ = lead_texts(marked.lstrip())
    if len(texts) == 1:
        key = unquoted(re.split(r":\s|\s\(", texts[0].rstrip(":"))[0])
        return key if re.fullmatch(r"[\w.-]+", key) else None
    found = re.match(r"[\"'\u201c]([\w.-]+)[\"'\u201d]", marked.lstrip())
    return found.group(1) if found else None


def add_raise(inline: Inline, scope: Scope, out: Collector) -> list[RaiseClaim]:
    """Add what a text under "Raises" states, and return the raises."""
    marked = inline.marked
    out.note_orphan(scope)
    if is_nothing(marked) or re.match(r"^\W*none\s+(?:explicitly|directly|raised)\b", plain(marked), re.IGNORECASE):
        out.denials.append(DenialClaim(inline.line, scope.subject, None, ticked(marked)))
        return []
    denied = list(denials_in(marked))
    for said in denied:
        out.denials.append(DenialClaim(inline.line_at(said.at), scope.subject, said.type, said.text))
    found = _leading_raises(marked) or list(raises_in(marked)) or ([] if denied else _only_exception(marked))
    claims = [RaiseClaim(inline.line_at(one.at), scope.subject, one.type or "", one.message, one.text) for one in found]
    out.raises.extend(claims)
    return claims


def leads_with_exception(marked: str) -> bool:
    """Say whether a text under "Raises" begins with an exception."""
    return bool(_leading_raises(marked))


def _leading_raises(marked: str) -> list[Said]:
    """Read ``ValueError``: words, also several exceptions in front of the same words."""
    found: list[re.Match[str]] = []
    at = re.match(rf"[\s\u2028{MARK_ON}]*(?:an?\s+)?[{MARK_ON}]?", marked, re.IGNORECASE) or re.match("", marked)
    position = at.end() if at else 0
    while one := (
        EXCEPTION.match(marked, position) or CODED_NAME.match(marked, position) or _LABELLED.match(marked, position)
    ):
        found.append(one)
        joined = re.compile(rf"[{CODE_OFF}{MARK_OFF}]*\s*(?:,|/|\||\bor\b|\band\b|,\s*or)\s*[{MARK_ON}]*").match(
            marked, one.end()
        )
        position = joined.end() if joined else len(marked)
        if joined is None:
            break
    if not found:
        return []
    return _said(found, marked)


def _said(found: list[re.Match[str]], marked: str) -> list[Said]:
    """Return the raises of an entry; its message belongs to the only exception in front."""
    rest = marked[found[-1].end() :].lstrip(CODE_OFF + MARK_OFF)
    separator = SEPARATOR.match(rest) or re.match(rf"[\s\u2028{MARK_OFF}:]*", rest)
    words = rest[separator.end() :] if separator else rest
    message = message_in(rest) or leading_message(words) or bracketed_message(rest)
    single = len(found) == 1
    return [
        Said(
            one.start(),
            one.group("type"),
            call_message(one.group("call")) or (message if single else None),
            ticked(marked),
        )
        for one in found
    ]


def bracketed_message(rest: str) -> str | None:
    """Return the message in brackets in the words of an exception: ``ValueError`` ("too short")."""
    found = [leading_message(one.group("inside")) for one in PARENTHESISED.finditer(rest[:2000])]
    return next((message for message in found if message and " " in message), None)


def _only_exception(marked: str) -> list[Said]:
    """Return the one exception that a text names, none where it names several or negates."""
    found = list(EXCEPTION.finditer(marked))
    if len(found) != 1 or re.search(
        r"\b(?:not|never|no|instead|caught|handled|swallowed|ignored)\b", plain(marked), re.IGNORECASE
    ):
        return []
    message = call_message(found[0].group("call")) or message_in(marked[found[0].end() :])
    return [Said(found[0].start(), found[0].group("type"), message, ticked(marked))]


def list_role(scope: Scope) -> ListRole:
    """Return which kind of list the scope's role makes."""
    return "attribute" if scope.role == "attributes" else "parameter"


def add_parameter_text(inline: Inline, scope: Scope, out: Collector) -> bool:
    """Add entries that stand as lines of a paragraph, or "None"; say whether the text was of that form."""
    role = list_role(scope)
    if is_nothing(inline.marked) or _NO_PARAMETERS.match(plain(inline.marked)):
        if role == "parameter":
            out.add_list([], scope._replace(line=scope.line or inline.line), "prose")
        return True
    entries: list[tuple[int, Entry]] = []
    for found in re.finditer(r"[^\n\u2028]+", inline.marked):
        entry = read_entry(found.group())
        if entry is not None and (entry.sure or entry.type):
            entries.append((inline.line_at(found.start() + len(found.group()) - len(found.group().lstrip())), entry))
        elif not entries:
            return False
    out.add_list(entries, scope, "prose", role)
    return True


def add_bases(inline: Inline, scope: Scope, out: Collector) -> None:
    """Add the base classes that a text lists."""
    names = re.findall(rf"{CODE_ON}([\w.\[\], ]+){CODE_OFF}", inline.marked) or re.findall(
        r"[A-Za-z_][\w.]*", inline.marked if re.fullmatch(r"[\w.,\s\[\]\ue002\ue003]+", inline.marked) else ""
    )
    bases = tuple(part for name in names for part in _outer_parts(name))
    if bases and all(re.fullmatch(r"[A-Za-z_][\w.]*(?:\[.*\])?", base) for base in bases):
        out.bases.append(BaseClaim(inline.line, scope.subject, bases, ticked(inline.marked)))


def _outer_parts(names: str) -> list[str]:
    """Cut a list of types at its commas, those between brackets left alone."""
    tree = parse_expression(names)
    if isinstance(tree, ast.Tuple):
        return [part for element in tree.elts if (part := source_of(element))]
    return [names.strip()] if names.strip() else []


def constant_of(entry: Entry) -> tuple[str | None, str | None]:
    """Return value and type that an entry gives a constant or member."""
    if entry.default is not None:
        return entry.default, entry.type
    found = _VALUE.match(entry.rest)
    if found and is_literal(found.group(1)):
        return " ".join(found.group(1).split()), entry.type
    stated = _STATED_VALUE.search(entry.rest[:1000])
    if stated:
        return " ".join(stated.group(1).split()), entry.type
    bare = re.match(r"\s*([\"'][^\"']*[\"']|-?\d[\d_.]*)\s*(?:$|[.,;\n\u2028]?\s*$|\s[\u2013\u2014-])", entry.rest)
    return (bare.group(1) if bare else None), entry.type


def add_constant(inline: Inline, scope: Scope, out: Collector, *, where_table: bool = False) -> bool:
    """Add the constant or enum member that an entry describes; say whether there was one."""
    entry = read_entry(inline.marked)
    if entry is None or not entry.sure:
        return False
    value, typed = constant_of(entry)
    for name in entry.names:
        out.constants.append(ConstantClaim(inline.line, name, scope.subject, value, typed, ticked(inline.marked)))
        if scope.role == "constants":
            out.add_symbol(
                Named(name, "constant", coded=True),
                scope,
                inline.line,
                "table" if where_table else "list",
                ticked(inline.marked),
            )
    return True


HISTORY_ROLES: dict[str, HistoryKind] = {
    "changelog": "changelog",
    "license": "license",
    "author": "author",
    "version": "version",
    "date": "date",
}


def add_role_text(inline: Inline, scope: Scope, out: Collector) -> bool:
    """Add what a text under the scope's role states; say whether it has been dealt with."""
    role = scope.role or ""
    if role in ("returns", "yields"):
        add_return(inline, scope, out)
    elif role == "raises":
        add_raise(inline, scope, out)
    elif role in ("parameters", "attributes"):
        return add_parameter_text(inline, scope, out)
    elif role == "bases":
        add_bases(inline, scope, out)
    elif role in ("constants", "members"):
        return add_constant(inline, scope, out)
    elif role in HISTORY_ROLES and inline.plain:
        out.add_history(inline.line, HISTORY_ROLES[role], inline.plain)
    else:
        return False
    return True
