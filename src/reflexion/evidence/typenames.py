"""Type texts as documents write them: does a text name a type, and which spelling do two of them share."""

import ast
import re

from reflexion.evidence.expressions import parse_expression
from reflexion.patterns import regex

# Words for types that documents use besides Python's own names, and the spelling they share.
_WORDS = {
    "string": "str",
    "strings": "str",
    "strs": "str",
    "text": "str",
    "integer": "int",
    "integers": "int",
    "ints": "int",
    "boolean": "bool",
    "booleans": "bool",
    "bools": "bool",
    "floats": "float",
    "double": "float",
    "dictionary": "dict",
    "dictionaries": "dict",
    "dicts": "dict",
    "lists": "list",
    "tuples": "tuple",
    "sets": "set",
    "callable": "Callable",
    "function": "Callable",
    "iterable": "Iterable",
    "iterator": "Iterator",
    "generator": "Generator",
    "sequence": "Sequence",
    "mapping": "Mapping",
    "awaitable": "Awaitable",
    "coroutine": "Coroutine",
    "any": "Any",
    "nonetype": "None",
    "none": "None",
    "null": "None",
}
_BUILTIN = frozenset(
    {
        "str",
        "int",
        "float",
        "bool",
        "bytes",
        "bytearray",
        "complex",
        "dict",
        "list",
        "tuple",
        "set",
        "frozenset",
        "object",
    }
    | {
        "type",
        "range",
        "slice",
        "memoryview",
        "None",
        "Any",
        "Callable",
        "Iterable",
        "Iterator",
        "Generator",
        "Optional",
    }
    | {
        "Union",
        "Literal",
        "Sequence",
        "Mapping",
        "MutableMapping",
        "Awaitable",
        "Coroutine",
        "Self",
        "Type",
        "List",
        "Dict",
    }
    | {
        "Tuple",
        "Set",
        "FrozenSet",
        "AsyncIterator",
        "AsyncIterable",
        "AsyncGenerator",
        "Collection",
        "Hashable",
        "Sized",
    }
    | {"datetime", "date", "timedelta", "Decimal", "Path", "Fraction", "UUID", "Enum", "Exception", "NoReturn", "Never"}
    | {"deque", "defaultdict", "OrderedDict", "Counter", "ndarray", "DataFrame", "array-like", "number", "Number"}
)
_OLD_NAMES = {
    "List": "list",
    "Dict": "dict",
    "Tuple": "tuple",
    "Set": "set",
    "FrozenSet": "frozenset",
    "Type": "type",
    "Deque": "deque",
    "DefaultDict": "defaultdict",
    "Text": "str",
}
_ARTICLE = regex(r"^(?:an?|the)\s+", re.IGNORECASE)
_OF = regex(r"^([A-Za-z][\w.-]*)\s+of\s+(.+)$", re.DOTALL)
_DICT_OF = regex(r"^(?:dict|dictionary|mapping)\s+(?:of|mapping|from)\s+(.+?)\s+to\s+(.+)$", re.IGNORECASE | re.DOTALL)
_OR = regex(r"\s*,\s*or\s+|\s+or\s+|\s*/\s*|\s*\|\s*")
_NAME = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_LONGEST = 300
_CONTAINERS = frozenset(
    {"list", "set", "frozenset", "tuple", "Iterable", "Iterator", "Sequence", "Generator", "Collection"}
)


def is_known_type(text: str) -> bool:
    """Say whether a text is surely a type: built-in or typing names, also in words ("list of int", "str or None")."""
    spelled = normalise_type(text)
    if spelled is None or _is_literal(spelled):
        return False
    names = _NAME.findall(re.sub(r"Literal\[.*\]|(['\"]).*?\1", "str", spelled))
    return bool(names) and all(name.rpartition(".")[2] in _BUILTIN for name in names)


def is_type(text: str, *, coded: bool) -> bool:
    """Say whether a text can be taken as a type.

    ``coded``: the document sets it as code; then any expression of names, subscripts and ``|`` does. Else it must be
    known, or one name in capitals-and-lower-case such as ``Account``, possibly with known types around it.
    """
    spelled = normalise_type(text)
    if spelled is None or _is_literal(spelled):
        return False
    if is_known_type(text):
        return True
    names = [name.rpartition(".")[2] for name in _NAME.findall(spelled)]
    if coded:
        return all(name in _BUILTIN or name[0].isupper() or "." in spelled or "[" in spelled for name in names)
    return len(text.split()) <= 5 and all(name in _BUILTIN or _looks_like_class(name) for name in names)


def normalise_type(text: str) -> str | None:
    """Return one spelling for a type text, or None where it cannot be read as a type.

    ``Optional[X]`` and "X or None" become ``X | None``, ``List`` becomes ``list``, "list of int" ``list[int]``,
    "string" ``str``. Members of a union are in alphabetical order, None last, each once.
    """
    cleaned = " ".join(_ARTICLE.sub("", text.strip().strip("`").strip()).split()).rstrip(".,;:")
    if not cleaned or len(cleaned) > _LONGEST or "\\" in cleaned:
        return None
    if cleaned.isidentifier():
        return _named(cleaned)
    try:
        return _spelled(_parsed(cleaned))
    except (ValueError, RecursionError):
        return None


def _parsed(text: str) -> ast.expr:
    """Parse a type text, in Python's or in everyday words."""
    node = parse_expression(text) or parse_expression(_worded(text))
    if node is None:
        raise ValueError
    return node


def _worded(text: str, depth: int = 0) -> str:
    """Turn everyday words into Python: "list of int or None" into ``list[int] | None``."""
    if depth > 6:
        raise ValueError
    text = _ARTICLE.sub("", text.strip())
    if pair := _DICT_OF.match(text):
        return f"dict[{_worded(pair.group(1), depth + 1)}, {_worded(pair.group(2), depth + 1)}]"
    parts = [part for part in _split_or(text) if part]
    if len(parts) > 1:
        return " | ".join(_worded(part, depth + 1) for part in parts)
    if container := _OF.match(text):
        outer = _WORDS.get(container.group(1).lower(), container.group(1))
        inner = _worded(container.group(2), depth + 1)
        return f"{outer}[{inner}, ...]" if outer == "tuple" else f"{outer}[{inner}]"
    return text.replace(" ", "") if "[" in text else text


def _split_or(text: str) -> list[str]:
    """Split at "or", "/" and "|" outside brackets."""
    parts, start = [], 0
    for found in _OR.finditer(text):
        before = text[: found.start()]
        if before.count("[") == before.count("]") and before.count("(") == before.count(")"):
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _spelled(node: ast.expr) -> str:
    """Return the one spelling of a parsed type."""
    members = sorted(set(_members(node)), key=lambda member: (member == "None", member))
    return " | ".join(members)


def _members(node: ast.expr) -> list[str]:
    """Return the members of a union, or the one type."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.Div):
        return [*_members(node.left), *_members(node.right)]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return [member for part in node.values for member in _members(part)]
    if isinstance(node, ast.Subscript):
        return _subscript(node)
    if isinstance(node, ast.Constant):
        return _constant(node)
    if isinstance(node, ast.Name):
        return [_named(node.id)]
    if isinstance(node, ast.Attribute):
        return _attribute(node)
    raise ValueError


def _named(name: str) -> str:
    """Return the one spelling of a bare name."""
    return _OLD_NAMES.get(name) or _WORDS.get(name) or _WORDS.get(name.lower(), name)


def _constant(node: ast.Constant) -> list[str]:
    """None, an ellipsis, or a type in quotes."""
    if isinstance(node.value, str):
        return _members(_parsed(node.value))
    if node.value is None or node.value is Ellipsis:
        return [ast.unparse(node)]
    raise ValueError


def _attribute(node: ast.Attribute) -> list[str]:
    """A dotted name; the modules that hold typing names are left out."""
    text = ast.unparse(node)
    if not _NAME.fullmatch(text):
        raise ValueError
    head, _, last = text.rpartition(".")
    if head in ("typing", "t", "collections.abc", "abc", "builtins", "typing_extensions"):
        return [_OLD_NAMES.get(last, last)]
    return [text]


def _subscript(node: ast.Subscript) -> list[str]:
    """A generic type, with Optional and Union opened."""
    outer = _spelled(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if outer == "Optional":
        return [*_members(node.slice), "None"]
    if outer == "Union":
        return [member for part in parts for member in _members(part)]
    if outer in ("Literal", "Annotated"):
        return [ast.unparse(node)] if outer == "Literal" else _members(parts[0])
    return [f"{outer}[{', '.join(_argument(part) for part in parts)}]"]


def _argument(node: ast.expr) -> str:
    """One argument of a generic type; a list is that of a Callable."""
    if isinstance(node, ast.List):
        return f"[{', '.join(_argument(part) for part in node.elts)}]"
    if isinstance(node, ast.Tuple) and not node.elts:
        return "()"
    return _spelled(node)


def _is_literal(spelled: str) -> bool:
    """Say whether the text is a value rather than a type."""
    return spelled in ("...", "True", "False", "")


def _looks_like_class(name: str) -> bool:
    """Say whether a bare word is a class name for sure: capitals and lower case, no ordinary qualifier."""
    ordinary = {
        "Optional",
        "Required",
        "Deprecated",
        "Default",
        "Yes",
        "No",
        "Note",
        "Positional",
        "Keyword",
    }
    return name[0].isupper() and any(char.islower() for char in name) and name not in ordinary
