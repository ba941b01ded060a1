"""``reflexion code --fix FOLDER``: modules are healed in turn, each from what was healed before it, in the real sandbox."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.code_support import patch, result
from tests.heal_support import INI, fix, lay_out
from tests.ollama_double import Act, OllamaDouble, reply
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine, Ended

LIMIT_S = 60.0
CALLS = 40
# cart.py cannot be parsed, price.py has a bug.
CART = "from shop.price import price\n\n\ndef count(things):\n    return len(things)\n\n\ndef total(things):\n"
CART += "    return sum(price(one) for one in things)\n"
PRICE = "PRICES = {'tea': 3, 'jam': 4}\n\n\ndef price(thing):\n    return PRICES[thing]\n"
BROKEN = CART.replace("def count(things):", "def count(things:")
BUG = PRICE.replace("PRICES[thing]", "PRICES[thing.upper()]")
WRONG = PRICE.replace("PRICES[thing]", "PRICES[thing] + 1")
OF_CART = "from shop.cart import count, total\n\n\ndef test_count():\n    assert count(['tea']) == 1\n"
OF_TOTAL = "\n\ndef test_total():\n    assert total(['tea', 'jam']) == 7\n"
OF_PRICE = "from shop.price import price\n\n\ndef test_tea():\n    assert price('tea') == 3\n"
SHOP = {
    "shop/pytest.ini": INI,
    "shop/src/shop/__init__.py": "",
    "shop/src/shop/cart.py": BROKEN,
    "shop/src/shop/price.py": BUG,
    "shop/tests/test_cart.py": OF_CART,
    "shop/tests/test_price.py": OF_PRICE,
}


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    bubblewrap()
    line = CommandLine(tmp_path, capsys)
    # A machine may be busy with many other tests.
    line.configure(ollama_double.base_url, code={"limit_s": LIMIT_S})
    return line


def answering(double: OllamaDouble, answers: Mapping[str, Sequence[str]]) -> None:
    """Have the debugger answer with these texts, by the module that it is asked about; the last one again and again."""
    left = {name: list(texts) for name, texts in answers.items()}

    def answer(body: dict[str, Any]) -> Act:
        name = asked_about(body)
        texts = left[name]
        return patch(texts.pop(0) if len(texts) > 1 else texts[0])

    double.script("gen:1b", *[answer] * CALLS)
    double.script("critic:1b", *[reply("All that was asked for works.")] * CALLS)


def asked_about(body: dict[str, Any]) -> str:
    found = re.search(r"The module \S*?(\w+\.py), which they fail", str(body["messages"][-1]["content"]))
    assert found
    return found[1]


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
    answering(ollama_double, {"cart.py": [CART], "price.py": [WRONG]})
    ended = heal(cli)
    print(ended.out)
    assert ended.code == 1, ended
    assert (text_of(cli, "cart.py"), text_of(cli, "price.py")) == (CART, BUG)


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


def test_a_wrong_value_in_a_folder(cli: CommandLine, ollama_double: OllamaDouble) -> None:
    lay_out(cli, SHOP | {"shop/src/shop/cart.py": CART, "shop/src/shop/price.py": WRONG})
    answering(ollama_double, {"cart.py": [CART], "price.py": [PRICE]})
    ended = heal(cli)
    assert ended.code == 0, ended
    assert text_of(cli, "price.py") == PRICE
    assert asked(ollama_double) == ["price.py"]
