"""Regular expressions that are compiled when they are first used.

Compiling costs far more than matching a page does, and most pages need less than half of the patterns there are.
"""

import re
from typing import cast


class _Uncompiled:
    """Stands for a pattern, and turns into what it stands for with the first use of each of its methods."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> object:
        # Only asked for names that the instance does not have: kept here, the method is never looked up again.
        compiled = self._compiled or re.compile(self._text, self._flags)
        self._compiled = compiled
        value: object = getattr(compiled, name)
        setattr(self, name, value)
        return value


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves as ``re.compile(text, flags)`` through its methods, without compiling yet.

    Functions of the module ``re`` do not take it: call its own methods. A pattern that is no regular expression raises
    ``re.error`` at its first use.
    """
    return cast("re.Pattern[str]", _Uncompiled(text, flags))
