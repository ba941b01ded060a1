"""``/api/chat``: a conversation, and the model's next message."""

from collections.abc import Generator, Iterator

from reflexion.embedded import names
from reflexion.embedded.catalog import Catalog
from reflexion.embedded.pool import Loaded, Pool
from reflexion.embedded.requests import ChatRequest
from reflexion.embedded.runner import Call, Session
from reflexion.embedded.wire import ApiError, timestamp
from reflexion.embedded.writing import Clock, Orders, Record, cut, fit_messages, orders_of, write


def chat(catalog: Catalog, pool: Pool, request: ChatRequest, call: Call) -> Generator[Record]:
    """The records of one chat call, the last with ``done`` set; nothing runs before the first is asked for.

    Raises:
        ApiError: the answer is an error (before the first record, or instead of the next).
        ClientGone: the client hung up.
    """
    clock = Clock()
    model = names.of_chat(catalog, request.model)
    if not request.messages and request.keep_s == 0:
        pool.unload(model)
        yield _preload_record(request, "unload")
        return
    orders = orders_of(request, model, "chat", writes=bool(request.messages))
    if request.tools:
        raise ApiError(400, f"{request.model} does not support tools")
    with pool.use(model, orders.options.window(model.header.window), request.keep_s, call) as loaded:
        clock.model_is_there()
        if not request.messages:
            yield _preload_record(request, "load")
            return
        with loaded.runner.session(call) as session:
            yield from _reply(session, loaded, request, orders, clock)


def _reply(session: Session, loaded: Loaded, request: ChatRequest, orders: Orders, clock: Clock) -> Iterator[Record]:
    prompt = cut(fit_messages(session, request.messages, loaded, orders), loaded, orders)
    for piece in write(session, loaded, prompt, orders):
        if isinstance(piece, str):
            yield _record(request, piece)
        else:
            yield {**_record(request, ""), "done": True, **clock.durations(), **piece}


def _record(request: ChatRequest, content: str) -> Record:
    message = {"role": "assistant", "content": content}
    return {"model": request.model, "created_at": timestamp(), "message": message, "done": False}


def _preload_record(request: ChatRequest, reason: str) -> Record:
    return {**_record(request, ""), "done": True, "done_reason": reason}
