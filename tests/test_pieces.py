"""A source in pieces: no line lost, none cut inside a statement, every piece fits, every public symbol in one."""

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.evidence.assemble import outline, render
from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from reflexion.ollama.window import estimate_tokens
from reflexion.pieces import PAGES, Piece, facts_of_piece, split_source

CORPUS = sorted((Path(__file__).parents[1] / "benchmarks" / "truth_corpus").glob("*.py"))
PARTS = (
    "import os\n",
    "from enum import Enum; import re\n",
    "# A banner.\n\n\n",
    "# About what follows.\n# Still about it.\n",
    "\n\n",
    "LIMIT_{n} = {n}  # why\n",
    "TABLE_{n} = {{\n    'a': 1,\n\n    # inside\n    'b': 2,\n}}\n",
    "A_{n} = 1; B_{n} = 2\n",
    "C_{n} = 1 + \\\n    2\n",
    'TEXT_{n} = """\ndef no_function():\n\n# no comment\n"""\n',
    "def run_{n}(a, b={n}):\n    '''Run it.'''\n    if a:\n        raise ValueError('no {n}')\n    return b\n",
    "@property\n@other(\n    1,\n)\ndef decorated_{n}(x: int) -> str:\n\n    # inside\n\n    return 'x'\n# after\n",
    "async def wait_{n}(): pass\n",
    "if os:\n    def either_{n}(): return 1\nelse:\n    def either_{n}(): return 2\n",
    "class Empty_{n}: ...\n",
    (
        "class Data_{n}:\n    '''Holds.'''\n\n    size: int = {n}\n\n    # About the method.\n    @classmethod\n"
        "    def make(cls, *args):\n        return cls()\n\n    def __init__(self, size):\n        self.more = size\n\n"
        "    @property\n    def value(self): return 1\n\n    @value.setter\n    def value(self, new): pass\n\n"
        "    class Inner:\n        def deep(self, a): pass\n\n        def deeper(self, b): raise KeyError('b')\n# end\n"
    ),
    "class Shade_{n}(Enum):\n    RED = {n}\n    BLUE = 'b'\n\n    def paint(self): return 1\n",
)
NUMBERED = st.lists(st.sampled_from(PARTS), min_size=1, max_size=25)


def tokens_of(piece: Piece, facts: Facts) -> int:
    """What the piece takes of a budget: its prompt and two pages, without what other public functions raise."""

    def own(symbol: Symbol) -> Symbol:
        raises = tuple(one for one in symbol.raises if not one.through_public)
        return symbol._replace(raises=raises, members=tuple(map(own, symbol.members)))

    alone = facts_of_piece(facts, piece)
    alone = alone._replace(symbols=tuple(map(own, alone.symbols)))
    return estimate_tokens([piece.shown, outline(alone)]) + PAGES * estimate_tokens([render(alone)])


def split(text: str, budget: int) -> tuple[Facts, list[Piece]]:
    facts = facts_of_python(text, "large")
    return facts, split_source(text, facts, budget, estimate_tokens)


def statements(text: str) -> list[ast.stmt]:
    """The statements of a piece, which may stand inside of classes."""
    body = ast.parse(f"if 1:\n{text}" if text[:1] == " " else text).body
    return [inner for node in body if isinstance(node, ast.If) for inner in node.body] if text[:1] == " " else body


def required(facts: Facts) -> list[str]:
    return [symbol.qualname for symbol in required_symbols(Source(facts))]


@settings(max_examples=60, deadline=None)
@given(NUMBERED, st.integers(60, 900), st.booleans())
def test_every_line_is_in_one_piece_every_symbol_on_one_page_and_every_piece_fits(
    parts: list[str], budget: int, windows: bool
) -> None:
    text = '"""A module.\n\nMore words."""\n' + "".join(part.format(n=n) for n, part in enumerate(parts))
    text = text.replace("\n", "\r\n") if windows else text
    facts, pieces = split(text, budget)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.first_line for piece in pieces] == [1, *(piece.last_line + 1 for piece in pieces[:-1])]
    assert sorted(name for piece in pieces for name in piece.symbols) == sorted(s.qualname for s in facts.walk())
    pages = [required(facts_of_piece(facts, piece)) for piece in pieces]
    assert sorted(name for page in pages for name in page) == sorted(required(facts))
    for piece in pieces:
        ast.parse(piece.shown)
        assert piece.facts_only or tokens_of(piece, facts) <= budget


@settings(max_examples=60, deadline=None)
@given(NUMBERED)
def test_what_is_marked_is_one_statement_that_cannot_be_cut(parts: list[str]) -> None:
    _, pieces = split("".join(part.format(n=n) for n, part in enumerate(parts)), 1)
    for piece in pieces:
        body = statements(piece.text)
        names = {getattr(node, "name", None) for node in body}
        lines = [line for node in body for line in range(node.lineno, (node.end_lineno or 0) + 1)]
        assert piece.facts_only
        assert len(body) <= 1 or len(names - {None}) == 1 or len(set(lines)) < len(lines)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab{} \n\r\t\x0c\u2028"), max_size=400), st.integers(12, 200))
def test_text_of_another_language_loses_nothing_and_fits(text: str, budget: int) -> None:
    pieces = split_source(text, None, budget, estimate_tokens)
    assert "".join(piece.text for piece in pieces) == text
    for piece in pieces:
        assert (piece.header, piece.symbols) == ("", ())
        if piece.facts_only:
            assert piece.first_line == piece.last_line
        else:
            assert 2 * estimate_tokens([piece.shown]) <= budget


def test_other_text_is_cut_before_the_margin_then_at_blank_lines_then_at_lines() -> None:
    first = "func one() {\n  a()\n\n  b()\n}\n\n"
    second = "func two() {\n  c()\n}\n\n"
    pieces = split_source(first + second, None, 2 * estimate_tokens([first]), estimate_tokens)
    assert [piece.text for piece in pieces] == [first, second]
    smaller = split_source(first + second, None, 2 * estimate_tokens([first]) - 2, estimate_tokens)
    assert smaller[0].text == "func one() {\n  a()\n\n"
    lines = split_source("word word word\n" * 20, None, 2 * estimate_tokens(["word word word\n"]), estimate_tokens)
    assert [piece.text for piece in lines] == ["word word word\n"] * 20


def test_a_source_that_fits_is_one_piece_as_it_stands() -> None:
    text = "import os\n\nLIMIT = 1\n"
    _, [piece] = split(text, 1_000)
    assert (piece.shown, piece.first_line, piece.facts_only) == (text, 1, False)


def test_a_piece_shows_the_beginning_of_the_module_and_the_class_around_it() -> None:
    method = "    def run_{n}(self, a):\n        '''Run it.'''\n        return a * LIMIT + {n} * 3 - len(str(a))\n\n"
    text = (
        '"""A module.\n\nMore."""\nimport os\nLIMIT = 10\nLONG = [\n' + "    'words of a long value',\n" * 20 + "]\n\n"
    )
    text += "@final\nclass Big(Base, kind=1):\n    '''Is big.\n\n    Very.'''\n\n"
    text += "".join(method.format(n=n) for n in range(30))
    facts, pieces = split(text, 900)
    last = pieces[-1]
    assert last.header.split("\n") == [
        "'A module.'", "import os", "LIMIT = 10", "LONG = ...", "",
        "@final", "class Big(Base, kind=1):", '    """Is big."""',
    ]  # fmt: skip
    lines = f"lines {last.first_line} to {last.last_line} of the file"
    assert f"\n\n# Above: context. Below: {lines}, to be documented.\n\n    def run_" in last.shown
    assert "Big" not in last.symbols
    assert required(facts_of_piece(facts, last)) == list(last.symbols)


def test_a_beginning_that_is_too_long_keeps_what_the_piece_uses() -> None:
    text = "".join(f"NAME_{n} = {n}\n" for n in range(300)) + "def use(a):\n    return NAME_7 + NAME_295\n"
    _, pieces = split(text, 900)
    header = pieces[-1].header.split("\n")
    assert "NAME_7 = 7" in header
    assert len(header) < 60


def test_overloads_and_accessors_stay_together() -> None:
    text = "from typing import overload\n" + "".join(
        f"@overload\ndef f{n}(a: int) -> int: ...\n@overload\ndef f{n}(a: str) -> str: ...\ndef f{n}(a): return a\n\n"
        for n in range(12)
    )
    _, pieces = split(text, 400)
    assert len(pieces) > 3
    assert all(piece.text.count("def ") % 3 == 0 for piece in pieces)


def test_a_symbol_that_alone_does_not_fit_is_marked_and_its_page_comes_from_facts() -> None:
    body = "".join(f"    a = a + {n}\n" for n in range(400))
    text = f"def small(a):\n    return a\n\n\ndef large(a, b=1):\n{body}    return a\n\n\ndef other(c):\n    return c\n"
    facts, pieces = split(text, 1_000)
    assert [(piece.symbols, piece.facts_only) for piece in pieces] == [
        (("small",), False), (("large",), True), (("other",), False),
    ]  # fmt: skip
    alone = facts_of_piece(facts, pieces[1])
    assert verify(render(alone), alone) == []
    assert "`large`" in render(alone)


def test_an_enumeration_that_is_too_large_is_documented_whole_by_the_piece_of_its_first_line() -> None:
    members = "".join(f"    MEMBER_{n} = {n}\n" for n in range(200))
    facts, pieces = split(f"import enum\n\n\nclass Kind(enum.Enum):\n{members}", 800)
    assert "Kind.MEMBER_199" in pieces[0].symbols or "Kind.MEMBER_199" in pieces[1].symbols
    page = "".join(render(facts_of_piece(facts, piece)) for piece in pieces if "Kind" in piece.symbols)
    assert "| `MEMBER_199` | `199` |" in page


def test_a_page_stays_within_what_a_reply_may_take() -> None:
    text = "".join(f"def run_{n}(a: int, b: str = 'x') -> int:\n    return a\n\n\n" for n in range(30))
    facts = facts_of_python(text, "large")
    assert len(split_source(text, facts, 100_000, estimate_tokens)) == 1
    pieces = split_source(text, facts, 100_000, estimate_tokens, page_tokens=300)
    pages = [estimate_tokens([render(facts_of_piece(facts, piece))]) for piece in pieces]
    assert max(pages) <= 300 < pages[0] + pages[1]
    other = split_source(text, None, 100_000, estimate_tokens, page_tokens=300)
    assert max(estimate_tokens([piece.text]) for piece in other) <= 600


def test_a_page_about_a_piece_may_name_what_other_pieces_define() -> None:
    text = "LIMIT = 3\n\nclass WordError(ValueError):\n    pass\n\n\ndef first(a=LIMIT):\n"
    text += "    if a:\n        raise WordError('no')\n    return a\n\n\ndef second(b):\n    return first(b)\n"
    facts = facts_of_python(text, "words")
    piece = Piece("", "", ("first",), 7)
    page = '# Words\n\n## `first(a=3)`\n\n- `a`: a number, default `3`.\n\nRaises `WordError`, a `ValueError`, "no".\n'
    alone = facts_of_piece(facts, piece)
    assert [one for one in verify(page, alone) if one.level == "error"] == []
    assert [one.rule for one in verify(page + "\n## `third(c)`\n\nIs not there.\n", alone)][:1] == ["S102"]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_page_from_the_facts_of_a_piece_has_no_finding(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    facts, pieces = split(text, 1_200)
    for piece in pieces:
        alone = facts_of_piece(facts, piece)
        if required(alone):
            assert [one for one in verify(render(alone), alone) if not one.rule.startswith("T")] == []


def test_a_module_of_the_standard_library_goes_through_a_window_of_8192_tokens() -> None:
    text = Path(sysconfig.get_path("stdlib"), "_pydecimal.py").read_text(encoding="utf-8")
    facts, pieces = split(text, 8192 - 1024 - 500)
    assert "".join(piece.text for piece in pieces) == text
    assert len(pieces) < 30
    assert not any(piece.facts_only for piece in pieces)
    documented = [name for piece in pieces for name in required(facts_of_piece(facts, piece))]
    assert sorted(documented) == sorted(required(facts))
