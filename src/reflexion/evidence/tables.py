"""Tables of a document: the header says what each column gives, whatever the order and the words."""

import re
from typing import Literal

from reflexion.evidence.claims import ConstantClaim, ReturnClaim
from reflexion.evidence.collector import Collector, Scope
from reflexion.evidence.entries import Entry, lead_texts, read_entry, with_words
from reflexion.evidence.inline import CODE_ON, Inline, plain, ticked
from reflexion.evidence.lists import SYMBOL_ROLES
from reflexion.evidence.markup import Node
from reflexion.evidence.roles import (
    HISTORY_ROLES,
    add_keys,
    add_raise,
    add_return,
    is_nothing,
    returned_type,
)
from reflexion.evidence.sentences import unquoted
from reflexion.evidence.syntax import is_literal
from reflexion.evidence.titles import Named, is_class_like, read_named
from reflexion.evidence.words import Role, role_of, title_of

Column = Literal[
    "name", "parameter", "attribute", "exception", "symbol", "constant", "member", "key", "type", "default", "required",
    "optional", "message", "value", "returns", "bases", "change", "version", "date", "author", "words",
]  # fmt: skip
_TITLES: dict[Column, tuple[str, ...]] = {
    "name": (
        "name",
        "identifier",
        "item",
    ),
    "type": (
        "type",
        "types",
        "data type",
        "annotation",
        "type hint",
    ),
    "default": (
        "default",
        "default value",
        "defaults",
        "defaults to",
    ),
    "required": (
        "required",
        "required?",
        "mandatory",
    ),
    "optional": (
        "optional",
        "optional?",
    ),
    "message": (
        "message",
        "error message",
        "exception message",
        "exact message",
    ),
    "value": ("value",),
    "key": (
        "key",
        "keys",
        "dictionary key",
    ),
    "exception": (
        "exception type",
        "error type",
        "raised exception",
    ),
    "returns": (
        "return type",
        "returns",
        "return",
        "return value",
    ),
    "symbol": (
        "symbol",
        "signature",
        "function signature",
        "class",
        "function name",
        "method name",
        "class name",
        "enum",
    ),
    "words": ("kind",),
    "change": (
        "change",
        "changes",
    ),
    "bases": (
        "base class",
        "bases",
        "inherits",
    ),
    "attribute": (
        "attribute",
        "field name",
        "attribute name",
    ),
    "parameter": (
        "parameter name",
        "argument name",
    ),
    "constant": ("constant name",),
}
_HEADERS: dict[str, Column] = {title: column for column, titles in _TITLES.items() for title in titles}
_BY_ROLE: dict[Role, Column] = {
    "parameters": "parameter",
    "attributes": "attribute",
    "raises": "exception",
    "functions": "symbol",
    "methods": "symbol",
    "classes": "symbol",
    "properties": "symbol",
    "constants": "constant",
    "members": "member",
    "version": "version",
    "date": "date",
    "author": "author",
    "changelog": "change",
}
_LEADERS: tuple[Column, ...] = ("parameter", "attribute", "exception", "constant", "member", "symbol", "key")
_NO_DEFAULT = frozenset(
    {"", "-", "\u2013", "\u2014", "n/a", "na", "required", "no default", "none (required)", "(required)", "*", "/"}
)
_YES = frozenset({"yes", "true", "y", "\u2713", "\u2714", "\u2705", "required", "x", "\u2714\ufe0f"})
_NO = frozenset({"no", "false", "n", "\u2717", "\u2718", "\u274c", "optional", "-", "\u2014", ""})


def read_table(node: Node, scope: Scope, out: Collector) -> None:
    """Add the claims of a table."""
    rows = [row for row in node.children if row.kind == "row"]
    if not rows:
        return
    header = _header(rows[0], scope)
    body = [row for row in rows[1:] if any(cell.plain for cell in row.cells)]
    # The leftmost column that names something leads; "Name" only where no other does.
    leader = next((column for column in header if column in _LEADERS), "name" if "name" in header else None)
    if _is_changelog(header, scope):
        for row in body:
            out.add_history(row.line, "changelog", " | ".join(cell.plain for cell in row.cells))
        return
    if _is_record(header, leader, body, scope):
        _read_record(body, out)
    elif leader is not None:
        _read_by_leader(_resolved(leader, header, scope), header, rows[0], body, scope, out)
    elif "returns" in header[:1] or (scope.role in ("returns", "yields") and "type" in header):
        _read_return_rows(header, body, scope, out)
    _read_prose(header, body, scope, out)


def _header(top: Node, scope: Scope) -> list[Column]:
    """Return what the columns give; under "Raises" a column of types holds the exceptions."""
    header = [column_of(cell.plain) for cell in top.cells]
    if scope.role == "raises" and "exception" not in header:
        for column in ("type", "name"):
            if column in header:
                header[header.index(column)] = "exception"
                break
    return header


def column_of(words: str) -> Column:
    """Return what a column gives, by the words of its header."""
    title = title_of(words)
    if title in _HEADERS:
        return _HEADERS[title]
    role = role_of(title)
    return _BY_ROLE.get(role, "words") if role is not None else "words"


def _is_changelog(header: list[Column], scope: Scope) -> bool:
    """Say whether a table lists versions of something."""
    dated = sum(column in ("version", "date", "author", "change") for column in header)
    return scope.role == "changelog" or (header[:1] in (["version"], ["date"]) and len(header) > 1) or dated > 1


def _is_record(header: list[Column], leader: Column | None, body: list[Node], scope: Scope) -> bool:
    """Say whether the rows are pairs of a label and a value, with a version, author or date among them."""
    labels = [role_of(row.cells[0].plain) for row in body if row.cells]
    named = leader == "parameter" or scope.role in ("parameters", "attributes", "constants", "members")
    return len(header) == 2 and not named and any(role in HISTORY_ROLES for role in labels)


def _read_record(body: list[Node], out: Collector) -> None:
    """Read pairs such as ``Author | Jane``."""
    for row in body:
        role = role_of(row.cells[0].plain)
        value = row.cells[1].plain if len(row.cells) > 1 else ""
        if role in HISTORY_ROLES and value:
            out.add_history(row.line, HISTORY_ROLES[role], f"{row.cells[0].plain}: {value}")


def _resolved(leader: Column, header: list[Column], scope: Scope) -> Column | None:
    """Return what a column named only "Name" (or "Class", "Field") holds, by the section and the other columns."""
    by_role: dict[Role, Column] = {**_BY_ROLE, "returns": "key", "symbols": "symbol"}
    if leader != "name":
        return leader
    if scope.role is not None and scope.role in by_role:
        return by_role[scope.role]
    if scope.subject is None or not {"default", "required", "type"} & set(header):
        return None
    return "attribute" if is_class_like(scope.subject, scope.kind_word) else "parameter"


def _read_by_leader(
    leader: Column | None, header: list[Column], top: Node, body: list[Node], scope: Scope, out: Collector
) -> None:
    """Read the rows by what their leading column holds."""
    if leader in ("parameter", "attribute"):
        _read_parameter_rows(leader, header, top, body, scope, out)
    elif leader == "key":
        add_keys([_cell(row, header, ("key", "name")) for row in body], scope, out)
    else:
        for row in body:
            _read_row(leader, header, top, row, scope, out)


def _read_row(leader: Column | None, header: list[Column], top: Node, row: Node, scope: Scope, out: Collector) -> None:
    """Read a row that stands for itself: an exception, a value or a symbol."""
    if leader == "exception":
        _read_exception_row(header, row, scope, out)
    elif leader in ("constant", "member"):
        _read_value_row(leader, header, row, scope, out)
    elif leader == "symbol":
        _read_symbol_row(header, top, row, scope, out)


def _cell(row: Node, header: list[Column], columns: tuple[Column, ...]) -> Inline:
    """Return the first cell of a row under one of these columns, or an empty one."""
    for column in columns:
        if column in header and header.index(column) < len(row.cells):
            return row.cells[header.index(column)]
    return Inline("", row.line)


def _read_parameter_rows(
    leader: Column | None, header: list[Column], top: Node, body: list[Node], scope: Scope, out: Collector
) -> None:
    """Read rows of parameters or attributes."""
    entries = [(row.line, entry) for row in body if (entry := _parameter_row(header, row)) is not None]
    nothing = len(body) == 1 and not entries and is_nothing(_cell(body[0], header, ("parameter", "name")).marked)
    attributes = leader == "attribute"
    if scope.role not in ("parameters", "attributes"):
        scope = scope.with_role("attributes" if attributes else "parameters", top.line)._replace(led=True)
    if entries or (nothing and not attributes):
        out.add_list(entries, scope, "table", "attribute" if attributes else "parameter")


def _parameter_row(header: list[Column], row: Node) -> Entry | None:
    """Read one row, or return None where its first cell holds no name."""
    cell = _cell(row, header, ("parameter", "attribute", "name"))
    entry = read_entry(cell.marked)
    if entry is None:
        return None
    typed = _cell(row, header, ("type",))
    text = plain(typed.marked)
    required = _required(header, row)
    if text and not is_nothing(typed.marked.replace(CODE_ON, "`")):
        optional = re.search(r",?\s*\(?optional\)?$", text, re.IGNORECASE)
        text = text[: optional.start()].strip() if optional else text
        entry = entry._replace(type=text or entry.type)
        required = False if optional else required
    words = with_words(entry._replace(rest=_words(header, row)))
    default, has_default = _default(header, row, words)
    entry = words._replace(default=default)
    optional_now = None if required is None else not required
    if optional_now is None and has_default is not None:
        optional_now = has_default
    return entry._replace(optional=entry.optional if optional_now is None else optional_now)


def _words(header: list[Column], row: Node) -> str:
    """Return the cells without a meaning of their own, joined."""
    return "\u2028".join(cell.marked for column, cell in zip(header, row.cells, strict=False) if column == "words")


def _required(header: list[Column], row: Node) -> bool | None:
    """Return what a "Required" or "Optional" column says."""
    column: Column = "required" if "required" in header else "optional"
    if column not in header:
        return None
    text = _cell(row, header, (column,)).plain.strip("* .").lower()
    said = True if text in _YES else False if text in _NO else None
    if text in ("required", "optional"):
        return text == "required"
    return said if said is None or column == "required" else not said


def _default(header: list[Column], row: Node, entry: Entry) -> tuple[str | None, bool | None]:
    """Return the default, and whether there is one (None: the table does not say)."""
    if "default" not in header:
        return entry.default, None
    cell = _cell(row, header, ("default",))
    text = cell.plain.strip()
    if text.strip("*_ .").lower() in _NO_DEFAULT:
        return entry.default, False if text.strip("*_ .").lower().find("required") >= 0 else None
    if text == "None" and CODE_ON not in cell.marked:
        optional = _required(header, row) is False or bool(re.search(r"\bNone\b|[Oo]ptional", entry.type or ""))
        return ("None", True) if optional else (entry.default, None)
    texts, end = lead_texts(cell.marked)
    if texts:
        return (texts[0], True) if len(texts) == 1 else (None, None)
    simple = is_literal(text) or re.fullmatch(r"[A-Za-z_][\w.]*(?:\(.*\))?", text)
    return (text if simple else None), True if end or simple else None


def _read_exception_row(header: list[Column], row: Node, scope: Scope, out: Collector) -> None:
    """Read one row of exceptions with a message column or a message in the words."""
    cell = _cell(row, header, ("exception", "name"))
    inner = scope._replace(role="raises")
    before = len(out.raises)
    claims = add_raise(cell, inner, out)
    if len(claims) != 1 or claims[0].message is not None:
        return
    message = _cell(row, header, ("message",))
    text = unquoted(message.plain) if message.plain and not is_nothing(message.marked) else None
    words = _words(header, row)
    joined = Inline(f"{cell.marked}: {words}", row.line)
    if text is None and words:
        del out.raises[before:]
        claims = add_raise(joined, inner, out)
    if text is not None and claims:
        out.raises[before:] = [claims[0]._replace(message=text, text=ticked(joined.marked))]


def _read_value_row(leader: Column, header: list[Column], row: Node, scope: Scope, out: Collector) -> None:
    """Read one row of constants or enum members."""
    cell = _cell(row, header, (leader, "name"))
    entry = read_entry(cell.marked)
    if entry is None:
        return
    value = _cell(row, header, ("value", "default"))
    texts, _ = lead_texts(value.marked)
    text = texts[0] if len(texts) == 1 else value.plain
    typed = _cell(row, header, ("type",)).plain or entry.type
    words = " | ".join(ticked(one.marked) for one in row.cells)
    for name in entry.names:
        given = (text if texts or is_literal(text) else None) or entry.default
        out.constants.append(ConstantClaim(row.line, name, scope.subject, given, typed or None, words))
        if leader == "constant":
            out.add_symbol(Named(name, "constant", coded=True), scope, row.line, "table", words)


def _read_symbol_row(header: list[Column], top: Node, row: Node, scope: Scope, out: Collector) -> None:
    """Read one row that documents a symbol, with what it returns and raises."""
    cell = _cell(row, header, ("symbol", "name"))
    texts, _ = lead_texts(cell.marked)
    coded = CODE_ON in cell.marked
    named = read_named(texts[0] if len(texts) == 1 else cell.plain, coded, row.line)
    if named is None:
        return
    role = role_of(top.cells[header.index("symbol")].plain) if "symbol" in header else scope.role
    role = role if role in SYMBOL_ROLES else scope.role
    kind = named.kind_word or (SYMBOL_ROLES.get(role) if role is not None else None) or _header_kind(header, top)
    named = named._replace(kind_word=kind)
    out.add_symbol(named, scope, row.line, "table", " | ".join(ticked(one.marked) for one in row.cells))
    inner = scope.about(named)
    returns = _cell(row, header, ("returns",))
    if returns.plain and (typed := returned_type(returns.marked)):
        out.returns.append(ReturnClaim(row.line, inner.subject, typed, text=ticked(returns.marked)))
    raised = _cell(row, header, ("exception",))
    if raised.plain and not is_nothing(raised.marked):
        add_raise(raised, inner._replace(role="raises"), out)
    out.add_sentences(Inline(_words(header, row), row.line), inner)


def _header_kind(header: list[Column], top: Node) -> str | None:
    """Return the kind word in the header of the symbol column."""
    title = title_of(top.cells[header.index("symbol")].plain) if "symbol" in header else ""
    kind = title.removesuffix(" name")
    return kind if kind in ("function", "method", "class", "property", "enum") else None


def _read_return_rows(header: list[Column], body: list[Node], scope: Scope, out: Collector) -> None:
    """Read a table of types under "Returns": a single row is the result."""
    if len(body) == 1:
        cell = _cell(body[0], header, ("returns", "type"))
        words = _words(header, body[0])
        add_return(Inline(f"{cell.marked}: {words}" if words else cell.marked, body[0].line), scope, out)


def _read_prose(header: list[Column], body: list[Node], scope: Scope, out: Collector) -> None:
    """Add the sentences in cells of words, unless the rows are exceptions or symbols, which read their own."""
    if {"exception", "symbol"} & set(header):
        return
    for row in body:
        for column, cell in zip(header, row.cells, strict=False):
            if column == "words":
                out.add_sentences(cell, scope)
