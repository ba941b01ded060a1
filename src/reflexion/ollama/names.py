"""Names of models, as the server reads them, and the version by which our own engine is known."""

ENGINE = "+embedded"


def full_name(model: str) -> str:
    """Return the name with its tag, in lower case: no tag means ``:latest``, and the server ignores case."""
    name = model.casefold()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def is_cloud(model: str) -> bool:
    """Return whether a local server would send this model's prompts to another host."""
    tag = full_name(model).rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")
