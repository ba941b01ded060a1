"""Sources from disk: encodings, notebooks, and what is refused in one line."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.errors import InputError
from reflexion.loaders import load_path, load_stdin, notebook_code


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        "x = 'é'\n".encode(),
        b"\xef\xbb\xbf" + "x = 'é'\n".encode(),
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        "# coding: cp1252\nx = 'é'\n".encode("cp1252"),
        "x = 'é'\r\n".encode(),
    ],
)
def test_python_is_read_in_the_encoding_that_it_declares(tmp_path: Path, data: bytes) -> None:
    source = load_path(write(tmp_path, "a.py", data))
    assert "x = 'é'\n" in source.text
    assert "\ufeff" not in source.text
    assert (source.facts is not None, source.name) == (True, "a")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.py", b"", "empty"),
        ("a.py", b" \n\t\n", "empty"),
        ("a.py", b"x = 1\0", "binary"),
        ("a.py", "x = 1".encode("utf-16"), "UTF-16"),
        ("a.py", b"x = '\xff'\n", "decoded"),
        ("a.py", b"# coding: klingon\nx = 1\n", "klingon"),
        ("a.py", b"x = 1\nprint 'two'\n", "a.py:2: not Python 3"),
        ("a.py", b"def f(:\n", "a.py:1: not valid Python"),
        ("a.py", b"(" * 5000 + b")" * 5000, "a.py"),
        ("a.js", b"let x = '\xff'", "decoded"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        ("a.ipynb", b"{}", "notebook"),
        ("a.ipynb", b'{"cells": []}', "notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "markdown", "source": "# T"}]}', "no code cells"),
        ("a.ipynb", b"not json", "not a notebook"),
        ("a.ipynb", b"[1]", "not a notebook"),
    ],
)
def test_what_cannot_be_used_is_one_line_with_its_name(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = write(tmp_path, name, data)
    with pytest.raises(InputError) as error:
        load_path(path)
    assert said in str(error.value)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_other_languages_are_read_and_said_not_to_be_python(tmp_path: Path) -> None:
    source = load_path(write(tmp_path, "a.js", b"export const one = 1;\n"))
    assert (source.text, source.facts) == ("export const one = 1;\n", None)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.py: no such file"):
        load_path(tmp_path / "gone.py")


def test_standard_input_is_python_if_it_parses() -> None:
    assert load_stdin(b"x = 1\r\n").text == "x = 1\n"
    assert load_stdin(b"x = 1\n").facts is not None
    assert load_stdin(b"fn main() {}\n").facts is None
    with pytest.raises(InputError, match="standard input"):
        load_stdin(b"\xff\xff\xffabc")


def test_a_notebook_is_its_code_with_its_words_as_comments() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import math\n", "!ls\n", "x = 1"]},
        {"cell_type": "raw", "source": ""},
    ]
    text = notebook_code(json.dumps({"nbformat": 4, "cells": cells}).encode(), "n.ipynb")
    assert text == "# # Title\n# words\n\n# %matplotlib inline\nimport math\n# !ls\nx = 1\n"


def test_a_notebook_of_the_old_format_is_read_too() -> None:
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}
    assert notebook_code(json.dumps(old).encode(), "n.ipynb") == "x = 1\n"


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_an_input_error(data: bytes) -> None:
    for read in (load_stdin, lambda data: notebook_code(data, "n.ipynb")):
        with contextlib.suppress(InputError):
            assert read(data)
