"""The way in: errors in one line, notebooks, whole libraries, and inputs that nobody would write."""

import ast
import json
import re
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import griffe
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.errors import InputError
from reflexion.evidence.facts import Facts
from reflexion.evidence.source import facts_of_notebook, facts_of_python

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
# Every ninth module: large and small, old and new, in an order that does not change.
SOME_FILES = [path for path in sorted(STANDARD_LIBRARY.glob("[a-z]*.py")) if path.stat().st_size < 90_000][::3][:60]


def names(facts: Facts) -> list[str]:
    return [each.qualname for each in facts.walk()]


# Errors


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "m.py:1: not valid Python (invalid syntax); correct the syntax"),
        ("x = 1\n  y = 2\n", "m.py:2: not valid Python (unexpected indent); correct the syntax"),
        ("x = (1,\n", "m.py:1: not valid Python ('(' was never closed); correct the syntax"),
        ("x = 1\nprint 'a'\n", "m.py:2: not Python 3 (Missing parentheses in call to 'print'."),
        ("try:\n    pass\nexcept E, e:\n    pass\n", "m.py:3: not Python 3 (multiple exception types"),
        ("raise E, 'a'\n", "m.py:1: not Python 3 (invalid syntax)"),
        ("x = 0777\n", "m.py:1: not Python 3 (leading zeros"),
        ("x = 10L\n", "m.py:1: not Python 3 ("),
        ("exec 'a'\n", "m.py:1: not Python 3 (Missing parentheses in call to 'exec'."),
        ("print >>f, 1 if\n", "m.py:1: not Python 3 ("),
        ("if a <> b: pass\n", "m.py:1: not Python 3 ("),
        ("x = 1\ny = '\0'\n", "m.py:2: "),
        ("x = " + "(" * 5000 + ")" * 5000, "m.py"),
        ("x = " + "-" * 100_000 + "1", "m.py: nested too deeply"),
        ("x = " + "1" * 5000, "m.py:1: not valid Python (Exceeds the limit"),
        ("a" + ".b" * 5000, "m.py: nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        facts_of_python(text, "m", "m.py")
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_nul_is_named() -> None:
    with pytest.raises(InputError, match=r"^m\.py:2: .*(NUL|null)"):
        facts_of_python("x = 1\ny = '\0'\n", "m", "m.py")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["1"] * 900) + "\ndef f(): pass",
        "def f(x):\n    if x == 0: pass\n" + "".join(f"    elif x == {n}: pass\n" for n in range(900)),
        "def f(x): raise ValueError(" + " + ".join(["'a'"] * 900) + ")",
    ],
    ids=["sum", "elif", "message"],
)
def test_long_expressions_and_chains_are_read_all_the_same(text: str) -> None:
    assert "f" in names(facts_of_python(text, "m"))


def test_warnings_of_the_source_are_not_ours(recwarn: pytest.WarningsRecorder) -> None:
    facts_of_python("x = '\\d'\nassert (1, 'a')\ny = 1 is 1\n", "m")
    assert list(recwarn) == []


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "\ufeffx = 1", "x = 1\r\ny = 2\r\n", "x = 1\ry = 2\r"])
def test_harmless_oddities_are_read(text: str) -> None:
    facts = facts_of_python(text, "pkg.m")
    assert (facts.module, facts.text) == ("pkg.m", text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is that of Python 3.12")
def test_type_parameters() -> None:
    facts = facts_of_python("type A = int\ndef f[T](a: T) -> T: ...\nclass B[T]: ...\n", "m")
    assert [(each.name, each.public) for each in facts.symbols] == [("A", False), ("f", True), ("B", True)]


# Notebooks


def notebook(*cells: str, **metadata: object) -> str:
    described = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# Hi"}, *described], "metadata": metadata})


def test_code_cells_are_joined() -> None:
    facts = facts_of_notebook(notebook("import os\ndef f(): pass", "def g(): pass\n", "", "A = 1"), "m")
    assert names(facts) == ["f", "g", "A"]
    assert facts.text == "import os\ndef f(): pass\ndef g(): pass\n\nA = 1"
    assert [each.line for each in facts.symbols] == [2, 3, 5]


def test_the_older_format_is_read() -> None:
    cells = [{"cell_type": "code", "input": ["A = 1\n", "B = 2"]}, {"cell_type": "markdown", "source": "x"}]
    text = json.dumps({"worksheets": [{"cells": cells}], "metadata": {"name": ""}, "nbformat": 3})
    assert names(facts_of_notebook(text, "m")) == ["A", "B"]


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nA = 1",
        "!pip install x\nA = 1",
        "A = 1\nA?",
        "?A\nA = 1",
        "A = 1\nhelp??",
        "A = !ls -l",
        "A = %sql select 1",
        "if True:\n    %time f()\nA = 1",
        "for x in y:\n    !echo {x}\nA = 1",
        "%%time\nA = 1",
        "%%capture out\n%load_ext x\nA = 1",
        "A = '''\n% not magic\n! neither\n'''",
        "A = 1 \\\n % 2",
        "A = await f()",
    ],
)
def test_the_notebooks_own_language_is_left_out(cell: str) -> None:
    facts = facts_of_notebook(notebook(cell, "def after(): pass"), "m")
    assert names(facts) == ["A", "after"]
    assert facts.symbols[1].line == cell.count("\n") + 2


@pytest.mark.parametrize("cell", ["%%bash\nA = 1\nif x; then", "%%html\n<b>", "\n%%writefile x.py\nA = ("])
def test_cells_in_another_language_keep_their_lines(cell: str) -> None:
    facts = facts_of_notebook(notebook(cell, "B = 1"), "m")
    assert [(each.name, each.line) for each in facts.symbols] == [("B", cell.count("\n") + 2)]


def test_text_that_looks_like_magic_inside_a_string_stays() -> None:
    facts = facts_of_notebook(notebook("A = '''\n% kept\n'''"), "m")
    assert facts.symbols[0].value == "'\\n% kept\\n'"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "n.ipynb: not a notebook (not JSON"),
        ("[1]", "n.ipynb: not a notebook (no cells"),
        ("{}", "n.ipynb: not a notebook (no cells"),
        ('{"cells": 3}', "n.ipynb: not a notebook (no cells"),
        ("[" * 100_000, "n.ipynb: not a notebook (not JSON"),
        (notebook("x = 1", kernelspec={"language": "R"}), "n.ipynb: a notebook in 'R', not in Python"),
        (notebook("x = 1", language_info={"name": "julia"}), "n.ipynb: a notebook in 'julia', not in Python"),
        (notebook("x = 1", "def f(:"), "n.ipynb:2: not valid Python"),
    ],
)
def test_what_is_no_notebook_is_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        facts_of_notebook(text, "m", "n.ipynb")
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


KEYS = st.sampled_from(["cells", "worksheets", "metadata", "cell_type", "source", "input"])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "worksheets", "metadata", "cell_type", "source", "input"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


def outcome(read: Callable[[str, str], Facts], text: str) -> Facts | str:
    """The facts, or the text of our own error; any other error ends the test."""
    try:
        return read(text, "m")
    except InputError as error:
        return str(error)


@settings(max_examples=150, deadline=None)
@given(content=JSON_VALUES)
def test_no_json_raises_anything_but_our_error(content: object) -> None:
    found = outcome(facts_of_notebook, json.dumps(content))
    assert isinstance(found, Facts) or "\n" not in found


# Any input at all


def read(text: str) -> None:
    found = outcome(facts_of_python, text)
    if isinstance(found, str):
        assert "\n" not in found
        return
    lines = len(re.split(r"\r\n|\r|\n", text))
    assert all(1 <= each.line <= each.end_line <= lines for each in found.walk())


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=200))
def test_no_text_raises_anything_but_our_error(text: str) -> None:
    read(text)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_bytes_raise_anything_but_our_error(data: bytes) -> None:
    read(data.decode("latin-1"))


WORDS = st.sampled_from(
    [
        *("def", "class", "async", "raise", "return", "try", "except", "finally", "with", "as", "if", "elif", "else"),
        *("for", "while", "lambda", "yield", "await", "match", "case", "f", "A", "self", "x", "y", "super", "__init__"),
        *("(", ")", ":", ",", "=", ".", "@", "%", "+", "*", "**", "/", "==", "[", "]", "{", "}", "_", "__all__"),
        *("\n", "\n\t", "\n\t\t", "'a'", "f'{x}'", "1", "None", "ValueError"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(words=st.lists(WORDS, max_size=40))
def test_no_tokens_raise_anything_but_our_error(words: list[str]) -> None:
    read(" ".join(words))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_mutated_source_raises_anything_but_our_error(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(SOME_FILES))
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)[:300]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        other = data.draw(st.integers(0, len(lines) - 1))
        action = data.draw(st.sampled_from(["drop", "swap", "cut", "double"]))
        if action == "drop":
            lines[place] = ""
        elif action == "swap":
            lines[place], lines[other] = lines[other], lines[place]
        elif action == "cut":
            lines[place] = lines[place][: len(lines[place]) // 2] + "\n"
        else:
            lines[place] *= 2
    read("".join(lines))


# Whole libraries


def defined(body: list[ast.stmt], prefix: str = "") -> set[str]:
    """The functions and classes at module and class level that no condition and no later definition takes away."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(prefix + node.name)
        if isinstance(node, ast.ClassDef):
            found |= defined(node.body, f"{prefix}{node.name}.")
    return found


@pytest.mark.parametrize("path", SOME_FILES, ids=lambda path: path.stem)
def test_every_function_and_class_of_the_standard_library_appears(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    facts = facts_of_python(text, path.stem)
    found = names(facts)
    assert len(found) == len(set(found))
    deletions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Delete)]
    deleted = {name.id for node in deletions for name in ast.walk(node) if isinstance(name, ast.Name)}
    missing = {name for name in defined(ast.parse(text).body) if name.rpartition(".")[2] not in deleted}
    assert missing - set(found) == set()


GRIFFE_KINDS = {
    "positional or keyword": "positional",
    "variadic positional": "var-positional",
    "variadic keyword": "var-keyword",
}


@pytest.mark.parametrize("path", SOME_FILES[::4], ids=lambda path: path.stem)
def test_parameters_agree_with_another_reader(path: Path) -> None:
    """griffe reads signatures too, in its own way: kinds and names must be the same."""
    text = path.read_text(encoding="utf-8", errors="replace")
    theirs = griffe.visit(path.stem, filepath=path, code=text).members
    functions = {name for name, each in theirs.items() if isinstance(each, griffe.Function)}
    compared = set()
    for mine in facts_of_python(text, path.stem).symbols:
        other = theirs.get(mine.name)
        if mine.kind != "function" or not isinstance(other, griffe.Function) or len(mine.signatures) != 1:
            continue
        compared.add(mine.name)
        kinds = [(each.name, each.kind.value if each.kind else "") for each in other.parameters]
        expected = [(name, GRIFFE_KINDS.get(kind, kind)) for name, kind in kinds]
        assert [(each.name, each.kind) for each in mine.signatures[0].parameters] == expected
    assert len(compared) >= 0.9 * len(functions)


def test_the_sources_are_never_run(tmp_path: Path) -> None:
    flag = tmp_path / "ran"
    facts_of_python(dedent(f"""
        import pathlib
        pathlib.Path({str(flag)!r}).touch()
        @exit
        def f(): ...
    """), "m")  # fmt: skip
    assert not flag.exists()
