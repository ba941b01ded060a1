"""What the real server refuses, and in which words (docs/ollama.md), as pure functions of the request body."""

import json
from collections.abc import Iterator
from typing import Any

from tests.ollama_double.decoding import Body, Refusal
from tests.ollama_double.models import ModelInfo

INTEGERS = (
    "num_ctx",
    "num_predict",
    "num_keep",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "num_thread",
    "repeat_last_n",
    "seed",
    "top_k",
)
FLOATS = ("temperature", "top_p", "min_p", "typical_p", "repeat_penalty", "presence_penalty", "frequency_penalty")
JSON_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
UNUSABLE_SCHEMA = "invalid JSON schema in format"
RUNNER_DIED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)
TOO_LONG = "the input length exceeds the context length"
REGISTRY = "HOST/library"
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 5
MOST_LOGPROBS = 20
MOST_REPETITIONS = 2000


def early_refusal(body: Body) -> Refusal | None:
    """What is refused before the model is looked up."""
    if not 0 <= (body.get("top_logprobs") or 0) <= MOST_LOGPROBS:
        return 400, f"top_logprobs must be between 0 and {MOST_LOGPROBS}"
    given = body.get("input")
    texts = given if isinstance(given, list) else [] if given is None else [given]
    if not all(isinstance(text, str) for text in texts):
        return 400, "invalid input type"
    return None


def name_refusal(path: str, asked: str, found: bool) -> Refusal | None:
    """Each endpoint has words of its own for a model that it does not have, or that is no name."""
    if found:
        return None
    is_name = bool(asked) and " " not in asked
    match path:
        case "/api/chat" if not is_name:
            return 400, "model is required"
        case "/api/show" if not asked:
            return 400, "model is required"
        case "/api/show" | "/api/embed" if not is_name:
            return 500, f"unqualified name: {REGISTRY}/{asked or '!MISSING!'}:latest"
        case "/api/embeddings" if not is_name:
            return 400, "model is required"
        case "/api/embed" | "/api/embeddings":
            return 404, f'model "{asked}" not found, try pulling it first'
        case _:
            return 404, f"model '{asked}' not found"


def ability_refusal(name: str, model: ModelInfo, body: Body) -> Refusal | None:
    """What the model cannot do, and options of a wrong type; holds for a load without a word as well."""
    if body.get("raw") and any(body.get(key) for key in ("system", "template", "context")):
        return 400, "raw mode does not support template, system, or context"
    if body.get("think") and "thinking" not in model.capabilities:
        return 400, f'"{name}" does not support thinking'
    for key, ability, words in (("tools", "tools", "tools"), ("suffix", "insert", "insert")):
        if body.get(key) and ability not in model.capabilities:
            return 400, f"{REGISTRY}/{name} does not support {words}"
    return option_refusal(body.get("options") or {})


def asked_refusal(model: ModelInfo, body: Body) -> Refusal | None:
    """What is wrong with a request that would be answered in words."""
    if (body.get("options") or {}).get("repeat_penalty", 1) == 0:
        return 500, RUNNER_DIED
    template = body.get("template") or ""
    if template.count("{{") != template.count("}}"):
        return 500, "template: :1: unclosed action"
    return format_refusal(body.get("format")) or length_refusal(model, body)


def option_refusal(options: dict[str, Any]) -> Refusal | None:
    """An option of a wrong type is the server's fault (500), an unknown one is nobody's."""
    for names, kind in ((INTEGERS, "integer"), (FLOATS, "float32")):
        for name in names:
            value = options.get(name, 0)
            if isinstance(value, bool) or not isinstance(value, int | float | None):
                return 500, f'option "{name}" must be of type {kind}'
    if not isinstance(options.get("use_mmap"), bool | None):
        return 500, 'option "use_mmap" must be of type boolean'
    stop = options.get("stop")
    if not isinstance(stop, list | None):
        return 500, 'option "stop" must be of type array'
    if not all(isinstance(text, str) for text in stop or []):
        return 500, 'option "stop" must be of an array of strings'
    return None


def format_refusal(wanted: object) -> Refusal | None:
    """Neither "json" nor a schema, or a schema that no grammar can be made of."""
    if wanted in (None, "", "json"):
        return None
    if not isinstance(wanted, dict):
        quoted = json.dumps(json.dumps(wanted))
        return 500, f'invalid format: {quoted}; expected "json" or a valid JSON Schema object'
    words = [word for node in _nodes(wanted) if (word := _schema_fault(node, wanted))]
    return (500, words[0]) if words else None


def length_refusal(model: ModelInfo, body: Body) -> Refusal | None:
    """Only ``truncate: false`` makes a prompt that is too long an error."""
    if body.get("truncate", True) or prompt_tokens(body) <= window_of(model, body):
        return None
    return 400, TOO_LONG


def prompt_tokens(body: Body) -> int:
    """An estimate of what the prompt of a request costs; a raw one has no template round it."""
    if "messages" in body:
        return sum(TOKENS_PER_MESSAGE + text_tokens(message.get("content") or "") for message in body["messages"] or [])
    if "input" in body:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"] or ""]
        return sum(map(text_tokens, texts))
    around = 0 if body.get("raw") else TOKENS_PER_MESSAGE
    texts = [body.get("prompt") or "", body.get("system") or ""]
    return around + len(body.get("context") or []) + sum(map(text_tokens, texts))


def text_tokens(text: str) -> int:
    """An estimate of the tokens of a text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def window_of(model: ModelInfo, body: Body) -> int:
    """The window, in tokens, that this request is served with."""
    return model.window((body.get("options") or {}).get("num_ctx"))


def _nodes(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for child in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _nodes(child)


def _schema_fault(node: dict[str, Any], root: dict[str, Any]) -> str:
    """A property of that name is no keyword: its value is then a schema, not a text."""
    kind, pattern, reference = node.get("type"), node.get("pattern"), node.get("$ref")
    unknown = isinstance(kind, str) and kind not in JSON_TYPES
    if unknown or node.keys() == {"not"} or (isinstance(reference, str) and not _leads(reference, root)):
        return UNUSABLE_SCHEMA
    if any(node[name] > MOST_REPETITIONS for name in ("minLength", "minItems") if isinstance(node.get(name), int)):
        return RUNNER_DIED
    if not isinstance(pattern, str):
        return ""
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return UNUSABLE_SCHEMA
    return RUNNER_DIED if "\\" in pattern else ""


def _leads(reference: str, root: object) -> bool:
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part and not (isinstance(root, dict) and part in root):
            return False
        root = root[part] if part and isinstance(root, dict) else root
    return True
