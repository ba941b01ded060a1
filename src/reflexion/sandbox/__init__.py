"""Runs Python code that nobody has read, within limits, and tells trouble of the sandbox from trouble of the code.

``open_sandbox(settings).run(Job(...))`` is all of it. docs/safety.md says what the two kinds of sandbox promise.
"""

from reflexion.sandbox.job import Completed, Job, Limits, Sandbox
from reflexion.sandbox.opening import NO_BOUNDARY, open_sandbox
from reflexion.sandbox.tree import Tree

__all__ = ["NO_BOUNDARY", "Completed", "Job", "Limits", "Sandbox", "Tree", "open_sandbox"]
