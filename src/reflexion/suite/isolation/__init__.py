"""Keeps a candidate out of the process that judges it, where a suite allows it.

pytest, the suite and the report are in one sandbox, the candidate is in another. Between them goes plain data only.
"""

from reflexion.suite.isolation.decision import decide, target_names
from reflexion.suite.isolation.session import Isolated, isolated

__all__ = ["Isolated", "decide", "isolated", "target_names"]
