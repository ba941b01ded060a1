"""Docstring blocks inside Markdown, read by their raw lines: Google style, RST field lists, NumPy entries."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from reflexion.evidence.claims import ConstantClaim, ListStyle, ReturnClaim
from reflexion.evidence.collector import Collector, Scope
from reflexion.evidence.entries import Entry, qualified, read_entry, with_words
from reflexion.evidence.inline import Inline, plain, read_inline, ticked
from reflexion.evidence.roles import add_constant, add_raise, add_return, is_nothing, list_role
from reflexion.evidence.statements import keys_in
from reflexion.evidence.syntax import is_literal
from reflexion.evidence.words import Role, role_of
from reflexion.patterns import regex

_GOOGLE = regex(r"^(?P<indent>[ \t]*)(?P<title>[A-Z][A-Za-z ]{2,24}):[ \t]*$")
_FIELD = regex(r"^[ \t]*:(?P<field>[a-z]+)(?P<args>(?:\s+[^:\n]*)?):(?:[ \t]+(?P<text>.*))?$")
_FIELDS = frozenset(
    {
        "param",
        "parameter",
        "arg",
        "argument",
        "key",
        "keyword",
        "kwarg",
        "type",
        "raises",
        "raise",
        "except",
        "exception",
    }
    | {"return", "returns", "rtype", "yields", "yield", "ytype", "ivar", "cvar", "var", "vartype"}
)
_NUMPY = regex(r"^(?P<names>\*{0,2}[A-Za-z_]\w*(?:\s*,\s*\*{0,2}[A-Za-z_]\w*)*)(?:\s+:\s+(?P<type>.+))?$")
_UNDERLINE = regex(r"^[ \t]*-{3,}[ \t]*$")
_ROLES: frozenset[Role] = frozenset({"parameters", "attributes", "returns", "yields", "raises", "members"})


class Line(NamedTuple):
    """One raw line of a block: its number in the document, its indentation and its text."""

    number: int
    indent: int
    text: str


def block_lines(lines: Sequence[str], first: int, last: int) -> list[Line]:
    """Return the lines ``first`` to ``last`` (from 1) of a document, quote marks in front taken off."""
    found = []
    for number in range(first, min(last, len(lines)) + 1):
        raw = re.sub(r"^(?:[ ]{0,3}>[ ]?)+", "", lines[number - 1]).expandtabs(4)
        found.append(Line(number, len(raw) - len(raw.lstrip()), raw.strip()))
    return found


def has_sections(lines: list[Line]) -> bool:
    """Say whether lines hold a Google section, an RST field or an underlined NumPy section."""
    for index, line in enumerate(lines):
        field = _FIELD.match(line.text)
        if field and field.group("field") in _FIELDS:
            return True
        if _section(lines, index) is not None:
            return True
    return False


def _section(lines: list[Line], index: int) -> tuple[Role, int] | None:
    """Return role and number of title lines of the section that begins at a line, or None."""
    line = lines[index]
    following = lines[index + 1] if index + 1 < len(lines) else None
    if following is None or not line.text:
        return None
    if _UNDERLINE.match(following.text) and (role := role_of(line.text)) in _ROLES and role is not None:
        return role, 2
    found = _GOOGLE.match(line.text)
    role = role_of(found.group("title")) if found else None
    body = next((one for one in lines[index + 1 : index + 4] if one.text), None)
    if role in _ROLES and role is not None and body is not None and body.indent > line.indent:
        return role, 1
    return None


def read_docstring(lines: list[Line], scope: Scope, out: Collector) -> None:
    """Add the claims of a docstring block, prose included."""
    index = 0
    prose: list[Line] = []
    fields: list[tuple[re.Match[str], Line, str]] = []
    while index < len(lines):
        section = _section(lines, index)
        field = _FIELD.match(lines[index].text)
        if section is not None:
            index = _read_section(lines, index, section, scope, out)
        elif field and field.group("field") in _FIELDS:
            end = _body_end(lines, index + 1, lines[index].indent)
            text = " ".join([field.group("text") or "", *(line.text for line in lines[index + 1 : end])])
            fields.append((field, lines[index], text))
            index = end
        else:
            prose.append(lines[index])
            index += 1
    _add_fields(fields, scope, out)
    _add_prose(prose, scope, out)


def _add_prose(prose: list[Line], scope: Scope, out: Collector) -> None:
    """Add the sentences of the lines outside sections, a paragraph at a time."""
    paragraph: list[Line] = []
    for line in [*prose, Line(0, 0, "")]:
        if line.text and (not paragraph or line.number == paragraph[-1].number + 1):
            paragraph.append(line)
            continue
        if paragraph:
            out.add_sentences(_inline(paragraph), scope)
        paragraph = [line] if line.text else []


def _inline(lines: list[Line]) -> Inline:
    """Return lines as one marked text."""
    return read_inline("\n".join(line.text for line in lines), lines[0].number)


def _body_end(lines: list[Line], start: int, indent: int) -> int:
    """Return the index after the lines that are indented more than ``indent``."""
    end = start
    while end < len(lines) and (not lines[end].text or lines[end].indent > indent):
        end += 1
    while end > start and not lines[end - 1].text:
        end -= 1
    return end


def _read_section(lines: list[Line], index: int, section: tuple[Role, int], scope: Scope, out: Collector) -> int:
    """Read one Google or NumPy section and return the index after it."""
    role, size = section
    title = lines[index]
    inner = scope._replace(role=role, line=title.number)
    start = index + size
    if size == 2:
        end = _numpy_end(lines, start, title.indent)
        read_numpy(lines[start:end], inner, out)
        return end
    end = _body_end(lines, start, title.indent)
    _read_google(lines[start:end], inner, out)
    return max(end, start)


def _numpy_end(lines: list[Line], start: int, indent: int) -> int:
    """Return the index where the next section begins or the text leaves the block."""
    for index in range(start, len(lines)):
        underlined = index + 1 < len(lines) and _UNDERLINE.match(lines[index + 1].text)
        if underlined or (lines[index].text and lines[index].indent < indent):
            return index
    return len(lines)


def _groups(lines: list[Line]) -> list[list[Line]]:
    """Split lines into entries: each begins at the least indentation."""
    texts = [line for line in lines if line.text]
    least = min((line.indent for line in texts), default=0)
    groups: list[list[Line]] = []
    for line in texts:
        if line.indent <= least or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


def _read_google(lines: list[Line], scope: Scope, out: Collector) -> None:
    """Read the body of a Google section."""
    groups = [_unbulleted(group) for group in _groups(lines)]
    if scope.role == "raises":
        for group in groups:
            add_raise(_inline(group), scope, out)
    elif scope.role == "members":
        for group in groups:
            _add_member(_inline(group), scope, out)
    elif scope.role in ("returns", "yields"):
        text = [line for group in groups for line in group]
        if text:
            add_return(_inline(text), scope, out)
    else:
        _add_entries([(group[0].number, read_entry(_inline(group).marked)) for group in groups], scope, out, "google")


def _add_member(inline: Inline, scope: Scope, out: Collector) -> None:
    """Read ``NAME: value``."""
    found = re.match(r"([A-Za-z_]\w*)\s*(?::|=)\s*(.+)$", plain(inline.marked))
    if found and is_literal(found.group(2)):
        out.constants.append(
            ConstantClaim(inline.line, found.group(1), scope.subject, found.group(2), None, ticked(inline.marked))
        )
    else:
        add_constant(inline, scope, out)


def _unbulleted(group: list[Line]) -> list[Line]:
    """Take a bullet off the first line of an entry."""
    return [group[0]._replace(text=re.sub(r"^[-*+]\s+", "", group[0].text)), *group[1:]]


def _add_entries(found: list[tuple[int, Entry | None]], scope: Scope, out: Collector, style: ListStyle) -> None:
    """Add the entries of a parameter section."""
    entries = [(line, entry) for line, entry in found if entry is not None]
    if entries:
        out.add_list(entries, scope, style, list_role(scope))


def read_numpy(lines: list[Line], scope: Scope, out: Collector) -> bool:
    """Read the body of a NumPy section; say whether its lines have that form."""
    groups = _groups(lines)
    if scope.role in ("parameters", "attributes"):
        found = [(group[0].number, _numpy_entry(group)) for group in groups]
        if not any(entry is not None for _, entry in found):
            return False
        _add_entries(found, scope, out, "numpy")
        return True
    if scope.role == "constants":
        done = [_add_numpy_constant(group, scope, out) for group in groups]
        return all(done)
    for group in groups:
        if scope.role == "raises":
            _add_numpy_raise(group, scope, out)
        elif scope.role in ("returns", "yields"):
            _add_numpy_return(group, scope, out)
    return True


def looks_numpy(lines: list[Line]) -> bool:
    """Say whether lines are entries of a NumPy section: ``name : type``, or words indented under a name."""
    least = lines[0].indent if lines else 0
    return any(" : " in line.text for line in lines) or any(line.indent > least for line in lines[1:])


def _numpy_entry(group: list[Line]) -> Entry | None:
    """Read ``name : type, optional`` with the indented words below."""
    found = _NUMPY.match(group[0].text.replace("`", ""))
    if found is None or (found.group("type") is None and len(group) == 1):
        return None
    names = tuple(name.strip().lstrip("*") for name in found.group("names").split(","))
    words = _inline(group[1:]).marked if len(group) > 1 else ""
    entry = qualified(Entry(names, True), found.group("type") or "")
    return with_words(entry._replace(rest=words))


def _add_numpy_constant(group: list[Line], scope: Scope, out: Collector) -> bool:
    """Read ``NAME : type`` with its value below."""
    found = _NUMPY.match(group[0].text.replace("`", ""))
    if found is None or len(group) < 2 or found.group("type") is None:
        return False
    value = plain(_inline(group[1:]).marked)
    name, typed = found.group("names"), found.group("type")
    out.constants.append(ConstantClaim(group[0].number, name, scope.subject, value, typed, f"{name} = {value}"))
    return True


def _add_numpy_raise(group: list[Line], scope: Scope, out: Collector) -> None:
    """Read an exception with its indented condition."""
    joined = [group[0]._replace(text=group[0].text + (":" if len(group) > 1 else "")), *group[1:]]
    add_raise(_inline(joined), scope, out)


def _add_numpy_return(group: list[Line], scope: Scope, out: Collector) -> None:
    """Read ``name : type`` or ``type`` with its indented words."""
    _, colon, typed = group[0].text.partition(" : ")
    text = typed if colon else group[0].text
    if not is_nothing(text):
        text += ": " if len(group) > 1 else ""
    add_return(_inline([group[0]._replace(text=text), *group[1:]]), scope, out)


def _add_fields(fields: list[tuple[re.Match[str], Line, str]], scope: Scope, out: Collector) -> None:
    """Add the claims of an RST field list."""
    types = {
        field.group("args").strip(): text.strip()
        for field, _, text in fields
        if field.group("field") in ("type", "vartype")
    }
    entries: list[tuple[int, Entry | None]] = []
    attributes: list[tuple[int, Entry | None]] = []
    for field, line, text in fields:
        kind, args = field.group("field"), field.group("args").split()
        marked = read_inline(text.strip(), line.number).marked
        if kind in ("param", "parameter", "arg", "argument", "key", "keyword", "kwarg") and args:
            entries.append((line.number, _field_entry(args, marked, types)))
        elif kind in ("ivar", "cvar", "var") and args:
            attributes.append((line.number, _field_entry(args, marked, types)))
        elif kind in ("raises", "raise", "except", "exception") and args:
            add_raise(read_inline(f"{args[0]}: {text.strip()}", line.number), scope._replace(role="raises"), out)
    _add_entries(entries, scope._replace(role="parameters", line=0), out, "rst")
    _add_entries(attributes, scope._replace(role="attributes", line=0), out, "rst")
    _add_field_returns(fields, scope, out)


def _field_entry(args: list[str], marked: str, types: dict[str, str]) -> Entry:
    """Return the entry of ``:param int x: words``."""
    name = args[-1].lstrip("\\*")
    typed = " ".join(args[:-1]) or types.get(args[-1]) or ""
    entry = qualified(Entry((name,), True), read_inline(typed, 1).marked)
    return with_words(entry._replace(rest=marked))


def _add_field_returns(fields: list[tuple[re.Match[str], Line, str]], scope: Scope, out: Collector) -> None:
    """Join ``:return:`` and ``:rtype:`` into one claim."""
    said = next(
        (
            (line, text)
            for field, line, text in fields
            if field.group("field") in ("return", "returns", "yields", "yield")
        ),
        None,
    )
    typed = next(((line, text) for field, line, text in fields if field.group("field") in ("rtype", "ytype")), None)
    if typed is not None:
        line, text = typed[0], typed[1].strip()
        keys = keys_in(read_inline(said[1], said[0].number).marked) if said else None
        none = is_nothing(text)
        words = ticked(read_inline(said[1], said[0].number).marked) if said else text
        out.returns.append(
            ReturnClaim(line.number, scope.subject, None if none else text.strip("`"), keys, none=none, text=words)
        )
    elif said is not None:
        add_return(read_inline(said[1].strip(), said[0].number), scope._replace(role="returns"), out)
