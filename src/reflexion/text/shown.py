"""Text that somebody else wrote, made fit to be shown."""

import re

# What a terminal would obey, and a browser drop, merge, or let turn the reading order around: controls, bidirectional
# marks, surrogates.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def visible(page: str) -> str:
    """Return a text in which every control character and every change of direction is seen as its code."""
    return _UNSHOWN.sub(lambda found: f"[U+{ord(found[0]):04X}]", page)
