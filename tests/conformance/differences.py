"""Where a subject answers otherwise than a real Ollama, on purpose: by name, with the reason.

Each is checked to be still one: its expectation is run and has to fail. `test_differences.py` checks the names.
"""

from collections.abc import Mapping

import pytest

DIFFERENCES: Mapping[tuple[str, str], str] = {
    ("double", "test_web_pages_are_kept_out"): "it lives for one test on a port that nobody knows",
}


def expectation_of(item: pytest.Item) -> tuple[str, str]:
    """Subject and expectation of a collected test: the test's name, and its case in brackets; empty for others."""
    call = getattr(item, "callspec", None)
    if call is None or "subject" not in call.params:
        return "", ""
    case = call.params.get("case")
    name: str = getattr(item, "originalname", item.name)
    return call.params["subject"].name, name if case is None else f"{name}[{case.name}]"
