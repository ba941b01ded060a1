"""The sections of a document: which symbol and which role each heading opens."""

import re
from dataclasses import dataclass, field

from reflexion.evidence.claims import RaiseClaim
from reflexion.evidence.collector import Collector, Scope, qualified_name
from reflexion.evidence.entries import read_entry
from reflexion.evidence.inline import CODE_OFF, CODE_ON, Inline, ticked
from reflexion.evidence.lists import SYMBOL_ROLES
from reflexion.evidence.markup import Node
from reflexion.evidence.roles import HISTORY_ROLES, add_constant, constant_of, list_role
from reflexion.evidence.sentences import EXCEPTION
from reflexion.evidence.titles import Named, Title, is_sure, read_title
from reflexion.evidence.words import Role

_LOCAL: frozenset[Role] = frozenset({"parameters", "returns", "yields", "attributes", "signature", "examples", "bases"})
# These may as well be about the module, unless a heading of the kind above came before.
_AFTER_LOCAL: frozenset[Role] = frozenset({"raises", "module", "foreign"})
_NUMPY_LEVEL = 2


@dataclass(slots=True)
class Outline:
    """The open sections, outermost first: heading level and scope of each."""

    stack: list[tuple[int, Scope]] = field(default_factory=lambda: [(0, Scope())])

    def open(self, node: Node, scope: Scope, out: Collector) -> Scope:
        """Open the section of a heading: add what the heading claims, return the section's scope."""
        inline = node.inline or Inline("", node.line)
        inline = _without_links(inline)
        title = read_title(inline.marked, node.line)
        if node.setext and node.level == _NUMPY_LEVEL and title.role in _LOCAL | {"raises"} and scope.subject:
            return scope.with_role(title.role, node.line)
        beside = self._close(node.level)
        parent = self.stack[-1][1]
        inner = self._scope(title, inline, node, parent, beside, out)
        self.stack.append((node.level, inner))
        return inner

    def _close(self, level: int) -> Scope | None:
        """Close the sections that a heading of this level ends; return the one of the same level, if any."""
        beside = None
        while len(self.stack) > 1 and self.stack[-1][0] >= level:
            found, scope = self.stack.pop()
            beside = scope if found == level else beside
        return beside

    def _scope(
        self, title: Title, inline: Inline, node: Node, parent: Scope, beside: Scope | None, out: Collector
    ) -> Scope:
        """Return the scope of a section and add its heading's claims."""
        if title.role is not None:
            scope = self._role_scope(title, node, parent, beside)
            return _perhaps_class(title.role, inline, node, scope, parent, out)
        inner = parent._replace(role=None, led=False, attached=False, blocked=False, line=node.line)
        if not title.symbols:
            return inner
        if len(title.symbols) > 1:
            for named in title.symbols:
                out.add_symbol(
                    named, parent, node.line, "heading", ticked(inline.marked), sure=is_sure(named, node.level)
                )
            return inner._replace(subject=None, kind_word=None)
        return self._symbol_scope(title.symbols[0], inline, node, parent, out)

    def _role_scope(self, title: Title, node: Node, parent: Scope, beside: Scope | None) -> Scope:
        """Return the scope of a heading such as "Parameters"."""
        role = title.role
        if title.of is not None:
            subject = qualified_name(None if parent.page else parent.subject, parent.kind_word, title.of)
            return parent._replace(subject=subject, attached=False).with_role(role, node.line)
        own = beside is not None and beside.subject is not None and beside.subject != parent.subject
        if beside is not None and own and (role in _LOCAL or (beside.attached and role in _AFTER_LOCAL)):
            return beside._replace(foreign=parent.foreign, attached=True).with_role(role, node.line)
        return parent._replace(attached=False, led=False).with_role(role, node.line)

    def _symbol_scope(self, named: Named, inline: Inline, node: Node, parent: Scope, out: Collector) -> Scope:
        """Return the scope of a symbol's heading, or of an entry that stands as a heading."""
        text = ticked(inline.marked)
        inner = parent._replace(role=None, led=False, attached=False, line=node.line)
        if self._add_entry(named, inline, node, parent, out):
            return inner._replace(entry=True)
        kind = named.kind_word or (SYMBOL_ROLES.get(parent.role) if parent.role is not None else None)
        named = named._replace(kind_word=kind)
        sure = is_sure(named, node.level) and parent.role not in ("examples", "raises")
        out.add_symbol(named, parent, node.line, "heading", text, sure=sure)
        _add_value(named, inline, parent, out)
        page = node.level == 1 and not sure
        # With a subject from outside, the page's first heading is its title.
        return inner if page and parent.subject is not None else inner.about(named)._replace(page=page)

    def _add_entry(self, named: Named, inline: Inline, node: Node, parent: Scope, out: Collector) -> bool:
        """Add a heading that is an entry of its section: a parameter, an exception, a constant."""
        if parent.subject is None or parent.foreign or named.called:
            return False
        entry = read_entry(inline.marked)
        if parent.role in ("parameters", "attributes") and entry is not None:
            out.add_list([(node.line, entry)], parent, "list", list_role(parent))
            return True
        if parent.role == "raises" and EXCEPTION.fullmatch(named.name):
            out.raises.append(RaiseClaim(node.line, parent.subject, named.name, None, ticked(inline.marked)))
            return True
        return parent.role in ("constants", "members") and add_constant(inline, parent, out)

    def lifted(self, base: Scope, scope: Scope, node: Node) -> Scope:
        """Give the section around a "Signature" section the symbol that its fence shows; return the section's scope."""
        if (
            node.kind != "fence"
            or scope.subject == base.subject
            or base.subject is not None
            or base.role != "signature"
        ):
            return base
        if len(self.stack) > 1 and self.stack[-2][1].subject is None:
            level, outer = self.stack[-2]
            self.stack[-2] = (level, outer._replace(subject=scope.subject, kind_word=scope.kind_word))
        return base._replace(subject=scope.subject, kind_word=scope.kind_word)


def _without_links(inline: Inline) -> Inline:
    """Return a heading without the links and badges behind the name in code: ``[source](mod.py)``."""
    marked = inline.marked
    for link in inline.links[:8]:
        if link.text:
            marked = re.sub(rf"(?<={CODE_OFF})\s*[(\[]*\s*{re.escape(link.text)}[ ]*[)\]]*(?=\W|$)", "", marked)
    return inline._replace(marked=marked)


def _perhaps_class(role: Role, inline: Inline, node: Node, scope: Scope, parent: Scope, out: Collector) -> Scope:
    """Let a heading such as "Version", or "Options" in code, stand for a class of that name as well as for its role."""
    name = inline.plain
    coded = inline.marked.strip() == f"{CODE_ON}{name}{CODE_OFF}" and (parent.page or not parent.subject)
    if not (coded or role in HISTORY_ROLES) or not name.isalpha() or not name[:1].isupper() or node.level == 1:
        return scope
    named = Named(name)
    out.add_symbol(named, parent, node.line, "heading", name, sure=False)
    if coded:
        return parent._replace(led=False, attached=False, blocked=False, line=node.line).about(named)
    return scope._replace(subject=parent.of(named), kind_word=None, page=False)


def _add_value(named: Named, inline: Inline, parent: Scope, out: Collector) -> None:
    """Add the value in a heading such as ``MAX_RETRIES = 3``."""
    entry = read_entry(inline.marked) if named.name.rpartition(".")[2].isupper() and not named.called else None
    if entry is None:
        return
    value, _ = constant_of(entry)
    if value is not None:
        add_constant(inline, parent._replace(role=None), out)
