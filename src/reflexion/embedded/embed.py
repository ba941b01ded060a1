"""``/api/embed`` and ``/api/embeddings``: texts as vectors."""

import math
from collections.abc import Mapping, Sequence

from reflexion.embedded import names
from reflexion.embedded.catalog import Catalog, Model
from reflexion.embedded.options import parse_options
from reflexion.embedded.pool import Loaded, Pool
from reflexion.embedded.requests import EmbedRequest
from reflexion.embedded.runner import Call, Session
from reflexion.embedded.wire import ApiError
from reflexion.embedded.writing import TOO_LONG, Clock, Record

# As many digits as tell two 32-bit floats apart.
DIGITS = 9
SMALLEST = 1e-12
NOTHING = "Failed to create new sequence: no input provided"


def embed(catalog: Catalog, pool: Pool, request: EmbedRequest, call: Call) -> Record:
    """The answer of ``/api/embed``: a vector of length 1 for each text, in order.

    Raises:
        ApiError: the answer is an error.
        ClientGone: the client hung up.
    """
    clock = Clock()
    model = names.of_embed(catalog, request.model)
    vectors, count = _vectors(pool, model, request, call, clock)
    answer: Record = {
        "model": request.model,
        "embeddings": [_rounded(_shortened(vector, request.dimensions)) for vector in vectors],
    }
    return {**answer, **clock.durations(), "prompt_eval_count": count} if vectors else answer


def embedding(catalog: Catalog, pool: Pool, request: EmbedRequest, call: Call) -> Record:
    """The answer of ``/api/embeddings``: the vector of one text, of whatever length the model gives it.

    Raises:
        ApiError: the answer is an error.
        ClientGone: the client hung up.
    """
    model = names.of_embeddings(catalog, request.model)
    try:
        vectors, _ = _vectors(pool, model, request, call, Clock())
    except ApiError as error:
        # The older form gives every failure of the model this status.
        raise ApiError(500 if str(error) == TOO_LONG else error.status, str(error)) from error
    return {"embedding": _rounded(vectors[0]) if vectors else []}


def _vectors(
    pool: Pool, model: Model, request: EmbedRequest, call: Call, clock: Clock
) -> tuple[list[list[float]], int]:
    options = parse_options(request.options)
    with pool.use(model, options.window(model.header.window), request.keep_s, call) as loaded:
        clock.model_is_there()
        if not request.texts:
            return [], 0
        with loaded.runner.session(call) as session:
            prompts = [_prompt(session, model, loaded, text, request.truncate) for text in request.texts]
            return [session.embedding(tokens) for tokens in prompts], sum(map(len, prompts))


def _prompt(session: Session, model: Model, loaded: Loaded, text: str, truncate: bool) -> list[int]:
    tokens = session.tokens(text)
    if not tokens:
        raise ApiError(500, NOTHING)
    room = min(loaded.window, loaded.runner.cells - 1)
    if len(tokens) <= room:
        return tokens
    if not truncate:
        raise ApiError(400, TOO_LONG)
    return tokens[: room - _missing_ends(model.header.metadata, tokens)]


def _missing_ends(metadata: Mapping[str, object], tokens: Sequence[int]) -> int:
    # Ollama leaves room for a first and a last control token, also where the model's tokenizer adds none.
    ends = (("bos", tokens[0]), ("eos", tokens[-1]))
    return sum(metadata.get(f"tokenizer.ggml.{name}_token_id", 0) != token for name, token in ends)


def _shortened(vector: list[float], dimensions: int) -> list[float]:
    return _normalised(vector[:dimensions] if 0 < dimensions < len(vector) else vector)


def _normalised(vector: list[float]) -> list[float]:
    length = max(math.hypot(*vector), SMALLEST)
    return [number / length for number in vector]


def _rounded(vector: list[float]) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in vector]
