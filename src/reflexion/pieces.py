"""A source that is too large for one prompt, cut into pieces that are documented one by one. No model.

Python is cut between the statements of the module, a class that is too large between those of its body, and never
inside a statement. Other text is cut at blank lines, then at lines.
"""

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reflexion.evidence.assemble import outline, render
from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.python.parse import parse_module
from reflexion.ollama.window import Estimate
from reflexion.patterns import regex
from reflexion.preface import Preface, around_text

# What a round needs beside its prompt, in pages as code would write them: the draft, and the page made of it.
PAGES = 2
# Of the budget, what the beginning of the module may take as context.
PREFACE_SHARE = 0.15
# These are told of with the class that they belong to.
_OF_THEIR_CLASS = frozenset({"field", "enum member"})
# Where text that is not Python is cut, best first: before a line at the margin after a blank one, after any blank
# line, anywhere.
_MARGIN, _BLANK, _ANYWHERE = range(3)
# Where Python's own lines end; str.splitlines knows more places.
_LINE = regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a source.

    ``text`` is its own lines, as they stand; the pieces' texts in order are the source. ``header`` is what of the
    rest its reader needs: docstring, imports, constants, the class around it. ``symbols`` are the qualnames, at every
    depth, of what it defines; empty where there are no facts. ``first_line`` counts from 1 in the source.

    ``facts_only``: it does not fit and cannot be cut, so code documents what is known of its symbols.
    """

    text: str
    header: str
    symbols: tuple[str, ...]
    first_line: int
    facts_only: bool = False

    @property
    def last_line(self) -> int:
        """The line of the source that ends it."""
        return self.first_line + len(_LINE.findall(self.text)) - 1

    @property
    def shown(self) -> str:
        """What a model is given as source: the header, a comment that says which lines follow, and these lines."""
        if not self.header:
            return self.text
        lines = f"{self.first_line} to {self.last_line}"
        return f"{self.header}\n\n# Above: context. Below: lines {lines} of the file, to be documented.\n\n{self.text}"


def split_source(
    text: str, facts: Facts | None, budget_tokens: int, estimate: Estimate, page_tokens: int | None = None
) -> list[Piece]:
    """Cut a source into pieces that fit ``budget_tokens``, as few as packing in source order gives.

    A piece fits when, by ``estimate``, its text with its header, the outline of its facts, and twice the page that
    code would write of them (a draft and the next reply) stay within the budget; without facts a page is taken to be
    half as long as the text. What the words of the prompt and the least room for a reply leave of a window makes a
    good budget. With ``page_tokens``, what a reply may take, the page alone stays within that as well. A source that
    fits whole is one piece without a header.

    ``text`` is ``facts.text`` where there are facts: of a notebook the joined cells, whose lines the facts count.
    """
    limit = budget_tokens if page_tokens is None else page_tokens
    return list(_Splitter(text, facts, budget_tokens, limit, estimate).pieces())


def facts_of_piece(facts: Facts, piece: Piece) -> Facts:
    """Return the facts against which a page about the piece is verified alone.

    Only the piece's own symbols are expected on its page. All others stay known, so that to name them is no error,
    and the exceptions, types and values that they define are understood.
    """
    own = frozenset(piece.symbols)
    return facts._replace(symbols=tuple(part for symbol in facts.symbols for part in _parts(symbol, own)))


def _parts(symbol: Symbol, own: Collection[str]) -> Iterator[Symbol]:
    """Yield the symbol, public only if it is an own one, then those of its members that are there without it."""
    if symbol.qualname in own:
        members = (part for member in symbol.members for part in _parts(member, own))
        yield symbol._replace(members=tuple(members))
        return
    apart = [member for member in symbol.members if any(one.qualname in own for one in member.walk())]
    # Two symbols of one name would be ambiguous.
    yield symbol._replace(public=False, members=tuple(one for one in symbol.members if one not in apart))
    for member in apart:
        yield from _parts(member, own)


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to ``most`` that fits, as far as doubling and halving find it, else 0."""
    low, step = 0, 1
    while low + step <= most and fits(low + step):
        low, step = low + step, step * 2
    while step > 1:
        step //= 2
        if low + step <= most and fits(low + step):
            low += step
    return low


@dataclass(frozen=True, slots=True)
class _Unit:
    """Lines that stay together unless they alone do not fit; then ``node`` or ``level`` says how they are cut."""

    first: int
    last: int
    around: tuple[ast.ClassDef, ...] = ()
    node: ast.ClassDef | None = None
    level: int = _ANYWHERE


class _Splitter:
    def __init__(self, text: str, facts: Facts | None, budget: int, page: int, estimate: Estimate) -> None:
        self._lines: list[str] = _LINE.findall(text)
        self._facts, self._budget, self._most_page, self._estimate = facts, budget, page, estimate
        self._body = parse_module(text.removeprefix("\ufeff"), "<source>").body if facts is not None else []
        self._preface = Preface(self._body, self._lines)
        homes = sorted(_homes(facts.symbols), key=lambda home: home[0]) if facts is not None else []
        self._home_lines = [line for line, _ in homes]
        self._names = [name for _, name in homes]

    def pieces(self) -> Iterator[Piece]:
        units = list(self._flat(self._units()))
        done = 0
        while done < len(units):
            first = units[done]

            def fits(count: int, first: _Unit = first, done: int = done) -> bool:
                return self._fits(first.first, units[done + count - 1].last, first.around)

            count = largest(len(units) - done, fits)
            last = units[done + max(count, 1) - 1].last
            yield self._piece(first.first, last, first.around, facts_only=count == 0)
            done += max(count, 1)

    def _units(self) -> list[_Unit]:
        if self._body:
            return _python_units(self._body, (1, len(self._lines)), self._lines, ())
        return _text_units(self._lines, (1, len(self._lines)), _MARGIN)

    def _flat(self, units: Sequence[_Unit]) -> Iterator[_Unit]:
        """Yield the units, and in place of one that does not fit alone what it can be cut into."""
        for unit in units:
            inside = self._inside(unit)
            if inside:
                yield from self._flat(inside)
            else:
                yield unit

    def _inside(self, unit: _Unit) -> list[_Unit]:
        can_be_cut = unit.node is not None or unit.level != _ANYWHERE
        if not can_be_cut or self._fits(unit.first, unit.last, unit.around):
            return []
        if unit.node is None:
            return _text_units(self._lines, (unit.first, unit.last), unit.level + 1)
        return _class_units(unit, unit.node, self._lines)

    def _piece(self, first: int, last: int, around: tuple[ast.ClassDef, ...], *, facts_only: bool = False) -> Piece:
        text = "".join(self._lines[first - 1 : last])
        limit = int(self._budget * PREFACE_SHARE)
        beginning = self._preface.text(first, last, text, lambda header: self._estimate([header]) <= limit)
        header = "\n\n".join(filter(None, (beginning, around_text(around))))
        names = self._names[bisect_left(self._home_lines, first) : bisect_right(self._home_lines, last)]
        return Piece(text, header, tuple(names), first, facts_only)

    def _fits(self, first: int, last: int, around: tuple[ast.ClassDef, ...]) -> bool:
        piece = self._piece(first, last, around)
        if self._facts is None:
            tokens = self._estimate([piece.shown])
            return 2 * tokens <= self._budget and tokens <= 2 * self._most_page
        tops = {name.partition(".")[0] for name in piece.symbols}
        symbols = (symbol for symbol in self._facts.symbols if symbol.qualname in tops)
        facts = facts_of_piece(self._facts._replace(symbols=tuple(symbols)), piece)
        prompt = self._estimate([piece.shown, outline(facts)])
        if prompt > self._budget:
            return False
        page = self._estimate([render(facts._replace(symbols=tuple(map(_asked_for, facts.symbols))))])
        return prompt + PAGES * page <= self._budget and page <= self._most_page


def _asked_for(symbol: Symbol) -> Symbol:
    """Return the symbol without the exceptions that other public functions tell of; a model's page has few of them."""
    raises = tuple(one for one in symbol.raises if not one.through_public)
    return symbol._replace(raises=raises, members=tuple(map(_asked_for, symbol.members)))


def _homes(symbols: Sequence[Symbol], owner: int = 0) -> Iterator[tuple[int, str]]:
    """Yield every symbol with the line whose piece it belongs to."""
    for symbol in symbols:
        line = owner if owner and symbol.kind in _OF_THEIR_CLASS else symbol.line
        yield line, symbol.qualname
        yield from _homes(symbol.members, line)


def _python_units(
    body: Sequence[ast.stmt], span: tuple[int, int], lines: Sequence[str], around: tuple[ast.ClassDef, ...]
) -> list[_Unit]:
    """Cut the lines of a body between its statements, each with the comments right above it."""
    groups = _groups(body, lines)
    starts = [span[0]]
    for before, group in pairwise(groups):
        end = _end(before[-1])
        starts.append(end + 1 + _blank_lines(lines[end : _start(group[0]) - 1]))
    ends = [*(start - 1 for start in starts[1:]), span[1]]
    return [
        _Unit(start, end, around, group[0] if len(group) == 1 and isinstance(group[0], ast.ClassDef) else None)
        for start, end, group in zip(starts, ends, groups, strict=True)
    ]


def _class_units(unit: _Unit, node: ast.ClassDef, lines: Sequence[str]) -> list[_Unit]:
    """Cut a class between the statements of its body; its own line stays with the first of them."""
    head, *rest = _python_units(node.body, (unit.first, unit.last), lines, (*unit.around, node))
    return [_Unit(head.first, head.last, unit.around), *rest] if rest else []


def _groups(body: Sequence[ast.stmt], lines: Sequence[str]) -> list[list[ast.stmt]]:
    """Return the statements, together where they share a line, or are overloads or accessors of one name."""
    groups: list[list[ast.stmt]] = []
    for node in body:
        if groups and _belong_together(groups[-1][-1], node, lines):
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _belong_together(before: ast.stmt, node: ast.stmt, lines: Sequence[str]) -> bool:
    end = _end(before)
    if _start(node) <= end or lines[end - 1].rstrip("\r\n").endswith("\\"):
        return True
    name = _function_name(node)
    return name is not None and name == _function_name(before)


def _function_name(node: ast.stmt) -> str | None:
    return node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _blank_lines(gap: Sequence[str]) -> int:
    """Return how many of the lines between two statements stay with the first: blank ones, comments right below it."""
    count = 0
    if any(not line.strip() for line in gap):
        while gap[count].lstrip().startswith("#"):
            count += 1
    while count < len(gap) and not gap[count].strip():
        count += 1
    return count


def _text_units(lines: Sequence[str], span: tuple[int, int], level: int) -> list[_Unit]:
    """Cut lines that are not Python at the places of a level."""
    first, last = span
    starts = [first, *(number for number in range(first + 1, last + 1) if _is_cut(lines, number, level))]
    ends = [*(start - 1 for start in starts[1:]), last]
    return [_Unit(start, end, level=level) for start, end in zip(starts, ends, strict=True) if start <= end]


def _is_cut(lines: Sequence[str], number: int, level: int) -> bool:
    if level == _ANYWHERE:
        return True
    line, before = lines[number - 1], lines[number - 2]
    return bool(line.strip()) and not before.strip() and (level == _BLANK or not line[:1].isspace())
