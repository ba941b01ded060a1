"""Words of messages."""

import errno

MAKE_ROOM = "; make room on the disk, and run the same command again"


def counted(number: int, thing: str) -> str:
    """Return a number of things that are named by a regular noun: ``1 file``, ``2 files``, ``0 files``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def advice_on(error: OSError, otherwise: str = "") -> str:
    """Return what helps with an error of writing: room where the disk is full, else what is given."""
    return MAKE_ROOM if error.errno in (errno.ENOSPC, errno.EDQUOT) else otherwise
