"""Whether a type that a document states is the one that the source has. Pure functions on texts.

Verdicts: "same"; "vague" (says less than the source but nothing false: ``number`` for ``float``); "doubtful"
(probably wrong, cannot be proved: worth a warning); "different" (proved wrong).
"""

import ast
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.facts import Facts
from reflexion.patterns import regex

Verdict = Literal["same", "vague", "doubtful", "different"]
GRAVITY: tuple[Verdict, ...] = ("same", "vague", "doubtful", "different")


class Kind(NamedTuple):
    """One alternative of a type: a canonical name and, for a generic, the alternatives of each argument."""

    name: str
    args: tuple[frozenset["Kind"], ...] = ()


Alternatives = frozenset[Kind]


class TypeContext(NamedTuple):
    """What the module itself says of names: aliases (name to type text) and classes (name to names of bases)."""

    aliases: Mapping[str, str] = MappingProxyType({})
    classes: Mapping[str, tuple[str, ...]] = MappingProxyType({})


NONE = Kind("None")
ANYTHING = Kind("?")

CANONICAL = {
    "List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type",
    "DefaultDict": "defaultdict", "Deque": "deque", "Text": "str", "NoneType": "None", "string": "str",
    "strings": "str", "strs": "str", "text": "str", "unicode": "str", "String": "str", "integer": "int",
    "integers": "int", "ints": "int", "Integer": "int", "boolean": "bool", "booleans": "bool", "bools": "bool",
    "Boolean": "bool", "bool": "bool", "floats": "float", "Float": "float", "double": "float",
    "dictionary": "dict", "dictionaries": "dict", "dicts": "dict", "Dictionary": "dict", "lists": "list",
    "tuples": "tuple", "sets": "set", "none": "None", "null": "None", "nothing": "None", "callable": "Callable",
    "function": "Callable", "callback": "Callable", "iterable": "Iterable", "iterator": "Iterator",
    "generator": "Generator", "mapping": "Mapping", "sequence": "Sequence", "collection": "Collection",
    "AbstractSet": "Set*", "MutableSet": "Set*", "Str": "str", "Int": "int", "Bool": "bool", "bytestring": "bytes",
    "datetimes": "datetime", "decimal": "Decimal", "path": "Path", "paths": "Path",
}  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KNOWN = _words(
    """None int float bool str bytes bytearray memoryview complex list dict tuple set frozenset type range slice
    Decimal Fraction Path PurePath datetime date time timedelta timezone UUID Callable Iterable Iterator Generator
    Sequence MutableSequence Collection Container Mapping MutableMapping defaultdict OrderedDict Counter deque
    Literal AsyncIterator AsyncIterable AsyncGenerator Awaitable Coroutine Set* Pattern Match Number Real Integral
    TextIO BinaryIO IO Hashable Sized Exception BaseException ValueError TypeError KeyError"""
)

# Per row: abstract names, then concrete ones. Any two names of a row can both be true of one value, so neither
# refutes the other, unless both are concrete.
FAMILIES = tuple(
    (_words(abstract) | _words(concrete), _words(concrete))
    for abstract, concrete in (
        (
            "Iterable Iterator Collection Container Sequence MutableSequence Sized Reversible Generator",
            "list tuple str bytes range deque dict set frozenset",
        ),
        ("Mapping MutableMapping Iterable Collection Container TypedDict", "dict"),
        ("dict defaultdict OrderedDict Counter ChainMap Mapping MutableMapping Iterable", ""),
        ("Set* Iterable Collection Container", "set frozenset"),
        ("AsyncIterator AsyncIterable AsyncGenerator", ""),
        ("Awaitable Coroutine Future Task", ""),
        ("Number Real Integral Complex Rational", "int float complex Decimal Fraction"),
        ("Path PurePath PosixPath PathLike", ""),
        ("Buffer", "bytes bytearray memoryview"),
        ("TextIO BinaryIO IO StringIO BytesIO file", ""),
        ("Exception BaseException", ""),
        ("datetime date", ""),
        (
            "Hashable",
            "str bytes int float complex bool tuple frozenset range Decimal Fraction Path datetime date timedelta UUID",
        ),
    )
)
SUPERTYPES = {"Literal": ("str", "int", "bool", "bytes"), "LiteralString": ("str",), "NamedTuple": ("tuple",)}
TRANSPARENT = frozenset({"Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack"})
ANY_NAMES = frozenset({"Any", "object", "Self", "Unknown", "T", "TypeVar"})
VAGUE_WORDS = _words(
    """number numbers numeric value values any anything array arrays array-like file file-like path-like enum class
    instance varies various scalar object objects"""
)

_TYPE_VARIABLE = regex(r"^_?[A-Z]\d?$|^_?[A-Z]\w*_(?:co|contra)$|^_?T_\w+$|^_?[A-Z]+T$|^[A-Z]\w*T$|^P$")
_OPTIONAL_WORD = regex(
    r"[,;]?\s*\(?\b(?:optional|required|keyword[- ]only|positional[- ]only)\b\)?\s*,?", re.IGNORECASE
)
_DEFAULT_WORD = regex(r"[,;(]?\s*\bdefaults?\b.*$", re.IGNORECASE | re.DOTALL)
_ARTICLE = regex(r"^(?:an?|the|one|single)\s+", re.IGNORECASE)
_OF = regex(
    r"^(?P<outer>list|tuple|set|frozenset|sequence|iterable|iterator|generator|collection)s?\s+of\s+(?P<inner>.+)$",
    re.IGNORECASE,
)
_MAPPING = regex(
    r"^(?:dict|dictionary|mapping)\s+(?:of|from|mapping|with)\s+(?P<key>.+?)"
    r"\s+(?:to|->|keys? (?:to|and))\s+(?P<value>.+)$",
    re.IGNORECASE,
)
_NOUN = regex(r"\s+(?:objects?|instances?|values?|types?)$", re.IGNORECASE)
_IDENTIFIER = regex(r"^[A-Za-z_][\w.]*$")
_NEWTYPE = regex(r"^(?:typing\.)?NewType\([^,]+,\s*(?P<base>.+)\)$", re.DOTALL)


def type_context(facts: Facts) -> TypeContext:
    """What ``facts`` say of aliases, type variables and classes, for the comparison."""
    aliases: dict[str, str] = {}
    classes: dict[str, tuple[str, ...]] = {}
    for symbol in facts.walk():
        if symbol.kind == "class":
            classes[symbol.name] = tuple(base.rpartition(".")[2] for base in symbol.bases)
        elif symbol.kind == "constant" and symbol.value:
            aliases[symbol.name] = _alias_target(symbol.value)
    return TypeContext(aliases, classes)


def _alias_target(value: str) -> str:
    newtype = _NEWTYPE.match(value)
    if newtype:
        return newtype["base"]
    return "Any" if re.match(r"(?:typing\.)?(?:TypeVar|ParamSpec|TypeVarTuple)\(", value) else value


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of the verdicts; "same" when there is none."""
    return max(verdicts, key=GRAVITY.index, default="same")


def compare_types(
    stated: str, actual: str, context: TypeContext | None = None, *, none_matters: bool = False
) -> Verdict:
    """Compare the type text of a document with the annotation of the source.

    ``none_matters``: leaving out ``None`` is worth a doubt (a return), not nothing (a parameter).
    """
    if stated.strip("` ") == actual:
        return "same"
    context = context or TypeContext()
    said, true = read_type(stated), read_type(actual)
    if said is None or true is None or not said or not true:
        return "vague"
    return _compare(said, _expand(true, context), context, none_matters)


def read_type(text: str) -> Alternatives | None:
    """The alternatives that a type text names; None for prose that names no type."""
    cleaned = _clean(text)
    if not cleaned:
        return None
    tree = parse_expression(cleaned)
    found = _from_tree(tree) if tree is not None else None
    return found if found is not None else _from_prose(cleaned)


def _clean(text: str) -> str:
    bare = re.sub(r"\s+", " ", text.replace("`", "").replace("\\|", "|").replace("*", " ")).strip()
    bare = _DEFAULT_WORD.sub("", bare)
    if not re.search(r"\bOptional\[", bare):
        bare = _OPTIONAL_WORD.sub("", bare)
    return bare.strip(" ,;.:()") if bare.count("(") != 1 or ")" not in bare else bare.strip(" ,;.:")


def _from_tree(tree: ast.expr, depth: int = 0) -> Alternatives | None:
    if depth > 40:
        return None
    if isinstance(tree, ast.Constant):
        return _from_constant(tree)
    if isinstance(tree, ast.Name | ast.Attribute):
        return _from_name(tree)
    if isinstance(tree, ast.Subscript):
        return _from_subscript(tree, depth)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return _joined(_from_tree(side, depth + 1) for side in (tree.left, tree.right))
    return None


def _joined(parts: Iterable[Alternatives | None]) -> Alternatives | None:
    found: set[Kind] = set()
    for part in parts:
        if part is None:
            return None
        found |= part
    return frozenset(found)


def _from_constant(tree: ast.Constant) -> Alternatives | None:
    if tree.value is None:
        return frozenset({NONE})
    if tree.value is Ellipsis:
        return frozenset({Kind("...")})
    if isinstance(tree.value, str):
        return read_type(tree.value)
    return None


def _from_name(tree: ast.Name | ast.Attribute) -> Alternatives | None:
    name = tree.id if isinstance(tree, ast.Name) else tree.attr
    if name in VAGUE_WORDS and name != "object":
        return None
    if name in ANY_NAMES or _TYPE_VARIABLE.match(name):
        return frozenset({ANYTHING})
    canonical = CANONICAL.get(name, name)
    if canonical.islower() and canonical not in KNOWN and isinstance(tree, ast.Name):
        return None
    if isinstance(tree, ast.Attribute) and ast.unparse(tree.value).endswith("abc") and name == "Set":
        canonical = "Set*"
    return frozenset({Kind(canonical)})


def _from_subscript(tree: ast.Subscript, depth: int) -> Alternatives | None:
    name = ast.unparse(tree.value).rpartition(".")[2]
    elements = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if name == "Literal":
        return frozenset({Kind("Literal", tuple(frozenset({Kind(ast.unparse(element))}) for element in elements))})
    if name in TRANSPARENT:
        return _from_tree(elements[0], depth + 1)
    read = [_from_argument(element, depth) for element in elements]
    if name in {"Union", "Optional"}:
        known = _joined(read)
        return known if known is None or name == "Union" else known | {NONE}
    anything = frozenset({ANYTHING})
    canonical = CANONICAL.get(name, name)
    return frozenset({Kind(canonical, tuple(anything if part is None else part for part in read))})


def _from_argument(tree: ast.expr, depth: int) -> Alternatives | None:
    if isinstance(tree, ast.List):
        parts = [_from_argument(element, depth + 1) or frozenset({ANYTHING}) for element in tree.elts]
        return frozenset({Kind("[]", tuple(parts))})
    return _from_tree(tree, depth + 1)


def _from_prose(text: str) -> Alternatives | None:
    pieces = _split_alternatives(text)
    return _joined(_from_piece(piece) for piece in pieces) if pieces else None


def _split_alternatives(text: str) -> list[str]:
    """Cut at "or", "|" and "/" outside of brackets; a comma cuts only where an "or" does as well."""
    pattern = r"\s+or\s+|\s*\|\s*|\s*/\s*|,\s*(?:or\s+)?" if re.search(r"\bor\b", text) else r"\s*\|\s*|\s*/\s*"
    pieces, start, depth = [], 0, 0
    cuts = {match.start(): match.end() for match in re.finditer(pattern, text)}
    for place, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if depth == 0 and place in cuts and place >= start:
            pieces.append(text[start:place])
            start = cuts[place]
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _from_piece(piece: str) -> Alternatives | None:
    bare = _NOUN.sub("", _ARTICLE.sub("", piece.strip())).strip()
    nested = _OF.match(bare)
    if nested:
        inner = read_type(nested["inner"]) or frozenset({ANYTHING})
        outer = nested["outer"].lower()
        return frozenset({Kind(CANONICAL.get(outer, outer), (inner,))})
    mapped = _MAPPING.match(bare)
    if mapped:
        sides = tuple(read_type(mapped[name]) or frozenset({ANYTHING}) for name in ("key", "value"))
        return frozenset({Kind("dict", sides)})
    if bare == piece and not _IDENTIFIER.match(bare):
        tree = parse_expression(bare)
        return _from_tree(tree) if tree is not None and not isinstance(tree, ast.Constant) else None
    tree = parse_expression(bare) if bare else None
    return _from_tree(tree) if tree is not None else None


def _expand(kinds: Alternatives, context: TypeContext, depth: int = 0) -> Alternatives:
    """Put what an alias of the module stands for beside its name, so that either may be stated."""
    found: set[Kind] = set()
    for kind in kinds:
        target = context.aliases.get(kind.name) if not kind.args and depth < 5 else None
        meaning = read_type(target) if target and kind.name not in KNOWN else None
        if meaning:
            found |= _expand(meaning, context, depth + 1)
        else:
            found.add(kind)
    return frozenset(found)


def _compare(said: Alternatives, true: Alternatives, context: TypeContext, none_matters: bool) -> Verdict:
    said = _expand(said, context)
    if said == true:
        return "same"
    if ANYTHING in true or ANYTHING in said:
        return "vague"
    missing_none = NONE in true and NONE not in said
    matched = {kind: _best(kind, true, context) for kind in said}
    verdict = worst_verdict(matched.values())
    if GRAVITY.index(verdict) >= GRAVITY.index("doubtful"):
        return verdict
    covered = all(_best_for(kind, said, context) in {"same", "vague"} for kind in true if kind != NONE)
    if not covered or (missing_none and none_matters):
        return "doubtful"
    return verdict


def _best(kind: Kind, others: Alternatives, context: TypeContext) -> Verdict:
    return min((_compare_kinds(kind, other, context) for other in others), key=GRAVITY.index, default="vague")


def _best_for(kind: Kind, said: Alternatives, context: TypeContext) -> Verdict:
    return min((_compare_kinds(other, kind, context) for other in said), key=GRAVITY.index, default="vague")


def _compare_kinds(said: Kind, true: Kind, context: TypeContext) -> Verdict:
    if said.name == true.name:
        return _compare_args(said, true, context)
    if _related(said, true, context):
        return "vague"
    if said.name in KNOWN and true.name in KNOWN:
        return "different"
    if true.name in context.classes or true.name in KNOWN or said.name in context.classes:
        return "different"
    return "doubtful"


def _related(said: Kind, true: Kind, context: TypeContext) -> bool:
    if said.name in SUPERTYPES.get(true.name, ()) or true.name in SUPERTYPES.get(said.name, ()):
        return True
    if _ancestor(said.name, true.name, context) or _ancestor(true.name, said.name, context):
        return True
    return any(
        said.name in family and true.name in family and not {said.name, true.name} <= concrete
        for family, concrete in FAMILIES
    )


_IMPLIED = {
    "IntEnum": "int", "IntFlag": "int", "StrEnum": "str", "NamedTuple": "tuple", "TypedDict": "dict", "Enum": "enum",
}  # fmt: skip


def _ancestor(name: str, base: str, context: TypeContext, depth: int = 0) -> bool:
    """Whether ``base`` is among the ancestors that the module states of ``name``; enums of str and int included."""
    bases = context.classes.get(name, ())
    if any(base in (candidate, _IMPLIED.get(candidate)) for candidate in bases) or "Protocol" in bases:
        return True
    return depth < 20 and any(_ancestor(candidate, base, context, depth + 1) for candidate in bases)


def _compare_args(said: Kind, true: Kind, context: TypeContext) -> Verdict:
    if said.name == "Literal":
        return "same" if set(said.args) == set(true.args) else "doubtful"
    if not said.args or not true.args:
        return "same"
    if len(said.args) != len(true.args):
        return "vague"
    return worst_verdict(_compare(a, b, context, True) for a, b in zip(said.args, true.args, strict=True))
