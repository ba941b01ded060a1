"""Whether a function can raise an exception that none of its ``raise`` statements names."""

import builtins
import re
from collections.abc import Iterable

from reflexion.evidence.facts import Raise, Symbol
from reflexion.evidence.rules.names import Source

# What must stand in a function's code for the interpreter or a called built-in to raise the type by itself.
TRIGGERS = {
    "ZeroDivisionError": r"[/%]|divmod|pow\(|Fraction|mean\(",
    "KeyError": r"\[|\.pop\(|\.remove\(|format|environ",
    "IndexError": r"\[|\.pop\(|format",
    "LookupError": r"\[|\.pop\(|codec|encode|decode",
    "OverflowError": r"\*\*|math\.|int\(|exp\(|timedelta|to_bytes|pow\(|float",
    "StopIteration": r"next\(|yield",
    "StopAsyncIteration": r"anext\(|yield",
    "RecursionError": r"\w\(",
    "UnicodeDecodeError": r"decode|open\(|read|str\(",
    "UnicodeEncodeError": r"encode|write|open\(",
    "UnicodeError": r"decode|encode|open\(|read|write",
    "AssertionError": r"\bassert\b",
    "ArithmeticError": r"[/%]|\*\*|Decimal",
    "ImportError": r"import",
    "ModuleNotFoundError": r"import",
    "NotImplementedError": r"\w\(",
    "RuntimeError": r"\w\(",
    "ValueError": r"\w\(|\bin\b|=.*,|\[",
    "NameError": r"$^",
    "SystemExit": r"exit\(",
    "KeyboardInterrupt": r"input\(|while|sleep",
    "FloatingPointError": r"$^",
    "TypeError": r".",
    "AttributeError": r"\.",
}
OS_ERRORS = (
    r"open\(|[Pp]ath|os\.|socket|read|write|connect|shutil|mkdir|unlink|stat\(|request|subprocess|send|recv|urlopen"
)

# Messages that the interpreter itself writes, by the type that carries them: a document may quote them though no
# ``raise`` holds them. Anything looser would excuse invented messages.
_OWN_MESSAGES = {
    "ZeroDivisionError": r"division by zero|modulo by zero|division or modulo",
    "IndexError": r"\bindex out of range|pop from (?:an )?empty|index exceeds",
    "ValueError": r"invalid literal for|could not convert|values to unpack|iterable argument is empty|empty range for|"
    r"math domain error|substring not found|\bnot in (?:list|deque|tuple)\b|does not match format|"
    r"invalid isoformat|empty separator|must have at least two",
    "TypeError": r"not subscriptable|object is not|unsupported operand|missing \d+ required|unexpected keyword|"
    r"\bpositional argument|not supported between|must be str\b|NoneType|not callable|cannot be interpreted|unhashable",
    "AttributeError": r"has no attribute",
    "FileNotFoundError": r"No such file",
    "PermissionError": r"Permission denied",
    "OSError": r"No such file|Permission denied|File exists|Is a directory|Not a directory",
    "UnicodeDecodeError": r"codec can.t",
    "UnicodeEncodeError": r"codec can.t",
    "RecursionError": r"maximum recursion",
    "JSONDecodeError": r"Expecting |Extra data",
    "OverflowError": r"Result too large|too large to convert|int too large",
}


def may_raise(source: Source, symbol: Symbol, exception: str) -> bool:
    """Whether code of ``symbol`` could meet ``exception`` without a ``raise`` of its own for it."""
    if symbol.raises_unknown:
        return True
    name = exception.rpartition(".")[2]
    body = _body(source.segment(symbol))
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, BaseException):
        return _builtin_may_occur(name, found, body)
    defined = source.resolve(name)
    if defined is not None and defined.kind == "class":
        return _calls_unknown(body)
    # A library's exception: its name or its module must at least be imported.
    return exception.partition(".")[0] in source.names.imported or name in source.names.others


def is_own_message(exception: str, message: str) -> bool:
    """Whether the text looks like a message that the interpreter writes for this type."""
    pattern = _OWN_MESSAGES.get(exception.rpartition(".")[2])
    return pattern is not None and re.search(pattern, message, re.IGNORECASE) is not None


def is_written_there(source: Source, raises: Iterable[Raise], message: str) -> bool:
    """Whether a ``raise`` statement holds the text as a string of its own, around which its class puts more words."""
    quoted = re.compile(rf"""(["'])[ ]*{re.escape(message)}[ ]*\1""")
    return any(quoted.search(_statement(source, one.line)) for one in raises)


def _statement(source: Source, line: int) -> str:
    """The lines of a ``raise`` statement, as far as its brackets go, at most ten."""
    found: list[str] = []
    for text in source.lines[line - 1 : line + 9]:
        found.append(text)
        whole = "\n".join(found)
        if whole.count("(") <= whole.count(")"):
            break
    return "\n".join(found)


def _builtin_may_occur(name: str, kind: type, body: str) -> bool:
    trigger = TRIGGERS.get(name) or (OS_ERRORS if issubclass(kind, OSError) else r"\w\(")
    return re.search(trigger, body) is not None


def _calls_unknown(body: str) -> bool:
    return re.search(r"\w\.\w+\(|\braise\s+\w+\s*$|\braise\s*$|\bawait\b", body, re.MULTILINE) is not None


def _body(segment: str) -> str:
    """Code without docstrings and comments, and without the ``def`` line's own parenthesis."""
    bare = re.sub(r'(?s)""".*?"""|\'\'\'.*?\'\'\'', "", segment)
    bare = re.sub(r"#.*", "", bare)
    return re.sub(r"^\s*(?:async\s+)?def\s+\w+\(", "", bare, count=1)
