"""The error tree: what is drawn in the docstring is what the code has."""

import inspect
import re

import reflexion.errors as errors


def tree_of(cls: type[errors.ReflexionError], depth: int = 0) -> list[tuple[int, str]]:
    rows = [(depth, cls.__name__)]
    for child in cls.__subclasses__():
        rows += tree_of(child, depth + 1)
    return rows


def test_docstring_draws_the_real_tree() -> None:
    art = (errors.__doc__ or "").split("::", 1)[1].rsplit("An error", 1)[0]
    drawn = [(match.start() // 4 - 1, match[0]) for row in art.splitlines() if (match := re.search(r"[A-Z]\w+", row))]
    assert drawn == tree_of(errors.ReflexionError)


def test_every_exit_code_is_one_of_the_documented_outcomes() -> None:
    codes = {
        name: cls.exit_code
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.ReflexionError)
    }
    assert {codes["UsageError"], codes["ServerError"], codes["CallFailed"]} == {2, 3, 4}
    assert set(codes.values()) == {2, 3, 4, 130}


def test_a_rejected_reply_keeps_what_had_arrived() -> None:
    error = errors.ReplyCut("cut", text="half a page")
    assert (str(error), error.text) == ("cut", "half a page")
