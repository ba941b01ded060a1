"""Markdown blocks as a small tree of nodes with lines, read by markdown-it-py."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reflexion.evidence.inline import PRIVATE, Inline, Link, read_inline
from reflexion.patterns import regex

NodeKind = Literal["heading", "paragraph", "list", "item", "table", "row", "fence", "html", "quote"]

# A title of reStructuredText, underlined with tildes: to Markdown it would open a fence and swallow the section.
_UNDERLINED = regex(r"(^[A-Z][A-Za-z ]{2,30}\n)(~{3,})(?=[ \t]*$)", re.MULTILINE)

_CONTAINERS: dict[str, NodeKind] = {
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "table_open": "table",
    "tr_open": "row",
    "heading_open": "heading",
    "paragraph_open": "paragraph",
}
_LEAVES: dict[str, NodeKind] = {"fence": "fence", "code_block": "fence", "html_block": "html"}


@dataclass(slots=True)
class Node:
    """One block. ``line`` and ``end_line`` count from 1, both included, blank lines at the end left out.

    ``inline`` is that of a heading or paragraph; ``cells`` those of a row (the first row of a table is its header).
    ``info`` and ``code`` belong to fences; ``fenced`` is False for indented code; ``closed`` False for a fence
    without its end. ``setext`` marks an underlined heading.
    """

    kind: NodeKind
    line: int
    end_line: int
    level: int = 0
    inline: Inline | None = None
    children: list["Node"] = field(default_factory=list)
    cells: list[Inline] = field(default_factory=list)
    info: str = ""
    code: str = ""
    fenced: bool = True
    setext: bool = False

    @property
    def code_line(self) -> int:
        """The line of the first line of code."""
        return self.line + 1 if self.fenced else self.line

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all inside it, in document order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


class Markup(NamedTuple):
    """A parsed document: its top-level nodes, its lines, and the targets of its reference definitions."""

    nodes: tuple[Node, ...]
    lines: tuple[str, ...]
    references: tuple[Link, ...]

    def walk(self) -> Iterator[Node]:
        """Yield every node at every depth, in document order."""
        for node in self.nodes:
            yield from node.walk()


def read_markup(text: str) -> Markup:
    """Parse Markdown into nodes. Never raises; characters that stand for marks become U+FFFD."""
    source = PRIVATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
    source = _UNDERLINED.sub(lambda found: found.group(1) + "^" * len(found.group(2)), source)
    lines = tuple(source.split("\n"))
    parser = MarkdownIt("commonmark").enable("table")
    # Inline rules are ours (inline.py): linear, and exact about lines.
    parser.core.ruler.enableOnly(["normalize", "block"])
    environment: dict[str, dict[str, dict[str, str | list[int]]]] = {}
    tokens = parser.parse(source, environment)
    return Markup(tuple(_build(tokens, lines)), lines, _references(environment.get("references", {})))


def _references(found: dict[str, dict[str, str | list[int]]]) -> tuple[Link, ...]:
    """Return the reference definitions as links, in document order."""
    links = []
    for label, entry in found.items():
        span, href = entry.get("map"), entry.get("href")
        if isinstance(span, list) and isinstance(href, str) and href:
            links.append(Link(span[0] + 1, href, label))
    return tuple(sorted(links, key=lambda link: link.line))


def _build(tokens: list[Token], lines: tuple[str, ...]) -> list[Node]:
    """Return the top-level nodes of a flat token list."""
    root = Node("quote", 1, 1)
    stack = [root]
    for token in tokens:
        kind = _CONTAINERS.get(token.type)
        if kind is not None:
            node = _node(kind, token, lines, stack[-1].line)
            stack[-1].children.append(node)
            stack.append(node)
        elif token.type in _LEAVES:
            stack[-1].children.append(_leaf(token, lines, stack[-1].line))
        elif token.type == "inline":
            _attach(stack[-1], token)
        elif token.type.removesuffix("_close") + "_open" in _CONTAINERS and len(stack) > 1:
            stack.pop()
    return root.children


def _span(token: Token, lines: tuple[str, ...], fallback: int) -> tuple[int, int]:
    """Return first and last line of a token, blank lines at the end left out."""
    if not token.map:
        return fallback, fallback
    first, last = token.map[0], min(max(token.map), len(lines))
    while last > first + 1 and not lines[last - 1].strip(" \t>"):
        last -= 1
    return first + 1, max(first + 1, last)


def _node(kind: NodeKind, token: Token, lines: tuple[str, ...], fallback: int) -> Node:
    """Return the empty node of an opening token."""
    line, end_line = _span(token, lines, fallback)
    level = int(token.tag[1]) if kind == "heading" else 0
    return Node(kind, line, end_line, level=level, setext=kind == "heading" and token.markup in ("-", "="))


def _leaf(token: Token, lines: tuple[str, ...], fallback: int) -> Node:
    """Return the node of a fence, of indented code or of an HTML block."""
    line, end_line = _span(token, lines, fallback)
    node = Node(_LEAVES[token.type], line, end_line, code=token.content)
    node.fenced = token.type == "fence"
    node.info = token.info.strip()
    if node.fenced and token.map:
        node.end_line = max(node.line, min(token.map[1], len(lines)))
    return node


def _attach(node: Node, token: Token) -> None:
    """Give a heading, paragraph or row its inline text."""
    line = token.map[0] + 1 if token.map else node.line
    inline = read_inline(token.content, line)
    if node.kind == "row":
        node.cells.append(inline)
    else:
        node.inline = inline
