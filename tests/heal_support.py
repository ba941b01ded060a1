"""What the tests of healing share: a project with a bug, and what a debugger answers."""

import re
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflexion.healing.folder import modules_below, runner_for, survey
from reflexion.healing.project import find_project
from reflexion.healing.runner import Runner, limits_for
from reflexion.healing.turns import Turns
from tests.code_support import patch
from tests.ollama_double import Act, OllamaDouble, reply
from tests.ollama_double.replies import Scripted
from tests.sandbox_support import bubblewrap
from tests.support import CommandLine, Ended

LIMIT_S = 60.0  # of a run of the tests: a machine may be busy with many other tests
CALLS = 40
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


def in_sandbox(cli: CommandLine, double: OllamaDouble) -> CommandLine:
    """Have the sandbox be there, and give tests the time that a busy machine needs."""
    bubblewrap()
    cli.configure(double.base_url, code={"limit_s": LIMIT_S})
    return cli


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


def turns_of(folder: Path, files: Mapping[str, str]) -> Turns:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    modules = modules_below(folder / "src", folder / "tests")
    project = find_project(modules[0], folder / "tests", folder / "src")
    runner = runner_for(project, Runner(project, bubblewrap(), limits_for(LIMIT_S, 512), sys.executable, ()), modules)
    return survey(runner, modules, folder / "tests", folder / "src", frozenset())[1]
