"""The models that requests name. Each endpoint has words of its own for one that is not there, or that is no name."""

import re

from reflexion.embedded.catalog import Catalog, Model
from reflexion.embedded.wire import ApiError

PART = re.compile(r"\w[\w.-]{0,79}", re.ASCII)
# Host, namespace and model.
MOST_PARTS = 3
MISSING = "!MISSING!"
REQUIRED = "model is required"


def of_chat(catalog: Catalog, name: str) -> Model:
    """The model of that name.

    Raises:
        ApiError: 400 for what cannot be one, 404 for one that is not there.
    """
    return catalog.find(name) or _refuse(name, ApiError(400, REQUIRED))


def of_generate(catalog: Catalog, name: str) -> Model:
    """The model of that name.

    Raises:
        ApiError: 404.
    """
    return catalog.find(name) or _refuse(name, None)


def of_show(catalog: Catalog, name: str) -> Model:
    """The model of that name.

    Raises:
        ApiError: 400 without a name, 500 for what cannot be one, 404 for one that is not there.
    """
    return catalog.find(name) or _refuse(name, _unqualified(name) if name else ApiError(400, REQUIRED))


def of_embed(catalog: Catalog, name: str) -> Model:
    """The model of that name.

    Raises:
        ApiError: 500 for what cannot be one, 404 for one that is not there.
    """
    return catalog.find(name) or _refuse(name, _unqualified(name), _try_pulling(name))


def of_embeddings(catalog: Catalog, name: str) -> Model:
    """The model of that name.

    Raises:
        ApiError: 400 for what cannot be one, 404 for one that is not there.
    """
    return catalog.find(name) or _refuse(name, ApiError(400, REQUIRED), _try_pulling(name))


def _refuse(name: str, no_name: ApiError | None, not_there: ApiError | None = None) -> Model:
    if no_name is not None and not _is_name(name):
        raise no_name
    raise not_there or ApiError(404, f"model '{name}' not found")


def _try_pulling(name: str) -> ApiError:
    return ApiError(404, f'model "{name}" not found, try pulling it first')


def _unqualified(name: str) -> ApiError:
    # Without the host and the folder that Ollama puts in front: there is nothing to fetch from here.
    return ApiError(500, f"unqualified name: {name if ':' in name else f'{name or MISSING}:latest'}")


def _is_name(name: str) -> bool:
    path, colon, tag = name.rpartition(":")
    parts = (path if colon else name).split("/")
    return len(parts) <= MOST_PARTS and all(PART.fullmatch(part) for part in [*parts, tag if colon else "latest"])
