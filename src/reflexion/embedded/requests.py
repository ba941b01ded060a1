"""The bodies of the calls that need a model: their fields, types and refusals, as Ollama words them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflexion.embedded.wire import ApiError, field, kind_of, parse_keep_alive

ROLES = ("system", "user", "assistant", "tool")
LEVELS = ("high", "medium", "low")
MOST_LOGPROBS = 20
NO_IMAGES = "this engine reads no images: send text only"
Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class LoadRequest:
    """What every call says about the model that it needs. ``keep_s`` is in seconds (``inf``: for ever, ``None``: not
    said); ``options`` have their raw values (``parse_options``).
    """

    model: str
    options: Mapping[str, Any]
    keep_s: float | None
    truncate: bool


@dataclass(frozen=True, kw_only=True)
class WriteRequest(LoadRequest):
    """What ``/api/chat`` and ``/api/generate`` share. Without ``shift`` a reply ends where the window is full."""

    stream: bool
    format: Any
    think: bool | str | None
    shift: bool


@dataclass(frozen=True, kw_only=True)
class ChatRequest(WriteRequest):
    """The body of ``/api/chat``, types checked."""

    messages: list[dict[str, str]]
    tools: bool


@dataclass(frozen=True, kw_only=True)
class GenerateRequest(WriteRequest):
    """The body of ``/api/generate``, types checked. ``context`` holds the tokens of what was said before."""

    prompt: str
    suffix: str
    system: str
    template: str
    context: list[int] | None
    raw: bool
    images: bool


@dataclass(frozen=True, kw_only=True)
class EmbedRequest(LoadRequest):
    """The body of ``/api/embed`` or ``/api/embeddings``. ``dimensions`` 0 means all of them."""

    texts: list[str]
    dimensions: int


def parse_chat(body: Body) -> ChatRequest:
    """Check the types of a chat request.

    Raises:
        ApiError: 400 for a wrong type, role, duration or thinking level.
    """
    return ChatRequest(
        messages=[_message(raw) for raw in field(body, "messages", list, "[]api.Message") or []],
        tools=bool(field(body, "tools", list, "api.Tools")),
        **_writing(body, "ChatRequest"),
    )


def parse_generate(body: Body) -> GenerateRequest:
    """Check the types of a generate request.

    Raises:
        ApiError: 400 for a wrong type, duration or thinking level.
    """
    owner = "GenerateRequest"
    return GenerateRequest(
        prompt=_text(body, "prompt", owner),
        suffix=_text(body, "suffix", owner),
        system=_text(body, "system", owner),
        template=_text(body, "template", owner),
        context=_context(body),
        raw=field(body, "raw", bool, "bool", owner) is True,
        images=bool(field(body, "images", list, "[]api.ImageData", owner)),
        **_writing(body, owner),
    )


def parse_embed(body: Body) -> EmbedRequest:
    """Check the types of an embed request; one text is a list of one, an empty one a list of none.

    Raises:
        ApiError: 400 for a wrong type or duration.
    """
    owner = "EmbedRequest"
    return EmbedRequest(
        texts=_texts(body.get("input")),
        dimensions=field(body, "dimensions", int, "int", owner) or 0,
        **_loading(body, owner),
    )


def parse_embeddings(body: Body) -> EmbedRequest:
    """Check the types of a request in the older form, which has one ``prompt`` and is never cut.

    Raises:
        ApiError: 400 for a wrong type or duration.
    """
    owner = "EmbeddingRequest"
    prompt = _text(body, "prompt", owner)
    return parse_embed({**body, "model": _text(body, "model", owner), "input": prompt, "truncate": False})


def parse_show(body: Body) -> str:
    """The name of the model that a show request asks about, under its present or its older key; empty without one.

    Raises:
        ApiError: 400 for a wrong type.
    """
    return _text(body, "model", "ShowRequest") or _text(body, "name", "ShowRequest")


def _loading(body: Body, owner: str) -> dict[str, Any]:
    return {
        "model": _text(body, "model", owner),
        "options": field(body, "options", dict, "map[string]interface {}", owner) or {},
        "keep_s": parse_keep_alive(body.get("keep_alive")),
        "truncate": field(body, "truncate", bool, "bool", owner) is not False,
    }


def _writing(body: Body, owner: str) -> dict[str, Any]:
    if not 0 <= (field(body, "top_logprobs", int, "int", owner) or 0) <= MOST_LOGPROBS:
        raise ApiError(400, f"top_logprobs must be between 0 and {MOST_LOGPROBS}")
    if field(body, "logprobs", bool, "bool", owner):
        raise ApiError(400, "this engine tells no probabilities: leave logprobs out")
    return {
        **_loading(body, owner),
        "stream": field(body, "stream", bool, "bool", owner) is not False,
        "format": body.get("format"),
        "think": _think(body.get("think")),
        "shift": field(body, "shift", bool, "bool", owner) is not False,
    }


def _text(body: Body, key: str, owner: str) -> str:
    return field(body, key, str, "string", owner) or ""


def _message(raw: object) -> dict[str, str]:
    owner = "ChatRequest.messages"
    message = {} if raw is None else raw
    if not isinstance(message, dict):
        raise ApiError(400, f"json: cannot unmarshal {kind_of(raw)} into Go struct field {owner} of type api.Alias")
    role, content = _text(message, "role", owner), _text(message, "content", owner)
    if message.get("images"):
        raise ApiError(400, NO_IMAGES)
    if role not in ROLES:
        allowed = ", ".join(f'"{name}"' for name in ROLES)
        raise ApiError(400, f'invalid role: "{role}", must be one of [{allowed}]')
    return {"role": role, "content": content}


def _context(body: Body) -> list[int] | None:
    numbers = field(body, "context", list, "[]int", "GenerateRequest")
    for number in numbers or []:
        field({"context": number}, "context", int, "int", "GenerateRequest")
    return numbers


def _texts(value: object) -> list[str]:
    if value is None or value == "":
        return []
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ApiError(400, "invalid input type")
    return texts


def _think(value: object) -> bool | str | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value in LEVELS:
        return value
    levels = ", ".join(f'"{level}"' for level in LEVELS)
    if isinstance(value, str):
        raise ApiError(400, f'invalid think value: "{value}" (must be {levels}, true, or false)')
    raise ApiError(400, f"think must be a boolean or string ({levels}, true, or false)")
