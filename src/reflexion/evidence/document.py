"""Claims of a document: what its Markdown says about a module, with lines. Any text can be read; nothing raises."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from reflexion.evidence.claims import Claims, ConstantClaim, LinkClaim, SymbolClaim
from reflexion.evidence.collector import Collector, Scope
from reflexion.evidence.docstrings import block_lines, has_sections, looks_numpy, read_docstring, read_numpy
from reflexion.evidence.entries import Entry, lead_texts, read_entry
from reflexion.evidence.fences import read_fence
from reflexion.evidence.htmlblocks import html_nodes
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, Inline, Link, plain, ticked
from reflexion.evidence.layout import blocks_of, silenced_lines
from reflexion.evidence.leads import Lead, admonition, read_lead, split_leads, symbol_lead
from reflexion.evidence.lists import add_exceptions, read_list
from reflexion.evidence.markup import Markup, Node, read_markup
from reflexion.evidence.outline import Outline
from reflexion.evidence.roles import HISTORY_ROLES, add_raise, add_role_text, leads_with_exception, list_role
from reflexion.evidence.sentences import denials_in, message_in
from reflexion.evidence.tables import read_table
from reflexion.evidence.titles import read_named, without_badge
from reflexion.evidence.words import role_of
from reflexion.patterns import regex

_Lined = TypeVar("_Lined", bound="_HasLine")


class _HasLine(Protocol):
    """A claim, as far as its order goes."""

    @property
    def line(self) -> int: ...


_TEXT_ROLES = frozenset({"returns", "yields", "raises", "parameters", "attributes", "bases", "constants", "members"})
_NUMPY_ROLES = frozenset({"returns", "yields", "raises", "parameters", "attributes", "constants"})
_UNDERLINED = regex(r"^\s*([A-Z][A-Za-z ]+)\n[~^=\"'\-]{3,}\s*$")
_MADE = regex(r"(?:^[ \t]*|\bas[ \t]+)([a-z_]\w*)[ \t]*(?:=(?!=)|:[ \t]*$)", re.MULTILINE)
_OUTPUT_LEAD = regex(r"\b(?:outputs?|prints?|displays?|produces?|results?)\b[^.]{0,60}:$", re.IGNORECASE)
_SIGNATURE_LEAD = regex(
    rf"^\s*(?:[{MARK_ON}]?(?:constructor|signature|syntax|call)\s*:?[{MARK_OFF}]?\s*:?\s*)?{CODE_ON}(?P<code>[^{CODE_OFF}]+){CODE_OFF}",
    re.IGNORECASE,
)
_PARAMETER_WORDS = regex(r"\b(?:parameters?|arguments?|args|takes|accepts|inputs?|options)\b", re.IGNORECASE)
_MESSAGE_LEAD = regex(r"^\W*(?:error |exception )?message\W*:", re.IGNORECASE)
_VALUE_LEAD = regex(r"^\W*value\W*[:=]", re.IGNORECASE)


def read_claims(text: str) -> Claims:
    """Return what a Markdown document claims about a module.

    Never raises, whatever the text; the same text gives the same claims. Time grows with the length of the text.
    """
    markup = read_markup(text)
    out = _read(markup, Scope())
    # A page about one function may set its sections beside the signature rather than under it.
    alone = _only_function(out) if out.orphans else None
    if alone is not None:
        out = _read(markup, Scope(subject=alone, kind_word="function"))
    return _claims(out, markup, text)


def _read(markup: Markup, scope: Scope) -> Collector:
    """Read all nodes under a scope."""
    out = Collector()
    reader = _Reader(out, markup)
    reader.walk(list(markup.nodes), scope)
    return out


def _only_function(out: Collector) -> str | None:
    """Return the one function that the document surely documents, or None."""
    names = {claim.name for claim in out.symbols if claim.sure and claim.kind_word != "constant"}
    name = next(iter(names)) if len(names) == 1 else None
    return name if name is not None and name[:1].islower() and "." not in name else None


def _claims(out: Collector, markup: Markup, text: str) -> Claims:
    """Put the claims in document order."""
    links = [
        LinkClaim(link.line, link.url, link.text)
        for link in (*_links(markup), *markup.references)
        if not link.url.startswith("#")
    ]
    return Claims(
        symbols=_in_order(_weakened(out)),
        mentions=_in_order(out.mentions),
        signatures=_in_order(out.signatures),
        parameters=_in_order(out.parameters),
        parameter_lists=_in_order(out.lists),
        returns=_in_order(out.returns),
        types=_in_order(out.types),
        raises=_in_order(out.raises),
        denials=_in_order(out.denials),
        constants=_in_order(out.constants),
        bases=_in_order(out.bases),
        history=_in_order(out.history),
        links=_in_order(links),
        examples=_in_order(out.examples),
        blocks=blocks_of(markup),
        silenced=silenced_lines(markup),
        text=text,
    )


def _weakened(out: Collector) -> list[SymbolClaim]:
    """Return the symbols; those of an object that an example makes (``spinner.stop``) show no invented name."""
    made = {name for example in out.examples for name in _MADE.findall(example.code)}
    return [
        claim._replace(sure=claim.sure and ("." not in claim.name or claim.name.partition(".")[0] not in made))
        for claim in out.symbols
    ]


def _in_order(claims: Iterable[_Lined]) -> tuple[_Lined, ...]:
    """Return claims by line; those of one line stay as they were read."""
    return tuple(sorted(claims, key=lambda claim: claim.line))


def _links(markup: Markup) -> Iterator[Link]:
    """Yield the links of all texts."""
    for node in markup.walk():
        if node.inline is not None:
            yield from node.inline.links
        for cell in node.cells:
            yield from cell.links


@dataclass(slots=True)
class _Reader:
    """Walks the nodes with the scope that they stand in."""

    out: Collector
    markup: Markup
    after_fence: bool = False

    def walk(self, nodes: list[Node], scope: Scope) -> Scope:
        """Read nodes that stand in one scope; headings and lead-ins among them change it for what follows.

        Return the scope after the last of them.
        """
        base = scope
        outline = Outline([(0, scope)])
        for node in _flat(nodes):
            if node.kind == "heading":
                base = scope = outline.open(node, scope, self.out)
            else:
                scope = self.block(node, scope, base)
                base = outline.lifted(base, scope, node)
            self.after_fence = node.kind == "fence"
        return scope

    def block(self, node: Node, scope: Scope, base: Scope) -> Scope:
        """Read one block and return the scope after it."""
        if node.kind == "paragraph":
            return self.paragraph(node, scope, base)
        if node.kind == "fence":
            return self.fence(node, scope, base)
        if node.kind == "quote":
            return self.walk(node.children, scope)
        if node.kind == "table":
            read_table(node, _unless_foreign(scope), self.out)
        elif node.kind == "list":
            read_list(_without_badges(node), _unless_foreign(scope), self.out, self.walk)
        return scope._replace(role=None, led=False) if scope.led and scope.role != "output" else scope

    def fence(self, node: Node, scope: Scope, base: Scope) -> Scope:
        """Read fenced code, or a docstring that stands indented."""
        lines = block_lines(self.markup.lines, node.line, node.end_line)
        if not node.fenced and has_sections(lines):
            read_docstring(lines, scope._replace(role=None), self.out)
            return scope
        return read_fence(node, scope, base, self.markup.lines, self.out)

    def paragraph(self, node: Node, scope: Scope, base: Scope) -> Scope:
        """Read a paragraph: a docstring block, or parts with lead-ins of their own."""
        if node.inline is None:
            return scope
        lines = block_lines(self.markup.lines, node.line, node.end_line)
        if has_sections(lines):
            read_docstring(lines, scope._replace(role=None, led=False), self.out)
            return scope
        underlined = _UNDERLINED.match(node.inline.marked)
        role = role_of(underlined.group(1)) if underlined else None
        if role is not None and scope.subject is not None:
            return scope.with_role(role, node.line)
        if scope.role in _NUMPY_ROLES and looks_numpy(lines) and read_numpy(lines, scope, self.out):
            return scope
        noted = admonition(node.inline)
        if noted is not None:
            add_raise(noted, scope._replace(role="raises"), self.out)
            return scope
        for part in split_leads(node.inline):
            scope = self.part(part, scope, base)
        return scope

    def part(self, part: Inline, scope: Scope, base: Scope) -> Scope:
        """Read a part of a paragraph and return the scope after it."""
        if not part.plain or self.take_detail(part, scope):
            return scope
        lead = read_lead(part)
        if lead is not None:
            return self.led(part, lead, scope)
        named = symbol_lead(without_badge(part))
        if named is not None:
            same = base.names(named.name)
            outer = base.outside() if same else base._replace(role=None)
            sure = scope.role != "examples"
            self.out.add_symbol(named, outer, part.line, "bold", ticked(part.marked), sure=sure)
            inner = base._replace(role=None) if same else outer.about(named)
            self.out.add_sentences(part, inner)
            return inner
        self.own_signature(part, scope)
        if self.after_fence and _OUTPUT_LEAD.search(part.plain) and self.out.examples:
            self.out.add_sentences(part, scope)
            return scope.with_role("output", part.line, led=True)
        if self.role_text(part, scope):
            return scope
        implied = self.implied(part, scope)
        if implied is not None:
            return implied
        self.out.add_sentences(part, scope)
        scope = scope._replace(role=None, led=False) if scope.led else scope
        other = part.plain.endswith(":") and not _PARAMETER_WORDS.search(part.plain)
        return scope._replace(blocked=True) if other else scope

    def implied(self, part: Inline, scope: Scope) -> Scope | None:
        """Read an entry that stands as a paragraph in the section of a symbol, without a lead-in.

        Return the scope for what follows, or None where it is no such entry.
        """
        if scope.role not in (None, "parameters", "attributes", "version"):
            return None
        entry = read_entry((_definitions(part) or [part])[0].marked)
        role = self.out.implied_role([entry], scope) if entry is not None and entry.sure else None
        if entry is None or role is None or (scope.led and role != scope.role):
            return None
        inner = scope if scope.led else scope.with_role(role, part.line, led=True)
        self.out.add_list([(part.line, entry)], inner, "prose", list_role(inner))
        self.out.add_sentences(part, scope._replace(entry=True))
        return inner

    def led(self, part: Inline, lead: Lead, scope: Scope) -> Scope:
        """Read a part with a lead-in such as "**Returns:** ...", and return the scope for what follows."""
        words = part.part(lead.end)
        subject = lead.of or scope.subject
        role = lead.role
        if role == "returns" and re.match(r"\W*(?:output|result)", part.plain, re.IGNORECASE) and self.out.examples:
            role = "output" if not words.plain else role
        inner = scope._replace(subject=subject).with_role(role, part.line, led=True)
        inner = inner._replace(foreign=scope.foreign)
        if not words.plain:
            return inner if role not in ("module", "foreign") else scope._replace(role=None, led=False)
        if scope.foreign or not add_role_text(words, inner, self.out):
            self.out.add_sentences(words, inner._replace(role=None))
        else:
            self.out.add_mentions(words, inner)
            if role not in ("raises", "returns", "yields"):
                self.out.add_sentences(words, inner._replace(role=None))
        return inner if _goes_on(inner, words) else inner._replace(role=None, led=False)

    def own_signature(self, part: Inline, scope: Scope) -> None:
        """Read the signature of the section's symbol at the front of a paragraph, or after "Constructor:"."""
        found = _SIGNATURE_LEAD.match(part.marked)
        named = read_named(found.group("code"), True, part.line) if found else None
        if named is not None and named.signature is not None and scope.names(named.name):
            self.out.add_symbol(named, scope.outside(), part.line, "text", ticked(part.marked))

    def take_detail(self, part: Inline, scope: Scope) -> bool:
        """Take a message for the latest raise, or the value of the section's constant; say whether it was one."""
        last = self.out.raises[-1] if self.out.raises else None
        if (
            last is not None
            and last.message is None
            and last.subject == scope.subject
            and _MESSAGE_LEAD.match(part.plain)
        ):
            self.out.raises[-1] = last._replace(message=message_in(part.marked))
            return True
        name = (scope.subject or "").rpartition(".")[2]
        texts, _ = lead_texts(_VALUE_LEAD.sub("", part.marked)) if _VALUE_LEAD.match(part.plain) else ([], 0)
        if name.isupper() and texts:
            owner = (scope.subject or "").rpartition(".")[0] or None
            self.out.constants.append(ConstantClaim(part.line, name, owner, texts[0], None, ticked(part.marked)))
            return True
        return False

    def role_text(self, part: Inline, scope: Scope) -> bool:
        """Read a paragraph under a role; say whether it was of the role's form."""
        if scope.foreign or scope.role is None:
            return False
        if scope.role == "raises" and (scope.subject is None or scope.page):
            return add_exceptions(part, scope, self.out)
        defined = _definitions(part)
        if defined and scope.role in _TEXT_ROLES:
            return self.definitions(defined, scope)
        if not self.is_role_text(part, scope):
            return False
        done = scope.role in (_TEXT_ROLES | set(HISTORY_ROLES)) and add_role_text(part, scope, self.out)
        if done:
            self.out.add_mentions(part, scope)
        return done

    def is_role_text(self, part: Inline, scope: Scope) -> bool:
        """Say whether a paragraph is what its role asks for, rather than prose around it."""
        if scope.role == "raises":
            return _is_raise_text(part)
        if scope.role in ("returns", "yields"):
            return not self.answered(scope)
        return scope.role not in HISTORY_ROLES or (not self.dated(scope) and _is_dated(part, scope))

    def answered(self, scope: Scope) -> bool:
        """Say whether the section has said what is returned."""
        last = self.out.returns[-1] if self.out.returns else None
        return last is not None and last.line >= scope.line and last.subject == scope.subject

    def dated(self, scope: Scope) -> bool:
        """Say whether the section has given its version, author, date or licence."""
        return bool(self.out.history) and self.out.history[-1].line >= scope.line

    def definitions(self, terms: list[Inline], scope: Scope) -> bool:
        """Read terms with their definitions under a role."""
        if scope.role in ("parameters", "attributes"):
            found = [(term.line, read_entry(term.marked)) for term in terms]
            entries: list[tuple[int, Entry]] = [(line, entry) for line, entry in found if entry is not None]
            if entries:
                self.out.add_list(entries, scope, "definition", list_role(scope))
            return bool(entries)
        for term in terms:
            add_role_text(term, scope, self.out)
        return True


def _flat(nodes: list[Node]) -> Iterator[Node]:
    """Yield nodes, those inside HTML blocks instead of the block."""
    for node in nodes:
        if node.kind == "html":
            yield from html_nodes(node.code, node.line)
        else:
            yield node


def _without_badges(node: Node) -> Node:
    """Return a list whose items have no badges between the calls that they set out and their words."""
    return replace(node, children=[_unbadged(item) for item in node.children])


def _unbadged(item: Node) -> Node:
    first = item.children[0] if item.children else None
    if first is None or first.inline is None:
        return item
    return replace(item, children=[replace(first, inline=without_badge(first.inline)), *item.children[1:]])


def _unless_foreign(scope: Scope) -> Scope:
    """Return the scope without its role where the section is about other things."""
    keeps = scope.role in HISTORY_ROLES
    return scope._replace(role=None) if scope.foreign and not keeps else scope


def _goes_on(scope: Scope, words: Inline) -> bool:
    """Say whether a list or fence may follow a lead-in that has words of its own."""
    if scope.role in ("module", "foreign", *HISTORY_ROLES):
        return False
    return words.plain.endswith(":") or (
        scope.role == "returns" and bool(re.search(r"dict|mapping|keys?\b", words.plain, re.IGNORECASE))
    )


def _is_dated(part: Inline, scope: Scope) -> bool:
    """Say whether a paragraph under "Version" or "Date" gives one: a number is in it."""
    return scope.role not in ("version", "date") or re.match(r"\W*(?:\w+\W+){0,3}v?\d+[.-]", part.plain) is not None


def _is_raise_text(part: Inline) -> bool:
    """Say whether a paragraph under "Raises" is an entry or a denial rather than prose."""
    nothing = plain(part.marked).strip(" .").lower() in ("none", "n/a", "nothing")
    return nothing or leads_with_exception(part.marked) or any(denials_in(part.marked))


def _definitions(part: Inline) -> list[Inline]:
    """Return terms with their definitions as "term: definition", one each, or an empty list."""
    if not re.search(r"\n:\s", part.marked):
        return []
    terms: list[Inline] = []
    for found in re.finditer(r"[^\n]+", part.marked):
        text, line = found.group(), part.line_at(found.start())
        if text.startswith(":") and terms:
            terms[-1] = terms[-1]._replace(marked=f"{terms[-1].marked}: {text.lstrip(': ')}")
        else:
            terms.append(Inline(text, line))
    return terms
