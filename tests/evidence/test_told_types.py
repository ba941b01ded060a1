"""Types in sentences: an error where the source plainly has another one, and silence wherever that is not certain."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.truth import corpus_pages
from benchmarks.truth_mutations import TYPE_SENTENCES, leaves, told, wrong_type_in_prose
from reflexion.evidence.facts import Facts
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify
from tests.evidence.repair_support import corpus_facts, errors, repaired

SIGNATURE = "read(text: str, limit: int = 5, hosts: list[str] | None = None) -> float"


def _facts(signature: str = SIGNATURE, before: str = "") -> Facts:
    return facts_of_python(f"{before}\n\ndef {signature}:\n    return 1.0\n", "module")


def _page(sentence: str) -> str:
    return f"# module\n\n## `read`\n\nReads `text`, `limit` and `hosts`. {sentence}\n"


def _errors(sentence: str, facts: Facts | None = None) -> list[tuple[str, str, str]]:
    found = verify(_page(sentence), facts or _facts())
    return [(one.rule, one.stated, one.actual) for one in found if one.rule in {"P205", "R401"}]


WRONG = [
    ("`text` is an `int`.", "`text` is a `str`."),
    ("The `text` parameter is an integer.", "The `text` parameter is a str."),
    ("**`text`** is a `dict` with names.", "**`text`** is a `str` with names."),
    ("`limit` must be a `str`.", "`limit` must be an `int`."),
    ("`limit` should be a `str`, and `text` is an\n`int`.", "`limit` should be an `int`, and `text` is a\n`str`."),
    ("`text` is of type `int`.", "`text` is of type `str`."),
    ("`text` has the type `dict[str, int]`.", "`text` has the type `str`."),
    ("The type of `text` is `bytes`.", "The type of `text` is `str`."),
    ("Reads up to `limit` (str) lines.", "Reads up to `limit` (int) lines."),
    ("Reads up to `limit` (`str`, optional) lines.", "Reads up to `limit` (`int`, optional) lines."),
    ("Takes `text`, an `int`, and reads it.", "Takes `text`, a `str`, and reads it."),
    ("It takes `text` as an `int`.", "It takes `text` as a `str`."),
    ("This function accepts an `int` called `text`.", "This function accepts a `str` called `text`."),
    ("`hosts` is a `dict`.", "`hosts` is a `list[str] | None`."),
    ("`text` is a `list` of `str`.", "`text` is a `str`."),
    ("Reads all and returns a `dict`.", "Reads all and returns a `float`."),
    ("Reads all and returns its `dict`.", "Reads all and returns its `float`."),
    ("Returns a string.", "Returns a float."),
    ("The result is a `str`.", "The result is a `float`."),
]


@pytest.mark.parametrize(("sentence", "right"), WRONG)
def test_a_wrong_type_is_found_and_mended(sentence: str, right: str) -> None:
    rule = "R401" if "etur" in sentence or "result" in sentence else "P205"
    assert {one[0] for one in _errors(sentence)} == {rule}
    assert _errors(right) == []
    assert repaired(_page(sentence), _facts()).text == _page(right)


@pytest.mark.parametrize(
    "sentence",
    [
        "`limit` is a `float`.",
        "`limit` is a boolean.",
        "`hosts` is a list.",
        "`hosts` is a `list`, or `None` for all.",
        "`text` is an `int` or a `str`.",
        "`text` is an `int` if `limit` is given.",
        "When `limit` is given, `text` is an `int`.",
        "In strict mode, `text` is an `int`.",
        "`text` can be an `int`.",
        "`text` is not an `int`.",
        "`text` is a `str`, not an `int`.",
        "`text` is an `int` subclass.",
        "`text` is an integer text.",
        "`limit` is a string length.",
        "`name` is an `int`.",
        "`read.text` is an `int`.",
        "`text` is an `int`, as in `open`.",
        "Calls `open` with `limit` (`str`).",
        "Gives `text` as an `int`.",
        "It takes a callback that takes `text`, an `int`.",
        "With `text`, a `dict` is made.",
        "`text` (int or str) is read.",
        "`text` (ASCII, int) is read.",
        "`text` is an `Amount`.",
        "Returns an integer.",
        "Returns a string for each.",
        "Returns a string if it fails.",
        "Calls a handler and returns a `dict`.",
        "Returns a dictionary of lines and a list of errors.",
        "Returns a dictionary. Returns a list on some days.",
    ],
)
def test_what_may_be_meant_otherwise_is_no_finding(sentence: str) -> None:
    assert _errors(sentence) == []


@pytest.mark.parametrize(
    ("annotation", "typed"),
    [
        ("float", "int"),
        ("complex", "`bool`"),
        ("bytes", "`bytearray`"),
        ("frozenset[str]", "`set`"),
        ("Sequence[str]", "`list`"),
        ("Iterable[str]", "`tuple`"),
        ("Mapping[str, int]", "`dict`"),
        ("Hashable", "`str`"),
        ("Any", "`str`"),
        ("object", "`str`"),
        ("T", "`str`"),
        ("Amount", "`str`"),
        ("Alias", "`str`"),
        ("Text", "`str`"),
        ("Flags", "`int`"),
        ("Optional[Union[int, str]]", "`str`"),
    ],
)
def test_types_that_may_be_the_same(annotation: str, typed: str) -> None:
    before = "from elsewhere import Base, Amount\nfrom enum import IntFlag\nAlias = int | str\n"
    before += "class Text(Base):\n    ...\n\nclass Flags(IntFlag):\n    ONE = 1\n"
    facts = _facts(f"read(text: {annotation}, limit=5)", before)
    assert _errors(f"`text` is a {typed}.", facts) == []
    assert _errors("`limit` is a `str`.", facts) == []


def test_an_overload_may_have_the_type() -> None:
    source = (
        "from typing import overload\n\n@overload\ndef read(text: str) -> str: ...\n@overload\n"
        "def read(text: int) -> int: ...\ndef read(text):\n    return text\n"
    )
    assert _errors("`text` is a `str`.", facts_of_python(source, "module")) == []


def test_the_name_of_an_attribute_or_a_key_need_not_be_that_of_the_parameter() -> None:
    source = "class read:\n    def __init__(self, text: str) -> None:\n        self.text = text.split()\n"
    assert _errors("`text` is a `list`.", facts_of_python(source, "module")) == []
    keys = "def read(text: str) -> dict[str, int]:\n    return {'text': 1}\n"
    assert _errors("`text` is an `int`.", facts_of_python(keys, "module")) == []


def test_what_is_told_of_the_result_is_not_told_of_a_parameter() -> None:
    assert _errors("\n\n### Returns\n\nThe length.\n\n`limit` is a `str` in it.\n\n`text` is an `int`.") == []


def test_a_dataclass_field_is_the_parameter() -> None:
    source = "from dataclasses import dataclass\n\n@dataclass\nclass read:\n    text: str\n"
    assert _errors("`text` is an `int`.", facts_of_python(source, "module")) == [("P205", "int", "str")]


def test_a_comment_silences_it() -> None:
    assert _errors("`text` is an `int`. <!-- reflexion: off P205 -->") == []


PAGES = list(corpus_pages())
FACTS = {page.name: corpus_facts(page.name) for page in PAGES}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_true_type_is_no_finding_and_a_wrong_one_is_mended(data: st.DataObject) -> None:
    page = data.draw(st.sampled_from([one for one in PAGES if any(wrong_type_in_prose(one))]))
    facts, before = FACTS[page.name], verify(page.text, FACTS[page.name])
    thing, span = data.draw(st.sampled_from([one for one in leaves(page) if one[0].params]))
    param = data.draw(st.sampled_from(thing.params))
    true = told(page, span, param, param.annotation or "int", data.draw(st.integers(0, len(TYPE_SENTENCES))))
    if true is not None and param.annotation:
        assert {(one.rule, one.message) for one in verify(true[1], facts)} <= {
            (one.rule, one.message) for one in before
        }
    fault = data.draw(st.sampled_from(list(wrong_type_in_prose(page))))
    found = verify(fault.text, facts)
    assert [one.rule for one in errors(found) if one not in before] == ["P205"]
    assert errors(repaired(fault.text, facts).findings) == errors(before)
