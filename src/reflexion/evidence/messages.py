"""Whether a message that a document quotes is the one that the source raises. Pure functions on texts."""

import re
from collections.abc import Iterable
from typing import Literal

from reflexion.evidence.facts import Raise
from reflexion.patterns import regex

MessageVerdict = Literal["same", "unknown", "partial", "different"]

_OPEN_END = regex(r"\s*(?:\.\.\.|…)\s*")
_STATED_GAP = regex(r"\{[^{}]*\}|<[^<>\s][^<>]*>|\[[^\[\]]*\]|%\(\w+\)[sdrif]|%[-+.\d]*[sdrif]|\.\.\.|…")
_PLACEHOLDER = regex(r"\{[^{}]*\}|<[^<>\s][^<>]*>|%\(\w+\)[sdrif]|%[-+.\d]*[sdrif]")
_TRAILING = ".,;:!?"


def compare_message(stated: str, raised: Raise) -> MessageVerdict:
    """Compare a quoted message with one ``raise``.

    "unknown": the source's message cannot be known, so nothing contradicts. "partial": the quote is a piece of the
    message. A template matches by its fixed parts; its placeholders may carry any name or an example value.
    """
    if raised.message is None:
        return "unknown"
    said = normalise(stated)
    # As it stands first: a template may hold braces within braces, or what elsewhere marks a gap.
    if _bare(said) == _bare(normalise(raised.message)):
        return "same"
    if not raised.template:
        return _compare_text(said, normalise(raised.message))
    return _compare_template(said, list(raised.literals) or template_parts(raised.message))


def best_match(stated: str, raises: Iterable[Raise]) -> tuple[MessageVerdict, Raise | None]:
    """The raise whose message the quote fits best."""
    order: tuple[MessageVerdict, ...] = ("same", "unknown", "partial", "different")
    scored = [(order.index(compare_message(stated, one)), place, one) for place, one in enumerate(raises)]
    if not scored:
        return "different", None
    rank, _, one = min(scored, key=lambda entry: entry[:2])
    return order[rank], one


def normalise(text: str) -> str:
    """One spelling of a quoted text: no code ticks, plain quotation marks, single spaces, no outer quotes."""
    plain = text.replace("`", "").translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'", 0xA0: " "})
    plain = re.sub(r"\\([^\w\s])", r"\1", plain)
    plain = re.sub(r"\s+", " ", plain).strip()
    quoted = re.fullmatch(r"""[rRfFbB]{0,2}(["'])(?P<inside>.*)\1""", plain)
    if quoted and quoted[1] not in quoted["inside"]:
        plain = quoted["inside"].strip()
    return plain.replace('"', "'")


def template_parts(message: str) -> list[str]:
    """The fixed parts of a template between its placeholders, in order; may hold empty ones."""
    parts, depth, current = [], 0, ""
    for letter in message:
        if letter == "{":
            if depth == 0:
                parts.append(current)
                current = ""
            depth += 1
        elif letter == "}" and depth:
            depth -= 1
        elif depth == 0:
            current += letter
    parts.append(current)
    return parts


def _compare_text(said: str, true: str) -> MessageVerdict:
    if _bare(said) == _bare(true) or _bare(_begun_alike(said, true)) == _bare(true):
        return "same"
    if _fills(_STATED_GAP.split(said), true) and _STATED_GAP.search(said):
        return "same" if len(_STATED_GAP.sub("", said).strip()) >= 4 else "different"
    return "partial" if _is_piece(said, true) else "different"


def _compare_template(said: str, parts: list[str]) -> MessageVerdict:
    fixed = [normalise_part(part) for part in parts]
    if not any(part.strip(" '") for part in fixed):
        return "unknown"
    said = _begun_alike(said, fixed[0])
    spelled = _same_places(said, fixed)
    if spelled is not None:
        return "same" if spelled else "different"
    if _fills(fixed, said) or _fills(fixed, said + "."):
        return "same"
    if _fills(_STATED_GAP.split(said), _GAP_MARK.join(fixed)) and _fixed_enough(said, fixed):
        return "same"
    return "partial" if any(_is_piece(said, part.strip()) for part in fixed) else "different"


def _same_places(said: str, fixed: list[str]) -> bool | None:
    """Whether a quote with as many placeholders as the template has the same words between; None for other quotes."""
    parts = _PLACEHOLDER.split(said)
    if len(parts) != len(fixed) or len(parts) == 1:
        return None
    return [_bare(part).strip(" '") for part in parts] == [_bare(part).strip(" '") for part in fixed]


_GAP_MARK = "\x00"


def _fixed_enough(said: str, fixed: list[str]) -> bool:
    """A quote cut short by an ellipsis must still hold a good part of the fixed text."""
    kept = len(re.sub(r"\W", "", _STATED_GAP.sub("", said)))
    return kept >= 4 and bool(_OPEN_END.search(said)) and kept <= len("".join(fixed))


def normalise_part(part: str) -> str:
    """The spelling of ``normalise`` for a piece of a template, whose outer spaces matter."""
    return re.sub(r"\s+", " ", part.replace("`", "").replace('"', "'"))


def _fills(parts: list[str], text: str) -> bool:
    """Whether ``text`` is the parts in order with anything between them."""
    last = len(parts) - 1
    pieces = [re.escape(_bare(part) if place == last else part) for place, part in enumerate(parts)]
    return re.fullmatch("(?s:.*?)".join(pieces) + rf"[{_TRAILING}\s]*", text) is not None


def _begun_alike(said: str, true: str) -> str:
    """The quote with the case of its first letter as in the source: a sentence may begin with it."""
    return true[0] + said[1:] if true and said[:1].lower() == true[0].lower() else said


def _bare(text: str) -> str:
    return text.rstrip(_TRAILING + " ")


def _is_piece(said: str, true: str) -> bool:
    return len(said) >= 4 and bool(true) and _bare(said) in true
