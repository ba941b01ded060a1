"""What models put around what was asked for, and how to get at it: pure functions over text.

``clean_markdown`` and ``extract_code`` are the post-processors; ``fences`` finds code blocks as CommonMark does;
``fence_for`` and ``delimit`` put text into a prompt as data; ``json_objects`` finds objects in a reply.
"""

from reflexion.text.blocks import Fence, fences
from reflexion.text.clean import clean_markdown
from reflexion.text.code import extract_code
from reflexion.text.data import delimit, fence_for, json_objects, last_json_object
from reflexion.text.thinking import strip_thinking

__all__ = [
    "Fence",
    "clean_markdown",
    "delimit",
    "extract_code",
    "fence_for",
    "fences",
    "json_objects",
    "last_json_object",
    "strip_thinking",
]
