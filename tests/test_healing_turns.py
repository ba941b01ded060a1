"""``reflexion code --fix FOLDER``: modules are healed in turn, each beside what was healed before it."""

import pytest

from tests.code_support import result
from tests.heal_support import (
    BROKEN,
    CART,
    OF_CART,
    OF_TOTAL,
    PRICE,
    PRICE_BUG,
    PRICE_WRONG,
    SHOP,
    answering,
    asked_about,
    fix,
    in_sandbox,
    lay_out,
)
from tests.ollama_double import OllamaDouble
from tests.support import CommandLine, Ended


@pytest.fixture
def cli(cli: CommandLine, ollama_double: OllamaDouble) -> CommandLine:
    return in_sandbox(cli, ollama_double)


def asked(double: OllamaDouble) -> list[str]:
    """Which modules the debugger was asked about, in order."""
    return [asked_about(chat) for chat in double.chats("gen:1b")]


def heal(cli: CommandLine, *more: str) -> Ended:
    return fix(cli, "--apply", "--max-debug-iterations", "2", *more, module="shop/src", tests="shop/tests")


def text_of(cli: CommandLine, name: str) -> str:
    return (cli.folder / "shop" / "src" / "shop" / name).read_text(encoding="utf-8")


def test_a_syntax_error_in_one_module_and_a_bug_in_another(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP)
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE)
    assert asked(ollama_double) == ["cart.py", "price.py"]


def test_a_syntax_error_that_hides_the_bug_of_another_module(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    """The only file of tests needs both."""
    lay_out(cli, SHOP | {"shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": ""})
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE)


def test_what_was_healed_is_written_and_what_fails_is_named(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP | {"shop/src/shop/__init__.py": "from shop.cart import count\n"})
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE_WRONG]})
    ended = heal(cli)
    assert ended.code == 1, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE_BUG)
    assert "1 of 2 tests pass with all that was healed: tests/test_price.py::test_tea did not pass" in ended.out
    assert [f"{name}.py: written" in ended.out for name in ("cart", "price")] == [True, False]


def test_a_failure_that_needs_two_modules_changed(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    bug = CART.replace("for one in things", "for one in things.all()")
    lay_out(
        cli,
        SHOP
        | {"shop/src/shop/cart.py": bug, "shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": ""},
    )
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, PRICE)


def test_what_passes_only_beside_what_does_not_is_not_written(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    """The cart has another bug, which its candidate leaves; without it no test of the price can be collected."""
    other = CART.replace("len(things)", "len(things) + 1")
    fine = "def test_fine():\n    assert True\n"
    files = {"shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": fine}
    lay_out(cli, SHOP | files)
    answering(ollama_double, {"cart.py": [other], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 1, ended
    assert "the next modules are healed beside its best candidate: 2 more tests can be collected" in ended.out
    assert "what was healed does not pass beside what was not: nothing is written" in ended.out
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (BROKEN, PRICE_BUG)
    assert [result(cli, f"output/fix-{one}-src-shop")["outcome"] for one in ("cart", "price")] == [
        "not accepted",
        "accepted",
    ]


def test_a_module_that_comes_up_later_and_whose_result_cannot_be_written_is_left_out(
    cli: CommandLine, ollama_double: OllamaDouble
) -> None:
    lay_out(cli, SHOP | {"shop/tests/test_cart.py": OF_CART + OF_TOTAL, "shop/tests/test_price.py": ""})
    lay_out(cli, {"output/fix-price-src-shop/mine.txt": "mine\n"})
    answering(ollama_double, {"cart.py": [CART]})
    ended = heal(cli)
    assert ended.code == 1, ended
    assert "price.py: left out: output/fix-price-src-shop/mine.txt: is not one of reflexion's files" in ended.out
    assert (text_of(cli, "cart.py"), asked(ollama_double)) == (BROKEN, ["cart.py", "cart.py"])


def test_a_wrong_value_in_a_folder(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP | {"shop/src/shop/cart.py": CART, "shop/src/shop/price.py": PRICE_WRONG})
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert text_of(cli, "price.py") == PRICE
    assert asked(ollama_double) == ["price.py"]
