"""What a heading, a bold lead-in or the front of an entry names: a role such as "parameters", or a symbol."""

import builtins
import keyword
import re
from typing import NamedTuple

from reflexion.evidence.claims import SignatureClaim
from reflexion.evidence.entries import DASH, lead_texts
from reflexion.evidence.inline import CODE_OFF, CODE_ON, MARK_OFF, MARK_ON, Inline, plain
from reflexion.evidence.signatures import NAME, read_signature
from reflexion.evidence.words import (
    BOUND_NAMES,
    FILE_ENDINGS,
    KIND_PREFIXES,
    KIND_WORDS,
    NO_NAMES,
    Role,
    role_of,
    role_with_name,
)
from reflexion.patterns import regex

_KINDS = "|".join(sorted(map(re.escape, KIND_WORDS), key=len, reverse=True))
_PREFIXES = "|".join(KIND_PREFIXES)
_FRONT = regex(
    rf"^(?:the\s+)?(?P<kind>(?:(?:{_PREFIXES})\s+)*(?:{_KINDS}|async))(?:\s*:\s*|\s+[-{DASH}]\s+|\s+)(?=\S)",
    re.IGNORECASE,
)
_BACK = regex(
    rf"^\s*[\s(\[{MARK_ON}{CODE_ON}]*@?(?P<kind>(?:(?:{_PREFIXES})\s+)*(?:{_KINDS}|async|static|abstract))"
    rf"[)\]{MARK_OFF}{CODE_OFF}]*\s*(?:[:{DASH}-]\s.*)?$",
    re.IGNORECASE,
)
_MARKED_FRONT = regex(
    rf"^[{MARK_ON}{CODE_ON}]+[(\[]?@?(?P<kind>(?:(?:{_PREFIXES})\s+)*(?:{_KINDS}|async|static|abstract))[)\]]?"
    rf"[{MARK_OFF}{CODE_OFF}]+\s+(?=\S)",
    re.IGNORECASE,
)
# "Creating: `make()`": words before a name that a colon or dash sets apart.
_WORDS_BEFORE = regex(
    rf"^(?P<words>[^{CODE_ON}{MARK_ON}:]{{1,60}}?)(?:\s*:\s+|\s[{DASH}-]\s+|\s(?:with|using|by|via|through)\s+|\s(?P<bracket>\())"
    rf"(?={CODE_ON}|{MARK_ON}{CODE_ON})"
)
# What may follow a name without saying more than a badge does.
_BADGE = regex(
    rf"{CODE_ON}@?(?:{_PREFIXES}|{_KINDS}|async|static|abstract|v?\d[\w.+]*|deprecated){CODE_OFF}|{MARK_ON}[^{MARK_OFF}{CODE_ON}]*{MARK_OFF}"
    r"|\b(?:deprecated|experimental|new|beta|alpha|internal|(?:view\s+)?source)\b",
    re.IGNORECASE,
)
# A badge between a call that an item sets out and its words; a name alone may be a parameter, which has types there.
_ITEM_BADGE = regex(
    rf"^(?P<call>[{CODE_ON}{MARK_ON}]+[^{CODE_OFF}{MARK_OFF}(]*\([^{CODE_OFF}{MARK_OFF}]*[{CODE_OFF}{MARK_OFF}]+)"
    rf"(?P<badge>(?:[ ]*(?:[\u2600-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]"
    rf"|[{MARK_ON}{CODE_ON}]\(?(?:{_PREFIXES}|(?:(?:{_PREFIXES})\s+)?(?:{_KINDS})|deprecated|experimental|new)\)?"
    rf"[{MARK_OFF}{CODE_OFF}]))+)[ ]*(?=$|[:{DASH}\n\u2028]|--?\s)",
    re.IGNORECASE,
)
_TRIM = regex(r"^(?:[^\w\s(`\ue000-\ue003\"'@*]+\s*)*(?:\d+(?:\.\d+)*[.)]?\s+)?")
_ANCHOR = regex(r"\s*\{#[^}]*\}\s*$|\s*#+\s*$")
_TEXT_FRONT = regex(
    r"^(?:@(?P<decorator>\w+)\s+)?(?P<words>(?:(?:async|def|class|property|static|staticmethod|classmethod|enum|exception|function|"
    r"method|const|constant|abstract|dataclass)\s+)*)(?P<rest>.+)$",
    re.DOTALL,
)
_DESCRIBED = regex(rf"^\s*(?:[:{DASH}]|-\s|--).*$", re.DOTALL)
_CLASS_KINDS = frozenset(
    {"class", "dataclass", "enum", "enumeration", "exception", "protocol", "namedtuple", "named tuple", "data class"}
)
_DECORATED = {"property": "property", "staticmethod": "static method", "classmethod": "class method"}


class Named(NamedTuple):
    """A symbol that a text names: ``called`` where brackets follow the name, ``coded`` where code ticks set it.

    ``loose``: other words stand beside the name, so the text may be about something else.
    """

    name: str
    kind_word: str | None = None
    called: bool = False
    coded: bool = False
    signature: SignatureClaim | None = None
    loose: bool = False


class Title(NamedTuple):
    """What a heading or lead-in is about. ``of`` is the symbol of a title such as "Parameters of foo"."""

    role: Role | None = None
    of: str | None = None
    symbols: tuple[Named, ...] = ()


def is_class_like(name: str, kind_word: str | None) -> bool:
    """Say whether a symbol can hold members, by its kind word or its capital."""
    last = name.rpartition(".")[2]
    return (kind_word or "").split(" ")[-1] in _CLASS_KINDS or (last[:1].isupper() and not last.isupper())


def without_badge(inline: Inline) -> Inline:
    """Return an item's text without badges such as ``*(static)*`` or an emoji right after the call in front."""
    name = re.split(f"[{CODE_OFF}{MARK_OFF}]", inline.marked, maxsplit=1)[0]
    found = _ITEM_BADGE.match(inline.marked) if "(" in name else None
    if found is None:
        return inline
    marked = f"{found.group('call')} {inline.marked[found.end() :]}".rstrip()
    gone = found.end() - found.end("call") - 1
    return inline._replace(marked=marked, newlines=tuple(at - gone for at in inline.newlines))


def is_sure(named: Named, level: int) -> bool:
    """Say whether a heading of this level surely names a symbol: a page's first heading may be the module's name."""
    if named.loose:
        return False
    if level == 1:
        written = named.coded or _certain(named.name) or re.search(r"[a-z][A-Z]", named.name) is not None
        return named.called or (named.kind_word is not None and written)
    humps = named.kind_word is not None and re.search(r"[a-z][A-Z]", named.name) is not None
    return named.coded or named.called or humps or _certain(named.name)


def read_title(marked: str, line: int) -> Title:
    """Return what a heading or lead-in is about."""
    text = _ANCHOR.sub("", marked.strip())
    text = _TRIM.sub("", text, count=1).strip()
    words = plain(text)
    role = role_of(words)
    if role is not None and (CODE_ON not in text or (words[:1].isupper() and not _names_code(text))):
        return Title(role)
    if words.lower().startswith(("module", "package", "script")):
        return Title("module")
    named = role_with_name(words)
    if named is not None:
        return Title(*named)
    return Title(symbols=read_symbols(text, line))


def _names_code(text: str) -> bool:
    """Say whether a title such as "Class `Attributes`" calls the name in code a symbol."""
    front = _FRONT.match(plain_front(text))
    return front is not None and text[front.end() :].startswith(CODE_ON)


def read_symbols(text: str, line: int) -> tuple[Named, ...]:
    """Return the symbols that a whole text names, none where it says more than that."""
    bare = re.sub(r"^the\s+", "", text, flags=re.IGNORECASE)
    bare = _MARKED_FRONT.sub(r"\g<kind> ", bare, count=1)
    front = _FRONT.match(plain_front(bare))
    if (
        front
        and bare != text
        and CODE_ON not in text
        and re.fullmatch(NAME, text.split()[-1])
        and len(text.split()) <= 4
    ):
        # "The class Span" says that the last word is a name, as code ticks would.
        named = read_named(text.split()[-1], True, line)
        return (named._replace(kind_word=_kind(front.group("kind"))),) if named else ()
    text = bare
    kind = _kind(front.group("kind")) if front else None
    rest = _after_front(text, front)
    texts, end = lead_texts(rest)
    if texts:
        return _from_marked(rest, texts, end, kind, line)
    if before := _WORDS_BEFORE.match(rest):
        return _after_words(before, rest, line)
    return _from_plain(plain(rest), kind, line, separated=bool(front and ":" in front.group()))


def _after_words(before: re.Match[str], text: str, line: int) -> tuple[Named, ...]:
    """Read the one name after words and a colon, unless they are a label ("Type: `int`")."""
    rest = text[before.end() :].removesuffix(")" if before.group("bracket") else "")
    texts, end = lead_texts(rest)
    if role_of(before.group("words")) is not None or len(texts) != 1:
        return ()
    named = _from_marked(rest, texts, end, None, line)
    return tuple(one._replace(loose=True) for one in named if not hasattr(builtins, one.name))


def plain_front(text: str) -> str:
    """Return the plain words in front of the first mark, with one character for the mark."""
    cut = re.search(r"[\ue000-\ue003]", text)
    return text[: cut.start()] + "x" if cut else text


def _after_front(text: str, front: re.Match[str] | None) -> str:
    """Return the text after the kind words."""
    return text[front.end() :] if front else text


def _kind(words: str) -> str:
    """Return kind words in one spelling."""
    kind = " ".join(words.lower().replace("asynchronous", "async").split())
    kind = re.sub(
        r"^(?:the|public|private|helper|utility|main|internal|custom|module-level|instance)\s+(?=\w)", "", kind
    )
    return {
        "async": "async function",
        "def": "function",
        "staticmethod": "static method",
        "classmethod": "class method",
    }.get(kind, kind)


def _from_marked(rest: str, texts: list[str], end: int, kind: str | None, line: int) -> tuple[Named, ...]:
    """Read names set in code or bold, and check that what follows adds no more than kind, type or description."""
    coded = CODE_ON in rest[:end]
    tail = rest[end:]
    if len(texts) == 1 and _goes_on(tail):
        joined = read_named(plain(texts[0] + _signature_tail(tail)), coded, line)
        if joined is not None and joined.signature:
            return (_with_kind(joined, kind),)
    back = _BACK.match(tail) if tail.strip() else None
    badged = bool(plain(tail)) and not back and not _DESCRIBED.match(tail)
    if badged and not (coded and len(texts) == 1 and _is_badge(tail)):
        return ()
    kind = kind or (_kind(back.group("kind")) if back else None)
    found = [read_named(text, coded, line) for text in texts]
    named = [
        _with_kind(one, kind)._replace(loose=badged and not one.called)
        for one in found
        if one is not None and (coded or one.called or _certain(one.name) or kind)
    ]
    return tuple(named) if len(named) == len(texts) else ()


def _goes_on(tail: str) -> bool:
    """Say whether a signature goes on after the name: brackets after a space must hold more than words."""
    if not re.match(r"\s*(?:\(|\u2192|->)", tail):
        return False
    return (
        not tail[:1].isspace()
        or re.match(r"\s*\(\s*(?:[^()]*[=:*.][^()]*)?(?:\)|\()", tail) is not None
        or (re.match(r"\s*(?:\u2192|->)", tail) is not None)
    )


def _is_badge(tail: str) -> bool:
    """Say whether the words after a name in code are but badges: ``(deprecated)``, an emoji, "/ statistics"."""
    rest = _BADGE.sub(" ", tail)
    rest = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\]", " ", rest)
    return not re.search(r"\w", rest) or re.match(rf"^\s*/\s+[^{CODE_ON}]+$", rest) is not None


def _signature_tail(tail: str) -> str:
    """Return the part of a tail that can belong to a signature."""
    return re.split(rf"\s[{DASH}]\s|\s-\s|:\s+(?=[A-Z][a-z]+\s)", plain(tail))[0]


def _with_kind(named: Named, kind: str | None) -> Named:
    """Give a symbol the kind word around it, unless its own text has one."""
    if named.signature is not None and kind in _CLASS_KINDS and not named.signature.is_class:
        signature = read_signature(f"class {named.signature.text}", named.signature.line)
        named = named._replace(signature=signature or named.signature)
    return named._replace(kind_word=named.kind_word or kind)


def _from_plain(text: str, kind: str | None, line: int, *, separated: bool) -> tuple[Named, ...]:
    """Read a heading without any mark: a signature, or one word that can only be a name."""
    text = text.strip().rstrip(":")
    first, _, rest = text.partition(" ")
    back = _BACK.match(rest) if rest else None
    whole = None if back else read_named(text, False, line)
    if whole is not None and (whole.called or _certain(whole.name) or " " not in text):
        return (_with_kind(whole, kind),)
    described = re.match(rf"^[:{DASH}-]+\s", rest) or first.endswith(":")
    named = read_named(first.rstrip(":"), False, line)
    if named is None or not (back or (described and (named.called or _certain(named.name)))):
        return ()
    if back and not (named.called or _certain(named.name) or first[:1].isupper()):
        return ()
    return (_with_kind(named, kind or (_kind(back.group("kind")) if back else None)),)


def _certain(name: str) -> bool:
    """Say whether a bare word can only be a name."""
    return "_" in name or bool(re.search(r"[a-z]\.[A-Za-z]", name))


def read_named(text: str, coded: bool, line: int) -> Named | None:
    """Return the symbol that a text without marks is, from ``foo`` to ``async def foo(a: int) -> str``."""
    found = _TEXT_FRONT.match(" ".join(text.split()).rstrip(":;").removeprefix("await "))
    if found is None:
        return None
    rest = re.sub(r"^([A-Z]\w*)\[[\w, ]+\](?=\(|$)", r"\1", found.group("rest").strip())
    words = found.group("words").split()
    kind = _DECORATED.get(found.group("decorator") or "") or (_kind(" ".join(_spoken(words))) if words else None)
    if not coded and re.match(rf"{NAME}\s+\(", rest):
        # "Shebang (with path)" are words; only code may have a space before its brackets.
        return None
    if re.fullmatch(NAME, rest):
        return Named(rest, kind, coded=coded) if _usable(rest, coded) else None
    lead = " ".join(word for word in words if word in ("async", "def", "class"))
    signature = read_signature(f"{lead} {rest}".strip(), line)
    if signature is not None and _usable(signature.name):
        return Named(signature.name, kind, True, coded, signature)
    called = re.match(rf"({NAME})\s*\(.*\)(?:\s*->\s*\S.*)?$", rest)
    if called and _usable(called.group(1)) and not re.search(r"[\"']|\(\d*\)", rest):
        return Named(called.group(1), kind, True, coded)
    typed = re.match(rf"({NAME})\s*(?::\s*[\w.\[\], |]+|=\s*\S.*|:\s*[\w.\[\], |]+=\s*\S.*|->\s*\S.*)$", rest)
    return Named(typed.group(1), kind, False, coded) if typed and coded and _usable(typed.group(1)) else None


def _spoken(words: list[str]) -> list[str]:
    """Return kind words as people say them."""
    spoken = [word for word in words if word != "def"]
    return spoken or ["function"]


def _usable(name: str, coded: bool = False) -> bool:
    """Say whether a name can be a symbol of a module: no keyword, no file, no ordinary word but one set as code."""
    lowered = name.lower()
    no_name = name in BOUND_NAMES or (lowered in NO_NAMES and not coded) or lowered == "todo"
    return not (keyword.iskeyword(name) or no_name or lowered.endswith(FILE_ENDINGS) or name == "__main__")
