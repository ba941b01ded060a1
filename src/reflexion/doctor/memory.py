"""How much memory of this machine is free."""

import os
import re
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
_AVAILABLE = re.compile(r"^MemAvailable:\s*(\d{1,18})\s*kB\s*$", re.MULTILINE | re.ASCII)


def available_bytes() -> int | None:
    """Return the bytes that new processes can have without swapping, None where the system does not tell."""
    try:
        text = MEMINFO.read_text(encoding="ascii", errors="replace")
    except OSError:
        return _free_pages()
    return read_meminfo(text)


def read_meminfo(text: str) -> int | None:
    """Return the bytes that /proc/meminfo calls available, None where it does not say. No text raises."""
    found = _AVAILABLE.search(text)
    return int(found[1]) * 1024 if found else None


def gigabytes(size: int) -> str:
    """Return a size as model libraries write it: ``4.7 GB``, ``270 MB``."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _free_pages() -> int | None:
    try:
        pages, size = os.sysconf("SC_AVPHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return pages * size if pages > 0 and size > 0 else None
