"""The rules about examples as records: what ``reflexion rules`` and the documentation say of X601 to X604."""

from reflexion.evidence.rules.rule import Rule

SYNTAX = Rule(
    "X601",
    "example-syntax",
    "error",
    "An example that is marked as Python does not parse.",
    """Code in a fence marked `python`, `py`, `python3`, `pycon` or `doctest` is read as Python reads it; `await`
outside of a function is allowed. Fences that show a signature or leave code out with `...` or `<name>` are no
examples, nor are those with shell commands.

Why: whoever copies the code gets a `SyntaxError`. Wrong: `total = add(1, 2` in a Python fence. Right: `total
= add(1, 2)`.""",
)
RAISES = Rule(
    "X602",
    "example-raises",
    "error",
    "An example raises an exception that the document does not announce.",
    """Every Python example is run apart from everything else, with the source importable. An exception is announced
by a comment (`# raises ValueError`), a doctest's traceback, or the sentence before the fence. A network, a
file or a package that is not there is no failure, and neither is a name for the reader's own data (`client`)
that the page never defines; calling a function that nobody defines is one. An `assert` that fails is one as
well.

Why: the first thing that a reader tries is the example. Wrong: `add("1")` under "adds up", for a function
that raises `TypeError` for text. Right: the call that works, or the exception in a comment.""",
)
OUTPUT = Rule(
    "X603",
    "wrong-output",
    "error",
    "An example states another output than the real one.",
    """Stated outputs are what follows `>>>`, comments such as `# Output: 5`, `# -> 5`, `# Returns 5`, `# prints 5`
or a bare literal `# 0.667`, and an output block after the example. Literals are compared by value with the
digits that the document shows (`0.67` is right for 0.6667, `0.86` is not), sets and dictionaries by content,
other text by its words and numbers. Addresses, `...`, and the style of quotes do not matter; what differs
from one run to the next is not judged. A comment that only describes (`# the final amount`) states nothing.

Why: readers believe the output more than the prose. Wrong: `ratio(2, 3) # 0.86`. Right: `ratio(2, 3) #
0.667`.""",
)
MISSING_EXCEPTION = Rule(
    "X604",
    "missing-exception",
    "error",
    "An announced exception does not come, or comes with another type or message.",
    """An exception that a comment or a doctest announces has to come, with the type and the message that are stated;
a base class of the real type passes. Where only the prose before the fence announces it, the finding is a
warning.

Why: readers write `except` for what the page names. Wrong: `withdraw(5) # raises ValueError`, for a call that
raises `LookupError` or nothing. Right: `withdraw(5) # raises LookupError`.""",
)

EXAMPLE_RULES: tuple[Rule, ...] = (SYNTAX, RAISES, OUTPUT, MISSING_EXCEPTION)
