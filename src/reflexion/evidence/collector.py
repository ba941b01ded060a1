"""Where the readers of a document put what they find: the claims so far, and the scope that they stand in."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from reflexion.evidence.claims import (
    BaseClaim,
    ConstantClaim,
    DenialClaim,
    Example,
    HistoryClaim,
    HistoryKind,
    LinkClaim,
    ListRole,
    ListStyle,
    Mention,
    ParameterClaim,
    ParameterList,
    Place,
    RaiseClaim,
    ReturnClaim,
    SignatureClaim,
    SymbolClaim,
    TypeClaim,
)
from reflexion.evidence.entries import Entry
from reflexion.evidence.inline import CODE_OFF, CODE_ON, Inline, plain, ticked
from reflexion.evidence.sentences import denials_in, history_in, raises_in, returned_in
from reflexion.evidence.signatures import NAME
from reflexion.evidence.statements import (
    Stated,
    base_at_front,
    bases_in,
    constants_in,
    defaults_in,
    enum_before,
    kind_in,
    returned_keys_in,
    says_no_parameters,
    types_in,
)
from reflexion.evidence.titles import Named, is_class_like
from reflexion.evidence.told_types import told_types
from reflexion.evidence.words import Role
from reflexion.patterns import regex

_MENTION = regex(rf"{CODE_ON}({NAME})(\([^{CODE_OFF}]*\))?{CODE_OFF}")
_SUBJECT = regex(
    rf"^\W*(?:the\s+)?{CODE_ON}(?P<name>{NAME})(?:\([^{CODE_OFF}]*\))?{CODE_OFF}\s+(?:\w+\s+)?(?:(?:also|may|can|will|does|never)\s+)*"
    r"(?:raises?|throws?|returns?|not)\b",
    re.IGNORECASE,
)


class Scope(NamedTuple):
    """What a place of the document is about: the symbol, the role of the section or lead-in, and since which line.

    ``foreign``: the section is about other things (dependencies, command line). ``led``: the role comes from a
    lead-in, which ends with the list or paragraph after it. ``attached``: a role heading that stands at the level of
    its symbol's heading. ``entry``: inside an entry of a list, whose words are about that entry. ``blocked``: a list
    without a lead-in of its own is announced as something else than parameters. ``page``: the symbol is that of the
    page's first heading, which may as well be its title, so it qualifies no other name.
    """

    subject: str | None = None
    kind_word: str | None = None
    role: Role | None = None
    line: int = 0
    foreign: bool = False
    led: bool = False
    attached: bool = False
    entry: bool = False
    blocked: bool = False
    page: bool = False

    def names(self, name: str) -> bool:
        """Say whether a name is that of the scope's symbol, as far as both say."""
        return self.subject is not None and self.subject.rpartition(".")[2] == name.rpartition(".")[2]

    def outside(self) -> "Scope":
        """Return the scope around the scope's symbol."""
        head = (self.subject or "").rpartition(".")[0]
        return self._replace(subject=head or None, kind_word="class" if head else None, role=None, led=False)

    def of(self, named: Named) -> str:
        """Return the dotted name of a symbol in this scope."""
        return qualified_name(None if self.page else self.subject, self.kind_word, named.name)

    def about(self, named: Named) -> "Scope":
        """Return the scope of a symbol in this one."""
        return self._replace(
            subject=self.of(named),
            kind_word=named.kind_word,
            role=None,
            led=False,
            attached=False,
            entry=False,
            blocked=False,
            page=False,
        )

    def with_role(self, role: Role | None, line: int, *, led: bool = False) -> "Scope":
        """Return this scope under a role."""
        return self._replace(role=role, line=line, led=led, blocked=False, foreign=self.foreign or role == "foreign")


def qualified_name(owner: str | None, owner_kind: str | None, name: str) -> str:
    """Return ``owner.name`` where the owner can hold members and the name does not say so itself."""
    if owner is None or not is_class_like(owner, owner_kind) or name == owner:
        return name
    head = name.partition(".")[0]
    return name if "." in name and head == owner.rpartition(".")[2] else f"{owner}.{name}"


@dataclass(slots=True)
class Collector:
    """The claims found so far."""

    symbols: list[SymbolClaim] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    signatures: list[SignatureClaim] = field(default_factory=list)
    parameters: list[ParameterClaim] = field(default_factory=list)
    lists: list[ParameterList] = field(default_factory=list)
    returns: list[ReturnClaim] = field(default_factory=list)
    types: list[TypeClaim] = field(default_factory=list)
    raises: list[RaiseClaim] = field(default_factory=list)
    denials: list[DenialClaim] = field(default_factory=list)
    constants: list[ConstantClaim] = field(default_factory=list)
    bases: list[BaseClaim] = field(default_factory=list)
    history: list[HistoryClaim] = field(default_factory=list)
    links: list[LinkClaim] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    orphans: int = 0

    def add_symbol(self, named: Named, scope: Scope, line: int, where: Place, text: str, *, sure: bool = True) -> None:
        """Add a documented symbol, with its signature where one is written."""
        sure = sure and not scope.foreign
        if named.name.rpartition(".")[2] in ("__init__", "__new__"):
            # A constructor is documented as a function, a method or a part of its class: no word is wrong.
            named = named._replace(kind_word=None)
        self.symbols.append(SymbolClaim(line, named.name, scope.subject, named.kind_word, where, text, sure))
        if named.signature is not None and sure:
            kind = named.kind_word or ""
            if named.signature.bases:
                subject = qualified_name(scope.subject, scope.kind_word, named.name)
                self.bases.append(BaseClaim(line, subject, named.signature.bases, text))
            self.signatures.append(
                named.signature._replace(
                    line=line,
                    subject=scope.subject,
                    where=where,
                    is_async=named.signature.is_async or kind.startswith("async"),
                    is_class=named.signature.is_class or kind.endswith("class"),
                )
            )

    def add_list(
        self, entries: list[tuple[int, Entry]], scope: Scope, style: ListStyle, role: ListRole = "parameter"
    ) -> None:
        """Add a list of parameters or attributes, or go on with the one of the same place.

        One of parameters without a known subject is no claim.
        """
        self.note_orphan(scope)
        if scope.subject is None and role == "parameter":
            return
        index = self._open_list(scope, role, entries)
        list_id = self.lists[index].list_id if index is not None else len(self.lists)
        names = tuple(name for _, entry in entries for name in entry.names)
        for line, entry in entries:
            for name in entry.names:
                claim = ParameterClaim(
                    line, scope.subject, name, entry.type, entry.default, entry.optional, list_id, role
                )
                self.parameters.append(claim._replace(text=ticked(entry.rest)))
        last = max((line for line, _ in entries), default=scope.line)
        if index is None:
            first = (
                scope.line
                if scope.role in ("parameters", "attributes") and scope.line
                else min(last, *(line for line, _ in entries), last)
            )
            self.lists.append(ParameterList(first, last, scope.subject, list_id, names, style, role))
        else:
            old = self.lists[index]
            self.lists[index] = old._replace(end_line=max(old.end_line, last), names=old.names + names)

    def note_orphan(self, scope: Scope) -> None:
        """Count claims that name no symbol, or only the page's title."""
        self.orphans += scope.subject is None or scope.page

    def signature_of(self, scope: Scope) -> SignatureClaim | None:
        """Return the latest full signature of the scope's symbol, or None."""
        last = (scope.subject or "").rpartition(".")[2]
        for claim in self.signatures[:-9:-1]:
            if claim.name.rpartition(".")[2] == last and not claim.abridged:
                return claim
        return None

    def implied_role(self, entries: list[Entry], scope: Scope) -> Role | None:
        """Return what entries without a lead-in are, right in the section of a symbol, or None.

        They are parameters where the section's signature has them, or where each has a type and no class is meant.
        """
        closed = scope.entry or scope.foreign or scope.blocked or scope.page
        if (
            scope.subject is None
            or closed
            or not entries
            or any(name.isupper() for one in entries for name in one.names)
        ):
            return None
        typed = all(entry.sure and (entry.type or entry.default) for entry in entries)
        signature = self.signature_of(scope)
        names = {one.name for one in signature.parameters} if signature else set()
        known = [name in names for entry in entries for name in entry.names]
        class_like = is_class_like(scope.subject, scope.kind_word)
        if names and (all(known) if class_like else any(known)):
            return "parameters"
        if not typed or (names and not class_like):
            return None
        return "attributes" if class_like else "parameters"

    def _open_list(self, scope: Scope, role: ListRole, entries: list[tuple[int, Entry]]) -> int | None:
        """Return the index of the latest list where this one goes on with it, or None."""
        if not self.lists or not entries:
            return None
        old = self.lists[-1]
        same = old.subject == scope.subject and old.role == role
        return len(self.lists) - 1 if same and scope.line and old.line == scope.line and old.names else None

    def add_history(self, line: int, kind: HistoryKind, text: str) -> None:
        """Add a version, author, date, change or licence, once a line and kind."""
        claim = HistoryClaim(line, kind, text)
        if not any(old.line == line and old.kind == kind for old in self.history[-4:]):
            self.history.append(claim)

    def add_sentences(self, inline: Inline, scope: Scope, *, raising: bool = True) -> None:
        """Add what the sentences of a text state."""
        named = _SUBJECT.match(inline.marked)
        subject = scope.subject
        if named:
            name = named.group("name")
            same = subject is not None and subject.rpartition(".")[2] == name
            subject = subject if same else qualified_name(subject, scope.kind_word, name)
        if raising:
            for said in raises_in(inline.marked):
                self.raises.append(
                    RaiseClaim(inline.line_at(said.at), subject, said.type or "", said.message, said.text)
                )
        for said in denials_in(inline.marked):
            self.denials.append(DenialClaim(inline.line_at(said.at), subject, said.type, said.text))
        for said in returned_in(inline.marked):
            self.returns.append(ReturnClaim(inline.line_at(said.at), subject, said.type, text=said.text))
        for at, kind, text in history_in(inline.marked):
            self.add_history(inline.line_at(at), kind, text)
        if not scope.entry:
            self._add_statements(inline, scope._replace(subject=subject))
        self.add_mentions(inline, scope)

    def _add_statements(self, inline: Inline, scope: Scope) -> None:
        """Add what sentences state about bases, values, kind, types and missing parameters."""
        marked = inline.marked
        for said in bases_in(marked):
            self._add_bases(said, inline.line_at(said.at), scope)
        owner = scope.subject if scope.subject and is_class_like(scope.subject, scope.kind_word) else None
        for said in constants_in(marked):
            subject = enum_before(marked, said.at) or owner
            line = inline.line_at(said.at)
            self.constants.append(ConstantClaim(line, said.name or "", subject, said.values[0], said.type, said.text))
        if scope.subject is None:
            return
        first = base_at_front(marked) if owner is not None or scope.kind_word is None else None
        if first is not None and (first.name is None or scope.names(first.name)) and self._opens(scope):
            self._add_bases(first._replace(name=None), inline.line, scope)
        self._add_defaults(inline, scope)
        self._add_types(inline, scope, scope.subject)
        if owner is None:
            self._add_callable(inline, scope, scope.subject)

    def _add_callable(self, inline: Inline, scope: Scope, subject: str) -> None:
        """Add what sentences state about a function: its kind, what it returns, that it takes nothing."""
        marked = inline.marked
        kind = kind_in(marked)
        if kind is not None:
            line = inline.line_at(kind[0])
            self.symbols.append(SymbolClaim(line, subject, None, kind[1], "text", ticked(marked), False))
        for said in returned_keys_in(marked):
            self.returns.append(ReturnClaim(inline.line_at(said.at), subject, None, said.values, text=said.text))
        for said in types_in(marked):
            self.returns.append(ReturnClaim(inline.line_at(said.at), subject, said.values[0], text=said.text))
        none = says_no_parameters(marked)
        if none is not None:
            self.add_list([], scope._replace(line=inline.line_at(none)), "prose")

    def _opens(self, scope: Scope) -> bool:
        """Say whether the scope's class has no base classes yet."""
        return not self.bases or self.bases[-1].subject != scope.subject

    def _add_defaults(self, inline: Inline, scope: Scope) -> None:
        """Add the defaults that sentences give to parameters of the section's signature; these stand in no list."""
        signature = self.signature_of(scope)
        if signature is None or scope.page:
            return
        for said in defaults_in(inline.marked, frozenset(one.name for one in signature.parameters)):
            line = inline.line_at(said.at)
            claim = ParameterClaim(line, scope.subject, said.name or "", None, said.values[0], None, -1, text=said.text)
            self.parameters.append(claim)

    def _add_types(self, inline: Inline, scope: Scope, subject: str) -> None:
        """Add the types that sentences give. Under "Returns" and the like a name need not be a parameter's."""
        if scope.page or scope.foreign or scope.role not in (None, "parameters"):
            return
        for said in told_types(inline.marked):
            self.types.append(TypeClaim(inline.line_at(said.at), subject, said.name, said.values[0], said.text))

    def _add_bases(self, said: Stated, line: int, scope: Scope) -> None:
        """Add base classes; a class that only a sentence names is documented there, if weakly."""
        subject = said.name or scope.subject
        if subject is None or (said.name is None and not is_class_like(subject, scope.kind_word)):
            return
        if said.name is not None and said.name != (scope.subject or "").rpartition(".")[2]:
            self.symbols.append(SymbolClaim(line, said.name, None, "class", "text", said.text, False))
        elif scope.subject is not None:
            subject = scope.subject
        self.bases.append(BaseClaim(line, subject, said.values, said.text))

    def add_mentions(self, inline: Inline, scope: Scope) -> None:
        """Add the code spans that look like symbols."""
        for found in _MENTION.finditer(inline.marked):
            name, call = found.group(1), found.group(2)
            line = inline.line_at(found.start())
            self.mentions.append(Mention(line, name, call is not None, scope.subject))
            shown = call and call.strip("() ") and not re.search(r"[\"']", call)
            if call and shown and not scope.entry and not scope.names(name):
                claim = SymbolClaim(line, name, scope.subject, None, "text", f"{name}{plain(call)}", False)
                self.symbols.append(claim)
