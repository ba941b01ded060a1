"""Where a subject answers otherwise than a real Ollama: by name, with the reason.

Each is checked to be still one: its expectation is run and has to fail. `test_differences.py` checks the names.
"""

from collections.abc import Mapping

import pytest

_NOT_SURE = (
    "llama.cpp drops a schema that it cannot compile and tells only its log, so what is not known to work is refused"
)
_ROLE = "the template would write the word into the prompt as it stands; a typing error is told instead"
_IMAGE = "images are refused, where the server answers as if it had seen them"

_PATHS = ("/api/chat", "/api/generate", "/api/embed", "/api/show")
_WORDS = "not yet: the decoder's words for a broken body are right in status and beginning only"
_FIELD = "not yet: the decoder's words for a field are others"
_NAME = "not yet: a name that cannot be one is refused like one that is not installed"

# What the engine should come to answer like the server.
_NOT_YET: Mapping[tuple[str, str], str] = {
    **{
        ("embedded", f"test_bodies_that_are_no_request[{path}: {what}]"): _WORDS
        for path in _PATHS
        for what in ("no key", "comma at the end", "no comma", "no text")
    },
    ("embedded", "test_bodies_that_are_no_request[/api/show: a wrong model]"): _FIELD,
    ("embedded", "test_fields_of_a_wrong_type[a message]"): _FIELD,
    ("embedded", "test_fields_of_a_wrong_type[content]"): _FIELD,
    ("embedded", "test_fields_of_a_wrong_type[content in parts]"): _FIELD,
    ("embedded", "test_fields_of_a_wrong_type[think]"): _FIELD,
    ("embedded", "test_what_follows_the_body_is_not_read"): "not yet: text after the object is refused",
    ("embedded", "test_wrong_paths_and_methods[HEAD /api/ps]"): "not yet: every GET answers a HEAD as well",
    ("embedded", "test_names[with a blank]"): _NAME,
    ("embedded", "test_names[embed: none]"): _NAME,
    ("embedded", "test_names[show: with a blank]"): _NAME,
    ("embedded", "test_forms_of_keep_alive_that_are_none[beyond 292 years]"): "not yet: it takes any length of time",
    (
        "embedded",
        "test_a_keep_alive_that_is_not_said_is_five_minutes_or_what_was_said_before",
    ): "not yet: five minutes every time",
    (
        "embedded",
        "test_nothing_asked_loads_and_keep_alive_zero_unloads[a format that nobody reads]",
    ): "not yet: a load reads the format as well",
    ("embedded", "test_a_schema_is_kept[an object without its type]"): "not yet: without a type any value is written",
}

# By subject and expectation: the name of the test, with its case in brackets.
DIFFERENCES: Mapping[tuple[str, str], str] = {
    **_NOT_YET,
    ("double", "test_web_pages_are_kept_out"): "it lives for one test, on a port that nobody knows",
    ("embedded", "test_formats_that_cannot_be_kept[a class in a pattern]"): "a refusal, and the model stays loaded",
    ("embedded", "test_formats_that_cannot_be_kept[3000 repetitions]"): "its grammars have no such limit",
    ("embedded", "test_what_is_accepted_without_a_word[a pattern of letters]"): _NOT_SURE,
    ("embedded", "test_what_is_accepted_without_a_word[an unknown word in a schema]"): _NOT_SURE,
    ("embedded", "test_a_schema_is_kept[a pattern of letters]"): _NOT_SURE,
    ("embedded", "test_a_schema_is_kept[an unknown word]"): _NOT_SURE,
    ("embedded", "test_what_is_accepted_without_a_word[an unknown role]"): _ROLE,
    ("embedded", "test_what_is_accepted_without_a_word[no role]"): _ROLE,
    ("embedded", "test_what_is_accepted_without_a_word[an image for a model without eyes]"): _IMAGE,
    ("embedded", "test_what_is_accepted_without_a_word[generate: a template]"): "it reads no Go templates, only raw",
    ("embedded", "test_what_is_accepted_without_a_word[generate: an image]"): _IMAGE,
    (
        "embedded",
        "test_what_the_models_cannot_do[generate: a broken template]",
    ): "it reads no Go templates, whole or not",
    ("embedded", "test_what_the_models_cannot_do[an image that is none]"): _IMAGE,
    (
        "embedded",
        "test_what_the_models_cannot_do[too many logprobs]",
    ): "it has no logprobs, so the field is unknown to it",
}


def expectation_of(item: pytest.Item) -> tuple[str, str]:
    """Subject and expectation of a collected test; empty for tests of something else."""
    call = getattr(item, "callspec", None)
    if call is None or "subject" not in call.params:
        return "", ""
    case = call.params.get("case")
    name: str = getattr(item, "originalname", item.name)
    return call.params["subject"].name, name if case is None else f"{name}[{case.name}]"
