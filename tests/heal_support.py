"""What the tests of healing share: a project with a bug, and what a debugger answers."""

import stat
from collections.abc import Mapping
from pathlib import Path

from tests.ollama_double import OllamaDouble, reply
from tests.ollama_double.replies import Scripted
from tests.support import CommandLine, Ended

# Plugins of this environment take seconds to load.
INI = "[pytest]\naddopts = --disable-plugin-autoload\n"
BUG = '''"""Keep numbers in bounds."""


def clamp(value, low, high):
    return min(value, high)
'''
FIXED = BUG.replace("min(value, high)", "max(low, min(value, high))")
WRONG = BUG.replace("min(value, high)", "max(low, value)")
TESTS = """from bounds import clamp


def test_inside():
    assert clamp(5, 0, 10) == 5


def test_above():
    assert clamp(30, 0, 10) == 10


def test_below():
    assert clamp(-3, 0, 10) == 0
"""
FILES = {"proj/bounds.py": BUG, "proj/test_bounds.py": TESTS, "proj/pytest.ini": INI}
# cart.py cannot be parsed, price.py has a bug.
CART = "from shop.price import price\n\n\ndef count(things):\n    return len(things)\n\n\ndef total(things):\n"
CART += "    return sum(price(one) for one in things)\n"
PRICE = "PRICES = {'tea': 3, 'jam': 4}\n\n\ndef price(thing):\n    return PRICES[thing]\n"
BROKEN = CART.replace("def count(things):", "def count(things:")
PRICE_BUG = PRICE.replace("PRICES[thing]", "PRICES[thing.upper()]")
PRICE_WRONG = PRICE.replace("PRICES[thing]", "PRICES[thing] + 1")
OF_CART = "from shop.cart import count, total\n\n\ndef test_count():\n    assert count(['tea']) == 1\n"
OF_TOTAL = "\n\ndef test_total():\n    assert total(['tea', 'jam']) == 7\n"
OF_PRICE = "from shop.price import price\n\n\ndef test_tea():\n    assert price('tea') == 3\n"
SHOP = {
    "shop/pytest.ini": INI,
    "shop/src/shop/__init__.py": "",
    "shop/src/shop/cart.py": BROKEN,
    "shop/src/shop/price.py": PRICE_BUG,
    "shop/tests/test_cart.py": OF_CART,
    "shop/tests/test_price.py": OF_PRICE,
}


def lay_out(cli: CommandLine, files: Mapping[str, str]) -> None:
    """Write a project."""
    for name, text in files.items():
        path = cli.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def debugger(double: OllamaDouble, *acts: Scripted) -> None:
    """Script a run in which GENERATOR's model debugs."""
    double.script("gen:1b", *acts)
    double.script("critic:1b", reply("All that was asked for works."))


def fix(cli: CommandLine, *more: str, module: str = "proj/bounds.py", tests: str = "proj/test_bounds.py") -> Ended:
    """Run ``reflexion code --fix``."""
    return cli.run("code", "--fix", module, "--tests", tests, *more)


def told(double: OllamaDouble, number: int = 0) -> str:
    """What the debugger was told."""
    chats = [chat for chat in double.chats() if chat["model"] == "gen:1b"]
    return str(chats[number]["messages"][-1]["content"])


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
