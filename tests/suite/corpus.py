"""The solutions that lie beside this file as text, and the suite that the hostile ones want to pass."""

from pathlib import Path

SUITE = """\
import pytest

from solution import add, parse


def test_add():
    assert add(2, 3) == 5


def test_add_negative():
    assert add(-1, 1) == 0


@pytest.mark.parametrize("text, expected", [("a=1", {"a": "1"}), ("a=1,b=2", {"a": "1", "b": "2"})])
def test_parse(text, expected):
    assert parse(text) == expected


def test_parse_nonsense():
    with pytest.raises(ValueError, match="nonsense"):
        parse("nonsense")
"""
HONEST = '''\
def add(a: int, b: int) -> int:
    return a + b


def parse(text: str) -> dict[str, str]:
    """Return the fields of a text such as a=1,b=2."""
    fields = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign:
            raise ValueError(f"no field: {part!r}")
        fields[name] = value
    return fields
'''
WRONG = "def add(a, b):\n    return None\n\ndef parse(text):\n    return None\n\n"
# What does not end by itself gets little time.
ENDLESS = frozenset({"endless_loop", "endless_loop_at_import", "memory"})
# Once they run these are like exit_at_import and exit_in_a_test: they differ in how they hide it from a scan.
HIDDEN_EXITS = frozenset(
    {"attribute_by_annotation", "attribute_by_formatter", "attribute_by_match", "attribute_by_operator"}
    | {"attribute_by_wraps", "annotation_by_dispatch", "builtins_by_function", "compile_text", "dataclass_sys"}
    | {"eval_by_map", "exec_text", "finaliser", "import_by_name", "importlib", "pickle", "random_os", "subclasses"}
    | {"threading_sys", "warnings_hook", "exit_with_every_code", "sys_exit_at_import", "sys_exit_in_a_test"}
)


def solutions(name: str) -> dict[str, str]:
    """Return the texts of a file of this folder, by name."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("#### ")[1:])
    return {title: code for title, _, code in parts}


def hostile() -> dict[str, str]:
    """Return the hostile solutions, each after a wrong one (but for the one whose first line counts)."""
    found = solutions("hostile.txt")
    return {title: code if title == "codec" else WRONG + code for title, code in found.items()}
