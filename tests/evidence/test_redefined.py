"""Code blocks that show the source's own functions with a body, and those that only look like it."""

import pytest

from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

SOURCE = '''"""Shapes."""


def area(width: float, height: float = 1.0) -> float:
    """Multiply."""
    return width * height


class Box:
    """A box."""

    def fill(self, load: float) -> None:
        """Fill it."""
        self.load = load
'''
PAGE = """# Shapes

## area(width: float, height: float = 1.0) -> float

Multiplies both.

## Box

A box.

### fill(load: float) -> None

Fills it.
"""
FACTS = facts_of_python(SOURCE, "shapes")


def rules(code: str, mark: str = "python") -> list[str]:
    """The rules whose errors a block of code gives at the end of a true page."""
    assert not [finding for finding in verify(PAGE, FACTS) if finding.level == "error"]
    found = verify(f"{PAGE}\n## Code\n\n```{mark}\n{code}```\n", FACTS)
    return sorted({finding.rule for finding in found if finding.level == "error"})


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("def area(width, height, depth):\n    return width * height * depth\n", ["P204", "P207"]),
        ("import math\n\ndef area(width, height=2.0):\n    return math.prod((width, height))\n", ["P204"]),
        ("async def area(width, height=1.0):\n    return width * height\n", ["P206"]),
        ("class Box:\n    def fill(self, load, hard=False):\n        self.load = load\n", ["P207"]),
        ("def other(x):\n    return x\n\ndef area(width):\n    return width\n", ["P207"]),
    ],
)
def test_another_signature_than_the_source_has_is_found(code: str, wrong: list[str]) -> None:
    assert rules(code) == wrong
    assert rules(code, "") == wrong


@pytest.mark.parametrize(
    "code",
    [
        "def area(width: float, height: float = 1.0) -> float:\n    return width * height\n",
        "from shapes import Box\n\ndef area(box):\n    return box.load\n",
        "import shapes\n\ndef area(box):\n    return shapes.area(box.load)\n",
        "def area(x):\n    return x\n\nprint(area(3))\n",
        "@app.route('/area')\ndef area(request):\n    return request\n",
        "class Crate(Box):\n    def fill(self, load, lid):\n        super().fill(load)\n",
        "def fill(box, loads):\n    return [box.fill(load) for load in loads]\n",
        "class Box:\n    def __init__(self, size):\n        self.size = size\n",
    ],
)
def test_code_of_a_user_is_left_alone(code: str) -> None:
    assert rules(code) == []


def test_other_languages_are_left_alone() -> None:
    assert rules("def area(width):\n    return width\n", "ruby") == []
