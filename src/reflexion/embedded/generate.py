"""``/api/generate``: one prompt, in the model's chat template or raw, and the text that follows it."""

from collections.abc import Generator, Iterator

from reflexion.embedded import names
from reflexion.embedded.catalog import Catalog
from reflexion.embedded.pool import Loaded, Pool
from reflexion.embedded.requests import NO_IMAGES, GenerateRequest
from reflexion.embedded.runner import Call, Session
from reflexion.embedded.wire import ApiError, timestamp
from reflexion.embedded.writing import Clock, Orders, Record, cut, fit_messages, orders_of, write

RAW_ALONE = "raw mode does not support template, system, or context"
NO_TEMPLATES = "this engine reads no Go templates: leave template out, or send the finished prompt with raw"


def generate(catalog: Catalog, pool: Pool, request: GenerateRequest, call: Call) -> Generator[Record]:
    """The records of one generate call, the last with ``done`` set; nothing runs before the first is asked for.

    Raises:
        ApiError: the answer is an error (before the first record, or instead of the next).
        ClientGone: the client hung up.
    """
    clock = Clock()
    model = names.of_generate(catalog, request.model)
    if not request.prompt and request.keep_s == 0:
        pool.unload(model)
        yield _preload_record(request, "unload")
        return
    _check_forms(request)
    orders = orders_of(request, model, "generate", writes=bool(request.prompt))
    if request.suffix:
        raise ApiError(400, f"{request.model} does not support insert")
    with pool.use(model, orders.options.window(model.header.window), request.keep_s, call) as loaded:
        clock.model_is_there()
        if not request.prompt:
            yield _preload_record(request, "load")
            return
        yield from _reply(loaded, request, orders, clock, call)


def _check_forms(request: GenerateRequest) -> None:
    if request.raw and (request.template or request.system or request.context):
        raise ApiError(400, RAW_ALONE)
    if request.template:
        raise ApiError(400, NO_TEMPLATES)
    if request.images:
        raise ApiError(400, NO_IMAGES)
    if isinstance(request.think, str):
        raise ApiError(400, f'think value "{request.think}" is not supported for this model')


def _reply(loaded: Loaded, request: GenerateRequest, orders: Orders, clock: Clock, call: Call) -> Iterator[Record]:
    said: list[str] = []
    with loaded.runner.session(call) as session:
        tokens = _prompt(session, loaded, request, orders)
        for piece in write(session, loaded, cut(tokens, loaded, orders), orders):
            if isinstance(piece, str):
                said.append(piece)
                yield _record(request, piece)
            else:
                final = piece
    context: Record = {}
    if not request.raw:
        # The whole conversation so far, to be sent back with the next prompt: uncut, as Ollama returns it.
        with loaded.runner.session(call) as session:
            context["context"] = tokens + session.tokens("".join(said), special=False)
    yield {**_record(request, ""), "done": True, **context, **clock.durations(), **final}


def _prompt(session: Session, loaded: Loaded, request: GenerateRequest, orders: Orders) -> list[int]:
    if request.raw:
        return session.tokens(request.prompt)
    system = [{"role": "system", "content": request.system}] if request.system else []
    messages = [*system, {"role": "user", "content": request.prompt}]
    return [*session.known(request.context or []), *fit_messages(session, messages, loaded, orders)]


def _record(request: GenerateRequest, text: str) -> Record:
    return {"model": request.model, "created_at": timestamp(), "response": text, "done": False}


def _preload_record(request: GenerateRequest, reason: str) -> Record:
    return {**_record(request, ""), "done": True, "done_reason": reason}
