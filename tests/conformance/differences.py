"""Where a subject answers otherwise than a real Ollama: by name, with the reason.

Each is checked to be still one: its expectation is run and has to fail. `test_differences.py` checks the names.
"""

from collections.abc import Mapping

import pytest

_ROLE = "the template would write the word into the prompt as it stands; a typing error is told instead"
_LOGPROBS = "it tells no probabilities, and says so instead of leaving them out"
_IMAGE = "images are refused, where the server answers as if it had seen them"

# By subject and expectation: the name of the test, with its case in brackets.
DIFFERENCES: Mapping[tuple[str, str], str] = {
    ("double", "test_web_pages_are_kept_out"): "it lives for one test, on a port that nobody knows",
    ("embedded", "test_formats_that_cannot_be_kept[a class in a pattern]"): "its grammars keep such patterns",
    ("embedded", "test_formats_that_cannot_be_kept[3000 repetitions]"): "its grammars have no such limit",
    ("embedded", "test_what_is_accepted_without_a_word[an unknown role]"): _ROLE,
    ("embedded", "test_what_is_accepted_without_a_word[no role]"): _ROLE,
    ("embedded", "test_what_is_accepted_without_a_word[an image for a model without eyes]"): _IMAGE,
    ("embedded", "test_what_is_accepted_without_a_word[generate: a template]"): "it reads no Go templates, only raw",
    ("embedded", "test_what_is_accepted_without_a_word[generate: an image]"): _IMAGE,
    ("embedded", "test_what_is_accepted_without_a_word[logprobs]"): _LOGPROBS,
    ("embedded", "test_what_is_accepted_without_a_word[generate: logprobs]"): _LOGPROBS,
    (
        "embedded",
        "test_what_the_models_cannot_do[generate: a broken template]",
    ): "it reads no Go templates, whole or not",
    ("embedded", "test_what_the_models_cannot_do[an image that is none]"): _IMAGE,
}


def expectation_of(item: pytest.Item) -> tuple[str, str]:
    """Subject and expectation of a collected test; empty for tests of something else."""
    call = getattr(item, "callspec", None)
    if call is None or "subject" not in call.params:
        return "", ""
    case = call.params.get("case")
    name: str = getattr(item, "originalname", item.name)
    return call.params["subject"].name, name if case is None else f"{name}[{case.name}]"
