"""Code out of a reply: the one block that was asked for, untouched, or an error that says why there is none."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from reflexion.errors import ReplyEmpty, ReplyRejected
from reflexion.text.blocks import Fence, closes, fences, scan
from reflexion.text.clean import MARKDOWN, strip_head, strip_tail, unwrap
from reflexion.text.thinking import strip_thinking

_ALIASES: dict[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3", "py3", "python2", "pycon", "pyi", "ipython", "ipython3"}),
    "c++": frozenset({"c++", "cpp", "cxx", "cc", "hpp"}),
    "c#": frozenset({"c#", "cs", "csharp"}),
    "javascript": frozenset({"javascript", "js", "mjs", "node", "jsx"}),
    "typescript": frozenset({"typescript", "ts", "tsx"}),
    "bash": frozenset({"bash", "sh", "shell", "zsh", "console", "shell-session"}),
    "json": frozenset({"json", "json5", "jsonc"}),
    "yaml": frozenset({"yaml", "yml"}),
    "rust": frozenset({"rust", "rs"}),
    "go": frozenset({"go", "golang"}),
    "markdown": MARKDOWN,
}

# Looking for a later closing fence parses again and again: as many characters as this in one reply, then no more.
_PARSE_BUDGET = 4_000_000
_CHARACTERS_A_TRY = 200


def extract_code(reply: str, language: str = "python") -> str:
    """Return the code in ``language`` that a reply holds, as it stands there (line ends become LF).

    Blocks tagged with the language or an alias come first, then untagged ones, then a reply that is code without a
    fence; each must parse, where there is a parser (Python, JSON, TOML). A block whose fence was never closed counts
    only if it parses. Text round the block is ignored.

    Raises ``ReplyRejected`` where there is no such code, it does not parse, or blocks differ; ``ReplyEmpty`` where
    there is no text at all.
    """
    good = code_blocks(reply, language)
    if len(good) > 1:
        message = f"the reply holds {len(good)} different {language} blocks that could be meant; ask for exactly one"
        raise ReplyRejected(message, reply)
    return good[0]


def code_blocks(reply: str, language: str = "python") -> list[str]:
    """Return all the different blocks that `extract_code` would choose from, at least one.

    Raises ``ReplyRejected`` where there is none, or none parses; ``ReplyEmpty`` where there is no text at all.
    """
    raw = reply.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    text = unwrap(strip_thinking(raw))
    if not text.strip():
        raise ReplyEmpty("the reply holds no text; ask again", reply)
    search = _Search(language.casefold(), raw)
    blocks = list(search.blocks(text))
    tagged = [block for block in blocks if block.tagged]
    for candidates in (tagged, [block for block in blocks if not block.tagged], _unfenced(search, blocks)):
        good = _distinct(block.code for block in candidates if block.good)
        if good:
            return good
    raise ReplyRejected(_why_none(search, language, tagged), reply)


class _Block(NamedTuple):
    code: str
    tagged: bool
    closed: bool
    good: bool


@dataclass(slots=True)
class _Search:
    """One search through a reply: what is looked for, and how much parsing is left."""

    language: str
    raw: str
    names: frozenset[str] = field(init=False)
    parse: Callable[[str], str] | None = field(init=False)
    budget: int = _PARSE_BUDGET
    fault: str = ""

    def __post_init__(self) -> None:
        aliases = next((names for names in _ALIASES.values() if self.language in names), frozenset[str]())
        self.names = aliases | {self.language}
        self.parse = next((parse for name, parse in _PARSERS.items() if name in self.names), None)

    def parses(self, code: str) -> bool:
        """Whether ``code`` is more than nothing and its parser takes it; without a parser: not empty."""
        self.budget -= len(code) + _CHARACTERS_A_TRY
        if not code.strip() or self.budget < 0:
            return False
        if self.parse is None:
            return True
        fault = self.parse(code)
        self.fault = self.fault or fault
        return not fault

    def blocks(self, text: str, *, nested: bool = False) -> Iterator[_Block]:
        """Yield the blocks of ``text`` that can be meant, also those in a Markdown block inside of it."""
        if not fences(text):
            return
        scanned = scan(text)
        passed = 0
        for fence in scanned.fences:
            if fence.start_line <= passed:
                continue
            if fence.language in self.names or not fence.language:
                block, passed = self._block(scanned.source, fence)
                yield block
            elif fence.language in MARKDOWN and not nested:
                yield from self.blocks(fence.content, nested=True)

    def _block(self, source: list[str], fence: Fence) -> tuple[_Block, int]:
        tagged = bool(fence.language)
        code = fence.content if fence.closed else _without_partial_closer(fence)
        if self._good(code, tagged=tagged, closed=fence.closed):
            return _Block(code, tagged, fence.closed, good=True), fence.end_line
        if self.parse is not None and fence.closed and not fence.depth:
            for end, longer in _longer(source, fence):
                if self.budget <= 0:
                    break
                if self._good(longer, tagged=tagged, closed=True):
                    return _Block(longer, tagged, closed=True, good=True), end
        return _Block(code, tagged, fence.closed, good=False), fence.end_line

    def _good(self, code: str, *, tagged: bool, closed: bool) -> bool:
        if self.parse is None and not closed:
            return False
        return self.parses(code) and (tagged or self.language not in self.names or self._says_something(code))

    def _says_something(self, code: str) -> bool:
        """Whether untagged text is a program: a lone word such as "ls" or "Sorry" parses as Python, too."""
        if self.parse is not _parse_python:
            return True
        bare = (ast.Name, ast.Constant, ast.Attribute, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Compare)
        body = ast.parse(code).body
        return any(not (isinstance(node, ast.Expr | ast.AnnAssign) and _is_bare(node, bare)) for node in body)


def _is_bare(node: ast.Expr | ast.AnnAssign, bare: tuple[type[ast.expr], ...]) -> bool:
    return isinstance(node.value, bare) if isinstance(node, ast.Expr) else node.value is None


def _unfenced(search: _Search, blocks: list[_Block]) -> list[_Block]:
    """Return the whole reply as one block, with and without what stands round it, if no block was fenced."""
    if blocks or search.parse is None or fences(search.raw):
        return []
    text = strip_tail(strip_head(strip_thinking(search.raw)))
    announcement, _, rest = text.partition("\n\n")
    for code in (search.raw, text, rest if announcement.rstrip().endswith(":") else ""):
        if search.parses(code) and search._says_something(code):
            return [_Block(code.rstrip("\n").lstrip("\n") + "\n", tagged=False, closed=True, good=True)]
    return []


def _longer(source: list[str], fence: Fence) -> Iterator[tuple[int, str]]:
    """Yield the block as it would be if its fence closed at each later line that could close it.

    A docstring at the margin can hold a fence of the same length; what follows the first of them then parses only
    together with the rest.
    """
    mark = source[fence.start_line - 1][fence.indent :]
    mark = mark[: len(mark) - len(mark.lstrip(mark[0]))]
    for index in range(fence.end_line, len(source)):
        if closes(mark, source[index]):
            lines = source[fence.start_line : index]
            yield index + 1, "".join(f"{_dedented(line, fence.indent)}\n" for line in lines)


def _dedented(line: str, indent: int) -> str:
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]


def _without_partial_closer(fence: Fence) -> str:
    """Drop a last line of one or two ticks: a closing fence that was cut short."""
    body, _, last = fence.content.rstrip().rpartition("\n")
    return f"{body}\n" if last.strip() in ("`", "``", "~", "~~") else fence.content


def _distinct(codes: Iterator[str]) -> list[str]:
    found: dict[str, str] = {}
    for code in codes:
        found.setdefault(code.strip(), code)
    return list(found.values())


def _why_none(search: _Search, language: str, tagged: list[_Block]) -> str:
    if not tagged:
        return f"the reply holds no {language} code in a fence"
    if any(not block.closed for block in tagged):
        return f"the reply ends inside a {language} block; ask again with more room for the reply"
    return f"the {language} block in the reply does not parse ({search.fault or 'it is empty'}); ask again"


def _parse_python(code: str) -> str:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return str(error) or type(error).__name__
    return ""


def _parse_json(code: str) -> str:
    import json

    try:
        json.loads(code)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


def _parse_toml(code: str) -> str:
    import tomllib

    try:
        tomllib.loads(code)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


_PARSERS: dict[str, Callable[[str], str]] = {"python": _parse_python, "json": _parse_json, "toml": _parse_toml}
