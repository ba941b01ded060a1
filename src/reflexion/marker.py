"""The comment that ends a page: how it came about, from what, and what its source was like then.

One HTML comment on the last line, ``key=value`` pairs separated by spaces. Values are percent-encoded, so nothing that
a source or a path holds can end the comment early. ``symbols`` is the memory for drift, see ``check/drift.py``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from reflexion.patterns import regex

_MARKER = regex(r"(?:\A|\n)<!-- reflexion ([^\n>]*)-->[ \t]*(?=\n|\Z)")
_OWN_COMMENT = regex(r"<!--\s*reflexion\b.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Marker:
    """A page's closing comment. Digests are SHA-256 in hex; ``line`` is the comment's own, counted from 1.

    ``symbols`` maps each documented symbol to a short digest of its code. ``repaired``: code changed what the models
    had written; ``assembled``: code put the page together from the facts and the prose that survived.
    """

    outcome: str
    score: int | None
    source: str
    source_sha256: str
    text_sha256: str = ""
    version: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    line: int = 0
    repaired: bool = False
    assembled: bool = False

    def comment(self) -> str:
        """Return the marker as one HTML comment."""
        pairs = {
            "outcome": self.outcome.replace(" ", "-"),
            "score": "none" if self.score is None else str(self.score),
            "source": _encoded(self.source),
            "source_sha256": self.source_sha256,
            "text_sha256": self.text_sha256,
            "version": self.version,
        }
        pairs |= {name: "yes" for name in ("repaired", "assembled") if getattr(self, name)}
        if self.symbols:
            pairs["symbols"] = ",".join(f"{_encoded(name)}:{digits}" for name, digits in self.symbols.items())
        return f"<!-- reflexion {' '.join(f'{key}={value}' for key, value in pairs.items())} -->"


def read_marker(page: str, *, anywhere: bool = False) -> tuple[str, Marker | None]:
    """Return a page's text without its closing comment, and the comment, or None where it has none of ours.

    ``anywhere`` also takes the last such comment of a page to which something was added below it.
    """
    found = None
    for found in _MARKER.finditer(page):  # noqa: B007  # The last one counts.
        pass
    pairs = dict(pair.split("=", 1) for pair in found[1].split() if "=" in pair) if found else {}
    if found is None or not pairs or (page[found.end() :].strip() and not anywhere):
        return page, None
    score = pairs.get("score", "")
    marker = Marker(
        outcome=pairs.get("outcome", "").replace("-", " "),
        score=int(score) if score.isdecimal() else None,
        source=unquote(pairs.get("source", "")),
        source_sha256=pairs.get("source_sha256", ""),
        text_sha256=pairs.get("text_sha256", ""),
        version=pairs.get("version", ""),
        symbols=_read_symbols(pairs.get("symbols", "")),
        line=page.count("\n", 0, found.start(1)) + 1,
        repaired=pairs.get("repaired") == "yes",
        assembled=pairs.get("assembled") == "yes",
    )
    return page[: found.start()].rstrip("\n") + "\n", marker


def without_own_comments(text: str) -> str:
    """Return a model's text without comments that speak to us: only a person may silence a rule or sign a page."""
    return _OWN_COMMENT.sub("", text)


def text_digest(text: str) -> str:
    """Return the digest by which a page's own text is known again."""
    return sha256(text.encode("utf-8", errors="replace"))


def sha256(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hex."""
    import hashlib  # It loads OpenSSL, which a page without a marker has no need of.

    return hashlib.sha256(data).hexdigest()


def _encoded(text: str) -> str:
    # Two hyphens in a row would end an HTML comment for some readers.
    return quote(text.encode("utf-8", errors="surrogateescape")).replace("--", "-%2D")


def _read_symbols(text: str) -> dict[str, str]:
    pairs = (entry.rpartition(":") for entry in text.split(",") if ":" in entry)
    return {unquote(name): digits for name, _, digits in pairs}
