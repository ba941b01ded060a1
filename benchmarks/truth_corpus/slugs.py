"""Text that is safe in addresses and file names."""

import re
import unicodedata

MAX_LENGTH = 80
RESERVED = frozenset({"con", "nul", "aux"})


def slugify(text: str, separator: str = "-", max_length: int = MAX_LENGTH) -> str:
    """Turn a title into a slug."""
    if len(separator) != 1:
        raise ValueError("separator must be one character")
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[a-z0-9]+", plain.lower())
    slug = separator.join(words)[:max_length].strip(separator)
    if not slug:
        raise ValueError(f"nothing left of {text!r}")
    return slug


def unique_slug(text: str, taken: set[str]) -> str:
    """Return a slug that is not taken yet, and take it."""
    base = slugify(text)
    slug, number = base, 2
    while slug in taken or slug in RESERVED:
        slug, number = f"{base}-{number}", number + 1
    taken.add(slug)
    return slug


def shorten(text: str, width: int, ellipsis: str = "...") -> str:
    """Cut a text at a word boundary."""
    if width < len(ellipsis):
        raise ValueError(f"width {width} is too small for the ellipsis")
    if len(text) <= width:
        return text
    cut = text[: width - len(ellipsis)]
    return cut.rpartition(" ")[0] + ellipsis if " " in cut else cut + ellipsis


def word_count(text: str) -> int:
    """Count words."""
    return len(text.split())
