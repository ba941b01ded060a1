"""Text as data: fences and delimiters that cannot break out, and JSON objects found inside other text."""

from collections import deque
from collections.abc import Iterator
from hashlib import sha256

from reflexion.patterns import regex

_BACKTICKS = regex(r"`+")
_LABEL_GAP = regex(r"[^A-Z0-9]+")
_FIRST_TOKEN_LENGTH = 12
_TOKEN_STEP = 4

# What a delimiter looks like, wherever it ends up: a reply that repeats one leaks its prompt. Small models write it
# back with other words, a shorter token and fewer brackets.
DELIMITER = regex(r"<<<[ ]{0,3}(?:/?[A-Za-z][\w.-]{0,39}[ ]{1,3}){1,9}[0-9a-fA-F]{8,256}[ ]{0,3}>{1,3}")

_OBJECT_START = regex(r'\{\s*+(?=["}])')
_JSON_STRING = regex(r'"(?:[^"\\\n]|\\.)*+"')
_JSON_FILLER = regex(r"(?:[\s\[\],:0-9+.eE-]|true|false|null)+")


def fence_for(content: str, info: str = "") -> str:
    """Put a backtick fence round ``content`` that nothing inside can close, with ``info`` on its opening line."""
    longest = max((len(run[0]) for run in _BACKTICKS.finditer(content)), default=0)
    mark = "`" * max(3, longest + 1)
    ending = "" if not content or content.endswith("\n") else "\n"
    word = " ".join(info.replace("`", "").split())
    return f"{mark}{word}\n{content}{ending}{mark}\n"


def delimit(content: str, label: str) -> str:
    """Put ``content`` between two lines that name it and that it cannot contain.

    The token in them comes from the content's SHA-256 and grows until it does not occur in the content, so the same
    content always gives the same block (a prompt's prefix stays the same from round to round).
    """
    name = _LABEL_GAP.sub(" ", label.upper()).strip()[:40].strip() or "DATA"
    token = _token(content)
    ending = "" if not content or content.endswith("\n") else "\n"
    return f"<<<BEGIN {name} {token}>>>\n{content}{ending}<<<END {name} {token}>>>\n"


def _token(content: str) -> str:
    digits = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    length = _FIRST_TOKEN_LENGTH
    while digits[:length] in content:
        length += _TOKEN_STEP
        if length > len(digits):
            digits += sha256(digits.encode()).hexdigest()
    return digits[:length]


def json_objects(text: str) -> Iterator[str]:
    """Yield the outermost complete JSON objects of ``text``, in order.

    Strings are respected, prose with braces in it is passed over, and time is linear. "Complete" means balanced and
    free of what JSON cannot contain outside of strings; whether it parses is for the caller's parser to say.
    """
    found: list[tuple[int, int]] = []
    for start, end in _balanced(text):
        while found and found[-1][0] > start:
            found.pop()
        found.append((start, end))
    for start, end in found:
        yield text[start:end]


def last_json_object(text: str) -> str | None:
    """Return the last of ``json_objects(text)``, or None."""
    return next(iter(deque(json_objects(text), maxlen=1)), None)


def _balanced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of every object as it closes: an inner one before the one around it."""
    open_at: list[int] = []
    position = 0
    while position < len(text):
        if not open_at:
            opening = _OBJECT_START.search(text, position)
            if opening is None:
                return
            open_at.append(opening.start())
            position = opening.start() + 1
            continue
        character = text[position]
        if character == "}":
            yield open_at.pop(), position + 1
            position += 1
        else:
            position = _step_inside(text, position, open_at)


def _step_inside(text: str, position: int, open_at: list[int]) -> int:
    """Pass over one token inside an object; forget the open objects where no JSON object can go on."""
    character = text[position]
    if character == "{" and _OBJECT_START.match(text, position):
        open_at.append(position)
        return position + 1
    token = (_JSON_STRING if character == '"' else _JSON_FILLER).match(text, position)
    if token is not None:
        return token.end()
    open_at.clear()
    if character != '"':
        return position + 1
    # No string ends on this line, so none that starts later on it does: looking again would be quadratic.
    line_end = text.find("\n", position)
    return len(text) if line_end < 0 else line_end
