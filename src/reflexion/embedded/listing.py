"""What is told about models: the answers of ``/api/tags``, ``/api/show`` and ``/api/ps``."""

from typing import Any

from reflexion.embedded.catalog import Model
from reflexion.embedded.pool import Loaded
from reflexion.embedded.wire import timestamp

Record = dict[str, Any]


def listed(model: Model) -> Record:
    """A model as ``/api/tags`` lists it."""
    return {**_identity(model), "modified_at": timestamp(model.modified)}


def described(model: Model) -> Record:
    """The body of ``/api/show``. Array values of the metadata are ``null``, as Ollama answers without ``verbose``."""
    header = model.header
    return {
        "modelfile": f"FROM {model.path.name}\n",
        "template": header.template,
        "details": model.details(),
        "model_info": {**header.metadata, "general.parameter_count": header.parameters},
        "capabilities": ["embedding" if header.embeds else "completion"],
        "modified_at": timestamp(model.modified),
    }


def in_memory(loaded: Loaded) -> Record:
    """A loaded model as ``/api/ps`` lists it."""
    return {
        **_identity(loaded.model),
        "size": loaded.size(),
        "expires_at": timestamp(loaded.expires_at()),
        "size_vram": 0,
        "context_length": loaded.window,
    }


def _identity(model: Model) -> Record:
    return {
        "name": model.name,
        "model": model.name,
        "size": model.size,
        "digest": model.digest,
        "details": model.details(),
    }
