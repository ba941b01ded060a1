"""H5xx: versions, authors, dates, changelogs, licences and links that the source does not hold."""

import re
from collections.abc import Iterator

from reflexion.evidence.claims import Claims, HistoryClaim
from reflexion.evidence.finding import Finding, Level
from reflexion.evidence.rules import catalogue
from reflexion.evidence.rules.context import report
from reflexion.patterns import regex

BY_KIND = {
    "version": catalogue.INVENTED_VERSION,
    "author": catalogue.INVENTED_AUTHOR,
    "date": catalogue.INVENTED_DATE,
    "changelog": catalogue.INVENTED_CHANGELOG,
    "license": catalogue.INVENTED_LICENCE,
}
# Words that frame such a statement and say nothing themselves.
_FRAME = frozenset(
    [
        "version",
        "versions",
        "author",
        "authors",
        "date",
        "dates",
        "license",
        "licence",
        "licensed",
        "under",
        "changelog",
        "change",
        "changes",
        "history",
        "by",
        "the",
        "and",
        "of",
        "this",
        "is",
        "in",
        "was",
        "on",
        "last",
        "updated",
        "update",
        "written",
        "created",
        "maintained",
        "since",
        "released",
        "release",
        "revision",
        "document",
        "module",
        "description",
        "tbd",
        "copyright",
        "all",
        "rights",
        "reserved",
        "notes",
        "initial",
    ]
)
_TOKEN = regex(r"[A-Za-z0-9][\w.\-@/]*\w|\w")


def check_history(claims: Claims, source_text: str) -> Iterator[Finding]:
    """Every H5xx finding; needs only the source's text, so it serves sources of any language."""
    known = source_text.lower()
    for claim in claims.history:
        invented = _invented(claim, known)
        if invented is not None:
            yield _finding(claim, invented)
    for link in claims.links:
        if _is_foreign(link.url, known):
            yield report(
                catalogue.UNKNOWN_LINK,
                link.line,
                f"the source does not hold the link {link.url}",
                f"line {link.line} of the document: {link.text or link.url}"[:200],
                f"Remove the link to {link.url}, or check that it leads where the text says.",
            )


def _invented(claim: HistoryClaim, known: str) -> list[str] | None:
    """The words of the statement that the source lacks; None when the source holds what is said."""
    words = [token.strip("-./").lower() for token in _TOKEN.findall(claim.text)]
    telling = [word for word in words if word and word not in _FRAME]
    if claim.kind == "license":
        # "2.0" stands in many a source, and tells of no licence.
        telling = [word for word in telling if word.strip("0123456789.")] or telling
    unknown = [word for word in telling if not re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", known)]
    numbers = [word for word in telling if any(letter.isdigit() for letter in word)]
    if not telling:
        return [claim.text.strip()] if claim.kind == "changelog" else None
    if numbers and claim.kind in {"version", "date", "changelog"}:
        missing = [word for word in numbers if word in unknown]
        return missing or None
    return unknown if len(unknown) * 2 > len(telling) else None


def _finding(claim: HistoryClaim, invented: list[str]) -> Finding:
    return report(
        BY_KIND[claim.kind],
        claim.line,
        f'the source holds nothing of the {claim.kind} "{claim.text.strip()[:120]}"',
        f"not in the source: {', '.join(invented)[:160]}",
        f'Remove "{claim.text.strip()[:120]}": the source states no such {claim.kind}.',
        _level(claim),
        stated=claim.text.strip(),
    )


def _level(claim: HistoryClaim) -> Level | None:
    """Python's own version is a requirement, which the source need not spell out."""
    return "warning" if re.search(r"\bpython\b|\brequires?\b|\bcompatib", claim.text, re.IGNORECASE) else None


def _is_foreign(url: str, known: str) -> bool:
    if not re.match(r"(?:https?|ftp)://", url, re.IGNORECASE):
        return False
    return url.lower().rstrip("/").partition("#")[0] not in known
