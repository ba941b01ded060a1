"""HTML blocks inside Markdown as the nodes that their tags stand for: headings, paragraphs, lists, tables."""

import re
from bisect import bisect_left

from reflexion.evidence.inline import read_inline
from reflexion.evidence.markup import Node, NodeKind
from reflexion.patterns import regex

_TAG = regex(
    r"<!--.*?(?:-->|\Z)|<(?P<close>/?)(?P<name>h[1-6]|p|li|ul|ol|table|tr|th|td|summary|dt|dd)\b[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_KINDS: dict[str, NodeKind] = {"ul": "list", "ol": "list", "li": "item", "table": "table", "tr": "row"}
_TEXTS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "p", "li", "th", "td", "summary", "dt", "dd"})


def html_nodes(code: str, line: int) -> list[Node]:
    """Return the nodes of an HTML block that begins at ``line``; empty where it holds none of these tags."""
    return _Reader(code, line).read()


class _Reader:
    """One pass over the tags of a block."""

    def __init__(self, code: str, line: int) -> None:
        self.code = code
        self.line = line
        self.breaks = [found.start() for found in re.finditer("\n", code)]
        self.root = Node("html", line, line)
        self.stack: list[tuple[str, Node]] = [("", self.root)]
        self.open: tuple[str, int] | None = None

    def read(self) -> list[Node]:
        """Read all tags; what is left open ends with the block."""
        for tag in _TAG.finditer(self.code):
            if not tag.group("name"):
                continue
            self.finish(tag.start())
            name = tag.group("name").lower()
            if tag.group("close"):
                self.close(name)
            else:
                self.start(name, tag.end())
        self.finish(len(self.code))
        return self.root.children

    def line_at(self, position: int) -> int:
        """Return the document line of a position."""
        return self.line + bisect_left(self.breaks, position)

    def start(self, name: str, position: int) -> None:
        """Open a list, item, table or row, and note where a text begins."""
        line = self.line_at(position - 1)
        if name in _KINDS:
            self.push(name, Node(_KINDS[name], line, line))
        self.open = (name, position) if name in _TEXTS else None

    def push(self, name: str, node: Node) -> None:
        """Put a node under the innermost open one."""
        if name == "li":
            self.close("li", within=("ul", "ol"))
        if name == "tr":
            self.close("tr", within=("table",))
        self.stack[-1][1].children.append(node)
        self.stack.append((name, node))

    def close(self, name: str, within: tuple[str, ...] = ()) -> None:
        """Close the innermost open node of a name, if there is one (inside ``within``)."""
        for index in range(len(self.stack) - 1, 0, -1):
            if self.stack[index][0] in within:
                return
            if self.stack[index][0] == name:
                del self.stack[index:]
                return

    def finish(self, position: int) -> None:
        """Make a node of the text that ends here."""
        if self.open is None:
            return
        (name, start), self.open = self.open, None
        raw = self.code[start:position]
        blank = len(raw) - len(raw.lstrip())
        text = re.sub(r"\s*\n\s*", "\n", raw.strip())
        if not text and name not in ("th", "td"):
            return
        line = self.line_at(start + blank)
        inline = read_inline(f"**{text}**" if name in ("summary", "dt") else text, line)
        parent = self.stack[-1][1]
        if name in ("th", "td") and parent.kind == "row":
            parent.cells.append(inline)
            return
        heading = name[0] == "h" and name[1:].isdigit()
        node = Node("heading" if heading else "paragraph", line, self.line_at(position), inline=inline)
        node.level = int(name[1]) if heading else 0
        parent.children.append(node)
        for _, outer in self.stack:
            outer.end_line = max(outer.end_line, node.end_line)
