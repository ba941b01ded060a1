"""A Markdown page as a flat list of headings, each with the text below it."""

from collections.abc import Iterator
from typing import NamedTuple

from reflexion.evidence.markup import Node, read_markup
from reflexion.patterns import regex

DEEPEST = 6
_ATX = regex(r"^[ ]{0,3}(#{1,6})(?:[ \t]+|$)(?P<title>.*?)(?:[ \t]+#+)?[ \t]*$")


class Part(NamedTuple):
    """A heading and the text until the next one; ``title`` is "" and ``level`` 0 for what stands before the first.

    ``title`` is Markdown without the marks of the heading. ``first`` and ``last`` are its lines, counted from 1.
    """

    level: int
    title: str
    body: str
    first: int
    last: int

    def at(self, level: int) -> str:
        """Return it as Markdown, its heading at this level or the deepest that there is."""
        return f"{'#' * min(level, DEEPEST)} {self.title}" + (f"\n\n{self.body}" if self.body else "")


def read_parts(text: str) -> Iterator[Part]:
    """Yield the parts of a page; headings inside of lists, quotes and code are text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    headings = [node for node in read_markup(text).nodes if node.kind == "heading"]
    starts = [node.line for node in headings] + [len(lines) + 1]
    before = _body(lines[: starts[0] - 1])
    if before:
        yield Part(0, "", before, 1, starts[0] - 1)
    for node, following in zip(headings, starts[1:], strict=True):
        yield Part(
            node.level, _title(node, lines), _body(lines[node.end_line : following - 1]), node.line, following - 1
        )


def without_paragraphs(body: str) -> str:
    """Return a text without its paragraphs: lists, tables, code and quotes remain."""
    lines = body.split("\n")
    kept = [node for node in read_markup(body).nodes if node.kind != "paragraph"]
    return "\n\n".join("\n".join(lines[node.line - 1 : node.end_line]) for node in kept)


def _title(node: Node, lines: list[str]) -> str:
    if node.setext:
        return " ".join(line.strip() for line in lines[node.line - 1 : node.end_line - 1])
    found = _ATX.match(lines[node.line - 1])
    return found["title"].strip() if found else ""


def _body(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n").rstrip()
