"""Words of messages."""


def counted(number: int, thing: str) -> str:
    """Return a number of things that are named by a regular noun: ``1 file``, ``2 files``, ``0 files``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
